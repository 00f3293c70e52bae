//! What a compiler or a runtime refused, and why, read from the message.

mod cause;
mod code;
mod reader;
mod remedy;
mod rules;
mod words;

pub use cause::{Halt, Library, RefusalCause};
pub use code::Code;
pub(crate) use reader::{
    CUDA_MEMORY, GRAPHS, KILLED, NCCL_FAILURE, NO_SPACE, NO_VMEM, OTHER_RESOURCES, Reader, is_near,
};
pub use remedy::Remedy;

use alloc::string::String;

/// A message that says that a compiler or a runtime refused a program, an array or a kernel, and why.
///
/// Messages about memory that ran out are [`ReportedAmount`](crate::ReportedAmount)s.
///
/// ```
/// use xla_shape_hlo::{RefusalCause, Refusal};
///
/// let text = "Mosaic failed to compile TPU kernel: cannot statically prove that index in dimension 1 is a multiple of 128";
/// let refusal = Refusal::read(text).unwrap();
/// assert!(matches!(refusal.cause, RefusalCause::UnprovenIndex { dimension: 1, multiple: 128, .. }));
/// assert_eq!(refusal.code(), Some("E2003"));
/// assert!(Refusal::read("all is well").is_none());
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// The number of the message's first line, from 1.
    pub line: u64,
    /// The kernel or the program that was refused, if the message names it.
    pub name: Option<String>,
    /// The operation that was refused, if the message names it, such as `vector_load`.
    pub operation: Option<String>,
    /// The file and the line in the user's program, such as `attention.py:34`, if the message states them.
    pub source: Option<String>,
    /// Why it was refused.
    pub cause: RefusalCause,
}

impl Refusal {
    /// Reads a message; `None` if it is not a known message. Line breaks count as spaces.
    ///
    /// ```
    /// use xla_shape_hlo::Refusal;
    ///
    /// let refusal = Refusal::read("Unimplemented primitive in Pallas TPU lowering for tc: sort. Please file an issue").unwrap();
    /// assert_eq!(refusal.code(), None);
    /// ```
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        rules::read(text)
    }

    /// A message in line 1 that states only a cause.
    pub(crate) const fn of(cause: RefusalCause) -> Self {
        Self { line: 1, name: None, operation: None, source: None, cause }
    }

    /// XLA's code for such a message, which its catalogue of errors (`docs/errors`) explains; `None` if the catalogue has none.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        self.cause.code()
    }
}
