//! Which dimensions a reshape leaves unmodified, with the names of `ShapeUtil` (`xla/shape_util.cc`).

use crate::layout::Layout;
use crate::shape::array::ArrayShape;
use alloc::vec::Vec;

/// The dimensions of size 1 by which two shapes differ. XLA's `ShapeUtil::ShapeEqualityDescriptor`.
///
/// ```
/// use xla_shape_core::ArrayShape;
///
/// let (input, output): (ArrayShape, ArrayShape) = ("f32[1,3,5]".parse()?, "f32[3,1,5]".parse()?);
/// let change = input.inserted_or_deleted_1_sized_dimensions(&output).unwrap();
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

impl ArrayShape {
    /// The dimensions that a reshape to `output` leaves unmodified: pairs of a dimension of this array and one of
    /// `output`, ascending, in which every element has the same index. `None` if there is no such reshape, or a
    /// dimension is unbounded.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let input: ArrayShape = "f32[2,3,5,7,143]".parse()?;
    /// let output: ArrayShape = "f32[6,5,1,7,11,13]".parse()?;
    /// assert_eq!(input.dimensions_unmodified_by_reshape(&output), Some(vec![(2, 1), (3, 3)]));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn dimensions_unmodified_by_reshape(&self, output: &Self) -> Option<Vec<(usize, usize)>> {
        let bounds = common_factors(&extents(self)?, &extents(output)?)?;
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
    ///
    /// let (input, output): (ArrayShape, ArrayShape) = ("f32[2,3,5,7]".parse()?, "f32[6,5,7]".parse()?);
    /// assert_eq!(input.reshape_leaves_dimensions_unmodified(&output, &[2, 3]), Some(vec![1, 2]));
    /// assert_eq!(input.reshape_leaves_dimensions_unmodified(&output, &[0]), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reshape_leaves_dimensions_unmodified(&self, output: &Self, dimensions: &[usize]) -> Option<Vec<usize>> {
        let unmodified = self.dimensions_unmodified_by_reshape(output)?;
        let new_number = |dimension: &usize| {
            unmodified
                .binary_search_by_key(dimension, |&(old, _)| old)
                .ok()
                .and_then(|i| unmodified.get(i))
                .map(|pair| pair.1)
        };
        dimensions.is_sorted().then(|| dimensions.iter().map(new_number).collect()).flatten()
    }

    /// `output` in a layout that makes the reshape a bitcast, so that no element moves in memory. `None` if no untiled
    /// layout does, this array has tiles, or a dimension is unbounded.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let input: ArrayShape = "f32[2,15,7]{0,2,1}".parse()?;
    /// let output = input.align_layouts(&"f32[2,3,5,7]".parse()?).unwrap();
    /// assert_eq!(output.to_string(), "f32[2,3,5,7]{0,3,2,1}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn align_layouts(&self, output: &Self) -> Option<Self> {
        let with_order = |order: &[usize]| output.clone().with_layout(Layout::new(order).ok()?).ok();
        let (input_sizes, output_sizes) = (extents(self)?, extents(output)?);
        if self.is_zero_element_array() && output.is_zero_element_array() {
            return with_order(Layout::descending(output_sizes.len()).minor_to_major());
        }
        if !self.layout().is_untiled() {
            return None;
        }
        // The place of a dimension of size 1 in the order does not change positions.
        let long = |sizes: &[u64]| (0..sizes.len()).filter(|&i| sizes.get(i) != Some(&1)).collect::<Vec<_>>();
        let (input_long, output_long) = (long(&input_sizes), long(&output_sizes));
        let sizes = |long: &[usize], all: &[u64]| long.iter().filter_map(|&i| all.get(i).copied()).collect::<Vec<_>>();
        let bounds = common_factors(&sizes(&input_long, &input_sizes), &sizes(&output_long, &output_sizes))?;
        let mut order = Vec::new();
        let mut rest = self.layout().minor_to_major().iter().filter(|dimension| input_long.contains(dimension));
        while let Some(most_minor) = rest.next() {
            // The dimensions of a factor must be consecutive in memory, the last one the most minor.
            let position = input_long.iter().position(|dimension| dimension == most_minor)?;
            let (start, end) =
                bounds.iter().zip(bounds.iter().skip(1)).find(|(_, end)| end.0 == position.saturating_add(1))?;
            let others = input_long.get(start.0..position)?;
            if !others.iter().rev().all(|dimension| rest.next() == Some(dimension)) {
                return None;
            }
            order.extend(output_long.get(start.1..end.1)?.iter().rev());
        }
        order.extend((0..output_sizes.len()).rev().filter(|dimension| !output_long.contains(dimension)));
        with_order(&order)
    }

    /// The dimensions of size 1 to delete from this array and to insert so that it becomes `output`; `None` if other
    /// dimensions differ.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let input: ArrayShape = "f32[1,3,5]".parse()?;
    /// let output: ArrayShape = "f32[3,1,5,1]".parse()?;
    /// let change = input.inserted_or_deleted_1_sized_dimensions(&output).unwrap();
    /// assert_eq!((change.deleted_dimensions, change.inserted_dimensions), (vec![0], vec![1, 3]));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn inserted_or_deleted_1_sized_dimensions(&self, output: &Self) -> Option<ShapeEqualityDescriptor> {
        let unmodified = self.dimensions_unmodified_by_reshape(output)?;
        // All modified dimensions must have size 1.
        let others = |array: &Self, kept: &[usize]| {
            let others = (0..array.num_dimensions()).filter(|dimension| !kept.contains(dimension));
            let others = others.collect::<Vec<_>>();
            let sizes = others.iter().filter_map(|&dimension| array.dimensions().get(dimension)?.extent());
            sizes.into_iter().all(|size| size <= 1).then_some(others)
        };
        let (old, new): (Vec<_>, Vec<_>) = unmodified.into_iter().unzip();
        Some(ShapeEqualityDescriptor {
            deleted_dimensions: others(self, &old)?,
            inserted_dimensions: others(output, &new)?,
        })
    }
}

fn extents(array: &ArrayShape) -> Option<Vec<u64>> {
    array.dimensions().iter().map(|dimension| dimension.extent()).collect()
}

/// Cuts both lists into as many pieces as possible so that corresponding pieces have the same product. Returns where
/// the pieces begin, and the ends of the lists; `None` if the products of the lists differ. XLA's `CommonFactors`
/// (`xla/util.cc`).
fn common_factors(a: &[u64], b: &[u64]) -> Option<Vec<(usize, usize)>> {
    if a == b {
        return Some((0..=a.len()).map(|i| (i, i)).collect());
    }
    if a.contains(&0) || b.contains(&0) {
        // Both arrays are empty: they correspond only as a whole.
        let ends = (a.len(), b.len());
        return (a.contains(&0) && b.contains(&0)).then(|| [(0, 0), ends].into());
    }
    let mut bounds = [(0, 0)].to_vec();
    let (mut rest_a, mut rest_b) = (a.iter(), b.iter());
    let (mut product_a, mut product_b) = (1_u64, 1_u64);
    loop {
        let (next_a, next_b) = (rest_a.as_slice().first(), rest_b.as_slice().first());
        let take_a =
            product_a < product_b || (product_a == product_b && next_a.is_some_and(|a| next_b.is_none_or(|b| a <= b)));
        let take_b =
            product_b < product_a || (product_a == product_b && next_b.is_some_and(|b| next_a.is_none_or(|a| b <= a)));
        if !take_a && !take_b {
            return Some(bounds);
        }
        if take_a {
            product_a = product_a.checked_mul(*rest_a.next()?)?;
        }
        if take_b {
            product_b = product_b.checked_mul(*rest_b.next()?)?;
        }
        if product_a == product_b {
            bounds.push((a.len().abs_diff(rest_a.len()), b.len().abs_diff(rest_b.len())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ShapeEqualityDescriptor, common_factors};
    use crate::shape::array::ArrayShape;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    #[test]
    fn pieces_are_as_small_as_possible() {
        assert_eq!(common_factors(&[], &[]), Some([(0, 0)].into()));
        assert_eq!(common_factors(&[2, 3], &[6]), Some([(0, 0), (2, 1)].into()));
        assert_eq!(common_factors(&[2, 1], &[2]), Some([(0, 0), (1, 1), (2, 1)].into()));
        assert_eq!(common_factors(&[4, 6], &[2, 2, 6]), Some([(0, 0), (1, 2), (2, 3)].into()));
        assert_eq!(common_factors(&[2], &[3]), None);
        assert_eq!(common_factors(&[2, 2], &[2]), None);
        assert_eq!(common_factors(&[0, 3], &[5, 0]), Some([(0, 0), (2, 2)].into()));
        assert_eq!(common_factors(&[0], &[5]), None);
    }

    #[test]
    fn unmodified_dimensions_are_found_by_number() {
        let (input, output) = (array("f32[2,3,5,7,143]"), array("f32[6,5,1,7,11,13]"));
        assert_eq!(input.reshape_leaves_dimensions_unmodified(&output, &[2, 3]), Some([1, 3].into()));
        assert_eq!(input.reshape_leaves_dimensions_unmodified(&output, &[3, 2]), None);
        assert_eq!(input.reshape_leaves_dimensions_unmodified(&output, &[1]), None);
        assert_eq!(array("f32[?]").dimensions_unmodified_by_reshape(&array("f32[?]")), None);
    }

    #[test]
    fn a_layout_is_found_if_factors_are_consecutive() {
        let align = |a: &str, b: &str| array(a).align_layouts(&array(b)).map(|shape| shape.layout().clone());
        assert_eq!(align("f32[6,5]{0,1}", "f32[2,3,5]"), Some("{1,0,2}".parse().unwrap()));
        assert_eq!(align("f32[2,3,5]{1,0,2}", "f32[6,5]"), Some("{0,1}".parse().unwrap()));
        assert_eq!(align("f32[2,3,5]{0,1,2}", "f32[6,5]"), None);
        assert_eq!(align("f32[2,1,3]{1,0,2}", "f32[1,2,3,1]"), Some("{1,2,3,0}".parse().unwrap()));
        assert_eq!(align("f32[2,3]{1,0:T(2)}", "f32[6]"), None);
        assert_eq!(align("f32[2,3]", "f32[5]"), None);
    }

    #[test]
    fn only_dimensions_of_size_1_are_inserted_and_deleted() {
        let change = |a: &str, b: &str| array(a).inserted_or_deleted_1_sized_dimensions(&array(b));
        assert_eq!(change("f32[]", "f32[]"), Some(ShapeEqualityDescriptor::default()));
        assert_eq!(change("f32[2,3]", "f32[3,2]"), None);
        assert_eq!(change("f32[2,3]", "f32[6]"), None);
        let two = change("f32[1,2,1]", "f32[2,1]").unwrap();
        assert_eq!((two.deleted_dimensions.len(), two.inserted_dimensions.len()), (1, 0));
    }
}
