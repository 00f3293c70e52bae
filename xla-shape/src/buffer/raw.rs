//! Arrays in memory that something else owns: a device's runtime, or a program in another language.

use super::dynamic::{DynView, DynViewMut};
use super::error::BufferError;
use super::storage::{View, ViewMut};
use crate::element::Stored;
use crate::types::WholeArray;
use xla_shape_core::ArrayShape;

/// An empty range may have any pointer, null too.
fn check_pointer(data: *const u8, len: usize) -> Result<(), BufferError> {
    if data.is_null() && len > 0 { Err(BufferError::NullPointer) } else { Ok(()) }
}

/// # Safety
/// Like [`View::from_raw_parts`].
unsafe fn bytes<'a>(data: *const u8, len: usize) -> Result<&'a [u8], BufferError> {
    check_pointer(data, len)?;
    // SAFETY: the pointer is not null, or there are no bytes; all else the caller promises.
    Ok(if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } })
}

/// # Safety
/// Like [`ViewMut::from_raw_parts`].
unsafe fn bytes_mut<'a>(data: *mut u8, len: usize) -> Result<&'a mut [u8], BufferError> {
    check_pointer(data, len)?;
    // SAFETY: the pointer is not null, or there are no bytes; all else the caller promises.
    Ok(if len == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(data, len) } })
}

impl<'a, S: WholeArray<Element: Stored>> View<'a, S> {
    /// Borrows `len` bytes at `data` as an array: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// type Pair = shape!(u8[2]);
    /// let memory = [1, 2];
    /// // SAFETY: `memory` is there, and nobody writes it.
    /// let x = unsafe { View::<Pair>::from_raw_parts(memory.as_ptr(), 2, Pair::default()) }?;
    /// assert_eq!(x[[1]], 2);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the shape takes a different number of bytes, or the pointer is null or not aligned for the elements' Rust type.
    /// An array without bytes may have any pointer.
    ///
    /// # Safety
    /// During `'a`, there must be `len` initialised bytes at `data`, in one allocation, which nothing writes.
    pub unsafe fn from_raw_parts(data: *const u8, len: usize, shape: S) -> Result<Self, BufferError> {
        // SAFETY: as the caller promises.
        Self::from_parts(shape, unsafe { bytes(data, len) }?)
    }
}

impl<'a, S: WholeArray<Element: Stored>> ViewMut<'a, S> {
    /// Borrows `len` bytes at `data` as an array to write: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// Same as [`View::from_raw_parts`].
    ///
    /// # Safety
    /// During `'a`, there must be `len` initialised bytes at `data`, in one allocation, which nothing else reads or writes.
    pub unsafe fn from_raw_parts(data: *mut u8, len: usize, shape: S) -> Result<Self, BufferError> {
        // SAFETY: as the caller promises.
        Self::from_parts(shape, unsafe { bytes_mut(data, len) }?)
    }
}

impl<'a> DynView<'a> {
    /// Borrows `len` bytes at `data` as an array: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// Same as [`from_parts`](Self::from_parts), or if the pointer is null; an array without bytes may have any pointer.
    ///
    /// # Safety
    /// During `'a`, there must be `len` initialised bytes at `data`, in one allocation, which nothing writes.
    pub unsafe fn from_raw_parts(data: *const u8, len: usize, shape: ArrayShape) -> Result<Self, BufferError> {
        // SAFETY: as the caller promises.
        Self::from_parts(shape, unsafe { bytes(data, len) }?)
    }
}

impl<'a> DynViewMut<'a> {
    /// Borrows `len` bytes at `data` as an array to write: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// Same as [`DynView::from_raw_parts`].
    ///
    /// # Safety
    /// During `'a`, there must be `len` initialised bytes at `data`, in one allocation, which nothing else reads or writes.
    pub unsafe fn from_raw_parts(data: *mut u8, len: usize, shape: ArrayShape) -> Result<Self, BufferError> {
        // SAFETY: as the caller promises.
        Self::from_parts(shape, unsafe { bytes_mut(data, len) }?)
    }
}
