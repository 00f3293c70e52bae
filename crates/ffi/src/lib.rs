//! CPU kernels over typed XLA shapes, called by JAX, or by any other program that runs XLA, through XLA's foreign function interface
//! (FFI).
//!
//! A kernel is a function of views and attributes. [`kernel!`] makes an FFI handler of it. [`export!`] exports a library's kernels,
//! so that `python/xla_shape_ffi.py` can find them, register them with JAX and call them with the right layouts.
//!
//! ```standalone_crate
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
//! In Python, with this crate's `python/xla_shape_ffi.py`:
//!
//! ```python
//! kernels = xla_shape_ffi.load("target/release/libkernels.so")
//! y = kernels.add_row(x, row, scale=0.5)
//! ```
//!
//! # Main items
//!
//! | item | what it is |
//! |---|---|
//! | [`kernel!`], [`export!`] | make and export kernels |
//! | [`Parameter`] | the types that parameters may have: views, numbers, texts, lists |
//! | [`InPlace`] | an operand and a result in the same memory |
//! | [`Error`], [`ErrorCode`] | the errors that kernels return |
//! | [`multiversion!`], [`math`] | code for AVX2 and AVX-512, with functions that vectorize |
//! | [`threads::ThreadPool`](https://docs.rs/xla-shape-ffi/latest/xla_shape_ffi/threads/struct.ThreadPool.html) | XLA's threads (feature `threads`) |
//!
//! # What is checked
//!
//! When a kernel is registered: custom calls can carry its layouts.
//!
//! At each call, before any data is read or written:
//!
//! - the numbers of operands and results;
//! - element types, ranks and sizes against the parameter types, and sizes of the same name against each other;
//! - attributes, by name and type;
//! - memory: no null pointers, aligned, and no result overlaps with an operand or another result.
//!
//! A violation is an `INVALID_ARGUMENT` error that names the kernel, the parameter and both shapes. A panic in the kernel is an
//! `INTERNAL` error. The Python module makes the same checks while JAX traces a program.
//!
//! The memory of a result holds arbitrary bytes before the kernel writes it, so a kernel should write every element.
//!
//! # What cannot be checked
//!
//! XLA does not pass layouts to handlers: an array has the layout that the custom call declares. Calls that do not come from the
//! Python module must themselves declare the layouts of the kernel's [signature](Kernel::signature).
//!
//! Kernels run on CPU only. On other devices, the handler returns an error.

// docs.rs, which has a nightly compiler, says which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

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
    pub use crate::kernel::{
        DeclaredParameter, ExpectedParameter, KernelParameters, are_distinct, expected_parameters, name, signature,
        signatures,
    };
    pub use crate::parameter::{describe_default, take_optional};
    pub use std::sync::LazyLock;
    pub use xla_shape::__private::{__compiled, __features};
    pub use xla_shape::vector::Vectors;
}

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct ReadmeExamples;

/// The code of the book's chapter is compiled.
#[doc = include_str!("../../../docs/jax.md")]
#[cfg(doctest)]
struct Chapter;
