//! The answers to questions about bitcasts, and their text, in a `const` and at run time.

use crate::sink::ConstText;
use crate::sink::{Sink, display};
use alloc::vec::Vec;
use core::fmt;

/// Whether an operation on an array is a bitcast.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// Yes: both arrays are the same bytes.
    Yes,
    /// Every element stays where it is, but one of the arrays has more padding after the last element.
    OtherPadding {
        /// The bytes of the operand.
        operand_bytes: u64,
        /// The bytes of the result.
        result_bytes: u64,
    },
    /// No, for this reason.
    No(Reason),
}

impl Answer {
    /// Whether the answer is yes.
    #[must_use]
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }
}

/// Why an operation is not a bitcast.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// An element takes a different number of bits.
    ElementBits {
        /// Those of the operand.
        operand: u64,
        /// Those of the result.
        result: u64,
    },
    /// The arrays have different numbers of elements.
    Elements {
        /// That of the operand.
        operand: u64,
        /// That of the result.
        result: u64,
    },
    /// The sizes of the dimensions are not those that the operation makes.
    Sizes {
        /// Those that it makes.
        expected: Vec<u64>,
        /// Those of the result.
        found: Vec<u64>,
    },
    /// The sizes of bounded dimensions, before the first element, take different numbers of bytes.
    MetadataPrefix {
        /// Those of the operand.
        operand: u64,
        /// Those of the result.
        result: u64,
    },
    /// The arrays are split at different indices.
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
    /// How the layouts differ, if the operation maps dimensions to dimensions.
    pub cause: Option<Cause>,
}

/// How two layouts differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The order of the dimensions larger than 1.
    Order,
    /// The tile with this number, from 0: it differs, or only one of the layouts has it.
    Tile(usize),
    /// Dimensions of size 1 are elsewhere in the order. They move no element by themselves, but the tiles, which are equal,
    /// count them, and so cover different dimensions.
    SizeOne,
}

/// An [`Answer`] that borrows its lists: what a `const` can hold.
#[derive(Clone, Copy)]
pub(super) enum Told<'a> {
    Yes,
    OtherPadding { operand_bytes: u64, result_bytes: u64 },
    ElementBits { operand: u64, result: u64 },
    Elements { operand: u64, result: u64 },
    Sizes { expected: &'a [u64], found: &'a [u64] },
    MetadataPrefix { operand: u64, result: u64 },
    Splits,
    Moves { element: &'a [u64], operand_position: u64, result_position: u64, cause: Option<Cause> },
}

impl Told<'_> {
    pub(super) const fn is_yes(self) -> bool {
        matches!(self, Self::Yes)
    }

    /// Writes the answer as a sentence.
    pub(super) const fn write(self, sink: &mut Sink<'_>) {
        match self {
            Self::Yes => sink.text("every byte stays where it is"),
            Self::OtherPadding { operand_bytes, result_bytes } => {
                sink.text("every element stays where it is, but the arrays take ");
                two(sink, operand_bytes, " and ", result_bytes, " bytes");
            }
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
            Self::Splits => sink.text("the arrays are split at other indices"),
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

impl<const CAPACITY: usize> ConstText<CAPACITY> {
    /// Appends the answer.
    pub(super) const fn push_told(mut self, told: Told<'_>) -> Self {
        told.write(&mut self.sink());
        self
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

impl From<Told<'_>> for Answer {
    fn from(told: Told<'_>) -> Self {
        Self::No(match told {
            Told::Yes => return Self::Yes,
            Told::OtherPadding { operand_bytes, result_bytes } => {
                return Self::OtherPadding { operand_bytes, result_bytes };
            }
            Told::ElementBits { operand, result } => Reason::ElementBits { operand, result },
            Told::Elements { operand, result } => Reason::Elements { operand, result },
            Told::Sizes { expected, found } => Reason::Sizes { expected: expected.to_vec(), found: found.to_vec() },
            Told::MetadataPrefix { operand, result } => Reason::MetadataPrefix { operand, result },
            Told::Splits => Reason::Splits,
            Told::Moves { element, operand_position, result_position, cause } => {
                Reason::Moves(Move { element: element.to_vec(), operand_position, result_position, cause })
            }
        })
    }
}

impl Reason {
    fn told(&self) -> Told<'_> {
        match *self {
            Self::ElementBits { operand, result } => Told::ElementBits { operand, result },
            Self::Elements { operand, result } => Told::Elements { operand, result },
            Self::Sizes { ref expected, ref found } => Told::Sizes { expected, found },
            Self::MetadataPrefix { operand, result } => Told::MetadataPrefix { operand, result },
            Self::Splits => Told::Splits,
            Self::Moves(ref moved) => moved.told(),
        }
    }
}

impl Move {
    fn told(&self) -> Told<'_> {
        let Self { ref element, operand_position, result_position, cause } = *self;
        Told::Moves { element, operand_position, result_position, cause }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = match *self {
            Self::Yes => Told::Yes,
            Self::OtherPadding { operand_bytes, result_bytes } => Told::OtherPadding { operand_bytes, result_bytes },
            Self::No(ref reason) => reason.told(),
        };
        display(f, |sink| told.write(sink))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |sink| self.told().write(sink))
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |sink| self.told().write(sink))
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
