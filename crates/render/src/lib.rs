//! The answers of the `xla-shape` program about XLA shapes, layouts and programs, as data, text, JSON, SVG and HTML.
//!
//! Each question of a user has a module, and each module a type that holds the answer as data. The trait [`Show`] writes it as
//! text; some answers have a picture (`svg`) or a page (`html`) too.
//!
//! ```
//! use xla_shape_core::Shape;
//! use xla_shape_answers::Answer;
//! use xla_shape_render::{Show, explain::Explanation};
//!
//! let shape: Shape = "f32[100,200]{1,0:T(8,128)}".parse()?;
//! let explanation = Explanation::new(shape);
//! assert!(explanation.text(80).to_string().contains("106,496 bytes (104 KiB)"));
//! assert!(explanation.json().contains("\"bytes\":106496"));
//! # Ok::<(), xla_shape_core::ParseError>(())
//! ```
//!
//! | module | main type | question |
//! |---|---|---|
//! | [`explain`] | [`Explanation`](explain::Explanation) | What does the text of a shape mean, and how much memory does it take? |
//! | [`index`] | [`Location`](index::Location) | Where is an element, and what is at a position? |
//! | [`draw`] | [`Drawing`](draw::Drawing), [`DeviceDrawing`](draw::DeviceDrawing) | What does the layout look like? Which device has which part? |
//! | [`vector`] | [`Registers`](vector::Registers) | How many registers does a vector of a kernel take, and where is an element? |
//! | [`block`](xla_shape_answers::block) | [`BlockAnswer`](xla_shape_answers::block::BlockAnswer) | How much VMEM do a kernel's blocks need? |
//! | [`advise`](xla_shape_answers::advise) | [`Advice`](xla_shape_answers::advise::Advice) | Which layouts take less memory? |
//! | [`compare`](xla_shape_answers::compare) | [`Comparison`](xla_shape_answers::compare::Comparison) | Are two arrays the same bytes? Is a reshape or a transpose free? |
//! | [`convert`](xla_shape_answers::convert) | [`Conversion`](xla_shape_answers::convert::Conversion) | What is this layout in another notation, and which code makes it? |
//! | [`scan`](xla_shape_answers::scan) | [`Scan`](xla_shape_answers::scan::Scan) | Which shapes does a log contain? |
//! | [`compile`](xla_shape_answers::compile) | [`Compilation`](xla_shape_answers::compile::Compilation) | Which layouts and how much memory did the compiler choose for a program? |
//! | [`cost`](xla_shape_answers::cost) | [`ProgramCost`](xla_shape_answers::cost::ProgramCost) | How many cycles does a program take, and which lines and copies take them? |
//! | [`tune`] | [`Tuning`](xla_shape_answers::tune::Tuning) | Which layout should an array have that several programs share? |
//! | [`kernel`] | [`Kernels`](kernel::Kernels) | What did the compiler make of a kernel's lines, and what could be changed? |
//! | [`hlo`] | [`Report`](xla_shape_answers::hlo::Report), [`Difference`](xla_shape_answers::hlo::Difference) | How much memory do the values of a program take, and what changed between two programs? |
//!
//! A terminal, a Python module and a web page show the same answers, so this crate does not use terminals, files or arguments.
//! It does not decide anything about shapes either: the rules are those of `xla-shape-core` and `xla-shape-hlo`.

#![forbid(unsafe_code)]

mod advise;
mod block;
mod compare;
mod compile;
mod convert;
mod cost;
pub mod draw;
pub mod explain;
pub mod guard;
pub mod hlo;
pub mod index;
pub mod kernel;
mod scan;
mod shell;
mod show;
mod text;
pub mod tpu;
pub mod tune;
pub mod vector;
mod web;
mod words;

pub use shell::shell_line;
pub use show::{Html, Show};
pub use text::{Text, harmless, harmless_but_colours};
pub use web::escape;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
