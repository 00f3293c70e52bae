//! HLO modules, XLA's programs: parsed from text or protobuf, checked, and measured.
//!
//! ```
//! use xla_shape_hlo::Module;
//!
//! let module = Module::parse("\
//! HloModule double, is_scheduled=true
//! ENTRY main {
//!   x = bf16[100,200]{1,0:T(8,128)(2,1)} parameter(0)
//!   ROOT sum = bf16[100,200]{1,0:T(8,128)(2,1)} add(x, x)
//! }")?;
//! let root = module.entry().unwrap().root();
//! assert_eq!(root.shape().byte_size(), Some(53_248));
//! assert!(module.check().is_empty());
//! assert_eq!(module.memory().peaks().unwrap()[&0].bytes, 2 * 53_248);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate reads what XLA prints and what XLA's parser accepts, checks it by the rules of XLA's verifier, and computes the memory of
//! scheduled programs with XLA's analyses. It does not compile, run or optimise programs. It is `no_std`, has no `unsafe`, and returns
//! errors with positions for bad input.
//!
//! # Main types
//!
//! | type | what it is |
//! |---|---|
//! | [`Module`] | a parsed module, or a part of one: [`parse`](Module::parse), [`check`](Module::check), [`memory`](Module::memory), printing with [`Display`](core::fmt::Display) |
//! | [`Computation`], [`Instruction`], [`Operand`] | views of its parts |
//! | [`Opcode`], [`Attribute`], [`Value`] | what an instruction does, and its attributes with typed values |
//! | [`Finding`] | a problem that the check found |
//! | [`Memory`], [`Timeline`], [`Account`] | buffers, live ranges and the peak; totals |
//! | `cost::Costs` | the cycles that the TPU compiler expects a program to take, with the feature `cost` |
//! | [`Pairs`] | corresponding instructions of two programs |
//! | [`ShardedArray`] | an array with a sharding, and its shards |
//! | [`OutOfMemory`], [`find_shapes`] | what logs contain: out-of-memory messages, and shapes in any text |
//! | [`LogLines`], [`JsonLines`], [`Processes`], [`Utf16`] | logs: what wraps the lines of each process |
//! | [`dump`] | the compiler's files: buffer assignment, live ranges, memory usage |
//! | `proto` | protobuf messages, with the feature `proto` |
//! | `profile` | profiles: how long instructions took, with the feature `proto` |
//!
//! # Where to find what in the source
//!
//! | module | holds |
//! |---|---|
//! | `text` | the parser and the printer |
//! | `module` | the module, its computations and instructions |
//! | `schema` | one table row for each opcode and each attribute |
//! | `attribute`, `literal` | values of attributes, and elements of constants |
//! | `parsed` | the attributes of an instruction, each read as its row of the schema says |
//! | `infer` | shape inference; the rules are in the core |
//! | `check` | the checks |
//! | `trips` | how often a loop runs |
//! | `account`, `memory` | totals; values, buffers, live ranges, heaps |
//! | `cost` | the compiler's cycles, copies |
//! | `pair`, `shards`, `scan` | pairs of instructions, shards, shapes in any text |
//! | `dump`, `proto`, `profile` | the compiler's files, messages, and profiles |
//!
//! The rules of shapes, layouts and operations are those of [`xla_shape_core`].

// docs.rs, which has a nightly compiler, says which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
// Code that input can reach must not index or overflow unchecked; each exception says why it cannot fail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

// Documentation shows the methods of `Module` and other types in the order of these groups: parsing and access come first.
mod text;

mod cursor;
mod module;

mod attribute;
mod finding;
mod literal;
mod names;
#[cfg_attr(not(feature = "proto"), allow(dead_code, reason = "values also have data that only messages need"))]
mod parsed;
#[cfg_attr(not(feature = "proto"), allow(dead_code, reason = "the rows also have data that only messages need"))]
mod schema;

mod asynchronous;
mod check;
mod infer;

mod account;
mod memory;
mod trips;

pub mod dump;

pub mod cost;

mod compiler;
mod configuration;
mod language;
mod pair;
mod readers;
mod same;
mod scan;
mod shards;
mod source;
mod units;

#[cfg(feature = "proto")]
pub mod profile;
#[cfg(feature = "proto")]
pub mod proto;

pub use account::{Account, Role, Totals};
pub use attribute::{Alias, Attribute, CollectiveAxes, DimLabels, Labels, ReplicaGroups, Value};
pub use finding::{Finding, Problem, Severity};
pub use language::Language;
pub use memory::{
    Buffer, Collective, CollectivePiece, Footprint, FormatUsage, LayoutChange, Lifetime, LiveValue, Memory, Peak,
    Timeline, Usage,
};
pub use module::{Computation, Instruction, Module, Operand, Table};
pub use pair::Pairs;
pub use readers::Readers;
pub use scan::json::{JsonLine, JsonLines, JsonText};
pub use scan::mlir::{MlirReader, mlir_text};
pub use scan::oom::{AmountCause, OutOfMemory, ReportedAllocation, ReportedAmount};
pub use scan::processes::Processes;
pub use scan::program::program_text;
pub use scan::refusal::{Code, Halt, Library, Refusal, RefusalCause, Remedy};
pub use scan::size::byte_count;
pub use scan::spelling::find_spelled_shapes;
pub use scan::utf16::Utf16;
pub use scan::wrapping::LogLines;
pub use scan::{FoundShape, find_shapes, instruction_shapes};
pub use schema::opcode::Opcode;
pub use shards::{ShardedArray, ShardedArrayKind};
pub use source::{Source, Sources};
pub use text::utf8;
pub use units::InUnits;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
