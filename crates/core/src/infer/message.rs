//! The messages of [`InferError`], for a `const` too.

use super::InferError;
use crate::sink::ConstText;
use crate::sink::{Sink, display};
use core::fmt;

/// Writes texts, numbers and dimensions one after the other.
macro_rules! write {
    ($sink:ident, $($kind:ident $value:expr),*) => {{ $(write!(@ $sink $kind $value);)* }};
    (@ $sink:ident text $value:expr) => { $sink.text($value) };
    (@ $sink:ident number $value:expr) => { $sink.number($value) };
    (@ $sink:ident count $value:expr) => { $sink.count($value) };
    (@ $sink:ident size $value:expr) => { $value.write($sink) };
}

impl InferError {
    pub(super) const fn write(&self, sink: &mut Sink<'_>) {
        match *self {
            Self::NumDimensions { what, expected, found } => {
                write!(sink, text "expected ", count expected, text " dimensions in ", text what, text ", found ", count found)
            }
            Self::DimensionOutOfRange { what, dimension, num_dimensions: 0 } => write!(
                sink, text "expected an array that has the dimension ", count dimension, text " in ", text what,
                text ", found a scalar"
            ),
            Self::DimensionOutOfRange { what, dimension, num_dimensions } => write!(
                sink, text "expected a dimension number less than ", count num_dimensions, text " in ", text what,
                text ", found ", count dimension
            ),
            Self::DuplicateDimension { what, dimension } => write!(
                sink, text "dimension ", count dimension, text " is named twice in ", text what
            ),
            Self::SizeMismatch { what, dimension: number, expected, found } => write!(
                sink, text "expected size ", size expected, text " in dimension ", count number, text " of ", text what,
                text ", found ", size found
            ),
            Self::ElementCountMismatch { expected, found } => {
                write!(sink, text "expected a result of ", number expected, text " elements, found ", number found)
            }
            Self::SliceOutOfRange { dimension, start, limit, size } => write!(
                sink, text "expected a slice inside dimension ", count dimension, text " of size ", number size,
                text ", found the one from ", number start, text " to ", number limit
            ),
            Self::ZeroStride { dimension } => write!(
                sink, text "expected a stride and a dilation of at least 1 in dimension ", count dimension,
                text ", found 0"
            ),
            Self::EmptyWindow { dimension } => write!(
                sink, text "expected a window of at least 1 element in dimension ", count dimension, text ", found 0"
            ),
            Self::NegativeSize { dimension } => write!(
                sink, text "expected padding that leaves dimension ", count dimension,
                text " a size of at least 0, found more removed than it has"
            ),
            Self::NoOperands => sink.text("expected an operand, found none"),
            Self::UnevenGroups { what, groups, size } => write!(
                sink, text "expected ", text what, text " divisible by ", number groups, text ", found ", size size
            ),
            Self::Overflow => sink.text("expected sizes that fit in an i64, found a larger one"),
            Self::OperandCount { at_least, at_most, found } => {
                match at_most {
                    Some(at_most) if at_most == at_least => write!(sink, text "expected ", count at_least),
                    Some(at_most) => write!(sink, text "expected ", count at_least, text " to ", count at_most),
                    None => write!(sink, text "expected at least ", count at_least),
                }
                sink.text(if at_least == 1 && matches!(at_most, None | Some(1)) { " operand" } else { " operands" });
                write!(sink, text ", found ", count found);
            }
            Self::OperandKind { operand, expected } => {
                write!(sink, text "expected ", text expected, text " as operand ", count operand)
            }
            Self::ElementClass { operand, expected, found } => write!(
                sink, text "expected elements of ", text expected, text " in operand ", count operand,
                text ", found ", text found.name()
            ),
            Self::ElementType { operand, expected, found } => write!(
                sink, text "expected elements of ", text expected.name(), text " in operand ", count operand,
                text ", found ", text found.name()
            ),
            Self::NotAScalar { operand, num_dimensions } => {
                write!(sink, text "expected a scalar as operand ", count operand, text ", found an array of ", count num_dimensions);
                sink.text(if num_dimensions == 1 { " dimension" } else { " dimensions" });
            }
            Self::Count { what, expected, found } => {
                write!(sink, text "expected ", count expected, text " ", text what, text ", found ", count found)
            }
            Self::Unexpected { what, expected } => {
                write!(sink, text "expected ", text what, text " to be ", text expected)
            }
            Self::Callee { attribute, parameter: Some(parameter), expected } => write!(
                sink, text "expected parameter ", count parameter, text " of `", text attribute, text "` to be ", text expected
            ),
            Self::Callee { attribute, parameter: None, expected } => {
                write!(sink, text "expected the result of `", text attribute, text "` to be ", text expected)
            }
            Self::TupleIndex { index, elements } => write!(
                sink, text "expected an index less than ", count elements, text ", the number of elements, found ",
                count index
            ),
            Self::NotInferred => sink.text("it does not follow from the operands"),
        }
    }
}

impl<const CAPACITY: usize> ConstText<CAPACITY> {
    /// Appends the message of an inference error.
    #[must_use]
    pub const fn push_error(mut self, error: InferError) -> Self {
        error.write(&mut self.sink());
        self
    }
}

impl fmt::Display for InferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |sink| self.write(sink))
    }
}
