//! Algebra on layouts: mappings from indices to positions, and operations on them.
//!
//! Each operation states its law; the names are those of CuTe and XLA.

use super::canonical::canonical;
use super::offsets::combines;
use super::terms::View;
use super::{Digit, Intermediate, Source, StrideTable, StrideTableError, StrideTableRef, Term, row_major_terms};
use crate::layout::number::{DimensionError, check_permutation, first_not_distinct, with_seen};
use crate::list::List;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU64;

/// A mapping from the index of an element to a position: a layout whose indices are sums of other ones.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::map::LayoutMapping;
///
/// let table = "f32[64,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.stride_table()?;
/// let tiles = LayoutMapping::from(table.as_ref()).divide(&[8, 128])?; // which tile, and where in it
/// assert_eq!(tiles.extents(), [8, 2, 8, 128]);
/// assert_eq!(tiles.checked_linear_index(&[1, 1, 0, 5]), Some(3 * 1024 + 5));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LayoutMapping {
    extents: Vec<u64>,
    table: StrideTable,
    /// What the index in each dimension of the table is.
    axes: Vec<Axis>,
}

/// An index that is `start + Σ step · (index in the dimension)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Axis {
    start: u64,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Step {
    dimension: usize,
    step: u64,
}

impl Axis {
    fn of(&self, index: &[u64]) -> u64 {
        let step = |step: &Step| index.get(step.dimension).copied().unwrap_or(0).saturating_mul(step.step);
        self.steps.iter().map(step).fold(self.start, u64::saturating_add)
    }
}

/// Why an operation on a mapping is not defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum MappingError {
    /// There is not one number for each dimension, or the numbers do not name dimensions once each.
    Dimensions(DimensionError),
    /// The tile does not divide the dimension.
    Uneven {
        /// The number of the dimension.
        dimension: usize,
        /// Its size.
        size: u64,
        /// The size of the tile.
        tile: u64,
    },
    /// The slice reaches beyond the dimension.
    OutOfRange {
        /// The number of the dimension.
        dimension: usize,
        /// Its size.
        size: u64,
        /// Where the slice ends.
        end: u64,
    },
    /// Only a dimension of size 1 can be made larger.
    Broadcast {
        /// The number of the dimension.
        dimension: usize,
        /// Its size.
        size: u64,
        /// The size that it should get.
        larger: u64,
    },
}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dimensions(error) => error.fmt(f),
            Self::Uneven { dimension, size, tile } => {
                write!(f, "dimension {dimension} of size {size} cannot be divided into tiles of size {tile}")
            }
            Self::OutOfRange { dimension, size, end } => {
                write!(f, "the slice ends at {end}, but dimension {dimension} has size {size}")
            }
            Self::Broadcast { dimension, size, larger } => {
                write!(f, "dimension {dimension} of size {size} cannot be broadcast to size {larger}")
            }
        }
    }
}

impl core::error::Error for MappingError {}

impl From<DimensionError> for MappingError {
    fn from(error: DimensionError) -> Self {
        Self::Dimensions(error)
    }
}

impl From<StrideTableRef<'_>> for LayoutMapping {
    fn from(table: StrideTableRef<'_>) -> Self {
        Self::of(table.to_owned())
    }
}

impl LayoutMapping {
    pub(super) fn of(table: StrideTable) -> Self {
        let axis = |dimension| Axis { start: 0, steps: vec![Step { dimension, step: 1 }] };
        let axes = (0..table.as_ref().extents.len()).map(axis).collect();
        Self { extents: table.as_ref().extents.to_vec(), table, axes }
    }
}

impl LayoutMapping {
    /// The sizes of the dimensions, in elements.
    #[must_use]
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The position of an element, in elements; `None` if the index has another number of entries than there are
    /// dimensions, or one of them is out of bounds.
    #[must_use]
    pub fn checked_linear_index(&self, index: &[u64]) -> Option<u64> {
        let inside = index.len() == self.extents.len() && index.iter().zip(&self.extents).all(|(i, size)| i < size);
        inside
            .then(|| self.table.as_ref().linear_index(&self.axes.iter().map(|axis| axis.of(index)).collect::<Vec<_>>()))
    }

    /// Whether no two elements share a position: nothing is repeated.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        let counts = |dimension| self.axes.iter().flat_map(|axis| &axis.steps).any(|step| step.dimension == dimension);
        let mut dimensions = self.extents.iter().enumerate();
        self.extents.contains(&0) || dimensions.all(|(dimension, &size)| size == 1 || counts(dimension))
    }

    /// The same mapping with as few digits as there can be for the elements that it still has.
    ///
    /// Law: every index has the position that it had; doing it again changes nothing.
    ///
    /// # Errors
    /// If sums made by `*` are nested so that the computation is too expensive.
    pub fn coalesce(&self) -> Result<Self, StrideTableError> {
        let mut coalesced = self.clone();
        if !self.extents.contains(&0) {
            let last = self.extents.iter().map(|size| size.saturating_sub(1)).collect::<Vec<_>>();
            coalesced.table.extents = self.axes.iter().map(|axis| axis.of(&last).saturating_add(1)).collect();
        }
        coalesced.table =
            canonical(View { table: coalesced.table.as_ref(), dimensions: &[] }, coalesced.table.as_ref().extents)?;
        Ok(coalesced)
    }

    /// The digits that positions are summed up from, over the indices in the dimensions of the layout.
    #[must_use]
    pub fn digits(&self) -> &[Digit] {
        self.table.as_ref().digits
    }

    /// The intermediate values that digits refer to; each refers to earlier ones only.
    #[must_use]
    pub fn intermediates(&self) -> &[Intermediate] {
        &self.table.intermediates
    }

    /// Whether the position is a sum of one function for each dimension of the layout: `*` combines none.
    #[must_use]
    pub fn is_sum_over_dimensions(&self) -> bool {
        !combines(&self.table.intermediates)
    }

    /// The composition with a permutation: dimension `i` of the result is dimension `permutation[i]` of this mapping.
    ///
    /// Law: `result(i permuted) = self(i)`; permuting back gives the same mapping.
    ///
    /// # Errors
    /// If `permutation` does not name every dimension once.
    pub fn permute(&self, permutation: &[usize]) -> Result<Self, MappingError> {
        let rank = self.extents.len();
        with_seen(rank, |seen| check_permutation(permutation, rank, seen))?;
        let extents = permutation.iter().filter_map(|&i| self.extents.get(i).copied()).collect();
        Ok(self.with_steps(extents, |step| {
            let dimension = permutation.iter().position(|&dimension| dimension == step.dimension);
            dimension.map(|dimension| Step { dimension, ..step }).into_iter().collect()
        }))
    }

    /// Divides every dimension by a tile, as CuTe's `zipped_divide`: the first half of the result's dimensions is the grid,
    /// the second half the place in the tile.
    ///
    /// Law: `result(grid, place) = self(grid · tile + place)`.
    ///
    /// # Errors
    /// If there is not one tile size for each dimension, or one does not divide its dimension.
    pub fn divide(&self, tile: &[u64]) -> Result<Self, MappingError> {
        self.same_number(tile.len())?;
        let mut extents = vec![];
        for (dimension, (&size, &tile)) in self.extents.iter().zip(tile).enumerate() {
            match size.checked_div(tile) {
                Some(count) if size.is_multiple_of(tile) => extents.push(count),
                _ => return Err(MappingError::Uneven { dimension, size, tile }),
            }
        }
        extents.extend(tile);
        Ok(self.with_steps(extents, |step| {
            let size = tile.get(step.dimension).copied().unwrap_or(1);
            let place = step.dimension.saturating_add(self.extents.len());
            vec![Step { step: step.step.saturating_mul(size), ..step }, Step { dimension: place, ..step }]
        }))
    }

    /// The restriction to a slice: in each dimension, `sizes` elements from `starts` on.
    ///
    /// Law: `result(i) = self(starts + i)`.
    ///
    /// # Errors
    /// If there is not one start and one size for each dimension, or the slice reaches beyond one.
    pub fn slice(&self, starts: &[u64], sizes: &[u64]) -> Result<Self, MappingError> {
        self.same_number(starts.len())?;
        self.same_number(sizes.len())?;
        for (dimension, ((start, slice), &size)) in starts.iter().zip(sizes).zip(&self.extents).enumerate() {
            let end = start.saturating_add(*slice);
            if end > size {
                return Err(MappingError::OutOfRange { dimension, size, end });
            }
        }
        let axes = self.axes.iter().map(|axis| Axis { start: axis.of(starts), steps: axis.steps.clone() });
        Ok(Self { extents: sizes.to_vec(), table: self.table.clone(), axes: axes.collect() })
    }

    /// XLA's `BroadcastInDim`: dimension `i` becomes dimension `dimensions[i]` of the result, which has the sizes `sizes`;
    /// the others repeat the elements, and so does a dimension of size 1 that becomes larger.
    ///
    /// Law: `result(i) = self(j)`, where `j[d]` is `i[dimensions[d]]`, or 0 where the size is 1.
    ///
    /// # Errors
    /// If there is not one new dimension for each dimension, two are the same, or another size than 1 would change.
    pub fn broadcast(&self, sizes: &[u64], dimensions: &[usize]) -> Result<Self, MappingError> {
        self.same_number(dimensions.len())?;
        if let Some((_, error)) = with_seen(sizes.len(), |seen| first_not_distinct(dimensions, sizes.len(), seen)) {
            return Err(error.into());
        }
        for (dimension, (&to, &size)) in dimensions.iter().zip(&self.extents).enumerate() {
            let larger = sizes.get(to).copied().unwrap_or(size);
            if size != larger && size != 1 {
                return Err(MappingError::Broadcast { dimension, size, larger });
            }
        }
        Ok(self.with_steps(sizes.to_vec(), |step| {
            let repeats = self.extents.get(step.dimension) == Some(&1);
            let dimension = dimensions.get(step.dimension).copied().filter(|_| !repeats);
            dimension.map(|dimension| Step { dimension, ..step }).into_iter().collect()
        }))
    }

    /// The mapping with other dimensions, and in place of each step those that `renew` makes of it.
    fn with_steps(&self, extents: Vec<u64>, renew: impl Fn(Step) -> Vec<Step>) -> Self {
        let renewed =
            |axis: &Axis| Axis { start: axis.start, steps: axis.steps.iter().copied().flat_map(&renew).collect() };
        Self { extents, table: self.table.clone(), axes: self.axes.iter().map(renewed).collect() }
    }

    fn same_number(&self, found: usize) -> Result<(), MappingError> {
        let num_dimensions = self.extents.len();
        if found == num_dimensions {
            return Ok(());
        }
        Err(DimensionError::CountMismatch { num_dimensions, entries: found }.into())
    }
}

impl StrideTableRef<'_> {
    /// The table of the inverse: from a position to the row-major number of the element there. `None` if there is padding,
    /// or if the inverse has no such table; [`multi_index`](Self::multi_index) always does.
    ///
    /// Law: `inverse(self(i))` is the row-major number of `i`.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let table = "f32[2,3]{0,1}".parse::<ArrayShape>()?.stride_table()?;
    /// let inverse = table.as_ref().inverse().unwrap();
    /// let numbers: Vec<_> = (0..6).map(|position| inverse.as_ref().linear_index(&[position])).collect();
    /// assert_eq!(numbers, [0, 3, 1, 4, 2, 5]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn inverse(self) -> Option<StrideTable> {
        if !self.is_exhaustive() || self.positions == 0 {
            return None;
        }
        let dimensions = row_major_terms(self.extents);
        let form = canonical(View { table: self, dimensions: &dimensions }, &[self.positions]).ok()?;
        let mut digits = form.digits.as_slice().to_vec();
        // The digits must be all of a number, one after the other.
        digits.sort_unstable_by_key(|digit| digit.term.divisor);
        let mut divisor = 1_u64;
        for digit in &digits {
            if digit.term.source != Source::Dimension(0) || digit.term.divisor.get() != divisor {
                return None;
            }
            divisor = divisor.checked_mul(digit.size)?;
        }
        let invert = |digit: Digit| {
            let modulus = NonZeroU64::new(digit.size);
            let term = Term { source: Source::Dimension(0), divisor: NonZeroU64::new(digit.stride)?, modulus };
            Some(Digit { term, size: digit.size, stride: digit.term.divisor.get() })
        };
        digits.reverse();
        let digits = digits.into_iter().map(invert).collect::<Option<_>>()?;
        let extents = List::from_slice(&[self.positions]);
        Some(StrideTable { extents, digits, intermediates: vec![], positions: self.positions })
    }
}
