//! Which shapes can be types: the checks that the macros of `xla-shape` make.

pub use crate::limits::{MAX_LIST, MAX_TEXT};

use crate::layout::error::ShapePart;
use crate::map::{StaticStrideTable, StrideTableError};
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::string::ToString;
use core::fmt;

/// Why a valid array shape cannot be a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TypeLimitError {
    /// A list is longer than [`MAX_LIST`].
    ListTooLong {
        /// The first part beyond the limit.
        part: ShapePart,
        /// How many there are.
        found: usize,
    },
    /// The text is longer than [`MAX_TEXT`].
    TextTooLong {
        /// How many bytes it has.
        found: usize,
    },
    /// The stride table cannot be computed in a `const`.
    StrideTable(StrideTableError),
}

impl TypeLimitError {
    /// The part of the shape that is over the limit.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, type_limits, validate::ShapePart};
    ///
    /// let error = type_limits::check(&"pred[1,1,1,1,1,1,1,1,1,1,1,1,1]".parse::<ArrayShape>()?).unwrap_err();
    /// assert_eq!(error.part(), ShapePart::Dimension(12));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn part(&self) -> ShapePart {
        match *self {
            Self::ListTooLong { part, .. } => part,
            Self::TextTooLong { .. } | Self::StrideTable(_) => ShapePart::Shape,
        }
    }
}

impl fmt::Display for TypeLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ListTooLong { part, found } => {
                let what = match part {
                    ShapePart::Tile(_) => "tiles",
                    ShapePart::TileEntry(..) => "entries in a tile",
                    ShapePart::Split(_) => "splits",
                    ShapePart::SplitIndex(..) => "indices in a split",
                    ShapePart::TupleElement(_) => "elements in a tuple",
                    _ => "dimensions",
                };
                write!(f, "expected at most {MAX_LIST} {what}, found {found}")?;
            }
            Self::TextTooLong { found } => {
                write!(f, "expected a shape whose text has at most {MAX_TEXT} bytes, found {found}")?;
            }
            Self::StrideTable(error) => error.fmt(f)?,
        }
        f.write_str("; `Shape` values have no such limit")
    }
}

impl core::error::Error for TypeLimitError {}

/// Checks that the shape of an array can be a type: its lists and its text are short enough.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::type_limits::check;
///
/// assert!(check(&"bf16[8,128]{1,0:T(8,128)(2,1)}".parse::<ArrayShape>()?).is_ok());
/// let error = check(&"pred[1,1,1,1,1,1,1,1,1,1,1,1,1]".parse::<ArrayShape>()?).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "expected at most 12 dimensions, found 13; `Shape` values have no such limit"
/// );
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
///
/// # Errors
/// If a list or the text is too long, or the stride table cannot be computed in a `const`.
pub fn check(array: &ArrayShape) -> Result<(), TypeLimitError> {
    let layout = array.layout();
    short(array.num_dimensions(), ShapePart::Dimension(MAX_LIST))?;
    short(layout.tiles().len(), ShapePart::Tile(MAX_LIST))?;
    for (number, tile) in layout.tiles().iter().enumerate() {
        short(tile.dimensions().len(), ShapePart::TileEntry(number, MAX_LIST))?;
    }
    short(layout.split_configs().len(), ShapePart::Split(MAX_LIST))?;
    for (number, split) in layout.split_configs().iter().enumerate() {
        short(split.split_indices().len(), ShapePart::SplitIndex(number, MAX_LIST))?;
    }
    let text = array.to_string();
    if text.len() > MAX_TEXT {
        return Err(TypeLimitError::TextTooLong { found: text.len() });
    }
    StaticStrideTable::from_dimensions(array.dimensions(), layout).map_err(TypeLimitError::StrideTable)?;
    Ok(())
}

/// Checks that a shape of any kind can be a type: every array passes [`check`], and every tuple passes [`check_tuple`].
///
/// ```
/// use xla_shape_core::{Shape, type_limits::check_shape};
///
/// assert!(check_shape(&"(f32[2,3], token[])".parse::<Shape>()?).is_ok());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// The first error of an array or a tuple in it.
pub fn check_shape(shape: &Shape) -> Result<(), TypeLimitError> {
    match shape {
        Shape::Array(array) | Shape::Buffer(array) => check(array),
        Shape::Tuple(elements) => {
            check_tuple(elements.len())?;
            elements.iter().try_for_each(check_shape)
        }
        Shape::Token | Shape::Opaque => Ok(()),
    }
}

/// Checks that a tuple of this many elements can be a type.
///
/// ```
/// use xla_shape_core::type_limits::check_tuple;
///
/// assert!(check_tuple(12).is_ok() && check_tuple(13).is_err());
/// ```
///
/// # Errors
/// If there are more than [`MAX_LIST`] elements.
pub fn check_tuple(elements: usize) -> Result<(), TypeLimitError> {
    short(elements, ShapePart::TupleElement(MAX_LIST))
}

fn short(found: usize, part: ShapePart) -> Result<(), TypeLimitError> {
    if found > MAX_LIST { Err(TypeLimitError::ListTooLong { part, found }) } else { Ok(()) }
}
