//! The errors of `tune`.

use crate::search::MOST_COMBINATIONS;
use std::fmt;

/// Why a search for layouts cannot be made.
///
/// ```
/// use xla_shape_tune::{Setting, TuneError};
///
/// let error = TuneError::NeedsCompiler { setting: Setting::AtMostBytes };
/// assert_eq!(error.to_string(), "at-most-bytes needs a compiler: expected StableHLO, found modules that are compiled already");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TuneError {
    /// A program does not compile, even without requests for layouts.
    Today {
        /// The program.
        program: String,
        /// Why.
        message: String,
    },
    /// The caller ended the search before a program had compiled without requests, so there is no result.
    Unfinished {
        /// The program.
        program: String,
    },
    /// The compiler does not say what a program costs.
    NoCycles {
        /// The program.
        program: String,
    },
    /// A program has no array at a place.
    NoArray {
        /// The shared array.
        name: String,
        /// The place, and its program.
        place: String,
    },
    /// An array has different sizes or types in different places.
    OtherArray {
        /// The shared array.
        name: String,
        /// The array in its first place.
        first: String,
        /// The array in another place.
        other: String,
        /// The other place, and its program.
        place: String,
    },
    /// There are too many combinations to try all of them.
    TooMany {
        /// The number of combinations; `None` if it does not fit in 64 bits.
        combinations: Option<u64>,
    },
    /// Two axes have the same name.
    AxisTwice {
        /// The name.
        axis: String,
    },
    /// An axis has no value.
    NoValues {
        /// Its name.
        axis: String,
    },
    /// An axis has the same value twice.
    ValueTwice {
        /// Its name.
        axis: String,
        /// The value.
        value: String,
    },
    /// There are too many settings.
    TooManySettings {
        /// The most settings that a question may have.
        most: usize,
    },
    /// The device is not a TPU: only kernels for TPUs have blocks.
    NotTpu {
        /// The device that was named.
        device: String,
    },
    /// There is no program.
    NoPrograms,
    /// Two programs have the same name.
    GivenTwice {
        /// The name.
        program: String,
    },
    /// A program cannot be used.
    Program {
        /// Its name, or its file.
        program: String,
        /// Why.
        message: String,
    },
    /// A program is HLO that is not compiled yet.
    Hlo {
        /// The program.
        program: String,
    },
    /// A program is compiled already, and another one is not.
    Mixed {
        /// The program that is compiled already.
        program: String,
    },
    /// No program has the given name.
    NoProgram {
        /// The name.
        name: String,
        /// The names of the programs.
        known: Vec<String>,
    },
    /// An array is shared twice.
    SharedTwice {
        /// The shared array.
        name: String,
    },
    /// A place does not say which of several programs it is in.
    NoName {
        /// The shared array.
        name: String,
        /// The first program.
        program: String,
    },
    /// A place belongs to two shared arrays.
    TwoArrays {
        /// The place.
        place: String,
        /// Its program.
        program: String,
        /// The shared arrays.
        names: [String; 2],
    },
    /// A program has no shared array.
    NotShared {
        /// The program.
        program: String,
    },
    /// Memories are given for an array that is not shared.
    MemoryOfNone {
        /// The name for which there is no shared array.
        name: String,
        /// The names of the shared arrays.
        known: Vec<String>,
    },
    /// The memories of an array are given twice.
    MemoryTwice {
        /// The shared array.
        name: String,
    },
    /// A setting of compilers is given, but the programs are compiled already.
    NeedsCompiler {
        /// The setting.
        setting: Setting,
    },
    /// No compiler can answer.
    NoCompiler(String),
}

/// A setting of a question that only compilers can follow.
///
/// ```
/// assert_eq!(xla_shape_tune::Setting::TimeLimit.name(), "time-limit");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Setting {
    /// The memories of an array.
    Memory,
    /// How many compilers run at a time.
    Jobs,
    /// The folder of the cache.
    Cache,
    /// The setting that turns the cache off.
    NoCache,
    /// The compiler.
    Plugin,
    /// How many copies of a program run.
    Replicas,
    /// The number of devices among which each copy is divided.
    Partitions,
    /// An option of the compiler.
    Option,
    /// How long the compiler may take.
    TimeLimit,
    /// The setting to try every combination.
    All,
    /// The setting to try other tiles.
    Tilings,
    /// The most compilations.
    Compiles,
    /// The most bytes of HBM.
    AtMostBytes,
}

impl Setting {
    /// The name of the program's option for this setting, without the dashes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Jobs => "jobs",
            Self::Cache => "cache",
            Self::NoCache => "no-cache",
            Self::Plugin => "plugin",
            Self::Replicas => "replicas",
            Self::Partitions => "partitions",
            Self::Option => "option",
            Self::TimeLimit => "time-limit",
            Self::All => "all",
            Self::Tilings => "tilings",
            Self::Compiles => "compiles",
            Self::AtMostBytes => "at-most-bytes",
        }
    }
}

impl fmt::Display for TuneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Today { program, message } => write!(f, "{program} does not compile as it is: {message}"),
            Self::Unfinished { program } => {
                write!(f, "no result yet, because the search ended before {program} was compiled with today's layouts")
            }
            Self::NoCycles { program } => {
                write!(f, "the compiler does not say what {program} costs, so layouts cannot be compared")
            }
            Self::NoArray { name, place } => write!(f, "{name}: there is no array at {place}"),
            Self::OtherArray { name, first, other, place } => {
                write!(f, "{name}: it is {first} in its first place, but {other} at {place}")
            }
            Self::TooMany { combinations } => {
                let most = MOST_COMBINATIONS;
                match combinations {
                    Some(count) => write!(f, "there are {count} combinations of layouts; at most {most} are tried")?,
                    None => write!(f, "there are too many combinations of layouts; at most {most} are tried")?,
                }
                f.write_str("; without --all, the search needs a few")
            }
            Self::AxisTwice { axis } => write!(f, "two axes are called {axis:?}"),
            Self::NoValues { axis } => write!(f, "the axis {axis:?} has no value"),
            Self::ValueTwice { axis, value } => write!(f, "the axis {axis:?} has the value {value} twice"),
            Self::TooManySettings { most } => {
                write!(f, "the axes have more than {most} combinations: give fewer values")
            }
            Self::NotTpu { device } => write!(f, "expected a TPU, such as v6e, found {device}"),
            Self::NoPrograms => f.write_str("expected a program, found none"),
            Self::GivenTwice { program } => write!(f, "{program} is given twice"),
            Self::Program { program, message } => write!(f, "{program}: {message}"),
            Self::Hlo { program } => write!(
                f,
                "{program} is HLO, and XLA ignores the layouts that HLO asks for: write the program as text of MLIR (JAX: \
                 `lowered.as_text()`), or give the module as it is after compilation, to get advice without a compiler"
            ),
            Self::Mixed { program } => write!(
                f,
                "{program} is compiled already, and another program is not: give all programs as text of MLIR to compile them, or all as \
                 compiled modules to get advice without a compiler"
            ),
            Self::NoProgram { name, known } => {
                write!(f, "no program is called {name}; expected one of: {}", known.join(", "))
            }
            Self::SharedTwice { name } => write!(f, "{name} is shared twice: write all of its places at once"),
            Self::NoName { name, program } => {
                write!(f, "{name}: there are several programs, so places need a name, such as {program}:arg0")
            }
            Self::TwoArrays { place, program, names: [one, other] } => write!(
                f,
                "{place} of {program} belongs to {one} and to {other}; a donated parameter and its result are one array"
            ),
            Self::NotShared { program } => {
                write!(f, "{program} has no shared array: share one of its places, or leave the program out")
            }
            Self::MemoryOfNone { name, known } => {
                write!(f, "no shared array is called {name}; expected one of: {}", known.join(", "))
            }
            Self::MemoryTwice { name } => write!(f, "{name} is given twice: write all of its memories at once"),
            Self::NeedsCompiler { setting } => write!(
                f,
                "{} needs a compiler: expected StableHLO, found modules that are compiled already",
                setting.name()
            ),
            Self::NoCompiler(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for TuneError {}
