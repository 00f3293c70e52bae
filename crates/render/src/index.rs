//! Where an element is, and what is at a position.

use crate::words::{Grouped, column_width, count, dimension_names};
use crate::{Show, Text};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::error::Error;
use std::fmt;
use xla_shape_answers::Answer;
use xla_shape_answers::formula::{self, Notation};
use xla_shape_core::map::Source;
use xla_shape_core::{ArrayShape, Placement, Slot, StrideTableError};

/// A position of an array and what is there.
///
/// ```
/// use xla_shape_render::{Show, index::Location};
///
/// let array = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// let location = Location::at_index(&array, &[2, 3])?;
/// assert!(location.text(80).to_string().starts_with("element [2,3] at position 17, byte 68\n"));
/// assert!(Location::at_position(&array, 9)?.text(80).to_string().starts_with("padding at position 9"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Location {
    array: ArrayShape,
    placement: Placement,
    position: u64,
    /// `None` for padding.
    index: Option<Vec<u64>>,
}

impl Location {
    /// The position of the element with this index; dimension 0 comes first.
    ///
    /// # Errors
    /// If the array has no such element, or an unbounded dimension, so that its elements have no positions.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_render::index::Location;
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
        Ok(Self { array: array.clone(), placement, position, index: Some(index.to_vec()) })
    }

    /// What is at this position, counted in elements from the start.
    ///
    /// # Errors
    /// If the array has no such position, or an unbounded dimension, so that its elements have no positions.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_render::index::Location;
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
        Ok(Self { array: array.clone(), placement, position, index })
    }

    fn offset(&self) -> (u64, u64) {
        self.placement.bit_offset(self.position)
    }
}

/// Why there is no such element or position.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LocationError {
    /// The elements have no positions.
    NoPlaces(StrideTableError),
    /// The index needs one entry for each dimension.
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

/// An element and its position, or the padding at a position.
#[derive(Serialize, JsonSchema)]
pub struct Data<'a> {
    /// The index of the element, dimension 0 first; null for padding.
    index: Option<&'a [u64]>,
    /// The same as `position`; null for padding.
    linear: Option<u64>,
    /// The position holds padding; absent for an element.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    padding: bool,
    /// The position, in elements from the start of the buffer.
    position: u64,
    /// The byte in which the position begins.
    byte_offset: u64,
    /// The bit in that byte, the least significant first.
    bit_offset: u64,
}

/// An object with `index` and `linear` (both null, and `padding` true, for padding), `position`, `byte_offset` and
/// `bit_offset`.
impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (byte, bit) = self.offset();
        let data = Data {
            index: self.index.as_deref(),
            linear: self.index.is_some().then_some(self.position),
            padding: self.index.is_none(),
            position: self.position,
            byte_offset: byte,
            bit_offset: bit,
        };
        data.serialize(serializer)
    }
}

impl Answer for Location {
    const SCHEMA: &'static str = "xla-shape/explain-index/1";
}

impl Show for Location {
    /// The position, then what each digit of the index adds to it.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        let (byte, bit) = self.offset();
        let in_bits = bit > 0 || !self.array.element_bits().is_multiple_of(8);
        let bits = if in_bits { format!(", bit {bit}") } else { String::new() };
        let place = format!("position {}, byte {}{bits}", Grouped(self.position), Grouped(byte));
        let Some(index) = &self.index else {
            text.verbatim(format_args!("padding at {place}"));
            return text;
        };
        text.verbatim(format_args!("element {} at {place}", bracketed(index)));
        self.digits(&mut text, index);
        if let Some(tile) = self.placement.tile_of(index) {
            text.verbatim(format_args!("  in tile {}", bracketed(&tile)));
        }
        text
    }
}

impl Location {
    fn digits(&self, text: &mut Text, index: &[u64]) {
        let names = dimension_names(&self.array);
        let table = self.placement.table();
        let values = table.intermediate_values(index);
        let (_, rules) = formula::position(table, &names, Notation::Arithmetic);
        for (rule, value) in rules.iter().zip(&values) {
            text.verbatim(format_args!("  {rule} = {value}"));
        }
        let digits = table.digits().iter().filter(|digit| digit.term.source != Source::Zero);
        let rows = digits.map(|digit| {
            let value = digit.value(index, &values);
            let term = formula::term(digit.term, &names, Notation::Arithmetic).0;
            (format!("{term} = {value}"), format!("of {}", Grouped(digit.size)), digit.stride, value * digit.stride)
        });
        let rows = rows.collect::<Vec<_>>();
        let width = |column: fn(&(String, String, u64, u64)) -> usize| column_width(rows.iter().map(column));
        let (first, second) = (width(|row| row.0.len()), width(|row| row.1.len()));
        let (third, fourth) = (width(|row| row.2.to_string().len()), width(|row| row.3.to_string().len()));
        for (digit, size, stride, product) in &rows {
            text.verbatim(format_args!("  {digit:first$}  {size:second$}  * {stride:third$} = {product:>fourth$}"));
        }
    }
}

/// Numbers as `[2,3]`.
fn bracketed(numbers: &[u64]) -> String {
    let numbers = numbers.iter().map(ToString::to_string).collect::<Vec<_>>();
    format!("[{}]", numbers.join(","))
}
