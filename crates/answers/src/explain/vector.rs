//! The registers of a vector in a TPU kernel: how many registers a vector takes, and where an element is in them.

use crate::Answer;
use crate::numbers::bracketed;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::error::Error;
use std::fmt::{self, Display};
use xla_shape_core::map::row_major_number;
use xla_shape_core::tpu::vector::{LANES, Location, Offset, SUBLANES, VectorLayout, VectorLayoutError, VectorMap};
use xla_shape_core::{ArrayShape, Dimension, ElementType, Slot};

/// The registers of a vector in a TPU kernel, and the location of an element.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::explain::Registers;
///
/// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?.at(&[5, 77])?;
/// assert_eq!(registers.registers, 6);
/// assert!(registers.json().contains("\"register\":2,\"sublane\":0,\"lane\":77,\"part\":0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Registers {
    /// The vector, as an array without a layout.
    pub vector: String,
    /// The vector layout, as Mosaic writes it.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub layout: VectorLayout,
    /// The number of registers.
    pub registers: u64,
    /// The sizes of the grid of registers: the leading dimensions of the vector, then the numbers of rows and of columns of registers.
    pub grid: Vec<u64>,
    /// The rows and the columns that a register holds, in elements.
    pub slice: [u64; 2],
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    at: Option<At>,
    #[serde(skip)]
    map: VectorMap,
}

/// The location of an element.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct At {
    /// The index of the element; only with --at, like the fields below.
    index: Vec<u64>,
    /// The register with the element, in row-major order of the grid.
    register: u64,
    /// The sublane of the register.
    sublane: u64,
    /// The lane of the sublane.
    lane: u64,
    /// The part of the 32-bit word, the least significant first.
    part: u64,
}

fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

impl Registers {
    /// The registers of a vector with the sizes and the element type of an array; the array's own layout is ignored.
    ///
    /// # Errors
    /// If the vector cannot have this layout, or a size is not static.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_answers::explain::Registers;
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
        // A mask has the layout of the vector that it masks, whatever its width.
        let bits = element_type.bits();
        if element_type != ElementType::Pred && bits != layout.bits() {
            return Err(VectorError::Bits { element_type, layout: layout.bits() });
        }
        let registers = layout.registers(&sizes)?;
        let map = layout.map(&sizes)?;
        Ok(Self {
            vector: format!("{}{}", element_type.name(), bracketed(&sizes)),
            layout,
            registers,
            grid: map.grid().to_vec(),
            slice: layout.slice(),
            at: None,
            map,
        })
    }

    /// The number of places in the registers: `packing` parts in each of the 8 × 128 words of a register.
    ///
    /// ```
    /// use xla_shape_answers::explain::Registers;
    ///
    /// let registers = Registers::new(&"bf16[16,256]".parse()?, "16,{0,0},(16,128)".parse()?)?;
    /// assert_eq!(registers.num_places(), 2 * 8 * 128 * 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn num_places(&self) -> u64 {
        // `VectorLayout::registers` has checked that an i64 holds this product.
        self.registers * (SUBLANES * LANES) * self.layout.packing()
    }

    /// The element at each place, counted row-major; `None` if the place is padding. The parts of a word come first, then the lanes, the sublanes
    /// and the registers. Along a replicated dimension, all places show the first element.
    ///
    /// ```
    /// use xla_shape_answers::explain::Registers;
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
    /// use xla_shape_answers::explain::Registers;
    ///
    /// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?;
    /// assert_eq!(registers.at(&[16, 0]).unwrap_err().to_string(), "f32[16,256] has no element [16,0]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(mut self, index: &[u64]) -> Result<Self, VectorError> {
        let none = || VectorError::NoElement { vector: self.vector.clone(), index: index.to_vec() };
        let Location { register, sublane, lane, part } = self.map.location(index).ok_or_else(none)?;
        self.at = Some(At { index: index.to_vec(), register, sublane, lane, part });
        Ok(self)
    }

    /// The index and the location of the requested element.
    ///
    /// ```
    /// use xla_shape_answers::explain::Registers;
    ///
    /// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?;
    /// assert!(registers.located().is_none());
    /// assert_eq!(registers.at(&[5, 77])?.located().map(|(index, location)| (index.to_vec(), location.lane)), Some((vec![5, 77], 77)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn located(&self) -> Option<(&[u64], Location)> {
        let At { ref index, register, sublane, lane, part } = *self.at.as_ref()?;
        Some((index, Location { register, sublane, lane, part }))
    }

    /// The same layout, but with the first element at the first row and column of a register, and the number of registers that it takes. `None` if
    /// they are not fewer.
    ///
    /// ```
    /// use xla_shape_answers::explain::Registers;
    ///
    /// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?;
    /// let (layout, fewer) = registers.aligned().unwrap();
    /// assert_eq!((layout.to_string().as_str(), fewer, registers.registers), ("32,{0,0},(8,128)", 4, 6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn aligned(&self) -> Option<(VectorLayout, u64)> {
        let layout = &self.layout;
        let offsets = layout.offsets();
        let aligned = offsets.map(|offset| if matches!(offset, Offset::Fixed(_)) { Offset::Fixed(0) } else { offset });
        let aligned = VectorLayout::new(layout.bits(), aligned, layout.tile(), layout.implicit_dimensions()).ok()?;
        let registers = aligned.registers(self.map.sizes()).ok()?;
        (registers < self.registers).then_some((aligned, registers))
    }

    pub(crate) const fn map(&self) -> &VectorMap {
        &self.map
    }
}

impl Answer for Registers {
    const SCHEMA: &'static str = "xla-shape/explain-vector/1";
}

/// Why a vector cannot have a layout, or has no such element.
///
/// ```
/// use xla_shape_answers::explain::{Registers, VectorError};
///
/// let error = Registers::new(&"f32[<=16,256]".parse()?, "32,{0,0},(8,128)".parse()?).unwrap_err();
/// assert_eq!(error, VectorError::NotStatic { dimension: 0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// A dimension is dynamic: its size is known only at run time.
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

impl Display for VectorError {
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
