//! Kernels over typed XLA shapes that JAX, and whatever else runs XLA, calls through XLA's FFI.
//!
//! A kernel is a function of views and attributes. [`kernel!`] makes a handler of it, and [`export!`] what a library must
//! export so that `python/xla_shape_ffi.py` finds its kernels, registers them and calls them with the right layouts.
//!
//! ```
//! use xla_shape::{View, ViewMut, shape};
//!
//! xla_shape_ffi::kernel! {
//!     /// Adds a row to every row.
//!     pub fn add_row(
//!         x: View<'_, shape!(f32[rows,128])>,
//!         row: View<'_, shape!(f32[128])>,
//!         mut y: ViewMut<'_, shape!(f32[rows,128]{0,1})>,
//!         scale: f32 = 1.0,
//!     ) {
//!         y.fill_with(|[i, j]| x[[i, j]] + scale * row[[j]]);
//!     }
//! }
//!
//! xla_shape_ffi::export![add_row];
//! ```
//!
//! In Python, with `python/xla_shape_ffi.py` of this crate, `xla_shape_ffi.load("libkernels.so").add_row(x, row, scale=0.5)`.
//!
//! # What is checked
//!
//! When a kernel is registered: that custom calls can carry its layouts. At each call, before any data is touched: the
//! number of operands and results, element types, ranks and sizes against the types, and named sizes against each other;
//! attributes by name and type; that memory is there, aligned, and that no result shares that of another operand or result. What
//! does not fit is an `INVALID_ARGUMENT` that names the kernel, the parameter and both shapes. A panic in the kernel is an
//! `INTERNAL` error. The Python module checks the same while a program is traced.
//!
//! Before the kernel writes them, results hold arbitrary bytes: it should write every element.
//!
//! # What cannot be checked
//!
//! XLA passes no layouts to handlers: what the custom call declares is what arrives. Calls that do not come from the
//! Python module must declare the layouts of the kernel's [signature](Kernel::signature) themselves.

mod abi;
mod call;
mod error;
mod f8;
mod frame;
mod kernel;
pub mod math;
mod multiversion;
mod parameter;
mod signature;
#[cfg(test)]
mod tests;
#[cfg(feature = "threads")]
pub mod threads;

pub use abi::{CallFrame, Handler, XlaError};
pub use call::Call;
pub use error::{Error, ErrorCode, Outcome};
pub use kernel::Kernel;
pub use parameter::{Attribute, InPlace, Parameter};
pub use signature::{Description, Role, Wants, obstacle};

#[doc(hidden)]
pub mod __private {
    pub use crate::call::{handle, refuse};
    pub use crate::frame::RawAttribute;
    pub use crate::kernel::{Known, Takes, Written, are_distinct, known, name, signature, signatures};
    pub use crate::multiversion::{Vectors, vectors};
    pub use crate::parameter::{describe_default, take_optional};
    pub use std::sync::LazyLock;
}

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct ReadmeExamples;

/// The code of the book's chapter is compiled.
#[doc = include_str!("../../docs/jax.md")]
#[cfg(doctest)]
struct Chapter;
