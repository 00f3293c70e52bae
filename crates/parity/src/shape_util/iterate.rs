//! Iteration over the indices of an array.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use xla_shape_core::{ArrayShape, DimensionError};

/// The indices to visit: in each dimension, from `index_base` in steps of `index_incr`, below
/// `index_base + index_count`. XLA's `ShapeUtil::IndexIterationSpace`.
///
/// In a dimension whose count is 0, only the base is visited.
///
/// ```
/// use std::ops::ControlFlow;
/// use xla_shape_parity::shape_util::{IndexIterationSpace, for_each_index_in};
///
/// let shape: xla_shape_core::ArrayShape = "f32[4,5]".parse()?;
/// let space = IndexIterationSpace { index_base: vec![1, 0], index_count: vec![1, 5], index_incr: vec![1, 2] };
/// let mut columns = vec![];
/// let _ = for_each_index_in::<()>(&shape, &space, |index| {
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

/// Calls `visit` with the index of every element until it breaks. The most minor dimension of the layout varies
/// fastest.
///
/// Tiles are ignored; [`StrideTableRef::iter`](xla_shape_core::map::StrideTableRef::iter) follows the order of memory.
///
/// ```
/// use std::ops::ControlFlow;
/// use xla_shape_parity::shape_util::for_each_index;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,2]{0,1}".parse()?;
/// let mut indices = vec![];
/// let _ = for_each_index::<()>(&shape, |index| {
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
    array: &ArrayShape,
    visit: impl FnMut(&[u64]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, DimensionError> {
    let index_count = array
        .dimensions()
        .iter()
        .enumerate()
        .map(|(dimension, size)| size.extent().ok_or(DimensionError::IterationOutOfRange { dimension }));
    let index_count = index_count.collect::<Result<Vec<_>, _>>()?;
    if index_count.contains(&0) {
        return Ok(ControlFlow::Continue(()));
    }
    let (index_base, index_incr) = (vec![0; index_count.len()], vec![1; index_count.len()]);
    for_each_index_in(array, &IndexIterationSpace { index_base, index_count, index_incr }, visit)
}

/// Calls `visit` with the indices of `space` until it breaks. The most minor dimension of the layout varies
/// fastest. An array without elements has no indices to visit.
///
/// ```
/// use std::ops::ControlFlow;
/// use xla_shape_parity::shape_util::{IndexIterationSpace, for_each_index_in};
///
/// let shape: xla_shape_core::ArrayShape = "f32[4,5]".parse()?;
/// let space = IndexIterationSpace { index_base: vec![1, 0], index_count: vec![1, 5], index_incr: vec![1, 2] };
/// let mut indices = vec![];
/// let _ = for_each_index_in::<()>(&shape, &space, |index| {
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
    array: &ArrayShape,
    space: &IndexIterationSpace,
    mut visit: impl FnMut(&[u64]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, DimensionError> {
    let ranges = ranges(array, space)?;
    if array.is_zero_element_array() {
        return Ok(ControlFlow::Continue(()));
    }
    let mut index = space.index_base.clone();
    loop {
        if let ControlFlow::Break(answer) = visit(&index) {
            return Ok(ControlFlow::Break(answer));
        }
        // If the sum saturates, it is not below `limit`, which is at most the dimension's size, so the loop ends.
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
fn ranges(array: &ArrayShape, space: &IndexIterationSpace) -> Result<Vec<DimensionRange>, DimensionError> {
    let num_dimensions = array.num_dimensions();
    for list in [&space.index_base, &space.index_count, &space.index_incr] {
        if list.len() != num_dimensions {
            return Err(DimensionError::CountMismatch { num_dimensions, entries: list.len() });
        }
    }
    let parts = space.index_base.iter().zip(&space.index_count).zip(&space.index_incr).zip(array.dimensions());
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
    Ok(array.layout().minor_to_major().iter().filter_map(|&dimension| ranges.get(dimension).copied()).collect())
}

#[derive(Clone, Copy)]
struct DimensionRange {
    dimension: usize,
    base: u64,
    limit: u64,
    incr: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index_util::{bump_indices, compare_indices, index_in_bounds};
    use alloc::string::ToString;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    fn walk(shape: &str, base: &[u64], count: &[u64], incr: &[u64]) -> Result<Vec<Vec<u64>>, DimensionError> {
        let mut indices = Vec::new();
        let space = IndexIterationSpace { index_base: base.into(), index_count: count.into(), index_incr: incr.into() };
        let ended = for_each_index_in::<()>(&array(shape), &space, |index| {
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
        assert!(for_each_index::<()>(&array("f32[2,?]"), |_| ControlFlow::Continue(())).is_err());
    }

    #[test]
    fn a_break_ends_the_walk() {
        let found = for_each_index(&array("f32[2,3]"), |index| {
            if index == [1, 1] { ControlFlow::Break("here") } else { ControlFlow::Continue(()) }
        });
        assert_eq!(found, Ok(ControlFlow::Break("here")));
    }

    #[test]
    fn counting_up_visits_every_index_once() {
        let shape = array("f32[2,1,3]{0,1,2}");
        let mut index = [0; 3];
        let mut count = 1;
        while bump_indices(&shape, &mut index) {
            assert!(index_in_bounds(&shape, &index));
            count += 1;
        }
        assert_eq!((count, index), (6, [0; 3]));
        assert!(!index_in_bounds(&shape, &[0, 1, 0]) && !index_in_bounds(&shape, &[0, 0]));
        assert!(!bump_indices(&array("f32[]"), &mut []));
        assert_eq!(compare_indices(&[0, 2], &[1, 0]), core::cmp::Ordering::Less);
    }
}
