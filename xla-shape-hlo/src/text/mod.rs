//! HLO text: reading it and printing it.

pub(crate) mod cursor;
mod parse;
mod print;

pub use parse::utf8;
