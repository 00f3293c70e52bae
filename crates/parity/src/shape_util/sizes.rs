//! Sizes: elements, bytes, strides.

use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::{ArrayShape, DimensionNumber, ElementType, Shape, TileDimension};

/// The bytes that this number of elements takes.
fn bytes_of(array: &ArrayShape, elements: u64) -> Option<u64> {
    let bits = u128::from(elements).saturating_mul(u128::from(array.element_bits()));
    u64::try_from(bits.div_ceil(8)).ok()
}

/// Whether every size is 1.
///
/// ```
/// use xla_shape_parity::shape_util::is_effective_scalar;
///
/// let shape: xla_shape_core::ArrayShape = "f32[1,1]".parse()?;
/// assert!(is_effective_scalar(&shape) && !shape.is_scalar());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn is_effective_scalar(array: &ArrayShape) -> bool {
    array.dimensions().iter().all(|dimension| dimension.extent() == Some(1))
}

/// Whether the array has no dimensions and this element type.
///
/// ```
/// use xla_shape_parity::shape_util::is_scalar_with_element_type;
///
/// let shape: xla_shape_core::ArrayShape = "f32[]".parse()?;
/// assert!(is_scalar_with_element_type(&shape, xla_shape_core::ElementType::F32));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub const fn is_scalar_with_element_type(array: &ArrayShape, element_type: ElementType) -> bool {
    array.is_scalar() && ElementType::same(array.element_type(), element_type)
}

/// The product of the sizes and bounds, in elements, without unbounded dimensions.
///
/// ```
/// use xla_shape_parity::shape_util::static_extent_product;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,<=3,?]".parse()?;
/// assert_eq!(static_extent_product(&shape), 6);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn static_extent_product(array: &ArrayShape) -> u64 {
    // In a valid shape, the product does not overflow.
    array.dimensions().iter().filter_map(|dimension| dimension.extent()).fold(1, u64::saturating_mul)
}

/// The bytes of the elements alone, without padding. `None` if a dimension is unbounded.
///
/// ```
/// use xla_shape_parity::shape_util::byte_size_of_elements;
///
/// let shape: xla_shape_core::ArrayShape = "s4[3,5]{1,0:T(8,128)E(4)}".parse()?;
/// assert_eq!((byte_size_of_elements(&shape), shape.array_size()), (Some(8), Some(512)));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn byte_size_of_elements(array: &ArrayShape) -> Option<u64> {
    bytes_of(array, array.elements()?)
}

/// The bytes up to the end of the element whose index is the highest in every dimension. `None` if a dimension is
/// unbounded.
///
/// This is XLA's definition (`ShapeUtil::ArrayDataSize`). In the layouts of TPUs, only padding follows that element. But a tile can reorder earlier
/// tiles: in `s32[7,8]{1,0:T(2,4)(2,1,1,1)}`, row 5 is after row 6. [`ArrayShape::array_size`] always covers all elements.
///
/// ```
/// use xla_shape_parity::shape_util::array_data_size;
///
/// let shape: xla_shape_core::ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// assert_eq!((array_data_size(&shape), shape.array_size()), (Some(84), Some(96)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn array_data_size(array: &ArrayShape) -> Option<u64> {
    let table = array.stride_table().ok()?;
    if array.is_zero_element_array() {
        return Some(0);
    }
    let last = table.as_ref().extents().iter().map(|extent| extent.saturating_sub(1)).collect::<Vec<_>>();
    bytes_of(array, table.as_ref().linear_index(&last).saturating_add(1))
}

/// The stride of each dimension, in bytes. `None` if the layout has tiles, elements are not whole bytes, or a
/// stride depends on an unbounded dimension.
///
/// ```
/// use xla_shape_parity::shape_util::byte_strides;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]{0,2,1}".parse()?;
/// assert_eq!(byte_strides(&shape), Some(vec![4, 40, 8]));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn byte_strides(array: &ArrayShape) -> Option<Vec<u64>> {
    if !array.layout().is_untiled() || !array.element_bits().is_multiple_of(8) {
        return None;
    }
    let mut strides = vec![0; array.num_dimensions()];
    let mut stride = array.element_bits().checked_div(8);
    for &dimension in array.layout().minor_to_major() {
        // The product of all sizes may be too large, because no stride uses it.
        *strides.get_mut(dimension)? = stride?;
        let extent = array.dimensions().get(dimension)?.extent();
        stride = stride.zip(extent).and_then(|(stride, extent)| stride.checked_mul(extent));
    }
    Some(strides)
}

/// Whether all dimensions that are more major in memory than this one have size 1; `false` if the array does not have this dimension.
///
/// ```
/// use xla_shape_parity::shape_util::is_effectively_most_major_dimension;
///
/// let shape: xla_shape_core::ArrayShape = "f32[1,4,5]".parse()?;
/// let most_major = [0, 1, 2].map(|dimension| is_effectively_most_major_dimension(&shape, dimension));
/// assert_eq!(most_major, [true, true, false]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn is_effectively_most_major_dimension(array: &ArrayShape, dimension: impl Into<DimensionNumber>) -> bool {
    let Ok(dimension) = array.get_dimension_number(dimension) else { return false };
    let size = |number: usize| array.dimensions().get(number).and_then(|dimension| dimension.extent());
    let first =
        array.layout().minor_to_major().iter().rev().find(|&&other| other == dimension || size(other) != Some(1));
    first == Some(&dimension)
}

/// How many elements of neighbouring rows are interleaved in a one-dimensional array with three tiles: the first
/// entry of the third tile, if that has two entries. `None` for other arrays.
///
/// ```
/// use xla_shape_parity::shape_util::packed_factor_for_1d_interleaved_array;
///
/// let shape: xla_shape_core::ArrayShape = "bf16[1024]{0:T(1024)(128)(2,1)}".parse()?;
/// assert_eq!(packed_factor_for_1d_interleaved_array(&shape), Some(2));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn packed_factor_for_1d_interleaved_array(array: &ArrayShape) -> Option<u64> {
    match (array.num_dimensions(), array.layout().tiles()) {
        (1, [_, _, third]) => match third.dimensions() {
            &[TileDimension::Size(factor), _] => Some(factor),
            _ => None,
        },
        _ => None,
    }
}

/// The number of elements of all arrays in the shape; `None` if a dimension is unbounded, or the sum does not fit
/// in a `u64`.
///
/// ```
/// use xla_shape_parity::shape_util::elements_in_recursive;
///
/// let shape: xla_shape_core::Shape = "(f32[2,3], (token[], s8[4]))".parse()?;
/// assert_eq!(elements_in_recursive(&shape), Some(10));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn elements_in_recursive(shape: &Shape) -> Option<u64> {
    shape.arrays().try_fold(0_u64, |sum, array| sum.checked_add(array.elements()?))
}

/// The bytes of the value's top-level buffer: for an array, its elements without padding; for a tuple, one pointer
/// of `pointer_size` bytes for each element; for an opaque value, one pointer. `None` if a dimension is unbounded,
/// or the result does not fit in a `u64`. XLA's `ShapeUtil::ByteSizeOf`.
///
/// ```
/// use xla_shape_parity::shape_util::byte_size_of;
///
/// let shape: xla_shape_core::Shape = "(f32[2,3], (token[], s8[4]))".parse()?;
/// assert_eq!(byte_size_of(&shape, 8), Some(2 * 8)); // two pointers
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn byte_size_of(shape: &Shape, pointer_size: u64) -> Option<u64> {
    match shape {
        Shape::Array(array) | Shape::Buffer(array) => byte_size_of_elements(array),
        Shape::Tuple(elements) => (elements.len() as u64).checked_mul(pointer_size),
        Shape::Opaque => Some(pointer_size),
        Shape::Token => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index_util::get_dimension_stride;
    use crate::layout_util::byte_strides_is_major_to_minor;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    #[test]
    fn strides_need_an_untiled_layout_of_whole_bytes() {
        assert_eq!(byte_strides(&array("f32[2,3]{1,0:T(2)}")), None);
        assert_eq!(byte_strides(&array("s4[2,3]{1,0:E(4)}")), None);
        assert_eq!(byte_strides(&array("f32[2,?]")), None);
        assert_eq!(byte_strides(&array("f32[?,2]")), Some([8, 4].into()));
        assert_eq!(get_dimension_stride(&array("f32[5,8,10,4]"), 1), Some(40));
        assert_eq!(get_dimension_stride(&array("f32[5,8]{0,1}"), -1), Some(5));
        assert_eq!(get_dimension_stride(&array("f32[5,8]{1,0:T(8)}"), 0), None);
        assert_eq!(get_dimension_stride(&array("f32[5]"), 1), None);
        let strides = byte_strides(&array("f32[2,3,5]")).unwrap();
        assert!(byte_strides_is_major_to_minor(&strides, &[2, 3, 5], ElementType::F32));
        assert!(!byte_strides_is_major_to_minor(&strides, &[2, 3, 5], ElementType::F64));
        assert!(!byte_strides_is_major_to_minor(&[4, 8], &[2, 2], ElementType::F32));
        assert!(!byte_strides_is_major_to_minor(&[4], &[2, 2], ElementType::F32));
    }

    #[test]
    fn data_end_with_the_last_element() {
        assert_eq!(array_data_size(&array("f32[3,5]{1,0:T(2,2)L(1024)M(8)}")), Some(84));
        assert_eq!(array("f32[3,5]{1,0:T(2,2)L(1024)M(8)}").array_size(), Some(4096));
        assert_eq!(array_data_size(&array("f32[0,5]{1,0:T(2,2)}")), Some(0));
        assert_eq!(array_data_size(&array("s4[5]{0:E(4)}")), Some(3));
        assert_eq!(array_data_size(&array("f32[?]")), None);
        let reordered = array("s32[7,8]{1,0:T(2,4)(2,1,1,1)}");
        let table = reordered.stride_table().unwrap();
        let last = table.as_ref().linear_index(&[6, 7]);
        assert_eq!(array_data_size(&reordered), Some((last + 1) * 4));
        assert!(table.as_ref().linear_index(&[5, 7]) > last);
    }

    #[test]
    fn more_major_dimensions_of_size_1_do_not_count() {
        let shape = array("f32[4,1,5,1]{2,0,1,3}");
        let most_major = |dimension: i32| is_effectively_most_major_dimension(&shape, dimension);
        assert_eq!([0, 1, 2, 3, 4].map(most_major), [true, true, false, true, false]);
    }

    #[test]
    fn packed_rows_are_counted() {
        assert_eq!(packed_factor_for_1d_interleaved_array(&array("bf16[1024]{0:T(1024)(128)(2,1)}")), Some(2));
        assert_eq!(packed_factor_for_1d_interleaved_array(&array("bf16[8,128]{1,0:T(8,128)(2,1)}")), None);
    }

    #[test]
    fn sums_over_tuples() {
        let shape: Shape = "(f32[2,3], (token[], s8[4]), b(u8[5]))".parse().unwrap();
        assert_eq!(elements_in_recursive(&shape), Some(15));
        assert_eq!(byte_size_of(&shape, 8), Some(24));
        assert_eq!(byte_size_of(&Shape::Opaque, 8), Some(8));
        assert_eq!(byte_size_of(&Shape::Token, 8), Some(0));
        assert_eq!(byte_size_of(&shape, u64::MAX), None);
        let unbounded: Shape = "(f32[?])".parse().unwrap();
        assert_eq!(elements_in_recursive(&unbounded), None);
        let huge: Shape = "(s8[9223372036854775807], s8[9223372036854775807], s8[2])".parse().unwrap();
        assert_eq!(elements_in_recursive(&huge), None);
    }
}
