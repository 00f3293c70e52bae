//! HLO text: reading it and printing it.

pub(crate) mod cursor;
pub(crate) mod escape;
mod parse;
mod print;

pub use parse::utf8;
