//! Sizes: elements, bytes, strides and the pieces of splits, with the names of `ShapeUtil` (`xla/shape_util.h`).

use crate::element_type::ElementType;
use crate::layout::number::DimensionNumber;
use crate::layout::tile::TileDimension;
use crate::map::size;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;

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

    /// Whether every size is 1.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[1,1]".parse()?;
    /// assert!(shape.is_effective_scalar() && !shape.is_scalar());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_effective_scalar(&self) -> bool {
        self.dimensions().iter().all(|dimension| dimension.extent() == Some(1))
    }

    /// Whether the array has no dimensions and this element type.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[]".parse()?;
    /// assert!(shape.is_scalar_with_element_type(xla_shape_core::ElementType::F32));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_scalar_with_element_type(&self, element_type: ElementType) -> bool {
        self.is_scalar() && ElementType::same(self.element_type(), element_type)
    }

    /// The product of the sizes and bounds, in elements, without unbounded dimensions.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,<=3,?]".parse()?;
    /// assert_eq!(shape.static_extent_product(), 6);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn static_extent_product(&self) -> u64 {
        // In a valid shape, the product does not overflow.
        size::elements(self.dimensions()).unwrap_or(0)
    }

    /// The bytes of the elements alone, without padding. `None` if a dimension is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "s4[3,5]{1,0:T(8,128)E(4)}".parse()?;
    /// assert_eq!((shape.byte_size_of_elements(), shape.array_size()), (Some(8), Some(512)));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn byte_size_of_elements(&self) -> Option<u64> {
        self.bytes_of(self.elements()?)
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

    /// The bytes up to the end of the element whose index is the highest in every dimension. `None` if a dimension is
    /// unbounded.
    ///
    /// This is XLA's definition (`ShapeUtil::ArrayDataSize`). In the layouts of TPUs, only padding follows that
    /// element. But a tile can reorder earlier tiles: in `s32[7,8]{1,0:T(2,4)(2,1,1,1)}`, row 5 lies after row 6.
    /// [`array_size`](Self::array_size) always covers all elements.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
    /// assert_eq!((shape.array_data_size(), shape.array_size()), (Some(84), Some(96)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn array_data_size(&self) -> Option<u64> {
        let table = self.stride_table().ok()?;
        if self.is_zero_element_array() {
            return Some(0);
        }
        let last = table.as_ref().extents().iter().map(|extent| extent.saturating_sub(1)).collect::<Vec<_>>();
        self.bytes_of(table.as_ref().linear_index(&last).saturating_add(1))
    }

    /// The bytes of this many contiguous elements.
    pub(crate) fn bytes_of(&self, elements: u64) -> Option<u64> {
        let bits = (elements as u128).saturating_mul(self.element_bits() as u128);
        u64::try_from(bits.div_ceil(8)).ok()
    }

    /// The stride of each dimension, in bytes. `None` if the layout has tiles, elements are not whole bytes, or a
    /// stride depends on an unbounded dimension.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]{0,2,1}".parse()?;
    /// assert_eq!(shape.byte_strides(), Some(vec![4, 40, 8]));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn byte_strides(&self) -> Option<Vec<u64>> {
        if !self.layout().is_untiled() || !self.element_bits().is_multiple_of(8) {
            return None;
        }
        let mut strides = vec![0; self.num_dimensions()];
        let mut stride = self.element_bits().checked_div(8);
        for &dimension in self.layout().minor_to_major() {
            *strides.get_mut(dimension)? = stride?;
            let extent = self.dimensions().get(dimension)?.extent();
            stride = stride.zip(extent).and_then(|(stride, extent)| stride.checked_mul(extent));
        }
        Some(strides)
    }

    /// The stride of a dimension, in elements. `None` if there is no such dimension, the layout has tiles, or the
    /// stride depends on an unbounded dimension.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[5,8,10,4]".parse()?;
    /// assert_eq!(shape.get_dimension_stride(1), Some(40));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn get_dimension_stride(&self, dimension: impl Into<DimensionNumber>) -> Option<u64> {
        let dimension = self.get_dimension_number(dimension).ok()?;
        if !self.layout().is_untiled() {
            return None;
        }
        let more_minor = self.layout().minor_to_major().iter().take_while(|&&other| other != dimension);
        more_minor.copied().try_fold(1_u64, |stride, other| stride.checked_mul(self.dimensions().get(other)?.extent()?))
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

    /// Whether all dimensions that are more major in memory have size 1; `false` if there is no such dimension.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[1,4,5]".parse()?;
    /// let most_major = [0, 1, 2].map(|dimension| shape.is_effectively_most_major_dimension(dimension));
    /// assert_eq!(most_major, [true, true, false]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_effectively_most_major_dimension(&self, dimension: impl Into<DimensionNumber>) -> bool {
        let Ok(dimension) = self.get_dimension_number(dimension) else { return false };
        let size = |number: usize| self.dimensions().get(number).and_then(|dimension| dimension.extent());
        let first =
            self.layout().minor_to_major().iter().rev().find(|&&other| other == dimension || size(other) != Some(1));
        first == Some(&dimension)
    }

    /// How many elements of neighbouring rows are interleaved in a one-dimensional array with three tiles: the first
    /// entry of the third tile, if that has two entries. `None` for other arrays.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[1024]{0:T(1024)(128)(2,1)}".parse()?;
    /// assert_eq!(shape.packed_factor_for_1d_interleaved_array(), Some(2));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn packed_factor_for_1d_interleaved_array(&self) -> Option<u64> {
        match (self.num_dimensions(), self.layout().tiles()) {
            (1, [_, _, third]) => match third.dimensions() {
                &[TileDimension::Size(factor), _] => Some(factor),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether strides, in bytes, are those of an array of these sizes in the default layout: row-major, without padding.
///
/// ```
/// use xla_shape_core::{ElementType, byte_strides_is_major_to_minor};
///
/// assert!(byte_strides_is_major_to_minor(&[12, 4], &[2, 3], ElementType::F32));
/// assert!(!byte_strides_is_major_to_minor(&[4, 8], &[2, 3], ElementType::F32));
/// ```
#[must_use]
pub fn byte_strides_is_major_to_minor(byte_strides: &[u64], sizes: &[u64], element_type: ElementType) -> bool {
    let mut expected = Some(element_type.storage_bytes());
    byte_strides.len() == sizes.len()
        && byte_strides.iter().zip(sizes).rev().all(|(&stride, &size)| {
            let fits = expected == Some(stride);
            expected = expected.and_then(|expected| expected.checked_mul(size));
            fits
        })
}

impl Shape {
    /// The number of elements of all arrays in the shape; `None` if a dimension is unbounded, or the sum does not fit
    /// in a `u64`.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2,3], (token[], s8[4]))".parse()?;
    /// assert_eq!(shape.elements_in_recursive(), Some(10));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn elements_in_recursive(&self) -> Option<u64> {
        self.sum_over_arrays(ArrayShape::elements)
    }

    /// The bytes of the value's top-level buffer: for an array, its elements without padding; for a tuple, one pointer
    /// of `pointer_size` bytes for each element; for an opaque value, one pointer. `None` if a dimension is unbounded,
    /// or the result does not fit in a `u64`. XLA's `ShapeUtil::ByteSizeOf`.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2,3], (token[], s8[4]))".parse()?;
    /// assert_eq!(shape.byte_size_of(8), Some(2 * 8)); // two pointers
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn byte_size_of(&self, pointer_size: u64) -> Option<u64> {
        match self {
            Self::Array(array) | Self::Buffer(array) => array.byte_size_of_elements(),
            Self::Tuple(elements) => (elements.len() as u64).checked_mul(pointer_size),
            Self::Opaque => Some(pointer_size),
            Self::Token => Some(0),
        }
    }

    /// Whether the layout of an array in the shape has `E(n)`.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(s4[2]{0:E(4)}, f32[2])".parse()?;
    /// assert!(shape.has_custom_element_size_in_bits());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_custom_element_size_in_bits(&self) -> bool {
        self.arrays().any(|array| array.layout().element_size_in_bits() != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::byte_strides_is_major_to_minor;
    use crate::element_type::ElementType;
    use crate::shape::Shape;
    use crate::shape::array::ArrayShape;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    #[test]
    fn strides_need_an_untiled_layout_of_whole_bytes() {
        assert_eq!(array("f32[2,3]{1,0:T(2)}").byte_strides(), None);
        assert_eq!(array("s4[2,3]{1,0:E(4)}").byte_strides(), None);
        assert_eq!(array("f32[2,?]").byte_strides(), None);
        assert_eq!(array("f32[?,2]").byte_strides(), Some([8, 4].into()));
        assert_eq!(array("f32[5,8,10,4]").get_dimension_stride(1), Some(40));
        assert_eq!(array("f32[5,8]{0,1}").get_dimension_stride(-1), Some(5));
        assert_eq!(array("f32[5,8]{1,0:T(8)}").get_dimension_stride(0), None);
        assert_eq!(array("f32[5]").get_dimension_stride(1), None);
        let strides = array("f32[2,3,5]").byte_strides().unwrap();
        assert!(byte_strides_is_major_to_minor(&strides, &[2, 3, 5], ElementType::F32));
        assert!(!byte_strides_is_major_to_minor(&strides, &[2, 3, 5], ElementType::F64));
        assert!(!byte_strides_is_major_to_minor(&[4, 8], &[2, 2], ElementType::F32));
        assert!(!byte_strides_is_major_to_minor(&[4], &[2, 2], ElementType::F32));
    }

    #[test]
    fn data_end_with_the_last_element() {
        assert_eq!(array("f32[3,5]{1,0:T(2,2)L(1024)M(8)}").array_data_size(), Some(84));
        assert_eq!(array("f32[3,5]{1,0:T(2,2)L(1024)M(8)}").array_size(), Some(4096));
        assert_eq!(array("f32[0,5]{1,0:T(2,2)}").array_data_size(), Some(0));
        assert_eq!(array("s4[5]{0:E(4)}").array_data_size(), Some(3));
        assert_eq!(array("f32[?]").array_data_size(), None);
        let reordered = array("s32[7,8]{1,0:T(2,4)(2,1,1,1)}");
        let table = reordered.stride_table().unwrap();
        let last = table.as_ref().linear_index(&[6, 7]);
        assert_eq!(reordered.array_data_size(), Some((last + 1) * 4));
        assert!(table.as_ref().linear_index(&[5, 7]) > last);
    }

    #[test]
    fn the_largest_piece_counts() {
        let shape = array("f32[200,8]{0,1:SC(1:50,130)(0:3)}");
        assert_eq!((shape.max_split_size(0), shape.max_split_size(-1)), (Some(80), Some(5)));
        assert_eq!(shape.max_elements_in_per_split(), Some(400));
        assert_eq!(shape.max_split_size(2), None);
    }

    #[test]
    fn more_major_dimensions_of_size_1_do_not_count() {
        let shape = array("f32[4,1,5,1]{2,0,1,3}");
        let most_major = |dimension: i32| shape.is_effectively_most_major_dimension(dimension);
        assert_eq!([0, 1, 2, 3, 4].map(most_major), [true, true, false, true, false]);
    }

    #[test]
    fn packed_rows_are_counted() {
        assert_eq!(array("bf16[1024]{0:T(1024)(128)(2,1)}").packed_factor_for_1d_interleaved_array(), Some(2));
        assert_eq!(array("bf16[8,128]{1,0:T(8,128)(2,1)}").packed_factor_for_1d_interleaved_array(), None);
    }

    #[test]
    fn sums_over_tuples() {
        let shape: Shape = "(f32[2,3], (token[], s8[4]), b(u8[5]))".parse().unwrap();
        assert_eq!(shape.elements_in_recursive(), Some(15));
        assert_eq!(shape.byte_size_of(8), Some(24));
        assert_eq!(Shape::Opaque.byte_size_of(8), Some(8));
        assert_eq!(Shape::Token.byte_size_of(8), Some(0));
        assert_eq!(shape.byte_size_of(u64::MAX), None);
        let unbounded: Shape = "(f32[?])".parse().unwrap();
        assert_eq!(unbounded.elements_in_recursive(), None);
        let huge: Shape = "(s8[9223372036854775807], s8[9223372036854775807], s8[2])".parse().unwrap();
        assert_eq!(huge.elements_in_recursive(), None);
    }
}
