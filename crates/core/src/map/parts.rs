//! Builds a stride table from given digits instead of a layout.

use super::{Digit, Intermediate, Source, StrideTable, Term};
use crate::limits::MAX_SIZE;
use crate::list::List;
use alloc::vec::Vec;
use core::num::NonZeroU64;

impl StrideTable {
    /// The table with these digits over dimensions of these sizes. Two elements may have the same position.
    ///
    /// `None` if a term names a dimension that is not there, or an intermediate value that is not before it; if a term has more values than
    /// its digit or its intermediate value says; or if a position does not fit in an `i64`.
    ///
    /// ```
    /// use core::num::NonZeroU64;
    /// use xla_shape_core::StrideTable;
    /// use xla_shape_core::map::{Digit, Source, Term};
    ///
    /// let column = Term { source: Source::Dimension(1), divisor: NonZeroU64::MIN, modulus: None };
    /// let digits = [Digit { term: column, size: 4, stride: 2 }];
    /// // All rows are at the same positions, with a gap between their elements.
    /// let table = StrideTable::from_digits(&[3, 4], &digits, Vec::new()).unwrap();
    /// assert_eq!(table.as_ref().linear_index(&[2, 3]), 6);
    /// assert_eq!(StrideTable::from_digits(&[3], &digits, Vec::new()), None, "there is no dimension 1");
    /// ```
    #[must_use]
    pub fn from_digits(extents: &[u64], digits: &[Digit], intermediates: Vec<Intermediate>) -> Option<Self> {
        for (number, value) in intermediates.iter().enumerate() {
            let before = intermediates.get(..number)?;
            let last = match *value {
                Intermediate::Term { term, .. } => last_value(term, extents, before)?,
                Intermediate::Combine { major, minor, minor_size, .. } => {
                    let major = last_value(major, extents, before)?.checked_mul(minor_size.get())?;
                    major.checked_add(last_value(minor, extents, before)?)?
                }
            };
            // An intermediate value that can reach its size would wrap, and two indices would have one position.
            if last >= value.size().min(MAX_SIZE) {
                return None;
            }
        }
        let mut last = 0_u64;
        for digit in digits {
            if last_value(digit.term, extents, &intermediates)? >= digit.size {
                return None;
            }
            // The last position is the one where each digit has its largest value. Perhaps no index has this position, but none has a later one.
            last = last.checked_add(digit.size.checked_sub(1)?.checked_mul(digit.stride)?)?;
        }
        let positions = if extents.contains(&0) { 0 } else { last.checked_add(1)? };
        (positions <= MAX_SIZE).then(|| Self {
            extents: List::from_slice(extents),
            digits: List::from_slice(digits),
            intermediates,
            positions,
        })
    }
}

/// The largest value of a term over dimensions of these sizes; `None` if its source is not there.
fn last_value(term: Term, extents: &[u64], intermediates: &[Intermediate]) -> Option<u64> {
    let count = match term.source {
        Source::Zero => 1,
        Source::Dimension(dimension) => *extents.get(dimension as usize)?,
        Source::Intermediate(number) => intermediates.get(number as usize)?.size(),
    };
    let last = count.saturating_sub(1).checked_div(term.divisor.get())?;
    Some(term.modulus.map(NonZeroU64::get).map_or(last, |modulus| last.min(modulus.saturating_sub(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_must_have_room_for_their_values() {
        let row = Term::whole(Source::Dimension(0));
        let table = |size, stride| StrideTable::from_digits(&[4], &[Digit { term: row, size, stride }], Vec::new());
        assert_eq!(table(4, 3).unwrap().as_ref().positions(), 10);
        assert_eq!(table(3, 3), None);
        assert_eq!(table(4, u64::MAX), None);
    }

    #[test]
    fn intermediate_values_are_before_their_readers() {
        let combined =
            |major, size| Intermediate::Combine { major, minor: Term::ZERO, minor_size: NonZeroU64::MIN, size };
        let row = Term::whole(Source::Dimension(0));
        let first = Term::whole(Source::Intermediate(0));
        let digits = [Digit { term: first, size: 4, stride: 1 }];
        assert!(StrideTable::from_digits(&[4], &digits, alloc::vec![combined(row, 4)]).is_some());
        assert_eq!(StrideTable::from_digits(&[4], &digits, alloc::vec![combined(row, 3)]), None, "no room");
        assert_eq!(StrideTable::from_digits(&[4], &digits, alloc::vec![combined(first, 4)]), None, "reads itself");
        assert_eq!(StrideTable::from_digits(&[4], &digits, Vec::new()), None);
    }
}
