//! [`Answer`] and its text, in a `const` and at run time.

use crate::sink::{Sink, display};
use alloc::vec::Vec;
use core::fmt;

/// Whether an operation on an array is a bitcast, and if not, why.
///
/// `L` is the type of lists of numbers: `Vec<u64>`, or a borrowed slice in a `const`.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::bitcast::{Answer, Reason};
///
/// let operand: ArrayShape = "f32[8]".parse()?;
/// let answer = operand.reshape_is_bitcast(&"f32[4]".parse()?)?;
/// assert_eq!(answer, Answer::No(Reason::Elements { operand: 8, result: 4 }));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer<L = Vec<u64>> {
    /// Yes: both arrays are the same bytes.
    Yes,
    /// No element moves, but the arrays have different amounts of padding after the last element.
    OtherPadding {
        /// The bytes of the operand.
        operand_bytes: u64,
        /// The bytes of the result.
        result_bytes: u64,
    },
    /// No, for this reason.
    No(Reason<L>),
}

/// Why an operation is not a bitcast.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::bitcast::{Answer, Reason};
///
/// let operand: ArrayShape = "f32[2,3]".parse()?;
/// let answer = operand.reshape_is_bitcast(&"f32[7]".parse()?)?;
/// assert_eq!(answer, Answer::No(Reason::Elements { operand: 6, result: 7 }));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason<L = Vec<u64>> {
    /// The elements have different numbers of bits.
    ElementBits {
        /// The bits of an element of the operand.
        operand: u64,
        /// The bits of an element of the result.
        result: u64,
    },
    /// The arrays have different numbers of elements.
    Elements {
        /// The number of elements of the operand.
        operand: u64,
        /// The number of elements of the result.
        result: u64,
    },
    /// The result does not have the sizes that the operation produces.
    Sizes {
        /// The sizes that it produces.
        expected: L,
        /// The sizes of the result.
        found: L,
    },
    /// The metadata before the first element, which holds the sizes of bounded dimensions, has different numbers of
    /// bytes.
    MetadataPrefix {
        /// The bytes in the operand.
        operand: u64,
        /// The bytes in the result.
        result: u64,
    },
    /// The arrays are split across memories at different indices.
    Splits,
    /// An element moves. This is the first one in row-major order of the operand.
    Moves {
        /// Its index in the operand.
        element: L,
        /// Its position in the operand, in elements.
        operand_position: u64,
        /// Its position in the result, in elements.
        result_position: u64,
        /// How the layouts differ; `None` for a reshape, which does not map dimensions to dimensions.
        cause: Option<Cause>,
    },
}

/// How two layouts differ.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::bitcast::{Answer, Cause, Reason};
///
/// let operand: ArrayShape = "f32[16,128]{1,0:T(8,128)}".parse()?;
/// let answer = operand.transpose_is_bitcast(&"f32[16,128]{0,1:T(8,128)}".parse()?, &[0, 1])?;
/// assert!(matches!(answer, Answer::No(Reason::Moves { cause: Some(Cause::Order), .. })), "{answer:?}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The order of the dimensions that are larger than 1 differs.
    Order,
    /// The tile with this number, counted from 0, differs, or only one of the layouts has it.
    Tile(usize),
    /// Dimensions of size 1 are elsewhere in the order. By themselves they move no element, but equal tiles then cover
    /// different dimensions.
    SizeOne,
}

impl<L> Answer<L> {
    /// Whether the operation is a bitcast.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let operand: ArrayShape = "f32[2,3]".parse()?;
    /// assert!(operand.reshape_is_bitcast(&"f32[6]".parse()?)?.is_yes());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }

    /// Converts the lists of the answer.
    fn with_lists<'a, M>(&'a self, list: impl Fn(&'a L) -> M) -> Answer<M> {
        match *self {
            Self::Yes => Answer::Yes,
            Self::OtherPadding { operand_bytes, result_bytes } => Answer::OtherPadding { operand_bytes, result_bytes },
            Self::No(ref reason) => Answer::No(reason.with_lists(list)),
        }
    }
}

impl<L> Reason<L> {
    fn with_lists<'a, M>(&'a self, list: impl Fn(&'a L) -> M) -> Reason<M> {
        match *self {
            Self::ElementBits { operand, result } => Reason::ElementBits { operand, result },
            Self::Elements { operand, result } => Reason::Elements { operand, result },
            Self::Sizes { ref expected, ref found } => Reason::Sizes { expected: list(expected), found: list(found) },
            Self::MetadataPrefix { operand, result } => Reason::MetadataPrefix { operand, result },
            Self::Splits => Reason::Splits,
            Self::Moves { ref element, operand_position, result_position, cause } => {
                Reason::Moves { element: list(element), operand_position, result_position, cause }
            }
        }
    }
}

impl Answer<&[u64]> {
    pub(super) fn to_owned(self) -> Answer {
        self.with_lists(|list| list.to_vec())
    }

    /// Writes the answer as text.
    pub(super) const fn write(self, sink: &mut Sink<'_>) {
        match self {
            Self::Yes => sink.text("every byte stays where it is"),
            Self::OtherPadding { operand_bytes, result_bytes } => {
                sink.text("every element stays where it is, but the arrays take ");
                two(sink, operand_bytes, " and ", result_bytes, " bytes");
            }
            Self::No(reason) => reason.write(sink),
        }
    }
}

impl Reason<&[u64]> {
    const fn write(self, sink: &mut Sink<'_>) {
        match self {
            Self::ElementBits { operand, result } => {
                sink.text("an element takes ");
                two(sink, operand, " bits in the operand and ", result, " in the result");
            }
            Self::Elements { operand, result } => {
                sink.text("the operand has ");
                two(sink, operand, " elements and the result ", result, "");
            }
            Self::Sizes { expected, found } => {
                sink.text("the result should have the sizes ");
                list(sink, expected);
                sink.text(", not ");
                list(sink, found);
            }
            Self::MetadataPrefix { operand, result } => {
                sink.text("the elements begin after ");
                two(sink, operand, " bytes in the operand and after ", result, " in the result");
            }
            Self::Splits => sink.text("the arrays are split at different indices"),
            Self::Moves { element, operand_position, result_position, cause } => {
                sink.text("element ");
                list(sink, element);
                sink.text(" moves from position ");
                two(sink, operand_position, " to ", result_position, "");
                if let Some(cause) = cause {
                    sink.text("; ");
                    sink.text(cause.as_str());
                }
            }
        }
    }
}

const fn two(sink: &mut Sink<'_>, first: u64, between: &str, second: u64, after: &str) {
    sink.number(first);
    sink.text(between);
    sink.number(second);
    sink.text(after);
}

/// Writes `(1,0)`.
const fn list(sink: &mut Sink<'_>, numbers: &[u64]) {
    sink.text("(");
    sink.numbers(numbers);
    sink.text(")");
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = self.with_lists(Vec::as_slice);
        display(f, |sink| answer.write(sink))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.with_lists(Vec::as_slice);
        display(f, |sink| reason.write(sink))
    }
}

impl Cause {
    /// The difference as text.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Order => "the order of the dimensions differs",
            Self::Tile(0) => "the first tile differs",
            Self::Tile(1) => "the second tile differs",
            Self::Tile(2) => "the third tile differs",
            Self::Tile(_) => "a later tile differs",
            Self::SizeOne => {
                "the tiles are equal but cover different dimensions: a dimension of size 1 is elsewhere in minor_to_major"
            }
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
