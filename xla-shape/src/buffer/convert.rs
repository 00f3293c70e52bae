//! From a shape in the type to a shape at run time, and back.

use super::bytes::{Bytes, BytesMut, Lender};
use super::dynamic::{DynShape, DynView};
use super::error::BufferError;
use super::storage::{Buffer, View, ViewMut, WholeShape};
use crate::element::Stored;
use crate::types::WholeArray;

impl<S: WholeArray<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The same memory with the shape as a value.
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
    /// The same memory with the shape in the type; the type's unbounded dimensions take the sizes of this one.
    ///
    /// # Errors
    /// If the shapes differ (the error names both), or the memory is not aligned for the elements' Rust type.
    pub fn into_typed<S: WholeArray<Element: Stored>>(self) -> Result<Buffer<S, B>, BufferError> {
        let shape = S::of(self.shape())?;
        Buffer::<S, B>::from_parts(shape, self.into_parts().1)
    }
}

impl<'a> DynView<'a> {
    /// The same array with the shape in the type.
    ///
    /// # Errors
    /// Same as [`into_typed`](Self::into_typed).
    pub fn typed<S: WholeArray<Element: Stored>>(&self) -> Result<View<'a, S>, BufferError> {
        View::<'_, S>::from_parts(S::of(self.shape())?, self.as_bytes())
    }
}

impl<B: Lender> Buffer<DynShape, B> {
    /// The same array with the shape in the type.
    ///
    /// # Errors
    /// Same as [`into_typed`](Self::into_typed).
    pub fn typed<S: WholeArray<Element: Stored>>(&self) -> Result<View<'_, S>, BufferError> {
        View::<'_, S>::from_parts(S::of(self.shape())?, self.as_bytes())
    }
}

impl<B: BytesMut> Buffer<DynShape, B> {
    /// The same array with the shape in the type, to write.
    ///
    /// # Errors
    /// Same as [`into_typed`](Self::into_typed).
    pub fn typed_mut<S: WholeArray<Element: Stored>>(&mut self) -> Result<ViewMut<'_, S>, BufferError> {
        ViewMut::<'_, S>::from_parts(S::of(self.shape())?, self.as_bytes_mut())
    }
}
