//! Bitcasts: which reshapes, transposes and changes of layout leave every byte where it is.
//!
//! The questions are answered from the [stride tables](crate::map), tiles and all: XLA's own checks of the
//! same names ignore tiles. What an answer says of an element is about elements, not about padding: where elements lie
//! alike but the arrays take other numbers of bytes, the answer is [`Answer::OtherPadding`].

mod decompose;
mod in_const;
mod slice;

pub use decompose::{Decomposition, DecompositionKind};
pub use in_const::{StaticArray, StaticReason};
pub use slice::slice_obstacle;

use crate::map::{CompareError, StrideTableError, View, first_moved, row_major_terms, whole_dimension};
use crate::shape::array::ArrayShape;
use crate::shape::layout::Layout;
use alloc::vec::Vec;
use core::fmt;

/// Whether an operation on an array is a bitcast.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// It is: the bytes of the one array are those of the other.
    Yes,
    /// Every element stays where it is, but one of the arrays has more padding behind the last one.
    OtherPadding {
        /// The bytes of the operand.
        operand_bytes: u64,
        /// The bytes of the result.
        result_bytes: u64,
    },
    /// It is not.
    No(Reason),
}

impl Answer {
    /// Whether the answer is yes.
    #[must_use]
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }
}

/// Why an operation is no bitcast.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// An element takes another number of bits.
    ElementBits {
        /// Those of the operand.
        operand: u64,
        /// Those of the result.
        result: u64,
    },
    /// The sizes of the dimensions are not those that the operation makes.
    Sizes {
        /// Those that it makes.
        expected: Vec<u64>,
        /// Those of the result.
        found: Vec<u64>,
    },
    /// Other numbers of bytes before the first element hold the sizes of bounded dimensions.
    MetadataPrefix {
        /// Those of the operand.
        operand: u64,
        /// Those of the result.
        result: u64,
    },
    /// The arrays are cut into other pieces.
    Splits,
    /// An element would move.
    Moves(Move),
}

/// The first element, in row-major order of the operand, that would move.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    /// Its index in the operand.
    pub element: Vec<u64>,
    /// Where it lies in the operand, in elements.
    pub operand_position: u64,
    /// Where it lies in the result, in elements.
    pub result_position: u64,
    /// In what the layouts differ, if the operation can be named by dimensions.
    pub cause: Option<Cause>,
}

/// In what two layouts differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The order of the dimensions larger than 1.
    Order,
    /// The tile with this number, 0 for the first one: another one, or only one of the layouts has it.
    Tile(usize),
    /// The places of dimensions of size 1 in the order. They have no steps of their own, but the tiles, which are equal,
    /// count them, and so fall otherwise on the other dimensions.
    SizeOne,
}

/// Why a question about bitcasts has no answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum BitcastError {
    /// A shape has no stride table.
    StrideTable(StrideTableError),
    /// The layouts cannot be compared.
    Compare(CompareError),
    /// The numbers given are not a permutation of the operand's dimensions.
    NotAPermutation {
        /// The numbers.
        permutation: Vec<usize>,
        /// How many dimensions the operand has.
        num_dimensions: usize,
    },
    /// No bitcast leads from the one shape to the other, as they take other numbers of bytes.
    Bytes {
        /// Those of the operand.
        operand: u64,
        /// Those of the result.
        result: u64,
    },
    /// The bytes mean something else, but no reshape and transpose was found that says what.
    NotDecomposed,
}

impl From<StrideTableError> for BitcastError {
    fn from(error: StrideTableError) -> Self {
        Self::StrideTable(error)
    }
}

impl From<CompareError> for BitcastError {
    fn from(error: CompareError) -> Self {
        Self::Compare(error)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes => f.write_str("every byte stays where it is"),
            Self::OtherPadding { operand_bytes, result_bytes } => {
                write!(
                    f,
                    "every element stays where it is, but the arrays take {operand_bytes} and {result_bytes} bytes"
                )
            }
            Self::No(reason) => reason.fmt(f),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ElementBits { operand, result } => {
                write!(f, "an element takes {operand} bits in the one and {result} in the other")
            }
            Self::Sizes { expected, found } => {
                write!(f, "the result should have the sizes {}, not {}", List(expected), List(found))
            }
            Self::MetadataPrefix { operand, result } => {
                write!(f, "the elements begin behind {operand} bytes in the one and behind {result} in the other")
            }
            Self::Splits => f.write_str("the arrays are cut into other pieces"),
            Self::Moves(moved) => moved.fmt(f),
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { element, operand_position, result_position, cause } = self;
        let element = List(element);
        write!(f, "element {element} lies at {operand_position} in the one and at {result_position} in the other")?;
        match cause {
            None => Ok(()),
            Some(cause) => write!(f, "; {cause}"),
        }
    }
}

impl Cause {
    /// What differs, as a sentence.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Order => "the order of the dimensions differs",
            Self::Tile(0) => "the first tile differs",
            Self::Tile(1) => "the second tile differs",
            Self::Tile(2) => "the third tile differs",
            Self::Tile(_) => "a later tile differs",
            Self::SizeOne => "the same tiles cut the dimensions otherwise, as one of size 1 is elsewhere in the order",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for BitcastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StrideTable(error) => error.fmt(f),
            Self::Compare(error) => error.fmt(f),
            Self::NotAPermutation { permutation, num_dimensions } => {
                write!(f, "{} should be a permutation of the numbers below {num_dimensions}", List(permutation))
            }
            Self::Bytes { operand, result } => {
                write!(f, "a bitcast keeps the number of bytes, but the arrays take {operand} and {result}")
            }
            Self::NotDecomposed => f.write_str("no reshape and transpose was found that leave the bytes as they are"),
        }
    }
}

impl core::error::Error for BitcastError {}

/// Prints `(1,0)`.
struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, number) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if i == 0 { "" } else { "," })?;
        }
        f.write_str(")")
    }
}

impl ArrayShape {
    /// Whether giving this array the layout of `result`, which has the same dimensions, leaves the bytes as they are.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let operand: ArrayShape = "bf16[256,128]{1,0:T(8,128)(2,1)}".parse()?;
    /// let answer = operand.layout_change_is_bitcast(&"bf16[256,128]{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(
    ///     answer.to_string(),
    ///     "element (0,1) lies at 2 in the one and at 1 in the other; the second tile differs"
    /// );
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, or the layouts cannot be compared.
    pub fn layout_change_is_bitcast(&self, result: &Self) -> Result<Answer, BitcastError> {
        let identity = (0..self.num_dimensions()).collect::<Vec<_>>();
        self.transpose_is_bitcast(result, &identity)
    }

    /// Whether the transpose to `result`, whose dimension `i` is dimension `permutation[i]` of this array, leaves the
    /// bytes as they are.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let operand: ArrayShape = "f32[31,57]{1,0:T(8,128)}".parse()?;
    /// assert!(operand.transpose_is_bitcast(&"f32[57,31]{0,1:T(8,128)}".parse()?, &[1, 0])?.is_yes());
    /// let answer = operand.transpose_is_bitcast(&"f32[57,31]{1,0:T(8,128)}".parse()?, &[1, 0])?;
    /// assert_eq!(
    ///     answer.to_string(),
    ///     "element (0,1) lies at 1 in the one and at 128 in the other; the order of the dimensions differs"
    /// );
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `permutation` is none, a dimension is unbounded, or the layouts cannot be compared.
    pub fn transpose_is_bitcast(&self, result: &Self, permutation: &[usize]) -> Result<Answer, BitcastError> {
        let (operand_table, result_table) = (self.stride_table()?, result.stride_table()?);
        if self.permute_dimensions(permutation.iter().copied()).is_err() {
            return Err(BitcastError::NotAPermutation {
                permutation: permutation.to_vec(),
                num_dimensions: self.num_dimensions(),
            });
        }
        let expected = permutation.iter().filter_map(|&dimension| operand_table.extents().get(dimension).copied());
        let expected = expected.collect::<Vec<_>>();
        if expected != result_table.extents() {
            return Ok(Answer::No(Reason::Sizes { expected, found: result_table.extents().to_vec() }));
        }
        if let Some(reason) = self.differs_apart_from_places(result) {
            return Ok(Answer::No(reason));
        }
        let dimensions = permutation.iter().map(|&dimension| whole_dimension(dimension)).collect::<Vec<_>>();
        let maps = [
            View { table: operand_table.as_ref(), dimensions: &[] },
            View { table: result_table.as_ref(), dimensions: &dimensions },
        ];
        let Some(element) = first_moved(maps, operand_table.extents())? else {
            return Ok(self.all_stay(result));
        };
        let index = permutation.iter().filter_map(|&dimension| element.get(dimension).copied()).collect::<Vec<_>>();
        Ok(Answer::No(Reason::Moves(Move {
            operand_position: operand_table.linear_index(&element),
            result_position: result_table.linear_index(&index),
            cause: Some(difference(self.layout(), result.layout(), operand_table.extents(), permutation)),
            element,
        })))
    }

    /// Whether the reshape to `result`, which has as many elements in the same row-major order, leaves the bytes as
    /// they are.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let operand: ArrayShape = "bf16[32,2,192]{2,1,0:T(2,128)(2,1)}".parse()?;
    /// assert!(!operand.reshape_is_bitcast(&"bf16[64,192]{1,0:T(8,128)(2,1)}".parse()?)?.is_yes());
    /// assert!(operand.reshape_is_bitcast(&"bf16[64,192]{1,0:T(2,128)(2,1)}".parse()?)?.is_yes());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, or the layouts cannot be compared.
    pub fn reshape_is_bitcast(&self, result: &Self) -> Result<Answer, BitcastError> {
        let (operand_table, result_table) = (self.stride_table()?, result.stride_table()?);
        let elements = self.elements();
        if elements != result.elements() {
            let (expected, found) = (operand_table.extents().to_vec(), result_table.extents().to_vec());
            return Ok(Answer::No(Reason::Sizes { expected, found }));
        }
        if let Some(reason) = self.differs_apart_from_places(result) {
            return Ok(Answer::No(reason));
        }
        let unravelled = [operand_table.extents(), result_table.extents()].map(row_major_terms);
        let maps = [
            View { table: operand_table.as_ref(), dimensions: &unravelled[0] },
            View { table: result_table.as_ref(), dimensions: &unravelled[1] },
        ];
        let Some(number) = first_moved(maps, &[elements.unwrap_or(0)])? else {
            return Ok(self.all_stay(result));
        };
        let [element, index] =
            unravelled.map(|terms| terms.iter().map(|term| term.of(&number, &[])).collect::<Vec<_>>());
        Ok(Answer::No(Reason::Moves(Move {
            operand_position: operand_table.linear_index(&element),
            result_position: result_table.linear_index(&index),
            cause: None,
            element,
        })))
    }

    fn differs_apart_from_places(&self, result: &Self) -> Option<Reason> {
        let prefix = |array: &Self| array.layout().dynamic_shape_metadata_prefix_bytes();
        if self.element_bits() != result.element_bits() {
            Some(Reason::ElementBits { operand: self.element_bits(), result: result.element_bits() })
        } else if prefix(self) != prefix(result) {
            Some(Reason::MetadataPrefix { operand: prefix(self), result: prefix(result) })
        } else if self.layout().split_configs() != result.layout().split_configs() {
            Some(Reason::Splits)
        } else {
            None
        }
    }

    /// The answer where every element lies alike.
    fn all_stay(&self, result: &Self) -> Answer {
        match (self.byte_size().unwrap_or(0), result.byte_size().unwrap_or(0)) {
            (operand_bytes, result_bytes) if operand_bytes != result_bytes => {
                Answer::OtherPadding { operand_bytes, result_bytes }
            }
            _ => Answer::Yes,
        }
    }
}

/// The first difference of two layouts by which an element lies elsewhere. Dimensions have the sizes `sizes` in the one;
/// dimension `permutation[i]` of the one is dimension `i` of the other.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below a length")]
#[expect(clippy::arithmetic_side_effects, reason = "the counters are below lengths")]
const fn difference(one: &Layout, other: &Layout, sizes: &[u64], permutation: &[usize]) -> Cause {
    let (order, other_order) = (one.minor_to_major(), other.minor_to_major());
    let (mut i, mut k) = (0, 0);
    while i < order.len() && k < other_order.len() {
        let (dimension, other_dimension) = (order[i], permutation[other_order[k]]);
        // Where a dimension of size 1 stands moves no element by itself.
        if sizes[dimension] == 1 {
            i += 1;
        } else if sizes[other_dimension] == 1 {
            k += 1;
        } else if dimension != other_dimension {
            return Cause::Order;
        } else {
            i += 1;
            k += 1;
        }
    }
    let (tiles, other_tiles) = (one.tiles(), other.tiles());
    let mut tile = 0;
    while tile < tiles.len() && tile < other_tiles.len() {
        if !tiles[tile].equals(&other_tiles[tile]) {
            return Cause::Tile(tile);
        }
        tile += 1;
    }
    if tiles.len() == other_tiles.len() { Cause::SizeOne } else { Cause::Tile(tile) }
}
