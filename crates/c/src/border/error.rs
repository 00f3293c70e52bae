//! The error object.

use crate::border::{Handle, c_text, call_or, free, optional};
use std::ffi::{CString, c_char};
use std::fmt::Display;
use xla_shape_core::bitcast::BitcastError;
use xla_shape_core::shard::ShardingError;
use xla_shape_core::tpu::{DefaultLayoutError, UnknownGeneration};
use xla_shape_core::{ParseError, Span, StrideTableError, ValidationError};
use xla_shape_relayout::{OutOfMemory, RelayoutError};

pub(crate) type Result<T> = std::result::Result<T, Box<XlaShapeError>>;

/// What kind of error it is. Later versions may return further codes.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XlaShapeErrorCode {
    /// No error: the code of NULL.
    Ok = 0,
    /// A text could not be parsed. The error has a span.
    Parse = 1,
    /// An argument is not valid by itself, or does not fit another one.
    InvalidArgument = 2,
    /// A pointer is NULL where it may not be.
    NullPointer = 3,
    /// A handle was freed, or is of another type. Builds with debug assertions detect this; others detect only misaligned pointers.
    DeadHandle = 4,
    /// A buffer or list does not have the size that it needs. The message says which.
    BufferSize = 5,
    /// An index, a position, a part or a device does not exist.
    OutOfBounds = 6,
    /// The shape is a tuple, a token or opaque, where an array is needed, or an array where a tuple is needed.
    WrongKind = 7,
    /// The answer depends on a size that is not known (an unbounded dimension), or does not fit in an int64_t.
    UnknownSize = 8,
    /// The question has no answer in this version, such as the layout that a TPU chooses for this array.
    Unsupported = 9,
    /// Memory for an array could not be allocated. (Small allocations abort the process if they fail, as everywhere in Rust.)
    OutOfMemory = 10,
    /// The source and the destination of a copy overlap, or two lists that a function writes overlap.
    Overlap = 11,
    /// The operation is not a bitcast, because it moves bytes.
    NotABitcast = 12,
    /// A bug in this library.
    Internal = 13,
}

use XlaShapeErrorCode as Code;

/// Why a function failed. Immutable: any number of threads may read it. Free it with xla_shape_error_free.
pub struct XlaShapeError {
    code: Code,
    message: CString,
    rendered: CString,
    span: Option<Span>,
}

impl Handle for XlaShapeError {
    const NAME: &'static str = "XlaShapeError";
}

impl XlaShapeError {
    /// The error object for a text that could not be parsed.
    #[cold]
    pub(crate) fn of_parse(error: &ParseError, text: &str) -> Box<Self> {
        let message = c_text(&error.to_string());
        let rendered = if text.is_empty() { message.clone() } else { c_text(&error.render(text).to_string()) };
        Box::new(Self { code: Code::Parse, message, rendered, span: Some(error.span()) })
    }
}

#[cold]
pub(crate) fn failure(code: Code, message: impl Display) -> Box<XlaShapeError> {
    let message = c_text(&message.to_string());
    Box::new(XlaShapeError { code, rendered: message.clone(), message, span: None })
}

impl From<StrideTableError> for Box<XlaShapeError> {
    fn from(error: StrideTableError) -> Self {
        let code = match error {
            StrideTableError::UnboundedDimension { .. } | StrideTableError::Overflow => Code::UnknownSize,
            _ => Code::Unsupported,
        };
        failure(code, error)
    }
}

impl From<ValidationError> for Box<XlaShapeError> {
    fn from(error: ValidationError) -> Self {
        failure(Code::InvalidArgument, error)
    }
}

impl From<BitcastError> for Box<XlaShapeError> {
    fn from(error: BitcastError) -> Self {
        match error {
            BitcastError::StrideTable(error) => error.into(),
            BitcastError::Permutation(_) => failure(Code::InvalidArgument, error),
            _ => failure(Code::Unsupported, error),
        }
    }
}

impl From<UnknownGeneration> for Box<XlaShapeError> {
    fn from(error: UnknownGeneration) -> Self {
        failure(Code::InvalidArgument, error)
    }
}

impl From<DefaultLayoutError> for Box<XlaShapeError> {
    fn from(error: DefaultLayoutError) -> Self {
        failure(Code::Unsupported, error)
    }
}

impl From<ShardingError> for Box<XlaShapeError> {
    fn from(error: ShardingError) -> Self {
        let code = match error {
            ShardingError::DynamicDimension { .. } => Code::UnknownSize,
            _ => Code::InvalidArgument,
        };
        failure(code, error)
    }
}

impl From<RelayoutError> for Box<XlaShapeError> {
    fn from(error: RelayoutError) -> Self {
        let code = match error {
            RelayoutError::UnboundedDimension { .. } | RelayoutError::TooLarge { .. } => Code::UnknownSize,
            RelayoutError::BufferSizeMismatch { .. } => Code::BufferSize,
            RelayoutError::OutOfMemory(_) => Code::OutOfMemory,
            _ => Code::InvalidArgument,
        };
        failure(code, error)
    }
}

impl From<OutOfMemory> for Box<XlaShapeError> {
    fn from(error: OutOfMemory) -> Self {
        failure(Code::OutOfMemory, error)
    }
}

/// The error object; `None` if the pointer is known not to point to one.
///
/// # Safety
/// The rule *handles*.
unsafe fn known<'a>(error: *const XlaShapeError) -> Option<&'a XlaShapeError> {
    // SAFETY: the caller promises *handles*.
    unsafe { crate::border::handle(error) }.ok()
}

/// What kind of error it is.
///
/// Returns XLA_SHAPE_ERROR_CODE_OK if `error` is NULL: no error.
///
/// # Safety
/// `error` is NULL, or an error object that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_error_code(error: *const XlaShapeError) -> XlaShapeErrorCode {
    if error.is_null() {
        return Code::Ok;
    }
    // SAFETY: the caller promises *handles*.
    call_or(Code::Internal, || unsafe { known(error) }.map_or(Code::DeadHandle, |error| error.code))
}

/// What is wrong, in one line of UTF-8 that ends with NUL: what was expected, and what was found.
///
/// Never NULL; empty if `error` is NULL. The text belongs to the error object, and is valid until that is freed.
///
/// # Safety
/// `error` is NULL, or an error object that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_error_message(error: *const XlaShapeError) -> *const c_char {
    // SAFETY: the caller promises *handles*.
    call_or(c"".as_ptr(), || unsafe { known(error) }.map_or(c"".as_ptr(), |error| error.message.as_ptr()))
}

/// The message of xla_shape_error_message, for people to read. If a text could not be parsed, two more lines follow. The first is the
/// line of the text that has the error; the second has a `^` under the error. The last line does not end with a newline.
///
/// Never NULL; empty if `error` is NULL. The text belongs to the error object, and is valid until that is freed.
///
/// # Safety
/// `error` is NULL, or an error object that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_error_rendered(error: *const XlaShapeError) -> *const c_char {
    // SAFETY: the caller promises *handles*.
    call_or(c"".as_ptr(), || unsafe { known(error) }.map_or(c"".as_ptr(), |error| error.rendered.as_ptr()))
}

/// Which part of a text is wrong: the bytes `*start` to `*end` (exclusive) of the text that the failed function was given. `*start` and
/// `*end` are equal if something is missing there.
///
/// Returns whether the error has a span; if not, nothing is written. Errors with XLA_SHAPE_ERROR_CODE_PARSE have one. `start` and `end`
/// may be NULL.
///
/// # Safety
/// `error` is NULL, or an error object that has not been freed. `start` and `end` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_error_span(error: *const XlaShapeError, start: *mut usize, end: *mut usize) -> bool {
    call_or(false, || {
        // SAFETY: the caller promises *handles*.
        let Some(span) = unsafe { known(error) }.and_then(|error| error.span) else { return false };
        // SAFETY: the caller promises *results*.
        if let Ok(Some(place)) = unsafe { optional(start, "start") } {
            place.write(span.start);
        }
        // SAFETY: the caller promises *results*.
        if let Ok(Some(place)) = unsafe { optional(end, "end") } {
            place.write(span.end);
        }
        true
    })
}

/// Frees an error object. Nothing happens if it is NULL.
///
/// # Safety
/// `error` is NULL, or an error object that has not been freed, and that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_error_free(error: *mut XlaShapeError) {
    // SAFETY: the caller promises *handles*, and that nobody uses this handle any more.
    unsafe { free(error) };
}
