//! Blocks: parts of a larger array at places that are known at run time, each with its own shape.
//!
//! A kernel is written for a block, and the array is divided into a grid of blocks. The compiler checks that the array can be divided like
//! this. The place of a block is checked once per block, not once per element.
//!
//! ```
//! use xla_shape::{Buffer, View, shape};
//!
//! type Whole = shape!(f32[64,256]{1,0:T(8,128)});
//! type Tile = shape!(f32[16,128]{1,0:T(8,128)});
//!
//! let x = Buffer::<Whole>::from_fn(|[i, j]| (1000 * i + j) as f32);
//! assert_eq!(x.block_grid::<Tile>(), [4, 2]);
//! let block = x.block::<Tile>([2, 1]);
//! assert_eq!(block[[3, 5]], x[[2 * 16 + 3, 128 + 5]]);
//!
//! // Each block is one thread's.
//! let mut x = x;
//! std::thread::scope(|threads| {
//!     for mut block in x.blocks_mut::<Tile>() {
//!         threads.spawn(move || block.apply(|x| -x));
//!     }
//! });
//! assert_eq!(x[[35, 133]], -35_133.0);
//! ```
//!
//! # What a block is
//!
//! A block is a [`View`] or [`ViewMut`] whose shape is a [`Part`]: a kernel over any [`ArrayType`] takes it like an array. Its elements
//! stay where they are in the memory of the whole array, so a block has no `as_slice` and no other method that needs memory of its own.
//! Where the block is one stretch of memory, [`as_array`](View::as_array) returns an array with these methods.
//! [`to_buffer`](Buffer::to_buffer) and [`copy_to`](Buffer::copy_to) copy a block, also into another layout or memory space.
//!
//! # Where an array can be cut
//!
//! A block has the element type, layout and memory space of the array; others are type errors. In each dimension, its size is a multiple of the
//! tile's size, or it takes the whole dimension. Anything else does not compile, and the error says why; that shows in `cargo build`, not in `cargo
//! check`. Arrays with sizes that are known at run time are divided in the same way.
//!
//! # The last blocks
//!
//! If the block's size does not divide the array's, the last block has fewer elements: [`sizes`](ArrayType::sizes) returns how many, and
//! loops, indices and bounds follow. [`copy_to_padded`](Buffer::copy_to_padded) fills in the missing elements.
//!
//! # Sections
//!
//! A section fixes the index of some dimensions, and is an array of the others: [`index_axis`](Buffer::index_axis) takes one head of `[heads,
//! seq, d]`, which is a `[seq, d]`. [`section`](Buffer::section) takes an index, a range or all of each dimension. The fixed dimensions are not
//! in the tiles, and ranges do not cut tiles, so that a section has whole tiles.
//!
//! # Rows by number
//!
//! [`gather_rows`](Buffer::gather_rows) copies the rows with given numbers, as the lookup of an embedding does;
//! [`scatter_rows`](Buffer::scatter_rows) copies to such rows.
//!
//! # Windows
//!
//! [`windows`](Buffer::windows) copies each block together with the elements around it: what a stencil reads to write a block of another array.
//! [`copy_window_to`](Buffer::copy_window_to) copies a part that begins at any index, also inside of a tile. Windows may overlap and
//! reach beyond the array; a [`Border`] says what they hold there.

mod copy;
mod cut;
mod part;
mod reshard;
mod rows;
mod section;
mod sections;
mod shard;
mod window;
mod windows;

#[cfg(doc)]
use crate::buffer::{Buffer, View, ViewMut};
#[cfg(doc)]
use crate::types::ArrayType;

pub use cut::Blocks;
pub use part::{BlockOf, Part};
#[doc(hidden)]
pub use rows::RowNumber;
pub use section::{DimensionSlice, Fixed, Ranges, Section, Slices};
pub use window::{Border, WindowError};
pub use windows::{Window, Windows};
