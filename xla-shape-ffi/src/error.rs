//! What a kernel says when it cannot do its work.

use std::fmt;

/// Why a call failed: a status code and a sentence, which become an exception in the program that called.
///
/// Every error of Rust becomes one of code [`INTERNAL`](ErrorCode::Internal) by `?`.
///
/// ```
/// use xla_shape_ffi::{Error, ErrorCode};
///
/// fn half(n: usize) -> Result<usize, Error> {
///     if n % 2 == 1 {
///         return Err(Error::invalid_argument(format!("expected an even number, found {n}")));
///     }
///     Ok(n / 2)
/// }
/// assert_eq!(half(3).unwrap_err().code(), ErrorCode::InvalidArgument);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    code: ErrorCode,
    message: String,
}

/// The codes of `absl::Status`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the codes are those of absl's guide on status codes")]
pub enum ErrorCode {
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

impl Error {
    /// An error with this code.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The call is not one for this kernel.
    #[must_use]
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message)
    }

    /// Something went wrong inside.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        self.code
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

// As long as `Error` is no `std::error::Error` itself, all of those convert.
impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self::internal(error.to_string())
    }
}

/// What a kernel may return: nothing, or a `Result` of nothing.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot return `{Self}`",
    label = "expected nothing, or a `Result<(), E>` whose error converts into `xla_shape_ffi::Error`",
    note = "results are parameters: `ViewMut` or `DynViewMut`"
)]
pub trait Outcome {
    /// The result of the kernel.
    ///
    /// # Errors
    /// If the kernel says so.
    fn into_result(self) -> Result<(), Error>;
}

impl Outcome for () {
    fn into_result(self) -> Result<(), Error> {
        Ok(())
    }
}

impl<E: Into<Error>> Outcome for Result<(), E> {
    fn into_result(self) -> Result<(), Error> {
        self.map_err(Into::into)
    }
}
