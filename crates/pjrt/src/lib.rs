//! Asks XLA's own compiler, through a PJRT plug-in: which layouts it chooses, how much memory a program takes, and what the optimized
//! program is.
//!
//! A PJRT plug-in is a library with an XLA compiler for one kind of devices. The one for TPUs is `libtpu.so`, which
//! `pip install libtpu` installs; it compiles for all generations of TPUs, on machines without a TPU. The one for NVIDIA's GPUs is
//! `xla_cuda_plugin.so`, which `pip install jax-cuda13-pjrt nvidia-cuda-nvcc` installs; it compiles for all GPUs of
//! [`Gpu`](xla_shape::gpu::Gpu), on machines without a GPU. This crate loads the user's own copies, and contains no part of them.
//!
//! ```no_run
//! use xla_shape_pjrt::{CompileOptions, Plugin, Program};
//!
//! // SAFETY: the plug-in is libtpu, as `pip install libtpu` brings it.
//! let plugin = unsafe { Plugin::find() }?;
//! let program = Program::from_bytes(&std::fs::read("program.mlir")?)?;
//! for generation in ["v5e", "v6e"] {
//!     let compiled = plugin.topology(&generation.parse()?)?.compile(&program, &CompileOptions::new())?;
//!     println!("{generation}: {} bytes of HBM, {:?}", compiled.memory()?.device.total(), compiled.inputs()?);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Plugin`], [`LoadOptions`] | a loaded plug-in; how to load it |
//! | [`Target`], [`Slice`], [`Gpus`] | the names of devices to compile for: a slice of a TPU, or GPUs |
//! | [`Topology`] | devices, for which programs are compiled |
//! | [`Program`], [`CompileOptions`], [`Compiled`] | StableHLO or HLO; how to compile it; the compiled program |
//! | [`Client`], [`Device`], [`DeviceBuffer`] | the devices of this machine, and arrays on them |
//! | [`Error`], [`ErrorCode`] | why a call failed |
//! | [`build`] | compiling in `build.rs` |
//!
//! It compiles programs and copies arrays to and from devices. It does not run programs: use JAX for that.
//!
//! # How it is tested
//!
//! The results of compiling with libtpu are compared with JAX's. [`Client`], [`Device`] and [`DeviceBuffer`] are tested with a plug-in that imitates
//! devices, not on a real TPU or GPU.

#[doc(hidden)]
pub mod abi;
pub mod build;
mod client;
mod compiled;
mod deadline;
mod device;
mod device_buffer;
mod element;
mod error;
mod event;
mod find;
mod gpus;
mod layout;
mod main_function;
mod memory;
mod options;
mod plugin;
mod program;
mod property;
mod raw;
mod slice;
mod table;
mod target;
mod topology;
mod version;

pub use client::Client;
pub use compiled::Compiled;
pub use device::Device;
pub use device_buffer::DeviceBuffer;
pub use error::{Error, ErrorCode, PluginError, Result};
pub use gpus::{Gpus, GpusError};
pub use main_function::{Argument, LayoutMode};
pub use memory::MemoryStats;
pub use options::CompileOptions;
pub use plugin::{LoadOptions, Plugin};
pub use program::{Format, Program};
pub use property::{Properties, Property};
pub use slice::{Slice, SliceError};
pub use target::{Target, TargetError};
pub use topology::{DeviceDescription, Topology};
pub use version::Version;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
