//! What a TPU is and does: its generations, what they hold, and the layouts that they give arrays.
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

mod block;
mod default_layout;
mod format;
mod generation;
mod merge;
mod order;

pub use block::{Block, BlockError, DOUBLE_BUFFERED, vmem_bytes};
pub use default_layout::{DefaultLayout, DefaultLayoutError, default_layout, layouts, row_major_layout};
pub use generation::{Generation, UnknownGeneration};
pub use merge::Merge;
