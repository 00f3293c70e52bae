//! The shapes that go into a computation and the one that comes out.

use crate::shape::Shape;
use alloc::string::String;
use alloc::vec::Vec;

/// The shapes of a computation's parameters and of its result.
///
/// ```
/// use xla_shape_core::{ProgramShape, ProgramParameter, Shape};
///
/// let program = ProgramShape {
///     parameters: vec![ProgramParameter { name: "x".into(), shape: "f32[2]".parse()? }],
///     result: "(f32[], token[])".parse()?,
/// };
/// assert_eq!(program.to_string(), "(x: f32[2]) -> (f32[], token[])");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProgramShape {
    /// The parameters, in order.
    pub parameters: Vec<ProgramParameter>,
    /// What the computation gives.
    pub result: Shape,
}

/// A parameter of a computation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProgramParameter {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
}
