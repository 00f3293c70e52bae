//! Runs and bands: which elements along one dimension lie at a constant stride, and which lines lie side by side. Blocks that two arrays have in
//! common.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; indices are below lengths that are checked")]

use super::arithmetic::greatest_common_divisor;
use super::{Digit, Intermediate, Source, StrideTableRef, Term};
use crate::limits::MAX_LIST;

/// How the elements along one dimension lie: in runs of constant stride.
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
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Run {
    /// The length of each run, in elements: a run begins at each multiple of it. `u64::MAX` if the whole dimension is
    /// one run.
    pub len: u64,
    /// The distance between neighbours in a run, in elements; `None` if it depends on the size of an unbounded
    /// dimension.
    pub stride: Option<u64>,
}

/// Lines that lie side by side, so that a run of all of them is contiguous and can be read as whole vectors.
///
/// A *line* is the elements along one dimension. If its runs have stride 2, as rows do in `T(8,128)(2,1)`, the elements
/// between belong to another line: these two lines are a band.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bands {
    /// How many lines a band has, padding included.
    pub lanes: u64,
    /// The length of each run along the lines, in elements: a run begins at each multiple of it. `u64::MAX` if each
    /// line is one run.
    pub len: u64,
    /// How many indices of each dimension a band covers; `u64::MAX` if all.
    pub steps: [u64; MAX_LIST],
}

/// A block whose elements follow each other, in the same order, in two arrays. Along each dimension, blocks begin at the multiples of the number
/// of indices that a block covers.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::map::{CommonBlock, Extension};
///
/// let [wide, narrow] = ["f32[64,512]{1,0:T(8,128)}", "f32[64,256]{1,0:T(8,128)}"].map(|text| text.parse::<ArrayShape>());
/// let (wide, narrow) = (wide?.stride_table()?, narrow?.stride_table()?);
/// let digits = wide.as_ref().digits().iter().rev().zip(narrow.as_ref().digits().iter().rev());
/// let mut block = CommonBlock::ONE;
/// for (a, b) in digits {
///     let Extension::To(larger, _) = block.extension([*a, *b]) else { break };
///     block = larger;
/// }
/// assert_eq!((block.len, &block.covers[..2]), (1024, &[8, 128][..]), "a tile");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CommonBlock {
    /// The number of elements.
    pub len: u64,
    /// How many indices of each dimension the block covers.
    pub covers: [u64; MAX_LIST],
}

/// How the next digits of two arrays extend the [`CommonBlock`] of the more minor digits.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extension {
    /// A larger block, which covers more of this dimension; the same block if the digits have only one value.
    To(CommonBlock, Option<usize>),
    /// The digits continue the block in both arrays, but not as far in one as in the other, or not without padding.
    Partly,
    /// The digits count different dimensions or steps.
    No,
}

impl CommonBlock {
    /// One element.
    pub const ONE: Self = Self { len: 1, covers: [1; MAX_LIST] };

    /// How the next digits extend the block.
    #[must_use]
    pub const fn extension(self, [a, b]: [Digit; 2]) -> Extension {
        let is_same = a.term.source.same(b.term.source)
            && a.term.divisor.get() == b.term.divisor.get()
            && a.stride == self.len
            && b.stride == self.len;
        if !is_same || a.is_unbounded() || b.is_unbounded() {
            return Extension::No;
        }
        let number = match a.term.source {
            Source::Dimension(number) if (number as usize) < MAX_LIST => number as usize,
            _ if a.size == 1 && b.size == 1 => return Extension::To(self, None),
            _ => return Extension::No,
        };
        let divisor = a.term.divisor.get();
        if self.covers[number] != divisor {
            return Extension::No;
        }
        let is_full = a.size == b.size && a.taken() == a.size && b.taken() == b.size;
        match (self.len.checked_mul(a.size), divisor.checked_mul(a.size)) {
            (Some(len), Some(covered)) if is_full => {
                let mut block = Self { len, ..self };
                block.covers[number] = covered;
                Extension::To(block, Some(number))
            }
            _ => Extension::Partly,
        }
    }
}

/// The run of a dimension, as far as the terms visited so far determine it.
struct Search {
    dimension: usize,
    len: u64,
    /// The stride if each unbounded dimension has one tile.
    stride: u64,
    /// The digit that counts the dimension one by one.
    digit: Option<usize>,
}

impl Search {
    /// Limits the run to indices over which a term of the dimension is constant.
    const fn limit(&mut self, term: Term, len: u64) {
        if term.is_of(self.dimension) {
            self.len = if self.len == u64::MAX { len } else { greatest_common_divisor(self.len, len) };
        }
    }
}

impl StrideTableRef<'_> {
    /// The runs along a dimension.
    ///
    /// ```
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// let run = table.as_ref().run(1); // along a row: pairs of rows alternate
    /// assert_eq!((run.len, run.stride), (128, Some(2)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub const fn run(self, dimension: usize) -> Run {
        let Search { len, stride, digit, .. } = self.search(dimension);
        // A stride is the product of the sizes of all digits after it, so it is unknown if one of these sizes is.
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

    /// Whether the two tables have the same digits and no intermediate values, so that every element has the same
    /// position. Tables that give the same positions by other digits count as different;
    /// [`same_positions`](Self::same_positions) compares positions.
    ///
    /// ```
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert!(table.as_ref().is_same_map(table.as_ref()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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
            // The digit with divisor 1 counts single steps along the dimension, so the run has its stride. The run ends where this digit wraps
            // (its modulus) and where a coarser digit of the dimension changes (that digit's divisor). In columns of `T(8,128)`, `i1 % 128` has
            // stride 1, and `i1 / 128` ends the run after 128 elements.
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
        // Digits of an intermediate value may change wherever the value does.
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

    /// The bands of lines along a dimension. If no lines are known to lie side by side, each line is its own band, in
    /// runs of one element.
    ///
    /// ```
    /// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// let bands = table.as_ref().bands(1); // two rows lie side by side
    /// assert_eq!((bands.lanes, bands.len, bands.steps[0]), (2, 128, 2));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub const fn bands(self, dimension: usize) -> Bands {
        let alone = Bands { lanes: 1, len: 1, steps: [1; MAX_LIST] };
        let Search { len, stride, digit, .. } = self.search(dimension);
        let Some(digit) = digit else {
            // A dimension without digits has one element.
            return if self.intermediates.is_empty() { Bands { len: u64::MAX, ..alone } } else { alone };
        };
        let mut bands = Bands { lanes: stride, len, ..alone };
        // Each of the more minor digits must count indices of another dimension. It continues the digits found before:
        // its divisor is the number of indices that they cover.
        let mut found = 0;
        let after = self.digits.len() - digit - 1;
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
        if found == after && self.intermediates.is_empty() { bands } else { alone }
    }
}
