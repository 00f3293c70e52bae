//! Whether a reshape or a transpose is free.

use crate::words::Bytes;
use crate::{Answer, GivenArray, Text};
use serde::Serialize;
use std::error::Error;
use std::fmt;
use xla_shape_core::Movement;
use xla_shape_core::bitcast::BitcastError;
use xla_shape_core::tpu::{DefaultLayoutError, Generation};

/// What a reshape, and a transpose where there is one, from one array to another moves.
#[derive(Clone, Debug, Serialize)]
pub struct Reshape {
    from: String,
    to: String,
    /// Whether a reshape is free.
    free: bool,
    #[serde(flatten)]
    reshape: Cost,
    /// The transpose between the same arrays; the free one, if there is one.
    transpose: Option<Transpose>,
    /// If no TPU was given and no shape has a layout.
    #[serde(skip)]
    no_layouts: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Cost {
    /// Read and written.
    moved_bytes: u64,
    /// The result in a layout that would be free.
    free_result: Option<String>,
    reason: String,
}

#[derive(Clone, Debug, Serialize)]
struct Transpose {
    permutation: Vec<usize>,
    free: bool,
    #[serde(flatten)]
    cost: Cost,
}

impl Cost {
    fn of(movement: Movement) -> Self {
        Self {
            moved_bytes: movement.moved_bytes,
            free_result: movement.free_result.map(|array| array.to_string()),
            reason: movement.answer.to_string(),
        }
    }
}

impl Reshape {
    /// Judges the reshape and the transposes from `from` to `to`. Shapes without a layout get the one that a TPU of this
    /// generation chooses, if one is named.
    ///
    /// # Errors
    /// If the arrays have other elements, or another number of them, or the question has no answer.
    pub fn new(
        from: impl Into<GivenArray>,
        to: impl Into<GivenArray>,
        generation: Option<Generation>,
    ) -> Result<Self, ReshapeError> {
        let (from, to) = (from.into(), to.into());
        let no_layouts = generation.is_none() && !from.has_layout && !to.has_layout;
        let on_device = |given: GivenArray| match generation {
            Some(generation) if !given.has_layout => given.array.with_tpu_layout(generation),
            _ => Ok(given.array),
        };
        let (from, to) = (on_device(from)?, on_device(to)?);
        if from.element_type() != to.element_type() {
            return Err(ReshapeError::ElementTypes(from.to_string(), to.to_string()));
        }
        if let (Some(operand), Some(result)) = (from.elements(), to.elements())
            && operand != result
        {
            return Err(ReshapeError::Elements(operand, result));
        }
        let reshape = from.reshape_movement(&to)?;
        let mut transpose = None;
        // Between equal dimensions, leaving them as they are is the reshape.
        let permutations = from.permutations_to(&to).into_iter().rev().filter(|order| !order.is_sorted());
        for permutation in permutations {
            let movement = from.transpose_movement(&to, &permutation)?;
            let free = movement.answer.is_yes();
            if free || transpose.is_none() {
                transpose = Some(Transpose { permutation, free, cost: Cost::of(movement) });
            }
            if free {
                break;
            }
        }
        Ok(Self {
            from: from.to_string(),
            to: to.to_string(),
            free: reshape.answer.is_yes(),
            reshape: Cost::of(reshape),
            transpose,
            no_layouts,
        })
    }
}

fn say(text: &mut Text, what: &str, free: bool, cost: &Cost) {
    if free {
        text.line(format_args!("{what}: free. Every byte stays where it is."));
        return;
    }
    text.line(format_args!("{what}: not free. It reads and writes {} together.", Bytes(cost.moved_bytes)));
    text.line(format_args!("  Why: {}.", cost.reason));
    match &cost.free_result {
        Some(result) => text.uncut(format_args!("  Free would be: {result}")),
        None => text.line("  No layout of the result was found that would be free."),
    }
}

impl Answer for Reshape {
    fn text(&self, width: usize) -> Text {
        let Self { from, to, free, reshape, transpose, no_layouts } = self;
        let mut text = Text::new(width);
        text.uncut(format_args!("{from}\n  to {to}"));
        text.uncut("");
        say(&mut text, "As a reshape", *free, reshape);
        if let Some(Transpose { permutation, free, cost }) = transpose {
            let numbers = permutation.iter().map(|dimension| dimension.to_string()).collect::<Vec<_>>();
            say(&mut text, &format!("As a transpose by ({})", numbers.join(",")), *free, cost);
        }
        if *no_layouts {
            text.line("Neither has a layout, so both are row-major, without tiles; --for v5e asks about a TPU.");
        }
        text
    }
}

/// There is no such reshape.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReshapeError {
    /// The shapes have other element types.
    ElementTypes(String, String),
    /// They have this many elements each.
    Elements(u64, u64),
    /// The question has no answer.
    Bitcast(BitcastError),
    /// It is not known how a TPU lays out such arrays.
    Unknown(DefaultLayoutError),
}

impl From<BitcastError> for ReshapeError {
    fn from(error: BitcastError) -> Self {
        Self::Bitcast(error)
    }
}

impl From<DefaultLayoutError> for ReshapeError {
    fn from(error: DefaultLayoutError) -> Self {
        Self::Unknown(error)
    }
}

impl fmt::Display for ReshapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ElementTypes(from, to) => {
                write!(f, "a reshape keeps the element type; {from} and {to} have different ones")
            }
            Self::Elements(from, to) => write!(f, "a reshape keeps the number of elements; there are {from} and {to}"),
            Self::Bitcast(error) => error.fmt(f),
            Self::Unknown(error) => error.fmt(f),
        }
    }
}

impl Error for ReshapeError {}
