//! Sizes of arrays: whether they have elements, how many bytes they take, and the pieces of their splits.

use crate::layout::number::DimensionNumber;
use crate::shape::array::ArrayShape;

impl ArrayShape {
    /// Whether a size or bound is 0, so that the array has no elements.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[0,3]".parse()?;
    /// assert!(shape.is_zero_element_array());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_zero_element_array(&self) -> bool {
        self.dimensions().iter().any(|dimension| dimension.extent() == Some(0))
    }

    /// Whether the array has no dimensions.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[]".parse()?;
    /// assert!(shape.is_scalar());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_scalar(&self) -> bool {
        self.num_dimensions() == 0
    }

    /// The bytes of the elements and all padding, without the prefix for bounded dimensions, which
    /// [`byte_size`](Self::byte_size) includes. `None` if a dimension is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[3,5]{1,0:T(2,2)M(8)}".parse()?;
    /// assert_eq!((shape.array_size(), shape.byte_size()), (Some(96), Some(104)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn array_size(&self) -> Option<u64> {
        self.byte_size()?.checked_sub(self.layout().dynamic_shape_metadata_prefix_bytes())
    }

    /// The bytes of this many contiguous elements.
    pub(crate) fn bytes_of(&self, elements: u64) -> Option<u64> {
        #[expect(clippy::arithmetic_side_effects, reason = "a product of two `u64` fits in a `u128`")]
        let bits = elements as u128 * self.element_bits() as u128;
        u64::try_from(bits.div_ceil(8)).ok()
    }

    /// The size of the largest piece that splits cut this dimension into, in elements; the whole size if it is not
    /// split. `None` if there is no such dimension, or it is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[200,8]{1,0:SC(0:50,130)}".parse()?;
    /// assert_eq!((shape.max_split_size(0), shape.max_split_size(1)), (Some(80), Some(8)));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn max_split_size(&self, dimension: impl Into<DimensionNumber>) -> Option<u64> {
        let dimension = self.get_dimension_number(dimension).ok()?;
        let extent = self.dimensions().get(dimension)?.extent()?;
        if self.layout().split_configs().is_empty() {
            // Without splits, skip the search for the physical dimension: an array can have very many dimensions.
            return Some(extent);
        }
        let place = self.layout().minor_to_major().iter().rev().position(|&other| other == dimension)?;
        Some(crate::map::largest_piece(extent, self.layout(), place))
    }

    /// The number of elements of the largest piece that splits cut the array into. `None` if a dimension is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[200,8]{1,0:SC(0:50,130)}".parse()?;
    /// assert_eq!(shape.max_elements_in_per_split(), Some(80 * 8));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn max_elements_in_per_split(&self) -> Option<u64> {
        (0..self.num_dimensions())
            .try_fold(1_u64, |elements, dimension| elements.checked_mul(self.max_split_size(dimension)?))
    }
}

#[cfg(test)]
mod tests {
    use crate::shape::array::ArrayShape;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    #[test]
    fn the_largest_piece_counts() {
        let shape = array("f32[200,8]{0,1:SC(1:50,130)(0:3)}");
        assert_eq!((shape.max_split_size(0), shape.max_split_size(-1)), (Some(80), Some(5)));
        assert_eq!(shape.max_elements_in_per_split(), Some(400));
        assert_eq!(shape.max_split_size(2), None);
    }
}
