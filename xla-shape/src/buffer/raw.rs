//! Arrays in memory that something else owns: a device's runtime, or a program in another language.

use super::dynamic::{DynView, DynViewMut};
use super::error::BufferError;
use super::storage::{View, ViewMut};
use crate::element::Stored;
use crate::types::WholeArray;
use xla_shape_core::ArrayShape;

/// Checks that a pointer is not null, unless there are no bytes.
fn check_pointer(data: *const u8, len: usize) -> Result<(), BufferError> {
    if data.is_null() && len > 0 { Err(BufferError::NullPointer) } else { Ok(()) }
}

/// # Safety
/// As [`View::from_raw_parts`].
unsafe fn bytes<'a>(data: *const u8, len: usize) -> Result<&'a [u8], BufferError> {
    check_pointer(data, len)?;
    // SAFETY: `len > 0` and the pointer is not null, so the caller guarantees `len` initialised bytes that nothing writes during `'a`.
    Ok(if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } })
}

/// # Safety
/// As [`ViewMut::from_raw_parts`].
unsafe fn bytes_mut<'a>(data: *mut u8, len: usize) -> Result<&'a mut [u8], BufferError> {
    check_pointer(data, len)?;
    // SAFETY: `len > 0` and the pointer is not null, so the caller guarantees `len` initialised bytes that nothing else uses during `'a`.
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
    /// // SAFETY: `memory` lives longer than `x`, and nothing writes it.
    /// let x = unsafe { View::<Pair>::from_raw_parts(memory.as_ptr(), 2, Pair::default()) }?;
    /// assert_eq!(x[[1]], 2);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the shape takes a different number of bytes, or the pointer is null or not aligned for the elements' Rust type. An array without
    /// bytes may have any pointer.
    ///
    /// # Safety
    /// During `'a`, `len` initialised bytes are at `data`, in one allocation, and nothing writes them.
    pub unsafe fn from_raw_parts(data: *const u8, len: usize, shape: S) -> Result<Self, BufferError> {
        // SAFETY: the caller guarantees what `bytes` requires.
        Self::from_parts(shape, unsafe { bytes(data, len) }?)
    }
}

impl<'a, S: WholeArray<Element: Stored>> ViewMut<'a, S> {
    /// Borrows `len` bytes at `data` as an array to write: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{ViewMut, shape};
    ///
    /// type Pair = shape!(u8[2]);
    /// let mut memory = [1, 2];
    /// // SAFETY: `memory` lives longer than the view, and nothing else uses it meanwhile.
    /// unsafe { ViewMut::<Pair>::from_raw_parts(memory.as_mut_ptr(), 2, Pair::default()) }?[[1]] = 7;
    /// assert_eq!(memory, [1, 7]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// As [`View::from_raw_parts`].
    ///
    /// # Safety
    /// During `'a`, `len` initialised bytes are at `data`, in one allocation, and nothing else reads or writes them.
    pub unsafe fn from_raw_parts(data: *mut u8, len: usize, shape: S) -> Result<Self, BufferError> {
        // SAFETY: the caller guarantees what `bytes_mut` requires.
        Self::from_parts(shape, unsafe { bytes_mut(data, len) }?)
    }
}

impl<'a> DynView<'a> {
    /// Borrows `len` bytes at `data` as an array: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::DynView;
    /// use xla_shape::element::U8;
    ///
    /// let memory = [1, 2];
    /// // SAFETY: `memory` lives longer than `x`, and nothing writes it.
    /// let x = unsafe { DynView::from_raw_parts(memory.as_ptr(), 2, "u8[2]".parse()?) }?;
    /// assert_eq!(x.get::<U8>(&[1])?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_parts`](Self::from_parts), or if the pointer is null. An array without bytes may have any pointer.
    ///
    /// # Safety
    /// During `'a`, `len` initialised bytes are at `data`, in one allocation, and nothing writes them.
    pub unsafe fn from_raw_parts(data: *const u8, len: usize, shape: ArrayShape) -> Result<Self, BufferError> {
        // SAFETY: the caller guarantees what `bytes` requires.
        Self::from_parts(shape, unsafe { bytes(data, len) }?)
    }
}

impl<'a> DynViewMut<'a> {
    /// Borrows `len` bytes at `data` as an array to write: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::DynViewMut;
    /// use xla_shape::element::U8;
    ///
    /// let mut memory = [1, 2];
    /// // SAFETY: `memory` lives longer than `x`, and nothing else uses it meanwhile.
    /// let mut x = unsafe { DynViewMut::from_raw_parts(memory.as_mut_ptr(), 2, "u8[2]".parse()?) }?;
    /// x.set::<U8>(&[1], 7)?;
    /// assert_eq!(memory, [1, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`DynView::from_raw_parts`].
    ///
    /// # Safety
    /// During `'a`, `len` initialised bytes are at `data`, in one allocation, and nothing else reads or writes them.
    pub unsafe fn from_raw_parts(data: *mut u8, len: usize, shape: ArrayShape) -> Result<Self, BufferError> {
        // SAFETY: the caller guarantees what `bytes_mut` requires.
        Self::from_parts(shape, unsafe { bytes_mut(data, len) }?)
    }
}
