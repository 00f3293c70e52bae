//! The signature of a computation: the shapes of its parameters and of its result.

use crate::shape::Shape;
use alloc::string::String;
use alloc::vec::Vec;

/// The shapes of a computation's parameters and of its result: XLA's `ProgramShape` (`xla/shape.h`).
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
    /// The shape of the result.
    pub result: Shape,
}

/// A parameter of a computation.
///
/// ```
/// use xla_shape_core::{ProgramParameter, ProgramShape};
///
/// let x = ProgramParameter { name: "x".into(), shape: "f32[2]".parse()? };
/// let unnamed = ProgramParameter { name: String::new(), shape: "s32[]".parse()? };
/// let program = ProgramShape { parameters: vec![x, unnamed], result: "f32[]".parse()? };
/// assert_eq!(program.parameters[0].shape.to_string(), "f32[2]{0}");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProgramParameter {
    /// The name; empty if there is none.
    pub name: String,
    /// The shape.
    pub shape: Shape,
}
