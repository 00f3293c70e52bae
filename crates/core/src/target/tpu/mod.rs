//! TPUs: their generations, memory sizes, default layouts, the blocks of Pallas kernels, and the layouts of vectors in
//! registers.
//!
//! ```
//! use xla_shape_core::tpu::{Generation, default_layout};
//! use xla_shape_core::{Dimension, ElementType};
//!
//! let sizes = [Dimension::Static(1), Dimension::Static(3072)];
//! let layout = default_layout(Generation::V5e, ElementType::Bf16, &sizes)?;
//! assert_eq!(layout.to_string(), "{1,0:T(2,128)(2,1)}");
//! assert_eq!(layout.byte_size(), 12_288); // two rows, of which one is padding
//! # Ok::<(), xla_shape_core::tpu::DefaultLayoutError>(())
//! ```
//!
//! The TPU compiler is not public. Default layouts and memory limits were found by asking libtpu 0.0.52; they are in
//! `docs/tpu-formats.md`. The rules of blocks are JAX's, and those of [vector layouts](vector) are in XLA's Mosaic
//! dialect.

mod block;
mod default_layout;
pub(super) mod format;
mod merge;
mod order;
mod tiles;
pub mod vector;

pub use super::generation::Generation;
pub use super::name::UnknownGeneration;
pub use super::table::{KernelVmem, Speed};
pub use block::{Block, BlockError, DOUBLE_BUFFERED, InMemory, kernel_bytes, vmem_bytes};
pub use default_layout::{DefaultLayout, DefaultLayoutError, default_layout, layouts, row_major_layout};
pub use merge::Merge;
pub use tiles::unused_tiles;
