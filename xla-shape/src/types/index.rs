//! Constant indices, which are checked at compile time.

use super::dimensions::{Dimensions, MultiIndex};
use crate::sealed::Sealed;
use core::fmt::Debug;
use core::iter::FusedIterator;

/// One number of a constant index, as a type. [`index!`](macro@crate::index) makes tuples of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct At<const N: usize>;

/// A constant index into an array with dimensions `D`: a tuple of [`At`], made by [`index!`](macro@crate::index).
///
/// ```
/// use xla_shape::index;
/// use xla_shape::types::{Dimensions, Size, StaticIndex};
///
/// fn numbers<D: Dimensions, I: StaticIndex<D>>(_: I) -> &'static [usize] {
///     I::INDEX
/// }
/// assert_eq!(numbers::<(Size<2>, Size<3>), _>(index![1, 2]), [1, 2]);
/// ```
#[diagnostic::on_unimplemented(
    message = "the index `{Self}` does not have one number for each of the dimensions `{D}`",
    label = "expected `index![…]` with as many numbers as the array has dimensions"
)]
pub trait StaticIndex<D: Dimensions>: Copy + Debug + Sealed {
    /// The numbers, dimension 0 first.
    const INDEX: &'static [usize];
}

/// Every index into an array, in row-major order. Made by [`ArrayType::indices`](super::ArrayType::indices).
///
/// ```
/// use xla_shape::types::ArrayType;
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(f32[2,2]{0,1})>::zeroed();
/// let indices: Vec<_> = x.shape().indices().collect();
/// assert_eq!(indices, [[0, 0], [0, 1], [1, 0], [1, 1]], "row-major, whatever the layout");
/// ```
#[derive(Clone, Debug)]
pub struct Indices<I> {
    next: Option<I>,
    sizes: I,
}

impl<I: MultiIndex> Indices<I> {
    pub(crate) fn new(sizes: I) -> Self {
        Self { next: sizes.as_ref().iter().all(|&size| size > 0).then_some(I::ORIGIN), sizes }
    }
}

impl<I: MultiIndex> Iterator for Indices<I> {
    type Item = I;

    #[inline]
    fn next(&mut self) -> Option<I> {
        let index = self.next?;
        let mut next = index;
        self.next = advance(next.as_mut(), self.sizes.as_ref()).then_some(next);
        Some(index)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let Some(next) = self.next else { return (0, Some(0)) };
        // The number of indices from the next one to the last one. It does not overflow, because the number of an array's elements fits in a `usize`.
        let left = |left: usize, (entry, size): (&usize, &usize)| left * size + (size - 1 - entry);
        let left = 1 + next.as_ref().iter().zip(self.sizes.as_ref()).fold(0, left);
        (left, Some(left))
    }
}

impl<I: MultiIndex> ExactSizeIterator for Indices<I> {}
impl<I: MultiIndex> FusedIterator for Indices<I> {}

/// The number of indices below these sizes, which fits in a `usize` for every array. If a size is 0, it is 0, even if the product of the
/// other sizes does not fit.
#[inline]
pub(crate) fn count(sizes: &[usize]) -> usize {
    if sizes.contains(&0) { 0 } else { sizes.iter().product() }
}

/// Steps to the next index in row-major order; `false` after the last one.
#[inline]
pub(crate) fn advance(index: &mut [usize], sizes: &[usize]) -> bool {
    step(index, sizes, (0..sizes.len()).rev(), |_| 1)
}

/// Advances to the next index below `sizes`: in dimension `d` by steps of `lines(d)`, in the first dimension of `order` fastest. After the last
/// index, returns `false` and resets the index.
#[inline(always)]
pub(crate) fn step(
    index: &mut [usize],
    sizes: &[usize],
    order: impl Iterator<Item = usize>,
    lines: impl Fn(usize) -> usize,
) -> bool {
    for dimension in order {
        index[dimension] = index[dimension].saturating_add(lines(dimension));
        if index[dimension] < sizes[dimension] {
            return true;
        }
        index[dimension] = 0;
    }
    false
}

/// A constant multi-index, for accesses that are checked at compile time.
///
/// ```
/// use xla_shape::{Buffer, index, shape};
///
/// let buffer = Buffer::<shape!(f32[8,128])>::zeroed();
/// assert_eq!(buffer.at(index![7, 127]), 0.0);
/// ```
///
/// ```compile_fail
/// # use xla_shape::{Buffer, index, shape};
/// # let buffer = Buffer::<shape!(f32[8,128])>::zeroed();
/// buffer.at(index![7, 128]); // does not compile: out of bounds
/// ```
#[macro_export]
macro_rules! index {
    ($($number:expr),* $(,)?) => {
        ($($crate::types::At::<{ $crate::__private::index_number!($number) }>,)*)
    };
}
