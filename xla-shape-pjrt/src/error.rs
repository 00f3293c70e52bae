//! What can go wrong between us and a plug-in.

use crate::Version;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;
use xla_shape::hlo::proto::HloProtoError;
use xla_shape::relayout::RelayoutError;
use xla_shape::{BufferError, ElementType, ParseError, ValidationError};

/// Why there is no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// No plug-in was found.
    #[error(
        "found no PJRT plug-in{}\n\
         help: the compiler for TPUs comes with `pip install libtpu` and needs no TPU; it is found in the Python environment \
         that is active, or where PJRT_PLUGIN or TPU_LIBRARY_PATH says, such as PJRT_PLUGIN=…/site-packages/libtpu/libtpu.so",
        searched(.looked)
    )]
    NotFound {
        /// Where it was looked for.
        looked: Vec<String>,
    },
    /// The file is not there, or cannot be loaded as a library.
    #[error("cannot load the plug-in `{}`: {reason}", .path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The file is a library, but no plug-in, or one that breaks the rules of the interface.
    #[error("`{plugin}` cannot be used as a PJRT plug-in: {reason}")]
    NotAPlugin {
        /// The file, or the name that the plug-in was given.
        plugin: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The plug-in's version of the interface cannot be used.
    #[error("`{plugin}` has version {version} of PJRT's interface; this library needs {}", Version::RANGE)]
    Version {
        /// The file, or the name that the plug-in was given.
        plugin: String,
        /// Its version.
        version: Version,
    },
    /// The plug-in lacks a call: it is older, or has another purpose.
    #[error("the plug-in has no {call}; it has version {version} of PJRT's interface")]
    MissingCall {
        /// The call.
        call: &'static str,
        /// The version of the plug-in.
        version: Version,
    },
    /// The plug-in lacks an extension of the interface.
    #[error("the plug-in does not have the extension of PJRT's interface for {extension}")]
    MissingExtension {
        /// What the extension is for.
        extension: &'static str,
    },
    /// The plug-in refused.
    #[error("{call}: {}", .error.message)]
    Plugin {
        /// The call that failed.
        call: &'static str,
        /// What the plug-in says.
        error: PluginError,
    },
    /// Another process uses the plug-in.
    #[error(
        "another process has loaded the plug-in, which allows one at a time: {}\n\
         help: wait until it is done, or set ALLOW_MULTIPLE_LIBTPU_LOAD=1 if none of them uses a TPU",
        .error.message
    )]
    Locked {
        /// What the plug-in says.
        error: PluginError,
    },
    /// The plug-in did not answer in time. What it does goes on until the process ends.
    #[error("{call} took longer than {} and was given up{}", seconds(.limit), help_with(call))]
    TimedOut {
        /// The call that did not end.
        call: &'static str,
        /// The time that it had.
        limit: Duration,
    },
    /// The plug-in's answer breaks the rules of the interface, or cannot be read.
    #[error("the plug-in's answer to {call} cannot be used: {problem}")]
    Answer {
        /// The call.
        call: &'static str,
        /// What is wrong with the answer.
        problem: String,
    },
    /// The interface has no number for the element type.
    #[error("PJRT's interface does not have the element type {0}")]
    ElementType(ElementType),
    /// A text that is not a part of a TPU, such as `v5e:2x2`.
    #[error(transparent)]
    Slice(#[from] crate::SliceError),
    /// The program is neither MLIR nor HLO.
    #[error("the program is neither StableHLO (MLIR, text or bytecode) nor HLO (text or message): {0}")]
    NotAProgram(String),
    /// The program is HLO that a compiler made.
    #[error(
        "the module is already optimized and scheduled; compilers take modules before that\n\
         help: of a dump, that is the file that ends in `before_optimizations.txt` or `.hlo.pb`"
    )]
    Optimized,
    /// A parameter of the program has a dimension without a bound.
    #[error(
        "the parameter {parameter} is {type}, which has a dimension without a bound\n\
         help: XLA compiles for sizes that are known, or bounded: `f32[<=8]`, `tensor<?xf32, #stablehlo.bounds<8>>`"
    )]
    Unbounded {
        /// Its name.
        parameter: String,
        /// Its type, as the program writes it.
        r#type: String,
    },
    /// A parameter of the program has more elements than XLA counts.
    #[error("the parameter {parameter} is {type}, which is larger than any array of XLA")]
    TooLarge {
        /// Its name.
        parameter: String,
        /// Its type, as the program writes it.
        r#type: String,
    },
    /// The program is HLO that cannot be read.
    #[error("the program cannot be read: {0}")]
    Text(ParseError),
    /// The program is a message that cannot be read.
    #[error("the program's message cannot be read: {0}")]
    Message(HloProtoError),
    /// An array that is not valid.
    #[error(transparent)]
    Shape(#[from] ValidationError),
    /// An array that cannot be held in the memory of this machine.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// An array that cannot be copied from one layout into another.
    #[error(transparent)]
    Relayout(#[from] RelayoutError),
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

// The text of these two has that of the error inside, which is therefore not their source.
impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        Self::Text(error)
    }
}

impl From<HloProtoError> for Error {
    fn from(error: HloProtoError) -> Self {
        Self::Message(error)
    }
}

/// What a plug-in says of a failed call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PluginError {
    /// Which kind of error it is.
    pub code: ErrorCode,
    /// The plug-in's own text.
    pub message: String,
}

fn searched(looked: &[String]) -> String {
    if looked.is_empty() { String::new() } else { format!("; looked at {}", looked.join(", ")) }
}

/// The call that starts a plug-in.
pub(crate) const LOADING: &str = "loading the plug-in";

/// What may help where a call does not end.
fn help_with(call: &str) -> &'static str {
    match call == LOADING && std::env::var_os("TPU_SKIP_MDS_QUERY").is_none() {
        true => "\nhelp: libtpu waits for a server if the process was not started with TPU_SKIP_MDS_QUERY=1",
        false => "",
    }
}

fn seconds(limit: &Duration) -> String {
    let seconds = limit.as_secs_f64();
    if seconds == 1.0 { "1 second".to_owned() } else { format!("{seconds} seconds") }
}

macro_rules! codes {
    ($($name:ident $number:literal $text:literal;)*) => {
        /// Which kind of error a plug-in reports; the codes are those of Abseil's `Status`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the names are Abseil's, which says what they are")]
        pub enum ErrorCode {
            $($name,)*
            /// A number that has no name.
            Other(i32),
        }

        impl ErrorCode {
            /// The code with this number.
            #[must_use]
            pub const fn from_number(number: i32) -> Self {
                match number { $($number => Self::$name,)* other => Self::Other(other) }
            }

            /// The number in the interface.
            #[must_use]
            pub const fn number(self) -> i32 {
                match self { $(Self::$name => $number,)* Self::Other(number) => number }
            }
        }

        impl fmt::Display for ErrorCode {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$name => f.pad($text),)* Self::Other(number) => write!(f, "error {number}") }
            }
        }

        #[cfg(test)]
        pub(crate) const CODES: &[(&str, i32)] = &[$(($text, $number)),*];
    };
}

codes! {
    Cancelled 1 "CANCELLED";
    Unknown 2 "UNKNOWN";
    InvalidArgument 3 "INVALID_ARGUMENT";
    DeadlineExceeded 4 "DEADLINE_EXCEEDED";
    NotFound 5 "NOT_FOUND";
    AlreadyExists 6 "ALREADY_EXISTS";
    PermissionDenied 7 "PERMISSION_DENIED";
    ResourceExhausted 8 "RESOURCE_EXHAUSTED";
    FailedPrecondition 9 "FAILED_PRECONDITION";
    Aborted 10 "ABORTED";
    OutOfRange 11 "OUT_OF_RANGE";
    Unimplemented 12 "UNIMPLEMENTED";
    Internal 13 "INTERNAL";
    Unavailable 14 "UNAVAILABLE";
    DataLoss 15 "DATA_LOSS";
    Unauthenticated 16 "UNAUTHENTICATED";
}

/// The result of asking a plug-in.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The answer to `call` is not what the interface promises.
    pub(crate) fn answer(call: &'static str, problem: impl fmt::Display) -> Self {
        Self::Answer { call, problem: problem.to_string() }
    }

    /// What the plug-in says, if it was the plug-in that refused.
    #[must_use]
    pub const fn plugin_error(&self) -> Option<&PluginError> {
        match self {
            Self::Plugin { error, .. } | Self::Locked { error } => Some(error),
            _ => None,
        }
    }
}
