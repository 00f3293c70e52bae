//! Reads lists and texts through pointers of a plug-in.
//!
//! All functions require what [`list`] requires: if `data` is not null, it points to `len` initialised values that nobody writes
//! during the borrow (or, where a copy is returned, during the call).

use crate::error::{Error, Result};
use std::ffi::c_char;
use std::slice;

/// A list that a plug-in returned; `None` if its pointer is null although it has entries, or is not aligned, or if it is too long for the address
/// space.
///
/// # Safety
/// If `data` is not null, it points to `len` initialised values that nobody writes during `'a`.
pub(crate) unsafe fn list<'a, T>(data: *const T, len: usize) -> Option<&'a [T]> {
    if len == 0 {
        return Some(&[]);
    }
    let bytes = len.checked_mul(size_of::<T>())?;
    if data.is_null() || !data.is_aligned() || isize::try_from(bytes).is_err() {
        return None;
    }
    // SAFETY: `data` is not null, is aligned, and the list has at most `isize::MAX` bytes, as checked above. The caller promises
    // that it points to `len` initialised values that nobody writes during `'a`.
    Some(unsafe { slice::from_raw_parts(data, len) })
}

/// The bytes of a text; `None` as for [`list`].
///
/// # Safety
/// Like [`list`].
pub(crate) unsafe fn bytes<'a>(data: *const c_char, len: usize) -> Option<&'a [u8]> {
    // SAFETY: the caller promises what `list` requires.
    unsafe { list(data.cast::<u8>(), len) }
}

/// A copy of a text, with U+FFFD in place of bytes that are not UTF-8; `None` as for [`list`], or if there is not enough memory.
///
/// # Safety
/// What [`list`] requires, but only until this function returns.
pub(crate) unsafe fn text(data: *const c_char, len: usize) -> Option<String> {
    // SAFETY: the caller promises what `bytes` requires; the borrow ends with this call.
    text_from_utf8(unsafe { bytes(data, len) }?)
}

/// The text of these bytes, with U+FFFD in place of those that are not UTF-8; `None` if there is not enough memory.
fn text_from_utf8(bytes: &[u8]) -> Option<String> {
    const BROKEN: &str = "\u{fffd}";
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        let broken = if chunk.invalid().is_empty() { "" } else { BROKEN };
        text.try_reserve(chunk.valid().len() + broken.len()).ok()?;
        text.push_str(chunk.valid());
        text.push_str(broken);
    }
    Some(text)
}

/// A copy of a list; `None` as for [`list`], or if there is not enough memory.
///
/// # Safety
/// What [`list`] requires, but only until this function returns.
pub(crate) unsafe fn list_copy<T: Copy>(data: *const T, len: usize) -> Option<Vec<T>> {
    // SAFETY: the caller promises what `list` requires; the borrow ends with this call.
    let found = unsafe { list(data, len) }?;
    let mut copy = Vec::new();
    copy.try_reserve_exact(found.len()).ok()?;
    copy.extend_from_slice(found);
    Some(copy)
}

/// A copy of the text that a call has returned.
///
/// # Errors
/// If the pointer is null, or there is not enough memory.
///
/// # Safety
/// What [`list`] requires, but only until this function returns.
pub(crate) unsafe fn answer_text(call: &'static str, data: *const c_char, len: usize) -> Result<String> {
    // SAFETY: the caller promises what `bytes` requires; the borrow ends with this call.
    let bytes = unsafe { bytes(data, len) }.ok_or_else(|| Error::answer(call, "the result is null"))?;
    text_from_utf8(bytes).ok_or_else(|| Error::answer(call, format_args!("not enough memory for its {len} bytes")))
}
