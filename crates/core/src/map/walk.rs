//! Iteration over the positions of an array, in the order of memory.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "there is a count for each digit; sources name dimensions that exist; counts stay below sizes"
)]

use super::{Slot, Source, StrideTableRef};
use alloc::vec;
use alloc::vec::Vec;
use core::iter::FusedIterator;

/// Computes the slot of each position in the order of memory, each from the one before it.
struct Walk<'a> {
    table: StrideTableRef<'a>,
    /// The value of each digit at the current position.
    counts: Vec<u64>,
    /// How many digits have a value that no element has; above 0, the position is padding.
    never: usize,
    index: Vec<u64>,
    values: Vec<u64>,
}

impl<'a> StrideTableRef<'a> {
    /// Calls `f` with each position and its slot, in the order of memory, padding included. Unlike
    /// [`iter`](Self::iter), it does not allocate for each position.
    ///
    /// The extents may be smaller than the sizes that the table was made for: elements beyond them count as padding.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Slot};
    ///
    /// let table = "f32[3]{0:T(2)}".parse::<ArrayShape>()?.stride_table()?;
    /// let mut indices = Vec::new();
    /// table.as_ref().for_each_slot(|_, slot| indices.push(slot.map(|index| index[0])));
    /// assert_eq!(indices, [Slot::Element(0), Slot::Element(1), Slot::Element(2), Slot::Padding]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn for_each_slot(self, mut f: impl FnMut(u64, Slot<&[u64]>)) {
        let mut walk = Walk {
            table: self,
            counts: vec![0; self.digits.len()],
            never: 0,
            index: vec![0; self.extents.len()],
            values: vec![0; self.intermediates.len()],
        };
        for position in 0..self.positions {
            f(position, walk.slot(position));
        }
    }

    /// The slot of each position, in the order of memory, padding included.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Slot};
    ///
    /// let table = "f32[3]{0:T(2)}".parse::<ArrayShape>()?.stride_table()?;
    /// let elements = table.as_ref().iter().filter_map(Slot::element).collect::<Vec<_>>();
    /// assert_eq!((table.as_ref().positions(), elements), (4, vec![vec![0], vec![1], vec![2]]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Slot<Vec<u64>>> + FusedIterator + use<'a> {
        (0..self.positions).map(move |position| self.multi_index(position))
    }
}

impl Walk<'_> {
    /// The slot of a position: the first one, or the one after the position of the last call.
    #[inline]
    fn slot(&mut self, position: u64) -> Slot<&[u64]> {
        if !self.values.is_empty() {
            let slot = self.table.multi_index_with(position, &mut self.index, &mut self.values);
            return slot.map(|()| &*self.index);
        }
        if position > 0 {
            self.advance();
        }
        let inside = self.never == 0 && self.index.iter().zip(self.table.extents).all(|(index, size)| index < size);
        if inside { Slot::Element(&self.index) } else { Slot::Padding }
    }

    /// Adds 1 to the digits, the most minor first.
    #[inline]
    fn advance(&mut self) {
        for (digit, count) in self.table.digits.iter().zip(&mut self.counts).rev() {
            let (taken, last) = (digit.taken(), *count + 1 == digit.size);
            if let Source::Dimension(dimension) = digit.term.source {
                let (entry, divisor) = (&mut self.index[dimension as usize], digit.term.divisor.get());
                *entry = if last { *entry - *count * divisor } else { *entry + divisor };
            }
            if last {
                self.never -= usize::from(*count >= taken);
                *count = 0;
            } else {
                *count += 1;
                self.never += usize::from(*count == taken);
                return;
            }
        }
    }
}
