//! The answers of the `xla-shape` program about XLA shapes, layouts and programs, as text, SVG and HTML.
//!
//! The answers are the types of [`xla_shape_answers`]. The trait [`Show`] writes each as text; [`Svg`] and [`Html`] write the picture or the page
//! that some have.
//!
//! ```
//! use xla_shape_core::Shape;
//! use xla_shape_answers::{Answer, explain::Explanation};
//! use xla_shape_render::Show;
//!
//! let shape: Shape = "f32[100,200]{1,0:T(8,128)}".parse()?;
//! let explanation = Explanation::new(shape);
//! assert!(explanation.text(80).to_string().contains("106,496 bytes (104 KiB)"));
//! assert!(explanation.json().contains("\"bytes\":106496"));
//! # Ok::<(), xla_shape_core::ParseError>(())
//! ```
//!
//! A terminal, a Python module and a web page show the same answers, so this crate does not use terminals, files or arguments.
//! It does not decide anything about shapes either: the rules are those of `xla-shape-core` and `xla-shape-hlo`.

#![forbid(unsafe_code)]

mod advise;
mod block;
mod compare;
mod compile;
mod convert;
pub mod cost;
mod digest;
pub mod draw;
mod explain;
mod fit;
pub mod guard;
pub mod hlo;
mod kernel;
mod rank;
mod reshard;
mod scan;
mod show;
mod text;
mod times;
mod tpu;
pub mod tune;
mod web;
mod words;

pub use digest::first_lines;
pub use show::{Html, Show, Svg};
pub use text::{Text, harmless, harmless_but_colours};
pub use web::escape;
pub use xla_shape_answers::shell_line;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
