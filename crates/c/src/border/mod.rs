//! Conversions between C and Rust: handles, lists, texts, results and structs, each checked as far as possible. Panics stop here.
//!
//! The comments cite, by name, the rules under "What the caller guarantees" in the documentation of the crate.

pub(crate) mod error;

use crate::live;
use error::{Result, XlaShapeError, XlaShapeErrorCode as Code, failure};
use std::any::Any;
use std::ffi::{CString, c_char};
use std::io::Write;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;
use xla_shape_core::text::ParseErrorKind;
use xla_shape_core::{ParseError, Span};

/// The most bytes that a struct may claim to have. A larger claim is an uninitialised field.
const MAX_STRUCT: usize = 4096;

/// Runs the body of a function of the interface. Its error becomes an error object, and so does a panic.
#[inline]
pub(crate) fn call(body: impl FnOnce() -> Result<()>) -> *mut XlaShapeError {
    // `AssertUnwindSafe`: handles only change through `OnceLock`, which a panic leaves empty. Only the results of this call can be half
    // written.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => ptr::null_mut(),
        Ok(Err(error)) => give_boxed(error),
        Err(panic) => give_boxed(panicked(panic)),
    }
}

/// Runs the body of a function that has no error object. After a panic, the result is `otherwise`.
pub(crate) fn call_or<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    // `AssertUnwindSafe`: as in `call`.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        drop(panicked(panic));
        otherwise
    })
}

#[cold]
fn panicked(panic: Box<dyn Any + Send>) -> Box<XlaShapeError> {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let error =
        failure(Code::Internal, format_args!("a bug in xla-shape: {}", text.unwrap_or("a panic without a message")));
    // The destructor of the payload may panic again.
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(another);
    }
    error
}

/// A text for C. It ends at the first NUL for C, so NULs inside become `\0`.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}

/// A type whose values are passed to C as opaque pointers. All are immutable, and may be used by several threads at once.
pub(crate) trait Handle: Send + Sync + Sized {
    /// The name of the type in error messages.
    const NAME: &'static str;
}

/// Passes a value to C, which frees it with [`free`].
pub(crate) fn give<T: Handle>(value: T) -> *mut T {
    give_boxed(Box::new(value))
}

fn give_boxed<T: Handle>(value: Box<T>) -> *mut T {
    let handle = Box::into_raw(value);
    live::add(handle, T::NAME);
    handle
}

/// Checks that C can have this pointer to a handle, as far as that can be known without reading what it points to.
fn check_handle<T: Handle>(handle: *const T) -> Result<()> {
    if handle.is_null() {
        return Err(null(T::NAME));
    }
    if !handle.is_aligned() || !live::has(handle, T::NAME) {
        return Err(failure(
            Code::DeadHandle,
            format_args!("expected an {}, found a pointer to something else, or to one that was freed", T::NAME),
        ));
    }
    Ok(())
}

/// The value of a handle.
///
/// # Safety
/// The rule *handles*; nobody frees it during `'a`.
#[inline]
pub(crate) unsafe fn handle<'a, T: Handle>(handle: *const T) -> Result<&'a T> {
    check_handle(handle)?;
    // SAFETY: the pointer is not null (`check_handle`), so `give` made the handle, and nobody frees it during `'a` (*handles*). The library
    // never makes a mutable reference to a handle.
    Ok(unsafe { &*handle })
}

/// Frees a handle. Does nothing if it is null. With debug assertions, a pointer that is not a living handle of this type is reported on
/// stderr and not freed.
///
/// # Safety
/// The rule *handles*; nobody uses it during the call or later.
pub(crate) unsafe fn free<T: Handle>(handle: *mut T) {
    if handle.is_null() {
        return;
    }
    if !handle.is_aligned() || !live::remove(handle, T::NAME) {
        // This function cannot return an error, so it reports the mistake and frees nothing. `eprintln!` would panic if stderr is closed.
        let _ = writeln!(
            std::io::stderr(),
            "xla-shape: expected an {} to free, found a pointer to something else, or to one that was freed",
            T::NAME
        );
        return;
    }
    call_or((), || {
        // SAFETY: `give_boxed` has made it from a box, and nobody else uses it (*handles*).
        drop(unsafe { Box::from_raw(handle) });
    });
}

#[cold]
pub(crate) fn null(name: &str) -> Box<XlaShapeError> {
    failure(Code::NullPointer, format_args!("expected a pointer for the {name}, found NULL"))
}

#[cold]
fn misaligned(name: &str, align: usize) -> Box<XlaShapeError> {
    failure(Code::InvalidArgument, format_args!("expected a pointer for the {name} at a multiple of {align} bytes"))
}

/// Whether a pointer and a length can be a list of values of type `T`.
#[inline]
fn check_list<T>(list: *const T, len: usize, name: &str) -> Result<()> {
    if list.is_null() {
        return Err(null(name));
    }
    if !list.is_aligned() {
        return Err(misaligned(name, align_of::<T>()));
    }
    if len > isize::MAX as usize / size_of::<T>() {
        return Err(failure(
            Code::InvalidArgument,
            format_args!("expected the {name} to fit in memory, found {len} entries"),
        ));
    }
    Ok(())
}

/// A list of values. The pointer may be null if the length is 0.
///
/// # Safety
/// The rule *lists*, during `'a`. Every bit pattern is a valid `T`.
#[inline]
pub(crate) unsafe fn list<'a, T: Copy>(list: *const T, len: usize, name: &str) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    check_list(list, len, name)?;
    // SAFETY: the pointer is not null and aligned, and `len` values are at most `isize::MAX` bytes; they exist, and nobody writes them
    // during `'a` (*lists*).
    Ok(unsafe { slice::from_raw_parts(list, len) })
}

/// A list of values that the function writes. The pointer may be null if the length is 0.
///
/// # Safety
/// The rule *results* for `len` values, during `'a`. Every bit pattern is a valid `T`.
#[inline]
pub(crate) unsafe fn list_mut<'a, T: Copy>(list: *mut T, len: usize, name: &str) -> Result<&'a mut [T]> {
    if len == 0 {
        return Ok(&mut []);
    }
    check_list(list, len, name)?;
    // SAFETY: the pointer is not null and aligned, and `len` values are at most `isize::MAX` bytes; nobody else uses them during `'a`
    // (*results*). Memory that C passes counts as initialised, and all bytes are valid.
    Ok(unsafe { slice::from_raw_parts_mut(list, len) })
}

/// A text, which has to be UTF-8.
///
/// # Safety
/// The rule *lists*, during `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char, len: usize) -> Result<&'a str> {
    // SAFETY: the caller promises *lists*; bytes have no invalid values.
    let bytes = unsafe { list(text.cast::<u8>(), len, "text") }?;
    std::str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        let end = start + error.error_len().unwrap_or(bytes.len() - start);
        XlaShapeError::of_parse(&ParseError::new(ParseErrorKind::InvalidUtf8, Span { start, end }), "")
    })
}

/// The place of a result.
///
/// # Safety
/// The rule *results*, during `'a`.
#[inline]
pub(crate) unsafe fn result<'a, T>(place: *mut T, name: &str) -> Result<&'a mut MaybeUninit<T>> {
    check_list(place, 1, name)?;
    // SAFETY: the pointer is not null and aligned; it points to a place for a `T` that nobody else uses during `'a` (*results*), and
    // `MaybeUninit` makes no claim about its bytes.
    Ok(unsafe { &mut *place.cast::<MaybeUninit<T>>() })
}

/// As [`result`], but the pointer may be null: then the caller does not want the result.
///
/// # Safety
/// The rule *results*, during `'a`.
#[inline]
pub(crate) unsafe fn optional<'a, T>(place: *mut T, name: &str) -> Result<Option<&'a mut MaybeUninit<T>>> {
    if place.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises *results*.
    unsafe { result(place, name) }.map(Some)
}

/// The place of a new handle. It is set to null, so that it is null if the call fails.
///
/// # Safety
/// The rule *results*, during `'a`.
pub(crate) unsafe fn new_handle<'a, T: Handle>(place: *mut *mut T) -> Result<&'a mut MaybeUninit<*mut T>> {
    // SAFETY: the caller promises *results*.
    let place = unsafe { result(place, "result") }?;
    place.write(ptr::null_mut());
    Ok(place)
}

/// A struct of the interface, of which later versions have more fields.
///
/// # Safety
/// It is `repr(C)`, and its first field is `struct_size: usize`. Every bit pattern is a valid value. In a value for C, all bytes are
/// initialised: it has no padding.
pub(crate) unsafe trait Struct: Copy {
    /// The name of the type in error messages.
    const NAME: &'static str;
    /// Its size in bytes in the first version of the interface. No caller has a smaller one.
    const FIRST_SIZE: usize;
}

/// The size that a struct claims to have.
///
/// # Safety
/// The rule *structs*.
unsafe fn struct_size<T: Struct>(from: *const T) -> Result<usize> {
    check_list(from, 1, T::NAME)?;
    // SAFETY: the pointer is not null and aligned, and the struct begins with its size (`Struct`), which exists (*structs*).
    let size = unsafe { from.cast::<usize>().read() };
    if !(T::FIRST_SIZE..=MAX_STRUCT).contains(&size) {
        return Err(failure(
            Code::InvalidArgument,
            format_args!("expected struct_size to be sizeof({}), such as {}, found {size}", T::NAME, size_of::<T>()),
        ));
    }
    Ok(size)
}

/// A struct that C has filled. Fields that the caller's version does not have are 0; fields that this version does not know must be 0.
///
/// # Safety
/// The rule *structs*.
pub(crate) unsafe fn read_struct<T: Struct>(from: *const T) -> Result<T> {
    // SAFETY: the caller promises *structs*.
    let size = unsafe { struct_size(from) }?;
    let mut value = MaybeUninit::<T>::zeroed();
    let bytes = from.cast::<u8>();
    // SAFETY: both have these bytes: `from` has `size` bytes (*structs*), and `value` as many as a `T`. `value` is new, so they do not overlap.
    unsafe { ptr::copy_nonoverlapping(bytes, value.as_mut_ptr().cast::<u8>(), size.min(size_of::<T>())) };
    for at in size_of::<T>()..size {
        // SAFETY: `at` is below `size`, so the byte belongs to the caller's struct (*structs*).
        let byte = unsafe { bytes.add(at) };
        // SAFETY: the same.
        if unsafe { byte.read() } != 0 {
            return Err(failure(
                Code::InvalidArgument,
                format_args!(
                    "expected 0 in byte {at} of {}: this version of the library does not know the field",
                    T::NAME
                ),
            ));
        }
    }
    // SAFETY: every bit pattern is a valid value (`Struct`), and zeros are initialised.
    Ok(unsafe { value.assume_init() })
}

/// Fills the caller's struct, as far as its version has fields. `value` gets the number of bytes that are filled, and returns the struct.
///
/// # Safety
/// The rules *structs* and *results*.
pub(crate) unsafe fn write_struct<T: Struct>(to: *mut T, value: impl FnOnce(usize) -> Result<T>) -> Result<()> {
    // SAFETY: the caller promises *structs*.
    let size = unsafe { struct_size(to.cast_const()) }?.min(size_of::<T>());
    let value = value(size)?;
    // SAFETY: the caller's struct has at least `size` bytes (*structs*), which nobody else uses (*results*), and so has `value`, which is
    // a local variable.
    unsafe { ptr::copy_nonoverlapping(ptr::from_ref(&value).cast::<u8>(), to.cast::<u8>(), size) };
    Ok(())
}

/// Whether two pieces of memory have a byte in common.
pub(crate) fn overlap<A, B>((a, a_bytes): (*const A, usize), (b, b_bytes): (*const B, usize)) -> bool {
    let is_before_end = |start: usize, other: usize, bytes: usize| start < other.saturating_add(bytes);
    a_bytes != 0
        && b_bytes != 0
        && is_before_end(a.addr(), b.addr(), b_bytes)
        && is_before_end(b.addr(), a.addr(), a_bytes)
}

/// Converts one of the library's numbers for C: sizes, positions and bytes are at most `i64::MAX`.
#[inline]
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts an index from C. Cast to unsigned, a negative number is larger than any dimension.
#[inline]
pub(crate) fn unsigned(list: &[i64]) -> &[u64] {
    // SAFETY: the pointer and length are those of a slice; both types have the same size and alignment, and no invalid values.
    unsafe { slice::from_raw_parts(list.as_ptr().cast::<u64>(), list.len()) }
}

/// As [`unsigned`], for an index that the library writes.
#[inline]
pub(crate) fn unsigned_mut(list: &mut [i64]) -> &mut [u64] {
    // SAFETY: as in `unsigned`; the exclusive borrow lasts as long as the result.
    unsafe { slice::from_raw_parts_mut(list.as_mut_ptr().cast::<u64>(), list.len()) }
}
