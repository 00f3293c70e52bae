//! Modules as protobuf messages: `HloModuleProto`, and `HloProto`, `HloModuleProtoWithConfig`, `HloSnapshot` with such
//! modules in them (`xla/service/hlo.proto`).
//!
//! [`Module::from_proto`](crate::Module::from_proto) writes the text that XLA prints for a message, and builds the module at the same time, so that a
//! message and its text give the same module. [`Module::to_proto`](crate::Module::to_proto) writes a message.
//!
//! ```
//! use xla_shape_hlo::Module;
//!
//! let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }")?;
//! let message = module.to_proto()?;
//! assert_eq!(Module::from_proto(&message)?.entry().unwrap().root().name(), "p");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assignment;
mod attributes;
mod autotuning;
mod constant;
mod content;
mod error;
mod fields;
mod float;
mod gpu_config;
mod ids;
mod instruction;
mod literal;
mod message;
mod module;
mod names;
mod origin;
mod room;
mod shapes;
mod sharding;
mod text_format;
mod thunks;
mod values;
mod wire;
mod words;
mod write;

pub use autotuning::autotuning_results;
pub use content::{is_message, module_message, module_text, proto_text};
pub use error::{HloProtoError, HloProtoErrorKind};
pub use gpu_config::GpuConfig;
pub use text_format::{is_text_format, text_format_message};
pub use thunks::thunk_instructions;
