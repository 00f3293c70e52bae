//! Reads MLIR text without knowing its dialects, and the functions of MLIR bytecode.
//!
//! ```
//! use xla_shape_mlir::Module;
//!
//! let module = Module::parse("%1 = arith.addf %x, %y {fast} : f32")?;
//! assert_eq!(module.operations()[0].attribute("fast"), Some(""));
//! # Ok::<(), xla_shape_mlir::MlirError>(())
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Module`], [`Operation`] | a text: its operations with attributes, regions and locations |
//! | [`Signature`], [`Value`] | a function's parameters and results, with their types and attributes |
//! | [`Source`] | a line of a program, as a location names it |
//! | [`MlirError`], [`MlirProblem`] | why a text is not in MLIR's syntax, and where |
//! | [`bytecode_functions`] | the functions of a module in bytecode, as text |
//! | [`BytecodeError`], [`BytecodeProblem`] | why bytecode cannot be read, and at which byte |
//!
//! The syntax is that of MLIR's printer: <https://mlir.llvm.org/docs/LangRef/>.

#![no_std]
#![forbid(unsafe_code)]
// Code that input can reach must not index or overflow unchecked.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

mod bytecode;
mod error;
mod module;
mod scanner;
mod signature;
mod source;

pub use bytecode::{BytecodeError, BytecodeProblem, bytecode_functions};
pub use error::{MlirError, MlirProblem};
pub use module::{Module, Operation};
pub use scanner::{open_braces, split_at_commas};
pub use signature::{Signature, Value};
pub use source::Source;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
