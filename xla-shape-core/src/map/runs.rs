//! How the elements along one dimension lie.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; indices are below lengths that are checked, divisors and moduli are at least 1"
)]

use super::arithmetic::greatest_common_divisor;
use super::{Digit, Intermediate, Source, StrideTableRef, Term};
use crate::limits::MAX_LIST;

/// How the elements along one dimension lie: in runs of equal stride.
///
/// ```
/// use xla_shape_core::ArrayShape;
///
/// let table = "bf16[16,256]{1,0:T(8,128)(2,1)}".parse::<ArrayShape>()?.stride_table()?;
/// let (rows, columns) = (table.as_ref().run(1), table.as_ref().run(0));
/// assert_eq!((rows.len, rows.stride), (128, Some(2)));
/// assert_eq!((columns.len, columns.stride), (2, Some(1)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Run {
    /// Runs begin at multiples of this index and are as long; `u64::MAX` if all of the dimension is one run.
    pub len: u64,
    /// How far apart neighbours of a run lie, in elements; `None` if that depends on an unbounded dimension.
    pub stride: Option<u64>,
}

/// Runs of several lines side by side: memory that whole vectors can be read of.
///
/// A *line* is the elements along one dimension. Where the stride of its runs is 2, as in `T(8,128)(2,1)` along the rows,
/// the elements between are those of other lines: this many lines make a band, and a run of the band is contiguous.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bands {
    /// How many lines lie side by side, padding included.
    pub lanes: u64,
    /// Runs begin at multiples of this index along the lines, and are as long; `u64::MAX` if the lines are one run.
    pub len: u64,
    /// In each dimension, how many indices a band covers; `u64::MAX` if all.
    pub steps: [u64; MAX_LIST],
}

/// What is known of a dimension when some terms have been seen.
struct Search {
    dimension: usize,
    len: u64,
    /// As if unbounded dimensions had one tile.
    stride: u64,
    /// The digit that counts the dimension one by one.
    digit: Option<usize>,
}

impl Search {
    /// The terms of the dimension must stay the same within a run, except the digit that counts it.
    const fn limit(&mut self, term: Term, len: u64) {
        if term.is_of(self.dimension) {
            self.len = if self.len == u64::MAX { len } else { greatest_common_divisor(self.len, len) };
        }
    }
}

impl StrideTableRef<'_> {
    /// How the elements along a dimension lie.
    #[must_use]
    pub const fn run(self, dimension: usize) -> Run {
        let Search { len, stride, digit, .. } = self.search(dimension);
        let mut i = match digit {
            Some(digit) => digit + 1,
            None => self.digits.len(),
        };
        while i < self.digits.len() {
            if self.digits[i].is_unbounded() {
                return Run { len, stride: None };
            }
            i += 1;
        }
        Run { len, stride: Some(stride) }
    }

    /// Whether the two tables are equal digit by digit, so that every element has the same position. Tables with the same
    /// positions but other digits count as different.
    #[must_use]
    pub const fn is_same_map(self, other: Self) -> bool {
        if self.digits.len() != other.digits.len() || !self.intermediates.is_empty() || !other.intermediates.is_empty()
        {
            return false;
        }
        let mut i = 0;
        while i < self.digits.len() {
            let (a, b) = (self.digits[i], other.digits[i]);
            let moduli = match (a.term.modulus, b.term.modulus) {
                (None, None) => true,
                (Some(a), Some(b)) => a.get() == b.get(),
                _ => false,
            };
            let same_term = moduli && a.term.source.same(b.term.source) && a.term.divisor.get() == b.term.divisor.get();
            if !same_term || a.size != b.size || a.stride != b.stride {
                return false;
            }
            i += 1;
        }
        true
    }

    const fn search(self, dimension: usize) -> Search {
        let mut search = Search { dimension, len: u64::MAX, stride: 1, digit: None };
        let mut i = 0;
        while i < self.digits.len() {
            let Digit { term, stride, .. } = self.digits[i];
            if term.is_of(dimension) && term.divisor.get() == 1 {
                (search.stride, search.digit) = (stride, Some(i));
                if let Some(modulus) = term.modulus {
                    search.limit(term, modulus.get());
                }
            } else {
                search.limit(term, term.divisor.get());
            }
            i += 1;
        }
        let mut i = 0;
        while i < self.intermediates.len() {
            match self.intermediates[i] {
                Intermediate::Term { term, .. } => search.limit(term, term.divisor.get()),
                Intermediate::Combine { major, minor, .. } => {
                    search.limit(major, major.divisor.get());
                    search.limit(minor, minor.divisor.get());
                }
            }
            i += 1;
        }
        search
    }

    /// Which lines along a dimension lie side by side. If no grouping is known, each line is its own band, in runs of one
    /// element.
    #[must_use]
    pub const fn bands(self, dimension: usize) -> Bands {
        let alone = Bands { lanes: 1, len: 1, steps: [1; MAX_LIST] };
        let Search { len, stride, digit, .. } = self.search(dimension);
        let Some(digit) = digit else {
            // A dimension without digits has one element.
            return if self.intermediates.is_empty() { Bands { len: u64::MAX, ..alone } } else { alone };
        };
        let mut bands = Bands { lanes: stride, len, ..alone };
        // The digits after count whole steps of other dimensions: from 1 on, each where the one before it ends.
        let mut found = 0;
        let behind = self.digits.len() - digit - 1;
        let mut more = true;
        while more {
            more = false;
            let mut i = digit + 1;
            while i < self.digits.len() {
                if let Digit { term: Term { source: Source::Dimension(number), divisor, modulus }, .. } = self.digits[i]
                    && number as usize != dimension
                    && (number as usize) < MAX_LIST
                    && !self.digits[i].is_unbounded()
                    && bands.steps[number as usize] == divisor.get()
                {
                    let step = match modulus {
                        Some(modulus) => divisor.get().saturating_mul(modulus.get()),
                        None => u64::MAX,
                    };
                    if step > divisor.get() {
                        bands.steps[number as usize] = step;
                        found += 1;
                        more = true;
                    }
                }
                i += 1;
            }
        }
        if found == behind && self.intermediates.is_empty() { bands } else { alone }
    }
}
