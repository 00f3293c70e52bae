//! Where an element is, and what is at a position.

use crate::Answer;
use crate::numbers::count;
use schemars::JsonSchema;
use serde::Serialize;
use std::error::Error;
use std::fmt;
use xla_shape_core::{ArrayShape, Placement, Slot, StrideTableError};

/// An element and its position, or the padding at a position.
///
/// ```
/// use xla_shape_answers::explain::Location;
///
/// let array = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// assert_eq!(Location::at_index(&array, &[2, 3])?.byte_offset, 68);
/// assert!(Location::at_position(&array, 9)?.padding);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Location {
    /// The index of the element, dimension 0 first; null for padding.
    pub index: Option<Vec<u64>>,
    /// The same number as `position`, under XLA's name; null for padding.
    pub linear: Option<u64>,
    /// The position holds padding; absent for an element.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub padding: bool,
    /// The position, in elements from the start of the buffer.
    pub position: u64,
    /// The byte in which the position begins.
    pub byte_offset: u64,
    /// The bit in that byte, the least significant first.
    pub bit_offset: u64,
    #[serde(skip)]
    array: ArrayShape,
    #[serde(skip)]
    placement: Placement,
}

impl Location {
    /// The position of the element with this index; dimension 0 comes first.
    ///
    /// # Errors
    /// If the array has no such element, or if its elements have no positions, because a dimension is unbounded.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_answers::explain::Location;
    ///
    /// let location = Location::at_index(&"f32[3,5]{1,0:T(2,2)}".parse()?, &[2, 3])?;
    /// assert!(location.json().contains("\"position\":17,\"byte_offset\":68"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at_index(array: &ArrayShape, index: &[u64]) -> Result<Self, LocationError> {
        let placement = array.placement()?;
        let table = placement.table();
        let outside = |(_, (entry, size)): &(usize, (&u64, &u64))| entry >= size;
        if let Some((dimension, (&entry, &size))) = index.iter().zip(table.extents()).enumerate().find(outside) {
            return Err(LocationError::OutOfBounds { dimension, entry, size });
        }
        let entries = LocationError::Entries { entries: index.len(), num_dimensions: array.num_dimensions() };
        let position = table.checked_linear_index(index).ok_or(entries)?;
        Ok(Self::new(array, placement, position, Some(index.to_vec())))
    }

    /// What is at this position, counted in elements from the start.
    ///
    /// # Errors
    /// If the array has no such position, or if its elements have no positions, because a dimension is unbounded.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_answers::explain::Location;
    ///
    /// let location = Location::at_position(&"f32[3,5]{1,0:T(2,2)}".parse()?, 17)?;
    /// assert!(location.json().contains("\"index\":[2,3]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at_position(array: &ArrayShape, position: u64) -> Result<Self, LocationError> {
        let placement = array.placement()?;
        let index = match placement.slot(position) {
            Slot::Element(index) => Some(index),
            Slot::Padding => None,
            Slot::OutOfRange => {
                let (shape, positions) = (array.to_string(), placement.padded_positions());
                return Err(LocationError::NoPosition { shape, positions, position });
            }
        };
        Ok(Self::new(array, placement, position, index))
    }

    fn new(array: &ArrayShape, placement: Placement, position: u64, index: Option<Vec<u64>>) -> Self {
        let (byte_offset, bit_offset) = placement.bit_offset(position);
        Self {
            linear: index.is_some().then_some(position),
            padding: index.is_none(),
            index,
            position,
            byte_offset,
            bit_offset,
            array: array.clone(),
            placement,
        }
    }

    /// The array.
    #[must_use]
    pub const fn array(&self) -> &ArrayShape {
        &self.array
    }

    /// Where the elements of the array are.
    #[must_use]
    pub const fn placement(&self) -> &Placement {
        &self.placement
    }
}

impl Answer for Location {
    const SCHEMA: &'static str = "xla-shape/explain-index/1";
}

/// Why there is no such element or position.
///
/// ```
/// use xla_shape_answers::explain::{Location, LocationError};
///
/// let error = Location::at_index(&"f32[3,5]".parse()?, &[2, 5]).unwrap_err();
/// assert_eq!(error, LocationError::OutOfBounds { dimension: 1, entry: 5, size: 5 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LocationError {
    /// The elements have no positions.
    NoPlaces(StrideTableError),
    /// The index does not have one entry for each dimension.
    Entries {
        /// How many entries it has.
        entries: usize,
        /// How many dimensions there are.
        num_dimensions: usize,
    },
    /// An entry is not less than the size of its dimension.
    OutOfBounds {
        /// The dimension.
        dimension: usize,
        /// The entry of the index.
        entry: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// The position is after the last one.
    NoPosition {
        /// The shape.
        shape: String,
        /// How many positions there are, in elements.
        positions: u64,
        /// The position.
        position: u64,
    },
}

impl From<StrideTableError> for LocationError {
    fn from(error: StrideTableError) -> Self {
        Self::NoPlaces(error)
    }
}

impl fmt::Display for LocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlaces(error) => error.fmt(f),
            Self::Entries { entries, num_dimensions } => {
                write!(f, "expected one entry for each of {num_dimensions} dimensions, found {entries}")
            }
            Self::OutOfBounds { dimension, entry, size } => {
                write!(f, "index {entry} is out of bounds for dimension {dimension} (size {size})")
            }
            Self::NoPosition { shape, positions, position } => {
                let room = count(*positions, "position", "positions");
                write!(f, "{shape} has {room}, numbered from 0; {position} is not one of them")
            }
        }
    }
}

impl Error for LocationError {}
