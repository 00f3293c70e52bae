//! Relayout: copying an array from any dense layout to any other, transposing on the way if asked.
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
//!
//! | file | what it does |
//! |---|---|
//! | `plan` | what is asked for, checks of it, and running it |
//! | `arrays` | the same for buffers and views, with shapes as types or at run time |
//! | `slabs` | cuts a relayout into smaller ones, for arrays that do not fit in memory |
//! | `regions` | cuts two stride tables into loops that both sides share |
//! | `schedule` | picks a kernel and an order for such loops |
//! | `execute` | walks the loops |
//! | `grouped` | the rest, by a table for each dimension |
//! | `elements` | the definition, element by element: what every other way must agree with |
//! | `threads` | splits steps among threads (feature `threads`) |
//! | `kernels` | the innermost loops; all `unsafe` of the relayout is here |

mod arrays;
mod elements;
mod error;
mod execute;
mod grouped;
mod kernels;
mod options;
mod phases;
mod pieces;
mod plan;
mod recent;
mod regions;
mod schedule;
mod slabs;
#[cfg(feature = "threads")]
mod threads;

pub use arrays::StaticPlan;
pub use error::{RelayoutError, Side};
pub use options::{Options, Padding, Stores, Vectors};
pub use plan::Plan;
pub use slabs::{Slab, Slabs};
