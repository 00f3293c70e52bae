//! Whether two arrays are the same bytes in memory, and how many bytes a reshape or a transpose moves.

mod align;
pub mod bitcast;
pub(crate) mod movement;
