//! A map as modes: the parts into which each index is cut, and the stride of each part.

pub(crate) mod sharing;
pub(crate) mod tiles;

use self::tiles::{no_negative, unit_offset};
use crate::{Notation, Obstacle};
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use xla_shape_core::ArrayShape;
use xla_shape_core::limits::MAX_SIZE;
use xla_shape_core::map::{Digit, Source, StrideTable, StrideTableRef, Term};
use xla_shape_core::sorting::{sort, sort_by_key};

/// One part of an index, `(index / divisor) % size`, and the distance between its neighbours.
///
/// CuTe calls it a mode. The part of a dimension with the largest divisor needs no remainder.
///
/// ```
/// use xla_shape_notations::{Mode, Modes};
///
/// let tiled = Modes::of_array(&"f32[16,256]{1,0:T(8,128)}".parse()?)?;
/// let rows: Vec<_> = tiled.modes_of(0).collect();
/// // The row within a tile, then the number of the tile.
/// assert_eq!(rows[0], Mode { dimension: 0, divisor: 1, size: 8, stride: 128 });
/// assert_eq!(rows[1], Mode { dimension: 0, divisor: 8, size: 2, stride: 2048 });
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mode {
    /// The dimension whose index is cut.
    pub dimension: usize,
    /// The number by which the index is divided: the product of the sizes of the modes before this one.
    pub divisor: u64,
    /// How many values the part takes.
    pub size: u64,
    /// The distance between neighbours, in elements. It may be 0 or negative.
    pub stride: i64,
}

impl Mode {
    /// The distance from the first value to the last one; `None` if that does not fit in an i64.
    const fn span(self) -> Option<i64> {
        let last = self.size.saturating_sub(1);
        if last > MAX_SIZE { None } else { self.stride.checked_mul(last as i64) }
    }

    /// Whether `next` continues where this mode ends, so that both together are one mode.
    const fn is_continued_by(self, next: Self) -> bool {
        let stride = match self.stride.checked_mul(self.size as i64) {
            Some(stride) if self.size <= MAX_SIZE => stride,
            _ => return false,
        };
        self.dimension == next.dimension
            && self.divisor.saturating_mul(self.size) == next.divisor
            && stride == next.stride
    }
}

/// A map from indices to positions that is a sum over modes: `offset + Σ (index / divisor % size) · stride`.
///
/// The notations for strided and nested layouts describe such maps: CuTe's, NumPy's, MLIR's `strided`, oneDNN's tags. Strides may be 0 or negative,
/// and elements may share a position. An XLA layout is such a map unless `*` combines dimensions, or tiles cut each other unevenly.
///
/// Modes are always coalesced, as by CuTe's `coalesce`: a mode that continues where the one before it ends is merged with it. So two maps over the
/// same sizes are equal exactly if their modes are equal. The reason: the first mode ends at the first index whose position its stride does not
/// give, so the map determines the first mode, and by induction the others.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_notations::Modes;
///
/// let array: ArrayShape = "bf16[16,256]{1,0:T(8,128)(2,1)}".parse()?;
/// let modes = Modes::of_array(&array)?;
/// assert_eq!(modes.position(&[3, 130]), Some(1024 + 256 + 2 * 2 + 1));
/// assert_eq!(modes.modes().len(), 5); // row in a pair, pair in a tile, tile; column in a tile, tile
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Modes {
    extents: Vec<u64>,
    modes: Vec<Mode>,
    offset: i64,
}

impl Modes {
    /// The map of an XLA array.
    ///
    /// ```
    /// use xla_shape_notations::{Modes, Obstacle};
    ///
    /// let modes = Modes::of_array(&"f32[2,3]{0,1}".parse()?)?;
    /// assert_eq!(modes.strides()?, [1, 2]);
    /// let combined = Modes::of_array(&"f32[7,2,5]{2,1,0:T(2,*,3)}".parse()?);
    /// assert!(matches!(combined, Err(Obstacle::Combined { .. })));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, or the positions are not a sum over modes ([`Obstacle::Combined`]).
    pub fn of_array(array: &ArrayShape) -> Result<Self, Obstacle> {
        let table = array.stride_table().map_err(Obstacle::StrideTable)?;
        Self::of_table(table.as_ref())
    }

    /// The map of a stride table.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_notations::Modes;
    ///
    /// let table = "f32[2,3]{1,0}".parse::<ArrayShape>()?.stride_table()?;
    /// assert_eq!(Modes::of_table(table.as_ref())?, Modes::strided(&[2, 3], &[3, 1], 0)?);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`of_array`](Self::of_array).
    pub fn of_table(table: StrideTableRef<'_>) -> Result<Self, Obstacle> {
        let form = table.canonical().map_err(Obstacle::StrideTable)?;
        let modes = form.intermediates().is_empty().then(|| of_digits(form.digits(), table.extents())).flatten();
        let complete = modes.and_then(|modes| with_zeros(&modes, table.extents()));
        let Some(modes) = complete else { return Err(combined(table)) };
        Self::of_modes(table.extents().to_vec(), modes, 0)
    }

    /// The map over dimensions of these sizes. `modes` has the modes of each dimension, the one that varies fastest first, as sizes and strides in
    /// elements.
    ///
    /// The modes of a dimension must cover all of its indices; the last mode need not be full.
    ///
    /// ```
    /// use xla_shape_notations::Modes;
    ///
    /// // CuTe's ((2,4),128):((1,256),2)
    /// let modes = Modes::nested(&[8, 128], &[vec![(2, 1), (4, 256)], vec![(128, 2)]], 0)?;
    /// assert_eq!(modes.position(&[3, 5]), Some(1 + 256 + 10));
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    ///
    /// # Errors
    /// [`Obstacle::TooLarge`] if a position does not fit in an i64; [`Obstacle::Room`] if the modes have no room for an index.
    pub fn nested(extents: &[u64], dimensions: &[Vec<(u64, i64)>], offset: i64) -> Result<Self, Obstacle> {
        let mut modes = Vec::new();
        if extents.len() != dimensions.len() {
            return Err(Obstacle::Room { dimension: extents.len().min(dimensions.len()) });
        }
        for (dimension, (parts, &extent)) in dimensions.iter().zip(extents).enumerate() {
            let mut divisor = 1_u64;
            for &(size, stride) in parts {
                if divisor <= MAX_SIZE {
                    modes.push(Mode { dimension, divisor, size, stride });
                }
                divisor = divisor.saturating_mul(size);
            }
            if divisor < extent {
                return Err(Obstacle::Room { dimension });
            }
        }
        Self { extents: extents.to_vec(), modes, offset }.checked()
    }

    /// The map with one stride for each dimension, in elements.
    ///
    /// ```
    /// use xla_shape_notations::Modes;
    ///
    /// // x[::-1, :] of a NumPy array of 2 rows of 3
    /// let modes = Modes::strided(&[2, 3], &[-3, 1], 3)?;
    /// assert_eq!(modes.position(&[1, 2]), Some(2));
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    ///
    /// # Errors
    /// Like [`nested`](Self::nested).
    pub fn strided(extents: &[u64], strides: &[i64], offset: i64) -> Result<Self, Obstacle> {
        let dimensions = extents.iter().zip(strides).map(|(&size, &stride)| vec![(size, stride)]).collect::<Vec<_>>();
        Self::nested(extents, &dimensions, offset)
    }

    /// The same map over smaller dimensions, from index 0 on.
    ///
    /// ```
    /// use xla_shape_notations::Modes;
    ///
    /// let padded = Modes::strided(&[8, 256], &[256, 1], 0)?;
    /// assert_eq!(padded.within(&[6, 200])?, Modes::strided(&[6, 200], &[256, 1], 0)?);
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    ///
    /// # Errors
    /// [`Obstacle::Room`] if a size is larger than the map's, or the number of sizes differs.
    pub fn within(&self, extents: &[u64]) -> Result<Self, Obstacle> {
        if extents.len() != self.extents.len() {
            return Err(Obstacle::Room { dimension: extents.len().min(self.extents.len()) });
        }
        if let Some(dimension) = extents.iter().zip(&self.extents).position(|(size, room)| size > room) {
            return Err(Obstacle::Room { dimension });
        }
        Self { extents: extents.to_vec(), ..self.clone() }.checked()
    }

    /// The map as a stride table; an error if a position is negative, because the table has none.
    pub(crate) fn stride_table(&self) -> Result<StrideTable, Obstacle> {
        if !self.extents.contains(&0) {
            no_negative(self, Notation::Xla)?;
            unit_offset(self, Notation::Xla)?;
        }
        let digit = |mode: &Mode| {
            let is_outermost =
                self.extents.get(mode.dimension).is_none_or(|&e| mode.divisor.saturating_mul(mode.size) >= e);
            let modulus = NonZeroU64::new(mode.size).filter(|_| !is_outermost);
            let source = Source::Dimension(u32::try_from(mode.dimension).ok()?);
            let term = Term { source, divisor: NonZeroU64::new(mode.divisor)?, modulus };
            Some(Digit { term, size: mode.size, stride: mode.stride.unsigned_abs() })
        };
        let moving = self.modes.iter().filter(|mode| mode.stride != 0);
        let digits = moving.map(digit).collect::<Option<Vec<_>>>().ok_or(Obstacle::TooLarge)?;
        StrideTable::from_digits(&self.extents, &digits, Vec::new()).ok_or(Obstacle::TooLarge)
    }

    /// The map whose positions are the positions of this map minus those of the other map; `None` if parts of their indices partly overlap, or
    /// positions do not fit.
    pub(crate) fn minus(&self, other: &Self) -> Option<Self> {
        let mut modes = Vec::new();
        for (dimension, &extent) in self.extents.iter().enumerate() {
            let parts = || self.modes_of(dimension).chain(other.modes_of(dimension));
            let mut divisors = parts().map(|mode| mode.divisor).collect::<Vec<_>>();
            sort(&mut divisors);
            divisors.dedup();
            let ends = divisors.iter().copied().skip(1).chain([extent]).collect::<Vec<_>>();
            for (&divisor, end) in divisors.iter().zip(ends) {
                // The stride of this part of the index in one of the maps. The part lies in a mode of the map, so its stride is a multiple of the
                // mode's stride.
                let stride = |map: &Self| {
                    let mode = map.modes_of(dimension).rfind(|mode| mode.divisor <= divisor);
                    let Some(mode) = mode else { return Some(0) };
                    if !divisor.is_multiple_of(mode.divisor) {
                        return None;
                    }
                    mode.stride.checked_mul(i64::try_from(divisor.checked_div(mode.divisor)?).ok()?)
                };
                let stride = stride(self)?.checked_sub(stride(other)?)?;
                if end != extent && !end.is_multiple_of(divisor) {
                    return None;
                }
                modes.push(Mode { dimension, divisor, size: end.div_ceil(divisor), stride });
            }
        }
        let offset = self.offset.checked_sub(other.offset)?;
        Self::of_modes(self.extents.clone(), modes, offset).ok()
    }

    /// The same map with all positions larger by this number of elements.
    pub(crate) fn moved(mut self, by: i64) -> Result<Self, Obstacle> {
        self.offset = self.offset.checked_add(by).ok_or(Obstacle::TooLarge)?;
        self.checked()
    }

    /// The map with these modes, which are sorted by dimension and divisor, and cover every index.
    pub(crate) fn of_modes(extents: Vec<u64>, modes: Vec<Mode>, offset: i64) -> Result<Self, Obstacle> {
        Self { extents, modes, offset }.checked()
    }

    /// Coalesces the modes, and checks that all positions fit in an i64.
    fn checked(mut self) -> Result<Self, Obstacle> {
        self.modes = coalesced(self.modes, &self.extents);
        if self.extents.contains(&0) {
            self.modes.clear();
            return Ok(self);
        }
        match self.range() {
            Some(_) => Ok(self),
            None => Err(Obstacle::TooLarge),
        }
    }

    /// The smallest and the largest position; `None` if they do not fit in an i64.
    fn range(&self) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.offset, self.offset);
        for mode in &self.modes {
            let span = mode.span()?;
            low = low.checked_add(span.min(0))?;
            high = high.checked_add(span.max(0))?;
        }
        high.checked_sub(low)?;
        Some((low, high))
    }

    /// The smallest and the largest position that an index may have; `None` if there are no elements.
    ///
    /// ```
    /// use xla_shape_notations::Modes;
    ///
    /// assert_eq!(Modes::strided(&[2, 3], &[-3, 1], 3)?.positions(), Some((0, 5)));
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    #[must_use]
    pub fn positions(&self) -> Option<(i64, i64)> {
        if self.extents.contains(&0) { None } else { self.range() }
    }

    /// The sizes of the dimensions, in elements.
    #[must_use]
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The modes, sorted by dimension; within a dimension, the fastest varying one comes first. Modes with a single value are left out.
    #[must_use]
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The modes of one dimension.
    ///
    /// ```
    /// use xla_shape_notations::Modes;
    ///
    /// let map = Modes::nested(&[8, 128], &[vec![(2, 1), (4, 256)], vec![(128, 2)]], 0)?;
    /// let strides: Vec<i64> = map.modes_of(0).map(|mode| mode.stride).collect();
    /// assert_eq!(strides, [1, 256]);
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    pub fn modes_of(&self, dimension: usize) -> impl DoubleEndedIterator<Item = Mode> + '_ {
        of_dimension(&self.modes, dimension).iter().copied()
    }

    /// The position of the element whose index is 0 everywhere.
    #[must_use]
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// The position of an element; `None` if there is no such element.
    ///
    /// ```
    /// use xla_shape_notations::Modes;
    ///
    /// let map = Modes::strided(&[2, 3], &[3, 1], 10)?;
    /// assert_eq!((map.position(&[1, 2]), map.position(&[2, 0])), (Some(15), None));
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    #[must_use]
    pub fn position(&self, index: &[u64]) -> Option<i64> {
        if index.len() != self.extents.len() || index.iter().zip(&self.extents).any(|(i, size)| i >= size) {
            return None;
        }
        let part = |mode: &Mode| {
            let quotient = index.get(mode.dimension)?.checked_div(mode.divisor)?;
            let value = quotient.checked_rem(mode.size)?;
            mode.stride.checked_mul(i64::try_from(value).ok()?)
        };
        self.modes.iter().try_fold(self.offset, |sum, mode| sum.checked_add(part(mode)?))
    }

    /// The stride of each dimension, in elements; 0 for a dimension of one element.
    ///
    /// ```
    /// use xla_shape_notations::{Modes, Obstacle};
    ///
    /// assert_eq!(Modes::strided(&[2, 3], &[1, 2], 0)?.strides()?, [1, 2]);
    /// let nested = Modes::nested(&[8], &[vec![(2, 1), (4, 256)]], 0)?;
    /// assert_eq!(nested.strides(), Err(Obstacle::Cut { dimension: 0, index: vec![2] }));
    /// # Ok::<(), Obstacle>(())
    /// ```
    ///
    /// # Errors
    /// [`Obstacle::Cut`] for the first dimension that has several modes, with the first element whose position one stride does not give.
    pub fn strides(&self) -> Result<Vec<i64>, Obstacle> {
        let mut strides = vec![0; self.extents.len()];
        for mode in &self.modes {
            if mode.divisor > 1 {
                let mut index = vec![0; self.extents.len()];
                if let Some(entry) = index.get_mut(mode.dimension) {
                    *entry = mode.divisor;
                }
                return Err(Obstacle::Cut { dimension: mode.dimension, index });
            }
            if let Some(stride) = strides.get_mut(mode.dimension) {
                *stride = mode.stride;
            }
        }
        Ok(strides)
    }

    /// The first position that holds no element although a later position does, or although it is in a tile that is not full.
    ///
    /// Only for maps whose strides are above 0.
    pub(crate) fn first_hole(&self) -> Option<u64> {
        let mut modes = self.modes.clone();
        sort_by_key(&mut modes, |mode| mode.stride);
        let mut end = 1_u64;
        let mut hole = None;
        for mode in &modes {
            let stride = mode.stride.unsigned_abs();
            if stride > end {
                hole = Some(end);
                break;
            }
            end = stride.saturating_mul(mode.size);
        }
        // The position that the first index past the end of a dimension would have.
        let past = self.extents.iter().enumerate().filter_map(|(dimension, &extent)| {
            let top = self.modes_of(dimension).last()?;
            if top.divisor.saturating_mul(top.size) == extent {
                return None;
            }
            let part = |mode: Mode| {
                let value = extent.checked_div(mode.divisor)?.checked_rem(mode.size)?;
                value.checked_mul(mode.stride.unsigned_abs())
            };
            self.modes_of(dimension).try_fold(0_u64, |sum, mode| sum.checked_add(part(mode)?))
        });
        past.chain(hole).min()
    }

    /// The index of the first element, in row-major order, that the other map puts at another position; `None` if there is none.
    ///
    /// This does not enumerate elements: the time is proportional to the number of modes.
    ///
    /// ```
    /// use xla_shape_notations::Modes;
    ///
    /// let rows = Modes::strided(&[4, 6], &[6, 1], 0)?;
    /// assert_eq!(rows.first_moved(&Modes::strided(&[4, 6], &[1, 4], 0)?), Ok(Some(vec![0, 1])));
    /// assert_eq!(rows.first_moved(&Modes::nested(&[4, 6], &[vec![(4, 6)], vec![(2, 1), (3, 2)]], 0)?), Ok(None));
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    ///
    /// # Errors
    /// [`Obstacle::OtherDimensions`] if the sizes of the dimensions differ.
    pub fn first_moved(&self, other: &Self) -> Result<Option<Vec<u64>>, Obstacle> {
        if self.extents != other.extents {
            return Err(Obstacle::OtherDimensions);
        }
        if self.extents.contains(&0) {
            return Ok(None);
        }
        let mut index = vec![0; self.extents.len()];
        if self.offset != other.offset {
            return Ok(Some(index));
        }
        for (dimension, entry) in index.iter_mut().enumerate().rev() {
            let (mut one, mut two) = (self.modes_of(dimension), other.modes_of(dimension));
            loop {
                let (a, b) = (one.next(), two.next());
                *entry = match (a, b) {
                    (None, None) => break,
                    (Some(a), Some(b)) if a == b => continue,
                    // Both modes have the same stride, but one is shorter: the maps differ from its end on.
                    (Some(a), Some(b)) if a.divisor == b.divisor && a.stride == b.stride => {
                        a.divisor.saturating_mul(a.size.min(b.size))
                    }
                    (Some(a), Some(b)) => a.divisor.min(b.divisor),
                    (Some(mode), None) | (None, Some(mode)) => mode.divisor,
                };
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

/// The modes of one dimension, from a list that is sorted by dimension.
fn of_dimension(modes: &[Mode], dimension: usize) -> &[Mode] {
    let start = modes.partition_point(|mode| mode.dimension < dimension);
    let end = modes.partition_point(|mode| mode.dimension <= dimension);
    modes.get(start..end).unwrap_or(&[])
}

/// Why a table is not a sum over modes.
pub(crate) fn combined(table: StrideTableRef<'_>) -> Obstacle {
    match table.first_unstrided() {
        Ok(index) => Obstacle::Combined { index: index.unwrap_or_default() },
        Err(error) => Obstacle::StrideTable(error),
    }
}

/// The digits of a stride table as modes, coalesced; `None` if a digit is part of an intermediate value instead of a dimension.
fn of_digits(digits: &[Digit], extents: &[u64]) -> Option<Vec<Mode>> {
    let mut modes = Vec::with_capacity(digits.len());
    for digit in digits {
        match digit.term.source {
            Source::Zero => {}
            Source::Intermediate(_) => return None,
            Source::Dimension(dimension) => {
                let dimension = dimension as usize;
                let divisor = digit.term.divisor.get();
                let size = match digit.term.modulus {
                    Some(modulus) => modulus.get(),
                    None => extents.get(dimension)?.div_ceil(divisor),
                };
                let stride = i64::try_from(digit.stride).ok().filter(|_| size > 0)?;
                modes.push(Mode { dimension, divisor, size, stride });
            }
        }
    }
    sort_by_key(&mut modes, |mode| (mode.dimension, mode.divisor));
    Some(coalesced(modes, extents))
}

/// Adds the modes of stride 0 that a table leaves out: the parts of an index that do not change the position. `None` if a part begins inside another
/// one.
fn with_zeros(modes: &[Mode], extents: &[u64]) -> Option<Vec<Mode>> {
    let mut complete = Vec::with_capacity(modes.len());
    for (dimension, &extent) in extents.iter().enumerate() {
        let mut divisor = 1_u64;
        let reach = |divisor: u64, to: u64, complete: &mut Vec<Mode>| {
            if to > divisor {
                complete.push(Mode { dimension, divisor, size: to.div_ceil(divisor), stride: 0 });
            }
        };
        for &mode in of_dimension(modes, dimension) {
            if mode.divisor < divisor || !mode.divisor.is_multiple_of(divisor) {
                return None;
            }
            reach(divisor, mode.divisor, &mut complete);
            complete.push(mode);
            divisor = mode.divisor.saturating_mul(mode.size);
        }
        reach(divisor, extent, &mut complete);
    }
    Some(complete)
}

/// Merges adjacent modes (sorted by dimension and divisor), and removes parts of modes that no index reaches.
fn coalesced(modes: Vec<Mode>, extents: &[u64]) -> Vec<Mode> {
    let mut merged: Vec<Mode> = Vec::with_capacity(modes.len());
    for mut mode in modes {
        let extent = extents.get(mode.dimension).copied().unwrap_or(0);
        if mode.divisor >= extent {
            continue;
        }
        mode.size = mode.size.min(extent.div_ceil(mode.divisor));
        if mode.size <= 1 {
            continue;
        }
        match merged.last_mut() {
            Some(last) if last.is_continued_by(mode) => {
                last.size = last.size.saturating_mul(mode.size).min(extent.div_ceil(last.divisor));
            }
            _ => merged.push(mode),
        }
    }
    merged
}
