//! Asks an XLA compiler itself: which layouts it chooses, how much memory a program takes, and what becomes of the program.
//!
//! A PJRT plug-in is a compiler of XLA in a library. That for TPUs is `libtpu.so`, which `pip install libtpu` brings; it
//! compiles for every generation of TPUs without a TPU in the machine. This crate loads the user's own copy, and ships nothing
//! of it.
//!
//! ```no_run
//! use xla_shape_pjrt::{CompileOptions, Plugin, Program};
//!
//! let plugin = Plugin::find()?;
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
//! | [`Plugin`] | a plug-in that is loaded |
//! | [`Slice`], [`Topology`] | the name of a part of a TPU; the devices of it, for which programs are compiled |
//! | [`Program`], [`CompileOptions`], [`Compiled`] | StableHLO or HLO; how to compile it; what the compiler made of it |
//! | [`Client`], [`Device`], [`DeviceBuffer`] | the devices of this machine, where it has some, and arrays on them |
//! | [`build`] | compiling while a crate is built |
//!
//! # What was tried, and what was not
//!
//! Compiling is tested with libtpu against JAX's own answers. Devices are tested with a plug-in that only pretends to have some:
//! no test has run [`Client`] on a TPU or a GPU.

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
mod layout;
mod memory;
mod options;
mod plugin;
mod program;
mod property;
mod raw;
mod slice;
mod table;
mod topology;
mod version;

pub use client::Client;
pub use compiled::Compiled;
pub use device::Device;
pub use device_buffer::DeviceBuffer;
pub use error::{Error, ErrorCode, PluginError, Result};
pub use memory::MemoryStats;
pub use options::CompileOptions;
pub use plugin::{LoadOptions, Plugin};
pub use program::{Format, Program};
pub use property::{Properties, Property};
pub use slice::{Slice, SliceError};
pub use topology::{DeviceDescription, Topology};
pub use version::Version;
