//! Arrays as text.

use super::bytes::Bytes;
use super::dynamic::DynShape;
use super::storage::Buffer;
use std::fmt;

/// The number of values that `Debug` prints.
const SHOWN: usize = 8;

/// The longest dimension that is printed completely.
const LONGEST: usize = 16;

/// How many entries of a longer dimension are printed at each end.
const ENDS: usize = 3;

/// Writes one element.
type Element<'a> = dyn Fn(&[usize], &mut fmt::Formatter<'_>) -> fmt::Result + 'a;

/// Writes all elements in nested brackets, one pair for each dimension.
pub(super) fn nested(sizes: &[usize], element: &Element<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    dimension(&mut Vec::with_capacity(sizes.len()), sizes, element, f)
}

fn dimension(
    index: &mut Vec<usize>,
    sizes: &[usize],
    element: &Element<'_>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let depth = index.len();
    let Some(&size) = sizes.get(depth) else { return element(index, f) };
    f.write_str("[")?;
    let mut first = true;
    let is_shown = |i: usize| size <= LONGEST || i < ENDS || i >= size - ENDS;
    let mut i = 0;
    while i < size {
        if !first {
            f.write_str(",")?;
            // Each row has its own line; planes are separated by one more line.
            let lines = sizes.len() - depth - 1;
            if lines == 0 {
                f.write_str(" ")?;
            } else {
                (0..lines).try_for_each(|_| f.write_str("\n"))?;
                (0..=depth).try_for_each(|_| f.write_str(" "))?;
            }
        }
        first = false;
        if is_shown(i) {
            index.push(i);
            dimension(index, sizes, element, f)?;
            index.pop();
            i += 1;
        } else {
            f.write_str("…")?;
            i = size - ENDS;
        }
    }
    f.write_str("]")
}

/// Writes the first of `len` values in brackets.
pub(super) fn beginning<V: fmt::Debug>(
    values: impl Iterator<Item = V>,
    len: usize,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("[")?;
    for (i, value) in values.take(SHOWN).enumerate() {
        write!(f, "{}{value:?}", if i > 0 { ", " } else { "" })?;
    }
    f.write_str(if len > SHOWN { ", …]" } else { "]" })
}

/// Evaluates `$written` with the element type `$E`, or `$shape_alone` if the elements have no Rust type.
macro_rules! with_element {
    ($element_type:expr, $E:ident => $written:expr, _ => $shape_alone:expr) => {
        xla_shape_core::element_types!(with_element @rows [$element_type, $E, $written, $shape_alone])
    };
    (@rows [$element_type:expr, $E:ident, $written:expr, $shape_alone:expr]
        $($variant:ident $name:ident $number:literal [$($value:tt)*] $literal:tt $description:literal $meaning:literal $cells:tt)*) => {
        match $element_type {
            $(xla_shape_core::ElementType::$variant => {
                with_element!(@value [$($value)*] $variant, $E, $written, $shape_alone)
            })*
            _ => $shape_alone,
        }
    };
    (@value [Half $value:ident] $variant:ident, $E:ident, $written:expr, $shape_alone:expr) => {{
        #[cfg(feature = "half")]
        {
            with_element!(@value [] $variant, $E, $written, $shape_alone)
        }
        #[cfg(not(feature = "half"))]
        {
            $shape_alone
        }
    }};
    (@value [Complex $part:ident] $variant:ident, $E:ident, $written:expr, $shape_alone:expr) => {{
        #[cfg(feature = "num-complex")]
        {
            with_element!(@value [] $variant, $E, $written, $shape_alone)
        }
        #[cfg(not(feature = "num-complex"))]
        {
            $shape_alone
        }
    }};
    (@value [$($value:ident)*] $variant:ident, $E:ident, $written:expr, $shape_alone:expr) => {{
        type $E = crate::element::$variant;
        $written
    }};
}
pub(super) use with_element;

/// Prints the shape and the first elements in row-major order.
impl<B: Bytes> fmt::Debug for Buffer<DynShape, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shape())?;
        with_element!(self.shape().element_type(), E => {
            let Ok(values) = self.iter::<E>() else { return Ok(()) };
            f.write_str(" ")?;
            let len = values.len();
            beginning(values, len, f)
        }, _ => Ok(()))
    }
}

/// Prints the elements in brackets, like a typed array; only the shape if the elements have no Rust type.
///
/// ```
/// use xla_shape::DynBuffer;
/// use xla_shape::element::S32;
///
/// let x = DynBuffer::from_fn_with::<S32>("s32[2,3]{0,1}".parse()?, |i| (10 * i[0] + i[1]) as i32)?;
/// assert_eq!(x.to_string(), "[[0, 1, 2],\n [10, 11, 12]]");
/// assert_eq!(format!("{x:?}"), "s32[2,3]{0,1} [0, 1, 2, 10, 11, 12]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<B: Bytes> fmt::Display for Buffer<DynShape, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_element!(self.shape().element_type(), E => {
            nested(self.sizes(), &|index, f| self.get::<E>(index).map_or(Ok(()), |value| fmt::Display::fmt(&value, f)), f)
        }, _ => write!(f, "{}", self.shape()))
    }
}
