//! Layout algebra: mappings from indices to positions, and operations on them.
//!
//! The documentation of each operation states its law. The names are those of CuTe and XLA.

use super::canonical::canonical;
use super::offsets::combines;
use super::terms::View;
use super::{Digit, Intermediate, Source, StrideTable, StrideTableError, StrideTableRef, Term, row_major_terms};
use crate::layout::number::{DimensionError, check_permutation, first_not_distinct, with_seen};
use crate::list::List;
use crate::sorting::sort_by_key;
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// A mapping from indices to positions: a stride table composed with an affine map of indices. The result of a
/// permutation, slice, division or broadcast of a layout.
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
    /// For each dimension of the table, its index as a function of the mapping's index.
    axes: Vec<Axis>,
}

/// The index in a dimension of the table: `start + Σ step · index[dimension]`.
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
    fn index_in_table(&self, index: &[u64]) -> u64 {
        let step = |step: &Step| index.get(step.dimension).copied().unwrap_or(0).saturating_mul(step.step);
        self.steps.iter().map(step).fold(self.start, u64::saturating_add)
    }
}

impl From<StrideTableRef<'_>> for LayoutMapping {
    fn from(table: StrideTableRef<'_>) -> Self {
        Self::from_table(table.to_owned())
    }
}

impl LayoutMapping {
    pub(super) fn from_table(table: StrideTable) -> Self {
        let axis = |dimension| Axis { start: 0, steps: vec![Step { dimension, step: 1 }] };
        let axes = (0..table.as_ref().extents.len()).map(axis).collect();
        Self { extents: table.as_ref().extents.to_vec(), table, axes }
    }
}

impl LayoutMapping {
    /// The sizes of the dimensions, in elements.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// assert_eq!(mapping.divide(&[2, 3])?.extents(), [2, 2, 2, 3]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The position of an element, in elements. `None` if the index does not have one entry for each dimension, or an
    /// entry is out of bounds.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// assert_eq!((mapping.checked_linear_index(&[1, 2]), mapping.checked_linear_index(&[4, 0])), (Some(8), None));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn checked_linear_index(&self, index: &[u64]) -> Option<u64> {
        let inside = index.len() == self.extents.len() && index.iter().zip(&self.extents).all(|(i, size)| i < size);
        inside.then(|| {
            self.table
                .as_ref()
                .linear_index(&self.axes.iter().map(|axis| axis.index_in_table(index)).collect::<Vec<_>>())
        })
    }

    /// Whether no two elements share a position. After a broadcast, they can.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// assert!(mapping.is_unique());
    /// assert!(!mapping.broadcast(&[2, 4, 6], &[1, 2])?.is_unique()); // dimension 0 repeats the elements
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_unique(&self) -> bool {
        let counts = |dimension| self.axes.iter().flat_map(|axis| &axis.steps).any(|step| step.dimension == dimension);
        let mut dimensions = self.extents.iter().enumerate();
        self.extents.contains(&0) || dimensions.all(|(dimension, &size)| size == 1 || counts(dimension))
    }

    /// The same mapping with as few digits as its elements need: CuTe's `coalesce`.
    ///
    /// Law: every index keeps its position; coalescing again changes nothing.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// let row = mapping.slice(&[1, 0], &[1, 6])?.coalesce()?;
    /// assert_eq!(row.checked_linear_index(&[0, 2]), Some(8)); // as before
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If sums made by `*` are nested so deeply that the computation is too expensive.
    pub fn coalesce(&self) -> Result<Self, StrideTableError> {
        let mut coalesced = self.clone();
        if !self.extents.contains(&0) {
            let last = self.extents.iter().map(|size| size.saturating_sub(1)).collect::<Vec<_>>();
            coalesced.table.extents =
                self.axes.iter().map(|axis| axis.index_in_table(&last).saturating_add(1)).collect();
        }
        coalesced.table =
            canonical(View { table: coalesced.table.as_ref(), dimensions: &[] }, coalesced.table.as_ref().extents)?;
        Ok(coalesced)
    }

    /// The digits that positions are summed from. Their sources are dimensions of the layout, not of the mapping.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// let strides: Vec<_> = mapping.digits().iter().map(|digit| digit.stride).collect();
    /// assert_eq!(strides, [6, 1]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn digits(&self) -> &[Digit] {
        self.table.as_ref().digits
    }

    /// The intermediate values that digits refer to; each refers to earlier ones only.
    #[must_use]
    pub fn intermediates(&self) -> &[Intermediate] {
        &self.table.intermediates
    }

    /// Whether the position is a sum of one function of each of the layout's indices: `*` combines no dimensions.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// assert!(mapping.is_sum_over_dimensions());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_sum_over_dimensions(&self) -> bool {
        !combines(&self.table.intermediates)
    }

    /// The composition with a permutation: dimension `i` of the result is dimension `permutation[i]` of this mapping.
    ///
    /// Law: `result(i permuted) = self(i)`; permuting back gives the same mapping.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// let transposed = mapping.permute(&[1, 0])?;
    /// assert_eq!(transposed.checked_linear_index(&[2, 1]), mapping.checked_linear_index(&[1, 2]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `permutation` does not name every dimension once.
    pub fn permute(&self, permutation: &[usize]) -> Result<Self, DimensionError> {
        check_permutation(permutation, self.extents.len())?;
        let extents = permutation.iter().filter_map(|&i| self.extents.get(i).copied()).collect();
        Ok(self.with_steps(extents, |step| {
            let dimension = permutation.iter().position(|&dimension| dimension == step.dimension);
            dimension.map(|dimension| Step { dimension, ..step }).into_iter().collect()
        }))
    }

    /// Divides every dimension by a tile, as CuTe's `zipped_divide` does: the first half of the result's dimensions
    /// numbers the tiles, the second half the elements in a tile.
    ///
    /// Law: `result(number, inside) = self(number · tile + inside)`.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// let tiles = mapping.divide(&[2, 3])?;
    /// assert_eq!(tiles.checked_linear_index(&[1, 0, 1, 2]), mapping.checked_linear_index(&[1 * 2 + 1, 0 * 3 + 2]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is not one tile size for each dimension, or one does not divide its dimension.
    pub fn divide(&self, tile: &[u64]) -> Result<Self, DimensionError> {
        self.check_count(tile.len())?;
        let mut extents = vec![];
        for (dimension, (&size, &tile)) in self.extents.iter().zip(tile).enumerate() {
            match size.checked_div(tile) {
                Some(count) if size.is_multiple_of(tile) => extents.push(count),
                _ => return Err(DimensionError::Uneven { dimension, size, tile }),
            }
        }
        extents.extend(tile);
        Ok(self.with_steps(extents, |step| {
            // Index `i` is tile `i / size` and place `i % size`: one more tile is `size` steps of the old index.
            let size = tile.get(step.dimension).copied().unwrap_or(1);
            let place = step.dimension + self.extents.len();
            vec![Step { step: step.step.saturating_mul(size), ..step }, Step { dimension: place, ..step }]
        }))
    }

    /// The restriction to a slice: `sizes[d]` elements from `starts[d]` on in each dimension `d`.
    ///
    /// Law: `result(i) = self(starts + i)`.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// let slice = mapping.slice(&[1, 2], &[3, 3])?;
    /// assert_eq!(slice.checked_linear_index(&[0, 1]), mapping.checked_linear_index(&[1, 3]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is not one start and one size for each dimension, or the slice ends after the end of a dimension.
    pub fn slice(&self, starts: &[u64], sizes: &[u64]) -> Result<Self, DimensionError> {
        self.check_count(starts.len())?;
        self.check_count(sizes.len())?;
        for (dimension, ((start, slice), &size)) in starts.iter().zip(sizes).zip(&self.extents).enumerate() {
            let end = start.saturating_add(*slice);
            if end > size {
                return Err(DimensionError::SliceOutOfRange { dimension, size, end });
            }
        }
        // The starts of a slice become part of the constant of each axis. The steps stay.
        let axes = self.axes.iter().map(|axis| Axis { start: axis.index_in_table(starts), steps: axis.steps.clone() });
        Ok(Self { extents: sizes.to_vec(), table: self.table.clone(), axes: axes.collect() })
    }

    /// XLA's `BroadcastInDim`: dimension `i` becomes dimension `dimensions[i]` of the result, whose sizes are `sizes`.
    /// The other dimensions repeat the elements, and so does a dimension of size 1 that becomes larger.
    ///
    /// Law: `result(i) = self(j)`, where `j[d]` is `i[dimensions[d]]`, or 0 if dimension `d` has size 1.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::LayoutMapping};
    ///
    /// let table = "f32[4,6]".parse::<ArrayShape>()?.stride_table()?;
    /// let mapping = LayoutMapping::from(table.as_ref());
    /// let rows = mapping.broadcast(&[8, 4, 6], &[1, 2])?; // 8 times the same array
    /// assert_eq!(rows.checked_linear_index(&[7, 1, 2]), mapping.checked_linear_index(&[1, 2]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `dimensions` does not have one entry for each dimension, names one twice, or a size other than 1 would
    /// change.
    pub fn broadcast(&self, sizes: &[u64], dimensions: &[usize]) -> Result<Self, DimensionError> {
        self.check_count(dimensions.len())?;
        if let Some((_, error)) = with_seen(sizes.len(), |seen| first_not_distinct(dimensions, sizes.len(), seen)) {
            return Err(error);
        }
        for (dimension, (&to, &size)) in dimensions.iter().zip(&self.extents).enumerate() {
            let larger = sizes.get(to).copied().unwrap_or(size);
            if size != larger && size != 1 {
                return Err(DimensionError::Broadcast { dimension, size, larger });
            }
        }
        Ok(self.with_steps(sizes.to_vec(), |step| {
            let repeats = self.extents.get(step.dimension) == Some(&1);
            let dimension = dimensions.get(step.dimension).copied().filter(|_| !repeats);
            dimension.map(|dimension| Step { dimension, ..step }).into_iter().collect()
        }))
    }

    /// The mapping with these extents, in which each step is replaced by the steps that `renew` returns.
    fn with_steps(&self, extents: Vec<u64>, renew: impl Fn(Step) -> Vec<Step>) -> Self {
        let renewed =
            |axis: &Axis| Axis { start: axis.start, steps: axis.steps.iter().copied().flat_map(&renew).collect() };
        Self { extents, table: self.table.clone(), axes: self.axes.iter().map(renewed).collect() }
    }

    fn check_count(&self, found: usize) -> Result<(), DimensionError> {
        let num_dimensions = self.extents.len();
        if found == num_dimensions {
            return Ok(());
        }
        Err(DimensionError::CountMismatch { num_dimensions, entries: found })
    }
}

impl StrideTableRef<'_> {
    /// The table of the inverse: from a position to the row-major number of the element there. `None` if there is
    /// padding, or if no stride table gives the inverse; [`multi_index`](Self::multi_index) works for every table.
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
        // The digits must be all digits of one number: each begins where the one before it ends.
        sort_by_key(&mut digits, |digit| digit.term.divisor);
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
