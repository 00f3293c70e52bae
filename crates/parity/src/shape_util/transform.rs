//! Transformations: dimensions deleted and added, other element types and layouts.
//!
//! The layout follows the dimensions: tiles and attributes stay, the order keeps the remaining dimensions in place, and
//! splits stay with their dimensions.

use super::EachArray;
use alloc::vec::Vec;
use xla_shape_core::{
    ArrayShape, Dimension, DimensionError, DimensionNumber, ElementType, Layout, LayoutAttributes, TransformError,
    distinct_dimensions,
};

type Result<T> = core::result::Result<T, TransformError>;

static SCALAR: Layout = Layout::from_static(&[], &[], LayoutAttributes::DEFAULT);

/// The array with other dimensions and another layout.
pub(super) fn with_parts(
    array: &ArrayShape,
    dimensions: impl Iterator<Item = Dimension>,
    layout: Layout,
) -> Result<ArrayShape> {
    Ok(ArrayShape::new(array.element_type(), &dimensions.collect::<Vec<_>>(), layout)?)
}

/// A scalar in the default layout.
///
/// ```
/// use xla_shape_core::{ArrayShape, ElementType};
/// use xla_shape_parity::shape_util::make_scalar_shape;
///
/// assert_eq!(make_scalar_shape(ElementType::F32).to_string(), "f32[]");
/// ```
#[must_use]
pub const fn make_scalar_shape(element_type: ElementType) -> ArrayShape {
    ArrayShape::from_static(element_type, &[], &SCALAR)
}

/// The size of a dimension.
///
/// ```
/// use xla_shape_core::{ArrayShape, Dimension, DimensionNumber};
/// use xla_shape_parity::shape_util::get_dimension;
///
/// let shape: ArrayShape = "f32[2,<=3,5]".parse()?;
/// assert_eq!(get_dimension(&shape, -1)?, Dimension::Static(5));
/// assert_eq!(get_dimension(&shape, DimensionNumber::Y)?, Dimension::Bounded(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such dimension.
pub fn get_dimension(
    array: &ArrayShape,
    dimension: impl Into<DimensionNumber>,
) -> core::result::Result<Dimension, DimensionError> {
    let number = dimension.into();
    let out_of_range = DimensionError::OutOfRange { number: number.number(), num_dimensions: array.num_dimensions() };
    array.dimensions().get(array.get_dimension_number(number)?).copied().ok_or(out_of_range)
}

/// The array with its dimensions in the order of memory, from major to minor, and the default order as its layout's
/// order. Every element keeps its position.
///
/// ```
/// use xla_shape_parity::shape_util::make_shape_with_descending_layout_and_same_physical_layout;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3,5,7]{0,3,2,1}".parse()?;
/// let physical = make_shape_with_descending_layout_and_same_physical_layout(&shape)?;
/// assert_eq!(physical.to_string(), "f32[3,5,7,2]{3,2,1,0}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a size of 0 comes after sizes whose product overflows.
pub fn make_shape_with_descending_layout_and_same_physical_layout(array: &ArrayShape) -> Result<ArrayShape> {
    array.permute_dimensions(array.layout().minor_to_major().iter().rev().copied())
}

/// The array without this dimension.
///
/// ```
/// use xla_shape_parity::shape_util::delete_dimension;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]{0,2,1}".parse()?;
/// assert_eq!(delete_dimension(&shape, 0)?.to_string(), "f32[3,5]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such dimension.
pub fn delete_dimension(array: &ArrayShape, dimension: impl Into<DimensionNumber>) -> Result<ArrayShape> {
    delete_dimensions(array, [dimension])
}

/// The array without these dimensions.
///
/// ```
/// use xla_shape_parity::shape_util::delete_dimensions;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3,5,7]".parse()?;
/// assert_eq!(delete_dimensions(&shape, [0, -1])?.to_string(), "f32[3,5]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such dimension, or one is named twice.
pub fn delete_dimensions(
    array: &ArrayShape,
    dimensions: impl IntoIterator<Item = impl Into<DimensionNumber>>,
) -> Result<ArrayShape> {
    let deleted = distinct_dimensions(dimensions, array.num_dimensions())?;
    filter_dimensions(array, |dimension| !deleted.contains(&dimension))
}

/// The array with only the dimensions for which `keep` returns true.
///
/// ```
/// use xla_shape_parity::shape_util::filter_dimensions;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]".parse()?;
/// assert_eq!(filter_dimensions(&shape, |dimension| dimension != 1)?.to_string(), "f32[2,5]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the result is too large: a size of 0 was removed, or the tiles now pad other dimensions.
pub fn filter_dimensions(array: &ArrayShape, keep: impl FnMut(usize) -> bool) -> Result<ArrayShape> {
    let kept = (0..array.num_dimensions()).map(keep).collect::<Vec<_>>();
    let sizes = array.dimensions().iter().zip(&kept).filter(|(_, kept)| **kept).map(|(&size, _)| size);
    with_parts(array, sizes, array.layout().with_kept_dimensions(&kept))
}

/// Whether a dimension has size 1.
///
/// ```
/// use xla_shape_parity::shape_util::has_degenerate_dimensions;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,1,3]".parse()?;
/// assert!(has_degenerate_dimensions(&shape));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn has_degenerate_dimensions(array: &ArrayShape) -> bool {
    array.dimensions().iter().any(|dimension| dimension.extent() == Some(1))
}

/// The array without its dimensions of size 1.
///
/// ```
/// use xla_shape_parity::shape_util::drop_degenerate_dimensions;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,1,3]{1,2,0}".parse()?;
/// assert_eq!(drop_degenerate_dimensions(&shape)?.to_string(), "f32[2,3]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the result is too large, because the tiles now pad other dimensions.
pub fn drop_degenerate_dimensions(array: &ArrayShape) -> Result<ArrayShape> {
    let sizes = array.dimensions();
    filter_dimensions(array, |dimension| sizes.get(dimension).and_then(|size| size.extent()) != Some(1))
}

/// The array with a dimension added after the others. It is the most major one in memory.
///
/// ```
/// use xla_shape_parity::shape_util::append_major_dimension;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
/// assert_eq!(append_major_dimension(&shape, 7)?.to_string(), "f32[2,3,7]{1,0,2}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the result is too large.
pub fn append_major_dimension(array: &ArrayShape, dimension: impl Into<Dimension>) -> Result<ArrayShape> {
    array.insert_dimension(-1, dimension.into(), array.num_dimensions())
}

/// The array with a dimension added before the others. It is the most major one in memory.
///
/// ```
/// use xla_shape_parity::shape_util::prepend_major_dimension;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
/// assert_eq!(prepend_major_dimension(&shape, 7)?.to_string(), "f32[7,2,3]{2,1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the result is too large.
pub fn prepend_major_dimension(array: &ArrayShape, dimension: impl Into<Dimension>) -> Result<ArrayShape> {
    array.insert_dimension(0, dimension.into(), array.num_dimensions())
}

/// The array with a dimension added after the others. It is the most minor one in memory.
///
/// ```
/// use xla_shape_parity::shape_util::append_minor_dimension;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
/// assert_eq!(append_minor_dimension(&shape, 7)?.to_string(), "f32[2,3,7]{2,1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the result is too large.
pub fn append_minor_dimension(array: &ArrayShape, dimension: impl Into<Dimension>) -> Result<ArrayShape> {
    array.insert_dimension(-1, dimension.into(), 0)
}

/// The arrays of a shape with this dimension moved to the most major place in memory.
///
/// ```
/// use xla_shape_parity::shape_util::move_dim_to_major;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]".parse()?;
/// assert_eq!(move_dim_to_major(&shape, 2)?.to_string(), "f32[2,3,5]{1,0,2}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such dimension, or the result is too large with padding.
pub fn move_dim_to_major<S: EachArray>(shape: &S, dimension: impl Into<DimensionNumber>) -> Result<S> {
    let dimension = dimension.into();
    shape.each_array(|array| {
        let layout = array.layout().move_dim_to_major(dimension)?;
        Ok(array.with_layout(layout)?)
    })
}

/// The array with this dimension moved to the most minor place in memory.
///
/// ```
/// use xla_shape_parity::shape_util::move_dim_to_minor;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]".parse()?;
/// assert_eq!(move_dim_to_minor(&shape, 0)?.to_string(), "f32[2,3,5]{0,2,1}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such dimension, or the result is too large with padding.
pub fn move_dim_to_minor(array: &ArrayShape, dimension: impl Into<DimensionNumber>) -> Result<ArrayShape> {
    Ok(array.clone().with_layout(array.layout().move_dim_to_minor(dimension)?)?)
}

/// The arrays of a shape with another element type. `E(n)` is kept only if the new type has less than 8 bits (and is not
/// `pred`).
///
/// ```
/// use xla_shape_core::{ArrayShape, ElementType};
/// use xla_shape_parity::shape_util::change_element_type;
///
/// let shape: ArrayShape = "f32[2,3]{0,1}".parse()?;
/// assert_eq!(change_element_type(&shape, ElementType::Bf16)?.to_string(), "bf16[2,3]{0,1}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the result is too large.
pub fn change_element_type<S: EachArray>(shape: &S, element_type: ElementType) -> Result<S> {
    shape.each_array(|array| {
        let layout = array.layout().clone();
        let layout = if element_type.is_sub_byte_non_pred() { layout } else { layout.with_element_size_in_bits(0)? };
        Ok(ArrayShape::new(element_type, array.dimensions(), layout)?)
    })
}

/// The shape of the array of real parts (or of imaginary parts) of a complex array.
///
/// ```
/// use xla_shape_parity::shape_util::complex_component_shape;
///
/// let shape: xla_shape_core::ArrayShape = "c64[2]".parse()?;
/// assert_eq!(complex_component_shape(&shape)?.to_string(), "f32[2]{0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the elements are not complex.
pub fn complex_component_shape(array: &ArrayShape) -> Result<ArrayShape> {
    let element_type = array.element_type();
    let component = element_type.complex_component_type().ok_or(TransformError::NotComplex { element_type })?;
    change_element_type(array, component)
}

/// The arrays of a shape as the host stores them: with the same order of dimensions, without tiles, memory space, splits,
/// alignment, packing and prefix. XLA's `ShapeUtil::DeviceShapeToHostShape`.
///
/// ```
/// use xla_shape_parity::shape_util::device_shape_to_host_shape;
///
/// let shape: xla_shape_core::ArrayShape = "f32[2,3]{0,1:T(2,4)S(1)}".parse()?;
/// assert_eq!(device_shape_to_host_shape(&shape)?.to_string(), "f32[2,3]{0,1}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the result is too large, because the elements are no longer packed.
pub fn device_shape_to_host_shape<S: EachArray>(shape: &S) -> Result<S> {
    shape.each_array(|array| {
        let layout = Layout::new(array.layout().minor_to_major())?;
        Ok(array.with_layout(layout)?)
    })
}

/// The arrays of a shape with `E(n)` set to the element type's bits, if `pack` and the type can be packed, or without `E(n)`.
///
/// ```
/// use xla_shape_parity::shape_util::update_element_size_in_bits;
///
/// let shape: xla_shape_core::ArrayShape = "s4[16]".parse()?;
/// assert_eq!(update_element_size_in_bits(&shape, true)?.to_string(), "s4[16]{0:E(4)}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the result is too large, because the elements are no longer packed.
pub fn update_element_size_in_bits<S: EachArray>(shape: &S, pack: bool) -> Result<S> {
    shape.each_array(|array| {
        let element_type = array.element_type();
        let bits = if pack && element_type.is_sub_byte_non_pred() { element_type.bits() } else { 0 };
        let layout = array.layout().clone().with_element_size_in_bits(bits)?;
        Ok(array.with_layout(layout)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout_util::{clear_tiles, copy_layout_between_shapes, get_with_default_layout};
    use alloc::string::{String, ToString};
    use xla_shape_core::Shape;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    fn text(result: Result<ArrayShape>) -> String {
        result.unwrap().to_string()
    }

    #[test]
    fn dimensions_are_inserted_and_deleted() {
        let shape = array("bf16[2,1,3]{1,2,0:T(8,128)(2,1)S(1)}");
        assert_eq!(text(delete_dimension(&shape, 1)), "bf16[2,3]{1,0:T(8,128)(2,1)S(1)}");
        assert_eq!(text(delete_dimensions(&shape, [0, -1])), "bf16[1]{0:T(8,128)(2,1)S(1)}");
        assert_eq!(text(filter_dimensions(&shape, |d| d == 0)), "bf16[2]{0:T(8,128)(2,1)S(1)}");
        assert_eq!(text(drop_degenerate_dimensions(&shape)), "bf16[2,3]{1,0:T(8,128)(2,1)S(1)}");
        assert!(has_degenerate_dimensions(&shape) && !has_degenerate_dimensions(&array("f32[2]")));
        let shape = array("f32[2,3]{0,1:SC(0:2)}");
        assert_eq!(text(append_major_dimension(&shape, 7)), "f32[2,3,7]{0,1,2:SC(1:2)}");
        assert_eq!(text(append_minor_dimension(&shape, 7)), "f32[2,3,7]{2,0,1:SC(0:2)}");
        assert_eq!(text(prepend_major_dimension(&shape, Dimension::Bounded(7))), "f32[<=7,2,3]{1,2,0:SC(1:2)}");
    }

    #[test]
    fn every_error_has_its_message() {
        let shape = array("f32[2,3]");
        let message = |result: Result<ArrayShape>| result.unwrap_err().to_string();
        assert_eq!(message(delete_dimension(&shape, 2)), "expected a dimension number from -2 to 1, found 2");
        assert_eq!(message(delete_dimensions(&shape, [0, 0])), "dimension 0 is named twice");
        assert_eq!(message(shape.permute_dimensions([0])), "expected one entry for each of 2 dimensions, found 1");
        assert_eq!(
            message(shape.insert_dimension(3, 1.into(), 0)),
            "expected a dimension number from -3 to 2, found 3"
        );
        assert_eq!(
            message(shape.insert_dimension(0, 1.into(), 3)),
            "expected a dimension number from -3 to 2, found 3"
        );
        assert_eq!(message(complex_component_shape(&shape)), "expected a complex element type, found f32");
        assert_eq!(
            message(append_major_dimension(&shape, u64::MAX)),
            "expected a dimension's size that fits in an i64, found 18446744073709551615"
        );
        assert_eq!(
            message(delete_dimension(&array("f32[0,9223372036854775807]"), 0)),
            "expected a number of bytes that fits in an i64, found more"
        );
        assert_eq!(TransformError::StructureMismatch.to_string(), "the tuples have different structures");
    }

    #[test]
    fn element_types_change_with_their_packing() {
        let packed = array("s4[16]{0:T(64)E(4)}");
        assert_eq!(text(change_element_type(&packed, ElementType::U4)), "u4[16]{0:T(64)E(4)}");
        assert_eq!(text(change_element_type(&packed, ElementType::S8)), "s8[16]{0:T(64)}");
        assert_eq!(text(update_element_size_in_bits(&packed, false)), "s4[16]{0:T(64)}");
        assert_eq!(text(update_element_size_in_bits(&array("s2[16]"), true)), "s2[16]{0:E(2)}");
        assert_eq!(text(update_element_size_in_bits(&array("pred[16]"), true)), "pred[16]{0}");
        assert_eq!(text(complex_component_shape(&array("c64[2]{0:T(2)}"))), "f32[2]{0:T(2)}");
    }

    #[test]
    fn a_host_shape_has_only_the_order() {
        let shape: Shape =
            "(s4[16,256]{0,1:T(8,128)L(1024)E(4)S(5)SC(0:5)M(8)}, token[], b(f32[2]{0:S(1)}))".parse().unwrap();
        let host = device_shape_to_host_shape(&shape.clone()).unwrap();
        assert_eq!(host.to_string(), "(s4[16,256]{0,1}, token[], b(f32[2]{0}))");
        let default = get_with_default_layout(&shape.clone()).unwrap();
        assert_eq!(default.to_string(), "(s4[16,256]{1,0}, token[], b(f32[2]{0}))");
        let untiled = clear_tiles(&shape).unwrap();
        assert_eq!(untiled.to_string(), "(s4[16,256]{0,1:L(1024)E(4)S(5)SC(0:5)M(8)}, token[], b(f32[2]{0:S(1)}))");
    }

    #[test]
    fn layouts_are_copied_between_shapes_of_the_same_structure() {
        let source: Shape = "(f32[2,3]{0,1:T(4)}, (u8[4]{0:S(1)}, token[]))".parse().unwrap();
        let mut target: Shape = "(s8[5,7], (pred[9], token[]))".parse().unwrap();
        copy_layout_between_shapes(&source, &mut target).unwrap();
        assert_eq!(target.to_string(), "(s8[5,7]{0,1:T(4)}, (pred[9]{0:S(1)}, token[]))");
        for other in ["(s8[5,7], pred[9])", "(s8[5], (pred[9], token[]))", "(s8[5,7], (token[], token[]))"] {
            let mut target: Shape = other.parse().unwrap();
            let before = target.clone();
            assert!(copy_layout_between_shapes(&source, &mut target).is_err(), "{other}");
            assert_eq!(target, before);
        }
    }
}
