//! Prints literals as XLA does (`Literal::ToString` in `xla/literal.cc`).

use super::error::{HloProtoError, HloProtoErrorKind};
use super::float;
use super::message::{self, LiteralProto};
use super::room;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write as _;
use prost::Message;
use xla_shape_core::text::MAX_NESTING;
use xla_shape_core::{ArrayShape, ElementType, Shape};

type Result<T> = core::result::Result<T, HloProtoError>;

/// The largest number of elements of a constant that XLA prints (`HloConstantInstruction::PrintOperandsWithCanonicalNameMap` in
/// `xla/hlo/ir/hlo_instructions.cc`).
const MAX_PRINTED: u64 = 10;

/// Decodes a literal.
pub(crate) fn decode(bytes: &[u8]) -> Result<LiteralProto> {
    room::check_literal(bytes)?;
    Ok(LiteralProto::decode(bytes)?)
}

/// Prints the text between the parentheses of a constant.
pub(crate) fn constant(literal: &[u8], shape: &Shape, out: &mut String) -> Result<()> {
    match shape.array() {
        Some(array) if elements(array)? <= MAX_PRINTED => Elements::new(&mut decode(literal)?, array)?.print(out),
        _ => {
            out.push_str("{...}");
            Ok(())
        }
    }
}

/// Prints a literal with its shape, as in the attribute `literal`.
pub(crate) fn literal(literal: &mut LiteralProto, depth: usize, out: &mut String) -> Result<()> {
    let shape = literal.shape.as_ref().ok_or(HloProtoErrorKind::Missing { field: "shape" });
    let shape = Shape::try_from(shape.map_err(HloProtoError::new)?)?;
    match &shape {
        Shape::Tuple(_) if depth < MAX_NESTING => {
            out.push_str("( ");
            for (i, element) in literal.tuple_literals.iter_mut().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                self::literal(element, depth + 1, out)?;
            }
            out.push_str(" )");
            Ok(())
        }
        Shape::Tuple(_) => Err(HloProtoError::new(HloProtoErrorKind::TooDeep)),
        Shape::Array(array) => {
            let _ = write!(out, "{shape} ");
            Elements::new(literal, array)?.print(out)
        }
        _ => {
            let _ = write!(out, "{shape}");
            Ok(())
        }
    }
}

fn elements(array: &ArrayShape) -> Result<u64> {
    let missing = || HloProtoError::new(HloProtoErrorKind::Missing { field: "dimensions" });
    array.elements().ok_or_else(missing)
}

/// The elements of an array in memory order, with the strides to find them.
struct Elements<'l> {
    of: message::Elements<'l>,
    element_type: ElementType,
    sizes: alloc::vec::Vec<usize>,
    /// For each dimension, the stride in memory, in elements.
    strides: alloc::vec::Vec<usize>,
}

impl<'l> Elements<'l> {
    fn new(literal: &'l mut LiteralProto, array: &ArrayShape) -> Result<Self> {
        let element_type = array.element_type();
        let sizes: alloc::vec::Vec<usize> = array
            .dimensions()
            .iter()
            .map(|dimension| dimension.extent().and_then(|size| size.try_into().ok()).unwrap_or(0))
            .collect();
        // A literal's elements are in the order of its layout, without tiles. The text has them in row-major order, so each is found by its strides.
        let mut strides = alloc::vec![1_usize; sizes.len()];
        let mut stride = 1_usize;
        for &place in array.layout().minor_to_major() {
            if let Some(of_dimension) = strides.get_mut(place) {
                *of_dimension = stride;
            }
            stride = stride.saturating_mul(sizes.get(place).copied().unwrap_or(1));
        }
        let none = || HloProtoError::new(HloProtoErrorKind::Missing { field: "elements" });
        let of = literal.elements(element_type).ok_or_else(none)?;
        let elements = Self { of, element_type, sizes, strides };
        let (expected, found) = (self::elements(array)?, elements.found() as u64);
        if found != expected {
            return Err(HloProtoError::new(HloProtoErrorKind::ElementCount { expected, found }));
        }
        Ok(elements)
    }

    /// The entries of the list per element: bytes, or the two parts of a complex number.
    fn width(&self) -> usize {
        let bytes = usize::try_from(self.element_type.storage_bytes()).unwrap_or(1);
        match self.of {
            message::Elements::Bytes(_) => bytes,
            _ => 1 + usize::from(self.element_type.is_complex()),
        }
    }

    /// The number of elements in the message.
    fn found(&self) -> usize {
        let parts = match &self.of {
            message::Elements::Flags(parts) => parts.len(),
            message::Elements::I32(parts) => parts.len(),
            message::Elements::I64(parts) => parts.len(),
            message::Elements::U32(parts) => parts.len(),
            message::Elements::U64(parts) => parts.len(),
            message::Elements::F32(parts) => parts.len(),
            message::Elements::F64(parts) => parts.len(),
            message::Elements::Bytes(parts) => parts.len(),
        };
        parts.checked_div(self.width()).unwrap_or(0)
    }

    /// Prints the element at this index in memory, which the message has: there are as many as the shape says.
    fn element(&self, place: usize) -> String {
        let (width, start) = (self.width(), place * self.width());
        let parts = start..start + width;
        let text = match &self.of {
            message::Elements::Flags(flags) => flags.get(place).map(|value| {
                // XLA prints a scalar as a word.
                let words = if *value { ("true", "1") } else { ("false", "0") };
                String::from(if self.sizes.is_empty() { words.0 } else { words.1 })
            }),
            message::Elements::I32(numbers) => numbers.get(place).map(ToString::to_string),
            message::Elements::I64(numbers) => numbers.get(place).map(ToString::to_string),
            message::Elements::U32(numbers) => numbers.get(place).map(ToString::to_string),
            message::Elements::U64(numbers) => numbers.get(place).map(ToString::to_string),
            message::Elements::F32(numbers) => numbers.get(parts).map(|parts| number(parts, float::single)),
            message::Elements::F64(numbers) => numbers.get(parts).map(|parts| number(parts, float::double)),
            message::Elements::Bytes(bytes) => bytes.get(parts).and_then(|bytes| self.small(bytes)),
        };
        text.unwrap_or_default()
    }

    /// Prints an element of at most 16 bits.
    fn small(&self, bytes: &[u8]) -> Option<String> {
        // The bytes are little-endian. In an element of fewer than 8 bits, the bits above it are ignored.
        let bits = bytes.iter().rev().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
        let width = u32::try_from(self.element_type.bits()).ok()?;
        let bits = bits & 1_u64.checked_shl(width)?.wrapping_sub(1);
        if self.element_type.is_floating() {
            return float::small(self.element_type, bits);
        }
        if !self.element_type.is_signed() {
            return Some(bits.to_string());
        }
        // Extend the sign: shift it to bit 63, and back as a signed number.
        let above = 64_u32.checked_sub(width)?;
        Some((((bits << above) as i64) >> above).to_string())
    }

    fn print(&self, out: &mut String) -> Result<()> {
        if self.sizes.is_empty() {
            out.push_str(&self.element(0));
            return Ok(());
        }
        self.array(0, 0, None, out);
        Ok(())
    }

    /// Prints dimension `dimension` and those after it, from this index in memory. `index` is the index in the dimension before.
    fn array(&self, dimension: usize, place: usize, index: Option<usize>, out: &mut String) {
        let rank = self.sizes.len();
        let size = self.sizes.get(dimension).copied().unwrap_or(0);
        let stride = self.strides.get(dimension).copied().unwrap_or(0);
        let is_innermost = dimension + 1 == rank;
        let space = match is_innermost {
            true if rank == 1 || size <= 1 => "",
            _ => " ",
        };
        out.push('{');
        // From four dimensions on, XLA writes the index of every slice but the innermost: `{ /*i0=1*/`.
        if let Some(index) = index.filter(|_| rank > 3 && !is_innermost) {
            let _ = write!(out, " /*i{}={index}*/", dimension.saturating_sub(1));
        }
        out.push_str(space);
        for i in 0..size {
            out.push_str(if i > 0 { ", " } else { "" });
            let place = place.saturating_add(stride.saturating_mul(i));
            if is_innermost {
                out.push_str(&self.element(place));
            } else {
                self.array(dimension + 1, place, Some(i), out);
            }
        }
        out.push_str(if is_innermost { space } else { " " });
        out.push('}');
    }
}

/// Prints a real number, or the two parts of a complex number.
fn number<T: Copy>(parts: &[T], text: impl Fn(T) -> String) -> String {
    match parts {
        &[real, imaginary] => format!("({}, {})", text(real), text(imaginary)),
        parts => parts.first().copied().map(text).unwrap_or_default(),
    }
}
