//! The shapes of a message's instructions. Each is decoded and printed once.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::wire::{Content, Field, Fields};
use crate::module::number;
use crate::names::{NONE, NameTable, hash};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xla_shape_core::proto::decode_shape;
use xla_shape_core::{ArrayShape, Layout, Shape};

type Result<T> = core::result::Result<T, HloProtoError>;

/// The field numbers of `ShapeProto`, and the element type of a tuple (`xla/xla_data.proto`).
const ELEMENT_TYPE: u32 = 2;
const DIMENSIONS: u32 = 3;
const TUPLE_SHAPES: u32 = 4;
const LAYOUT: u32 = 5;
const TUPLE: u8 = 13;

/// A decoded shape, and the numbers of its texts, which are assigned when they are first printed.
struct DecodedShape<'p> {
    bytes: &'p [u8],
    shape: Shape,
    text: u32,
    without_layout: u32,
}

/// The shapes of a module, by message and by text.
pub(crate) struct Shapes<'p> {
    by_bytes: NameTable,
    known: Vec<DecodedShape<'p>>,
    by_text: NameTable,
    texts: Vec<String>,
    /// The shape of each text.
    pub(crate) shapes: Vec<Shape>,
}

impl<'p> Shapes<'p> {
    pub(crate) fn new() -> Self {
        Self {
            by_bytes: NameTable::new(),
            known: Vec::new(),
            by_text: NameTable::new(),
            texts: Vec::new(),
            shapes: Vec::new(),
        }
    }

    /// The number of the shape with this message, and its text.
    pub(crate) fn with_layout(&mut self, bytes: Option<&'p [u8]>) -> Result<(u32, &str)> {
        let place = self.place(bytes)?;
        let Some(known) = self.known.get(place) else { return Ok((NONE, "")) };
        let mut text = known.text;
        if text == NONE {
            let shape = known.shape.clone();
            text = self.number(shape.to_string(), |_| Ok(shape))?;
            if let Some(known) = self.known.get_mut(place) {
                known.text = text;
            }
        }
        Ok((text, self.texts.get(text as usize).map_or("", String::as_str)))
    }

    /// The shape in this message, without its layout: its number and its text.
    pub(crate) fn without_layout(&mut self, bytes: Option<&'p [u8]>) -> Result<(u32, &str)> {
        let place = self.place(bytes)?;
        let Some(known) = self.known.get(place) else { return Ok((NONE, "")) };
        let mut text = known.without_layout;
        if text == NONE {
            let printed = known.shape.without_layout().to_string();
            // The shape that reading the text would return: an array without a layout has the default one.
            let array = match &known.shape {
                Shape::Array(array) => {
                    let layout = Layout::descending(array.num_dimensions());
                    Some(ArrayShape::new(array.element_type(), array.dimensions(), layout))
                }
                _ => None,
            };
            text = self.number(printed, |text| match array {
                Some(Ok(array)) => Ok(Shape::Array(array)),
                _ => Ok(text.parse()?),
            })?;
            if let Some(known) = self.known.get_mut(place) {
                known.without_layout = text;
            }
        }
        Ok((text, self.texts.get(text as usize).map_or("", String::as_str)))
    }

    /// The shape with this number.
    pub(crate) fn shape(&self, number: u32) -> &Shape {
        self.shapes.get(number as usize).unwrap_or(&Shape::Opaque)
    }

    fn place(&mut self, bytes: Option<&'p [u8]>) -> Result<usize> {
        let bytes = bytes.ok_or_else(|| HloProtoError::new(HloProtoErrorKind::Missing { field: "shape" }))?;
        let of_bytes = hash(bytes);
        let known = &self.known;
        let bytes_of = |number: u32| known.get(number as usize).map_or(&b""[..], |known| known.bytes);
        if let Some(place) = self.by_bytes.get(bytes, of_bytes, bytes_of) {
            return Ok(place as usize);
        }
        let shape = match self.tuple(bytes) {
            Some(shape) => shape,
            None => decode_shape(bytes)?,
        };
        // `tuple` may have added the shapes of the elements.
        let known = &self.known;
        let bytes_of = |number: u32| known.get(number as usize).map_or(&b""[..], |known| known.bytes);
        let place = known.len();
        self.by_bytes.insert(bytes, of_bytes, number(place), bytes_of);
        self.known.push(DecodedShape { bytes, shape, text: NONE, without_layout: NONE });
        Ok(place)
    }

    /// Decodes a tuple of arrays, most of which are decoded already. `None` for other shapes and for errors.
    fn tuple(&mut self, bytes: &'p [u8]) -> Option<Shape> {
        // The element type comes first in a message: field 2, a number.
        if !bytes.starts_with(&[0x10, TUPLE]) {
            return None;
        }
        let mut elements = Vec::new();
        for field in Fields::new(bytes) {
            let field = field.ok()?;
            match (field.number, field.content) {
                (ELEMENT_TYPE, Content::Number(number)) if number == u64::from(TUPLE) => {}
                // Tuples in tuples are left to `decode_shape`: `place` calls this function, so reading them here would recurse without a limit.
                (TUPLE_SHAPES, Content::Bytes(element)) if !element.starts_with(&[0x10, TUPLE]) => {
                    let place = self.place(Some(element)).ok()?;
                    elements.push(self.known.get(place)?.shape.clone());
                }
                _ => return None,
            }
        }
        Shape::tuple(elements).ok()
    }

    /// The number of a text. Several messages can have the same text.
    fn number(&mut self, text: String, shape: impl FnOnce(&str) -> Result<Shape>) -> Result<u32> {
        let of_text = hash(text.as_bytes());
        let texts = &self.texts;
        let text_of = |number: u32| texts.get(number as usize).map_or(&b""[..], |text| text.as_bytes());
        if let Some(number) = self.by_text.get(text.as_bytes(), of_text, text_of) {
            return Ok(number);
        }
        let number = number(texts.len());
        self.by_text.insert(text.as_bytes(), of_text, number, text_of);
        self.shapes.push(shape(&text)?);
        self.texts.push(text);
        Ok(number)
    }
}

/// Prints a shape of `entry_computation_layout`. XLA prints no layout if the message has none.
pub(crate) fn printed(bytes: &[u8]) -> Result<String> {
    Ok(text(&decode_shape(bytes)?, bytes))
}

fn text(shape: &Shape, bytes: &[u8]) -> String {
    if !lacks_layout(bytes) {
        return shape.to_string();
    }
    let Some(shapes) = shape.tuple_shapes() else { return shape.without_layout().to_string() };
    let elements = Fields::new(bytes).filter_map(|field| match field.ok()? {
        Field { number: TUPLE_SHAPES, content: Content::Bytes(element) } => Some(element),
        _ => None,
    });
    let mut printed = String::from("(");
    for (i, (shape, bytes)) in shapes.iter().zip(elements).enumerate() {
        printed.push_str(&separator(i));
        printed.push_str(&text(shape, bytes));
    }
    printed.push(')');
    printed
}

/// The separator before element `index` of a list of shapes. XLA numbers every fifth one.
pub(crate) fn separator(index: usize) -> String {
    match index {
        0 => String::new(),
        _ if index.is_multiple_of(5) => format!(", /*index={index}*/"),
        _ => ", ".into(),
    }
}

/// Whether an array in this shape message has dimensions and no layout.
fn lacks_layout(bytes: &[u8]) -> bool {
    let (mut has_dimensions, mut has_layout) = (false, false);
    for field in Fields::new(bytes).flatten() {
        match (field.number, field.content) {
            (TUPLE_SHAPES, Content::Bytes(element)) if lacks_layout(element) => return true,
            (DIMENSIONS, _) => has_dimensions = true,
            (LAYOUT, _) => has_layout = true,
            _ => {}
        }
    }
    has_dimensions && !has_layout
}
