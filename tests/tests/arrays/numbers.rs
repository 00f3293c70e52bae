//! Arrays whose elements are numbered, and access to elements by index.
//!
//! The checks are compiled for many pairs of layouts, and code that takes an index is inlined into its callers. Code that needs only one layout is
//! in functions here, so that it is compiled once for each layout.

use xla_shape::element::S32;
use xla_shape::types::{ArrayType, StaticArray, WholeArray};
use xla_shape::{Buffer, View};

/// The elements are numbered in row-major order, from 1; padding is 0.
pub(crate) fn numbered_with<S: WholeArray<Element = S32>>(shape: S) -> Buffer<S> {
    let mut x = Buffer::<S>::zeroed_with(shape).unwrap();
    let mut next = 0;
    x.fill_with(|_| {
        next += 1;
        next
    });
    x
}

/// [`numbered_with`] for a shape whose sizes are in the type.
pub(crate) fn numbered<S: StaticArray<Element = S32>>() -> Buffer<S> {
    numbered_with(S::default())
}

/// As [`numbered_with`], but padding is -1.
pub(crate) fn numbered_with_padding<S: WholeArray<Element = S32>>(shape: S) -> Buffer<S> {
    let mut x = numbered_with(shape);
    x.fill_padding(-1);
    x
}

/// The element with an index.
pub(crate) fn value<S: ArrayType<Element = S32>>(x: &View<'_, S>, index: S::Index) -> i32 {
    x[index]
}

/// The elements with these indices.
pub(crate) fn values_at<S: ArrayType<Element = S32>>(x: &View<'_, S>, indices: &[S::Index]) -> Vec<i32> {
    indices.iter().map(|&index| value(x, index)).collect()
}

/// The elements in row-major order, each read by its index.
pub(crate) fn values<S: ArrayType<Element = S32>>(x: &View<'_, S>) -> Vec<i32> {
    x.shape().indices().map(|index| value(x, index)).collect()
}

/// Panics if the value at a position without an element is not 0.
pub(crate) fn assert_padding_is_zero<S: StaticArray<Element = S32>>(x: &Buffer<S>) {
    x.for_each_position(|slot, value| assert!(slot.element().is_some() || value == 0, "padding of {}", S::TEXT));
}

/// Each number times `factor`.
pub(crate) fn times(factor: i32, numbers: &[i32]) -> Vec<i32> {
    numbers.iter().map(|number| factor * number).collect()
}
