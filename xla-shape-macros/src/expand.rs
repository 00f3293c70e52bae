//! What the core read to the type that means it.

use crate::diagnose;
use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use std::fmt::{self, Display};
use xla_shape_core::text::Parser;
use xla_shape_core::{
    ArrayShape, Dimension, Layout, LayoutAttributes, PaddingValue, ParseError, Shape, SplitConfig, Tile, TileDimension,
};

/// The type of the shape that a text means.
pub(crate) fn shape_type(text: &str) -> Result<String, ParseError> {
    let mut parser = Parser::whole(text).for_types();
    if parser.is_legacy() {
        return legacy_type(parser);
    }
    let shape = parser.shape()?;
    parser.finish()?;
    Ok(type_of(&shape))
}

/// The type of a shape.
pub(crate) fn type_of(shape: &Shape) -> String {
    ShapeType(shape).to_string()
}

/// The type of the shape in a layout of 2017 that comes next.
fn legacy_type(mut parser: Parser<'_>) -> Result<String, ParseError> {
    let shape = parser.legacy()?;
    parser.finish()?;
    let value = match shape.padding_value() {
        None => "AnyPadding",
        Some(PaddingValue::Zero) => "ZeroPadding",
        Some(PaddingValue::One) => "OnePadding",
        Some(PaddingValue::Lowest) => "LowestPadding",
        Some(PaddingValue::Highest) => "HighestPadding",
    };
    let widths = List(shape.padded_dimensions().iter().copied().map(Size));
    Ok(format!("{LIBRARY}::types::Padded<{}, {widths}, {LIBRARY}::types::{value}>", ArrayType(shape.modern())))
}

/// The type of the layout that a text means.
pub(crate) fn layout_type(text: &str) -> Result<String, ParseError> {
    let mut parser = Parser::whole(text).for_types();
    let layout = parser.layout()?;
    parser.finish()?;
    Ok(LayoutType(&layout).to_string())
}

/// The tokens of an expansion's text.
pub(crate) fn tokens(text: &str, library: &TokenStream) -> TokenStream {
    match text.parse::<TokenStream>() {
        Ok(tokens) => with_library(tokens, library),
        Err(error) => diagnose::compile_error(&error.to_string(), (Span::call_site(), Span::call_site())),
    }
}

/// A type that is not known because of a compile error, so that nothing is complained about that depends on it.
///
/// In the place of a type, `compile_error!` stands for `()`; in a constant, for a value that is not known.
pub(crate) fn unknown(compile_error: TokenStream) -> TokenStream {
    let unit = TokenTree::from(Group::new(Delimiter::Parenthesis, TokenStream::new()));
    let mut array = TokenStream::from_iter([unit, Punct::new(';', Spacing::Alone).into()]);
    array.extend(compile_error);
    TokenTree::from(Group::new(Delimiter::Bracket, array)).into()
}

/// Stands for the path of the library until [`with_library`] puts it in.
const LIBRARY: &str = "__xla_shape";

/// Replaces [`LIBRARY`] by the path that the front macro gave, which is right wherever the expansion ends up.
fn with_library(tokens: TokenStream, library: &TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(ident) if is_library(&ident) => library.clone(),
            TokenTree::Group(group) => {
                TokenTree::from(Group::new(group.delimiter(), with_library(group.stream(), library))).into()
            }
            token => token.into(),
        })
        .collect()
}

fn is_library(ident: &Ident) -> bool {
    ident.to_string() == LIBRARY
}

/// A tuple of types.
struct List<I>(I);

impl<I: Iterator<Item: Display> + Clone> Display for List<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        self.0.clone().try_for_each(|item| write!(f, "{item},"))?;
        f.write_str(")")
    }
}

/// The type of a shape of any kind.
struct ShapeType<'a>(&'a Shape);

impl Display for ShapeType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Shape::Array(array) => ArrayType(array).fmt(f),
            Shape::Tuple(elements) => List(elements.iter().map(ShapeType)).fmt(f),
            Shape::Token => write!(f, "{LIBRARY}::types::Token"),
            Shape::Opaque => write!(f, "{LIBRARY}::types::Opaque"),
            Shape::Buffer(array) => write!(f, "{LIBRARY}::types::BufferOf<{}>", ArrayType(array)),
        }
    }
}

struct ArrayType<'a>(&'a ArrayShape);

impl Display for ArrayType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(array) = self;
        write!(
            f,
            "{LIBRARY}::types::Array<{LIBRARY}::element::{}, {}, {}>",
            array.element_type().variant_name(),
            List(array.dimensions().iter().copied().map(DimType)),
            LayoutType(array.layout()),
        )
    }
}

struct DimType(Dimension);

impl Display for DimType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Dimension::Static(size) => Size(size).fmt(f),
            Dimension::Bounded(bound) => write!(f, "{LIBRARY}::types::Bounded<{bound}>"),
            Dimension::Unbounded => write!(f, "{LIBRARY}::types::Unbounded"),
        }
    }
}

struct Size(usize);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LIBRARY}::types::Size<{}>", self.0)
    }
}

struct DimensionNumber(usize);

impl Display for DimensionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LIBRARY}::types::DimensionNumber<{}>", self.0)
    }
}

struct TileEntry(TileDimension);

impl Display for TileEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            TileDimension::Size(size) => Size(size).fmt(f),
            TileDimension::Combine => write!(f, "{LIBRARY}::types::Combine"),
        }
    }
}

struct TileType<'a>(&'a Tile);

impl Display for TileType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LIBRARY}::types::Tile<{}>", List(self.0.dimensions().iter().copied().map(TileEntry)))
    }
}

struct Split<'a>(&'a SplitConfig);

impl Display for Split<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indices = List(self.0.split_indices().iter().copied().map(Size));
        write!(f, "{LIBRARY}::types::Split<{}, {indices}>", self.0.dimension())
    }
}

struct LayoutType<'a>(&'a Layout);

impl Display for LayoutType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = self.0;
        write!(
            f,
            "{LIBRARY}::types::Layout<{}, {}, {LIBRARY}::types::MemorySpace<{}>",
            List(layout.minor_to_major().iter().copied().map(DimensionNumber)),
            List(layout.tiles().iter().map(TileType)),
            layout.memory_space(),
        )?;
        let alignment = layout.tail_padding_alignment_in_elements();
        let bits = layout.element_size_in_bits();
        let prefix = layout.dynamic_shape_metadata_prefix_bytes();
        let defaults = LayoutAttributes::DEFAULT;
        if alignment != defaults.tail_padding_alignment_in_elements
            || bits != defaults.element_size_in_bits
            || prefix != defaults.dynamic_shape_metadata_prefix_bytes
            || !layout.split_configs().is_empty()
        {
            let splits = List(layout.split_configs().iter().map(Split));
            write!(f, ", {LIBRARY}::types::Attributes<{alignment}, {bits}, {prefix}, {splits}>")?;
        }
        f.write_str(">")
    }
}
