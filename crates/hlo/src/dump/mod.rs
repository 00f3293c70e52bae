//! The compiler's own files about a program's memory, which `--xla_dump_to` writes beside a module: the [buffer
//! assignment](BufferAssignment), [live ranges](LiveRanges) and the [memory usage report](UsageReport). [`dump_files`] finds which
//! files belong together.
//!
//! ```
//! use xla_shape_hlo::dump::{BufferAssignment, DumpFiles};
//!
//! let names = ["m.after_optimizations.txt", "m.after_optimizations-buffer-assignment.txt"];
//! let files = DumpFiles::beside(names, names[0]).unwrap();
//! assert_eq!(files.buffer_assignment.as_deref(), Some(names[1]));
//!
//! let text = "BufferAssignment:\nallocation 0: size 4096, page 0, constant:\n";
//! assert_eq!(BufferAssignment::parse(text)?.constant_bytes(), 4096);
//! # Ok::<(), xla_shape_hlo::dump::DumpError>(())
//! ```

mod assignment;
mod files;
mod launches;
mod live_range;
mod usage;

pub use assignment::{Allocation, AssignedValue, BufferAssignment};
pub use files::{DumpFiles, chosen_dump, dump_files};
pub use launches::{Launch, LaunchedKernel};
pub use live_range::LiveRanges;
pub use usage::UsageReport;

use alloc::string::String;
use core::fmt;

/// Why a file of the compiler was refused.
///
/// ```
/// use xla_shape_hlo::dump::{BufferAssignment, DumpError};
///
/// let error = BufferAssignment::parse("BufferAssignment:\nallocation 0: wide\n").unwrap_err();
/// assert!(matches!(error, DumpError::Line { line: 2, .. }));
/// let error = BufferAssignment::parse("HloModule m\n").unwrap_err();
/// assert_eq!(error, DumpError::NotThisFile { expected: "BufferAssignment:" });
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DumpError {
    /// A line does not have the form that the compiler writes.
    Line {
        /// The line, from 1.
        line: usize,
        /// What was expected.
        expected: &'static str,
        /// The beginning of the line.
        found: String,
    },
    /// The file does not begin like a file of this kind.
    NotThisFile {
        /// How a file of this kind begins.
        expected: &'static str,
    },
    /// The file belongs to another module, or another compilation of it.
    OtherModule {
        /// What the file lacks, or where it differs from the module.
        what: String,
    },
    /// The file says nothing about some values: its end is missing, or it belongs to another module.
    Incomplete {
        /// What the file lacks.
        what: String,
    },
    /// Two files contradict each other.
    Disagree {
        /// The contradiction.
        what: String,
    },
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, expected, found } => write!(f, "line {line}: expected {expected}, found `{found}`"),
            Self::NotThisFile { expected } => write!(f, "the file does not begin with `{expected}`"),
            Self::OtherModule { what } => write!(f, "the file belongs to another module: {what}"),
            Self::Incomplete { what } => write!(f, "the file is not complete, or belongs to another module: {what}"),
            Self::Disagree { what } => write!(f, "the files do not belong together: {what}"),
        }
    }
}

impl core::error::Error for DumpError {}

/// The error about a line of another form.
fn wrong(line: usize, expected: &'static str, text: &str) -> DumpError {
    DumpError::Line { line, expected, found: text.trim().chars().take(60).collect() }
}

/// The text between `begin` and `end`, and the text after `end`.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<(&'a str, &'a str)> {
    text.split_once(begin)?.1.split_once(end)
}
