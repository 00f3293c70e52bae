//! What the TPU compiler says about Pallas kernels, from the texts that libtpu dumps: the vector layouts and relayouts of Mosaic, the
//! final bundles, their slots, and vector memory.
//!
//! ```
//! use xla_shape_mosaic::Bundles;
//!
//! let bundles = Bundles::parse("   0   :  { %s1_s0 = smov.u32 0  ;;  %v2_v0 = vlaneseq.b32 }\n 0x1   :  {}\n");
//! assert_eq!((bundles.bundles().len(), bundles.empty()), (2, 1));
//! ```
//!
//! Nobody promises the format of these texts, so the readers go on where they do not understand something: they count it and name it.
//! They take time in proportion to the length of the text.
//!
//! | type | what it is |
//! |---|---|
//! | [`Module`], [`Operation`] | MLIR text: operations, attributes, regions, locations |
//! | [`Bundles`], [`Bundle`], [`Slot`] | final bundles |
//! | [`Loop`] | a loop in final bundles, and how often it runs |
//! | [`Schedule`], [`Utilization`], [`Unit`] | the compiler's counts of bundles and slots |
//! | [`VmemUse`] | the compiler's report of vector memory |
//! | [`Kernel`] | what all texts of a kernel say together |
//! | [`FileName`], [`DumpedKernel`] | which files of a directory belong to a kernel |
//!
//! The rules of vector layouts are those of [`xla_shape_core::tpu::vector`].

#![no_std]
#![forbid(unsafe_code)]
// Code that input can reach must not index or overflow unchecked.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

mod brackets;
mod bundles;
mod dump;
mod kernel;
mod loops;
mod mlir;
mod schedule;
mod source;
mod vmem;

pub use brackets::{MlirError, MlirProblem};
pub use bundles::{Bundle, Bundles, Slot};
pub use dump::{DumpedKernel, FileKind, FileName, kernels};
pub use kernel::{Access, Kernel, Line, LoopUse, Relayout, Texts, Window};
pub use loops::{Loop, loops};
pub use mlir::{Module, Operation};
pub use schedule::{Schedule, Unit, Utilization};
pub use source::Source;
pub use vmem::{VmemPart, VmemUse, vmem_report};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
