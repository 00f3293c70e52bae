//! Modules as messages of XLA's schema: `HloModuleProto`, `HloProto` and `HloModuleProtoWithConfig`.
//!
//! A message is read as the text that XLA prints for it, so that both give the same module.

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
mod words;
mod write;

pub use content::{module_message, module_text, proto_text};
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
        let text = proto_text(bytes)?;
        Module::parse_owned(text).map_err(HloProtoError::from)
    }
}
