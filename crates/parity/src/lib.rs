//! XLA's helper functions by their names in XLA, and the layouts of 2017, built on `xla-shape-core`: for code that is ported from XLA.
//!
//! ```
//! use xla_shape_core::Shape;
//! use xla_shape_parity::shape_util;
//!
//! // XLA: ShapeUtil::DeviceShapeToHostShape(shape)
//! let shape: Shape = "(f32[8,128]{1,0:T(8,128)S(1)}, token[])".parse()?;
//! assert_eq!(shape_util::device_shape_to_host_shape(&shape)?.to_string(), "(f32[8,128]{1,0}, token[])");
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`shape_util`] | `ShapeUtil` and the class `Shape` |
//! | [`layout_util`] | `LayoutUtil` and the class `Layout` |
//! | [`index_util`] | `IndexUtil` |
//! | [`table`] | every public function of these classes, with its name here or in the core, or the reason why there is none |
//! | [`legacy`] | layouts of 2017: padded dimensions and the value of the padding |
//!
//! Where XLA aborts the process, a function here returns an error or `None`. Where XLA changes a shape in place, most return a new one. Functions
//! that the rest of `xla-shape` also needs are methods of the core's types; [`table`] lists them.

// docs.rs, which has a nightly compiler, says which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
// Code that handles input must not panic: indexing and arithmetic are checked, or an `expect` says why they cannot fail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

#[cfg(feature = "util")]
pub mod index_util;
#[cfg(feature = "util")]
pub mod layout_util;
pub mod legacy;
#[cfg(feature = "util")]
pub mod shape_util;
#[cfg(feature = "util")]
pub mod table;

#[doc = include_str!("../README.md")]
#[cfg(all(doctest, feature = "util"))]
struct Readme;
