//! HLO modules: XLA's programs as text.

mod attribute;
mod check;
mod cursor;
mod escape;
mod memory;
mod module;
mod names;
mod opcode;
mod parse;
mod print;
mod scan;
mod sharding;
mod window;

pub use attribute::{Alias, Attribute, DimLabels, Labels, ReplicaGroups, Value};
pub use check::{Finding, Problem};
pub use memory::{Buffer, Footprint, FormatUsage, LayoutChange, Lifetime, Memory, Peak, Timeline, Usage};
pub use module::{Computation, Instruction, Module, Operand, Table};
pub use opcode::Opcode;
pub use parse::utf8;
pub use scan::{FindShapes, FoundShape, find_shapes, instruction_shapes};
pub use sharding::{Devices, Sharding};
