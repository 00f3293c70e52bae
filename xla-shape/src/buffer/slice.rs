//! Slices of values as memory, and the memory of arrays whose shape is known at run time as slices.

use super::bits::Width;
use super::bytes::{Bytes, BytesMut};
use super::dynamic::{DynBufferBase, DynView, DynViewMut};
use super::error::{AccessError, BufferError};
use crate::element::{Element, Plain, Stored};
use xla_shape_core::ArrayShape;

/// The bytes of values.
pub(super) fn bytes_of<E: Plain>(values: &[E::Value]) -> &[u8] {
    let data = values.as_ptr().cast::<u8>();
    // SAFETY: `Plain` promises that values have no padding: all of their bytes are initialised.
    unsafe { std::slice::from_raw_parts(data, size_of_val(values)) }
}

/// The bytes of values, to write.
pub(super) fn bytes_of_mut<E: Plain>(values: &mut [E::Value]) -> &mut [u8] {
    let (data, len) = (values.as_mut_ptr().cast::<u8>(), size_of_val(values));
    // SAFETY: `Plain` promises that values have no padding and that any bytes are values.
    unsafe { std::slice::from_raw_parts_mut(data, len) }
}

/// Checks that the elements of a shape are of type `E`.
pub(super) fn check_type<E: Element>(shape: &ArrayShape) -> Result<(), AccessError> {
    let found = shape.element_type();
    if E::TYPE == found { Ok(()) } else { Err(AccessError::WrongElementType { expected: E::TYPE, found }) }
}

impl<'a> DynView<'a> {
    /// Borrows values as an array: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::DynView;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynView::from_slice::<S32>("s32[2,3]{0,1}".parse()?, &[0, 10, 1, 11, 2, 12])?;
    /// assert_eq!(x.get::<S32>(&[1, 2])?, 12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_parts`](Self::from_parts), or if the elements are of another type.
    pub fn from_slice<E: Plain>(shape: ArrayShape, values: &'a [E::Value]) -> Result<Self, BufferError> {
        check_type::<E>(&shape)?;
        Self::from_parts(shape, bytes_of::<E>(values))
    }
}

impl<'a> DynViewMut<'a> {
    /// Borrows values as an array to write: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// As [`DynView::from_slice`].
    pub fn from_slice<E: Plain>(shape: ArrayShape, values: &'a mut [E::Value]) -> Result<Self, BufferError> {
        check_type::<E>(&shape)?;
        Self::from_parts(shape, bytes_of_mut::<E>(values))
    }
}

impl<B: Bytes> DynBufferBase<B> {
    /// The values in the order of memory, padding included.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::from_fn::<S32>("s32[2,3]{0,1}".parse()?, |index| (10 * index[0] + index[1]) as i32)?;
    /// assert_eq!(x.as_slice::<S32>()?, [0, 10, 1, 11, 2, 12]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type, packed bits, or not aligned as their Rust type wants.
    pub fn as_slice<E: Plain>(&self) -> Result<&[E::Value], BufferError> {
        self.check_borrow::<E>()?;
        let bytes = &self.as_bytes()[self.prefix()..];
        let len = bytes.len() / size_of::<E::Value>();
        if len == 0 {
            return Ok(&[]);
        }
        // SAFETY: `Plain` promises that any bytes are values; the first one has just been found to be aligned.
        Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), len) })
    }

    /// Whether the values can be borrowed.
    fn check_borrow<E: Stored>(&self) -> Result<(), BufferError> {
        self.check_type::<E>()?;
        let first = self.as_bytes().as_ptr().addr().wrapping_add(self.prefix());
        let is_aligned = self.as_bytes().is_empty() || first.is_multiple_of(align_of::<E::Value>());
        if self.width() == Width::Whole && is_aligned {
            Ok(())
        } else {
            Err(BufferError::NotBorrowable(Box::new(self.shape().clone())))
        }
    }
}

impl<B: BytesMut> DynBufferBase<B> {
    /// The values in the order of memory, padding included, to write.
    ///
    /// # Errors
    /// As [`as_slice`](Self::as_slice).
    pub fn as_mut_slice<E: Plain>(&mut self) -> Result<&mut [E::Value], BufferError> {
        self.check_borrow::<E>()?;
        let prefix = self.prefix();
        let bytes = &mut self.as_bytes_mut()[prefix..];
        let len = bytes.len() / size_of::<E::Value>();
        if len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as in `as_slice`; the bytes are borrowed mutably.
        Ok(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), len) })
    }
}
