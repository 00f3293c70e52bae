//! Walking an array in the order of its memory.

use super::{Slot, StrideTable};
use alloc::vec::Vec;
use core::iter::FusedIterator;

/// What lies at each position of an array, in the order of memory. Made by [`StrideTable::iter`].
#[derive(Clone, Debug)]
pub struct Positions<'a> {
    table: &'a StrideTable,
    range: core::ops::Range<usize>,
}

impl StrideTable {
    /// What lies at each position, in the order of memory; padding included.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Slot};
    ///
    /// let table = "f32[3]{0:T(2)}".parse::<ArrayShape>()?.stride_table()?;
    /// let elements = table.iter().filter_map(Slot::element).collect::<Vec<_>>();
    /// assert_eq!((table.iter().len(), elements), (4, vec![vec![0], vec![1], vec![2]]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn iter(&self) -> Positions<'_> {
        Positions { table: self, range: 0..self.positions }
    }
}

impl<'a> IntoIterator for &'a StrideTable {
    type Item = Slot<Vec<usize>>;
    type IntoIter = Positions<'a>;

    fn into_iter(self) -> Positions<'a> {
        self.iter()
    }
}

impl Iterator for Positions<'_> {
    type Item = Slot<Vec<usize>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.range.next().map(|position| self.table.multi_index(position))
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.range.nth(n).map(|position| self.table.multi_index(position))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl DoubleEndedIterator for Positions<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.range.next_back().map(|position| self.table.multi_index(position))
    }
}

impl ExactSizeIterator for Positions<'_> {}
impl FusedIterator for Positions<'_> {}
