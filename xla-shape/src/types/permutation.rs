//! Dimension numbers as constants: from the front, or negative from the back.

use super::array_type::ArrayType;
use super::dimensions::Dimensions;
use crate::sealed::Sealed;
use core::fmt::Debug;
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::{MAX_LIST, MAX_TEXT};
use xla_shape_core::{ArrayShape, DimensionNumber};

/// The number of a dimension, as a type; -1 is the last. [`permutation!`](crate::permutation) writes tuples of it.
///
/// ```
/// use xla_shape::types::{Nth, Size, StaticPermutation};
///
/// // permutation![-1, 0]
/// assert_eq!(<(Nth<-1>, Nth<0>) as StaticPermutation<(Size<2>, Size<3>)>>::NUMBERS, [-1, 0]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Nth<const N: i64>;

impl<const N: i64> Sealed for Nth<N> {}

/// A constant permutation of the dimensions `D`: a tuple of [`Nth`], made by [`permutation!`](crate::permutation).
///
/// ```
/// use xla_shape::types::{Dimensions, Nth, Size, StaticPermutation};
///
/// /// Whether the dimensions stay in order.
/// fn is_identity<D: Dimensions, P: StaticPermutation<D>>() -> bool {
///     (0..).zip(P::NUMBERS).all(|(i, &number)| i == number)
/// }
/// assert!(!is_identity::<(Size<2>, Size<3>), (Nth<1>, Nth<0>)>());
/// ```
#[diagnostic::on_unimplemented(
    message = "the permutation `{Self}` does not have one number for each of the dimensions `{D}`",
    label = "expected `permutation![…]` with as many numbers as the array has dimensions"
)]
pub trait StaticPermutation<D: Dimensions>: Copy + Debug + Sealed {
    /// The dimension numbers as they were written.
    const NUMBERS: &'static [i64];
}

/// The dimension that a constant number names. Fails the compilation if there is none.
#[track_caller]
pub(crate) const fn resolve(number: i64, shape: &ArrayShape) -> usize {
    match DimensionNumber::new(number).resolve(shape.num_dimensions()) {
        Ok(dimension) => dimension,
        Err(_) => {
            let text = ConstText::<1024>::new().push_str("dimension ").push_str(if number < 0 { "-" } else { "" });
            let text = text
                .push_number(number.unsigned_abs())
                .push_str(" is out of range for the ")
                .push_count(shape.num_dimensions())
                .push_str(" dimensions of ")
                .push_str(shape.const_text::<MAX_TEXT>().as_str());
            panic!("{}", text.as_str())
        }
    }
}

/// Like [`resolve`], but returns dimension 0 if there is none: for constants of functions that also call `resolve`, which fails the compilation, so
/// that there is only one error.
pub(crate) const fn resolve_or_first(number: i64, shape: &ArrayShape) -> usize {
    match DimensionNumber::new(number).resolve(shape.num_dimensions()) {
        Ok(dimension) => dimension,
        Err(_) => 0,
    }
}

/// The dimensions that a constant permutation of those of `S` names: the first entries of the list.
#[track_caller]
pub(crate) const fn resolved<S: ArrayType, P: StaticPermutation<S::Dimensions>>() -> [usize; MAX_LIST] {
    let mut dimensions = [0; MAX_LIST];
    let mut i = 0;
    while i < P::NUMBERS.len() {
        dimensions[i] = resolve(P::NUMBERS[i], S::SHAPE);
        i += 1;
    }
    dimensions
}

/// A constant permutation of dimensions, checked at compile time. Negative numbers count from the back.
///
/// ```
/// use xla_shape::{View, permutation, shape};
///
/// let x = View::<shape!(s32[2,3])>::from_slice(&[1, 2, 3, 4, 5, 6])?;
/// let y: View<'_, shape!(s32[3,2]{0,1})> = x.transpose(permutation![-1, 0]);
/// assert_eq!(y[[2, 0]], 3);
/// # Ok::<(), xla_shape::BufferError>(())
/// ```
#[macro_export]
macro_rules! permutation {
    ($($number:expr),* $(,)?) => {
        ($($crate::types::Nth::<{ $number }>,)*)
    };
}
