//! Dynamic dimensions: bounds, unbounded sizes, and replacing them by static sizes.

use super::EachArray;
use super::transform::with_parts;
use xla_shape_core::{ArrayShape, Dimension, DimensionError, DimensionNumber, Shape, TransformError};

type Result<T> = core::result::Result<T, TransformError>;

/// Whether a dimension has a bound instead of a static size.
///
/// ```
/// use xla_shape_parity::shape_util::is_bounded_dynamic;
///
/// let shape: xla_shape_core::Shape = "f32[<=8,128]".parse()?;
/// assert!(is_bounded_dynamic(&shape));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn is_bounded_dynamic(shape: &Shape) -> bool {
    let is_bounded = |dimension: &Dimension| matches!(dimension, Dimension::Bounded(_));
    shape.arrays().any(|array| array.dimensions().iter().any(is_bounded))
}

/// The array with every bound replaced by a static size, and without the metadata prefix. XLA's
/// `ShapeUtil::MakeStaticShape`.
///
/// ```
/// use xla_shape_parity::shape_util::make_static_shape;
///
/// let shape: xla_shape_core::ArrayShape = "f32[<=8,128]".parse()?;
/// assert_eq!(make_static_shape(&shape)?.to_string(), "f32[8,128]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If a dimension is unbounded.
pub fn make_static_shape<S: EachArray>(shape: &S) -> Result<S> {
    shape.each_array(|array| {
        if let Some(dimension) = array.dimensions().iter().position(|&dimension| dimension == Dimension::Unbounded) {
            return Err(TransformError::UnboundedDimension { dimension });
        }
        let sizes = array.dimensions().iter().filter_map(|dimension| dimension.extent()).map(Dimension::Static);
        with_parts(&array, sizes, array.layout().clone().with_dynamic_shape_metadata_prefix_bytes(0)?)
    })
}

/// The array with this dimension made bounded (`dynamic`) or static: its size becomes its bound, or its bound becomes its size. If `dynamic`,
/// an unbounded dimension stays unbounded.
///
/// ```
/// use xla_shape_parity::shape_util::set_dynamic_dimension;
///
/// let shape: xla_shape_core::ArrayShape = "f32[<=8,128]".parse()?;
/// assert_eq!(set_dynamic_dimension(&shape, 1, true)?.to_string(), "f32[<=8,<=128]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such dimension, or it is unbounded and `dynamic` is false.
pub fn set_dynamic_dimension(
    array: &ArrayShape,
    dimension: impl Into<DimensionNumber>,
    dynamic: bool,
) -> Result<ArrayShape> {
    let dimension = array.get_dimension_number(dimension)?;
    let mut sizes = array.dimensions().to_vec();
    if let Some(size) = sizes.get_mut(dimension) {
        *size = match (*size, dynamic) {
            (Dimension::Static(size), true) => Dimension::Bounded(size),
            (Dimension::Bounded(bound), false) => Dimension::Static(bound),
            (Dimension::Unbounded, false) => return Err(TransformError::UnboundedDimension { dimension }),
            (same, _) => same,
        };
    }
    with_parts(array, sizes.into_iter(), array.layout().clone())
}

/// The array with each dimension dynamic where it is dynamic in `from`, and static elsewhere. XLA's
/// `ShapeUtil::CopyDynamicDimensions`.
///
/// ```
/// use xla_shape_parity::shape_util::copy_dynamic_dimensions;
///
/// let shape: xla_shape_core::ArrayShape = "f32[<=8,128]".parse()?;
/// let other: xla_shape_core::ArrayShape = "s8[16,<=256]".parse()?;
/// assert_eq!(copy_dynamic_dimensions(&shape, &other)?.to_string(), "f32[8,<=128]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the numbers of dimensions differ, or an unbounded dimension is not dynamic in `from`.
pub fn copy_dynamic_dimensions(array: &ArrayShape, from: &ArrayShape) -> Result<ArrayShape> {
    if !array.same_rank(from) {
        let num_dimensions = array.num_dimensions();
        return Err(DimensionError::CountMismatch { num_dimensions, entries: from.num_dimensions() }.into());
    }
    let dynamic = from.dimensions().iter().map(|dimension| dimension.is_dynamic());
    dynamic
        .enumerate()
        .try_fold(array.clone(), |array, (dimension, dynamic)| set_dynamic_dimension(&array, dimension, dynamic))
}

/// Makes a dimension of the array at `index` bounded (`dynamic`) or static, as
/// [`set_dynamic_dimension`] does. XLA's `ShapeUtil::UpdateDynamicDimension`.
///
/// ```
/// use xla_shape_parity::shape_util::update_dynamic_dimension;
///
/// let mut shape: xla_shape_core::Shape = "(token[], f32[8,128])".parse()?;
/// update_dynamic_dimension(&mut shape, &[1], 0, true)?;
/// assert_eq!(shape.to_string(), "(token[], f32[<=8,128]{1,0})");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no array at `index`, it has no such dimension, or the dimension is unbounded and `dynamic` is false.
pub fn update_dynamic_dimension(
    shape: &mut Shape,
    index: &[usize],
    dimension: impl Into<DimensionNumber>,
    dynamic: bool,
) -> Result<()> {
    let changed = match shape.get_subshape(index) {
        Some(Shape::Array(array)) => Shape::Array(set_dynamic_dimension(array, dimension, dynamic)?),
        Some(Shape::Buffer(array)) => Shape::Buffer(set_dynamic_dimension(array, dimension, dynamic)?),
        _ => return Err(TransformError::NoSuchPart),
    };
    shape.update_subshape(index, changed).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    #[test]
    fn bounds_become_sizes_and_sizes_bounds() {
        assert_eq!(make_static_shape(&array("f32[<=4,2]{1,0:M(8)}")), Ok(array("f32[4,2]")));
        let error = make_static_shape(&array("f32[2,?]")).unwrap_err();
        assert_eq!(error.to_string(), "expected dimension 1 to have a size or a bound, found `?`");
        assert_eq!(set_dynamic_dimension(&array("f32[4,2]"), -1, true), Ok(array("f32[4,<=2]")));
        assert_eq!(set_dynamic_dimension(&array("f32[4,<=2]"), 1, false), Ok(array("f32[4,2]")));
        assert!(set_dynamic_dimension(&array("f32[?]"), 0, false).is_err());
        assert_eq!(copy_dynamic_dimensions(&array("f32[4,<=2]"), &array("s8[<=9,7]")), Ok(array("f32[<=4,2]")));
        assert!(copy_dynamic_dimensions(&array("f32[4]"), &array("f32[4,4]")).is_err());
        let mut tuple: Shape = "(f32[2], (s32[3], token[]))".parse().unwrap();
        update_dynamic_dimension(&mut tuple, &[1, 0], 0, true).unwrap();
        assert_eq!(tuple.to_string(), "(f32[2]{0}, (s32[<=3]{0}, token[]))");
        assert!(update_dynamic_dimension(&mut tuple, &[1, 1], 0, true).is_err());
        assert!(update_dynamic_dimension(&mut tuple, &[1], 0, true).is_err());
    }
}
