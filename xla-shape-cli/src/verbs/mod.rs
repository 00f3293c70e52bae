//! One module for each thing the program does.

pub(crate) mod check;
pub(crate) mod explain;
