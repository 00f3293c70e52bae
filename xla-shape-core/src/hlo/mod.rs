//! HLO modules: XLA's programs as text.

mod attribute;
mod cursor;
mod module;
mod names;
mod opcode;
mod parse;
mod print;

pub use attribute::{Attribute, Value};
pub use module::{Computation, Instruction, Module, Operand, Table};
pub use opcode::Opcode;
pub use parse::utf8;
