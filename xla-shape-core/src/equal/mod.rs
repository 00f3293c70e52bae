//! When two shapes are the same: in words, in part, or in memory.

pub mod bitcast;
pub mod compare;
pub(crate) mod movement;
pub(crate) mod reshape;
