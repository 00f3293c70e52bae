//! XLA's `LayoutUtil` (`xla/layout_util.h`) and the class `Layout`.

use crate::shape_util::EachArray;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::{
    DimensionError, DimensionNumber, ElementType, Layout, Shape, TransformError, ValidationError, distinct_dimensions,
};

/// Whether the layout of an array in the shape has `E(n)`.
///
/// ```
/// use xla_shape_parity::layout_util::has_custom_element_size_in_bits;
///
/// let shape: xla_shape_core::Shape = "(s4[2]{0:E(4)}, f32[2])".parse()?;
/// assert!(has_custom_element_size_in_bits(&shape));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn has_custom_element_size_in_bits(shape: &Shape) -> bool {
    shape.arrays().any(|array| array.layout().element_size_in_bits() != 0)
}

/// An untiled layout with this order of dimensions, the slowest varying one first.
///
/// ```
/// use xla_shape_core::Layout;
/// use xla_shape_parity::layout_util::make_layout_from_major_to_minor;
///
/// assert_eq!(make_layout_from_major_to_minor(&[1, 2, 0])?.to_string(), "{0,2,1}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If `major_to_minor` is not a permutation of 0, 1, ….
pub fn make_layout_from_major_to_minor(major_to_minor: &[usize]) -> Result<Layout, ValidationError> {
    let mut minor_to_major = major_to_minor.to_vec();
    minor_to_major.reverse();
    Layout::new(&minor_to_major).map_err(|error| from_back(error, major_to_minor.len()))
}

/// Whether these dimensions are consecutive in the layout's order. Their order among themselves does not matter.
///
/// ```
/// use xla_shape_parity::layout_util::are_dimensions_consecutive;
///
/// let layout: xla_shape_core::Layout = "{3,0,2,1}".parse()?;
/// assert_eq!(are_dimensions_consecutive(&layout, [0, 3]), Ok(true));
/// assert_eq!(are_dimensions_consecutive(&layout, [0, 1]), Ok(false));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such dimension, or one is named twice.
pub fn are_dimensions_consecutive(
    layout: &Layout,
    dimensions: impl IntoIterator<Item = impl Into<DimensionNumber>>,
) -> Result<bool, DimensionError> {
    let places = layout.make_logical_to_physical();
    let dimensions = distinct_dimensions(dimensions, layout.num_dimensions())?;
    let mut places = dimensions.iter().filter_map(|&dimension| places.get(dimension)).collect::<Vec<_>>();
    places.sort_unstable();
    Ok(places.is_sorted_by(|a, b| a.abs_diff(**b) == 1))
}

/// The same layout without this dimension; the numbers of the dimensions after it decrease by 1. Tiles stay as they
/// are.
///
/// ```
/// use xla_shape_parity::layout_util::delete_dimension;
///
/// let layout: xla_shape_core::Layout = "{2,0,1}".parse()?;
/// assert_eq!(delete_dimension(&layout, 0)?.to_string(), "{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such dimension.
pub fn delete_dimension(layout: &Layout, dimension: impl Into<DimensionNumber>) -> Result<Layout, DimensionError> {
    let dimension = dimension.into().resolve(layout.num_dimensions())?;
    let mut kept = vec![true; layout.num_dimensions()];
    if let Some(kept) = kept.get_mut(dimension) {
        *kept = false;
    }
    Ok(layout.with_kept_dimensions(&kept))
}

/// The arrays of a shape in the default layout.
///
/// ```
/// use xla_shape_parity::layout_util::get_with_default_layout;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3]{0,1:T(2,4)S(1)}".parse()?;
/// assert_eq!(get_with_default_layout(&shape)?.to_string(), "f32[2,3]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the result is too large, because the elements are no longer packed.
pub fn get_with_default_layout<S: EachArray>(shape: &S) -> Result<S, TransformError> {
    shape.each_array(|array| {
        let layout = Layout::descending(array.num_dimensions());
        Ok(array.with_layout(layout)?)
    })
}

/// The arrays of a shape without tiles.
///
/// ```
/// use xla_shape_parity::layout_util::clear_tiles;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3]{0,1:T(2,4)S(1)}".parse()?;
/// assert_eq!(clear_tiles(&shape)?.to_string(), "f32[2,3]{0,1:S(1)}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// None: removing tiles does not make an array larger. The function returns a `Result` because the other transformations do.
pub fn clear_tiles<S: EachArray>(shape: &S) -> Result<S, TransformError> {
    shape.each_array(|array| {
        let layout = array.layout().clone().with_tiles(&[])?;
        Ok(array.with_layout(layout)?)
    })
}

/// Gives every array in `target` the layout of the corresponding array in `source`. XLA's
/// `LayoutUtil::CopyLayoutBetweenShapes`.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::layout_util::copy_layout_between_shapes;
///
/// let source: Shape = "(f32[2,3]{0,1:T(4)}, token[])".parse()?;
/// let mut target: Shape = "(s8[5,7], token[])".parse()?;
/// copy_layout_between_shapes(&source, &mut target)?;
/// assert_eq!(target.to_string(), "(s8[5,7]{0,1:T(4)}, token[])");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the tuple structures differ, or a layout does not fit its array; then `target` is unchanged.
pub fn copy_layout_between_shapes(source: &Shape, target: &mut Shape) -> Result<(), TransformError> {
    let arrays = |shape: &Shape| shape.flatten_tuple_shape().map(Shape::is_array).collect::<Vec<_>>();
    if !source.equal_structure(target) || arrays(source) != arrays(target) {
        return Err(TransformError::StructureMismatch);
    }
    // If there is an error, `target` stays as it is.
    let mut changed = target.clone();
    changed.for_each_mutable_leaf_shape(|array, index| {
        let source = source.get_subshape(index).and_then(Shape::array).ok_or(TransformError::StructureMismatch)?;
        *array = array.clone().with_layout(source.layout().clone())?;
        Ok::<_, TransformError>(())
    })?;
    *target = changed;
    Ok(())
}

/// Whether an array of these sizes in the default layout (row-major, without padding) has these strides, in bytes.
///
/// ```
/// use xla_shape_core::ElementType;
/// use xla_shape_parity::layout_util::byte_strides_is_major_to_minor;
///
/// assert!(byte_strides_is_major_to_minor(&[12, 4], &[2, 3], ElementType::F32));
/// assert!(!byte_strides_is_major_to_minor(&[4, 8], &[2, 3], ElementType::F32));
/// ```
#[must_use]
pub fn byte_strides_is_major_to_minor(byte_strides: &[u64], sizes: &[u64], element_type: ElementType) -> bool {
    // `None` if the product is too large: then no stride can be right.
    let mut expected = Some(element_type.storage_bytes());
    byte_strides.len() == sizes.len()
        && byte_strides.iter().zip(sizes).rev().all(|(&stride, &size)| {
            let fits = expected == Some(stride);
            expected = expected.and_then(|expected| expected.checked_mul(size));
            fits
        })
}

/// The same error, with its position counted from the other end of the list of `len` dimension numbers.
fn from_back(error: ValidationError, len: usize) -> ValidationError {
    let from_back = |position: usize| len.saturating_sub(position).saturating_sub(1);
    match error {
        ValidationError::DimensionNumberOutOfRange { position, dimension, num_dimensions } => {
            ValidationError::DimensionNumberOutOfRange { position: from_back(position), dimension, num_dimensions }
        }
        ValidationError::DuplicateDimensionNumber { position, dimension } => {
            ValidationError::DuplicateDimensionNumber { position: from_back(position), dimension }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Layout {
        text.parse().unwrap()
    }

    #[test]
    fn from_major_to_minor_is_the_reverse() {
        assert_eq!(make_layout_from_major_to_minor(&[1, 2, 0]), Ok(layout("{0,2,1}")));
        let error = make_layout_from_major_to_minor(&[1, 0, 1]).unwrap_err();
        assert_eq!(error.part(), xla_shape_core::validate::ShapePart::MinorToMajorEntry(0));
    }

    #[test]
    fn neighbours_in_the_order_are_consecutive() {
        let layout = layout("{3,0,2,1}");
        for (dimensions, expected) in
            [(&[3, 0][..], true), (&[2, 0, 1], true), (&[1, 0], false), (&[-1], true), (&[], true)]
        {
            assert_eq!(are_dimensions_consecutive(&layout, dimensions.iter().copied()), Ok(expected), "{dimensions:?}");
        }
        assert!(are_dimensions_consecutive(&layout, [4]).is_err());
        assert!(are_dimensions_consecutive(&layout, [3, -1]).is_err());
    }
}
