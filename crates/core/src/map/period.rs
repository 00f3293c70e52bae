//! The steps at which an array can be cut into blocks that are laid out alike.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; the index is below the length")]

use super::arithmetic::least_common_multiple;
use super::{Intermediate, Source, StrideTableRef, Term};

impl StrideTableRef<'_> {
    /// The period of a dimension, in elements: blocks that begin at multiples of each dimension's period are laid out
    /// alike. `None` if the dimension cannot be cut.
    ///
    /// Law: `position(o + i) = position(o) + position(i)`, if every entry of `o` is a multiple of its dimension's
    /// period, and `o + i` is inside the array.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let table = "f32[64,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.stride_table()?;
    /// assert_eq!((table.as_ref().period(0), table.as_ref().period(1)), (Some(8), Some(128)));
    /// let table = "f32[64,256]".parse::<ArrayShape>()?.stride_table()?;
    /// assert_eq!((table.as_ref().period(0), table.as_ref().period(1)), (Some(1), Some(1)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn period(self, dimension: usize) -> Option<u64> {
        let mut period = Some(1);
        let mut i = 0;
        while i < self.digits.len() {
            period = joined(period, self.digits[i].term, dimension);
            i += 1;
        }
        let (mut i, mut is_source, mut combines_values) = (0, false, false);
        while i < self.intermediates.len() {
            match self.intermediates[i] {
                Intermediate::Term { term, .. } => {
                    is_source = is_source || term.is_of(dimension);
                    period = joined(period, term, dimension);
                }
                Intermediate::Combine { major, minor, .. } => {
                    if major.is_of(dimension) || minor.is_of(dimension) {
                        return None;
                    }
                    combines_values = combines_values
                        || matches!(major.source, Source::Intermediate(_))
                        || matches!(minor.source, Source::Intermediate(_));
                }
            }
            i += 1;
        }
        // A tile cuts sums of intermediate values, and the quotient of a sum need not be the sum of the quotients.
        if is_source && combines_values { None } else { period }
    }
}

/// The common period of `period` and a term.
const fn joined(period: Option<u64>, term: Term, dimension: usize) -> Option<u64> {
    let Some(period) = period else { return None };
    if !term.is_of(dimension) {
        return Some(period);
    }
    let own = match term.modulus {
        Some(modulus) => term.divisor.checked_mul(modulus),
        None => Some(term.divisor),
    };
    match own {
        Some(own) => least_common_multiple(period, own.get()),
        None => None,
    }
}
