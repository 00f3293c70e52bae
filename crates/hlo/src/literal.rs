//! Checks literals, the text of constants, against their shapes: `HloParserImpl::ParseLiteral` in
//! `xla/hlo/parser/hlo_parser.cc`.

use crate::cursor::Cursor;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use xla_shape_core::text::MAX_NESTING;
use xla_shape_core::{ArrayShape, ElementType, FloatFormat, Shape, SpecialCodes};

/// A literal that does not fit its shape: what was expected and found.
#[derive(Debug)]
pub(crate) struct Mismatch {
    pub(crate) expected: String,
    pub(crate) found: String,
}

type Result<T> = core::result::Result<T, Mismatch>;

fn mismatch<T>(expected: impl Into<String>, found: &str) -> Result<T> {
    let mut found: String = found.chars().take(40).collect();
    if found.is_empty() {
        "nothing".clone_into(&mut found);
    }
    Err(Mismatch { expected: expected.into(), found })
}

/// Checks that a literal has as many elements as its shape, each valid for the element type. Omitted elements, `{...}`, are valid.
///
/// Returns the number of elements that XLA fills with zeros. There are such elements if the text has a single number, without braces, for
/// an array of several elements.
pub(crate) fn check(text: &str, shape: &Shape) -> Result<u64> {
    let mut literal = LiteralParser { cursor: Cursor::new(text, 0), zeros: 0 };
    literal.elements(shape, 0)?;
    literal.end().map(|()| literal.zeros)
}

/// Checks a literal that includes its shapes: `( s32[] 7, f32[2]{0} {1, 2} )`.
pub(crate) fn check_with_shape(text: &str) -> Result<()> {
    let mut literal = LiteralParser { cursor: Cursor::new(text, 0), zeros: 0 };
    literal.shape_and_elements(0)?;
    literal.end()
}

struct LiteralParser<'a> {
    cursor: Cursor<'a>,
    /// The elements so far that XLA fills with zeros.
    zeros: u64,
}

impl LiteralParser<'_> {
    fn space(&mut self) -> Result<()> {
        self.cursor.skip_space().or_else(|error| mismatch("a comment that ends", &error.to_string()))
    }

    /// The text from the cursor on.
    fn rest(&self) -> &str {
        self.cursor.text().get(self.cursor.position..).unwrap_or("")
    }

    fn eat(&mut self, byte: u8, what: &str) -> Result<()> {
        self.space()?;
        if self.cursor.eat(byte) {
            return self.space();
        }
        mismatch(format!("`{}` in {what}", char::from(byte)), self.rest())
    }

    fn end(&mut self) -> Result<()> {
        self.space()?;
        if self.cursor.peek().is_none() { Ok(()) } else { mismatch("the end of the literal", self.rest()) }
    }

    /// Reads the elements of a shape.
    fn elements(&mut self, shape: &Shape, depth: usize) -> Result<()> {
        if depth > MAX_NESTING {
            return mismatch("fewer nested tuples", "too many");
        }
        self.space()?;
        match shape {
            // XLA also prints a tuple as `{...}`.
            Shape::Tuple(_) if self.omitted() => Ok(()),
            Shape::Tuple(shapes) => {
                self.eat(b'(', "a literal of a tuple")?;
                // XLA reads `()` as a literal of any tuple (`HloParserImpl::ParseTupleLiteral`).
                let is_empty = self.cursor.peek() == Some(b')');
                for shape in shapes.iter().filter(|_| !is_empty) {
                    self.elements(shape, depth + 1)?;
                    self.space()?;
                    if self.cursor.peek() != Some(b')') {
                        self.cursor.eat(b',');
                    }
                }
                self.eat(b')', "a literal of a tuple")
            }
            Shape::Array(array) if self.is_alone(array) => {
                let others = array.elements().map_or(0, |count| count.saturating_sub(1));
                self.zeros = self.zeros.saturating_add(others);
                self.word(array.element_type())
            }
            Shape::Array(array) => self.array(array, 0),
            // XLA has no literals of tokens, opaque values and buffers; whatever is written is accepted.
            _ => {
                self.cursor.position = self.cursor.text().len();
                Ok(())
            }
        }
    }

    /// Whether the cursor is at a number without braces although the array has dimensions. XLA stores the number as the first element
    /// (`ParseDenseLiteral` in `xla/hlo/parser/hlo_parser.cc` checks the nesting only at brackets, and at the end of the literal).
    fn is_alone(&self, array: &ArrayShape) -> bool {
        let is_filled = array.num_dimensions() > 0 && array.elements() != Some(0) && !array.element_type().is_complex();
        is_filled && !matches!(self.cursor.peek(), Some(b'{' | b'.') | None)
    }

    /// Reads a shape and its elements, or a tuple of those.
    fn shape_and_elements(&mut self, depth: usize) -> Result<()> {
        if depth > MAX_NESTING {
            return mismatch("fewer nested tuples", "too many");
        }
        self.space()?;
        if self.cursor.eat(b'(') {
            self.space()?;
            let mut i = 0_usize;
            while self.cursor.peek() != Some(b')') {
                if i > 0 {
                    self.eat(b',', "a literal of a tuple")?;
                }
                self.shape_and_elements(depth + 1)?;
                self.space()?;
                i += 1;
            }
            return self.eat(b')', "a literal of a tuple");
        }
        let mut parser = xla_shape_core::text::Parser::at(self.cursor.text(), self.cursor.position);
        let shape = parser.shape().or_else(|error| mismatch("a shape before its elements", &error.to_string()))?;
        self.cursor.position = parser.position();
        self.elements(&shape, depth)
    }

    /// Skips any number of commas: XLA does not count them (`HloParserImpl::ParseDenseLiteral`).
    fn separators(&mut self) -> Result<()> {
        self.space()?;
        while self.cursor.eat(b',') {
            self.space()?;
        }
        Ok(())
    }

    /// Skips `{...}` at the cursor; returns whether it was there.
    fn omitted(&mut self) -> bool {
        let is_omitted = self.rest().starts_with("{...}");
        if is_omitted {
            self.cursor.position += "{...}".len();
        }
        is_omitted
    }

    /// Reads dimension `dimension` of an array and those after it.
    fn array(&mut self, array: &ArrayShape, dimension: usize) -> Result<()> {
        let Some(size) = array.dimensions().get(dimension) else { return self.element(array.element_type()) };
        let what = "a literal of an array";
        self.eat(b'{', what)?;
        self.separators()?;
        let mut count = 0_usize;
        while self.cursor.peek() != Some(b'}') {
            if dimension == 0 && self.rest().starts_with("...") {
                // `...` stands for all remaining elements.
                self.cursor.position += "...".len();
                self.separators()?;
                return self.eat(b'}', what);
            }
            self.array(array, dimension + 1)?;
            self.separators()?;
            count += 1;
        }
        self.eat(b'}', what)?;
        match size.extent() {
            Some(size) if size != count as u64 => {
                mismatch(format!("{size} elements in dimension {dimension} of the literal"), &count.to_string())
            }
            _ => Ok(()),
        }
    }

    fn element(&mut self, element_type: ElementType) -> Result<()> {
        self.space()?;
        if element_type.is_complex() {
            self.eat(b'(', "a complex number")?;
            self.word(element_type)?;
            self.eat(b',', "a complex number")?;
            self.word(element_type)?;
            return self.eat(b')', "a complex number");
        }
        self.word(element_type)
    }

    /// Reads a number, `true` or `false`.
    fn word(&mut self, element_type: ElementType) -> Result<()> {
        self.space()?;
        let rest = self.rest();
        let mut length = rest.find([',', '}', ')', '(', '{', '/', ' ', '\n', '\t', '\r']).unwrap_or(rest.len());
        // The payload of a NaN: `nan(0x1234)`.
        if rest.get(length..).is_some_and(|rest| rest.starts_with('('))
            && let Some(close) = rest.find(')')
        {
            length = close + 1;
        }
        let word = rest.get(..length).unwrap_or("");
        if !fits(word, element_type) {
            return mismatch(format!("an element of {element_type}"), word);
        }
        self.cursor.position += length;
        Ok(())
    }
}

/// Whether XLA reads this word as an element of this type (`HloParserImpl::CheckParsedValueIsInRange` and
/// `SetValueInLiteral`).
fn fits(word: &str, element_type: ElementType) -> bool {
    if element_type == ElementType::Pred {
        return matches!(word, "true" | "false") || word.parse::<i64>().is_ok();
    }
    let bits = u32::try_from(element_type.bits()).unwrap_or(64).min(64);
    if element_type.is_integral() {
        let Ok(number) = word.parse::<i128>() else { return false };
        return match element_type.is_signed() {
            // XLA accepts any signed or unsigned 64-bit number.
            _ if bits == 64 => i64::try_from(number).is_ok() || u64::try_from(number).is_ok(),
            // In range if all higher bits equal the sign bit.
            true => matches!(number.checked_shr(bits.saturating_sub(1)), Some(0 | -1)),
            false => number.checked_shr(bits) == Some(0),
        };
    }
    let magnitude = word.strip_prefix('-').unwrap_or(word);
    if let Some(rest) = magnitude.strip_prefix("nan") {
        let digits = rest.strip_prefix("(0x").and_then(|rest| rest.strip_suffix(')'));
        let payload = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        return rest.is_empty()
            || payload.is_some_and(|payload| payload > 0 && payload <= highest_payload(element_type));
    }
    if magnitude == "inf" {
        return true;
    }
    // XLA's lexer requires a digit or a minus sign before the decimal point.
    if !word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return false;
    }
    let begins = |c: char| c == '.' || c.is_ascii_digit();
    magnitude.starts_with(begins) && word.parse().is_ok_and(|number| is_in_range(number, element_type))
}

/// The largest NaN payload that XLA accepts for this type, or for the parts of a complex type; 0 if it accepts none.
fn highest_payload(element_type: ElementType) -> u64 {
    let part = element_type.complex_component_type().unwrap_or(element_type);
    let format = part.float_format().filter(|format| format.special == SpecialCodes::Ieee);
    format.map_or(0, |format| (1_u64 << format.mantissa_bits).saturating_sub(1))
}

/// Whether a number, rounded to this type, is finite.
fn is_in_range(number: f64, element_type: ElementType) -> bool {
    let part = element_type.complex_component_type().unwrap_or(element_type);
    let Some(format) = part.float_format() else { return true };
    if !format.has_sign {
        // Numbers smaller than the smallest power of two round to that.
        return number > 0.0 && number < 1.5 * power_of_two(format.max_exponent().saturating_sub(1));
    }
    match part.bits() {
        64.. => number.is_finite(),
        32.. => (number as f32).is_finite(),
        _ if format.special == SpecialCodes::None => true,
        bits => {
            // XLA's 16-bit types are Eigen's, which rounds to `f32` first.
            let number = if bits == 16 { f64::from(number as f32) } else { number };
            // In the middle between the largest number and the one after it, a tie goes to the even code.
            let half_step =
                power_of_two(format.max_exponent().saturating_sub_unsigned(format.precision()).saturating_sub(1));
            let end = largest(format) + half_step;
            number.abs() < end || (number.abs() == end && format.largest() & 1 == 0)
        }
    }
}

/// The largest finite number of a format with at most 16 bits.
fn largest(format: FloatFormat) -> f64 {
    let ones = 1_u64 << format.mantissa_bits;
    let significand = format.largest() & ones.saturating_sub(1) | ones;
    let power = format.max_exponent().saturating_sub_unsigned(format.precision());
    significand as f64 * power_of_two(power)
}

/// 2 to this power, which must be a normal number of `f64`.
#[expect(clippy::arithmetic_side_effects, reason = "a normal number has a power from -1022 to 1023")]
const fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((power + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::{check, check_with_shape};

    #[test]
    fn elements_fit_their_shape() {
        for (shape, text) in [
            ("f32[]", "-0"),
            ("f32[2]", "{1, -2.5e3}"),
            ("f32[2]", "{...}"),
            ("f32[0]", "{}"),
            ("pred[2]", "{1, 0}"),
            ("pred[]", "true"),
            ("s4[2]", "{-8, 7}"),
            ("u64[]", "18446744073709551615"),
            ("c64[1]", "{(1, -inf)}"),
            ("f32[1]", "{-nan(0x1234)}"),
            ("s32[2,1]", "{ { /*i0=0*/ 1}, {2} }"),
            ("f32[3]", "{1 2,,-.5,}"),
            ("f32[3]", "{1, ...}"),
            ("f32[1]", "{3.4028235e38}"),
            ("f8e4m3fn[2]", "{464, -448}"),
            ("f16[]", "65519.996"),
            ("c128[]", "(1e308, 0)"),
            ("s64[]", "18446744073709551615"),
            ("u64[]", "-1"),
            ("(s32[], f32[1])", "()"),
            ("(s32[], f32[1])", "( 1, {2} )"),
            ("(s32[], f32[1])", "{...}"),
            ("()", "()"),
            ("f8e8m0fnu[5]", "{5.87747e-39, 1e-45, 2.55e38, nan, inf}"),
        ] {
            assert!(check(text, &shape.parse().unwrap()).is_ok(), "{shape} {text}");
        }
        assert!(check_with_shape("( s32[] 7, f32[2]{0} {1, 2} )").is_ok());
    }

    #[test]
    fn a_number_alone_is_the_first_element() {
        for (shape, text, zeros) in [
            ("s32[2,2]", "7", 3),
            ("s32[1,1]", "7", 0),
            ("pred[3]", "true", 2),
            ("s32[<=4]", "7", 3),
            ("(s32[2], (f32[3], f32[]))", "(7, (2, 1))", 3),
            ("s32[2]", "{7, 0}", 0),
        ] {
            assert_eq!(check(text, &shape.parse().unwrap()).unwrap(), zeros, "{shape} {text}");
        }
        assert!(check_with_shape("s32[2] 7").is_ok());
    }

    #[test]
    fn elements_that_do_not_fit() {
        for (shape, text, expected) in [
            ("f32[2]", "{1}", "2 elements in dimension 0 of the literal"),
            ("f32[2]", "{1, 2, 3}", "2 elements in dimension 0 of the literal"),
            ("f32[0]", "1", "`{` in a literal of an array"),
            ("c64[2]", "(1, 2)", "`{` in a literal of an array"),
            ("s32[2]", "1, 2", "the end of the literal"),
            ("s32[2]", "...", "`{` in a literal of an array"),
            ("f32[1,1]", "{1}", "`{` in a literal of an array"),
            ("f32[]", "{1}", "an element of f32"),
            ("f32[]", "1e39", "an element of f32"),
            ("f64[]", "1e309", "an element of f64"),
            ("c64[]", "(0, 1e39)", "an element of c64"),
            ("f16[]", "65519.999", "an element of f16"),
            ("f8e4m3fn[]", "464.00001", "an element of f8e4m3fn"),
            ("s4[]", "8", "an element of s4"),
            ("u8[]", "-1", "an element of u8"),
            ("s32[]", "1.5", "an element of s32"),
            ("s32[]", "true", "an element of s32"),
            ("f32[]", ".5", "an element of f32"),
            ("f8e5m2[]", "65520", "an element of f8e5m2"),
            ("f8e8m0fnu[]", "0", "an element of f8e8m0fnu"),
            ("f8e8m0fnu[]", "-1", "an element of f8e8m0fnu"),
            ("f8e8m0fnu[]", "2.56e38", "an element of f8e8m0fnu"),
            ("f8e4m3fn[]", "nan(0x1)", "an element of f8e4m3fn"),
            ("c64[]", "1", "`(` in a complex number"),
            ("f32[1,1]", "{{...}}", "an element of f32"),
            ("f32[]", "1 2", "the end of the literal"),
            ("f32[]", "", "an element of f32"),
            ("(s32[])", "1", "`(` in a literal of a tuple"),
        ] {
            assert_eq!(check(text, &shape.parse().unwrap()).unwrap_err().expected, expected, "{shape} {text}");
        }
        assert!(check_with_shape("s32[9]{0} {1, 2}").is_err());
    }
}
