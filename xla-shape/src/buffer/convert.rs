//! From a shape in the type to a shape at run time, and back.

use super::bytes::{Bytes, BytesMut, Lends};
use super::dynamic::DynShape;
use super::error::BufferError;
use super::storage::{Buffer, View, ViewMut, WholeShape};
use crate::element::Stored;
use crate::types::WholeArray;

impl<S: WholeArray<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The same memory with the shape as a value.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[8,128])>::zeroed().into_dyn();
    /// assert_eq!(x.shape().to_string(), "f32[8,128]{1,0}");
    /// ```
    ///
    /// # Panics
    /// Never: a buffer with a run-time shape can hold everything that a typed one can.
    #[must_use]
    pub fn into_dyn(self) -> Buffer<DynShape, B> {
        let shape = DynShape::new(self.shape.array_shape()).expect("a typed buffer has been checked");
        Buffer { bytes: self.bytes, shape }
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// The same memory with the shape in the type. Unbounded dimensions of the type get the sizes of this array.
    ///
    /// ```
    /// use xla_shape::{DynBuffer, shape};
    ///
    /// let x = DynBuffer::zeroed_with("f32[8,128]".parse()?)?;
    /// let x = x.into_typed::<shape!(f32[?,128])>()?;
    /// assert_eq!(x.sizes(), [8, 128]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the shapes differ (the error names both), or the memory is not aligned for the elements' Rust type.
    pub fn into_typed<S: WholeArray<Element: Stored>>(self) -> Result<Buffer<S, B>, BufferError> {
        let shape = S::try_from_shape(self.shape())?;
        Buffer::<S, B>::from_parts(shape, self.into_parts().1)
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// A view of the same array with the shape in the type.
    ///
    /// ```
    /// use xla_shape::{DynBuffer, shape};
    ///
    /// let x = DynBuffer::zeroed_with("f32[8,128]".parse()?)?;
    /// assert_eq!(x.typed::<shape!(f32[8,128])>()?[[7, 127]], 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`into_typed`](Self::into_typed).
    pub fn typed<'s, 'b, S: WholeArray<Element: Stored>>(&'s self) -> Result<View<'b, S>, BufferError>
    where
        B: Lends<'s, 'b>,
    {
        View::<'_, S>::from_parts(S::try_from_shape(self.shape())?, self.as_bytes())
    }
}

impl<B: BytesMut> Buffer<DynShape, B> {
    /// A view of the same array with the shape in the type, to write.
    ///
    /// ```
    /// use xla_shape::element::F32;
    /// use xla_shape::{DynBuffer, shape};
    ///
    /// let mut x = DynBuffer::zeroed_with("f32[8,128]".parse()?)?;
    /// x.typed_mut::<shape!(f32[8,128])>()?[[7, 127]] = 1.5;
    /// assert_eq!(x.get::<F32>(&[7, 127])?, 1.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`into_typed`](Self::into_typed).
    pub fn typed_mut<S: WholeArray<Element: Stored>>(&mut self) -> Result<ViewMut<'_, S>, BufferError> {
        ViewMut::<'_, S>::from_parts(S::try_from_shape(self.shape())?, self.as_bytes_mut())
    }
}
