//! [`VectorLayout`]: its parts, its checks, and what follows from it alone.

use super::{LANES, SUBLANES, WORD_BITS};
use core::fmt;

/// The offset of a vector's first element along one dimension of the first register.
///
/// ```
/// use xla_shape_core::tpu::vector::{Offset, VectorLayout};
///
/// let layout: VectorLayout = "32,{3,*},(8,128)".parse()?;
/// assert_eq!(layout.offsets(), [Offset::Fixed(3), Offset::Replicated]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Offset {
    /// At this row or column, counted in elements.
    Fixed(u64),
    /// `*`: the value is the same along the whole dimension, so every row or column of the register holds it.
    Replicated,
}

/// The dimensions of size 1 that the layout adds to a vector, so that it has two dimensions to cut into registers
/// (XLA's `VectorLayout::ImplicitDim`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImplicitDimensions {
    /// No dimension: the last two dimensions of the vector are rows and columns.
    None,
    /// `-1`: a most minor dimension. The last dimension of the vector is the rows.
    MostMinor,
    /// `-2`: a second most minor dimension. The last dimension of the vector is the columns.
    SecondMostMinor,
    /// `-2,-1`: both, for a scalar in a register.
    Both,
}

impl ImplicitDimensions {
    /// The number of the vector's own dimensions that are cut into registers.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::ImplicitDimensions;
    ///
    /// assert_eq!(ImplicitDimensions::None.cut(), 2);
    /// assert_eq!(ImplicitDimensions::MostMinor.cut(), 1);
    /// ```
    #[must_use]
    pub const fn cut(self) -> usize {
        match self {
            Self::None => 2,
            Self::MostMinor | Self::SecondMostMinor => 1,
            Self::Both => 0,
        }
    }
}

/// How the elements of a vector are arranged in registers: `VectorLayout` in `xla/mosaic/dialect/tpu/layout.h`.
///
/// A register holds one slice of the vector: [`tiles_per_register`](Self::tiles_per_register) tiles, side by side along
/// the columns. In a tile of several rows, [`packing`](Self::packing) neighbouring rows share a sublane. A tile of one
/// row fills the parts of a sublane one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VectorLayout {
    pub(crate) bits: u64,
    pub(crate) offsets: [Offset; 2],
    pub(crate) tile: [u64; 2],
    pub(crate) implicit: ImplicitDimensions,
}

/// Why a vector layout is not valid, or a vector of some sizes cannot have it.
///
/// ```
/// use xla_shape_core::tpu::vector::{ImplicitDimensions, Offset, VectorLayout, VectorLayoutError};
///
/// let offsets = [Offset::Fixed(0); 2];
/// let error = VectorLayout::new(24, offsets, [8, 128], ImplicitDimensions::None).unwrap_err();
/// assert_eq!(error, VectorLayoutError::Bits(24), "no element has 24 bits");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum VectorLayoutError {
    /// The elements do not have 1, 2, 4, 8, 16 or 32 bits.
    Bits(u64),
    /// The tile does not fill 1, 2, 4 or 8 whole sublanes.
    Tile {
        /// Rows and columns of the tile.
        tile: [u64; 2],
        /// The bits of an element.
        bits: u64,
    },
    /// The tile has several rows, but fewer than share a word.
    Rows {
        /// The rows of the tile.
        rows: u64,
        /// The number of elements in a word.
        packing: u64,
    },
    /// The offset is outside the first register, which would then hold no element.
    Offset {
        /// 0 for the row, 1 for the column.
        dimension: usize,
        /// The offset.
        offset: u64,
        /// The rows or columns of a slice.
        slice: u64,
    },
    /// The vector has fewer dimensions than the layout cuts into registers.
    NumDimensions {
        /// The number of dimensions that the layout cuts.
        at_least: usize,
        /// The number of dimensions of the vector.
        found: usize,
    },
    /// A dimension of the vector has size 0.
    NoElements {
        /// The number of the dimension.
        dimension: usize,
    },
    /// The number of registers, or of elements in them, does not fit in an `i64`.
    TooLarge,
}

impl fmt::Display for VectorLayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bits(bits) => write!(f, "expected elements of 1, 2, 4, 8, 16 or 32 bits, found {bits}"),
            Self::Tile { tile: [rows, columns], bits } => write!(
                f,
                "expected a tile that fills 1, 2, 4 or 8 sublanes of {LANES} words, found ({rows},{columns}) of {bits}-bit elements"
            ),
            Self::Rows { rows, packing } => {
                write!(
                    f,
                    "expected a tile of 1 row, or of at least the {packing} rows that share a word, found {rows} rows"
                )
            }
            Self::Offset { dimension, offset, slice } => {
                let what = if dimension == 0 { "row" } else { "column" };
                write!(f, "expected a {what} offset below {slice}, what one register holds, found {offset}")
            }
            Self::NumDimensions { at_least, found } => {
                write!(f, "expected a vector of at least {at_least} dimensions for this vector layout, found {found}")
            }
            Self::NoElements { dimension } => {
                write!(f, "expected a vector with elements, found size 0 in dimension {dimension}")
            }
            Self::TooLarge => f.write_str("expected a vector whose registers fit in an i64, found a larger one"),
        }
    }
}

impl core::error::Error for VectorLayoutError {}

impl VectorLayout {
    /// A layout of elements of this many bits, with the row and column offsets of the first element, and the rows and
    /// columns of a tile.
    ///
    /// # Errors
    ///
    /// If the layout is not valid. The rules are those of the constructor and `VectorLayout::isValid` in
    /// `xla/mosaic/dialect/tpu/layout.h`, including its comment about tiles of narrow elements.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::{ImplicitDimensions, Offset, VectorLayout};
    ///
    /// let offsets = [Offset::Fixed(0), Offset::Replicated];
    /// let layout = VectorLayout::new(16, offsets, [16, 128], ImplicitDimensions::None)?;
    /// assert_eq!(layout.to_string(), "16,{0,*},(16,128)");
    /// # Ok::<(), xla_shape_core::tpu::vector::VectorLayoutError>(())
    /// ```
    pub const fn new(
        bits: u64,
        offsets: [Offset; 2],
        tile: [u64; 2],
        implicit: ImplicitDimensions,
    ) -> Result<Self, VectorLayoutError> {
        if !matches!(bits, 1 | 2 | 4 | 8 | 16 | 32) {
            return Err(VectorLayoutError::Bits(bits));
        }
        let layout = Self { bits, offsets, tile, implicit };
        let [rows, columns] = tile;
        let packing = layout.packing();
        // A register has 8 sublanes.
        #[expect(clippy::arithmetic_side_effects, reason = "a sublane has 128 words of at most 32 elements")]
        let sublane = LANES * packing;
        match rows.checked_mul(columns) {
            Some(elements)
                if elements.is_multiple_of(sublane) && matches!(elements.checked_div(sublane), Some(1 | 2 | 4 | 8)) => {
            }
            _ => return Err(VectorLayoutError::Tile { tile, bits }),
        }
        if rows != 1 && rows < packing {
            return Err(VectorLayoutError::Rows { rows, packing });
        }
        let [row, column] = offsets;
        let [slice_rows, slice_columns] = layout.slice();
        match (row, column) {
            (Offset::Fixed(offset), _) if offset >= slice_rows => {
                Err(VectorLayoutError::Offset { dimension: 0, offset, slice: slice_rows })
            }
            (_, Offset::Fixed(offset)) if offset >= slice_columns => {
                Err(VectorLayoutError::Offset { dimension: 1, offset, slice: slice_columns })
            }
            _ => Ok(layout),
        }
    }

    /// The bits of an element. A mask of `i1` has the bits of the elements that it masks.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "16,{8,0},(16,128),-1".parse()?;
    /// assert_eq!(layout.bits(), 16);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.bits
    }

    /// The row and the column of the first element in its register.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::{Offset, VectorLayout};
    ///
    /// let layout: VectorLayout = "16,{8,0},(16,128),-1".parse()?;
    /// assert_eq!(layout.offsets(), [Offset::Fixed(8), Offset::Fixed(0)]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn offsets(&self) -> [Offset; 2] {
        self.offsets
    }

    /// The rows and columns of a tile, in elements.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "16,{8,0},(16,128),-1".parse()?;
    /// assert_eq!(layout.tile(), [16, 128]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn tile(&self) -> [u64; 2] {
        self.tile
    }

    /// The dimensions of size 1 that the layout adds to the vector.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::{ImplicitDimensions, VectorLayout};
    ///
    /// let layout: VectorLayout = "16,{8,0},(16,128),-1".parse()?;
    /// assert_eq!(layout.implicit_dimensions(), ImplicitDimensions::MostMinor);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn implicit_dimensions(&self) -> ImplicitDimensions {
        self.implicit
    }

    /// The number of elements in a 32-bit word.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "16,{8,0},(16,128),-1".parse()?;
    /// assert_eq!(layout.packing(), 2);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "a layout has elements of 1 to 32 bits")]
    pub const fn packing(&self) -> u64 {
        WORD_BITS / self.bits
    }

    /// The number of tiles in a register, side by side along the columns.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "16,{8,0},(16,128),-1".parse()?;
    /// assert_eq!(layout.tiles_per_register(), 1);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "a tile has elements, and no more than a register")]
    pub const fn tiles_per_register(&self) -> u64 {
        SUBLANES * LANES * self.packing() / (self.tile[0] * self.tile[1])
    }

    /// The rows and columns that one register holds, in elements (`VectorLayout::vregSlice` in `layout.h`).
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let layout: VectorLayout = "16,{8,0},(16,128),-1".parse()?;
    /// assert_eq!(layout.slice(), [16, 128]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "as many elements as a register holds at most")]
    pub const fn slice(&self) -> [u64; 2] {
        [self.tile[0], self.tiles_per_register() * self.tile[1]]
    }
}
