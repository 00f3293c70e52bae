//! A compiler: how it is asked, and what it says. It runs in a process of its own, because some programs make libtpu abort its process;
//! the answers about other devices must not be lost then.

mod answer;
#[cfg(feature = "compiler")]
mod process;
#[cfg(feature = "compiler")]
mod remedy;
#[cfg(feature = "compiler")]
mod start;

pub use answer::CompilerAnswer;
#[cfg(feature = "compiler")]
pub use process::{Done, Notes, Until, attend, end_with_parent};
use serde::{Deserialize, Serialize};
#[cfg(feature = "compiler")]
pub use start::{DUMP_OPTION, Host};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The choice of a compiler, and its options.
///
/// ```
/// use xla_shape_program::Compiler;
///
/// let compiler = Compiler { partitions: Some(4), ..Compiler::default() };
/// assert_eq!((compiler.time_limit, compiler.limit().as_secs()), (Compiler::TIME_LIMIT, 600));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Compiler {
    /// The PJRT plug-in with the compiler. Its code is run. `None` for the one in the user's environment.
    pub plugin: Option<PathBuf>,
    /// How many copies of the program run; `None` for the number in the program.
    pub replicas: Option<u32>,
    /// The number of devices among which each copy is divided; `None` for the number in the program.
    pub partitions: Option<u32>,
    /// Options of the compiler, with their values.
    pub options: Vec<(String, String)>,
    /// A description of the GPU (`GpuTargetConfigProto` as text), in place of the one from the core's table of GPUs.
    #[serde(default)]
    pub config: Option<PathBuf>,
    /// The results of autotuning on a GPU. Without them the compiler does not tune: there is no GPU to time its choices on.
    #[serde(default)]
    pub autotune: Option<PathBuf>,
    /// How long it may take for one device, in seconds.
    pub time_limit: u64,
}

impl Compiler {
    /// How long a compiler may take for one device by default, in seconds.
    pub const TIME_LIMIT: u64 = 600;

    /// How long it may take for one device.
    #[must_use]
    pub const fn limit(&self) -> Duration {
        Duration::from_secs(self.time_limit)
    }
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            plugin: None,
            replicas: None,
            partitions: None,
            options: Vec::new(),
            config: None,
            autotune: None,
            time_limit: Self::TIME_LIMIT,
        }
    }
}

/// Why there is no compiled program.
///
/// ```
/// use xla_shape_program::CompileError;
///
/// assert_eq!(CompileError::Refused("too large".to_owned()).to_string(), "too large");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CompileError {
    /// The compiler refused the program for this device.
    Refused(String),
    /// There is no compiler, so no program can be compiled for any device.
    NoCompiler(String),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(message) | Self::NoCompiler(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for CompileError {}
