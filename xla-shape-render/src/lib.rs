//! What the `xla-shape` program shows of XLA shapes, layouts and programs, as data and as text, JSON, SVG and HTML.
//!
//! A terminal, a Python module and a web page show the same. So nothing here knows terminals, files or arguments, and
//! nothing here decides anything about shapes: that is the core's.
//!
//! Each question of a user has a module. The module has a type that holds the answer as data; [`Answer`] makes text and
//! JSON of it, and some have pictures besides.
//!
//! ```
//! use xla_shape_core::Shape;
//! use xla_shape_render::{Answer, explain::Explanation};
//!
//! let shape: Shape = "f32[100,200]{1,0:T(8,128)}".parse()?;
//! let explanation = Explanation::new(shape);
//! assert!(explanation.text(80).to_string().contains("106,496 bytes (104 KiB)"));
//! assert!(explanation.json().contains("\"bytes\":106496"));
//! # Ok::<(), xla_shape_core::ParseError>(())
//! ```
//!
//! | module | question |
//! |---|---|
//! | [`explain`] | What does the text of a shape mean, and what does the shape take? |
//! | [`index`] | Where is an element, and what is at a position? |
//! | [`draw`] | What does the layout look like? |
//! | [`tpu`] | Which layout does a TPU choose? |
//! | [`block`] | What does a kernel's block need in VMEM? |
//! | [`advise`] | Which layouts take less memory? |
//! | [`reshape`] | Is a reshape or a transpose free? |
//! | [`bitcast`] | Can one array be read as another without a copy? |
//! | [`rustc`] | What does the compiler say of our types? |
//! | [`scan`] | Which shapes does a log contain? |
//! | [`compile`] | What does a compiler make of a program? |
//! | [`hlo`] | What do the values of a program take, and what changed between two programs? |

#![forbid(unsafe_code)]

pub mod advise;
mod answer;
pub mod bitcast;
pub mod block;
pub mod compile;
pub mod draw;
pub mod explain;
mod formula;
mod given;
pub mod hlo;
pub mod index;
pub mod reshape;
pub mod rustc;
pub mod scan;
mod text;
pub mod tpu;
mod web;
mod words;

pub use answer::{Answer, json_line, write_json};
pub use given::{Given, GivenArray};
pub use text::{Text, harmless};
pub use web::escape;
pub use words::{InUnits, count, no_array, no_size};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
