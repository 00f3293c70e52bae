//! Drawings of where the elements of an array are, by index and by position in memory, or in registers.
//!
//! Of a large array, a drawing shows a part: the beginning, the end, and where tiles meet.

mod devices;
mod grid;
mod html;
mod picture;
mod registers;
mod svg;

use crate::{Show, Text};
pub use devices::DeviceDrawing;
use picture::{Cell, Picture, Subject};
pub use registers::RegisterDrawing;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
pub(crate) use svg::fills;
use xla_shape_answers::Answer;
use xla_shape_core::{ArrayShape, Slot, StrideTableError};

/// A drawing of an array: its elements by index, and by position in memory.
///
/// ```
/// use xla_shape_render::draw::Drawing;
///
/// let array = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// assert!(Drawing::new(&array)?.svg().starts_with("<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Drawing {
    subject: Subject,
}

impl Drawing {
    /// Draws `array`.
    ///
    /// # Errors
    /// If a dimension is unbounded, so that elements have no positions.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_render::draw::Drawing;
    ///
    /// let drawing = Drawing::new(&"u8[3]{0:T(2)}".parse()?)?;
    /// assert!(drawing.json().contains("\"cells\":[[0,1,2,3]]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(array: &ArrayShape) -> Result<Self, StrideTableError> {
        Ok(Self { subject: Subject::new(array)? })
    }

    /// The picture, as SVG: as much of the array as fits into a small page.
    ///
    /// ```
    /// use xla_shape_render::draw::Drawing;
    ///
    /// assert!(Drawing::new(&"u8[3]{0:T(2)}".parse()?)?.svg().starts_with("<svg"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn svg(&self) -> String {
        svg::draw(&html::fitting(&self.subject).0)
    }

    /// A page with the picture, which shows index and position of the selected element. It has no external resources.
    ///
    /// ```
    /// use xla_shape_render::draw::Drawing;
    ///
    /// assert!(Drawing::new(&"u8[3]{0:T(2)}".parse()?)?.html().starts_with("<!doctype html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn html(&self) -> String {
        html::fitting(&self.subject).1
    }
}

/// JSON has the element at each position if there are at most this many.
const MAX_MAP: u64 = 1 << 20;

/// An object with the shape, the planes that are shown, the elements at the positions that are shown, and the number of the element at
/// each position.
impl Serialize for Drawing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let picture = html::fitting(&self.subject).0;
        data(&picture, self.physical_to_logical()).serialize(serializer)
    }
}

impl Drawing {
    /// The row-major number of the element at each position, `None` for padding; `None` if there are more positions than [`MAX_MAP`].
    fn physical_to_logical(&self) -> Option<Vec<Option<u64>>> {
        let placement = self.subject.placement();
        let positions = Some(placement.padded_positions()).filter(|&positions| positions <= MAX_MAP)?;
        let mut index = vec![0; placement.table().extents().len()];
        let element = |position| match placement.slot_into(position, &mut index) {
            Slot::Element(()) => placement.row_major_index(&index),
            Slot::Padding | Slot::OutOfRange => None,
        };
        Some((0..positions).map(element).collect())
    }
}

impl Answer for Drawing {
    const SCHEMA: &'static str = "xla-shape/draw/1";
}

impl Show for Drawing {
    /// Box characters, with lines between tiles; `░` is padding, and `…` is what is left out.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.verbatim(grid::fitting(&self.subject, width).trim_end());
        text
    }
}

/// Where the elements of an array are.
#[derive(Serialize, JsonSchema)]
pub struct Data<'a> {
    /// XLA's text of the shape, with its layout.
    shape: &'a str,
    /// How many positions the array has, in elements, padding included.
    positions: u64,
    /// How many planes the array has.
    all_planes: u64,
    /// The planes that are shown.
    planes: Vec<Plane<'a>>,
    /// Runs of neighbouring positions, in the order of memory.
    memory: Vec<Vec<Place<'a>>>,
    /// For each position, the number of the element there, counted row-major, or null for padding. Null if there are more than 1,048,576.
    physical_to_logical: Option<Vec<Option<u64>>>,
}

/// The two most minor dimensions, at one index of all others.
#[derive(Serialize, JsonSchema)]
struct Plane<'a> {
    /// The index of the other dimensions; empty if there are none.
    label: &'a str,
    /// The name of the dimension down; empty for an array of fewer than two dimensions.
    row: &'a str,
    /// The indices shown along it.
    rows: &'a [u64],
    /// The name of the dimension across; empty for a scalar.
    column: &'a str,
    /// The indices shown along it.
    columns: &'a [u64],
    /// Row by row, the position of each index.
    cells: Vec<Vec<Option<u64>>>,
}

/// A position of memory that is shown.
#[derive(Serialize, JsonSchema)]
struct Place<'a> {
    /// In elements from the start.
    position: u64,
    /// The index of the element there, dimension 0 first; null for padding.
    index: Option<&'a [u64]>,
    /// The byte in which the position begins.
    byte_offset: u64,
    /// The bit in that byte, the least significant first.
    bit_offset: u64,
    /// The number of the tile in each direction; empty without tiles, and for padding.
    tile: &'a [u64],
}

/// What `draw` writes as JSON: what a page shows; of a large array, only a part.
#[derive(JsonSchema)]
#[serde(untagged)]
pub enum Drawn {
    /// Where the elements are.
    Elements(Data<'static>),
    /// With --sharding: which device has which part.
    Devices(DeviceDrawing),
    /// With --vector: the registers of a vector.
    Registers(Box<RegisterDrawing>),
}

fn data(picture: &Picture, physical_to_logical: Option<Vec<Option<u64>>>) -> Data<'_> {
    Data {
        shape: &picture.title,
        positions: picture.positions,
        all_planes: picture.all_planes,
        planes: picture.planes.iter().map(plane).collect(),
        memory: picture.runs.iter().map(|run| run.iter().map(place).collect()).collect(),
        physical_to_logical,
    }
}

fn plane(plane: &picture::Plane) -> Plane<'_> {
    let position = |cell: &Option<Cell>| Some(cell.as_ref()?.position);
    Plane {
        label: &plane.label,
        row: &plane.rows.name,
        rows: &plane.rows.indices,
        column: &plane.columns.name,
        columns: &plane.columns.indices,
        cells: plane.cells.iter().map(|cells| cells.iter().map(position).collect()).collect(),
    }
}

fn place(cell: &Cell) -> Place<'_> {
    Place {
        position: cell.position,
        index: cell.index.as_deref(),
        byte_offset: cell.offset.0,
        bit_offset: cell.offset.1,
        tile: &cell.tile,
    }
}
