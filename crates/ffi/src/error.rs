//! The errors that kernels return.

use std::fmt;

/// Why a call failed: a status code and a message. XLA stops the program with them; in JAX they become an exception.
///
/// `?` converts any [`std::error::Error`] to an error of code [`Internal`](ErrorCode::Internal).
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

/// The codes of `absl::Status` (`XLA_FFI_Error_Code` in `xla/ffi/api/c_api.h`).
///
/// ```
/// use xla_shape_ffi::{Error, ErrorCode};
///
/// let error = Error::new(ErrorCode::Unimplemented, "sizes that are not a power of 2");
/// assert_eq!(error.code(), ErrorCode::Unimplemented);
/// let error = Error::from("seven".parse::<u32>().unwrap_err());
/// assert_eq!(error.code(), ErrorCode::Internal, "`?` makes this of other errors");
/// ```
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
    /// An error with this code and message.
    ///
    /// ```
    /// use xla_shape_ffi::{Error, ErrorCode};
    ///
    /// let error = Error::new(ErrorCode::Unimplemented, "sizes that are not a power of 2");
    /// assert_eq!(error.to_string(), "sizes that are not a power of 2");
    /// ```
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// An error of code [`InvalidArgument`](ErrorCode::InvalidArgument): the kernel cannot be called with these operands.
    ///
    /// ```
    /// # use xla_shape_ffi::{Error, ErrorCode};
    /// let error = Error::invalid_argument("expected an even number of rows, found 3");
    /// assert_eq!(error.code(), ErrorCode::InvalidArgument);
    /// ```
    #[must_use]
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message)
    }

    /// An error of code [`Internal`](ErrorCode::Internal): the kernel itself failed.
    ///
    /// ```
    /// # use xla_shape_ffi::{Error, ErrorCode};
    /// assert_eq!(Error::internal("the cache is empty").code(), ErrorCode::Internal);
    /// ```
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    /// The status code.
    ///
    /// ```
    /// # use xla_shape_ffi::{Error, ErrorCode};
    /// let error: Error = "seven".parse::<u32>().unwrap_err().into();
    /// assert_eq!(error.code(), ErrorCode::Internal);
    /// ```
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        self.code
    }

    /// The message, without the code.
    ///
    /// ```
    /// # use xla_shape_ffi::Error;
    /// let error: Error = "seven".parse::<u32>().unwrap_err().into();
    /// assert_eq!(error.message(), "invalid digit found in string");
    /// ```
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

// `Error` does not implement `std::error::Error`, because this blanket conversion would then overlap with `From<T> for T`.
impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self::internal(error.to_string())
    }
}

/// What a kernel may return: `()`, or a `Result<(), E>` whose error converts to [`Error`]. The kernel writes the
/// values that it computes to parameters.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot return `{Self}`",
    label = "expected nothing, or a `Result<(), E>` whose error converts into `xla_shape_ffi::Error`",
    note = "results are parameters: `ViewMut` or `DynViewMut`"
)]
pub trait Outcome {
    /// The outcome as a `Result`.
    ///
    /// ```
    /// use xla_shape_ffi::{Error, Outcome};
    ///
    /// assert_eq!(().into_result(), Ok(()));
    /// assert!(Err::<(), _>(Error::internal("no more memory")).into_result().is_err());
    /// ```
    ///
    /// # Errors
    /// The error that the kernel has returned.
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
