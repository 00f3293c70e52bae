//! Walking an array in the order of its memory.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "there is a count for each digit; sources name dimensions that exist; counts stay below sizes"
)]

use super::{Slot, Source, StrideTableRef};
use alloc::vec;
use alloc::vec::Vec;
use core::iter::FusedIterator;

/// What lies at one position of an array after the other, in the order of memory, without an allocation for each. Made by
/// [`StrideTableRef::walk`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    table: StrideTableRef<'a>,
    /// What comes next.
    position: u64,
    /// The digits of the position.
    counts: Vec<u64>,
    /// How many digits have a value that they never take: there is padding.
    never: usize,
    index: Vec<u64>,
    values: Vec<u64>,
}

impl<'a> StrideTableRef<'a> {
    /// What lies at each position, in the order of memory, padding included.
    ///
    /// The extents may be smaller than the sizes that the table was made for: what lies after them counts as padding.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Slot};
    ///
    /// let table = "f32[3]{0:T(2)}".parse::<ArrayShape>()?.stride_table()?;
    /// let mut walk = table.as_ref().walk();
    /// let mut indices = Vec::new();
    /// while let Some(slot) = walk.step() {
    ///     indices.push(slot.map(|index| index[0]));
    /// }
    /// assert_eq!(indices, [Slot::Element(0), Slot::Element(1), Slot::Element(2), Slot::Padding]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn walk(self) -> Walk<'a> {
        Walk {
            table: self,
            position: 0,
            counts: vec![0; self.digits.len()],
            never: 0,
            index: vec![0; self.extents.len()],
            values: vec![0; self.intermediates.len()],
        }
    }

    /// What lies at each position, in the order of memory; padding included.
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
    /// What lies at the next position; `None` after the last one.
    #[inline]
    pub fn step(&mut self) -> Option<Slot<&[u64]>> {
        if self.position >= self.table.positions {
            return None;
        }
        if !self.values.is_empty() {
            let slot = self.table.multi_index_with(self.position, &mut self.index, &mut self.values);
            self.position += 1;
            return Some(slot.map(|()| &*self.index));
        }
        if self.position > 0 {
            self.advance();
        }
        self.position += 1;
        let inside = self.never == 0 && self.index.iter().zip(self.table.extents).all(|(index, size)| index < size);
        Some(if inside { Slot::Element(&self.index) } else { Slot::Padding })
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
