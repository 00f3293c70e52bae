//! Prints the type of a shape or a layout that the core has parsed.

#[cfg(feature = "legacy")]
mod legacy;

use crate::diagnose;
use crate::editor;
use crate::tokens::Text;
use proc_macro::{Delimiter, Group, Punct, Spacing, Span, TokenStream, TokenTree};
use std::fmt::{self, Display};
use xla_shape_core::text::{Parser, SizeExpression};
use xla_shape_core::tpu::Generation;
use xla_shape_core::validate::{LayoutAttribute, ShapePart};
use xla_shape_core::{
    ArrayShape, Dimension, Layout, LayoutAttributes, ParseError, Shape, SplitConfig, Tile, TileDimension,
};

/// A type as text. Sizes that are Rust expressions are placeholders in it.
pub(crate) struct Expansion {
    pub(crate) text: String,
    pub(crate) sizes: Vec<SizeExpression>,
}

/// The type of the shape in a text.
pub(crate) fn shape_type(text: &str) -> Result<Expansion, ParseError> {
    let start = Parser::whole(text).for_types();
    let mut parser = start.clone();
    let shape = match parser.shape() {
        #[cfg(feature = "legacy")]
        Err(_) if xla_shape_parity::legacy::is_next(&start) => return legacy::type_of(start),
        read => read?,
    };
    parser.finish()?;
    let sizes = parser.size_expressions().to_vec();
    Ok(Expansion { text: ShapeType(&shape, ShapeSizes::new(&sizes, text), 0).to_string(), sizes })
}

/// The type of the shape in a text that begins with the name of a TPU's generation. Its arrays have the layouts that
/// this TPU chooses.
pub(crate) fn tpu_shape_type(text: &str) -> Result<Expansion, ParseError> {
    let mut parser = Parser::whole(text).for_types();
    let generation = parser.generation()?;
    let mut parser = parser.for_tpu(generation);
    let shape = parser.shape()?;
    parser.finish()?;
    let sizes = parser.size_expressions().to_vec();
    Ok(Expansion { text: ShapeType(&shape, ShapeSizes::on_tpu(&sizes, generation), 0).to_string(), sizes })
}

/// The type of a shape.
pub(crate) fn type_of(shape: &Shape) -> String {
    ShapeType(shape, ShapeSizes::new(&[], ""), 0).to_string()
}

/// The type of the layout in a text.
pub(crate) fn layout_type(text: &str) -> Result<Expansion, ParseError> {
    let mut parser = Parser::whole(text).for_types();
    let layout = parser.layout()?;
    parser.finish()?;
    let sizes = parser.size_expressions().to_vec();
    let text = LayoutType(&layout, ShapeSizes::new(&sizes, text).array(0)).to_string();
    Ok(Expansion { text, sizes })
}

impl Expansion {
    /// The tokens of the type, with the expressions of the source in place of the placeholders. `library` is `None` in an editor.
    pub(crate) fn tokens(&self, library: Option<&TokenStream>, source: &Text) -> TokenStream {
        let in_editor = library.is_none();
        let library = library.cloned().unwrap_or_else(editor::library);
        tokens_with(&self.text, &|ident| match ident.strip_prefix(SIZE) {
            Some(number) => {
                let number: usize = number.parse().ok()?;
                Some(const_argument(source.trees_in(self.sizes.get(number)?.span), in_editor))
            }
            None => (ident == LIBRARY).then(|| library.clone()),
        })
    }
}

/// An expression as a generic argument: in braces, unless it already has them. In an editor, a name alone has no braces, because editors do not
/// evaluate expressions in braces. For the compiler, it has braces, because without them the name could be the name of a type.
fn const_argument(expression: TokenStream, in_editor: bool) -> TokenStream {
    let mut trees = expression.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => expression,
        (Some(TokenTree::Ident(_)), None) if in_editor => expression,
        _ => TokenTree::from(Group::new(Delimiter::Brace, expression)).into(),
    }
}

/// The tokens of an expansion's text.
pub(crate) fn tokens(text: &str, library: &TokenStream) -> TokenStream {
    tokens_with(text, &|ident| (ident == LIBRARY).then(|| library.clone()))
}

/// The tokens of a text, with some identifiers replaced by other tokens.
pub(crate) fn tokens_with(text: &str, meaning: &dyn Fn(&str) -> Option<TokenStream>) -> TokenStream {
    match text.parse::<TokenStream>() {
        Ok(tokens) => replace(tokens, meaning),
        Err(error) => diagnose::compile_error(&error.to_string(), (Span::call_site(), Span::call_site())),
    }
}

/// A placeholder type that contains a compile error. It causes no further errors in code that uses the type.
///
/// It is an array type whose length is the `compile_error!`: the compiler then does not know the length, and reports
/// nothing else.
pub(crate) fn unknown(compile_error: TokenStream) -> TokenStream {
    let unit = TokenTree::from(Group::new(Delimiter::Parenthesis, TokenStream::new()));
    let mut array = TokenStream::from_iter([unit, Punct::new(';', Spacing::Alone).into()]);
    array.extend(compile_error);
    TokenTree::from(Group::new(Delimiter::Bracket, array)).into()
}

/// The placeholder for the path of the library. The `macro_rules!` macro of `xla-shape` passes the path, so it is right
/// wherever the expansion is used.
pub(crate) const LIBRARY: &str = "__xla_shape";

/// The placeholder for a size that is an expression; the number of the expression follows.
const SIZE: &str = "__xla_shape_size_";

fn replace(tokens: TokenStream, meaning: &dyn Fn(&str) -> Option<TokenStream>) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(ident) => meaning(&ident.to_string()).unwrap_or_else(|| TokenTree::from(ident).into()),
            TokenTree::Group(group) => {
                TokenTree::from(Group::new(group.delimiter(), replace(group.stream(), meaning))).into()
            }
            token => token.into(),
        })
        .collect()
}

/// The most letters that the name of a size can have: as many as `types::Named` has parameters.
const MAX_NAME: usize = 16;

/// The sizes of a shape that are expressions.
#[derive(Clone, Copy)]
struct ShapeSizes<'a> {
    sizes: &'a [SizeExpression],
    /// The text that contains them.
    text: &'a str,
    /// The TPU that chooses the layouts.
    tpu: Option<Generation>,
}

/// The sizes of one array that are expressions.
#[derive(Clone, Copy)]
struct ArraySizes<'a> {
    sizes: &'a [SizeExpression],
    text: &'a str,
    array: usize,
    /// The TPU that chooses the layout, which depends on the sizes.
    tpu: Option<Generation>,
}

impl<'a> ShapeSizes<'a> {
    const fn new(sizes: &'a [SizeExpression], text: &'a str) -> Self {
        Self { sizes, text, tpu: None }
    }

    const fn on_tpu(sizes: &'a [SizeExpression], generation: Generation) -> Self {
        // The layout is computed from the sizes in a constant, so every size must be a constant. With an empty
        // text, no size counts as a name.
        Self { sizes, text: "", tpu: Some(generation) }
    }

    /// The sizes of the array with this number, in the order of the text.
    fn array(self, array: usize) -> ArraySizes<'a> {
        // If all sizes are numbers, the core has already chosen the layout.
        let tpu = self.tpu.filter(|_| self.sizes.iter().any(|named| named.array == array));
        ArraySizes { sizes: self.sizes, text: self.text, array, tpu }
    }
}

impl<'a> ArraySizes<'a> {
    /// The size at this part of the array, such as a dimension or an entry of a tile: a number or an expression.
    fn size(self, part: ShapePart, size: u64) -> Size {
        let is_it = |named: &SizeExpression| named.array == self.array && named.part == part;
        self.sizes.iter().position(is_it).map_or(Size::Number(size), Size::Expression)
    }

    /// The name of the size of this dimension: a single lower-case word. Constants of Rust are upper-case, so such a
    /// word is a name.
    fn name(self, part: ShapePart) -> Option<&'a str> {
        let is_it = |named: &&SizeExpression| named.array == self.array && named.part == part;
        let span = self.sizes.iter().find(is_it)?.span;
        let text = self.text.get(span.start..span.end)?.trim();
        let is_name = text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.len() <= MAX_NAME
            && text.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '_'))
            && !matches!(text, "true" | "false" | "self" | "super" | "crate");
        is_name.then_some(text)
    }
}

/// A tuple of types.
pub(crate) struct List<I>(pub(crate) I);

impl<I: Iterator<Item: Display> + Clone> Display for List<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        self.0.clone().try_for_each(|item| write!(f, "{item},"))?;
        f.write_str(")")
    }
}

/// The type of a shape of any kind. The number is how many arrays precede it in the text.
struct ShapeType<'a>(&'a Shape, ShapeSizes<'a>, usize);

/// The number of arrays in a shape.
fn num_arrays(shape: &Shape) -> usize {
    match shape {
        Shape::Array(_) | Shape::Buffer(_) => 1,
        Shape::Tuple(elements) => elements.iter().map(num_arrays).sum(),
        Shape::Token | Shape::Opaque => 0,
    }
}

impl Display for ShapeType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(shape, named, before) = *self;
        match shape {
            Shape::Array(array) => ArrayType(array, named.array(before)).fmt(f),
            Shape::Tuple(elements) => {
                let element = |before: &mut usize, element| {
                    let shape = ShapeType(element, named, *before);
                    *before += num_arrays(element);
                    Some(shape)
                };
                List(elements.iter().scan(before, element)).fmt(f)
            }
            Shape::Token => write!(f, "{LIBRARY}::types::Token"),
            Shape::Opaque => write!(f, "{LIBRARY}::types::Opaque"),
            Shape::Buffer(array) => {
                write!(f, "{LIBRARY}::types::BufferOf<{}>", ArrayType(array, named.array(before)))
            }
        }
    }
}

struct ArrayType<'a>(&'a ArrayShape, ArraySizes<'a>);

impl Display for ArrayType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(array, named) = *self;
        let dimensions = array.dimensions().iter().copied().enumerate();
        let dimensions = List(dimensions.map(|(i, dimension)| DimType(dimension, named, ShapePart::Dimension(i))));
        let element = format!("{LIBRARY}::element::{}", array.element_type().variant_name());
        match named.tpu {
            None => {
                let layout = LayoutType(array.layout(), named);
                write!(f, "{LIBRARY}::types::Array<{element}, {dimensions}, {layout}>")
            }
            Some(generation) => write!(
                f,
                "{LIBRARY}::types::Array<{element}, {dimensions}, \
                 {LIBRARY}::tpu::TpuLayout<{LIBRARY}::tpu::{generation:?}, {element}, {dimensions}>>"
            ),
        }
    }
}

struct DimType<'a>(Dimension, ArraySizes<'a>, ShapePart);

impl Display for DimType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(dimension, named, part) = *self;
        match dimension {
            Dimension::Static(size) => match named.name(part) {
                None => write!(f, "{LIBRARY}::types::Size<{}>", named.size(part, size)),
                Some(name) => {
                    write!(f, "{LIBRARY}::types::Named<")?;
                    name.chars().try_for_each(|letter| write!(f, "{letter:?},"))?;
                    f.write_str(">")
                }
            },
            Dimension::Bounded(bound) => write!(f, "{LIBRARY}::types::Bounded<{}>", named.size(part, bound)),
            Dimension::Unbounded => write!(f, "{LIBRARY}::types::Unbounded"),
        }
    }
}

/// A size as a generic argument.
enum Size {
    Number(u64),
    /// The expression with this number.
    Expression(usize),
}

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(size) => size.fmt(f),
            Self::Expression(number) => write!(f, "{SIZE}{number}"),
        }
    }
}

/// A number as a type.
pub(crate) struct Number(pub(crate) u64);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LIBRARY}::types::Size<{}>", self.0)
    }
}

struct Minor(usize);

impl Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LIBRARY}::types::Minor<{}>", self.0)
    }
}

struct TileEntry<'a>(TileDimension, ArraySizes<'a>, ShapePart);

impl Display for TileEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(entry, named, part) = *self;
        match entry {
            TileDimension::Size(size) => write!(f, "{LIBRARY}::types::Size<{}>", named.size(part, size)),
            TileDimension::Combine => write!(f, "{LIBRARY}::types::Combine"),
        }
    }
}

/// The type of a tile, with its number in the layout.
struct TileType<'a>(usize, &'a Tile, ArraySizes<'a>);

impl Display for TileType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, tile, named) = *self;
        let entries = tile.dimensions().iter().copied().enumerate();
        let entries = entries.map(|(i, entry)| TileEntry(entry, named, ShapePart::TileEntry(number, i)));
        write!(f, "{LIBRARY}::types::Tile<{}>", List(entries))
    }
}

struct Split<'a>(&'a SplitConfig);

impl Display for Split<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indices = List(self.0.split_indices().iter().copied().map(Number));
        write!(f, "{LIBRARY}::types::Split<{}, {indices}>", self.0.dimension())
    }
}

struct LayoutType<'a>(&'a Layout, ArraySizes<'a>);

impl Display for LayoutType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(layout, named) = *self;
        let tiles = layout.tiles().iter().enumerate();
        write!(
            f,
            "{LIBRARY}::types::Layout<{}, {}, {LIBRARY}::types::Space<{}>",
            List(layout.minor_to_major().iter().copied().map(Minor)),
            List(tiles.map(|(i, tile)| TileType(i, tile, named))),
            named.size(ShapePart::Attribute(LayoutAttribute::MemorySpace), layout.memory_space().into()),
        )?;
        if (LayoutAttributes { memory_space: 0, ..layout.attributes() }) != LayoutAttributes::DEFAULT {
            write!(f, ", {LIBRARY}::types::Attributes<")?;
            // The memory space has a type of its own.
            let others = LayoutAttribute::NUMBERS.iter().filter(|found| **found != LayoutAttribute::MemorySpace);
            for number in others.filter_map(|attribute| layout.number(*attribute)) {
                write!(f, "{number}, ")?;
            }
            write!(f, "{}>", List(layout.split_configs().iter().map(Split)))?;
        }
        f.write_str(">")
    }
}
