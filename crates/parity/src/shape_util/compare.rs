//! Comparisons of shapes: combinations of the options of [`ShapeEqual`].

use xla_shape_core::compare::ShapeEqual;
use xla_shape_core::{ArrayShape, Shape};

/// [`compatible`](Shape::compatible), ignoring element types.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::compatible_ignoring_element_type;
///
/// let (a, b): (Shape, Shape) = ("f32[2,3]".parse()?, "s8[2,3]".parse()?);
/// assert!(compatible_ignoring_element_type(&a, &b) && !a.compatible(&b));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn compatible_ignoring_element_type(shape: &Shape, other: &Shape) -> bool {
    ShapeEqual::new().ignore_dynamic_dimension().ignore_element_type().ignore_layout().compare(shape, other)
}

/// [`compatible`](Shape::compatible), with all floating-point types treated as equal.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::compatible_ignoring_fp_precision;
///
/// let (a, b): (Shape, Shape) = ("f32[2,3]".parse()?, "bf16[2,3]".parse()?);
/// assert!(compatible_ignoring_fp_precision(&a, &b) && !a.compatible(&b));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn compatible_ignoring_fp_precision(shape: &Shape, other: &Shape) -> bool {
    ShapeEqual::new().ignore_dynamic_dimension().ignore_fp_precision().ignore_layout().compare(shape, other)
}

/// Whether the tuple structures are the same, leaves are of the same kind, and arrays have the same number of
/// dimensions. XLA's `ShapeUtil::CompatibleKind`.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::compatible_kind;
///
/// let (a, b): (Shape, Shape) = ("(f32[2,3], token[])".parse()?, "(s8[5,7], token[])".parse()?);
/// assert!(compatible_kind(&a, &b));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn compatible_kind(shape: &Shape, other: &Shape) -> bool {
    let equal = ShapeEqual::new().ignore_dynamic_dimension().ignore_dimensions();
    equal.ignore_element_type().ignore_layout().compare(shape, other)
}

/// Whether the shapes are equal, ignoring element types.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::equal_ignoring_element_type;
///
/// let (a, b): (Shape, Shape) = ("f32[2,3]".parse()?, "s8[2,3]".parse()?);
/// assert!(equal_ignoring_element_type(&a, &b));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn equal_ignoring_element_type(shape: &Shape, other: &Shape) -> bool {
    ShapeEqual::new().ignore_element_type().compare(shape, other)
}

/// Whether the shapes are equal, with all floating-point types treated as equal.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::equal_ignoring_fp_precision;
///
/// let (a, b): (Shape, Shape) = ("f32[2,3]".parse()?, "bf16[2,3]".parse()?);
/// assert!(equal_ignoring_fp_precision(&a, &b));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn equal_ignoring_fp_precision(shape: &Shape, other: &Shape) -> bool {
    ShapeEqual::new().ignore_fp_precision().compare(shape, other)
}

/// Whether the element types are the same, or both floating-point types.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_parity::shape_util::same_element_type_ignoring_fp_precision;
///
/// let (a, b): (ArrayShape, ArrayShape) = ("f32[2]".parse()?, "bf16[2]".parse()?);
/// assert!(same_element_type_ignoring_fp_precision(&a, &b));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn same_element_type_ignoring_fp_precision(array: &ArrayShape, other: &ArrayShape) -> bool {
    ShapeEqual::new().ignore_fp_precision().same_element_type(array.element_type(), other.element_type())
}

/// Whether `to` has the same element type or a more precise one. XLA's `ShapeUtil::ElementCanUpcast`.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_parity::shape_util::element_can_upcast;
///
/// let (a, b): (ArrayShape, ArrayShape) = ("bf16[2]".parse()?, "f32[2]".parse()?);
/// assert!(element_can_upcast(&a, &b) && !element_can_upcast(&b, &a));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn element_can_upcast(array: &ArrayShape, to: &ArrayShape) -> bool {
    array.higher_precision_element_type(to) == Some(to.element_type())
}
