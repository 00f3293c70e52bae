//! From values to what people read.

pub(crate) mod formula;
pub(crate) mod words;
