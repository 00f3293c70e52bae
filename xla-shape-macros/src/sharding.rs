//! The types of shardings and shards.

use crate::diagnose::{compile_error, parse_error};
use crate::expand::{LIBRARY, List, tokens, type_of, unknown};
use crate::tokens::{self, Text, unquote};
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};
use std::fmt::Write as _;
use xla_shape_core::Shape;
use xla_shape_core::shard::{Devices, Sharding, ShardingError, ShardingKind, TiledSharding};
use xla_shape_core::text::Parser;

/// The largest number of devices that the type of a sharding lists. The type nests one level for every 12 devices, and
/// the compiler's `recursion_limit` is 128 levels.
const MAX_LISTED: usize = 1024;

type Result<T> = std::result::Result<T, TokenStream>;

/// Expands `sharding!`: the type of a sharding.
pub(crate) fn sharding(input: TokenStream) -> TokenStream {
    let (library, written) = tokens::library(input);
    let read = read(written)
        .and_then(|(sharding, spans)| check_list(&sharding).and_then(|()| sharding_type(&sharding)).map_err(at(spans)));
    match read {
        Ok(text) => tokens(&text, &library),
        Err(error) => unknown(error),
    }
}

/// Expands `shard!`: the type of the shard of an array.
pub(crate) fn shard(input: TokenStream) -> TokenStream {
    let (library, written) = tokens::library(input);
    match shard_type(written) {
        Ok(text) => tokens(&text, &library),
        Err(error) => unknown(error),
    }
}

/// A function that makes a compile error at these tokens.
fn at<E: ToString>(spans: (Span, Span)) -> impl Fn(E) -> TokenStream {
    move |error| compile_error(&error.to_string(), spans)
}

/// The spans of the first and the last token.
pub(crate) fn ends(tokens: &[TokenTree]) -> (Span, Span) {
    match tokens {
        [first, .., last] => (first.span(), last.span()),
        [only] => (only.span(), only.span()),
        [] => (Span::call_site(), Span::call_site()),
    }
}

/// Parses a sharding from tokens or from a string literal; also returns the spans of the first and the last token.
fn read(written: TokenStream) -> Result<(Sharding, (Span, Span))> {
    let trees = without_groups(written);
    let spans = ends(&trees);
    if let [TokenTree::Literal(literal)] = trees.as_slice()
        && let Some(text) = unquote(&literal.to_string())
    {
        let sharding =
            text.parse::<Sharding>().map_err(|error| compile_error(&error.render(&text).to_string(), spans))?;
        return Ok((sharding, spans));
    }
    // Otherwise the sharding is written as tokens: `{devices=[4,1]<=[4]}`.
    let text = Text::new(trees.into_iter().collect());
    match text.text.parse() {
        Ok(sharding) => Ok((sharding, spans)),
        Err(error) => Err(parse_error(&error, &text)),
    }
}

/// Tokens without the invisible groups that variables of a `macro_rules!` macro add.
pub(crate) fn without_groups(written: TokenStream) -> Vec<TokenTree> {
    let trees = written.into_iter().collect::<Vec<_>>();
    match trees.as_slice() {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => without_groups(group.stream()),
        _ => trees,
    }
}

/// Checks that a type can list the devices.
fn check_list(sharding: &Sharding) -> std::result::Result<(), String> {
    let tiled = sharding.to_tiled().map_err(|error| error.to_string())?;
    match tiled.kind() {
        ShardingKind::Tiled(tiled) => match tiled.assignment().devices() {
            Devices::List(list) if list.len() > MAX_LISTED => Err(format!(
                "expected at most {MAX_LISTED} listed devices, found {}; `Sharding` values have no such limit",
                list.len()
            )),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The type of a sharding; an error if it does not determine what each device has.
fn sharding_type(sharding: &Sharding) -> std::result::Result<String, String> {
    let tiled = sharding.to_tiled().map_err(|error| error.to_string())?;
    Ok(match tiled.kind() {
        ShardingKind::Replicated => format!("{LIBRARY}::types::Replicated"),
        ShardingKind::Maximal { device } => format!("{LIBRARY}::types::Maximal<{{ {device} }}>"),
        ShardingKind::Unreduced => format!("{LIBRARY}::types::Unreduced"),
        ShardingKind::Tiled(tiled) => divided(tiled)?,
        kind @ (ShardingKind::Manual | ShardingKind::Unknown) => {
            return Err(ShardingError::Undetermined { kind: kind.name() }.to_string());
        }
        _ => return Err(ShardingError::NotATuple.to_string()),
    })
}

fn divided(tiled: &TiledSharding) -> std::result::Result<String, String> {
    let pieces = tiled.tiles().iter().map(|&count| match count {
        1 => format!("{LIBRARY}::types::Uncut"),
        count => size(count),
    });
    let order = match tiled.assignment().devices() {
        Devices::Iota(iota) => {
            let numbers = iota.permutation().iter().map(|number| format!("{LIBRARY}::types::Nth<{number}>"));
            format!(
                "{LIBRARY}::types::InOrder<{}, {}>",
                List(iota.dimensions().iter().copied().map(size)),
                List(numbers)
            )
        }
        Devices::List(list) => listed(list),
        _ => return Err("expected an order of devices that types can have, found another".to_owned()),
    };
    // After the array's dimensions, the assignment has a dimension for each subgroup: the devices along it have the same piece, and the kind of the
    // subgroup says what they do with it.
    let counts = tiled.assignment().dimensions().iter().skip(tiled.tiles().len());
    let groups = tiled
        .subgroups()
        .iter()
        .zip(counts)
        .map(|(group, count)| format!("{LIBRARY}::types::Group<{}, {count}>", group.number()));
    Ok(format!("{LIBRARY}::types::Divided<{}, {order}, {}>", List(pieces), List(groups)))
}

/// The type of a list of devices: nested tuples of at most `MAX_LIST` types.
fn listed(list: &[i64]) -> String {
    let mut text = String::new();
    let chunks = list.chunks(xla_shape_core::type_limits::MAX_LIST);
    let depth = chunks.len();
    for (i, chunk) in chunks.enumerate() {
        let numbers = List(chunk.iter().map(|&device| size(device.unsigned_abs())));
        let comma = if i == 0 { "" } else { ", " };
        // Writing to a `String` does not fail.
        let _ = write!(text, "{comma}{LIBRARY}::types::Listed<{numbers}");
    }
    text + &">".repeat(depth)
}

fn size(number: u64) -> String {
    format!("{LIBRARY}::types::Size<{number}>")
}

/// The type of the shard; the input is a shape, a comma and a sharding.
fn shard_type(written: TokenStream) -> Result<String> {
    let trees = without_groups(written);
    let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let Some(comma) = trees.iter().rposition(is_comma) else {
        let error = "expected a shape, `,` and a sharding: `shard!(f32[64,256], {devices=[4,1]<=[4]})`";
        return Err(compile_error(error, ends(&trees)));
    };
    let (shape, sharding) = trees.split_at(comma);
    let spans = ends(shape);
    let text = Text::new(shape.iter().cloned().collect());
    let mut parser = Parser::whole(&text.text).for_types();
    let read = parser.shape().and_then(|shape| parser.finish().map(|()| shape));
    let shape = read.map_err(|error| parse_error(&error, &text))?;
    if !parser.size_expressions().is_empty() {
        let error = "expected sizes that are numbers, found an expression; `types::Shard` takes any";
        return Err(compile_error(error, spans));
    }
    let (sharding, sharding_spans) = read_after_comma(sharding)?;
    let Shape::Array(array) = shape else {
        return Err(compile_error("expected an array, which a sharding divides, found another shape", spans));
    };
    sharding_type(&sharding).map_err(at(sharding_spans))?;
    let partition = sharding.partition(&array).map_err(at(sharding_spans))?;
    partition.check_even().map_err(at(spans))?;
    Ok(type_of(&Shape::Array(partition.shard().clone())))
}

/// Parses the sharding after a comma.
fn read_after_comma(tokens: &[TokenTree]) -> Result<(Sharding, (Span, Span))> {
    read(tokens.iter().skip(1).cloned().collect())
}
