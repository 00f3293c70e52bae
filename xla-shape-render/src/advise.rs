//! Which layouts of an array take less memory.

use crate::answer::json_line;
use crate::words::{Bytes, Factor, InUnits, column_width, count};
use crate::{Answer, Text};
use serde::Serialize;
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use xla_shape_core::{ArrayShape, ValidationError};

/// Other layouts of an array, smallest first.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Advice {
    rows: Vec<Row>,
    #[serde(skip)]
    given: ArrayShape,
    #[serde(skip)]
    given_bytes: usize,
    /// The array with its dimensions changed.
    #[serde(skip)]
    changed: ArrayShape,
    /// How many layouts there are, shown or not.
    #[serde(skip)]
    all: usize,
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    shape: String,
    bytes: usize,
    /// Less than the given shape takes; negative if it is more.
    saved_bytes: i64,
    padding_bytes: usize,
    expansion: f64,
}

impl Advice {
    /// Ranks the layouts of `given` after `changes` to its dimensions, and keeps the first `top`.
    ///
    /// # Errors
    /// If the array has no size, a change does not fit, or no other layout is tried.
    pub fn new(given: &ArrayShape, changes: &[Change], top: usize) -> Result<Self, AdviceError> {
        let Some(given_bytes) = given.byte_size() else {
            return Err(AdviceError::Unbounded(given.to_string()));
        };
        let changed = changes.iter().try_fold(given.clone(), |array, change| change.apply(&array))?;
        let alternatives = changed.alternatives();
        if alternatives.is_empty() {
            return Err(AdviceError::Split(changed.to_string()));
        }
        let rows = alternatives.iter().filter_map(|alternative| Row::new(alternative, given_bytes));
        let rows = rows.take(top).collect();
        Ok(Self { rows, given: given.clone(), given_bytes, changed, all: alternatives.len() })
    }
}

impl Row {
    fn new(array: &ArrayShape, given: usize) -> Option<Self> {
        let bytes = array.byte_size()?;
        Some(Self {
            shape: array.to_string(),
            bytes,
            // Sizes fit in an i64.
            saved_bytes: given as i64 - bytes as i64,
            padding_bytes: array.padding_byte_size()?,
            expansion: array.expansion()?,
        })
    }
}

impl Answer for Advice {
    fn text(&self, width: usize) -> Text {
        let Self { rows, given, given_bytes, changed, all } = self;
        let mut text = Text::new(width);
        let bytes = Bytes(*given_bytes);
        match given.expansion() {
            Some(expansion) if expansion > 1.0 => {
                let factor = Factor(expansion);
                text.uncut(format_args!("{given} takes {bytes}, {factor} what its elements need."));
            }
            _ => text.uncut(format_args!("{given} takes {bytes}, none of it padding.")),
        }
        if changed != given {
            text.uncut(format_args!("What if it were {changed}:"));
        }
        let given = given.to_string();
        let saved = |row: &Row| match row.saved_bytes {
            0 if row.shape == given => "as it is".to_owned(),
            0 => "no difference".to_owned(),
            saved @ 1.. => format!("saves {}", InUnits(saved.unsigned_abs() as usize)),
            saved => format!("costs {}", InUnits(saved.unsigned_abs() as usize)),
        };
        let width = column_width(rows.iter().map(|row| row.shape.chars().count()));
        text.uncut("");
        for row in rows {
            let (bytes, expansion) = (InUnits(row.bytes).to_string(), Factor(row.expansion).to_string());
            text.uncut(format_args!("  {:width$}  {bytes:>9}  {expansion:>7}  {}", row.shape, saved(row)));
        }
        if rows.len() < *all {
            text.uncut(format_args!("  … and {} that take as much or more (--top)", all - rows.len()));
        }
        text
    }

    fn json(&self) -> String {
        self.rows.iter().map(json_line).collect()
    }
}

/// A change of an array's dimensions: `1=128` gives dimension 1 the size 128, `0,1` swaps dimensions 0 and 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Another size for a dimension.
    Resize {
        /// The dimension.
        dimension: usize,
        /// Its size.
        size: usize,
    },
    /// Two dimensions change places.
    Swap(usize, usize),
}

impl Change {
    fn apply(self, array: &ArrayShape) -> Result<ArrayShape, AdviceError> {
        let mut dimensions = array.dimensions().to_vec();
        let place = |dimension: usize| match dimension {
            dimension if dimension < dimensions.len() => Ok(dimension),
            dimension => Err(AdviceError::NoDimension { dimension, num_dimensions: dimensions.len() }),
        };
        match self {
            Self::Resize { dimension, size } => {
                let dimension = place(dimension)?;
                dimensions[dimension] = size.into();
            }
            Self::Swap(a, b) => {
                let (a, b) = (place(a)?, place(b)?);
                dimensions.swap(a, b);
            }
        }
        Ok(ArrayShape::new(array.element_type(), &dimensions, array.layout().clone())?)
    }
}

impl FromStr for Change {
    type Err = AdviceError;

    fn from_str(text: &str) -> Result<Self, AdviceError> {
        let number = |text: &str| text.trim().parse().map_err(|_| AdviceError::NoNumber(text.into()));
        if let Some((dimension, size)) = text.split_once('=') {
            return Ok(Self::Resize { dimension: number(dimension)?, size: number(size)? });
        }
        match text.split_once(',') {
            Some((a, b)) => Ok(Self::Swap(number(a)?, number(b)?)),
            None => Err(AdviceError::NoChange),
        }
    }
}

/// There is no advice.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AdviceError {
    /// This shape has no size.
    Unbounded(String),
    /// This shape is cut into pieces.
    Split(String),
    /// A change names a dimension that does not exist.
    NoDimension {
        /// The dimension.
        dimension: usize,
        /// How many there are.
        num_dimensions: usize,
    },
    /// The changed shape is not valid.
    Invalid(ValidationError),
    /// A change has this text where a number should be.
    NoNumber(String),
    /// The text of a change is of neither form.
    NoChange,
}

impl From<ValidationError> for AdviceError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(error)
    }
}

impl fmt::Display for AdviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbounded(shape) => write!(f, "{shape} has no size: a dimension is unbounded"),
            Self::Split(shape) => write!(f, "{shape} is cut into pieces: no other order is tried"),
            Self::NoDimension { dimension, num_dimensions } => {
                let all = count(*num_dimensions, "dimension", "dimensions");
                write!(f, "there is no dimension {dimension}: the array has {all}")
            }
            Self::Invalid(error) => error.fmt(f),
            Self::NoNumber(text) => write!(f, "expected a number, found `{text}`"),
            Self::NoChange => f.write_str("expected a dimension and its size (1=128) or two dimensions (0,1)"),
        }
    }
}

impl Error for AdviceError {}
