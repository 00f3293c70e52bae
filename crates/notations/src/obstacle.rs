//! Why a notation cannot express a layout.

use crate::Notation;
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::{ElementType, StrideTableError};

/// Why a notation cannot express a layout.
///
/// If an element or a position shows the reason, [`index`](Self::index) or [`position`](Self::position) names it. Indices are in elements, dimension
/// 0 first; positions count elements from the start of the buffer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Obstacle {
    /// The array has no positions.
    StrideTable(StrideTableError),
    /// `*` combines dimensions, or tiles cut each other unevenly: positions are not sums over parts of indices.
    Combined {
        /// The first element whose position the strides do not give. The stride of a dimension is the distance between its first two elements.
        index: Vec<u64>,
    },
    /// A position does not fit in an i64.
    TooLarge,
    /// The modes of a dimension have fewer values than the dimension has indices.
    Room {
        /// The dimension.
        dimension: usize,
    },
    /// The two maps have different dimensions.
    OtherDimensions,
    /// The elements of a dimension have no common stride.
    Cut {
        /// The dimension.
        dimension: usize,
        /// The first element whose position does not follow from one stride along this dimension.
        index: Vec<u64>,
    },
    /// A tile is not full, and the notation has no padding.
    Padding {
        /// The notation.
        notation: Notation,
        /// The first position that holds nothing.
        position: u64,
        /// The dimension that the tile does not divide.
        dimension: usize,
        /// Its size.
        size: u64,
        /// The size of the tile.
        tile: u64,
    },
    /// Some positions hold nothing, and in the notation every position must hold an element.
    Hole {
        /// The notation.
        notation: Notation,
        /// The first position that holds nothing.
        position: u64,
    },
    /// A size is not a power of two.
    NotPowerOfTwo {
        /// The dimension.
        dimension: usize,
        /// Its size.
        size: u64,
        /// The first position that holds nothing.
        position: u64,
    },
    /// A stride is negative, which the notation cannot express.
    Negative {
        /// The notation.
        notation: Notation,
        /// The dimension.
        dimension: usize,
        /// The stride, in elements.
        stride: i64,
        /// The first element that the stride moves.
        index: Vec<u64>,
    },
    /// A stride is 0: all elements along the dimension share a position, which the notation cannot express.
    Repeats {
        /// The notation.
        notation: Notation,
        /// The dimension.
        dimension: usize,
        /// The first element that repeats another one.
        index: Vec<u64>,
    },
    /// Two elements share a position, and the notation cannot express this.
    Overlap {
        /// The notation.
        notation: Notation,
        /// The later of the two, in row-major order.
        index: Vec<u64>,
        /// The earlier of the two.
        with: Vec<u64>,
        /// The position.
        position: i64,
    },
    /// A stride is smaller than the span of the parts of indices with smaller strides, although no elements share a position.
    Uneven {
        /// The dimension.
        dimension: usize,
        /// The stride, in elements.
        stride: i64,
        /// The span of the parts with smaller strides, in elements.
        unit: u64,
        /// The first element that the stride moves.
        index: Vec<u64>,
    },
    /// Element 0 is not at position 0, and the notation always places it there.
    Offset {
        /// The notation.
        notation: Notation,
        /// Where element 0 is.
        position: i64,
    },
    /// The notation does not have the element type.
    ElementType {
        /// The notation.
        notation: Notation,
        /// The type.
        element_type: ElementType,
    },
    /// The layout gives elements another number of bits than the notation does.
    Bits {
        /// The notation.
        notation: Notation,
        /// The bits of an element in this layout.
        bits: u64,
        /// The bits that the notation gives the element type.
        usual: u64,
        /// The first element.
        index: Vec<u64>,
    },
    /// A position is negative, which is before the beginning of a buffer.
    Below {
        /// The notation.
        notation: Notation,
        /// The smallest position.
        position: i64,
    },
    /// The array has more dimensions than the notation has letters.
    Dimensions {
        /// The notation.
        notation: Notation,
        /// How many letters the notation has.
        most: usize,
        /// How many dimensions the array has.
        found: usize,
    },
    /// Positions are exclusive ors of several bits of an index: a swizzle.
    Swizzle {
        /// The notation.
        notation: Notation,
        /// The first position that has another element because of the exclusive or.
        position: u64,
    },
    /// Several places hold the same element, as registers and lanes of a thread block can.
    Replicated {
        /// The notation.
        notation: Notation,
        /// The first position that holds an element which an earlier position holds, too.
        position: u64,
    },
    /// No position holds this element.
    Missing {
        /// The notation.
        notation: Notation,
        /// The element.
        index: Vec<u64>,
    },
    /// A part of an index is multiplied by a negative number. Only a whole index may have a negative factor.
    Sign,
    /// The text has more parts than are read.
    TooLong {
        /// The limit.
        most: usize,
    },
    /// No short list of tiles was found for the map.
    Intricate {
        /// The first element that tiles would put at another position, if one is known.
        index: Option<Vec<u64>>,
    },
}

impl Obstacle {
    /// The element that shows the reason.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let tiled = AnyLayout::of_array(&"f32[16,256]{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(tiled.write(Notation::Numpy).unwrap_err().index(), Some(&[8, 0][..]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn index(&self) -> Option<&[u64]> {
        match self {
            Self::Combined { index }
            | Self::Cut { index, .. }
            | Self::Negative { index, .. }
            | Self::Repeats { index, .. }
            | Self::Overlap { index, .. }
            | Self::Missing { index, .. }
            | Self::Bits { index, .. }
            | Self::Uneven { index, .. } => Some(index),
            Self::Intricate { index } => index.as_deref(),
            _ => None,
        }
    }

    /// The position that shows the reason, in elements.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let padded = AnyLayout::of_array(&"f32[4,100]{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(padded.write(Notation::Linear).unwrap_err().position(), Some(100));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn position(&self) -> Option<i64> {
        match *self {
            Self::Padding { position, .. }
            | Self::Hole { position, .. }
            | Self::NotPowerOfTwo { position, .. }
            | Self::Swizzle { position, .. }
            | Self::Replicated { position, .. } => i64::try_from(position).ok(),
            Self::Offset { position, .. } | Self::Below { position, .. } | Self::Overlap { position, .. } => {
                Some(position)
            }
            _ => None,
        }
    }
}

/// Displays an index as `[2,3]`.
struct Index<'a>(&'a [u64]);

impl fmt::Display for Index<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, entry) in self.0.iter().enumerate() {
            write!(f, "{}{entry}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("]")
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StrideTable(error) => error.fmt(f),
            Self::Combined { index } => {
                write!(
                    f,
                    "tiles combine dimensions or cut each other unevenly: positions are not a sum over parts of indices; element {} is \
                     the first that strides do not reach",
                    Index(index)
                )
            }
            Self::TooLarge => f.write_str("expected positions that fit in an i64, found larger ones"),
            Self::Room { dimension } => {
                write!(f, "dimension {dimension} has more indices than its modes have room for")
            }
            Self::OtherDimensions => f.write_str("the arrays differ in their dimensions"),
            Self::Cut { dimension, index } => write!(
                f,
                "dimension {dimension} has no single stride: element {} is not where the stride of the elements before it would \
                 place it",
                Index(index)
            ),
            Self::Padding { notation, position, dimension, size, tile } => write!(
                f,
                "{} has no padding: tiles of {tile} do not divide dimension {dimension} of size {size}, and position {position} holds \
                 nothing",
                notation.title()
            ),
            Self::Hole { notation, position } => {
                write!(f, "{} has no padding: position {position} holds nothing", notation.title())
            }
            Self::NotPowerOfTwo { dimension, size, position } => write!(
                f,
                "linear layouts are over bits: dimension {dimension} has size {size}, which is not a power of two, and position \
                 {position} holds nothing"
            ),
            Self::Negative { notation, dimension, stride, .. } => {
                write!(f, "{} has no negative strides: that of dimension {dimension} is {stride}", notation.title())
            }
            Self::Repeats { notation, dimension, index } => write!(
                f,
                "{} repeats nothing: dimension {dimension} has stride 0, so that element {} is at the position of the one before it",
                notation.title(),
                Index(index)
            ),
            Self::Overlap { notation, index, with, position } => write!(
                f,
                "{} has no overlap: elements {} and {} are both at position {position}",
                notation.title(),
                Index(with),
                Index(index)
            ),
            Self::Uneven { dimension, stride, unit, .. } => write!(
                f,
                "no tiles were found for a step of dimension {dimension} that takes {stride} positions, fewer than the {unit} that the parts of \
                 indices inside take"
            ),
            Self::Offset { notation, position } => {
                write!(
                    f,
                    "{} places the first element at position 0, this map at position {position}",
                    notation.title()
                )
            }
            Self::ElementType { notation, element_type } => {
                write!(f, "{} has no elements of type {}", notation.title(), element_type.name())
            }
            Self::Bits { notation, bits, usual, .. } => {
                write!(f, "an element takes {usual} bits in {}, and {bits} here", notation.title())
            }
            Self::Below { notation, position } => {
                write!(f, "{} has no positions before the buffer: the smallest one is {position}", notation.title())
            }
            Self::Dimensions { notation, most, found } => {
                write!(f, "{} has at most {most} dimensions, the array has {found}", notation.title())
            }
            Self::Swizzle { notation, position } => write!(
                f,
                "{}'s strides have no swizzles: from position {position} on, positions are exclusive ors of bits, not sums",
                notation.title()
            ),
            Self::Replicated { notation, position } => write!(
                f,
                "{} holds every element once: position {position} holds one that an earlier position holds",
                notation.title()
            ),
            Self::Missing { notation, index } => {
                write!(
                    f,
                    "{} has a position for every element: no position holds element {}",
                    notation.title(),
                    Index(index)
                )
            }
            Self::Sign => f.write_str("expected numbers above 0 behind parts of an index, found one below 0"),
            Self::TooLong { most } => write!(f, "expected at most {most} parts, found more"),
            Self::Intricate { index } => {
                f.write_str("no list of tiles within the limit gives this map")?;
                match index {
                    Some(index) => write!(f, ": element {} would be elsewhere", Index(index)),
                    None => Ok(()),
                }
            }
        }
    }
}

impl core::error::Error for Obstacle {}
