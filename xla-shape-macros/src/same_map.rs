//! Expands `assert_same_map!`: reads a text in another notation, and makes a call that compares its map with a type's.

use crate::diagnose::compile_error;
use crate::expand::{LIBRARY, tokens_with};
use crate::sharding::{ends, without_groups};
use crate::tokens::{self, Text, unquote};
use proc_macro::{Span, TokenStream, TokenTree};
use std::num::NonZeroU64;
use xla_shape_core::map::{Digit, Intermediate, Source, StrideTable, Term};
use xla_shape_notations::{AnyLayout, Notation};

/// The placeholder for the type of the shape.
const SHAPE: &str = "__xla_shape_type";

/// The call that compares the maps, or the compile error.
pub(crate) fn call(input: TokenStream) -> TokenStream {
    let (library, input) = tokens::library(input);
    let (shape, written) = tokens::library(input);
    match read(written) {
        Ok((notation, table)) => tokens_with(&text_of(notation, &table), &|ident| match ident {
            LIBRARY => Some(library.clone()),
            SHAPE => Some(shape.clone()),
            _ => None,
        }),
        Err(error) => error,
    }
}

/// The notation, and the map that the text describes.
fn read(written: TokenStream) -> Result<(Notation, StrideTable), TokenStream> {
    let mut written = written.into_iter();
    let name = without_groups(written.by_ref().take(1).collect());
    let notation = match name.as_slice() {
        [TokenTree::Ident(ident)] => Notation::from_name(&ident.to_string()),
        _ => None,
    };
    let notation = notation.ok_or_else(|| {
        let known = Notation::ALL.iter().map(|notation| format!("`{notation}`")).collect::<Vec<_>>().join(", ");
        expected(&format!("the name of a notation ({known})"), &name)
    })?;
    let text = without_groups(written.collect());
    let unquoted = match text.as_slice() {
        [TokenTree::Literal(literal)] => unquote(&literal.to_string()),
        _ => None,
    };
    let unquoted = unquoted.ok_or_else(|| expected("a text in quotes", &text))?;
    let layout = AnyLayout::read(notation, &unquoted);
    let layout = layout.map_err(|error| compile_error(&error.render(&unquoted).to_string(), ends(&text)))?;
    let table = layout.stride_table().map_err(|obstacle| compile_error(&obstacle.to_string(), ends(&text)))?;
    Ok((notation, table))
}

/// The error for unexpected tokens: what was expected, and what was found.
fn expected(what: &str, found: &[TokenTree]) -> TokenStream {
    let text = match found {
        [] => "the end".to_owned(),
        found => format!("`{}`", Text::new(found.iter().cloned().collect()).text),
    };
    let spans = if found.is_empty() { (Span::call_site(), Span::call_site()) } else { ends(found) };
    compile_error(&format!("expected {what}, found {text}"), spans)
}

/// The call as text.
fn text_of(notation: Notation, table: &StrideTable) -> String {
    let table = table.as_ref();
    let list = |entries: Vec<String>| format!("&[{}]", entries.join(", "));
    let extents = list(table.extents().iter().map(u64::to_string).collect());
    let digits = list(table.digits().iter().map(digit).collect());
    let intermediates = list(table.intermediates().iter().map(intermediate).collect());
    format!("{LIBRARY}::__private::assert_same_map::<{SHAPE}>(\"{notation}\", {extents}, {digits}, {intermediates})")
}

fn digit(Digit { term: part, size, stride }: &Digit) -> String {
    format!("{LIBRARY}::map::Digit {{ term: {}, size: {size}, stride: {stride} }}", term(*part))
}

fn intermediate(value: &Intermediate) -> String {
    match *value {
        Intermediate::Term { term: part, size } => {
            format!("{LIBRARY}::map::Intermediate::Term {{ term: {}, size: {size} }}", term(part))
        }
        Intermediate::Combine { major, minor, minor_size, size } => format!(
            "{LIBRARY}::map::Intermediate::Combine {{ major: {}, minor: {}, minor_size: {}, size: {size} }}",
            term(major),
            term(minor),
            number(minor_size)
        ),
    }
}

fn term(Term { source, divisor, modulus }: Term) -> String {
    let source = match source {
        Source::Zero => "Zero".to_owned(),
        Source::Dimension(dimension) => format!("Dimension({dimension})"),
        Source::Intermediate(value) => format!("Intermediate({value})"),
    };
    let modulus = match modulus {
        Some(modulus) => format!("::core::option::Option::Some({})", number(modulus)),
        None => "::core::option::Option::None".to_owned(),
    };
    let divisor = number(divisor);
    format!(
        "{LIBRARY}::map::Term {{ source: {LIBRARY}::map::Source::{source}, divisor: {divisor}, modulus: {modulus} }}"
    )
}

fn number(number: NonZeroU64) -> String {
    format!("{LIBRARY}::__private::NonZeroU64::new({number}).unwrap()")
}
