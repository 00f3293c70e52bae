//! Why a verb failed, with the message and the exit code of the program.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use thiserror::Error;
use xla_shape::ParseError;
use xla_shape_answers::problem::{Code, Place, Problem};
use xla_shape_files::{Error as FilesError, Missing};
use xla_shape_program::{OpenError, ReadError};

/// The exit code if the input has problems.
const INPUT_HAS_PROBLEMS: u8 = 1;

/// The exit code if the command was wrong, as clap's own.
const WRONG_USAGE: u8 = 2;

/// The exit code if a part of the input could not be read. The output is then about the rest.
const INPUT_READ_IN_PART: u8 = 3;

/// The exit code after Ctrl-C, as shells give it: 128 plus the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a verb failed; `Display` is the message of the program.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The input has problems that the output has already reported.
    #[error("the input has problems")]
    Told,
    /// A part of the input could not be read. A warning has already reported this; the output is about the rest.
    #[error("a part of the input could not be read")]
    Unread,
    /// The user interrupted the program, and the output says how far it got.
    #[error("it was interrupted")]
    Interrupted,
    /// The user interrupted the program before there was any output.
    #[error("interrupted: {0}")]
    NoResult(String),
    /// A text is not a valid shape, module or other input; the message shows where.
    #[error("{message}")]
    Syntax {
        /// The message, with the line of the text and a mark.
        message: String,
        /// The place, if it is known.
        place: Option<Place>,
    },
    /// An error about a file. If a value is missing, the message names the option that sets it.
    #[error("error: {error}{}", option(error))]
    Files {
        /// What is wrong.
        #[from]
        error: FilesError,
    },
    /// Options that do not go together, in words.
    #[error("error: {0}")]
    Usage(String),
    /// Any other error, in words.
    #[error("error: {0}")]
    Said(String),
    /// Standard output could not be written.
    #[error("error: cannot write to standard output: {0}")]
    Write(io::Error),
}

/// The option that sets the missing value, as a suffix of the message.
fn option(error: &FilesError) -> &'static str {
    match error.missing() {
        Some(Missing::Shape) => " with --from",
        Some(Missing::Tensor) => " with --tensor",
        Some(Missing::Destination) => " with --to",
        _ => "",
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Files(error) => Self::Files { error },
            OpenError::Read(error) => error.into(),
            error => Self::syntax(error),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let place = match &error {
            ReadError::Syntax { error, text, .. } => Some(Place::new(error, text)),
            _ => None,
        };
        Self::Syntax { message: error.to_string(), place }
    }
}

impl Failure {
    pub(crate) fn shape(error: &ParseError, text: &str) -> Self {
        Self::Syntax { message: error.render(text).to_string(), place: Some(Place::new(error, text)) }
    }

    /// The failure for a text that cannot be read; the message shows where.
    pub(crate) fn syntax(message: impl Display) -> Self {
        Self::Syntax { message: message.to_string(), place: None }
    }

    /// The failure in a form for programs.
    pub(crate) fn problem(&self) -> Problem {
        let (code, place) = match self {
            Self::Syntax { place, .. } => (Code::Syntax, *place),
            Self::Files { .. } => (Code::File, None),
            Self::Write(_) => (Code::Output, None),
            Self::Interrupted | Self::NoResult(_) => (Code::Interrupted, None),
            Self::Usage(_) => (Code::Usage, None),
            Self::Told | Self::Unread | Self::Said(_) => (Code::Refused, None),
        };
        Problem { code, message: self.to_string(), place }
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        Self::Usage(message.to_string())
    }

    pub(crate) fn said(message: impl Display) -> Self {
        Self::Said(message.to_string())
    }

    /// The exit code of the program.
    pub(crate) fn code(&self) -> u8 {
        match self {
            _ if self.is_closed_pipe() => 0,
            Self::Usage(_) => WRONG_USAGE,
            Self::Unread => INPUT_READ_IN_PART,
            Self::Interrupted | Self::NoResult(_) => INTERRUPTED,
            _ => INPUT_HAS_PROBLEMS,
        }
    }

    /// Whether this has a message that must still be written.
    pub(crate) fn has_message(&self) -> bool {
        !self.is_closed_pipe() && !matches!(self, Self::Told | Self::Unread | Self::Interrupted)
    }

    /// Whether the reader of the output has closed the pipe, as `head` does: this is not an error.
    fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Write(error) => error.kind() == ErrorKind::BrokenPipe,
            Self::Files { error: FilesError::Write { path, error } } => {
                path.as_os_str() == "-" && error.kind() == ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }
}
