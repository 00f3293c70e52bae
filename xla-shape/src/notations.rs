//! Layouts in the notations of CuTe, Triton, mdspan, NumPy, torch, MLIR, Mosaic and oneDNN; [`Notation`] lists them.
//!
//! ```
//! use xla_shape::notations::{AnyLayout, Notation};
//! use xla_shape::{assert_same_map, shape};
//!
//! type Weights = shape!(bf16[8,128]{1,0:T(8,128)(2,1)});
//! assert_same_map!(Weights, cute "((2,4),128):((1,256),2)");
//!
//! let layout = AnyLayout::of_array(Weights::SHAPE)?;
//! assert_eq!(layout.write(Notation::Cute)?, "((2,4),128):((1,256),2)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::types::StaticArray;
use xla_shape_core::map::{Digit, Intermediate};
pub use xla_shape_notations::{
    AnyLayout, LinearLayout, Map, Mode, Modes, Nearest, Notation, Obstacle, Sharing, Step, tile_steps,
};
use xla_shape_relayout::wide::wide;

/// What [`assert_same_map!`](crate::assert_same_map) calls with the map that it has read.
#[doc(hidden)]
#[track_caller]
pub const fn assert_same_map<S: StaticArray>(
    notation: &str,
    extents: &[u64],
    digits: &[Digit],
    intermediates: &[Intermediate],
) {
    let table = S::STRIDE_TABLE.with_extents(wide(S::SIZES));
    xla_shape_core::map::assert_same_map(table, notation, extents, digits, intermediates);
}
