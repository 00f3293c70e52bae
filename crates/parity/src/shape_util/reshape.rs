//! Which dimensions a reshape leaves unmodified.

use alloc::vec::Vec;
use xla_shape_core::ArrayShape;
use xla_shape_core::map::common_factors;

/// The dimensions of size 1 by which two shapes differ. XLA's `ShapeUtil::ShapeEqualityDescriptor`.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_parity::shape_util::inserted_or_deleted_1_sized_dimensions;
///
/// let (input, output): (ArrayShape, ArrayShape) = ("f32[1,3,5]".parse()?, "f32[3,1,5]".parse()?);
/// let change = inserted_or_deleted_1_sized_dimensions(&input, &output).unwrap();
/// assert_eq!((change.deleted_dimensions, change.inserted_dimensions), (vec![0], vec![1]));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShapeEqualityDescriptor {
    /// Dimensions of the first shape that the second lacks.
    pub deleted_dimensions: Vec<usize>,
    /// Dimensions of the second shape that the first lacks.
    pub inserted_dimensions: Vec<usize>,
}

/// The dimensions that a reshape to `output` leaves unmodified: pairs of a dimension of this array and one of
/// `output`, ascending, in which every element has the same index. `None` if there is no such reshape, or a
/// dimension is unbounded.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_parity::shape_util::dimensions_unmodified_by_reshape;
///
/// let input: ArrayShape = "f32[2,3,5,7,143]".parse()?;
/// let output: ArrayShape = "f32[6,5,1,7,11,13]".parse()?;
/// assert_eq!(dimensions_unmodified_by_reshape(&input, &output), Some(vec![(2, 1), (3, 3)]));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn dimensions_unmodified_by_reshape(array: &ArrayShape, output: &ArrayShape) -> Option<Vec<(usize, usize)>> {
    let bounds = common_factors(&extents(array)?, &extents(output)?)?;
    let alone = |(start, end): (&(usize, usize), &(usize, usize))| {
        (end.0.abs_diff(start.0) == 1 && end.1.abs_diff(start.1) == 1).then_some(*start)
    };
    Some(bounds.iter().zip(bounds.iter().skip(1)).filter_map(alone).collect())
}

/// The dimensions of `output` that correspond to the given dimensions, if a reshape to `output` leaves all of them
/// unmodified. `None` if it does not, or if `dimensions` is not sorted.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_parity::shape_util::reshape_leaves_dimensions_unmodified;
///
/// let (input, output): (ArrayShape, ArrayShape) = ("f32[2,3,5,7]".parse()?, "f32[6,5,7]".parse()?);
/// assert_eq!(reshape_leaves_dimensions_unmodified(&input, &output, &[2, 3]), Some(vec![1, 2]));
/// assert_eq!(reshape_leaves_dimensions_unmodified(&input, &output, &[0]), None);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn reshape_leaves_dimensions_unmodified(
    array: &ArrayShape,
    output: &ArrayShape,
    dimensions: &[usize],
) -> Option<Vec<usize>> {
    let unmodified = dimensions_unmodified_by_reshape(array, output)?;
    let new_number = |dimension: &usize| {
        unmodified
            .binary_search_by_key(dimension, |&(old, _)| old)
            .ok()
            .and_then(|i| unmodified.get(i))
            .map(|pair| pair.1)
    };
    dimensions.is_sorted().then(|| dimensions.iter().map(new_number).collect()).flatten()
}

/// The dimensions of size 1 to delete from this array and to insert so that it becomes `output`; `None` if other
/// dimensions differ.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_parity::shape_util::inserted_or_deleted_1_sized_dimensions;
///
/// let input: ArrayShape = "f32[1,3,5]".parse()?;
/// let output: ArrayShape = "f32[3,1,5,1]".parse()?;
/// let change = inserted_or_deleted_1_sized_dimensions(&input, &output).unwrap();
/// assert_eq!((change.deleted_dimensions, change.inserted_dimensions), (vec![0], vec![1, 3]));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn inserted_or_deleted_1_sized_dimensions(
    array: &ArrayShape,
    output: &ArrayShape,
) -> Option<ShapeEqualityDescriptor> {
    let unmodified = dimensions_unmodified_by_reshape(array, output)?;
    // All modified dimensions must have size 1.
    let others = |array: &ArrayShape, kept: &[usize]| {
        let others = (0..array.num_dimensions()).filter(|dimension| !kept.contains(dimension));
        let others = others.collect::<Vec<_>>();
        let sizes = others.iter().filter_map(|&dimension| array.dimensions().get(dimension)?.extent());
        sizes.into_iter().all(|size| size <= 1).then_some(others)
    };
    let (old, new): (Vec<_>, Vec<_>) = unmodified.into_iter().unzip();
    Some(ShapeEqualityDescriptor {
        deleted_dimensions: others(array, &old)?,
        inserted_dimensions: others(output, &new)?,
    })
}

/// The sizes of the dimensions; `None` if one is unbounded.
fn extents(array: &ArrayShape) -> Option<Vec<u64>> {
    array.dimensions().iter().map(|dimension| dimension.extent()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    #[test]
    fn unmodified_dimensions_are_found_by_number() {
        let (input, output) = (array("f32[2,3,5,7,143]"), array("f32[6,5,1,7,11,13]"));
        assert_eq!(reshape_leaves_dimensions_unmodified(&input, &output, &[2, 3]), Some([1, 3].into()));
        assert_eq!(reshape_leaves_dimensions_unmodified(&input, &output, &[3, 2]), None);
        assert_eq!(reshape_leaves_dimensions_unmodified(&input, &output, &[1]), None);
        assert_eq!(dimensions_unmodified_by_reshape(&array("f32[?]"), &array("f32[?]")), None);
    }

    #[test]
    fn only_dimensions_of_size_1_are_inserted_and_deleted() {
        let change = |a: &str, b: &str| inserted_or_deleted_1_sized_dimensions(&array(a), &array(b));
        assert_eq!(change("f32[]", "f32[]"), Some(ShapeEqualityDescriptor::default()));
        assert_eq!(change("f32[2,3]", "f32[3,2]"), None);
        assert_eq!(change("f32[2,3]", "f32[6]"), None);
        let two = change("f32[1,2,1]", "f32[2,1]").unwrap();
        assert_eq!((two.deleted_dimensions.len(), two.inserted_dimensions.len()), (1, 0));
    }
}
