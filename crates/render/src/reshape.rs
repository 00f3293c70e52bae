//! Whether a reshape or a transpose is free.

use crate::tpu::{DEFAULT_GENERATION, named};
use crate::words::Bytes;
use crate::{Answer, GivenArray, Text};
use serde::Serialize;
use std::error::Error;
use std::fmt;
use xla_shape_core::Movement;
use xla_shape_core::bitcast::BitcastError;
use xla_shape_core::tpu::{DefaultLayoutError, Generation};

/// Whether a reshape from one array to another moves data, and whether a transpose between them does.
#[derive(Clone, Debug, Serialize)]
pub struct Reshape {
    from: String,
    to: String,
    /// Whether the reshape leaves every byte where it is.
    free: bool,
    #[serde(flatten)]
    reshape: Cost,
    /// The transpose between the same arrays, if there is one; a free one comes before others.
    transpose: Option<Transpose>,
    /// The TPU that chose the layout of a shape without one; null if both have their own.
    generation: Option<&'static str>,
    /// Whether the generation is the default, because none was named.
    #[serde(skip)]
    assumed: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Cost {
    /// The bytes that are read and written together.
    moved_bytes: u64,
    /// The result in a layout that would make it free.
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
    fn new(movement: Movement) -> Self {
        Self {
            moved_bytes: movement.moved_bytes,
            free_result: movement.free_result.map(|array| array.to_string()),
            reason: movement.answer.to_string(),
        }
    }
}

impl Reshape {
    /// Examines the reshape and the transposes from `from` to `to`. A shape without a layout gets the one that a TPU of this
    /// generation chooses; without a generation, of [`DEFAULT_GENERATION`].
    ///
    /// # Errors
    /// If the arrays differ in element type or in the number of elements, or the answer cannot be computed.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_render::{Answer, reshape::Reshape};
    ///
    /// let (from, to): (ArrayShape, ArrayShape) = ("f32[8,128]{1,0:T(8,128)}".parse()?, "f32[1024]{0:T(1024)}".parse()?);
    /// assert!(Reshape::new(&from, &to, None)?.text(80).to_string().contains("As a reshape: free."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        from: impl Into<GivenArray>,
        to: impl Into<GivenArray>,
        generation: Option<Generation>,
    ) -> Result<Self, ReshapeError> {
        let (from, to) = (from.into(), to.into());
        let assumed = generation.is_none();
        let generation = generation.unwrap_or(DEFAULT_GENERATION);
        let chose = !from.has_layout || !to.has_layout;
        let (from, to) = (from.on(generation)?, to.on(generation)?);
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
        // The identity permutation is the reshape, so it is left out.
        let permutations = from.permutations_to(&to).into_iter().rev().filter(|order| !order.is_sorted());
        for permutation in permutations {
            let movement = from.transpose_movement(&to, &permutation)?;
            let free = movement.answer.is_yes();
            if free || transpose.is_none() {
                transpose = Some(Transpose { permutation, free, cost: Cost::new(movement) });
            }
            if free {
                break;
            }
        }
        Ok(Self {
            from: from.to_string(),
            to: to.to_string(),
            free: reshape.answer.is_yes(),
            reshape: Cost::new(reshape),
            transpose,
            generation: chose.then_some(generation.name()),
            assumed,
        })
    }
}

fn say(text: &mut Text, what: &str, free: bool, cost: &Cost) {
    if free {
        text.paragraph(format_args!("{what}: free. Every byte stays where it is."));
        return;
    }
    text.paragraph(format_args!("{what}: not free. It reads and writes {} together.", Bytes(cost.moved_bytes)));
    text.paragraph(format_args!("  Why: {}.", cost.reason));
    match &cost.free_result {
        Some(result) => text.verbatim(format_args!("  It would be free to {result}")),
        None => text.paragraph("  No layout of the result was found that would make it free."),
    }
}

impl Answer for Reshape {
    const SCHEMA: &'static str = "xla-shape/reshape/1";

    fn text(&self, width: usize) -> Text {
        let Self { from, to, free, reshape, transpose, generation, assumed } = self;
        let mut text = Text::new(width);
        say(&mut text, "As a reshape", *free, reshape);
        if let Some(Transpose { permutation, free, cost }) = transpose {
            let numbers = permutation.iter().map(|dimension| dimension.to_string()).collect::<Vec<_>>();
            say(&mut text, &format!("As a transpose by ({})", numbers.join(",")), *free, cost);
        }
        text.verbatim(format_args!("\nfrom {from}\n  to {to}"));
        if let Some(generation) = generation {
            text.paragraph(format_args!("Shapes without a layout have that of {}.", named(generation, *assumed)));
        }
        text
    }
}

/// Why there is no answer about a reshape.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReshapeError {
    /// The shapes have different element types.
    ElementTypes(String, String),
    /// The shapes have different numbers of elements: these.
    Elements(u64, u64),
    /// The answer cannot be computed.
    Bitcast(BitcastError),
    /// The layout that a TPU chooses for such an array is not known.
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
