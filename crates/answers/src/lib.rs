//! The answers of the `xla-shape` program about XLA shapes, layouts and programs, as data.
//!
//! Each question of a user has a module, and each module a type that holds the answer. This type decides the facts and the reasons; the trait
//! [`Answer`] writes it as JSON, and [`schema`] describes that JSON. `xla-shape-render` shows answers to people, as text, SVG and HTML.
//!
//! ```
//! use xla_shape_answers::block::{BlockAnswer, Part};
//!
//! let part = Part::Input { array: "bf16[4096,1000]".parse()?, block: "bf16[104,1000]".parse()? };
//! let answer = BlockAnswer::new(&[part], None, None)?;
//! assert_eq!((answer.vmem_bytes, answer.fits), (425_984, true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | main type | question |
//! |---|---|---|
//! | [`advise`] | [`Advice`](advise::Advice), [`GpuAdvice`](advise::GpuAdvice) | Which layouts take less memory? Which do operations want? |
//! | [`explain`] | [`Explanation`](explain::Explanation) | What does the text of a shape mean, and how much memory does it take? |
//! | [`explain`] | [`OnDevices`](explain::OnDevices) | What does a GPU do with a shape? |
//! | [`explain`] | [`Location`](explain::Location) | Where is an element, and what is at a position? |
//! | [`explain`] | [`Registers`](explain::Registers) | How many registers does a vector of a kernel take, and where is an element? |
//! | [`draw`] | [`Drawing`](draw::Drawing), [`DeviceDrawing`](draw::DeviceDrawing) | What does the layout look like? Which device has which part? |
//! | [`block`] | [`BlockAnswer`](block::BlockAnswer) | How much VMEM do a kernel's blocks need? |
//! | [`rank`] | [`Ranking`](rank::Ranking) | Which blocks of a kernel are best? |
//! | [`check`] | [`Checked`](check::Checked) | Is a line a shape or a sharding, and what is its canonical text? |
//! | [`compare`] | [`Comparison`](compare::Comparison) | Are two arrays the same bytes? Is a reshape or a transpose free? |
//! | [`compile`] | [`Compilation`](compile::Compilation) | Which layouts and how much memory did the compiler choose for a program? |
//! | [`convert`] | [`Conversion`](convert::Conversion), [`Code`](convert::Code) | What is this layout in another notation, and which code makes it? |
//! | [`fit`] | [`Fit`](fit::Fit) | Which of several settings of a program fit, and from which sizes does it no longer fit? |
//! | [`kernel`] | [`Kernels`](kernel::Kernels) | What did the compiler make of a kernel's lines, and what could be changed? |
//! | [`cost`] | [`ProgramCost`](cost::ProgramCost) | How many cycles does a program take, and which lines and copies take them? |
//! | [`guard`] | [`Record`](guard::Record), [`Check`](guard::Check) | What did a program cost, and what has changed since? |
//! | [`hlo`] | [`Report`](hlo::Report), [`Difference`](hlo::Difference) | How much memory do the values of a program take, and what changed between two programs? |
//! | [`rustc`] | [`Output`](rustc::Output) | What does the Rust compiler say about the types of `xla-shape`? |
//! | [`problem`] | [`Problem`](problem::Problem) | Why is there no answer? |
//! | [`digest`] | [`Digest`](digest::Digest) | Which part of an answer fits into a prompt? |
//! | [`scan`] | [`Scan`](scan::Scan) | Which shapes does a log contain, what was refused, and what helps? |
//! | [`tool`] | [`ToolAnswer`](tool::ToolAnswer) | What does an agent get from a call of a tool? |
//! | [`reshard`] | [`Resharding`](reshard::Resharding) | What moves between devices when a sharding changes? |
//! | [`search`] | [`Search`](search::Search) | How did a search with many compilations go? |
//! | [`tune`] | [`Tuning`](tune::Tuning) | Which layout should an array have if several programs share it? |
//!
//! The program, the Python module and the web page share these answers, so this crate does not use terminals, files or arguments. The rules about
//! shapes are those of `xla-shape-core`.

#![forbid(unsafe_code)]

#[macro_use]
mod words;

pub mod advise;
mod amount;
mod answer;
pub mod block;
pub mod check;
pub mod compare;
pub mod compile;
pub mod convert;
pub mod cost;
mod device;
pub mod digest;
pub mod draw;
pub mod explain;
pub mod fit;
pub mod formula;
mod given;
pub mod guard;
pub mod hlo;
pub mod kernel;
mod names;
pub mod numbers;
pub mod place;
pub mod problem;
pub mod rank;
mod remedy;
pub mod reshard;
pub mod rustc;
pub mod scan;
mod schema;
pub mod search;
mod shell;
pub mod source;
pub mod tool;
pub mod tune;

pub use answer::{Answer, answer_line, is_control, json_line, write_answer, write_json};
pub use given::{Given, GivenArray};
pub use schema::{open_schema, schema, schema_named};
pub use shell::shell_line;
use xla_shape_core::tpu::Generation;

/// The generation for answers in which the user names none.
pub const DEFAULT_GENERATION: Generation = Generation::V5e;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
