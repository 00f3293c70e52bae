//! Literals from text.

use super::error::{HloProtoError, HloProtoErrorKind, no_place};
use super::float::encode;
use super::message::LiteralProto;
use crate::text::cursor::Cursor;
use alloc::vec::Vec;
use xla_shape_core::proto::ShapeProto;
use xla_shape_core::text::MAX_NESTING;
use xla_shape_core::{ArrayShape, ElementType, Shape};

type Result<T> = core::result::Result<T, HloProtoError>;

/// How many elements may be left out of a text: they are zeros that take memory.
const MAX_LEFT_OUT: u64 = 1 << 24;

/// The literal with this text.
pub(crate) fn literal(text: &str, shape: &Shape) -> Result<LiteralProto> {
    of_shape(text, shape, 0)
}

fn of_shape(text: &str, shape: &Shape, depth: usize) -> Result<LiteralProto> {
    if depth > MAX_NESTING {
        return Err(HloProtoError::new(HloProtoErrorKind::TooDeep));
    }
    let array = match shape {
        Shape::Array(array) => array,
        Shape::Tuple(shapes) => {
            let wrong = || no_place("a constant of a tuple with other elements than its shape");
            let elements = match text.trim_ascii() {
                // Left out as a whole.
                "{...}" => alloc::vec!["{...}"; shapes.len()],
                text => elements(text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?)?,
            };
            if elements.len() != shapes.len() {
                return Err(wrong());
            }
            let literals = elements.into_iter().zip(shapes.iter());
            let literals = literals.map(|(text, shape)| of_shape(text, shape, depth.saturating_add(1)));
            let tuple_literals = literals.collect::<Result<_>>()?;
            return Ok(LiteralProto { shape: Some(shape.into()), tuple_literals, ..LiteralProto::default() });
        }
        _ => return Err(no_place("a constant that is no array and no tuple")),
    };
    let mut to = LiteralProto { shape: Some(shape.into()), ..LiteralProto::default() };
    let count = array.elements().ok_or_else(|| no_place("a constant without a known size"))?;
    let is_left_out = text.contains("...");
    if is_left_out && count > MAX_LEFT_OUT {
        return Err(no_place("a constant of so many elements that the text leaves out"));
    }
    let separators = |c: char| c.is_ascii_whitespace() || matches!(c, '{' | '}' | ',' | ')');
    let uncommented = uncommented(text);
    // A complex number is two; a payload of NaN stands in parentheses behind it.
    let is_complex = array.element_type().is_complex();
    let words: Vec<&str> = match is_complex {
        true => uncommented.split(|c: char| separators(c) || c == '(').filter(|word| !word.is_empty()).collect(),
        false => uncommented.split(separators).filter(|word| !word.is_empty()).collect(),
    };
    let parts = if is_complex { count.saturating_mul(2) } else { count };
    let words: Vec<&str> = if is_left_out {
        let parts = usize::try_from(parts).map_err(|_| no_place("a constant of so many elements"))?;
        alloc::vec!["0"; parts]
    } else {
        words
    };
    if words.len() as u64 != parts {
        return Err(HloProtoError::new(HloProtoErrorKind::ElementCount { expected: parts, found: words.len() as u64 }));
    }
    for place in places(array) {
        if is_complex {
            let first = place.saturating_mul(2);
            for word in words.get(first..first.saturating_add(2)).unwrap_or(&[]) {
                push(word, array.element_type(), &mut to)?;
            }
        } else if let Some(word) = words.get(place) {
            push(word, array.element_type(), &mut to)?;
        }
    }
    Ok(to)
}

/// What stands between the commas outside of brackets.
fn elements(text: &str) -> Result<Vec<&str>> {
    let mut cursor = Cursor::new(text, 0);
    let (mut elements, mut start) = (Vec::new(), 0);
    loop {
        match cursor.peek() {
            Some(b'(' | b'[' | b'{') => cursor.balanced()?,
            Some(b'/') => cursor.skip_space()?,
            Some(b',') => {
                elements.push(cursor.since(start));
                cursor.eat(b',');
                start = cursor.position;
                continue;
            }
            None => break,
            Some(_) => {}
        }
        match cursor.peek() {
            Some(b'(' | b'[' | b'{' | b'/' | b',') | None => {}
            Some(other) => {
                cursor.eat(other);
            }
        }
    }
    let last = cursor.since(start);
    if !elements.is_empty() || !last.trim_ascii().is_empty() {
        elements.push(last);
    }
    Ok(elements)
}

/// The literal behind its shape, or shapes, as the attribute `literal` has it: `s32[] 7`, `( s32[] 7, f32[2] {1, 2} )`.
pub(crate) fn with_shape(text: &str) -> Result<LiteralProto> {
    with_shapes(text.trim_ascii(), 0)
}

fn with_shapes(text: &str, depth: usize) -> Result<LiteralProto> {
    if depth > MAX_NESTING {
        return Err(HloProtoError::new(HloProtoErrorKind::TooDeep));
    }
    let mut parser = xla_shape_core::text::Parser::at(text, 0);
    if let Some(inside) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let literals = elements(inside)?.into_iter();
        let literals = literals.map(|element| with_shapes(element.trim_ascii(), depth.saturating_add(1)));
        let tuple_literals: Vec<LiteralProto> = literals.collect::<Result<_>>()?;
        let shapes: Option<Vec<_>> = tuple_literals.iter().map(|literal| literal.shape.clone()).collect();
        let shape =
            ShapeProto { element_type: TUPLE, tuple_shapes: shapes.unwrap_or_default(), ..ShapeProto::default() };
        return Ok(LiteralProto { shape: Some(shape), tuple_literals, ..LiteralProto::default() });
    }
    let shape = parser.shape()?;
    literal(text.get(parser.position()..).unwrap_or(""), &shape)
}

/// The number of tuples among the element types of the schema.
const TUPLE: i32 = 13;

/// The text without its comments.
fn uncommented(text: &str) -> alloc::string::String {
    let mut rest = text;
    let mut out = alloc::string::String::with_capacity(text.len());
    while let Some((before, behind)) = rest.split_once('/') {
        out.push_str(before);
        let end = if behind.starts_with('*') { "*/" } else { "\n" };
        rest = behind.split_once(end).map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// For each element in the order of memory, its place in row-major order.
fn places(array: &ArrayShape) -> Vec<usize> {
    let size = |place: usize| array.dimensions().get(place).and_then(|found| found.extent()).unwrap_or(0) as usize;
    let rank = array.num_dimensions();
    let mut strides = alloc::vec![1_usize; rank];
    for place in (0..rank.saturating_sub(1)).rev() {
        let next = place.saturating_add(1);
        let stride = strides.get(next).copied().unwrap_or(1).saturating_mul(size(next));
        if let Some(of_dimension) = strides.get_mut(place) {
            *of_dimension = stride;
        }
    }
    let mut places = alloc::vec![0_usize];
    // The most minor dimension varies fastest.
    for &dimension in array.layout().minor_to_major() {
        let stride = strides.get(dimension).copied().unwrap_or(0);
        let before = core::mem::take(&mut places);
        for i in 0..size(dimension) {
            places.extend(before.iter().map(|place| place.saturating_add(stride.saturating_mul(i))));
        }
    }
    places
}

fn push(word: &str, element_type: ElementType, to: &mut LiteralProto) -> Result<()> {
    let wrong = || no_place(&alloc::format!("the element `{word}` of {element_type}"));
    let float = || xla_float(word).ok_or_else(wrong);
    let signed = || word.parse::<i64>().map_err(|_| wrong());
    let unsigned = || word.parse::<u64>().map_err(|_| wrong());
    match element_type {
        ElementType::Pred => to.preds.push(matches!(word, "true" | "1")),
        ElementType::S32 => to.s32s.push(i32::try_from(signed()?).map_err(|_| wrong())?),
        ElementType::S64 => to.s64s.push(signed().or_else(|_| unsigned().map(|number| number as i64))?),
        ElementType::U32 => to.u32s.push(u32::try_from(unsigned()?).map_err(|_| wrong())?),
        ElementType::U64 => to.u64s.push(unsigned().or_else(|_| signed().map(|number| number as u64))?),
        ElementType::F32 => to.f32s.push(single(word).ok_or_else(wrong)?),
        ElementType::F64 => to.f64s.push(double(word).ok_or_else(wrong)?),
        ElementType::C64 => to.c64s.push(single(word).ok_or_else(wrong)?),
        ElementType::C128 => to.c128s.push(double(word).ok_or_else(wrong)?),
        ElementType::S16 => to.s16s.extend((signed()? as i16).to_le_bytes()),
        ElementType::U16 => to.u16s.extend((unsigned()? as u16).to_le_bytes()),
        ElementType::F16 => to.f16s.extend((encode(element_type, float()?) as u16).to_le_bytes()),
        ElementType::Bf16 => to.bf16s.extend((encode(element_type, float()?) as u16).to_le_bytes()),
        _ => {
            let bytes = match element_type {
                ElementType::S1 => &mut to.s1s,
                ElementType::S2 => &mut to.s2s,
                ElementType::S4 => &mut to.s4s,
                ElementType::S8 => &mut to.s8s,
                ElementType::U1 => &mut to.u1s,
                ElementType::U2 => &mut to.u2s,
                ElementType::U4 => &mut to.u4s,
                ElementType::U8 => &mut to.u8s,
                ElementType::F8E5M2 => &mut to.f8e5m2s,
                ElementType::F8E4M3 => &mut to.f8e4m3s,
                ElementType::F8E4M3Fn => &mut to.f8e4m3fns,
                ElementType::F8E4M3B11Fnuz => &mut to.f8e4m3b11fnuzs,
                ElementType::F8E3M4 => &mut to.f8e3m4s,
                ElementType::F8E5M2Fnuz => &mut to.f8e5m2fnuzs,
                ElementType::F8E4M3Fnuz => &mut to.f8e4m3fnuzs,
                ElementType::F8E8M0Fnu => &mut to.f8e8m0fnus,
                ElementType::F4E2M1Fn => &mut to.f4e2m1fns,
                ElementType::F6E2M3Fn => &mut to.f6e2m3fns,
                ElementType::F6E3M2Fn => &mut to.f6e3m2fns,
                _ => return Err(wrong()),
            };
            bytes.push(if element_type.is_floating() { encode(element_type, float()?) as u8 } else { signed()? as u8 });
        }
    }
    Ok(())
}

/// What a NaN carries, and whether it is negative: `nan(0x1234)`, whose closing parenthesis is cut off.
fn payload(word: &str) -> Option<(bool, Option<u64>)> {
    let (is_negative, word) = word.strip_prefix('-').map_or((false, word), |word| (true, word));
    let rest = word.strip_prefix("nan")?;
    let digits = rest.strip_prefix("(0x").map(|digits| u64::from_str_radix(digits.trim_end_matches(')'), 16));
    match digits {
        None => rest.is_empty().then_some((is_negative, None)),
        Some(digits) => Some((is_negative, Some(digits.ok()?))),
    }
}

fn single(word: &str) -> Option<f32> {
    let Some((is_negative, payload)) = payload(word) else { return Some(xla_float(word)? as f32) };
    let payload = u32::try_from(payload.unwrap_or(0x40_0000)).ok().filter(|payload| *payload <= 0x7f_ffff)?;
    Some(f32::from_bits(u32::from(is_negative) << 31 | 0x7f80_0000 | payload))
}

fn double(word: &str) -> Option<f64> {
    let Some((is_negative, payload)) = payload(word) else { return xla_float(word) };
    let payload = Some(payload.unwrap_or(0x8_0000_0000_0000)).filter(|payload| *payload <= 0xf_ffff_ffff_ffff)?;
    Some(f64::from_bits(u64::from(is_negative) << 63 | 0x7ff0_0000_0000_0000 | payload))
}

/// A number as XLA reads it, where `-0` is an integer, which has no sign.
fn xla_float(word: &str) -> Option<f64> {
    match word {
        "-0" => Some(0.0),
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => match payload(word) {
            Some((is_negative, _)) => Some(if is_negative { -f64::NAN } else { f64::NAN }),
            None => word.parse().ok(),
        },
    }
}
