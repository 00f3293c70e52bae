//! A part of the elements in the order of their indices, and the same elements in the order of memory.

use super::MAX_MAP;
use super::picture::{Subject, Window};
use crate::Answer;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use xla_shape_core::{ArrayShape, Slot, StrideTableError};

/// Where the elements of an array are.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::draw::Drawing;
///
/// let drawing = Drawing::new(&"u8[3]{0:T(2)}".parse()?)?;
/// assert!(drawing.picture.is_whole());
/// assert!(drawing.json().contains("\"cells\":[[0,1,2,3]]") && drawing.json().contains("\"physical_to_logical\":[0,1,2,null]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Drawing {
    /// As much of the array as fits into a small page.
    #[serde(flatten)]
    pub picture: Picture,
    /// For each position, the number of the element there, counted row-major, or null for padding. Null if there are more than 1,048,576.
    #[serde(rename = "physical_to_logical", serialize_with = "physical_to_logical")]
    #[schemars(with = "Option<Vec<Option<u64>>>")]
    subject: Subject,
}

/// A part of an array.
///
/// ```
/// use xla_shape_answers::draw::Drawing;
///
/// let drawing = Drawing::new(&"f32[64,64]{1,0:T(8,128)}".parse()?)?;
/// let part = drawing.part(4, 4, 16);
/// assert_eq!((part.planes[0].cells.len(), part.positions, part.is_whole()), (4, 64 * 128, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Picture {
    /// XLA's text of the shape, with its layout.
    pub shape: String,
    /// How many positions the array has, in elements, padding included.
    pub positions: u64,
    /// How many planes the array has.
    pub all_planes: u64,
    /// The planes that are shown.
    pub planes: Vec<Plane>,
    /// Runs of neighbouring positions, in the order of memory.
    #[serde(rename = "memory")]
    pub runs: Vec<Vec<Place>>,
    /// How many planes form a row: the size of the most minor dimension that planes do not show.
    #[serde(skip)]
    pub planes_per_row: usize,
}

/// The two most minor dimensions, at one index of all others.
///
/// ```
/// use xla_shape_answers::draw::Drawing;
///
/// let plane = &Drawing::new(&"f32[2,3,4]".parse()?)?.picture.planes[1];
/// assert_eq!((plane.label.as_str(), plane.row.as_str(), plane.column.as_str()), ("d0 = 1", "d1", "d2"));
/// assert_eq!(plane.cells[0][0].as_ref().map(|place| place.position), Some(12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Plane {
    /// The index of the other dimensions; empty if there are none.
    pub label: String,
    /// The name of the dimension down; empty for an array of fewer than two dimensions.
    pub row: String,
    /// The indices shown along it.
    pub rows: Vec<u64>,
    /// The name of the dimension across; empty for a scalar.
    pub column: String,
    /// The indices shown along it.
    pub columns: Vec<u64>,
    /// Row by row, the position of each index.
    #[serde(serialize_with = "positions")]
    #[schemars(with = "Vec<Vec<Option<u64>>>")]
    pub cells: Vec<Vec<Option<Place>>>,
}

/// A position of memory that is shown.
///
/// ```
/// use xla_shape_answers::draw::Drawing;
///
/// let drawing = Drawing::new(&"s4[3]{0:T(2)E(4)}".parse()?)?;
/// let place = &drawing.picture.runs[0][1];
/// assert_eq!((place.index.as_deref(), place.byte_offset, place.bit_offset), (Some(&[1][..]), 0, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Place {
    /// In elements from the start.
    pub position: u64,
    /// The index of the element there, dimension 0 first; null for padding.
    pub index: Option<Vec<u64>>,
    /// The byte in which the position begins.
    pub byte_offset: u64,
    /// The bit in that byte, the least significant first.
    pub bit_offset: u64,
    /// The number of the tile in each direction; empty without tiles, and for padding.
    pub tile: Vec<u64>,
}

fn positions<S: Serializer>(cells: &[Vec<Option<Place>>], serializer: S) -> Result<S::Ok, S::Error> {
    let position = |cell: &Option<Place>| Some(cell.as_ref()?.position);
    serializer.collect_seq(cells.iter().map(|cells| cells.iter().map(position).collect::<Vec<_>>()))
}

/// Writes the row-major number of the element at each position, if there are not too many.
fn physical_to_logical<S: Serializer>(subject: &Subject, serializer: S) -> Result<S::Ok, S::Error> {
    let placement = subject.placement();
    let positions = placement.padded_positions();
    if positions > MAX_MAP {
        return serializer.serialize_none();
    }
    let mut index = vec![0; placement.table().extents().len()];
    serializer.collect_seq((0..positions).map(|position| match placement.slot_into(position, &mut index) {
        Slot::Element(()) => placement.row_major_index(&index),
        Slot::Padding | Slot::OutOfRange => None,
    }))
}

impl Drawing {
    /// A drawing of where the elements of `array` are.
    ///
    /// # Errors
    /// If a dimension is unbounded, so that elements have no positions.
    pub fn new(array: &ArrayShape) -> Result<Self, StrideTableError> {
        let subject = Subject::new(array)?;
        Ok(Self { picture: subject.fitting(), subject })
    }

    /// A picture with about this many rows and columns in each plane, and this many cells in all planes together.
    #[must_use]
    pub fn part(&self, rows: usize, columns: usize, cells: usize) -> Picture {
        self.subject.picture(Window { rows, columns, cells })
    }
}

impl Picture {
    /// Whether it shows the whole array.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.runs.iter().map(Vec::len).sum::<usize>() as u64 == self.positions
    }
}

impl Answer for Drawing {
    const SCHEMA: &'static str = "xla-shape/draw/1";
}
