//! Layouts in the notations of CuTe, Triton, mdspan, NumPy, torch, MLIR, Mosaic and oneDNN; [`World`] lists them.
//!
//! ```
//! use xla_shape::worlds::{AnyLayout, World};
//! use xla_shape::{assert_same_map, shape};
//!
//! type Weights = shape!(bf16[8,128]{1,0:T(8,128)(2,1)});
//! assert_eq!(Weights::CUTE, "((2,4),128):((1,256),2)");
//! assert_same_map!(Weights, cute "((2,4),128):((1,256),2)");
//!
//! let layout = AnyLayout::of_array(Weights::SHAPE)?;
//! assert_eq!(layout.write(World::Cute)?, Weights::CUTE);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::types::StaticArray;
pub use xla_shape_core::worlds::{
    AnyLayout, LinearLayout, Map, Mode, Modes, Nearest, Obstacle, Sharing, Step, World, tile_steps,
};
use xla_shape_relayout::wide::wide;

/// Panics, in a `const` at compile time, unless a text in CuTe's notation places every element where `S` does.
/// [`assert_same_map!`](crate::assert_same_map) calls it.
///
/// ```
/// use xla_shape::shape;
///
/// const _: () = xla_shape::worlds::assert_same_as_cute::<shape!(f32[2,3]{0,1})>("(2,3):(1,2)");
/// ```
///
/// # Panics
/// If the text is no layout, or places an element elsewhere.
pub const fn assert_same_as_cute<S: StaticArray>(text: &str) {
    xla_shape_core::worlds::assert_same_as_cute(S::STRIDE_TABLE.with_extents(wide(S::SIZES)), text);
}
