//! XLA's `IndexUtil` (`xla/index_util.h`).

use core::cmp::Ordering;
use xla_shape_core::{ArrayShape, DimensionNumber};

/// The stride of a dimension, in elements. `None` if there is no such dimension, the layout has tiles, or the
/// stride depends on an unbounded dimension.
///
/// ```
/// use xla_shape_parity::index_util::get_dimension_stride;
///
/// let shape: xla_shape_core::ArrayShape = "f32[5,8,10,4]".parse()?;
/// assert_eq!(get_dimension_stride(&shape, 1), Some(40));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn get_dimension_stride(array: &ArrayShape, dimension: impl Into<DimensionNumber>) -> Option<u64> {
    let dimension = array.get_dimension_number(dimension).ok()?;
    if !array.layout().is_untiled() {
        return None;
    }
    let more_minor = array.layout().minor_to_major().iter().take_while(|&&other| other != dimension);
    more_minor.copied().try_fold(1_u64, |stride, other| stride.checked_mul(array.dimensions().get(other)?.extent()?))
}

/// Whether the index has one entry for each dimension, each below the dimension's size or bound.
///
/// ```
/// use xla_shape_parity::index_util::index_in_bounds;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
/// assert!(index_in_bounds(&shape, &[1, 2]) && !index_in_bounds(&shape, &[2, 0]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn index_in_bounds(array: &ArrayShape, index: &[u64]) -> bool {
    index.len() == array.num_dimensions()
        && index.iter().zip(array.dimensions()).all(|(&entry, size)| Some(entry) < size.extent())
}

/// Advances the index to the next one in row-major order, whatever the layout. After the last index it is all zeros
/// again, and the result is `false`. XLA's `IndexUtil::BumpIndices`.
///
/// ```
/// use xla_shape_parity::index_util::bump_indices;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
/// let mut index = [0, 2];
/// assert!(bump_indices(&shape, &mut index));
/// assert_eq!(index, [1, 0]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
pub fn bump_indices(array: &ArrayShape, index: &mut [u64]) -> bool {
    for (entry, size) in index.iter_mut().zip(array.dimensions()).rev() {
        *entry = entry.saturating_add(1);
        if Some(*entry) < size.extent() {
            return true;
        }
        *entry = 0;
    }
    false
}

/// Compares two indices of the same array in row-major order. XLA's `IndexUtil::CompareIndices`.
///
/// ```
/// use std::cmp::Ordering;
///
/// assert_eq!(xla_shape_parity::index_util::compare_indices(&[0, 2], &[1, 0]), Ordering::Less);
/// ```
#[must_use]
pub fn compare_indices(a: &[u64], b: &[u64]) -> Ordering {
    a.cmp(b)
}
