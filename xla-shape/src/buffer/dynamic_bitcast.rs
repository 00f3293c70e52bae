//! Reading the same memory as another shape, for free, where shapes are known at run time.

use super::bytes::{Bytes, BytesMut, Lends};
use super::dynamic::{DynShape, DynView, DynViewMut};
use super::error::BufferError;
use super::slice::byte_obstacle;
use super::storage::Buffer;
use std::ops::Range;
use xla_shape_core::bitcast::{Answer, BitcastError, slice_obstacle};
use xla_shape_core::{ArrayShape, Dimension, Layout};
use xla_shape_relayout::wide::wide;

/// **Other shapes of the same memory**, without a copy. Where an element would move, these methods return an error that says which element.
/// They consume the buffer even then: call them on a [`view`](Self::view) to keep it. To copy, use [`relayout`](crate::relayout).
impl<B: Bytes> Buffer<DynShape, B> {
    /// The same array in another layout that has the same bytes.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::from_fn_with::<F32>("f32[64,128]{1,0:T(8,128)}".parse()?, |i| (128 * i[0] + i[1]) as f32)?;
    /// let row_major = x.view().retile("{1,0}".parse()?)?;
    /// assert_eq!(row_major.get::<F32>(&[9, 5])?, 9.0 * 128.0 + 5.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If an element would move, or the layout does not fit the array.
    pub fn retile(self, layout: Layout) -> Result<Self, BufferError> {
        let result = self.shape().clone().with_layout(layout)?;
        let answer = self.shape().layout_change_is_bitcast(&result);
        self.into_shape(result, answer)
    }

    /// The transpose, in the same bytes: dimension `i` is dimension `permutation[i]` of this array, and the layout orders the dimensions
    /// accordingly.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let mut x = DynBuffer::zeroed_with("f32[31,57]{1,0:T(8,128)}".parse()?)?;
    /// x.set::<F32>(&[30, 2], 1.5)?;
    /// let transposed = x.transpose(&[1, 0])?;
    /// assert_eq!(transposed.shape().to_string(), "f32[57,31]{0,1:T(8,128)}");
    /// assert_eq!(transposed.get::<F32>(&[2, 30])?, 1.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `permutation` does not name every dimension once.
    pub fn transpose(self, permutation: &[usize]) -> Result<Self, BufferError> {
        let numbers = permutation.iter().map(|&number| i64::try_from(number).unwrap_or(i64::MAX));
        let result =
            self.shape().permute_dimensions(numbers).map_err(|error| BufferError::Transform(Box::new(error)))?;
        let answer = self.shape().transpose_is_bitcast(&result, permutation);
        self.into_shape(result, answer)
    }

    /// The array with other dimensions and the same elements in row-major order, in the same bytes.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    ///
    /// let x = DynBuffer::zeroed_with("f32[4,8,128]{2,1,0:T(8,128)}".parse()?)?;
    /// let rows = x.view().reshape("f32[32,128]{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(rows.shape().to_string(), "f32[32,128]{1,0:T(8,128)}");
    /// let error = x.view().reshape("f32[32,128]{0,1}".parse()?).unwrap_err();
    /// assert!(error.to_string().starts_with("element (0,0,1) moves from position 1 to 32"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If an element would move, or the number or type of the elements differs.
    pub fn reshape(self, result: ArrayShape) -> Result<Self, BufferError> {
        let answer = self.shape().reshape_is_bitcast(&result);
        self.into_shape(result, answer)
    }

    fn into_shape(self, result: ArrayShape, answer: Result<Answer, BitcastError>) -> Result<Self, BufferError> {
        match answer {
            Ok(Answer::Yes) if result.element_type() == self.shape().element_type() => {
                Self::from_parts(result, self.into_parts().1)
            }
            Ok(Answer::Yes) => Err(BufferError::Shape(super::error::ShapeMismatch::new(self.shape().clone(), result))),
            Ok(answer) => Err(BufferError::Moves(Box::new(answer))),
            Err(error) => Err(BufferError::Bitcast(Box::new(error))),
        }
    }

    /// The shape of a slice, and its bytes.
    fn slice_of(&self, start: &[usize], sizes: &[usize]) -> Result<(ArrayShape, Range<usize>), BufferError> {
        let shape = self.shape();
        let (expected, found) = (shape.num_dimensions(), start.len().max(sizes.len()));
        if start.len() != expected || sizes.len() != expected {
            return Err(super::error::AccessError::WrongNumDimensions { expected, found }.into());
        }
        if let Some(reason) = slice_obstacle(shape, wide(start), wide(sizes)) {
            return Err(BufferError::NoSlice(reason.as_str().into()));
        }
        let dimensions = sizes.iter().map(|&size| Dimension::Static(size as u64)).collect::<Vec<_>>();
        let part = ArrayShape::new(shape.element_type(), &dimensions, shape.layout().clone())?;
        let bytes = part.byte_size().unwrap_or(0) as usize;
        // A slice without elements may begin after the array's last element.
        let position = if sizes.contains(&0) { 0 } else { self.stride_table().as_ref().linear_index(wide(start)) };
        if let Some(reason) = byte_obstacle(shape, position) {
            return Err(BufferError::NoSlice(reason.as_str().into()));
        }
        let first = (position * shape.element_bits() / 8) as usize;
        Ok((part, first..first + bytes))
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// The slice of these sizes that begins at an index, in the same memory and layout. With tiles, it begins and ends at their edges.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::from_fn_with::<F32>("f32[64,200]{1,0:T(8,128)}".parse()?, |i| i[0] as f32)?;
    /// let rows = x.slice(&[16, 0], &[8, 200])?;
    /// assert_eq!(rows.shape().to_string(), "f32[8,200]{1,0:T(8,128)}");
    /// assert_eq!(rows.get::<F32>(&[3, 150])?, 19.0);
    /// assert!(x.slice(&[4, 0], &[8, 200]).is_err()); // inside of a tile
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the slice is not one stretch of memory, or is out of bounds.
    pub fn slice<'s, 'b>(&'s self, start: &[usize], sizes: &[usize]) -> Result<DynView<'b>, BufferError>
    where
        B: Lends<'s, 'b>,
    {
        let (shape, bytes) = self.slice_of(start, sizes)?;
        DynView::from_parts(shape, self.as_bytes().get(bytes).unwrap_or_default())
    }
}

impl<B: BytesMut> Buffer<DynShape, B> {
    /// The slice of these sizes that begins at an index, to write; see [`slice`](Self::slice).
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let mut x = DynBuffer::zeroed_with("f32[64,200]{1,0:T(8,128)}".parse()?)?;
    /// x.slice_mut(&[16, 0], &[8, 200])?.fill::<F32>(1.0)?;
    /// assert_eq!((x.get::<F32>(&[16, 0])?, x.get::<F32>(&[15, 0])?), (1.0, 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`slice`](Self::slice).
    pub fn slice_mut(&mut self, start: &[usize], sizes: &[usize]) -> Result<DynViewMut<'_>, BufferError> {
        let (shape, bytes) = self.slice_of(start, sizes)?;
        DynViewMut::from_parts(shape, self.as_bytes_mut().get_mut(bytes).unwrap_or_default())
    }
}
