//! Indices of array elements: iterating over them and comparing them, with the names of `IndexUtil`
//! (`xla/index_util.h`) and `ShapeUtil::ForEachIndex` (`xla/shape_util.h`).

use crate::layout::number::DimensionError;
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::ControlFlow;

/// The indices to visit: in each dimension, from `index_base` in steps of `index_incr`, below
/// `index_base + index_count`. XLA's `ShapeUtil::IndexIterationSpace`.
///
/// In a dimension whose count is 0, only the base is visited.
///
/// ```
/// use std::ops::ControlFlow;
/// use xla_shape_core::index::IndexIterationSpace;
///
/// let shape: xla_shape_core::ArrayShape = "f32[4,5]".parse()?;
/// let space = IndexIterationSpace { index_base: vec![1, 0], index_count: vec![1, 5], index_incr: vec![1, 2] };
/// let mut columns = vec![];
/// let _ = shape.for_each_index_in::<()>(&space, |index| {
///     columns.push(index[1]);
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(columns, [0, 2, 4], "every second column of row 1");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IndexIterationSpace {
    /// The first index.
    pub index_base: Vec<u64>,
    /// The length of the range in each dimension, in elements.
    pub index_count: Vec<u64>,
    /// The step in each dimension, in elements.
    pub index_incr: Vec<u64>,
}

impl ArrayShape {
    /// Whether the index has one entry for each dimension, each below the dimension's size or bound.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
    /// assert!(shape.index_in_bounds(&[1, 2]) && !shape.index_in_bounds(&[2, 0]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn index_in_bounds(&self, index: &[u64]) -> bool {
        index.len() == self.num_dimensions()
            && index.iter().zip(self.dimensions()).all(|(&entry, size)| Some(entry) < size.extent())
    }

    /// Advances the index to the next one in row-major order, whatever the layout. After the last index it is all zeros
    /// again, and the result is `false`. XLA's `IndexUtil::BumpIndices`.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
    /// let mut index = [0, 2];
    /// assert!(shape.bump_indices(&mut index));
    /// assert_eq!(index, [1, 0]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn bump_indices(&self, index: &mut [u64]) -> bool {
        for (entry, size) in index.iter_mut().zip(self.dimensions()).rev() {
            *entry = entry.saturating_add(1);
            if Some(*entry) < size.extent() {
                return true;
            }
            *entry = 0;
        }
        false
    }

    /// Calls `visit` with the index of every element until it breaks. The most minor dimension of the layout varies
    /// fastest.
    ///
    /// Tiles are ignored; [`StrideTableRef::iter`](crate::map::StrideTableRef::iter) follows the order of memory.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// let shape: xla_shape_core::ArrayShape = "f32[2,2]{0,1}".parse()?;
    /// let mut indices = vec![];
    /// let _ = shape.for_each_index::<()>(|index| {
    ///     indices.push(index.to_vec());
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(indices, [[0, 0], [1, 0], [0, 1], [1, 1]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded. A `Break` from `visit` is returned in `Ok`.
    pub fn for_each_index<B>(
        &self,
        visit: impl FnMut(&[u64]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, DimensionError> {
        let index_count = self
            .dimensions()
            .iter()
            .enumerate()
            .map(|(dimension, size)| size.extent().ok_or(DimensionError::IterationOutOfRange { dimension }));
        let index_count = index_count.collect::<Result<Vec<_>, _>>()?;
        if index_count.contains(&0) {
            return Ok(ControlFlow::Continue(()));
        }
        let (index_base, index_incr) = (vec![0; index_count.len()], vec![1; index_count.len()]);
        self.for_each_index_in(&IndexIterationSpace { index_base, index_count, index_incr }, visit)
    }

    /// Calls `visit` with the indices of `space` until it breaks. The most minor dimension of the layout varies
    /// fastest. An array without elements has no indices to visit.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use xla_shape_core::index::IndexIterationSpace;
    ///
    /// let shape: xla_shape_core::ArrayShape = "f32[4,5]".parse()?;
    /// let space = IndexIterationSpace { index_base: vec![1, 0], index_count: vec![1, 5], index_incr: vec![1, 2] };
    /// let mut indices = vec![];
    /// let _ = shape.for_each_index_in::<()>(&space, |index| {
    ///     indices.push(index.to_vec());
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(indices, [[1, 0], [1, 2], [1, 4]]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `space` does not have one entry for each dimension, leaves the array, or has a step of 0 in a dimension whose
    /// count is not 0. A `Break` from `visit` is returned in `Ok`.
    pub fn for_each_index_in<B>(
        &self,
        space: &IndexIterationSpace,
        mut visit: impl FnMut(&[u64]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, DimensionError> {
        let ranges = self.ranges(space)?;
        if self.is_zero_element_array() {
            return Ok(ControlFlow::Continue(()));
        }
        let mut index = space.index_base.clone();
        loop {
            if let ControlFlow::Break(answer) = visit(&index) {
                return Ok(ControlFlow::Break(answer));
            }
            // A sum that saturates is not below `limit`, which is at most the dimension's size.
            let bumped = ranges.iter().any(|range| {
                let Some(entry) = index.get_mut(range.dimension) else { return false };
                *entry = entry.saturating_add(range.incr);
                let inside = *entry < range.limit;
                if !inside {
                    *entry = range.base;
                }
                inside
            });
            if !bumped {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    /// The range of each dimension, from minor to major.
    fn ranges(&self, space: &IndexIterationSpace) -> Result<Vec<DimensionRange>, DimensionError> {
        let num_dimensions = self.num_dimensions();
        for list in [&space.index_base, &space.index_count, &space.index_incr] {
            if list.len() != num_dimensions {
                return Err(DimensionError::CountMismatch { num_dimensions, entries: list.len() });
            }
        }
        let parts = space.index_base.iter().zip(&space.index_count).zip(&space.index_incr).zip(self.dimensions());
        let ranges = parts.enumerate().map(|(dimension, (((&base, &count), &incr), size))| {
            let out_of_range = DimensionError::IterationOutOfRange { dimension };
            let size = size.extent().ok_or(out_of_range)?;
            let limit = base.checked_add(count).filter(|&limit| limit <= size).ok_or(out_of_range)?;
            if base >= size && size > 0 {
                return Err(out_of_range);
            }
            if incr == 0 && count > 0 {
                return Err(DimensionError::ZeroStep { dimension });
            }
            Ok(DimensionRange { dimension, base, limit, incr })
        });
        let ranges = ranges.collect::<Result<Vec<_>, _>>()?;
        Ok(self.layout().minor_to_major().iter().filter_map(|&dimension| ranges.get(dimension).copied()).collect())
    }
}

#[derive(Clone, Copy)]
struct DimensionRange {
    dimension: usize,
    base: u64,
    limit: u64,
    incr: u64,
}

/// Compares two indices of the same array in row-major order. XLA's `IndexUtil::CompareIndices`.
///
/// ```
/// use std::cmp::Ordering;
///
/// assert_eq!(xla_shape_core::index::compare_indices(&[0, 2], &[1, 0]), Ordering::Less);
/// ```
#[must_use]
pub fn compare_indices(a: &[u64], b: &[u64]) -> Ordering {
    a.cmp(b)
}

#[cfg(test)]
mod tests {
    use super::IndexIterationSpace;
    use crate::layout::number::DimensionError;
    use crate::shape::array::ArrayShape;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use core::ops::ControlFlow;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    fn walk(shape: &str, base: &[u64], count: &[u64], incr: &[u64]) -> Result<Vec<Vec<u64>>, DimensionError> {
        let mut indices = Vec::new();
        let space = IndexIterationSpace { index_base: base.into(), index_count: count.into(), index_incr: incr.into() };
        let ended = array(shape).for_each_index_in::<()>(&space, |index| {
            indices.push(index.to_vec());
            ControlFlow::Continue(())
        })?;
        assert_eq!(ended, ControlFlow::Continue(()));
        Ok(indices)
    }

    #[test]
    fn a_walk_steps_from_the_base_and_stays_below_the_end() {
        assert_eq!(
            walk("f32[4,5]", &[1, 0], &[2, 5], &[1, 2]).unwrap(),
            [[1, 0], [1, 2], [1, 4], [2, 0], [2, 2], [2, 4]]
        );
        assert_eq!(walk("f32[4,5]{0,1}", &[1, 3], &[3, 2], &[2, 1]).unwrap(), [[1, 3], [3, 3], [1, 4], [3, 4]]);
        assert_eq!(walk("f32[4,5]", &[3, 4], &[0, 0], &[0, 0]).unwrap(), [[3, 4]]);
        assert_eq!(walk("f32[]", &[], &[], &[]).unwrap(), [[0_u64; 0]]);
        assert!(walk("f32[4,0]", &[0, 0], &[4, 0], &[1, 1]).unwrap().is_empty());
    }

    #[test]
    fn a_walk_out_of_the_array_is_an_error() {
        let message = |result: Result<Vec<Vec<u64>>, DimensionError>| result.unwrap_err().to_string();
        assert_eq!(message(walk("f32[4]", &[2], &[3], &[1])), "the iteration leaves dimension 0");
        assert_eq!(walk("f32[4]", &[4], &[0], &[1]), Err(DimensionError::IterationOutOfRange { dimension: 0 }));
        assert_eq!(walk("f32[4]", &[u64::MAX], &[3], &[1]), Err(DimensionError::IterationOutOfRange { dimension: 0 }));
        assert_eq!(walk("f32[?]", &[0], &[1], &[1]), Err(DimensionError::IterationOutOfRange { dimension: 0 }));
        assert_eq!(message(walk("f32[4]", &[0], &[3], &[0])), "expected a step of at least 1 in dimension 0, found 0");
        assert_eq!(
            message(walk("f32[4]", &[0], &[3, 1], &[0])),
            "expected one entry for each of 1 dimensions, found 2"
        );
        assert!(array("f32[2,?]").for_each_index::<()>(|_| ControlFlow::Continue(())).is_err());
    }

    #[test]
    fn a_break_ends_the_walk() {
        let found = array("f32[2,3]").for_each_index(|index| {
            if index == [1, 1] { ControlFlow::Break("here") } else { ControlFlow::Continue(()) }
        });
        assert_eq!(found, Ok(ControlFlow::Break("here")));
    }

    #[test]
    fn counting_up_visits_every_index_once() {
        let shape = array("f32[2,1,3]{0,1,2}");
        let mut index = [0; 3];
        let mut count = 1;
        while shape.bump_indices(&mut index) {
            assert!(shape.index_in_bounds(&index));
            count += 1;
        }
        assert_eq!((count, index), (6, [0; 3]));
        assert!(!shape.index_in_bounds(&[0, 1, 0]) && !shape.index_in_bounds(&[0, 0]));
        assert!(!array("f32[]").bump_indices(&mut []));
        assert_eq!(super::compare_indices(&[0, 2], &[1, 0]), core::cmp::Ordering::Less);
    }
}
