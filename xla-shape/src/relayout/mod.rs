//! Relayout: copying an array from any dense layout to any other, transposing on the way if asked.
//!
//! A [`Plan`] copies bytes between two shapes, from the crate `xla-shape-relayout`; a [`StaticPlan`] copies buffers whose shapes are
//! types. [`Buffer::relayout`](crate::Buffer::relayout) makes its plan itself.
//!
//! ```
//! use xla_shape::relayout::{Options, Plan};
//! use xla_shape::ArrayShape;
//!
//! let from: ArrayShape = "u8[2,3]{1,0}".parse()?;
//! let to: ArrayShape = "u8[2,3]{1,0:T(2,4)(2,1)}".parse()?;
//! let plan = Plan::new(&from, &to, &Options::new().zero_padding())?;
//!
//! let mut tiled = [0xff; 8];
//! plan.run(&[1, 2, 3, 4, 5, 6], &mut tiled)?;
//! assert_eq!(tiled, [1, 4, 2, 5, 3, 6, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrays;

pub use arrays::StaticPlan;
pub use xla_shape_relayout::{Caches, Options, Padding, Plan, RelayoutError, Side, Slab, Slabs, Stores, Vectors};
