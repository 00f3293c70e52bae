//! Whether two arrays are the same bytes, and what moves if they are not.

pub mod bitcast;
pub(crate) mod movement;
