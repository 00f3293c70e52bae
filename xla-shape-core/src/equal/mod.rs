//! Equality of shapes: exact, compatible, or the same bytes.

pub mod bitcast;
pub mod compare;
pub(crate) mod movement;
pub(crate) mod reshape;
