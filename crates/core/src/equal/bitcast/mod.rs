//! Bitcasts: which reshapes, transposes and changes of layout leave every byte where it is.
//!
//! ```
//! use xla_shape_core::ArrayShape;
//!
//! let operand: ArrayShape = "f32[8,128]{1,0:T(8,128)}".parse()?;
//! assert!(operand.reshape_is_bitcast(&"f32[1024]{0}".parse()?)?.is_yes());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! The answers compare [stride tables](crate::map), including tiles. XLA's functions `ShapeUtil::ReshapeIsBitcast` and
//! `ShapeUtil::TransposeIsBitcast` (`xla/shape_util.cc`) ignore tiles. Padding may hold anything: if no element moves
//! but the arrays take different numbers of bytes, the answer is [`Answer::OtherPadding`].

mod answer;
mod decompose;
mod in_const;
mod question;
mod section;
mod slice;

pub use answer::{Answer, Cause, Reason};
pub use decompose::{Decomposition, DecompositionKind};
pub use in_const::{divide_obstacle, layout_change_obstacle, reshape_obstacle, transpose_obstacle};
pub use section::section_obstacle;
pub use slice::slice_obstacle;

use crate::layout::number::{DimensionError, check_permutation};
use crate::map::{StrideTableError, Term, first_moved};
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use question::{Correspondence, Question};

/// Why it cannot be decided whether an operation is a bitcast, or a bitcast cannot be explained.
///
/// ```
/// use xla_shape_core::{ArrayShape, bitcast::BitcastError};
///
/// let operand: ArrayShape = "f32[2,3]".parse()?;
/// let error = operand.decompose_bitcast(&"f32[7]".parse()?).unwrap_err();
/// assert_eq!(error, BitcastError::Bytes { operand: 24, result: 28 });
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum BitcastError {
    /// A shape has no stride table, or the layouts are too complex to compare.
    StrideTable(StrideTableError),
    /// The numbers are not a permutation of the operand's dimensions.
    Permutation(DimensionError),
    /// The shapes take different numbers of bytes.
    Bytes {
        /// The bytes of the operand.
        operand: u64,
        /// The bytes of the result.
        result: u64,
    },
    /// No combination of reshape and transpose was found that explains the bitcast.
    NotDecomposed,
}

impl From<StrideTableError> for BitcastError {
    fn from(error: StrideTableError) -> Self {
        Self::StrideTable(error)
    }
}

impl fmt::Display for BitcastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StrideTable(error) => error.fmt(f),
            Self::Permutation(error) => write!(f, "expected a permutation: {error}"),
            Self::Bytes { operand, result } => {
                write!(f, "a bitcast keeps the number of bytes, but the arrays take {operand} and {result}")
            }
            Self::NotDecomposed => f.write_str("found no reshape and transpose that keep every byte in place"),
        }
    }
}

impl core::error::Error for BitcastError {}

impl ArrayShape {
    /// Whether changing the layout of this array to that of `result`, which has the same dimensions, leaves every byte
    /// in place.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let operand: ArrayShape = "bf16[256,128]{1,0:T(8,128)(2,1)}".parse()?;
    /// let answer = operand.layout_change_is_bitcast(&"bf16[256,128]{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(
    ///     answer.to_string(),
    ///     "element (0,1) moves from position 2 to 1; the second tile differs"
    /// );
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, or the layouts are too complex to compare.
    pub fn layout_change_is_bitcast(&self, result: &Self) -> Result<Answer, BitcastError> {
        let identity = (0..self.num_dimensions()).collect::<Vec<_>>();
        self.transpose_is_bitcast(result, &identity)
    }

    /// Whether the transpose to `result`, whose dimension `i` is dimension `permutation[i]` of this array, leaves every
    /// byte in place.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let operand: ArrayShape = "f32[31,57]{1,0:T(8,128)}".parse()?;
    /// assert!(operand.transpose_is_bitcast(&"f32[57,31]{0,1:T(8,128)}".parse()?, &[1, 0])?.is_yes());
    /// let answer = operand.transpose_is_bitcast(&"f32[57,31]{1,0:T(8,128)}".parse()?, &[1, 0])?;
    /// assert_eq!(
    ///     answer.to_string(),
    ///     "element (0,1) moves from position 1 to 128; the order of the dimensions differs"
    /// );
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `permutation` is not a permutation of the dimensions, a dimension is unbounded, or the layouts are too
    /// complex to compare.
    pub fn transpose_is_bitcast(&self, result: &Self, permutation: &[usize]) -> Result<Answer, BitcastError> {
        check_permutation(permutation, self.num_dimensions()).map_err(BitcastError::Permutation)?;
        self.is_bitcast(result, Correspondence::Transpose(permutation))
    }

    /// Whether the reshape to `result`, which has the same elements in row-major order, leaves every byte in place.
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
    /// If a dimension is unbounded, or the layouts are too complex to compare.
    pub fn reshape_is_bitcast(&self, result: &Self) -> Result<Answer, BitcastError> {
        self.is_bitcast(result, Correspondence::Reshape)
    }

    fn is_bitcast(&self, result: &Self, correspondence: Correspondence<'_>) -> Result<Answer, BitcastError> {
        let tables = [self.stride_table()?, result.stride_table()?];
        let question =
            Question { shapes: [self, result], tables: tables.each_ref().map(|table| table.as_ref()), correspondence };
        let max_dimensions = || question.tables.map(|table| table.extents().len()).into_iter().max().unwrap_or(0);
        if let Some(reason) = question.obvious_reason(&mut vec![0; max_dimensions()]) {
            return Ok(Answer::No(reason).to_owned());
        }
        let [mut operand_terms, mut result_terms] = question.num_terms().map(|number| vec![Term::ZERO; number]);
        // One map gives each element's position in the operand, the other one its position in the result.
        let maps = question.maps(&mut operand_terms, &mut result_terms);
        let Some(first) = first_moved(maps, question.extents(&mut [0]))? else {
            return Ok(Question::stayed(self.byte_size().unwrap_or(0), result.byte_size().unwrap_or(0)).to_owned());
        };
        let num_values = question.tables.map(|table| table.intermediates().len()).into_iter().max().unwrap_or(0);
        let (mut element, mut index, mut values) =
            (vec![0; max_dimensions()], vec![0; max_dimensions()], vec![0; num_values]);
        Ok(Answer::No(question.moved(maps, &first, &mut element, &mut index, &mut values)).to_owned())
    }
}
