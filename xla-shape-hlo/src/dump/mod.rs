//! What the compiler itself says about a program's memory: the files that `--xla_dump_to` leaves beside a module.

mod assignment;
mod files;
mod live_range;
mod usage;

pub use assignment::{Allocation, AssignedValue, BufferAssignment};
pub use files::{DumpFiles, dump_files};
pub use live_range::LiveRanges;
pub use usage::UsageReport;

use alloc::string::String;
use core::fmt;

/// What is wrong with a file of a dump.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DumpError {
    /// A line does not belong in such a file.
    Line {
        /// The line, from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
        /// The beginning of what stands there.
        found: String,
    },
    /// The file does not begin like such a file.
    NotThisFile {
        /// How such a file begins.
        expected: &'static str,
    },
    /// The file belongs to another module, or another compilation of it.
    OtherModule {
        /// What the module has, and what is missing or different in the file.
        what: String,
    },
    /// Two files do not say the same.
    Disagree {
        /// What they disagree about.
        what: String,
    },
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, expected, found } => write!(f, "line {line}: expected {expected}, found `{found}`"),
            Self::NotThisFile { expected } => write!(f, "the file does not begin with `{expected}`"),
            Self::OtherModule { what } => write!(f, "the file belongs to another module: {what}"),
            Self::Disagree { what } => write!(f, "the files do not belong together: {what}"),
        }
    }
}

impl core::error::Error for DumpError {}

/// The error that a line is not what it should be.
fn wrong(line: usize, expected: &'static str, text: &str) -> DumpError {
    DumpError::Line { line, expected, found: text.trim().chars().take(60).collect() }
}

/// The part of a text between two others, and what follows.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<(&'a str, &'a str)> {
    text.split_once(begin)?.1.split_once(end)
}
