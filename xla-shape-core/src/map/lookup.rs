//! From an element to its place and back.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "building checked that every product and sum fits; sources name dimensions and values that exist"
)]

use super::{Digit, Intermediate, Source, StrideTableRef, Term};
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// What lies at a position of an array's memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slot<I> {
    /// The element with this index.
    Element(I),
    /// No element: room that the layout leaves.
    Padding,
    /// Nothing: the position lies after the end of the array.
    OutOfRange,
}

impl<I> Slot<I> {
    /// The element's index, if there is an element.
    pub fn element(self) -> Option<I> {
        match self {
            Self::Element(index) => Some(index),
            Self::Padding | Self::OutOfRange => None,
        }
    }

    /// The slot with the index put in another form.
    pub fn map<J>(self, f: impl FnOnce(I) -> J) -> Slot<J> {
        match self {
            Self::Element(index) => Slot::Element(f(index)),
            Self::Padding => Slot::Padding,
            Self::OutOfRange => Slot::OutOfRange,
        }
    }
}

impl Term {
    /// The term's value for an element; `values` holds the intermediate values before this one.
    #[must_use]
    #[inline(always)]
    pub const fn of(self, index: &[u64], values: &[u64]) -> u64 {
        let source = match self.source {
            Source::Zero => return 0,
            Source::Dimension(dimension) => index[dimension as usize],
            Source::Intermediate(number) => values[number as usize],
        };
        let quotient = source / self.divisor.get();
        match self.modulus {
            Some(modulus) => quotient % modulus.get(),
            None => quotient,
        }
    }

    /// Adds what the term having this value says of its source; `false` if the term never has it.
    #[inline(always)]
    const fn undo(self, value: u64, index: &mut [u64], values: &mut [u64]) -> bool {
        if let Some(modulus) = self.modulus
            && value >= modulus.get()
        {
            return false;
        }
        match self.source {
            Source::Zero => return value == 0,
            Source::Dimension(dimension) => index[dimension as usize] += value * self.divisor.get(),
            Source::Intermediate(number) => values[number as usize] += value * self.divisor.get(),
        }
        true
    }
}

impl Digit {
    /// The digit's value for an element.
    #[must_use]
    #[inline(always)]
    pub const fn of(self, index: &[u64], values: &[u64]) -> u64 {
        self.term.of(index, values)
    }

    /// How many values a digit that counts an [unbounded](Self::is_unbounded) dimension has room for, when the
    /// dimensions have these sizes.
    #[must_use]
    #[inline(always)]
    pub const fn unbounded_size(self, sizes: &[u64]) -> u64 {
        match self.term.source {
            Source::Dimension(dimension) => sizes[dimension as usize].div_ceil(self.term.divisor.get()),
            // Only a dimension is unbounded: a value that combines one with others is refused.
            Source::Zero | Source::Intermediate(_) => 1,
        }
    }
}

impl Intermediate {
    /// The value for an element; `values` holds those before this one.
    #[must_use]
    #[inline(always)]
    pub const fn of(self, index: &[u64], values: &[u64]) -> u64 {
        match self {
            Self::Term { term, .. } => term.of(index, values),
            Self::Combine { major, minor, minor_size, .. } => {
                major.of(index, values).wrapping_mul(minor_size.get()).wrapping_add(minor.of(index, values))
            }
        }
    }

    /// Adds what this value says of the terms that it is made of; `false` if it never has the value.
    const fn undo(self, value: u64, index: &mut [u64], values: &mut [u64]) -> bool {
        match self {
            _ if value >= self.size() => false,
            Self::Term { term, .. } => term.undo(value, index, values),
            Self::Combine { major, minor, minor_size, .. } => {
                major.undo(value / minor_size.get(), index, values)
                    && minor.undo(value % minor_size.get(), index, values)
            }
        }
    }
}

impl StrideTableRef<'_> {
    /// Writes the intermediate values of an element, each of which needs those before it.
    #[inline(always)]
    const fn fill_intermediates(self, index: &[u64], values: &mut [u64]) {
        let mut i = 0;
        while i < self.intermediates.len() {
            values[i] = self.intermediates[i].of(index, values);
            i += 1;
        }
    }

    /// The intermediate values of an element, in their order.
    #[must_use]
    pub fn intermediate_values(self, index: &[u64]) -> Vec<u64> {
        let mut values = vec![0; self.intermediates.len()];
        self.fill_intermediates(index, &mut values);
        values
    }

    /// The position of an element, in elements. For an index out of bounds, the result is unspecified.
    ///
    /// `values` is room for the intermediate values, at least as many as the table has.
    ///
    /// # Panics
    /// If `index` or `values` is too short.
    #[must_use]
    #[inline]
    pub const fn linear_index_with(self, index: &[u64], values: &mut [u64]) -> u64 {
        self.fill_intermediates(index, values);
        let mut position = 0_u64;
        let mut i = 0;
        while i < self.digits.len() {
            let digit = self.digits[i];
            position = position.wrapping_add(digit.of(index, values).wrapping_mul(digit.stride));
            i += 1;
        }
        position
    }

    /// The position of an element of a table with [unbounded](Digit::is_unbounded) digits, in elements, when the
    /// dimensions have these sizes: strides are multiplied by how many tiles the unbounded dimensions after them have.
    ///
    /// `values` is room for the intermediate values, at least as many as the table has.
    ///
    /// # Panics
    /// If `index`, `sizes` or `values` is too short.
    #[must_use]
    pub const fn scaled_linear_index_with(self, index: &[u64], sizes: &[u64], values: &mut [u64]) -> u64 {
        self.fill_intermediates(index, values);
        let (mut position, mut scale) = (0_u64, 1_u64);
        let mut i = self.digits.len();
        while i > 0 {
            i -= 1;
            let digit = self.digits[i];
            let stride = digit.stride.wrapping_mul(scale);
            position = position.wrapping_add(digit.of(index, values).wrapping_mul(stride));
            if digit.is_unbounded() {
                scale = scale.wrapping_mul(digit.unbounded_size(sizes));
            }
        }
        position
    }

    /// Writes the index of the element at `position` into `index`, if there is one.
    ///
    /// `values` is room for the intermediate values, at least as many as the table has.
    ///
    /// # Panics
    /// If `index` has not exactly one entry for each dimension, or `values` is too short.
    #[inline]
    pub const fn multi_index_with(self, position: u64, index: &mut [u64], values: &mut [u64]) -> Slot<()> {
        assert!(index.len() == self.extents.len(), "the index does not have one entry for each dimension of the array");
        if position >= self.positions {
            return Slot::OutOfRange;
        }
        clear(index);
        clear(values);
        let mut i = 0;
        while i < self.digits.len() {
            let digit = self.digits[i];
            // Strides and sizes of digits are at least 1 where there is a position at all.
            let value = position / NonZeroU64::new(digit.stride).unwrap().get() % digit.size;
            if !digit.term.undo(value, index, values) {
                return Slot::Padding;
            }
            i += 1;
        }
        let mut i = self.intermediates.len();
        while i > 0 {
            i -= 1;
            if !self.intermediates[i].undo(values[i], index, values) {
                return Slot::Padding;
            }
        }
        if self.contains(index) { Slot::Element(()) } else { Slot::Padding }
    }

    /// Whether `index` has the right number of entries and each is inside the array.
    #[must_use]
    #[inline]
    pub const fn contains(self, index: &[u64]) -> bool {
        if index.len() != self.extents.len() {
            return false;
        }
        let mut i = 0;
        while i < index.len() {
            if index[i] >= self.extents[i] {
                return false;
            }
            i += 1;
        }
        true
    }
}

const fn clear(list: &mut [u64]) {
    let mut i = 0;
    while i < list.len() {
        list[i] = 0;
        i += 1;
    }
}

/// How many intermediate values a run-time table may have before indexing needs the heap.
const STACK_VALUES: usize = 8;

/// Runs `f` with room for `n` intermediate values.
#[inline]
fn with_values<R>(n: usize, f: impl FnOnce(&mut [u64]) -> R) -> R {
    if n <= STACK_VALUES { f(&mut [0; STACK_VALUES]) } else { f(&mut vec![0; n]) }
}

impl StrideTableRef<'_> {
    /// The position of an element, in elements. For an index out of bounds, the result is unspecified.
    ///
    /// ```
    /// let array: xla_shape_core::ArrayShape = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse()?;
    /// let table = array.stride_table()?;
    /// assert_eq!(table.as_ref().linear_index(&[1, 0]), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `index` has fewer entries than the array has dimensions.
    #[must_use]
    #[inline]
    pub fn linear_index(self, index: &[u64]) -> u64 {
        with_values(self.intermediates.len(), |values| self.linear_index_with(index, values))
    }

    /// The position of an element, in elements; `None` if the index has another number of entries than the array has
    /// dimensions, or one of them is out of bounds.
    #[must_use]
    #[inline]
    pub fn checked_linear_index(self, index: &[u64]) -> Option<u64> {
        self.contains(index).then(|| self.linear_index(index))
    }

    /// What lies at a position.
    #[must_use]
    #[inline]
    pub fn multi_index(self, position: u64) -> Slot<Vec<u64>> {
        let mut index = vec![0; self.extents.len()];
        self.multi_index_into(position, &mut index).map(|()| index)
    }

    /// What lies at a position; the element's index, if there is one, is written into `index`.
    ///
    /// # Panics
    /// If `index` has not exactly one entry for each dimension.
    #[inline]
    pub fn multi_index_into(self, position: u64, index: &mut [u64]) -> Slot<()> {
        with_values(self.intermediates.len(), |values| self.multi_index_with(position, index, values))
    }
}
