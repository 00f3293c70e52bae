//! HLO modules: XLA's programs, read from their text, checked and measured.
//!
//! ```
//! let text = "HloModule m\nENTRY e { ROOT p = bf16[100,200]{1,0:T(8,128)(2,1)} parameter(0) }";
//! let module = xla_shape_hlo::Module::parse(text)?;
//! let entry = module.entry().unwrap();
//! assert_eq!(entry.root().shape().byte_size(), Some(53_248));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `text` | the grammar of HLO text: reading and printing |
//! | `module` | a module, its computations and instructions |
//! | `literal` | the elements of constants |
//! | `attribute` | the values of attributes: windows, replica groups, … |
//! | `infer` | which operation of the core an instruction is, and so its shape |
//! | `check` | what XLA's verifier refuses, and what a person should look at |
//! | `pair` | which instructions of two programs are the same |
//! | `memory` | how much memory a scheduled program takes, and where it goes |
//! | `proto` | modules as messages of XLA's schema, behind the feature `proto` |
//! | `dump` | the compiler's own files about a program's memory |
//! | `scan` | shapes in any text |
//! | `shards` | what each device has of the values of a module that is not partitioned yet |
//!
//! The rules of shapes and of operations are those of [`xla_shape_core`].

#![no_std]
#![forbid(unsafe_code)]
// What input can reach neither indexes nor computes without a check; what seems to, says why it cannot fail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

mod asynchronous;
mod attribute;
mod check;
pub mod dump;
mod finding;
mod infer;
mod literal;
mod memory;
mod module;
mod names;
mod opcode;
mod pair;
#[cfg(feature = "proto")]
pub mod proto;
mod scan;
mod shards;
mod source;
mod text;

pub use attribute::{Alias, Attribute, DimLabels, Labels, ReplicaGroups, Value};
pub use finding::{Finding, Problem, Severity};
pub use memory::{
    Account, Buffer, Collective, Footprint, FormatUsage, LayoutChange, Lifetime, Memory, Peak, Role, Tenant, Timeline,
    Totals, Usage,
};
pub use module::{Computation, Instruction, Module, Operand, Table};
pub use opcode::Opcode;
pub use pair::Pairs;
pub use scan::oom::{OutOfMemory, ReportedAllocation, ReportedAmount};
pub use scan::size::byte_count;
pub use scan::spelling::find_spelled_shapes;
pub use scan::{FindShapes, FoundShape, find_shapes, instruction_shapes};
pub use shards::{Place, ShardedArray};
pub use source::{Source, Sources};
pub use text::utf8;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
