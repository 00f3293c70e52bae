//! Literals: the elements of constants.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::float;
use super::message::LiteralProto;
use super::room;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write as _;
use prost::Message;
use xla_shape_core::text::MAX_NESTING;
use xla_shape_core::{ArrayShape, ElementType, Shape};

type Result<T> = core::result::Result<T, HloProtoError>;

/// XLA prints the elements of a constant that has no more.
const MAX_PRINTED: u64 = 10;

/// Reads a literal, which may hold others.
pub(crate) fn decode(bytes: &[u8]) -> Result<LiteralProto> {
    room::check_literal(bytes)?;
    Ok(LiteralProto::decode(bytes)?)
}

/// What stands between the parentheses of a constant.
pub(crate) fn constant(literal: &[u8], shape: &Shape, out: &mut String) -> Result<()> {
    match shape.array() {
        Some(array) if elements(array)? <= MAX_PRINTED => Elements::new(&decode(literal)?, array)?.print(out),
        _ => {
            out.push_str("{...}");
            Ok(())
        }
    }
}

/// A literal with its shape, as the attribute `literal` has it.
pub(crate) fn literal(literal: &LiteralProto, depth: usize, out: &mut String) -> Result<()> {
    let shape = literal.shape.as_ref().ok_or(HloProtoErrorKind::Missing { field: "shape" });
    let shape = Shape::try_from(shape.map_err(HloProtoError::new)?)?;
    match &shape {
        Shape::Tuple(_) if depth < MAX_NESTING => {
            out.push_str("( ");
            for (i, element) in literal.tuple_literals.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                self::literal(element, depth.saturating_add(1), out)?;
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

/// The elements of an array in memory order, and how to find them.
struct Elements<'l> {
    literal: &'l LiteralProto,
    element_type: ElementType,
    sizes: alloc::vec::Vec<usize>,
    /// For each dimension, how far apart neighbours are in memory.
    strides: alloc::vec::Vec<usize>,
}

impl<'l> Elements<'l> {
    fn new(literal: &'l LiteralProto, array: &ArrayShape) -> Result<Self> {
        let element_type = array.element_type();
        let sizes: alloc::vec::Vec<usize> = array
            .dimensions()
            .iter()
            .map(|dimension| dimension.extent().and_then(|size| size.try_into().ok()).unwrap_or(0))
            .collect();
        let mut strides = alloc::vec![1_usize; sizes.len()];
        let mut stride = 1_usize;
        for &place in array.layout().minor_to_major() {
            if let Some(of_dimension) = strides.get_mut(place) {
                *of_dimension = stride;
            }
            stride = stride.saturating_mul(sizes.get(place).copied().unwrap_or(1));
        }
        let elements = Self { literal, element_type, sizes, strides };
        let (expected, found) = (self::elements(array)?, elements.found() as u64);
        if found != expected {
            return Err(HloProtoError::new(HloProtoErrorKind::ElementCount { expected, found }));
        }
        Ok(elements)
    }

    /// The bytes of types that have no numbers of their own in the schema, and how many of them an element takes.
    fn bytes(&self) -> Option<(&'l [u8], usize)> {
        let literal = self.literal;
        Some(match self.element_type {
            ElementType::S1 => (&literal.s1s, 1),
            ElementType::S2 => (&literal.s2s, 1),
            ElementType::S4 => (&literal.s4s, 1),
            ElementType::S8 => (&literal.s8s, 1),
            ElementType::U1 => (&literal.u1s, 1),
            ElementType::U2 => (&literal.u2s, 1),
            ElementType::U4 => (&literal.u4s, 1),
            ElementType::U8 => (&literal.u8s, 1),
            ElementType::S16 => (&literal.s16s, 2),
            ElementType::U16 => (&literal.u16s, 2),
            ElementType::F16 => (&literal.f16s, 2),
            ElementType::Bf16 => (&literal.bf16s, 2),
            ElementType::F8E5M2 => (&literal.f8e5m2s, 1),
            ElementType::F8E4M3 => (&literal.f8e4m3s, 1),
            ElementType::F8E4M3Fn => (&literal.f8e4m3fns, 1),
            ElementType::F8E4M3B11Fnuz => (&literal.f8e4m3b11fnuzs, 1),
            ElementType::F8E3M4 => (&literal.f8e3m4s, 1),
            ElementType::F8E5M2Fnuz => (&literal.f8e5m2fnuzs, 1),
            ElementType::F8E4M3Fnuz => (&literal.f8e4m3fnuzs, 1),
            ElementType::F8E8M0Fnu => (&literal.f8e8m0fnus, 1),
            ElementType::F4E2M1Fn => (&literal.f4e2m1fns, 1),
            ElementType::F6E2M3Fn => (&literal.f6e2m3fns, 1),
            ElementType::F6E3M2Fn => (&literal.f6e3m2fns, 1),
            _ => return None,
        })
    }

    /// How many elements there are.
    fn found(&self) -> usize {
        let literal = self.literal;
        match self.element_type {
            ElementType::Pred => literal.preds.len(),
            ElementType::S32 => literal.s32s.len(),
            ElementType::S64 => literal.s64s.len(),
            ElementType::U32 => literal.u32s.len(),
            ElementType::U64 => literal.u64s.len(),
            ElementType::F32 => literal.f32s.len(),
            ElementType::F64 => literal.f64s.len(),
            ElementType::C64 => literal.c64s.len() / 2,
            ElementType::C128 => literal.c128s.len() / 2,
            _ => self.bytes().map_or(0, |(bytes, width)| bytes.len().checked_div(width).unwrap_or(0)),
        }
    }

    /// The text of the element at this place in memory.
    fn element(&self, place: usize) -> String {
        let literal = self.literal;
        let part = place.saturating_mul(2);
        let text = match self.element_type {
            ElementType::Pred => literal.preds.get(place).map(|value| {
                // XLA writes a single one as a word.
                let words = if *value { ("true", "1") } else { ("false", "0") };
                String::from(if self.sizes.is_empty() { words.0 } else { words.1 })
            }),
            ElementType::S32 => literal.s32s.get(place).map(ToString::to_string),
            ElementType::S64 => literal.s64s.get(place).map(ToString::to_string),
            ElementType::U32 => literal.u32s.get(place).map(ToString::to_string),
            ElementType::U64 => literal.u64s.get(place).map(ToString::to_string),
            ElementType::F32 => literal.f32s.get(place).map(|value| float::single(*value)),
            ElementType::F64 => literal.f64s.get(place).map(|value| float::double(*value)),
            ElementType::C64 => {
                let parts = literal.c64s.get(part..part.saturating_add(2));
                parts.and_then(|parts| {
                    Some(format!("({}, {})", float::single(*parts.first()?), float::single(*parts.last()?)))
                })
            }
            ElementType::C128 => {
                let parts = literal.c128s.get(part..part.saturating_add(2));
                parts.and_then(|parts| {
                    Some(format!("({}, {})", float::double(*parts.first()?), float::double(*parts.last()?)))
                })
            }
            _ => self.small(place),
        };
        text.unwrap_or_default()
    }

    /// The text of an element of at most 16 bits.
    fn small(&self, place: usize) -> Option<String> {
        let (bytes, width) = self.bytes()?;
        let start = place.checked_mul(width)?;
        let bytes = bytes.get(start..start.checked_add(width)?)?;
        let bits = bytes.iter().rev().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
        let width = u32::try_from(self.element_type.bits()).ok()?;
        let bits = bits & 1_u64.checked_shl(width)?.wrapping_sub(1);
        if self.element_type.is_floating() {
            return float::small(self.element_type, bits);
        }
        if !self.element_type.is_signed() {
            return Some(bits.to_string());
        }
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

    /// Prints what lies in dimension `dimension` and those behind it, from this place in memory; `index` is that in the
    /// dimension before.
    fn array(&self, dimension: usize, place: usize, index: Option<usize>, out: &mut String) {
        let rank = self.sizes.len();
        let size = self.sizes.get(dimension).copied().unwrap_or(0);
        let stride = self.strides.get(dimension).copied().unwrap_or(0);
        let is_innermost = dimension.saturating_add(1) == rank;
        let space = match is_innermost {
            true if rank == 1 || size <= 1 => "",
            _ => " ",
        };
        out.push('{');
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
                self.array(dimension.saturating_add(1), place, Some(i), out);
            }
        }
        out.push_str(if is_innermost { space } else { " " });
        out.push('}');
    }
}
