//! From values to what people read.

mod curve;
pub(crate) mod formula;
pub(crate) mod grid;
pub(crate) mod html;
pub(crate) mod memory;
pub(crate) mod picture;
pub(crate) mod svg;
pub(crate) mod words;

/// No page is larger, in bytes: it shows less of what it is about until it fits.
const MAX_PAGE: usize = 300_000;
