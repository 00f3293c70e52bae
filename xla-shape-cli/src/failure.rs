//! Why a verb did not do all that it was asked for.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use thiserror::Error;
use xla_shape::ParseError;
use xla_shape_render::harmless;

/// The exit code where the input has problems; clap's own, for wrong usage, is 2.
const INPUT_HAS_PROBLEMS: u8 = 1;

/// The exit code where a part of the input could not be read, and the output is about the rest.
const INPUT_READ_IN_PART: u8 = 3;

/// Why a verb did not do all that it was asked for; it displays as what the program says.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// The input has problems that the output already tells.
    #[error("the input has problems")]
    Told,
    /// A part of the input could not be read, as was said first; the output is about the rest.
    #[error("a part of the input could not be read")]
    Unread,
    /// A text that is not a shape; the message shows where.
    #[error("{0}")]
    Shape(String),
    /// Anything else that one sentence says.
    #[error("error: {0}")]
    Said(String),
    /// A file that cannot be read.
    #[error("error: cannot read {name}: {error}")]
    Read {
        /// The file.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// A file that cannot be written.
    #[error("error: cannot write `{name}`: {error}")]
    WriteFile {
        /// The file.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// Standard output that cannot be written.
    #[error("error: cannot write to standard output: {0}")]
    Write(io::Error),
}

impl Failure {
    /// The file that the system did not read or write, and what it says.
    #[must_use]
    pub fn io(&self) -> Option<(&str, &io::Error)> {
        match self {
            Self::Read { name, error } | Self::WriteFile { name, error } => Some((name.trim_matches('`'), error)),
            _ => None,
        }
    }

    /// What is wrong, without `error: ` before it.
    #[must_use]
    pub fn message(&self) -> String {
        let text = self.to_string();
        text.strip_prefix("error: ").map_or(text.clone(), str::to_owned)
    }

    pub(crate) fn shape(error: &ParseError, text: &str) -> Self {
        Self::Shape(error.render(text).to_string())
    }

    pub(crate) fn said(message: impl Display) -> Self {
        Self::Said(message.to_string())
    }

    /// Says on standard error what is wrong, unless it is said already, and gives the exit code.
    pub(crate) fn report(&self) -> u8 {
        match self {
            // Whoever read our output has enough of it, as `head` has.
            Self::Write(error) if error.kind() == ErrorKind::BrokenPipe => return 0,
            Self::Told => {}
            Self::Unread => return INPUT_READ_IN_PART,
            // Where standard error is gone too, nobody is left to tell.
            _ => drop(writeln!(io::stderr(), "{}", harmless(&self.to_string()))),
        }
        INPUT_HAS_PROBLEMS
    }
}
