//! Layouts in the notations of CuTe, Triton, mdspan, NumPy, torch, MLIR, Mosaic and oneDNN, and the maps that they describe.
//!
//! A layout is a map from indices to positions, in whatever notation it is written. A text of any of these notations is read as such a map
//! ([`AnyLayout`]), and a map is written in any notation that can express it. If a notation cannot express it, an [`Obstacle`] says why, and names
//! an element or a position that shows it.
//!
//! ```
//! use xla_shape_core::ArrayShape;
//! use xla_shape_notations::{AnyLayout, Notation};
//!
//! let array: ArrayShape = "bf16[8,128]{1,0:T(8,128)(2,1)}".parse()?;
//! let layout = AnyLayout::of_array(&array)?;
//! assert_eq!(layout.write(Notation::Cute)?, "((2,4),128):((1,256),2)");
//! let back = AnyLayout::read(Notation::Cute, "((2,4),128):((1,256),2)")?;
//! assert_eq!(back.first_moved(&layout)?, None);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Positions count elements. Two layouts are equal if all their elements have equal positions. Only XLA's, Mosaic's and oneDNN's notations also
//! describe the padding after the last element.
//!
//! # Modules
//!
//! Each module uses only those above it in this table.
//!
//! | module | holds |
//! |---|---|
//! | `notation`, `obstacle` | the notations; why one cannot express a layout |
//! | `reader` | a place in a text, and errors that point there |
//! | `modes` | a map as a sum over parts of indices; whether elements share positions; the XLA layout that has the map |
//! | `linear` | a map as a linear layout over bits |
//! | `layout` | a layout: one of these maps, or a stride table, and the element type |
//! | `text` | the notations, read and written |
//! | `steps` | the same positions by pad, reshape and transpose |

#![no_std]
#![forbid(unsafe_code)]
// Code that handles input must not panic: indexing and arithmetic are checked.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

mod layout;
mod linear;
mod modes;
mod notation;
mod obstacle;
mod reader;
mod steps;
mod text;

pub use layout::{AnyLayout, Map};
pub use linear::LinearLayout;
pub use modes::sharing::{MAX_SHARING_STEPS, Sharing};
pub use modes::{Mode, Modes};
pub use notation::Notation;
pub use obstacle::Obstacle;
pub use steps::{Step, tile_steps};
pub use text::Nearest;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
