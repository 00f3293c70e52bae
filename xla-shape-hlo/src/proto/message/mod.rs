//! The messages of XLA's schema (package `xla`), as far as modules need them; other fields are skipped.

mod dimensions;
mod instruction;
mod literal;
mod module;
mod sharding;

pub(crate) use dimensions::*;
pub(crate) use instruction::*;
pub(crate) use literal::*;
pub(crate) use module::*;
pub(crate) use sharding::*;
