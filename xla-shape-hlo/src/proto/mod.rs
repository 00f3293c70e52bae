//! Modules as messages of XLA's schema: `HloModuleProto`, `HloProto` and `HloModuleProtoWithConfig`.
//!
//! The text that XLA prints for a message is written, and the model of it at the same time: a message gives the same module as
//! its text.

mod assignment;
mod attributes;
mod constant;
mod content;
mod error;
mod float;
mod ids;
mod instruction;
mod literal;
mod message;
mod module;
mod names;
mod origin;
mod room;
mod set;
mod shapes;
mod sharding;
mod wire;
mod words;
mod write;

pub use content::{is_message, module_message, module_text, proto_text};
pub use error::{HloProtoError, HloProtoErrorKind};

use crate::module::Module;

impl Module<'_> {
    /// Reads the message of a module: an `HloModuleProto`, or one that holds it, `HloProto` or `HloModuleProtoWithConfig`.
    ///
    /// The module is that of the text which XLA prints for the message; as there, constants of more than ten elements are
    /// left out.
    ///
    /// # Errors
    /// If the bytes are no such message, or one of no module: with ids that nothing has or that two have, or computations
    /// that call each other in a circle.
    pub fn from_proto(bytes: &[u8]) -> Result<Module<'static>, HloProtoError> {
        module::module(content::inner(bytes).unwrap_or(bytes))
    }
}
