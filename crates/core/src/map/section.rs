//! Sections: the elements whose indices in some dimensions are fixed, as an array of the other dimensions.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; counters are below lengths, and dimensions below the number that the caller passes"
)]

use super::{Digit, Intermediate, Source, StaticStrideTable, Term};
use core::num::NonZeroU64;

impl StaticStrideTable {
    /// The table of the elements whose indices in some dimensions are fixed. The other dimensions keep their order, and positions count from
    /// that of the element whose other indices are 0. `None` if `*` combines a fixed dimension with others, or a fixed dimension is
    /// unbounded and not the most major one.
    ///
    /// What the array has at other indices of the fixed dimensions counts as padding.
    ///
    /// Law: `table(f + i) = table(f) + section(i)`, where `f` has only the fixed indices and `i` only the others.
    ///
    /// ```
    /// use xla_shape_core::{Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{2,0,1}".parse()?;
    /// let table = StaticStrideTable::new(&[4, 3, 5], &layout)?;
    /// let section = table.section(&[false, true, false]).unwrap(); // element 1 of dimension 1, or any other
    /// assert_eq!(section.with_extents(&[4, 5]).linear_index(&[2, 3]), 2 * 5 + 3);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn section(&self, is_fixed: &[bool]) -> Option<Self> {
        let all = self.with_extents(&[]);
        let mut dimension = 0;
        while dimension < is_fixed.len() {
            if is_fixed[dimension] && all.period(dimension).is_none() {
                return None;
            }
            dimension += 1;
        }
        let mut table = *self;
        let mut i = 0;
        while i < table.num_intermediates {
            table.intermediates[i] = match table.intermediates[i] {
                Intermediate::Term { term, size } => Intermediate::Term { term: left(term, is_fixed), size },
                Intermediate::Combine { major, minor, minor_size, size } => {
                    let (major, minor) = (left(major, is_fixed), left(minor, is_fixed));
                    Intermediate::Combine { major, minor, minor_size, size }
                }
            };
            i += 1;
        }
        let (mut i, mut kept) = (0, 0);
        while i < self.num_digits {
            let digit = Digit { term: left(self.digits[i].term, is_fixed), ..self.digits[i] };
            // The most major digits, if they are always 0, move no element: leave them out.
            if kept == 0 && matches!(digit.term.source, Source::Zero) {
                table.positions = digit.stride;
            } else if digit.is_unbounded() && matches!(digit.term.source, Source::Zero) {
                return None;
            } else {
                table.digits[kept] = digit;
                kept += 1;
            }
            i += 1;
        }
        table.num_digits = kept;
        Some(table)
    }
}

/// The term with its dimension's number among those that are not fixed; 0 if its dimension is fixed.
const fn left(term: Term, is_fixed: &[bool]) -> Term {
    let Source::Dimension(number) = term.source else { return term };
    if (number as usize) < is_fixed.len() && is_fixed[number as usize] {
        return Term { source: Source::Zero, divisor: NonZeroU64::MIN, modulus: None };
    }
    Term { source: Source::Dimension(number - fixed_before(number as usize, is_fixed) as u32), ..term }
}

/// How many dimensions before this one are fixed.
pub(crate) const fn fixed_before(dimension: usize, is_fixed: &[bool]) -> usize {
    let (mut before, mut i) = (0, 0);
    while i < dimension && i < is_fixed.len() {
        before += is_fixed[i] as usize;
        i += 1;
    }
    before
}
