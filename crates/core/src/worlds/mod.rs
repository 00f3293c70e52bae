//! Layouts of other worlds: the notations of CuTe, Triton, mdspan, NumPy, torch, MLIR, Mosaic and oneDNN, and the maps that they describe.
//!
//! A layout is a map from indices to positions, whoever writes it down. A text of any of these notations is read as such a map
//! ([`AnyLayout`]), and a map is written in any notation that can express it. Where one cannot, an [`Obstacle`] says why, with the
//! element or the position that shows it.
//!
//! ```
//! use xla_shape_core::ArrayShape;
//! use xla_shape_core::worlds::{AnyLayout, World};
//!
//! let array: ArrayShape = "bf16[8,128]{1,0:T(8,128)(2,1)}".parse()?;
//! let layout = AnyLayout::of_array(&array)?;
//! assert_eq!(layout.write(World::Cute)?, "((2,4),128):((1,256),2)");
//! let back = AnyLayout::read(World::Cute, "((2,4),128):((1,256),2)")?;
//! assert_eq!(back.first_moved(&layout)?, None);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Positions count elements. Layouts are compared by where their elements are. Only XLA's, Mosaic's and oneDNN's notations also
//! describe the room behind the last one.

mod affine;
mod any;
mod assert;
mod cute;
mod linear;
mod mdspan;
mod memref;
mod modes;
mod numpy;
mod onednn;
mod python;
mod reader;
mod sharing;
mod spelling;
mod steps;
mod strided;
mod tiles;
mod torch;

pub use crate::notation::{Obstacle, World};
pub use any::{AnyLayout, Map, Nearest};
#[doc(hidden)]
pub use assert::assert_same_map;
pub use cute::cute_text;
pub use linear::LinearLayout;
pub use modes::{Mode, Modes};
pub use sharing::Sharing;
pub use steps::{Step, tile_steps};
