//! The printer: XLA's canonical text of shapes and layouts, as `ShapeUtil::HumanStringWithLayout` (`xla/shape_util.cc`)
//! and `Layout::Print` (`xla/layout.cc`) write it.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]

use crate::layout::attribute::LayoutAttribute;
use crate::layout::number::dimension_letter;
use crate::layout::tile::{Tile, TileDimension};
use crate::layout::{Layout, SplitConfig};
use crate::shape::Shape;
use crate::shape::array::{ArrayShape, write_without_layout};
use crate::shape::program::{ProgramParameter, ProgramShape};
use crate::sink::{self, ConstText, Sink};
use core::fmt;

/// Writes numbers with commas between them.
const fn dimension_numbers(sink: &mut Sink<'_>, numbers: &[usize]) {
    let mut i = 0;
    while i < numbers.len() {
        if i > 0 {
            sink.byte(b',');
        }
        sink.count(numbers[i]);
        i += 1;
    }
}

const fn tile(sink: &mut Sink<'_>, tile: &Tile) {
    sink.byte(b'(');
    let mut i = 0;
    while i < tile.dimensions().len() {
        if i > 0 {
            sink.byte(b',');
        }
        match tile.dimensions()[i] {
            TileDimension::Size(size) => sink.number(size),
            TileDimension::Combine => sink.byte(b'*'),
        }
        i += 1;
    }
    sink.byte(b')');
}

const fn tiles(sink: &mut Sink<'_>, tiles: &[Tile]) {
    if !tiles.is_empty() {
        sink.text(LayoutAttribute::Tiles.symbol());
    }
    let mut i = 0;
    while i < tiles.len() {
        tile(sink, &tiles[i]);
        i += 1;
    }
}

const fn split_configs(sink: &mut Sink<'_>, splits: &[SplitConfig]) {
    if !splits.is_empty() {
        sink.text(LayoutAttribute::SplitConfigs.symbol());
    }
    let mut i = 0;
    while i < splits.len() {
        sink.byte(b'(');
        sink.count(splits[i].dimension());
        sink.byte(b':');
        sink.numbers(splits[i].split_indices());
        sink.byte(b')');
        i += 1;
    }
}

const fn layout(sink: &mut Sink<'_>, layout: &Layout) {
    sink.byte(b'{');
    dimension_numbers(sink, layout.minor_to_major());
    let colon = sink.written();
    sink.byte(b':');
    let mut rest: &[LayoutAttribute] = &LayoutAttribute::ALL;
    while let [attribute, others @ ..] = rest {
        match attribute {
            LayoutAttribute::Tiles => tiles(sink, layout.tiles()),
            LayoutAttribute::SplitConfigs => split_configs(sink, layout.split_configs()),
            _ => match layout.number(*attribute) {
                Some(number) if !layout.has_default(*attribute) => {
                    sink.text(attribute.symbol());
                    sink.byte(b'(');
                    sink.number(number);
                    sink.byte(b')');
                }
                // It has its default, or is an attribute of the former sparse arrays.
                _ => {}
            },
        }
        rest = others;
    }
    if sink.written() == colon + 1 {
        // No attribute followed the colon.
        sink.truncate(colon);
    }
    sink.byte(b'}');
}

const fn array(sink: &mut Sink<'_>, array: &ArrayShape, with_layout: bool) {
    write_without_layout(sink, array.element_type(), array.dimensions());
    if with_layout {
        layout_of(sink, array);
    }
}

/// Writes the layout of an array. The `{}` of a scalar without attributes is omitted.
const fn layout_of(sink: &mut Sink<'_>, array: &ArrayShape) {
    let start = sink.written();
    layout(sink, array.layout());
    if array.dimensions().is_empty() && sink.written() == start + 2 {
        // The parser does not accept `{}` after a shape.
        sink.truncate(start);
    }
}

const fn shape(sink: &mut Sink<'_>, value: &Shape, with_layout: bool) {
    match value {
        Shape::Array(value) => array(sink, value, with_layout),
        Shape::Token => sink.text("token[]"),
        Shape::Opaque => sink.text("opaque[]"),
        Shape::Buffer(value) => {
            sink.text("b(");
            array(sink, value, with_layout);
            sink.byte(b')');
        }
        Shape::Tuple(_) => {
            let Some(elements) = value.tuple_shapes() else { return };
            sink.byte(b'(');
            let mut i = 0;
            while i < elements.len() {
                if i > 0 {
                    sink.text(", ");
                    if i.is_multiple_of(5) {
                        sink.text("/*index=");
                        sink.count(i);
                        sink.text("*/");
                    }
                }
                shape(sink, &elements[i], with_layout);
                i += 1;
            }
            sink.byte(b')');
        }
    }
}

/// A `Display` adapter for a function that writes to a [`Sink`].
struct FromSink<F>(F);

impl<F: Fn(&mut Sink<'_>)> fmt::Display for FromSink<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sink::display(f, |sink| self.0(sink))
    }
}

impl Shape {
    /// The canonical text, usable in a `const`, where `Display` is not.
    ///
    /// ```
    /// use xla_shape_core::{Shape, text::ConstText};
    ///
    /// const TEXT: ConstText<16> = Shape::Token.const_text();
    /// assert_eq!(TEXT.as_str(), "token[]");
    /// ```
    #[must_use]
    pub const fn const_text<const CAPACITY: usize>(&self) -> ConstText<CAPACITY> {
        let mut text = ConstText::new();
        shape(&mut text.sink(), self, true);
        text
    }

    /// The shape's text without layouts, as XLA's `ShapeUtil::HumanString` prints it.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2,3]{0,1}, token[])".parse()?;
    /// assert_eq!(shape.without_layout().to_string(), "(f32[2,3], token[])");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn without_layout(&self) -> impl fmt::Display {
        FromSink(|sink: &mut Sink<'_>| shape(sink, self, false))
    }
}

impl ArrayShape {
    /// The shape's text without the layout, as XLA's `ShapeUtil::HumanString` prints it.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]{0,1:T(4)}".parse()?;
    /// assert_eq!(shape.without_layout().to_string(), "f32[2,3]");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn without_layout(&self) -> impl fmt::Display {
        FromSink(|sink: &mut Sink<'_>| array(sink, self, false))
    }

    /// The shape's text with names instead of sizes: the name `names[i]` for dimension `i`, if there is one.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[?,128]{1,0:T(8,128)}".parse()?;
    /// assert_eq!(shape.with_size_names(&[Some("rows"), None]).to_string(), "f32[rows,128]{1,0:T(8,128)}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn with_size_names<'a>(&'a self, names: &'a [Option<&'a str>]) -> impl fmt::Display + 'a {
        FromSink(|sink: &mut Sink<'_>| {
            sink.text(self.element_type().name());
            sink.byte(b'[');
            for (i, dimension) in self.dimensions().iter().enumerate() {
                sink.text(if i > 0 { "," } else { "" });
                match names.get(i) {
                    Some(Some(name)) => sink.text(name),
                    Some(None) | None => dimension.write(sink),
                }
            }
            sink.byte(b']');
            layout_of(sink, self);
        })
    }

    /// The canonical text, usable in a `const`, where `Display` is not.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, ElementType};
    ///
    /// let shape = ArrayShape::with_default_layout(ElementType::F32, &[])?;
    /// assert_eq!(shape.const_text::<16>().as_str(), "f32[]");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn const_text<const CAPACITY: usize>(&self) -> ConstText<CAPACITY> {
        let mut text = ConstText::new();
        array(&mut text.sink(), self, true);
        text
    }
}

impl Layout {
    /// The canonical text, usable in a `const`, where `Display` is not.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// assert_eq!(Layout::descending(2).const_text::<16>().as_str(), "{1,0}");
    /// ```
    #[must_use]
    pub const fn const_text<const CAPACITY: usize>(&self) -> ConstText<CAPACITY> {
        let mut text = ConstText::new();
        layout(&mut text.sink(), self);
        text
    }
}

/// The text of an index with the letters of its dimensions, such as `y=2,x=3`; without letters if there are more than
/// four dimensions. [`parse_index`](super::parse_index) reads the text.
///
/// ```
/// assert_eq!(xla_shape_core::text::index_with_letters(&[2, 3]).to_string(), "y=2,x=3");
/// ```
#[must_use]
pub fn index_with_letters(index: &[usize]) -> impl fmt::Display + '_ {
    struct Index<'a>(&'a [usize]);

    impl fmt::Display for Index<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for (dimension, entry) in self.0.iter().enumerate() {
                if dimension > 0 {
                    f.write_str(",")?;
                }
                if let Some(letter) = dimension_letter(dimension, self.0.len()) {
                    write!(f, "{letter}=")?;
                }
                entry.fmt(f)?;
            }
            Ok(())
        }
    }

    Index(index)
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sink::display(f, |sink| layout(sink, self))
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sink::display(f, |sink| tile(sink, self))
    }
}

impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sink::display(f, |sink| array(sink, self, true))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sink::display(f, |sink| shape(sink, self, true))
    }
}

/// Implements [`Debug`](fmt::Debug) as [`Display`](fmt::Display), because the fields of such a value take many lines, and its text says the same.
macro_rules! debug_is_text {
    ($($type:ty),*) => {
        $(impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        })*
    };
}

debug_is_text!(Layout, Tile, ArrayShape, Shape);

/// XLA's text (`ShapeUtil::HumanString` of a `ProgramShape`): without layouts, and with `(unknown)` for a parameter
/// without a name.
impl fmt::Display for ProgramShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, ProgramParameter { name, shape }) in self.parameters.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let name = if name.is_empty() { "(unknown)" } else { name };
            write!(f, "{comma}{name}: {}", shape.without_layout())?;
        }
        write!(f, ") -> {}", self.result.without_layout())
    }
}
