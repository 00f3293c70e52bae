//! The errors of this crate.

use crate::Version;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;
use xla_shape::hlo::proto::HloProtoError;
use xla_shape::relayout::RelayoutError;
use xla_shape::{BufferError, ElementType, ParseError, ValidationError};

/// Why a plug-in cannot be loaded, or a call failed.
///
/// ```
/// use xla_shape_pjrt::{Error, Program};
///
/// match Program::from_bytes(b"hello") {
///     Err(Error::NotAProgram(reason)) => println!("{reason}"),
///     _ => unreachable!(),
/// }
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// No plug-in was found.
    #[error(
        "found no PJRT plug-in{}\n\
         help: `pip install libtpu` installs the compiler for TPUs, which needs no TPU; it is found in the active Python \
         environment, or set PJRT_PLUGIN or TPU_LIBRARY_PATH to its file, such as PJRT_PLUGIN=…/site-packages/libtpu/libtpu.so",
        searched(.looked)
    )]
    NotFound {
        /// The places that were searched.
        looked: Vec<String>,
    },
    /// No plug-in for GPUs was found.
    #[error(
        "found no PJRT plug-in for GPUs{}\n\
         help: `pip install {}` installs the compiler for NVIDIA's GPUs, which needs no GPU{}; it is found in the active Python \
         environment, or set PJRT_PLUGIN to its file, such as PJRT_PLUGIN=…/site-packages/jax_plugins/xla_cuda{version}/xla_cuda_plugin.so",
        searched(.looked), cuda_packages(*.version), if *.version < 13 { " (CUDA 13 does not compile for this GPU)" } else { "" }
    )]
    NoCuda {
        /// The places that were searched.
        looked: Vec<String>,
        /// The version of CUDA that compiles for these GPUs.
        version: u32,
    },
    /// The assembler of CUDA, with which a plug-in for GPUs compiles, was not found.
    #[error(
        "the plug-in for GPUs needs the program `ptxas`, which is neither on the PATH, nor in the packages beside the plug-in, nor in /usr/local/cuda/bin\n\
         help: `pip install {package}` installs it"
    )]
    NoPtxas {
        /// The package that has it.
        package: &'static str,
    },
    /// The description of a GPU cannot be read.
    #[error("`{}`: {reason}", .path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A description of a GPU lacks fields without which the compiler ends its process.
    #[error("the description of the GPU lacks {}: the compiler would end its process, or compile for another device", .missing.join(", "))]
    NoGpuConfig {
        /// The fields of `GpuTargetConfigProto`.
        missing: Vec<&'static str>,
    },
    /// The target is `gpu`, which stands for the GPU of a description, but no description is given.
    #[error("`gpu` is the GPU of a description, and none is given (`--config FILE`)")]
    NoDescription,
    /// A text names no devices to compile for.
    #[error(transparent)]
    Target(#[from] crate::TargetError),
    /// The file is missing, or cannot be loaded as a library.
    #[error("cannot load the plug-in `{}`: {reason}", .path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The library is not a plug-in, or its table of functions is invalid.
    #[error("`{plugin}` cannot be used as a PJRT plug-in: {reason}")]
    NotAPlugin {
        /// The file, or the name that was given to `Plugin::from_api`.
        plugin: String,
        /// The reason.
        reason: String,
    },
    /// The plug-in's version of the interface is not supported.
    #[error("`{plugin}` has version {version} of PJRT's interface; this library needs {}", Version::RANGE)]
    Version {
        /// The file, or the name that was given to `Plugin::from_api`.
        plugin: String,
        /// Its version.
        version: Version,
    },
    /// The plug-in does not have a call.
    #[error("the plug-in has no {call}; it has version {version} of PJRT's interface")]
    MissingCall {
        /// The call.
        call: &'static str,
        /// The version of the plug-in.
        version: Version,
    },
    /// The plug-in does not have an extension of the interface.
    #[error("the plug-in does not have the extension of PJRT's interface for {extension}")]
    MissingExtension {
        /// The extension's subject.
        extension: &'static str,
    },
    /// A call returned an error.
    #[error("{call}: {}", .error.message)]
    Plugin {
        /// The call that failed.
        call: &'static str,
        /// The plug-in's error.
        error: PluginError,
    },
    /// Another process has loaded the plug-in, which allows only one.
    #[error(
        "another process has loaded the plug-in, which allows one at a time: {}\n\
         help: wait until it is done, or set ALLOW_MULTIPLE_LIBTPU_LOAD=1 if none of them uses a TPU",
        .error.message
    )]
    Locked {
        /// The plug-in's error.
        error: PluginError,
    },
    /// A call took longer than its time limit. It continues in its thread until the process ends.
    #[error("{call} took longer than {} and was abandoned{}", seconds(.limit), help_with(call))]
    TimedOut {
        /// The call.
        call: &'static str,
        /// The time limit.
        limit: Duration,
    },
    /// The result of a call breaks the rules of the interface, or cannot be read.
    #[error("the plug-in's answer to {call} cannot be used: {problem}")]
    Answer {
        /// The call.
        call: &'static str,
        /// What is wrong with the result.
        problem: String,
    },
    /// The interface has no number for the element type.
    #[error("PJRT's interface does not have the element type {0}")]
    ElementType(ElementType),
    /// A text is not a slice of a TPU, such as `v5e:2x2`.
    #[error(transparent)]
    Slice(#[from] crate::SliceError),
    /// The program is neither MLIR nor HLO.
    #[error("the program is neither StableHLO (MLIR, text or bytecode) nor HLO (text or message): {0}")]
    NotAProgram(String),
    /// A program cannot ask for layouts at these parameters and results.
    #[error("{0}")]
    NoLayouts(String),
    /// The program is HLO that a compiler has already optimized.
    #[error(
        "the module is already optimized and scheduled; the compiler takes modules from before optimization\n\
         help: in a dump, that is the file that ends in `before_optimizations.txt` or `.hlo.pb`"
    )]
    Optimized,
    /// The program is for more devices than there are.
    #[error("the program is for {needed} devices, and there are {available}")]
    TooFewDevices {
        /// The program's replicas times its partitions.
        needed: u64,
        /// The devices for which it should be compiled.
        available: u64,
    },
    /// A parameter of the program has an unbounded dimension.
    #[error(
        "the parameter {parameter} is {type}, which has a dimension without a bound\n\
         help: XLA compiles for known or bounded sizes: `f32[<=8]`, `tensor<?xf32, #stablehlo.bounds<8>>`"
    )]
    Unbounded {
        /// The parameter's name.
        parameter: String,
        /// Its type, in the language of the program.
        r#type: String,
    },
    /// A parameter of the program has more elements than fit into an `i64`.
    #[error("the parameter {parameter} is {type}, which has more elements than XLA supports")]
    TooLarge {
        /// The parameter's name.
        parameter: String,
        /// Its type, in the language of the program.
        r#type: String,
    },
    /// The program is HLO that cannot be read.
    #[error("the program cannot be read: {0}")]
    Text(ParseError),
    /// The program is a message that cannot be read.
    #[error("the program's message cannot be read: {0}")]
    Message(HloProtoError),
    /// A shape is not valid.
    #[error(transparent)]
    Shape(#[from] ValidationError),
    /// An array cannot be allocated on the host, or accessed.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// An array cannot be copied from one layout to another.
    #[error(transparent)]
    Relayout(#[from] RelayoutError),
    /// An error of the operating system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

// The messages of these two variants contain the inner error's message, so they do not also return it as their source.
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

/// The error that a plug-in has returned from a call.
///
/// ```
/// use xla_shape_pjrt::{ErrorCode, PluginError};
///
/// /// Whether a smaller program may succeed.
/// fn is_too_large(error: &PluginError) -> bool {
///     error.code == ErrorCode::ResourceExhausted
/// }
///
/// // As `Error::plugin_error` returns it.
/// let message = "Ran out of memory in memory space hbm.".to_owned();
/// assert!(is_too_large(&PluginError { code: ErrorCode::ResourceExhausted, message }));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PluginError {
    /// The status code.
    pub code: ErrorCode,
    /// The plug-in's own text.
    pub message: String,
}

fn searched(looked: &[String]) -> String {
    if looked.is_empty() { String::new() } else { format!("; looked at {}", looked.join(", ")) }
}

fn cuda_packages(version: u32) -> &'static str {
    if version < 13 { "jax-cuda12-pjrt nvidia-cuda-nvcc-cu12" } else { "jax-cuda13-pjrt nvidia-cuda-nvcc" }
}

/// What error messages call the loading and starting of a plug-in.
pub(crate) const LOADING: &str = "loading the plug-in";

/// A hint for a call that took too long.
fn help_with(call: &str) -> &'static str {
    match call == LOADING && std::env::var_os("TPU_SKIP_MDS_QUERY").is_none() {
        true => {
            "\nhelp: libtpu waits for Google Cloud's metadata server unless the process is started with TPU_SKIP_MDS_QUERY=1"
        }
        false => "",
    }
}

fn seconds(limit: &Duration) -> String {
    let seconds = limit.as_secs_f64();
    if seconds == 1.0 { "1 second".to_owned() } else { format!("{seconds} seconds") }
}

macro_rules! codes {
    ($($name:ident $number:literal $text:literal;)*) => {
        /// The status code of a plug-in's error: a code of `absl::Status` (`PJRT_Error_Code`).
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the names are Abseil's, which says what they are")]
        pub enum ErrorCode {
            $($name,)*
            /// A number without a name.
            Other(i32),
        }

        impl ErrorCode {
            /// The code with this number.
            ///
            /// ```
            /// use xla_shape_pjrt::ErrorCode;
            ///
            /// assert_eq!(ErrorCode::from_number(8), ErrorCode::ResourceExhausted);
            /// ```
            #[must_use]
            pub const fn from_number(number: i32) -> Self {
                match number { $($number => Self::$name,)* other => Self::Other(other) }
            }

            /// The number of the code in the interface.
            ///
            /// ```
            /// # use xla_shape_pjrt::ErrorCode;
            /// assert_eq!(ErrorCode::ResourceExhausted.number(), 8);
            /// ```
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

/// The result of a call.
///
/// ```
/// use xla_shape_pjrt::{Program, Result};
///
/// fn partitions(program: &[u8]) -> Result<u32> {
///     Ok(Program::from_bytes(program)?.partitions().unwrap_or(1))
/// }
///
/// assert_eq!(partitions(b"HloModule m, num_partitions=4\nENTRY e { ROOT p = f32[2] parameter(0) }")?, 4);
/// assert!(partitions(b"hello").is_err());
/// # Ok::<(), xla_shape_pjrt::Error>(())
/// ```
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The error that the result of `call` breaks the rules of the interface.
    pub(crate) fn answer(call: &'static str, problem: impl fmt::Display) -> Self {
        Self::Answer { call, problem: problem.to_string() }
    }

    /// The plug-in's own error, if a call returned one.
    ///
    /// ```no_run
    /// use xla_shape_pjrt::{Compiled, CompileOptions, ErrorCode, Program, Result, Topology};
    ///
    /// fn fits(topology: &Topology, program: &Program) -> Result<bool> {
    ///     match topology.compile(program, &CompileOptions::new()) {
    ///         Ok(_) => Ok(true),
    ///         Err(error) if error.plugin_error().is_some_and(|e| e.code == ErrorCode::ResourceExhausted) => Ok(false),
    ///         Err(error) => Err(error),
    ///     }
    /// }
    /// ```
    #[must_use]
    pub const fn plugin_error(&self) -> Option<&PluginError> {
        match self {
            Self::Plugin { error, .. } | Self::Locked { error } => Some(error),
            _ => None,
        }
    }
}
