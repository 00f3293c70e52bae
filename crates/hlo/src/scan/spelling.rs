//! Shapes as other programs spell them: JAX and NumPy (`float32[8,128]`), and MLIR (`tensor<8x128xbf16>`).

use super::brackets::{self, ANGLE, Pair, SQUARE};
use super::{FoundShape, is_word};
use alloc::vec::Vec;
use memchr::memchr2;
use xla_shape_core::text::Span;
use xla_shape_core::{ArrayShape, Dimension, ElementType, Layout, Shape};

/// The longest list of sizes, in bytes.
const LONGEST: usize = 1024;
/// The length of the longest name of an element type, `float8_e4m3b11fnuz`, in bytes.
const LONGEST_NAME: usize = 18;

/// Finds the shapes in a text that are spelled as in JAX, NumPy and MLIR. [`find_shapes`](super::find_shapes) finds those that are
/// spelled as in XLA.
///
/// These spellings have no layout, so the shapes get the default one. Takes time proportional to the length of the text.
///
/// ```
/// use xla_shape_hlo::find_spelled_shapes;
///
/// let text = "add got float32[8,3] and i32[8]; %0 = stablehlo.add : tensor<8x128xbf16>";
/// let found: Vec<_> = find_spelled_shapes(text).map(|found| found.shape.to_string()).collect();
/// assert_eq!(found, ["f32[8,3]{1,0}", "s32[8]{0}", "bf16[8,128]{1,0}"]);
/// ```
pub fn find_spelled_shapes(text: &str) -> impl Iterator<Item = FoundShape> + '_ {
    let mut position = 0_usize;
    core::iter::from_fn(move || {
        loop {
            let length = memchr2(b'[', b'<', text.as_bytes().get(position..)?)?;
            let bracket = position + length;
            let searched = core::mem::replace(&mut position, bracket + 1);
            if let Some(found) = found_at(text, bracket, searched) {
                position = found.span.end;
                return Some(found);
            }
        }
    })
}

/// The shape whose first bracket is at `bracket`, if its name begins at or after `from`.
fn found_at(text: &str, bracket: usize, from: usize) -> Option<FoundShape> {
    let bytes = text.as_bytes();
    let before = bytes.get(from..bracket)?.iter().rev();
    let length = before.take(LONGEST_NAME + 1).take_while(|byte| is_word(**byte)).count();
    let start = bracket.checked_sub(length)?;
    let beside = start.checked_sub(1).and_then(|before| bytes.get(before));
    if length == 0 || beside.is_some_and(|byte| is_word(*byte) || matches!(byte, b'%' | b'.')) {
        return None;
    }
    let name = text.get(start..bracket)?;
    let inside = bracket + 1;
    let (end, shape) = match bytes.get(bracket)? {
        b'[' => {
            let element_type = ElementType::from_any_name(name)
                .filter(|found| found.name() != name && !name.bytes().any(|byte| byte.is_ascii_uppercase()))?;
            let end = closing(bytes, inside, SQUARE)?;
            let sizes = text.get(inside..end)?;
            (end, shape(element_type, sizes, ',')?)
        }
        _ if matches!(name, "tensor" | "memref" | "vector") => {
            let end = closing(bytes, inside, ANGLE)?;
            // An encoding or a memory space can follow after a comma.
            let (sizes, element) = split_element(text.get(inside..end)?.split(',').next()?.trim());
            (end, shape(ElementType::from_any_name(element)?, sizes, 'x')?)
        }
        _ => return None,
    };
    Some(FoundShape { shape, span: Span { start, end: end + 1 } })
}

/// Where the bracket whose content begins at `position` closes, in the same line.
fn closing(bytes: &[u8], position: usize, pair: Pair) -> Option<usize> {
    let rest = bytes.get(position..)?;
    let line = rest.iter().take(LONGEST).take_while(|&&byte| byte != b'\n').count();
    position.checked_add(brackets::closing(rest.get(..line)?, &[pair])?)
}

/// Splits `8x128xbf16` into `8x128` and `bf16`. A size is digits or `?`; an element type begins with neither.
fn split_element(text: &str) -> (&str, &str) {
    let is_size = |part: &&str| part.starts_with(|first: char| first.is_ascii_digit() || first == '?');
    let sizes = text.split('x').take_while(is_size).map(|part| part.len() + 1).sum::<usize>();
    let element = text.get(sizes..).unwrap_or("");
    (text.get(..sizes.saturating_sub(1)).unwrap_or(""), element)
}

fn shape(element_type: ElementType, sizes: &str, separator: char) -> Option<Shape> {
    let dimension = |size: &str| match size.trim() {
        "?" => Some(Dimension::Unbounded),
        size => size.parse().ok().map(Dimension::Static),
    };
    let sizes = sizes.split(separator).filter(|_| !sizes.trim().is_empty());
    let dimensions = sizes.map(dimension).collect::<Option<Vec<_>>>()?;
    let layout = Layout::descending(dimensions.len());
    ArrayShape::new(element_type, &dimensions, layout).ok().map(Shape::Array)
}

#[cfg(test)]
mod tests {
    use super::find_spelled_shapes;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    #[test]
    fn other_spellings_are_found() {
        let cases: [(&str, &[&str]); 13] = [
            ("", &[]),
            ("bfloat16[8,128] float32[] uint8[3]", &["bf16[8,128]{1,0}", "f32[]", "u8[3]{0}"]),
            ("ShapedArray(float32[8, 128]) bool[2]", &["f32[8,128]{1,0}", "pred[2]{0}"]),
            ("float8_e4m3fn[2] float8_e4m3b11fnuz[3] int4[4]", &["f8e4m3fn[2]{0}", "f8e4m3b11fnuz[3]{0}", "s4[4]{0}"]),
            ("complex64[2] complex128[]", &["c64[2]{0}", "c128[]"]),
            ("tensor<8x128xbf16> tensor<f32> tensor<?x3xi32>", &["bf16[8,128]{1,0}", "f32[]", "s32[?,3]{1,0}"]),
            ("tensor<4xcomplex<f32>> tensor<2xi1>", &["c64[4]{0}", "pred[2]{0}"]),
            ("tensor<2xf8E4M3FN> tensor<2xui8>", &["f8e4m3fn[2]{0}", "u8[2]{0}"]),
            ("memref<23440xf32, 201> vector<8x128xf32>", &["f32[23440]{0}", "f32[8,128]{1,0}"]),
            ("f32[2] args[3] x.float32[2] int[3] float32[a]", &[]),
            ("tensor<8x tensor<3xfoo> tensor<", &[]),
            ("int32[99999999999999999999] tensor<9223372036854775807x9xf32>", &[]),
            ("my_int32[2] float8_e4m3b11fnuzx[2]", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<String> = find_spelled_shapes(text).map(|found| found.shape.to_string()).collect();
            assert_eq!(found, expected, "{text}");
            for found in find_spelled_shapes(text) {
                let text = &text[found.span.start..found.span.end];
                assert!(text.ends_with([']', '>']) && text.starts_with(|c: char| c.is_ascii_lowercase()), "{text}");
            }
        }
    }

    #[test]
    fn time_is_in_proportion_to_the_text() {
        for text in ["tensor<".repeat(20_000), "int32[".repeat(20_000), "[<".repeat(50_000)] {
            assert_eq!(find_spelled_shapes(&text).count(), 0);
        }
    }
}
