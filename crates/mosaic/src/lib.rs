//! Reads the texts that libtpu dumps for Pallas kernels: Mosaic's vector layouts and relayouts, the final bundles with their slots, and
//! vector memory.
//!
//! ```
//! use xla_shape_mosaic::Bundles;
//!
//! let bundles = Bundles::parse("   0   :  { %s1_s0 = smov.u32 0  ;;  %v2_v0 = vlaneseq.b32 }\n 0x1   :  {}\n");
//! assert_eq!((bundles.bundles().len(), bundles.empty()), (2, 1));
//! ```
//!
//! The format of these texts is not documented and may change. So the readers continue after something that they do not understand, and
//! count and name it. Their time is linear in the length of the text.
//!
//! | type | what it is |
//! |---|---|
//! | [`Bundles`], [`Bundle`], [`Slot`] | final bundles |
//! | [`Loop`] | a loop in final bundles, and its number of iterations |
//! | [`Schedule`], [`Utilization`], [`Unit`] | the compiler's counts of bundles and slots |
//! | [`VmemUse`] | the compiler's report of vector memory |
//! | [`Kernel`] | everything about one kernel, from all of its texts |
//! | [`CalledKernel`], [`CalledWindow`] | a kernel that a program calls, before it is compiled |
//! | [`Transfers`] | what a kernel's grid copies between HBM and VMEM |
//! | [`FileName`], [`DumpedKernel`] | the kernels of a dump, and their files |
//!
//! MLIR text is read by [`xla_shape_mlir`]; the rules of vector layouts are those of [`xla_shape_core::tpu::vector`].

#![no_std]
#![forbid(unsafe_code)]
// Code that input can reach must not index or overflow unchecked.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

mod applied;
mod branches;
mod bundles;
mod called;
mod dump;
mod kernel;
mod loops;
mod operands;
mod schedule;
mod transfers;
mod values;
mod vmem;

pub use bundles::{Bundle, Bundles, Slot};
pub use called::{CalledKernel, CalledWindow, WindowOf, called_kernels};
pub use dump::{DumpedKernel, FileKind, FileName, compilations, kernels, xla_instructions};
pub use kernel::{Access, Kernel, Line, LoopUse, Relayout, Texts, VectorValue, Window};
pub use loops::{Loop, loops};
pub use schedule::{Schedule, Unit, Utilization};
pub use transfers::{Transfers, WindowTransfers};
pub use vmem::{VmemPart, VmemUse, vmem_report};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
