//! Relayout: copies an array from any dense XLA layout to any other, and transposes on the way if asked.
//!
//! ```
//! use xla_shape_core::ArrayShape;
//! use xla_shape_relayout::{Options, Plan};
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
//! - [`Plan`] is a relayout that was checked and prepared for two shapes. It runs on any number of buffers, from any number of threads.
//! - [`Options`] say whether to transpose, what to write into padding ([`Padding`]), which stores to use ([`Stores`]), and for which
//!   [`Caches`] to plan.
//! - [`Slabs`] cut a relayout into smaller ones ([`Slab`]), for arrays that do not fit in memory.
//! - [`AlignedBytes`] is memory that begins at a cache line, which is written fastest.
//! - [`RelayoutError`] says why a relayout is not possible.
//! - [`vector`] compiles a caller's own loops for the vector instructions of each machine.
//!
//! A relayout moves elements and does not convert their types. Both arrays are in this machine's memory, as bytes, and do not overlap.
//!
//! # The files
//!
//! | file | what it does |
//! |---|---|
//! | `plan` | checks what was asked, prepares it and runs it |
//! | `slabs` | cuts a relayout into smaller ones |
//! | `loops` | regions of a relayout: loops over both arrays |
//! | `regions` | from two stride tables to loops that both sides share |
//! | `pieces` | looks positions up where the two tables have no common digits |
//! | `choice` | chooses a kernel for such loops: every rule and number that decides between kernels |
//! | `schedule` | from regions to steps: the order of the loops around the kernels |
//! | `fill` | fills padding |
//! | `grouped`, `phases` | copying by tables, where there are too many regions |
//! | `elements` | copying element by element: the definition that all other methods must agree with |
//! | `parts`, `threads` | cuts steps into parts, for several threads (feature `threads`) |
//! | `helpers` | work in pieces that several threads take one by one (feature `threads`) |
//! | `kernels` | the innermost loops; all `unsafe` code that copies |
//! | `tuning` | how much kernels do at once, and other numbers that were found by measuring |
//! | `vector` | which vector instructions the machine has; code compiled for each of them |
//! | `memory` | memory that begins at a cache line |
//! | `bits`, `wide` | bits within bytes; sizes of shapes as `usize` |

// docs.rs, which has a nightly compiler, says which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// First, because other modules use its macros.
#[macro_use]
pub mod vector;

pub mod bits;
mod caches;
mod choice;
mod elements;
mod error;
mod fill;
mod grouped;
#[cfg(feature = "threads")]
mod helpers;
mod kernels;
mod loops;
mod memory;
mod options;
#[cfg(feature = "threads")]
mod parts;
mod phases;
mod pieces;
mod plan;
mod prefetch;
mod pulse;
mod recent;
mod regions;
mod schedule;
mod slabs;
#[cfg(feature = "threads")]
mod threads;
mod tuning;
pub mod wide;

pub use caches::Caches;
pub use elements::widths_match;
pub use error::{RelayoutError, Side};
pub use memory::{AlignedBytes, OutOfMemory};
pub use options::{Options, Padding, Stores};
pub use plan::Plan;
pub use slabs::{Slab, Slabs};
pub use vector::Vectors;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
