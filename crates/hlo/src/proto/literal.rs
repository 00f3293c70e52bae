//! Parses the text of literals into messages.

use super::error::{HloProtoError, HloProtoErrorKind, unrepresentable};
use super::float::encode;
use super::message::{Elements, LiteralProto};
use crate::cursor::Cursor;
use alloc::vec::Vec;
use xla_shape_core::proto::ShapeProto;
use xla_shape_core::text::MAX_NESTING;
use xla_shape_core::{ArrayShape, ElementType, Shape};

type Result<T> = core::result::Result<T, HloProtoError>;

/// The limit on elements that the text omits, since they become zeros that take memory.
const MAX_LEFT_OUT: u64 = 1 << 24;

/// Parses the literal of a shape.
pub(crate) fn literal(text: &str, shape: &Shape) -> Result<LiteralProto> {
    parse_nested(text, shape, 0)
}

fn parse_nested(text: &str, shape: &Shape, depth: usize) -> Result<LiteralProto> {
    if depth > MAX_NESTING {
        return Err(HloProtoError::new(HloProtoErrorKind::TooDeep));
    }
    let array = match shape {
        Shape::Array(array) => array,
        Shape::Tuple(shapes) => {
            let wrong = || unrepresentable("a tuple constant whose elements differ from its shape");
            let elements = match text.trim_ascii() {
                // The whole tuple is omitted.
                "{...}" => alloc::vec!["{...}"; shapes.len()],
                text => elements(text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?)?,
            };
            if elements.len() != shapes.len() {
                return Err(wrong());
            }
            let literals = elements.into_iter().zip(shapes.iter());
            let literals = literals.map(|(text, shape)| parse_nested(text, shape, depth + 1));
            let tuple_literals = literals.collect::<Result<_>>()?;
            return Ok(LiteralProto { shape: Some(shape_of(shape)), tuple_literals, ..LiteralProto::default() });
        }
        _ => return Err(unrepresentable("a constant that is neither an array nor a tuple")),
    };
    let mut to = LiteralProto { shape: Some(shape_of(shape)), ..LiteralProto::default() };
    let count = array.elements().ok_or_else(|| unrepresentable("a constant without a known size"))?;
    let is_left_out = text.contains("...");
    if is_left_out && count > MAX_LEFT_OUT {
        return Err(unrepresentable("a constant with too many omitted elements"));
    }
    let separators = |c: char| c.is_ascii_whitespace() || matches!(c, '{' | '}' | ',' | ')');
    let uncommented = uncommented(text);
    // A complex number is two numbers in parentheses. Other numbers have parentheses only around the payload of a NaN.
    let is_complex = array.element_type().is_complex();
    let words: Vec<&str> = match is_complex {
        true => uncommented.split(|c: char| separators(c) || c == '(').filter(|word| !word.is_empty()).collect(),
        false => uncommented.split(separators).filter(|word| !word.is_empty()).collect(),
    };
    let parts = if is_complex { count.saturating_mul(2) } else { count };
    // A number alone is the first element of an array; the others are zeros.
    let is_alone = array.num_dimensions() > 0 && !is_complex && words.len() == 1 && !uncommented.contains('{');
    if is_alone && count > MAX_LEFT_OUT {
        return Err(unrepresentable("a constant with too many elements for one number"));
    }
    let words: Vec<&str> = if is_left_out || is_alone {
        let parts = usize::try_from(parts).map_err(|_| unrepresentable("a constant with too many elements"))?;
        let mut all = alloc::vec!["0"; parts];
        if let (true, Some(first), Some(word)) = (is_alone, all.first_mut(), words.first()) {
            *first = word;
        }
        all
    } else {
        words
    };
    if words.len() as u64 != parts {
        return Err(HloProtoError::new(HloProtoErrorKind::ElementCount { expected: parts, found: words.len() as u64 }));
    }
    if count == 0 {
        // Another size may be large: `places` would take as much memory.
        return Ok(to);
    }
    for place in places(array) {
        if is_complex {
            // There are two words for each place.
            let first = 2 * place;
            for word in words.get(first..first + 2).unwrap_or(&[]) {
                push(word, array.element_type(), &mut to)?;
            }
        } else if let Some(word) = words.get(place) {
            push(word, array.element_type(), &mut to)?;
        }
    }
    Ok(to)
}

/// The shape of a literal. Elements of literals are whole bytes, even if the constant's layout has `E`, and XLA refuses a literal with
/// another element size (`Literal::SetShape` in `xla/literal.cc`).
fn shape_of(shape: &Shape) -> ShapeProto {
    fn clear(shape: &mut ShapeProto) {
        if let Some(layout) = &mut shape.layout {
            layout.element_size_in_bits = 0;
        }
        shape.tuple_shapes.iter_mut().for_each(clear);
    }
    let mut shape = ShapeProto::from(shape);
    clear(&mut shape);
    shape
}

/// Splits a text at the commas outside brackets.
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

/// Parses a literal with its shape, as in the attribute `literal`: `s32[] 7`, `( s32[] 7, f32[2] {1, 2} )`.
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
        let literals = literals.map(|element| with_shapes(element.trim_ascii(), depth + 1));
        let tuple_literals: Vec<LiteralProto> = literals.collect::<Result<_>>()?;
        let shapes: Option<Vec<_>> = tuple_literals.iter().map(|literal| literal.shape.clone()).collect();
        let shape =
            ShapeProto { element_type: TUPLE, tuple_shapes: shapes.unwrap_or_default(), ..ShapeProto::default() };
        return Ok(LiteralProto { shape: Some(shape), tuple_literals, ..LiteralProto::default() });
    }
    let shape = parser.shape()?;
    literal(text.get(parser.position()..).unwrap_or(""), &shape)
}

/// The number of `TUPLE` in `PrimitiveType`.
const TUPLE: i32 = 13;

/// Removes the comments from a text.
fn uncommented(text: &str) -> alloc::string::String {
    let mut rest = text;
    let mut out = alloc::string::String::with_capacity(text.len());
    while let Some((before, after)) = rest.split_once('/') {
        out.push_str(before);
        let end = if after.starts_with('*') { "*/" } else { "\n" };
        rest = after.split_once(end).map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// For each element in memory order, its index in row-major order.
fn places(array: &ArrayShape) -> Vec<usize> {
    let size = |place: usize| array.dimensions().get(place).and_then(|found| found.extent()).unwrap_or(0) as usize;
    let rank = array.num_dimensions();
    let mut strides = alloc::vec![1_usize; rank];
    for place in (0..rank.saturating_sub(1)).rev() {
        let next = place + 1;
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
    let wrong = || unrepresentable(&alloc::format!("the element `{word}` of {element_type}"));
    let signed = || word.parse::<i64>().map_err(|_| wrong());
    let unsigned = || word.parse::<u64>().map_err(|_| wrong());
    match to.elements(element_type).ok_or_else(wrong)? {
        Elements::Flags(to) => to.push(matches!(word, "true" | "1")),
        Elements::I32(to) => to.push(i32::try_from(signed()?).map_err(|_| wrong())?),
        Elements::I64(to) => to.push(signed().or_else(|_| unsigned().map(|number| number as i64))?),
        Elements::U32(to) => to.push(u32::try_from(unsigned()?).map_err(|_| wrong())?),
        Elements::U64(to) => to.push(unsigned().or_else(|_| signed().map(|number| number as u64))?),
        Elements::F32(to) => to.push(single(word).ok_or_else(wrong)?),
        Elements::F64(to) => to.push(double(word).ok_or_else(wrong)?),
        Elements::Bytes(to) => {
            let bits = match element_type.is_floating() {
                true => encode(element_type, xla_float(word).ok_or_else(wrong)?),
                false => signed()? as u64,
            };
            let width = usize::try_from(element_type.storage_bytes()).unwrap_or(1);
            to.extend(bits.to_le_bytes().into_iter().take(width));
        }
    }
    Ok(())
}

/// The sign and the payload of a NaN: `nan(0x1234)`, without the closing parenthesis.
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

/// Parses a number as XLA does. `-0` is an integer to XLA's lexer, so it loses its sign.
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

#[cfg(test)]
mod tests {
    use super::{LiteralProto, literal, shape_of};
    use xla_shape_core::Shape;
    use xla_shape_core::proto::ShapeProto;

    fn bits(shape: &ShapeProto) -> i64 {
        let own = shape.layout.as_ref().map_or(0, |layout| layout.element_size_in_bits);
        shape.tuple_shapes.iter().map(bits).fold(own, i64::max)
    }

    #[test]
    fn literals_have_whole_bytes_whatever_the_constant_has() {
        for element_type in ["s4", "u4", "s2", "u2", "s1", "u1", "pred", "s8"] {
            for size in [1, 2, 4, 8] {
                for (shape, text) in [("[]{:E", "1"), ("[2]{0:E", "{1, 0}"), ("[2,1]{0,1:T(2,1)E", "{{1}, {0}}")] {
                    let Ok(shape) = alloc::format!("{element_type}{shape}({size})}}").parse::<Shape>() else {
                        continue;
                    };
                    assert_eq!(bits(literal(text, &shape).unwrap().shape.as_ref().unwrap()), 0, "{shape}");
                }
            }
        }
        let shape: Shape = "(s4[2]{0:E(4)}, (u2[]{:E(2)}))".parse().unwrap();
        assert_eq!(bits(&ShapeProto::from(&shape)), 4);
        assert_eq!(bits(literal("({1, 2}, (3))", &shape).unwrap().shape.as_ref().unwrap()), 0);
    }

    /// However large the other sizes are.
    #[test]
    fn an_array_without_elements_takes_no_memory() {
        for shape in ["f32[1000000000000,0]{0,1}", "c64[0,1000000000000]{1,0}"] {
            let shape = shape.parse::<Shape>().unwrap();
            assert_eq!(
                literal("{}", &shape).unwrap(),
                LiteralProto { shape: Some(shape_of(&shape)), ..LiteralProto::default() }
            );
        }
    }
}
