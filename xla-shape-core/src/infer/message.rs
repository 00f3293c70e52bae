//! What the errors of inference say, in a `const` too.

use super::InferError;
use crate::text::ConstText;
use crate::text::print::dimension;
use crate::text::sink::{Sink, display};
use core::fmt;

/// Writes a text with numbers, dimensions and other texts in it.
macro_rules! write {
    ($sink:ident, $($kind:ident $value:expr),*) => {{ $(write!(@ $sink $kind $value);)* }};
    (@ $sink:ident text $value:expr) => { $sink.text($value) };
    (@ $sink:ident number $value:expr) => { $sink.number($value) };
    (@ $sink:ident count $value:expr) => { $sink.count($value) };
    (@ $sink:ident size $value:expr) => { dimension($sink, $value) };
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
                sink, text "expected every dimension at most once in ", text what, text ", found ", count dimension,
                text " again"
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
                text " a size, found more taken away than it has"
            ),
            Self::NoOperands => sink.text("expected an operand, found none"),
            Self::UnevenGroups { what, groups, size } => write!(
                sink, text "expected ", text what, text " that ", number groups, text " groups divide, found ", size size
            ),
            Self::Overflow => sink.text("expected sizes that fit in an i64, found a larger one"),
        }
    }
}

impl<const CAPACITY: usize> ConstText<CAPACITY> {
    /// Appends what an error of inference says.
    #[must_use]
    pub const fn push_error(mut self, error: InferError) -> Self {
        let mut sink = self.sink();
        error.write(&mut sink);
        let written = sink.written();
        self.set_len(written)
    }
}

impl fmt::Display for InferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |sink| self.write(sink))
    }
}
