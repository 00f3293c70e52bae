//! Mosaic's vector layouts: where the elements of a vector are in the registers of a TPU.
//!
//! A vector register has 8 sublanes × 128 lanes of 32-bit words. Narrower elements share a word, whose parts hold
//! elements of neighbouring rows. A [`VectorLayout`] describes how the two minor dimensions of a vector are cut into
//! registers. The compiler assigns one to every vector of a Pallas kernel and prints it as `32,{3,0},(8,128),-1`.
//!
//! ```
//! use xla_shape_core::tpu::vector::VectorLayout;
//!
//! let layout: VectorLayout = "32,{3,0},(8,128)".parse()?;
//! assert_eq!(layout.slice(), [8, 128]); // the elements of one register
//! assert_eq!(layout.grid(&[16, 256])?, [3, 2]); // 16 rows that begin in row 3 of a register need three registers
//! let map = layout.map(&[16, 256])?;
//! let location = map.location(&[5, 130]).unwrap();
//! assert_eq!((location.register, location.sublane, location.lane, location.part), (3, 0, 2, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The rules are those of `VectorLayout` in Mosaic (`xla/mosaic/dialect/tpu/layout.h` and `layout.cc`, before that
//! `jaxlib/mosaic/dialect/tpu`). Sizes and offsets are in elements; a [`Location`] is in sublanes, lanes and parts of a
//! word.

// rustdoc lists the methods of a type in the order of these modules: `VectorLayout`'s constructor and accessors come
// first.
mod layout;
mod map;
mod memory;
mod relation;

pub use layout::{ImplicitDimensions, Offset, VectorLayout, VectorLayoutError};
pub use map::{Location, VectorMap};
pub use relation::RelayoutStep;

/// The sublanes of a vector register: its rows of 32-bit words.
pub const SUBLANES: u64 = 8;
/// The lanes of a vector register: the 32-bit words of a sublane.
pub const LANES: u64 = 128;
/// The bits of one word of a register.
const WORD_BITS: u64 = 32;
