//! Reading what a plug-in points to.

use crate::error::{Error, Result};
use std::ffi::c_char;
use std::slice;

/// A list of a plug-in; `None` if it is null although it has entries, is not aligned, or is longer than memory.
///
/// # Safety
/// If `data` is not null, it points to `len` values that nobody changes while `'a` lasts.
pub(crate) unsafe fn list<'a, T>(data: *const T, len: usize) -> Option<&'a [T]> {
    if len == 0 {
        return Some(&[]);
    }
    let bytes = len.checked_mul(size_of::<T>())?;
    if data.is_null() || !data.is_aligned() || isize::try_from(bytes).is_err() {
        return None;
    }
    // SAFETY: it is not null, aligned and no longer than a slice may be; the rest is the caller's promise.
    Some(unsafe { slice::from_raw_parts(data, len) })
}

/// The bytes of a text, under the same conditions.
///
/// # Safety
/// Like [`list`].
pub(crate) unsafe fn bytes<'a>(data: *const c_char, len: usize) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    unsafe { list(data.cast::<u8>(), len) }
}

/// A text, with U+FFFD for what is not UTF-8.
///
/// # Safety
/// Like [`list`].
pub(crate) unsafe fn text(data: *const c_char, len: usize) -> Option<String> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes(data, len) }?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// The text that a call answers with.
///
/// # Safety
/// Like [`list`].
pub(crate) unsafe fn answered(call: &'static str, data: *const c_char, len: usize) -> Result<String> {
    // SAFETY: the caller's promise.
    unsafe { text(data, len) }.ok_or_else(|| Error::answer(call, "it is null"))
}
