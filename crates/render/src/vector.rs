//! The registers of a vector in a TPU kernel: how many registers a vector takes, and where an element is in them.

use crate::words::{Bytes, Grouped, count};
use crate::{Show, Text};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::error::Error;
use std::fmt;
use xla_shape_answers::Answer;
use xla_shape_core::map::row_major_number;
use xla_shape_core::tpu::vector::{
    ImplicitDimensions, LANES, Location, Offset, SUBLANES, VectorLayout, VectorLayoutError, VectorMap,
};
use xla_shape_core::{ArrayShape, Dimension, ElementType, Slot};

/// A vector in the registers of a TPU, and optionally the location of one of its elements.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_render::{Show, vector::Registers};
///
/// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?.at(&[5, 77])?;
/// assert!(registers.text(80).to_string().starts_with("6 registers"));
/// assert!(registers.json().contains("\"register\":2,\"sublane\":0,\"lane\":77,\"part\":0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registers {
    element_type: ElementType,
    layout: VectorLayout,
    registers: u64,
    map: VectorMap,
    at: Option<(Vec<u64>, Location)>,
}

impl Registers {
    /// The registers of a vector with the sizes and the element type of an array; the layout of the array does not matter.
    ///
    /// # Errors
    /// If the vector cannot have this layout, or a size is not static.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_render::vector::Registers;
    ///
    /// let registers = Registers::new(&"bf16[128,256]".parse()?, "16,{0,0},(16,128)".parse()?)?;
    /// assert!(registers.json().contains("\"registers\":16,\"grid\":[8,2],\"slice\":[16,128]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(vector: &ArrayShape, layout: VectorLayout) -> Result<Self, VectorError> {
        let size = |(dimension, size): (usize, &Dimension)| match size {
            Dimension::Static(size) => Ok(*size),
            _ => Err(VectorError::NotStatic { dimension }),
        };
        let sizes = vector.dimensions().iter().enumerate().map(size).collect::<Result<Vec<_>, _>>()?;
        let element_type = vector.element_type();
        // A mask has the layout of what it masks.
        let bits = element_type.bits();
        if element_type != ElementType::Pred && bits != layout.bits() {
            return Err(VectorError::Bits { element_type, layout: layout.bits() });
        }
        let registers = layout.registers(&sizes)?;
        Ok(Self { element_type, layout, registers, map: layout.map(&sizes)?, at: None })
    }

    /// The number of places in the registers: `packing` parts in each of the 8 × 128 words of a register.
    ///
    /// ```
    /// use xla_shape_render::vector::Registers;
    ///
    /// let registers = Registers::new(&"bf16[16,256]".parse()?, "16,{0,0},(16,128)".parse()?)?;
    /// assert_eq!(registers.num_places(), 2 * 8 * 128 * 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn num_places(&self) -> u64 {
        // `VectorLayout::registers` has checked that an i64 holds this product.
        self.registers.saturating_mul(SUBLANES * LANES).saturating_mul(self.layout.packing())
    }

    /// The element at each place, counted row-major; `None` if the place is padding. The parts of a word come first, then the lanes, the
    /// sublanes and the registers. Along a replicated dimension, the first element stands for all.
    ///
    /// ```
    /// use xla_shape_render::vector::Registers;
    ///
    /// let registers = Registers::new(&"bf16[16,256]".parse()?, "16,{0,0},(16,128)".parse()?)?;
    /// assert_eq!(registers.elements().take(3).collect::<Vec<_>>(), [Some(0), Some(256), Some(1)]); // two rows share a word
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn elements(&self) -> impl Iterator<Item = Option<u64>> {
        (0..self.num_places()).map(|place| {
            let (word, part) = (place / self.layout.packing(), place % self.layout.packing());
            let (sublane, lane) = (word / LANES, word % LANES);
            let location = Location { register: sublane / SUBLANES, sublane: sublane % SUBLANES, lane, part };
            match self.map.element(location)? {
                Slot::Element(index) => row_major_number(&index, self.map.sizes()),
                Slot::Padding | Slot::OutOfRange => None,
            }
        })
    }

    /// Adds the location of the element with this index to the answer.
    ///
    /// # Errors
    /// If the vector has no such element.
    ///
    /// ```
    /// use xla_shape_render::vector::Registers;
    ///
    /// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?;
    /// assert_eq!(registers.at(&[16, 0]).unwrap_err().to_string(), "f32[16,256] has no element [16,0]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(mut self, index: &[u64]) -> Result<Self, VectorError> {
        let location = self.map.location(index);
        let none = || VectorError::NoElement { vector: self.vector(), index: index.to_vec() };
        self.at = Some((index.to_vec(), location.ok_or_else(none)?));
        Ok(self)
    }

    pub(crate) const fn map(&self) -> &VectorMap {
        &self.map
    }

    pub(crate) const fn layout(&self) -> &VectorLayout {
        &self.layout
    }

    pub(crate) const fn count(&self) -> u64 {
        self.registers
    }

    pub(crate) fn vector(&self) -> String {
        format!("{}{}", self.element_type.name(), bracketed(self.map.sizes()))
    }
}

/// Why a vector cannot have a layout, or has no such element.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VectorError {
    /// The vector cannot have the layout.
    Layout(VectorLayoutError),
    /// The layout is for elements of another width.
    Bits {
        /// The type of the elements.
        element_type: ElementType,
        /// The bits in the layout.
        layout: u64,
    },
    /// A dimension is dynamic: its size is known at run time only.
    NotStatic {
        /// The dimension.
        dimension: usize,
    },
    /// The vector has no element with this index.
    NoElement {
        /// The vector.
        vector: String,
        /// The index.
        index: Vec<u64>,
    },
}

impl From<VectorLayoutError> for VectorError {
    fn from(error: VectorLayoutError) -> Self {
        Self::Layout(error)
    }
}

impl fmt::Display for VectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::Bits { element_type, layout } => {
                let (name, bits) = (element_type.name(), element_type.bits());
                write!(f, "expected a vector layout of {bits} bits, as {name} has, found {layout}")
            }
            Self::NotStatic { dimension } => {
                write!(f, "expected a vector of static sizes; that of dimension {dimension} is dynamic")
            }
            Self::NoElement { vector, index } => write!(f, "{vector} has no element {}", bracketed(index)),
        }
    }
}

impl Error for VectorError {}

/// The registers of a vector in a TPU kernel, and the location of an element.
#[derive(Serialize, JsonSchema)]
pub struct Data<'a> {
    /// The vector, as an array without a layout.
    vector: String,
    /// The vector layout, as Mosaic writes it.
    layout: String,
    /// The number of registers.
    registers: u64,
    /// The numbers of registers: the leading dimensions, then the rows and the columns of registers.
    grid: &'a [u64],
    /// The rows and the columns that a register holds, in elements.
    slice: [u64; 2],
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    at: Option<At<'a>>,
}

/// The location of an element.
#[derive(Serialize, JsonSchema)]
struct At<'a> {
    /// The index of the element; only with --at, as the fields below.
    index: &'a [u64],
    /// The register with the element, in row-major order of the grid.
    register: u64,
    /// The sublane of the register.
    sublane: u64,
    /// The lane of the sublane.
    lane: u64,
    /// The part of the 32-bit word, the least significant first.
    part: u64,
}

/// An object with `vector`, `layout`, `registers`, `grid`, `slice`, and with an element `index`, `register`, `sublane`, `lane` and
/// `part`.
impl Serialize for Registers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = self.at.as_ref().map(|(index, location)| {
            let Location { register, sublane, lane, part } = *location;
            At { index, register, sublane, lane, part }
        });
        let data = Data {
            vector: self.vector(),
            layout: self.layout.to_string(),
            registers: self.registers,
            grid: self.map.grid(),
            slice: self.layout.slice(),
            at,
        };
        data.serialize(serializer)
    }
}

impl Answer for Registers {
    const SCHEMA: &'static str = "xla-shape/explain-vector/1";
}

impl Show for Registers {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        let [rows, columns] = self.layout.slice();
        // The largest count is checked, so that the elements of all registers fit in an i64.
        let bytes = self.registers.saturating_mul(SUBLANES * LANES * 4);
        let registers = count(self.registers, "register", "registers");
        text.paragraph(format_args!("{registers}, {}, for {} in {}", Bytes(bytes), self.vector(), self.layout));
        let grid = self.map.grid().iter().map(|&size| Grouped(size).to_string()).collect::<Vec<_>>();
        text.paragraph(format_args!("  a grid of {} registers, in row-major order", grid.join(" x ")));
        let tiles = count(self.layout.tiles_per_register(), "tile", "tiles");
        text.paragraph(format_args!("  each holds {rows} x {columns} elements, in {tiles}"));
        for line in self.explained() {
            text.hanging("  ", &line);
        }
        if let Some((index, location)) = &self.at {
            let part = match self.layout.packing() {
                1 => String::new(),
                packing => format!(", part {} of {packing}", location.part),
            };
            let Location { register, sublane, lane, .. } = location;
            text.paragraph(format_args!(
                "element {}: register {}, sublane {sublane}, lane {lane}{part}",
                bracketed(index),
                Grouped(*register)
            ));
        }
        text
    }
}

impl Registers {
    /// What the parts of the layout mean for this vector, and how many registers the same vector takes if it is aligned.
    fn explained(&self) -> Vec<String> {
        let (layout, sizes) = (&self.layout, self.map.sizes());
        let mut lines = Vec::new();
        match (layout.packing(), layout.tile()) {
            (1, _) => {}
            (packing, [1, _]) => {
                lines.push(format!("each word has {packing} elements, which are {LANES} columns apart"))
            }
            (packing, _) => lines.push(format!("each word has {packing} elements, of neighbouring rows")),
        }
        match layout.implicit_dimensions() {
            ImplicitDimensions::None => {}
            ImplicitDimensions::MostMinor => lines.push("the last dimension is the rows, in one column".to_owned()),
            ImplicitDimensions::SecondMostMinor => {
                lines.push("the last dimension is the columns, in one row".to_owned())
            }
            ImplicitDimensions::Both => lines.push("each element has a register, as its row 0 and column 0".to_owned()),
        }
        let offsets = layout.offsets();
        for (offset, what) in offsets.into_iter().zip(["row", "column"]) {
            match offset {
                Offset::Fixed(0) => {}
                Offset::Fixed(offset) => lines.push(format!("the first element is in {what} {offset} of its register")),
                Offset::Replicated => lines.push(format!("every {what} of a register holds the same values")),
            }
        }
        let aligned = offsets.map(|offset| if matches!(offset, Offset::Fixed(_)) { Offset::Fixed(0) } else { offset });
        let aligned = VectorLayout::new(layout.bits(), aligned, layout.tile(), layout.implicit_dimensions()).ok();
        if let Some((aligned, registers)) = aligned.and_then(|aligned| Some((aligned, aligned.registers(sizes).ok()?)))
            && registers < self.registers
        {
            lines.push(format!("in {aligned}, it would take {}", count(registers, "register", "registers")));
        }
        lines
    }
}

/// Numbers as `[2,3]`.
fn bracketed(numbers: &[u64]) -> String {
    let numbers = numbers.iter().map(ToString::to_string).collect::<Vec<_>>();
    format!("[{}]", numbers.join(","))
}
