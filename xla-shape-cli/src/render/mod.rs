//! From values to what people read.

mod curve;
pub(crate) mod formula;
pub(crate) mod grid;
pub(crate) mod html;
pub(crate) mod memory;
pub(crate) mod picture;
pub(crate) mod svg;
pub(crate) mod words;
