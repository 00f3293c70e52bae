//! The version of the interface.

use crate::border::optional;
use std::ffi::{CStr, c_char};

/// The major version of the interface that this header describes. Programs work with libraries of the same major version.
pub const XLA_SHAPE_ABI_MAJOR: u32 = 1;

/// The minor version of the interface that this header describes: it grows with each function, field or code that is added. A library with
/// a larger minor version has everything that this header describes.
pub const XLA_SHAPE_ABI_MINOR: u32 = 0;

/// The version of the interface that the library has. Compare it with XLA_SHAPE_ABI_MAJOR and XLA_SHAPE_ABI_MINOR if the library is loaded
/// at run time: the major versions must be equal, and the library's minor version at least that of the header.
///
/// `major` and `minor` may be NULL. Never fails.
///
/// # Safety
/// `major` and `minor` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_abi_version(major: *mut u32, minor: *mut u32) {
    // SAFETY: the caller promises *results*.
    if let Ok(Some(place)) = unsafe { optional(major, "major version") } {
        place.write(XLA_SHAPE_ABI_MAJOR);
    }
    // SAFETY: the caller promises *results*.
    if let Ok(Some(place)) = unsafe { optional(minor, "minor version") } {
        place.write(XLA_SHAPE_ABI_MINOR);
    }
}

/// The version of the library, such as "0.1.0": a static text that ends with NUL. Never fails.
#[unsafe(no_mangle)]
pub extern "C" fn xla_shape_library_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no NUL"),
    };
    VERSION.as_ptr()
}
