//! Constant indices, which are checked at compile time.

use super::array::StaticArray;
use super::dimensions::{Dimensions, MultiIndex};
use crate::sealed::Sealed;
use crate::wide::wide;
use core::fmt::Debug;
use core::iter::FusedIterator;
use xla_shape_core::ArrayShape;
use xla_shape_core::static_shape::MAX_TEXT;
use xla_shape_core::stride_table::StaticStrideTable;
use xla_shape_core::text::ConstText;

/// One number of a constant index, as a type. [`index!`](macro@crate::index) makes tuples of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct At<const N: usize>;

/// A constant index into an array with dimensions `D`: a tuple of [`At`], made by [`index!`](macro@crate::index).
#[diagnostic::on_unimplemented(
    message = "the index `{Self}` does not have one number for each of the dimensions `{D}`",
    label = "expected `index![…]` with as many numbers as the array has dimensions"
)]
pub trait StaticIndex<D: Dimensions>: Copy + Debug + Sealed {
    /// The numbers, dimension 0 first.
    const INDEX: &'static [usize];
}

/// The position of the element with a constant index. Fails the compilation if the index is out of bounds.
///
/// Whatever a user calls with a constant index has this in a `const` block of its own: the compiler then shows the line
/// of that call.
#[track_caller]
pub(crate) const fn position_at<S: StaticArray, I: StaticIndex<S::Dimensions>>() -> usize {
    assert_in_bounds(I::INDEX, S::SIZES, S::SHAPE);
    let mut values = [0; StaticStrideTable::MAX_VALUES];
    S::STRIDE_TABLE.as_ref(wide(S::SIZES)).linear_index_with(wide(I::INDEX), &mut values) as usize
}

/// Fails the compilation if `index` does not lie inside an array of these sizes.
#[track_caller]
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; both lists have the same length")]
const fn assert_in_bounds(index: &[usize], sizes: &[usize], shape: &ArrayShape) {
    let mut dimension = 0;
    while dimension < sizes.len() {
        if index[dimension] >= sizes[dimension] {
            let text = ConstText::<1024>::new()
                .push_str("index ")
                .push_count(index[dimension])
                .push_str(" is out of bounds for dimension ")
                .push_count(dimension)
                .push_str(" (size ")
                .push_count(sizes[dimension])
                .push_str(") of ")
                .push_str(shape.const_text::<MAX_TEXT>().as_str());
            panic!("{}", text.as_str());
        }
        dimension += 1;
    }
}

/// Every index into an array, in row-major order. Made by [`ArrayType::indices`](super::ArrayType::indices).
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
        // The row-major number of the next index, counted backwards. The elements of an array fit in a usize.
        let left = |left: usize, (entry, size): (&usize, &usize)| left * size + (size - 1 - entry);
        let left = 1 + next.as_ref().iter().zip(self.sizes.as_ref()).fold(0, left);
        (left, Some(left))
    }
}

impl<I: MultiIndex> ExactSizeIterator for Indices<I> {}
impl<I: MultiIndex> FusedIterator for Indices<I> {}

/// Steps to the next index in row-major order; `false` behind the last one.
#[inline]
pub(crate) fn advance(index: &mut [usize], sizes: &[usize]) -> bool {
    for (entry, &size) in index.iter_mut().zip(sizes).rev() {
        *entry += 1;
        if *entry < size {
            return true;
        }
        *entry = 0;
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
