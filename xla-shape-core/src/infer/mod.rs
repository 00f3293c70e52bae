//! Shape inference: the dimensions of an operation's result from those of its operands.
//!
//! Each rule is a `const fn` over dimensions, so that a check of a program, a type and a macro can ask the same one. A rule
//! that computes its result writes it into a slice, which must have as many entries as the result has dimensions; one whose
//! result is an input too only checks it. They ignore layouts and element types. An [`Operation`] is any of these operations as
//! a value, and checks element types too. A [`Rule`] is the rule of any HLO instruction, also with tuples, tokens and called
//! computations; a `const` cannot use it.
//!
//! Sizes agree if they are equal, bounded ones by their bound; an unbounded dimension agrees with every other. A dimension of
//! the result is dynamic if it comes from a dynamic dimension of an operand.
//!
//! ```
//! use xla_shape_core::Dimension::{self, Static};
//! use xla_shape_core::infer::{self, DotDimensions};
//!
//! let dimensions = DotDimensions {
//!     lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[1],
//! };
//! let mut result = [Dimension::Unbounded; 3];
//! infer::dot(&[Static(8), Static(2), Static(3)], &[Static(8), Static(3), Static(5)], dimensions, &mut result)?;
//! assert_eq!(result, [Static(8), Static(2), Static(5)]);
//! # Ok::<(), infer::InferError>(())
//! ```
//!
//! The rules are those of XLA's operation semantics.

mod algebra;
mod array;
mod call;
mod collective;
mod contract;
mod elementwise;
mod index;
mod message;
mod operands;
mod operation;
mod rearrange;
mod reducer;
mod rule;
mod window;

pub use algebra::FftType;
pub use contract::RaggedDimensions;
pub use contract::{DotDimensions, dot, reduce};
pub use elementwise::{Elementwise, broadcast, clamp, elementwise, iota, select};
pub use index::{GatherDimensions, ScatterDimensions};
pub use operands::Callee;
pub use operation::Operation;
pub use rearrange::{
    PaddingDimension, SliceDimension, concatenate, dynamic_slice, dynamic_update_slice, pad, reshape, reverse, slice,
    transpose,
};
pub use rule::Rule;
pub use window::{ConvolutionDimensions, ConvolutionGroups, WindowDimension, convolution, reduce_window};

use crate::element_type::{ElementClass, ElementType};
use crate::layout::dimension::Dimension;
use crate::shape::compare::ShapeEqual;

/// Why an operation has no result of some shape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum InferError {
    /// A list must have one entry for each of some dimensions.
    NumDimensions {
        /// What the list is.
        what: &'static str,
        /// How many entries it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A dimension number must be one of the array.
    DimensionOutOfRange {
        /// What names the dimension.
        what: &'static str,
        /// The dimension number.
        dimension: usize,
        /// How many dimensions there are.
        num_dimensions: usize,
    },
    /// A list names a dimension only once.
    DuplicateDimension {
        /// The list.
        what: &'static str,
        /// The dimension number.
        dimension: usize,
    },
    /// Two dimensions must have the same size.
    SizeMismatch {
        /// What has the size.
        what: &'static str,
        /// The dimension number.
        dimension: usize,
        /// The size that it must have.
        expected: Dimension,
        /// The size that it has.
        found: Dimension,
    },
    /// Operand and result must have the same number of elements.
    ElementCountMismatch {
        /// The elements of the operand.
        expected: u64,
        /// The elements of the result.
        found: u64,
    },
    /// A slice lies inside the array, and does not end before it begins.
    SliceOutOfRange {
        /// The dimension number.
        dimension: usize,
        /// The first index.
        start: u64,
        /// The index behind the last one.
        limit: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// A stride or a dilation is at least 1.
    ZeroStride {
        /// The dimension number.
        dimension: usize,
    },
    /// A window looks at least at one element.
    EmptyWindow {
        /// The dimension number.
        dimension: usize,
    },
    /// Negative padding takes away no more than there is.
    NegativeSize {
        /// The dimension number.
        dimension: usize,
    },
    /// An operation needs at least one operand.
    NoOperands,
    /// Groups divide what they group.
    UnevenGroups {
        /// What is grouped.
        what: &'static str,
        /// How many groups there are.
        groups: u64,
        /// What they should divide.
        size: Dimension,
    },
    /// A size does not fit in an i64.
    Overflow,
    /// The operation takes another number of operands.
    OperandCount {
        /// The least number.
        at_least: usize,
        /// The largest, if there is one.
        at_most: Option<usize>,
        /// How many there are.
        found: usize,
    },
    /// An operand is not the kind of value that the operation works on.
    OperandKind {
        /// Which operand.
        operand: usize,
        /// What it should be.
        expected: &'static str,
    },
    /// The operation does not work on this kind of elements.
    ElementClass {
        /// Which operand.
        operand: usize,
        /// The kinds of elements that it works on.
        expected: &'static str,
        /// The element type that the operand has.
        found: ElementType,
    },
    /// The element types of operands differ.
    ElementType {
        /// Which operand.
        operand: usize,
        /// The element type that it should have.
        expected: ElementType,
        /// The one that it has.
        found: ElementType,
    },
    /// An operand must be a scalar.
    NotAScalar {
        /// Which operand.
        operand: usize,
        /// How many dimensions it has.
        num_dimensions: usize,
    },
    /// Two numbers must be equal.
    Count {
        /// What is counted.
        what: &'static str,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Something else than a number is wrong.
    Unfit {
        /// What it is.
        what: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A called computation has a parameter or a result whose shape does not fit the operation.
    Callee {
        /// The attribute that names the computation.
        attribute: &'static str,
        /// Which parameter; `None` for the result.
        parameter: Option<usize>,
        /// What it should be.
        expected: &'static str,
    },
    /// A tuple has no element with this index.
    TupleIndex {
        /// The index.
        index: usize,
        /// How many elements there are.
        elements: usize,
    },
    /// The shape must be written, because it does not follow from the operands.
    NotInferred,
}

impl core::error::Error for InferError {}

/// Whether two sizes may be the same: they are equal, bounded ones by their bound, or one is unbounded.
#[must_use]
pub const fn agree(a: Dimension, b: Dimension) -> bool {
    match (a.extent(), b.extent()) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// Whether two lists of dimensions are equally long and their sizes [`agree`].
#[must_use]
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the lengths")]
pub const fn all_agree(a: &[Dimension], b: &[Dimension]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if !agree(a[i], b[i]) {
            return false;
        }
        i = i.saturating_add(1);
    }
    a.len() == b.len()
}

/// How a value must agree with what takes it: in structure, element types and sizes, of which `?` [agrees](agree) with any; in
/// whatever layouts.
pub const AGREES: ShapeEqual = ShapeEqual::new().ignore_dynamic_dimension().ignore_layout().ignore_buffer();

/// Whether an operation takes operands of these two element types: they are the same, or both floats, whose precision may
/// differ in XLA.
#[must_use]
pub const fn element_types_agree(a: ElementType, b: ElementType) -> bool {
    ElementType::same(a, b) || matches!((a.class(), b.class()), (ElementClass::Float, ElementClass::Float))
}

/// What is known of a size that is both.
const fn merge(a: Dimension, b: Dimension) -> Dimension {
    match (a, b) {
        (Dimension::Unbounded, known) => known,
        (Dimension::Bounded(_), _) | (_, Dimension::Unbounded) => a,
        (Dimension::Static(_), other) => other,
    }
}

/// A dimension of this size that is dynamic if `from` is.
const fn sized(from: Dimension, size: u64) -> Dimension {
    if from.is_dynamic() { Dimension::Bounded(size) } else { Dimension::Static(size) }
}

const fn check_len(what: &'static str, expected: usize, found: usize) -> Result<(), InferError> {
    if expected == found { Ok(()) } else { Err(InferError::NumDimensions { what, expected, found }) }
}

/// Checks that every entry of a list is a dimension number, and none is there twice.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn check_dimensions(what: &'static str, list: &[usize], num_dimensions: usize) -> Result<(), InferError> {
    if list.len() > num_dimensions {
        // One of them must be there twice or out of range; and the search below stays short.
        return Err(InferError::NumDimensions { what, expected: num_dimensions, found: list.len() });
    }
    let mut i = 0;
    while i < list.len() {
        let dimension = list[i];
        if dimension >= num_dimensions {
            return Err(InferError::DimensionOutOfRange { what, dimension, num_dimensions });
        }
        if contains(list.split_at(i).0, dimension) {
            return Err(InferError::DuplicateDimension { what, dimension });
        }
        i = i.saturating_add(1);
    }
    Ok(())
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn contains(list: &[usize], number: usize) -> bool {
    let mut i = 0;
    while i < list.len() {
        if list[i] == number {
            return true;
        }
        i = i.saturating_add(1);
    }
    false
}
