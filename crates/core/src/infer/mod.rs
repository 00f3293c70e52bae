//! Shape inference: the shape of an operation's result from the shapes of its operands.
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
//! There are three ways to use the rules:
//!
//! - A function over dimensions, such as [`dot()`] or [`slice()`]. All of them are `const fn`s, so checks of programs,
//!   types and macros share them. A function that computes its result writes it into a slice, which must have one entry
//!   for each dimension of the result; a function that takes the result as an input only checks it. Layouts and element
//!   types do not matter here.
//! - An [`Operation`] holds one of these operations with its attributes. It checks element types too, also in a `const`.
//! - A [`Rule`] covers every HLO instruction, also those with tuples, tokens and called computations. It needs memory
//!   from the heap, so a `const` cannot use it.
//!
//! Two sizes agree if they are equal; a bounded dimension counts as its bound, and an unbounded dimension agrees with
//! any size. A dimension of the result is dynamic if it comes from a dynamic dimension of an operand.
//!
//! The rules are those of `ShapeInference` in `xla/service/shape_inference.cc` and, where XLA's verifier asks for more,
//! of `ShapeVerifier` in `xla/service/hlo_verifier.cc`. Each rule names its function there. [Operation
//! semantics](https://openxla.org/xla/operation_semantics) describes the operations.

// A new rule is a `const fn` in the file of its family and a line here. `Operation` (`operation.rs`, `array.rs`) has those of kernels, `Rule`
// (`rule.rs`) those of HLO, `InferError` and `message.rs` their errors. `xla-shape/src/infer` checks operations of types, and
// `types/results.rs` has the results that are types. Cases: `tests/corpus/infer.jsonl`, `tests/tests/shapes/infer.rs`, `ui-tests`.

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

/// Why an operation does not take its operands, or does not give the expected result.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::infer::{InferError, Operation, Rule};
///
/// let operand: Shape = "f32[2,3]".parse()?;
/// let transpose = Rule::Array(Operation::Transpose { dimensions: &[0, 0] });
/// let error = transpose.infer(&[&operand], None).unwrap_err();
/// assert!(matches!(error, InferError::DuplicateDimension { dimension: 0, .. }));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum InferError {
    /// A list has the wrong number of entries: it must have one for each dimension.
    NumDimensions {
        /// The list.
        what: &'static str,
        /// The number of entries that it must have.
        expected: usize,
        /// The number that it has.
        found: usize,
    },
    /// The array has no dimension with this number.
    DimensionOutOfRange {
        /// The attribute or list that names the dimension.
        what: &'static str,
        /// The dimension number.
        dimension: usize,
        /// The number of dimensions of the array.
        num_dimensions: usize,
    },
    /// A list names the same dimension twice.
    DuplicateDimension {
        /// The list.
        what: &'static str,
        /// The dimension number.
        dimension: usize,
    },
    /// A dimension does not have the size that it must have.
    SizeMismatch {
        /// The array that has the dimension.
        what: &'static str,
        /// The dimension number.
        dimension: usize,
        /// The size that it must have.
        expected: Dimension,
        /// The size that it has.
        found: Dimension,
    },
    /// Operand and result have different numbers of elements.
    ElementCountMismatch {
        /// The number of elements of the operand.
        expected: u64,
        /// The number of elements of the result.
        found: u64,
    },
    /// A slice reaches outside the array, or ends before it begins.
    SliceOutOfRange {
        /// The dimension number.
        dimension: usize,
        /// The first index.
        start: u64,
        /// The index after the last one.
        limit: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// A stride or a dilation is 0.
    ZeroStride {
        /// The dimension number.
        dimension: usize,
    },
    /// The window has size 0.
    EmptyWindow {
        /// The dimension number.
        dimension: usize,
    },
    /// Negative padding removes more elements than the dimension has.
    NegativeSize {
        /// The dimension number.
        dimension: usize,
    },
    /// The operation needs at least one operand.
    NoOperands,
    /// The number of groups does not divide the size that is grouped.
    UnevenGroups {
        /// What is grouped.
        what: &'static str,
        /// The number of groups.
        groups: u64,
        /// The size that they should divide.
        size: Dimension,
    },
    /// A size does not fit in an `i64`.
    Overflow,
    /// The operation has the wrong number of operands.
    OperandCount {
        /// The smallest number that it takes.
        at_least: usize,
        /// The largest, if there is a limit.
        at_most: Option<usize>,
        /// The actual number.
        found: usize,
    },
    /// An operand is a kind of value that the operation does not take, such as a tuple instead of an array.
    OperandKind {
        /// The number of the operand.
        operand: usize,
        /// What it must be.
        expected: &'static str,
    },
    /// The operation does not take elements of this type.
    ElementClass {
        /// The number of the operand.
        operand: usize,
        /// The kinds of elements that it takes.
        expected: &'static str,
        /// The element type that the operand has.
        found: ElementType,
    },
    /// The element types of operands differ.
    ElementType {
        /// The number of the operand.
        operand: usize,
        /// The element type that it must have.
        expected: ElementType,
        /// The element type that it has.
        found: ElementType,
    },
    /// An operand is not a scalar.
    NotAScalar {
        /// The number of the operand.
        operand: usize,
        /// The number of its dimensions.
        num_dimensions: usize,
    },
    /// A number of parameters, results, … is wrong.
    Count {
        /// What is counted, such as parameters or results.
        what: &'static str,
        /// The required number.
        expected: usize,
        /// The actual number.
        found: usize,
    },
    /// A requirement that is not about a number is not met.
    Unexpected {
        /// The attribute, operand or result that is wrong.
        what: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// A parameter or the result of a called computation has the wrong shape for the operation.
    Callee {
        /// The attribute that names the computation.
        attribute: &'static str,
        /// The number of the parameter; `None` for the result.
        parameter: Option<usize>,
        /// What it must be.
        expected: &'static str,
    },
    /// A tuple has no element with this index.
    TupleIndex {
        /// The index.
        index: usize,
        /// The number of elements of the tuple.
        elements: usize,
    },
    /// The shape does not follow from the operands, so the program must declare it.
    NotInferred,
}

impl core::error::Error for InferError {}

/// Whether two sizes agree: they are equal, where a bounded dimension counts as its bound, or one is unbounded.
///
/// ```
/// use xla_shape_core::Dimension::{Bounded, Static, Unbounded};
/// use xla_shape_core::infer::agree;
///
/// assert!(agree(Static(8), Bounded(8)) && agree(Static(8), Unbounded));
/// assert!(!agree(Static(8), Static(4)));
/// ```
#[must_use]
pub const fn agree(a: Dimension, b: Dimension) -> bool {
    match (a.extent(), b.extent()) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// Whether two lists of dimensions have the same length and sizes that [`agree`].
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer::all_agree;
///
/// assert!(all_agree(&[Static(8), Unbounded], &[Static(8), Static(2)]));
/// assert!(!all_agree(&[Static(8)], &[Static(8), Static(2)]));
/// ```
#[must_use]
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the lengths")]
pub const fn all_agree(a: &[Dimension], b: &[Dimension]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if !agree(a[i], b[i]) {
            return false;
        }
        i += 1;
    }
    a.len() == b.len()
}

/// How XLA compares a value with the parameter that receives it: structure, element types and sizes must match, layouts
/// need not. An unbounded size (`?`) [agrees](agree) with any.
pub const AGREES: ShapeEqual = ShapeEqual::new().ignore_dynamic_dimension().ignore_layout().ignore_buffer();

/// Whether an operation takes operands of these two element types: they are the same, or both are floats, possibly of
/// different precision (`ShapeUtil::SameElementTypeIgnoringFpPrecision` in `xla/shape_util.h`).
///
/// ```
/// use xla_shape_core::ElementType::{Bf16, F32, S32};
/// use xla_shape_core::infer::element_types_agree;
///
/// assert!(element_types_agree(Bf16, F32));
/// assert!(!element_types_agree(S32, F32));
/// ```
#[must_use]
pub const fn element_types_agree(a: ElementType, b: ElementType) -> bool {
    ElementType::same(a, b) || matches!((a.class(), b.class()), (ElementClass::Float, ElementClass::Float))
}

/// The size of a dimension that two operands share: the more specific of two sizes that [`agree`], and dynamic if one
/// is.
const fn merge(a: Dimension, b: Dimension) -> Dimension {
    match (a, b) {
        (Dimension::Unbounded, known) => known,
        (Dimension::Bounded(_), _) | (_, Dimension::Unbounded) => a,
        (Dimension::Static(_), other) => other,
    }
}

/// A dimension of this size, dynamic if `from` is.
const fn sized(from: Dimension, size: u64) -> Dimension {
    if from.is_dynamic() { Dimension::Bounded(size) } else { Dimension::Static(size) }
}

const fn check_len(what: &'static str, expected: usize, found: usize) -> Result<(), InferError> {
    if expected == found { Ok(()) } else { Err(InferError::NumDimensions { what, expected, found }) }
}

/// Checks that every entry of a list is a dimension number and that no entry occurs twice.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn check_dimensions(what: &'static str, list: &[usize], num_dimensions: usize) -> Result<(), InferError> {
    if list.len() > num_dimensions {
        // Some entry must occur twice or be out of range. The check also bounds the quadratic search below.
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
        i += 1;
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
        i += 1;
    }
    false
}
