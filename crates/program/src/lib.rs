//! An XLA program: its HLO module, and what its compiler says about it.
//!
//! [`Reading`] says what any text or file is, and which commands of the program answer about it. [`Program`] is opened from a file, a directory
//! of the compiler's dumps, or bytes. It owns what it has read, so it has no lifetime parameter. [`Program::memory`] is the memory of its
//! values, with the compiler's own figures where its files have them. This crate decides what an input is and which files belong to it. The
//! only texts for people that it writes are errors and notes. [`Compiler`] compiles a program in a process of its own (feature `compiler`), and
//! [`CompilerAnswer`] is the compiler's answer.

// docs.rs, which has a nightly compiler, says which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod compiler;
mod input;
mod memory;
mod named;
#[cfg(feature = "files")]
mod profile;
mod program;
mod read;
mod statistics;
mod target;

pub use compiler::{CompileError, Compiler, CompilerAnswer};
#[cfg(feature = "compiler")]
pub use compiler::{DUMP_OPTION, Done, Host, Notes, Until, attend, end_with_parent};
#[cfg(feature = "files")]
pub use input::Thing;
pub use input::{File, Input, KernelFiles, ModuleDump, PASTED, Question, Reading, path_argument};
pub use memory::ProgramMemory;
#[cfg(feature = "files")]
pub use profile::profile_files;
pub use program::Program;
#[cfg(feature = "files")]
pub use program::{OpenError, Opened};
pub use read::{ReadError, Unread};
pub use statistics::{Statistics, StatisticsError};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
