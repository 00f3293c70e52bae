//! From an index to a position and back.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`build` checks every product and sum for overflow; sources refer to existing dimensions and values"
)]

use super::{Digit, Intermediate, Source, StrideTableRef, Term};
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// What a position of an array's memory holds.
///
/// ```
/// use xla_shape_core::{ArrayShape, Slot};
///
/// let table = "f32[3]{0:T(2)}".parse::<ArrayShape>()?.stride_table()?;
/// assert_eq!(table.as_ref().multi_index(2), Slot::Element(vec![2]));
/// assert_eq!(table.as_ref().multi_index(3), Slot::Padding);
/// assert_eq!(table.as_ref().multi_index(4), Slot::OutOfRange);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slot<I> {
    /// The element with this index.
    Element(I),
    /// No element: padding of the layout.
    Padding,
    /// Nothing: the position is after the end of the array.
    OutOfRange,
}

impl<I> Slot<I> {
    /// The index of the element, if the slot holds one.
    ///
    /// ```
    /// use xla_shape_core::Slot;
    ///
    /// assert_eq!((Slot::Element(7).element(), Slot::<u64>::Padding.element()), (Some(7), None));
    /// ```
    pub fn element(self) -> Option<I> {
        match self {
            Self::Element(index) => Some(index),
            Self::Padding | Self::OutOfRange => None,
        }
    }

    /// The slot with `f` applied to the index of its element.
    ///
    /// ```
    /// use xla_shape_core::Slot;
    ///
    /// assert_eq!(Slot::Element(vec![1, 2]).map(|index| index[0]), Slot::Element(1));
    /// ```
    pub fn map<J>(self, f: impl FnOnce(I) -> J) -> Slot<J> {
        match self {
            Self::Element(index) => Slot::Element(f(index)),
            Self::Padding => Slot::Padding,
            Self::OutOfRange => Slot::OutOfRange,
        }
    }
}

impl Term {
    /// The value of the term for an element. `values` has the intermediate values that come before it.
    ///
    /// ```
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// let digit = table.as_ref().digits()[0]; // which row of tiles: i / 8
    /// assert_eq!(digit.term.value(&[13, 200], &[]), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn value(self, index: &[u64], values: &[u64]) -> u64 {
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

    /// The inverse of [`value`](Self::value): adds `value · divisor` to the source. `false` if the term never has this
    /// value.
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
    /// The value of the digit for an element. `values` has all intermediate values.
    ///
    /// ```
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// let values = table.as_ref().digits().iter().map(|digit| digit.value(&[13, 200], &[]));
    /// assert_eq!(values.collect::<Vec<_>>(), [1, 1, 2, 72, 1]); // 13/8, 200/128, 13%8/2, 200%128, 13%2
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn value(self, index: &[u64], values: &[u64]) -> u64 {
        self.term.value(index, values)
    }

    /// The size of an [unbounded](Self::is_unbounded) digit when the dimensions have these sizes: how many tiles the
    /// unbounded dimension has.
    ///
    /// ```
    /// use xla_shape_core::{Dimension, Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(8,128)}".parse()?;
    /// let dimensions = [Dimension::Unbounded, Dimension::Static(256)];
    /// let table = StaticStrideTable::from_dimensions(&dimensions, &layout)?;
    /// assert_eq!(table.digit(0).unbounded_size(&[60, 256]), 8); // 60 rows are in 8 tiles
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn unbounded_size(self, sizes: &[u64]) -> u64 {
        match self.term.source {
            Source::Dimension(dimension) => sizes[dimension as usize].div_ceil(self.term.divisor.get()),
            // An unbounded digit counts a dimension: `build` refuses to combine an unbounded one.
            Source::Zero | Source::Intermediate(_) => 1,
        }
    }
}

impl Intermediate {
    /// The intermediate value of an element. `values` has the intermediate values that come before it.
    ///
    /// ```
    /// use xla_shape_core::{Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(*,4)}".parse()?; // `*` combines both dimensions
    /// let table = StaticStrideTable::new(&[3, 5], &layout)?;
    /// assert_eq!(table.intermediate(0).value(&[2, 1], &[]), 2 * 5 + 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn value(self, index: &[u64], values: &[u64]) -> u64 {
        match self {
            Self::Term { term, .. } => term.value(index, values),
            Self::Combine { major, minor, minor_size, .. } => {
                major.value(index, values).wrapping_mul(minor_size.get()).wrapping_add(minor.value(index, values))
            }
        }
    }

    /// The inverse of [`value`](Self::value): splits `value` among the sources of its terms. `false` if it never has
    /// this value.
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
    /// Computes the intermediate values of an element in order: each may depend on those before it.
    #[inline(always)]
    const fn fill_intermediates(self, index: &[u64], values: &mut [u64]) {
        let mut i = 0;
        while i < self.intermediates.len() {
            values[i] = self.intermediates[i].value(index, values);
            i += 1;
        }
    }

    /// The intermediate values of an element, in their order.
    ///
    /// ```
    /// let table = "f32[3,5]{1,0:T(*,4)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert_eq!(table.as_ref().intermediate_values(&[2, 1]), [11]); // `*` combines 2 and 1 to 2·5 + 1
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn intermediate_values(self, index: &[u64]) -> Vec<u64> {
        let mut values = vec![0; self.intermediates.len()];
        self.fill_intermediates(index, &mut values);
        values
    }

    /// The position of an element, in elements. For an index out of bounds, the result is unspecified.
    ///
    /// `values` is scratch space, at least as long as [`intermediates`](Self::intermediates).
    ///
    /// ```
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert_eq!(table.as_ref().linear_index_with(&[1, 0], &mut []), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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
            position = position.wrapping_add(digit.value(index, values).wrapping_mul(digit.stride));
            i += 1;
        }
        position
    }

    /// The position of an element, in elements, in a table with [unbounded](Digit::is_unbounded) digits, when the
    /// dimensions have these sizes: each stride is multiplied by the sizes of the unbounded digits after it.
    ///
    /// `values` is scratch space, at least as long as [`intermediates`](Self::intermediates).
    ///
    /// ```
    /// use xla_shape_core::{Dimension, Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{0,1}".parse()?; // column-major: the stride of dimension 1 is the size of dimension 0
    /// let table = StaticStrideTable::from_dimensions(&[Dimension::Unbounded, Dimension::Static(5)], &layout)?;
    /// let position = table.with_extents(&[]).scaled_linear_index_with(&[1, 2], &[3, 5], &mut []);
    /// assert_eq!(position, 1 + 2 * 3);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `index`, `sizes` or `values` is too short.
    #[must_use]
    pub const fn scaled_linear_index_with(self, index: &[u64], sizes: &[u64], values: &mut [u64]) -> u64 {
        self.fill_intermediates(index, values);
        // The strides of a table are those for unbounded digits of size 1. From the innermost digit outwards, the real sizes scale them.
        let (mut position, mut scale) = (0_u64, 1_u64);
        let mut i = self.digits.len();
        while i > 0 {
            i -= 1;
            let digit = self.digits[i];
            let stride = digit.stride.wrapping_mul(scale);
            position = position.wrapping_add(digit.value(index, values).wrapping_mul(stride));
            if digit.is_unbounded() {
                scale = scale.wrapping_mul(digit.unbounded_size(sizes));
            }
        }
        position
    }

    /// What a position holds. If it holds an element, its index is written into `index`; otherwise `index` is
    /// unspecified.
    ///
    /// `values` is scratch space, at least as long as [`intermediates`](Self::intermediates).
    ///
    /// ```
    /// use xla_shape_core::Slot;
    ///
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// let mut index = [0; 2];
    /// assert_eq!(table.as_ref().multi_index_with(1, &mut index, &mut []), Slot::Element(()));
    /// assert_eq!(index, [1, 0]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `index` does not have exactly one entry for each dimension, or `values` is too short.
    #[inline]
    pub const fn multi_index_with(self, position: u64, index: &mut [u64], values: &mut [u64]) -> Slot<()> {
        assert!(index.len() == self.extents.len(), "the index does not have one entry for each dimension of the array");
        if position >= self.positions {
            return Slot::OutOfRange;
        }
        // The steps of `linear_index` in reverse. The position gives a value for each digit. The digits give indices and intermediate values.
        // Each intermediate value, the last one first, gives the values of its sources. If one of them exceeds its bound, the position is
        // padding.
        clear(index);
        clear(values);
        let mut i = 0;
        while i < self.digits.len() {
            let digit = self.digits[i];
            // In a table with positions, all strides and sizes of digits are at least 1.
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

    /// Whether `index` has one entry for each dimension, each below the dimension's extent.
    ///
    /// ```
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert!(table.as_ref().contains(&[63, 255]) && !table.as_ref().contains(&[64, 0]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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

/// The most intermediate values that are kept on the stack; tables with more need the heap.
const STACK_VALUES: usize = 8;

/// Calls `f` with scratch space for `n` intermediate values.
#[inline]
fn with_values<R>(n: usize, f: impl FnOnce(&mut [u64]) -> R) -> R {
    if n <= STACK_VALUES { f(&mut [0; STACK_VALUES]) } else { f(&mut vec![0; n]) }
}

impl StrideTableRef<'_> {
    /// The position of an element, in elements. For an index out of bounds, the result is unspecified;
    /// [`checked_linear_index`](Self::checked_linear_index) says whether there is such an element.
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

    /// The position of an element, in elements; `None` if the index is out of bounds or does not have one entry for
    /// each dimension.
    ///
    /// ```
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert_eq!(table.as_ref().checked_linear_index(&[1, 0]), Some(1));
    /// assert_eq!(table.as_ref().checked_linear_index(&[64, 0]), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_linear_index(self, index: &[u64]) -> Option<u64> {
        self.contains(index).then(|| self.linear_index(index))
    }

    /// What a position holds: an element, padding, or nothing if it is out of range.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Slot};
    ///
    /// let table = "f32[3]{0:T(2)}".parse::<ArrayShape>()?.stride_table()?;
    /// assert_eq!((table.as_ref().multi_index(2), table.as_ref().multi_index(3)), (Slot::Element(vec![2]), Slot::Padding));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn multi_index(self, position: u64) -> Slot<Vec<u64>> {
        let mut index = vec![0; self.extents.len()];
        self.multi_index_into(position, &mut index).map(|()| index)
    }

    /// What a position holds. If it holds an element, its index is written into `index`; otherwise `index` is
    /// unspecified.
    ///
    /// ```
    /// use xla_shape_core::Slot;
    ///
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// let mut index = [0; 2];
    /// assert_eq!(table.as_ref().multi_index_into(1, &mut index), Slot::Element(()));
    /// assert_eq!(index, [1, 0]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `index` does not have exactly one entry for each dimension.
    #[inline]
    pub fn multi_index_into(self, position: u64, index: &mut [u64]) -> Slot<()> {
        with_values(self.intermediates.len(), |values| self.multi_index_with(position, index, values))
    }
}
