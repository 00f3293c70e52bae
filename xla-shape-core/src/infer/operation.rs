//! Operations as values: one question for all rules, which a `const` can ask too.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]

use super::{
    ConvolutionDimensions, ConvolutionGroups, DotDimensions, Elementwise, InferError, PaddingDimension, SliceDimension,
    WindowDimension, all_agree, broadcast, check_dimensions, clamp, convolution, dot, dynamic_slice,
    dynamic_update_slice, element_types_agree, iota, pad, reduce, reduce_window, reshape, reverse, select, slice,
    transpose,
};
use super::{elementwise, rearrange};
use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::limits::MAX_INFERRED_DIMENSIONS;
use crate::shape::array::ArrayShape;
use crate::shape::array::write_without_layout;
use crate::sink::ConstText;

/// An operation of XLA with its attributes, which tells the shape of its result.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::infer::{DotDimensions, Operation};
///
/// let shape = |text: &str| text.parse::<ArrayShape>();
/// let product = Operation::Dot(DotDimensions::MATRICES);
/// let operands = (shape("bf16[8,64]{1,0:T(8,128)(2,1)}")?, shape("bf16[64,256]")?);
/// assert!(product.obstacle(&[&operands.0, &operands.1], &shape("f32[8,256]")?).is_none());
///
/// let obstacle = product.obstacle(&[&operands.0, &operands.1], &shape("f32[256,8]")?).unwrap();
/// assert_eq!(
///     obstacle.as_str(),
///     "f32[256,8] is not the result of dot(bf16[8,64], bf16[64,256]): expected f32[8,256], found f32[256,8]"
/// );
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Operation<'a> {
    /// Each element of the result follows from one element of each operand: `add`, `exponential`, …, on any number of operands
    /// of any type.
    Elementwise,
    /// Each element of the result follows from one element of each operand, as in the operation of this name.
    Named(Elementwise),
    /// Two operands; the result is of `pred`.
    Compare,
    /// The elements in any other type.
    Convert,
    /// A predicate, of the same dimensions or a scalar, and two values.
    Select,
    /// The least values, the operand and the greatest ones; the bounds may be scalars.
    Clamp,
    /// Dimension `i` of the operand is dimension `dimensions[i]` of the result.
    Broadcast {
        /// A dimension of the result for each of the operand.
        dimensions: &'a [usize],
    },
    /// No operand; the result counts along this dimension.
    Iota {
        /// The dimension.
        dimension: usize,
    },
    /// The same elements in row-major order.
    Reshape,
    /// Dimension `i` of the result is dimension `dimensions[i]` of the operand.
    Transpose {
        /// A permutation.
        dimensions: &'a [usize],
    },
    /// The elements in reverse along these dimensions.
    Reverse {
        /// The dimensions.
        dimensions: &'a [usize],
    },
    /// One entry for each dimension.
    Slice(&'a [SliceDimension]),
    /// The operand, and the element that pads it; one entry for each dimension.
    Pad(&'a [PaddingDimension]),
    /// One operand after the other along a dimension.
    Concatenate {
        /// The dimension.
        dimension: usize,
    },
    /// The operand and the initial value, a scalar. The result's element type is that of the reducing computation.
    Reduce {
        /// The dimensions that the result lacks.
        dimensions: &'a [usize],
    },
    /// The operand and the initial value, a scalar; one entry for each dimension. Element types are as in a reduction.
    ReduceWindow(&'a [WindowDimension]),
    /// The operand, and as many scalars as it has dimensions where the slice begins; the sizes of the slice.
    DynamicSlice(&'a [u64]),
    /// The operand, the update, and as many scalars as the operand has dimensions where it begins.
    DynamicUpdateSlice,
    /// The operands' element types may be any; the result's is the preferred one of the program.
    Dot(DotDimensions<'a>),
    /// The operands' element types may be any; the result's is the preferred one of the program.
    Convolution {
        /// What the dimensions mean.
        dimensions: ConvolutionDimensions<'a>,
        /// One entry for each spatial dimension.
        window: &'a [WindowDimension],
        /// The groups.
        groups: ConvolutionGroups,
    },
}

/// What is wrong, before it is said in a sentence.
enum Problem {
    Infer(InferError),
    /// The inferred dimensions are in the room that the check was given.
    Result(ElementType),
    TooManyDimensions,
}

impl Operation<'_> {
    /// XLA's name of the operation; `elementwise` stands for many.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Elementwise => Elementwise::UNNAMED.name(),
            Self::Named(elementwise) => elementwise.name(),
            Self::Compare => "compare",
            Self::Convert => "convert",
            Self::Select => "select",
            Self::Clamp => "clamp",
            Self::Broadcast { .. } => "broadcast",
            Self::Iota { .. } => "iota",
            Self::Reshape => "reshape",
            Self::Transpose { .. } => "transpose",
            Self::Reverse { .. } => "reverse",
            Self::Slice(_) => "slice",
            Self::Pad(_) => "pad",
            Self::Concatenate { .. } => "concatenate",
            Self::Reduce { .. } => "reduce",
            Self::ReduceWindow(_) => "reduce-window",
            Self::DynamicSlice(_) => "dynamic-slice",
            Self::DynamicUpdateSlice => "dynamic-update-slice",
            Self::Dot(_) => "dot",
            Self::Convolution { .. } => "convolution",
        }
    }

    /// `None` if operands of these shapes give a result of this shape; else what is wrong, in XLA's notation.
    ///
    /// Ignores layouts. Compares sizes with [`agree`](super::agree), and element types with [`element_types_agree`]. Operands
    /// and result may have up to 32 dimensions.
    #[must_use]
    pub const fn obstacle(&self, operands: &[&ArrayShape], result: &ArrayShape) -> Option<ConstText<1024>> {
        let mut room = [Dimension::Unbounded; MAX_INFERRED_DIMENSIONS];
        match self.check(operands, result, &mut room) {
            Ok(()) => None,
            Err(problem) => Some(self.sentence(&problem, operands, result, &room)),
        }
    }

    const fn check(
        &self,
        operands: &[&ArrayShape],
        result: &ArrayShape,
        room: &mut [Dimension; MAX_INFERRED_DIMENSIONS],
    ) -> Result<(), Problem> {
        let num_dimensions = result.num_dimensions();
        if num_dimensions > MAX_INFERRED_DIMENSIONS {
            return Err(Problem::TooManyDimensions);
        }
        if let Err(error) = self.check_operands(operands) {
            return Err(Problem::Infer(error));
        }
        let inferred = room.split_at_mut(num_dimensions).0;
        if let Err(error) = self.infer(operands, result.dimensions(), inferred) {
            return Err(Problem::Infer(error));
        }
        let given = result.element_type();
        let element_type = match self.element_type(operands) {
            // Floats of different precision: the program chooses that of the result.
            Some(found) if element_types_agree(found, given) && is_mixed(operands) => given,
            Some(found) => found,
            None => given,
        };
        if ElementType::same(element_type, given) && all_agree(inferred, result.dimensions()) {
            return Ok(());
        }
        Err(Problem::Result(element_type))
    }

    /// The elementwise operation that it is.
    pub(super) const fn elementwise(&self) -> Option<Elementwise> {
        match self {
            Self::Elementwise => Some(Elementwise::UNNAMED),
            Self::Named(elementwise) => Some(*elementwise),
            Self::Compare => Some(Elementwise::COMPARE),
            Self::Convert => Some(Elementwise::CONVERT),
            _ => None,
        }
    }

    /// How many operands there are at least, and at most.
    const fn num_operands(&self, operands: &[&ArrayShape]) -> (usize, Option<usize>) {
        if let Some(elementwise) = self.elementwise() {
            return match elementwise.num_operands() {
                Some(number) => (number, Some(number)),
                None => (1, None),
            };
        }
        let number = match self {
            Self::Concatenate { .. } => return (1, None),
            Self::Iota { .. } => 0,
            Self::Broadcast { .. } | Self::Reshape | Self::Transpose { .. } | Self::Reverse { .. } | Self::Slice(_) => {
                1
            }
            Self::Select | Self::Clamp => 3,
            Self::DynamicSlice(_) | Self::DynamicUpdateSlice => {
                let first = if matches!(self, Self::DynamicSlice(_)) { 1_usize } else { 2 };
                let starts = if operands.is_empty() { 0 } else { operands[0].num_dimensions() };
                first.saturating_add(starts)
            }
            _ => 2,
        };
        (number, Some(number))
    }

    /// Checks how many operands there are, their element types, and that those are scalars that must be.
    pub(super) const fn check_operands(&self, operands: &[&ArrayShape]) -> Result<(), InferError> {
        let (at_least, at_most) = self.num_operands(operands);
        let found = operands.len();
        let too_many = match at_most {
            Some(at_most) => found > at_most,
            None => false,
        };
        if found < at_least || too_many {
            return Err(InferError::OperandCount { at_least, at_most, found });
        }
        let mut i = 0;
        while i < operands.len() {
            if let Err(error) = self.check_operand(operands, i) {
                return Err(error);
            }
            i = i.saturating_add(1);
        }
        Ok(())
    }

    const fn check_operand(&self, operands: &[&ArrayShape], operand: usize) -> Result<(), InferError> {
        // Of whose element type it must be.
        let like = match self {
            Self::Select if operand == 0 => None,
            Self::Select | Self::Clamp => Some(1),
            Self::DynamicSlice(_) if operand > 0 => None,
            Self::DynamicUpdateSlice if operand > 1 => None,
            // Any two that the program asks for, such as s4 and bf16.
            Self::Dot(_) | Self::Convolution { .. } => None,
            _ => Some(0),
        };
        let found = operands[operand].element_type();
        let first_start = match self {
            Self::DynamicSlice(_) => 1,
            Self::DynamicUpdateSlice => 2,
            _ => usize::MAX,
        };
        if operand >= first_start && !found.is_integral() {
            return Err(InferError::ElementClass { operand, expected: "integers", found });
        }
        let expected = match (self, like) {
            (Self::Select, None) => ElementType::Pred,
            // The first of the places where a slice begins, which are numbers of one type.
            (Self::DynamicSlice(_) | Self::DynamicUpdateSlice, None) => operands[first_start].element_type(),
            (_, Some(like)) => operands[like].element_type(),
            (_, None) => found,
        };
        if !element_types_agree(expected, found) {
            return Err(InferError::ElementType { operand, expected, found });
        }
        let scalar = match self {
            Self::Pad(_) | Self::Reduce { .. } | Self::ReduceWindow(_) => operand > 0,
            _ => operand >= first_start,
        };
        let num_dimensions = operands[operand].num_dimensions();
        if scalar && num_dimensions > 0 {
            return Err(InferError::NotAScalar { operand, num_dimensions });
        }
        match self.elementwise() {
            Some(elementwise) => elementwise.check(operand, found),
            None => Ok(()),
        }
    }

    /// How many dimensions the result has; `None` if only the program knows.
    pub(super) const fn num_dimensions(&self, operands: &[&ArrayShape]) -> Option<usize> {
        match self {
            Self::Broadcast { .. } | Self::Iota { .. } | Self::Reshape => None,
            Self::Reduce { dimensions } => Some(operands[0].num_dimensions().saturating_sub(dimensions.len())),
            Self::Dot(dimensions) => {
                Some(dimensions.num_dimensions(operands[0].dimensions(), operands[1].dimensions()))
            }
            Self::Convolution { dimensions, .. } => Some(dimensions.output_spatial.len().saturating_add(2)),
            Self::Select | Self::Clamp => Some(operands[1].num_dimensions()),
            _ => Some(operands[0].num_dimensions()),
        }
    }

    /// Writes the dimensions of the result, or those that are `given` if the rule only checks them.
    pub(super) const fn infer(
        &self,
        operands: &[&ArrayShape],
        given: &[Dimension],
        inferred: &mut [Dimension],
    ) -> Result<(), InferError> {
        if given.len() == inferred.len() {
            inferred.copy_from_slice(given);
        }
        if let Self::Iota { dimension } = self {
            return iota(*dimension, given);
        }
        let operand = operands[0].dimensions();
        match self {
            Self::Elementwise | Self::Named(_) | Self::Compare | Self::Convert | Self::Concatenate { .. } => {
                let mut found = self.begin(operand, inferred);
                let mut i = 1;
                while i < operands.len() && found.is_ok() {
                    let other = operands[i].dimensions();
                    found = match self {
                        Self::Concatenate { dimension } => rearrange::append(inferred, other, *dimension),
                        _ => elementwise::join(inferred, other),
                    };
                    i = i.saturating_add(1);
                }
                found
            }
            Self::Select => select(operand, operands[1].dimensions(), operands[2].dimensions(), inferred),
            Self::Clamp => clamp(operand, operands[1].dimensions(), operands[2].dimensions(), inferred),
            Self::Broadcast { dimensions } => broadcast(operand, dimensions, given),
            Self::Iota { dimension } => iota(*dimension, given),
            Self::Reshape => reshape(operand, given),
            Self::Transpose { dimensions } => transpose(operand, dimensions, inferred),
            Self::Reverse { dimensions } => reverse(operand, dimensions, inferred),
            Self::Slice(slices) => slice(operand, slices, inferred),
            Self::Pad(padding) => pad(operand, padding, inferred),
            Self::Reduce { dimensions } => reduce(operand, dimensions, inferred),
            Self::ReduceWindow(window) => reduce_window(operand, window, inferred),
            Self::DynamicSlice(sizes) => dynamic_slice(operand, sizes, inferred),
            Self::DynamicUpdateSlice => dynamic_update_slice(operand, operands[1].dimensions(), inferred),
            Self::Dot(dimensions) => dot(operand, operands[1].dimensions(), *dimensions, inferred),
            Self::Convolution { dimensions, window, groups } => {
                convolution(operand, operands[1].dimensions(), *dimensions, window, *groups, inferred)
            }
        }
    }

    /// The result of the first operand alone.
    const fn begin(&self, operand: &[Dimension], inferred: &mut [Dimension]) -> Result<(), InferError> {
        if let Self::Concatenate { dimension } = self
            && let Err(error) = check_dimensions("`dimensions`", &[*dimension], operand.len())
        {
            return Err(error);
        }
        elementwise(&[operand], inferred)
    }

    /// The element type that follows from those of the operands; `None` if the program says which.
    pub(super) const fn element_type(&self, operands: &[&ArrayShape]) -> Option<ElementType> {
        let highest = match self {
            Self::Iota { .. }
            | Self::Reduce { .. }
            | Self::ReduceWindow(_)
            | Self::Dot(_)
            | Self::Convolution { .. } => return None,
            Self::Clamp => return Some(operands[1].element_type()),
            Self::Select => highest_precision(operands.split_at(1).1),
            Self::DynamicSlice(_) | Self::DynamicUpdateSlice => return Some(operands[0].element_type()),
            _ => highest_precision(operands),
        };
        match self.elementwise() {
            Some(elementwise) => elementwise.result(highest),
            None => Some(highest),
        }
    }

    const fn sentence(
        &self,
        problem: &Problem,
        operands: &[&ArrayShape],
        result: &ArrayShape,
        inferred: &[Dimension; MAX_INFERRED_DIMENSIONS],
    ) -> ConstText<1024> {
        let mut text = ConstText::new();
        let mut sink = text.sink();
        write_without_layout(&mut sink, result.element_type(), result.dimensions());
        sink.text(" is not the result of ");
        sink.text(self.name());
        sink.byte(b'(');
        let mut i = 0;
        while i < operands.len() {
            sink.text(if i > 0 { ", " } else { "" });
            write_without_layout(&mut sink, operands[i].element_type(), operands[i].dimensions());
            i = i.saturating_add(1);
        }
        sink.text("): ");
        match problem {
            Problem::Infer(error) => error.write(&mut sink),
            Problem::Result(element_type) => {
                sink.text("expected ");
                write_without_layout(&mut sink, *element_type, inferred.split_at(result.num_dimensions()).0);
                sink.text(", found ");
                write_without_layout(&mut sink, result.element_type(), result.dimensions());
            }
            Problem::TooManyDimensions => {
                sink.text("expected at most ");
                sink.count(MAX_INFERRED_DIMENSIONS);
                sink.text(" dimensions, found ");
                sink.count(result.num_dimensions());
            }
        }
        text
    }
}

/// Of the element types of some operands, the one that holds most; the first of those of which none does.
const fn highest_precision(operands: &[&ArrayShape]) -> ElementType {
    let mut highest = operands[0].element_type();
    let mut i = 1;
    while i < operands.len() {
        if let Some(found) = highest.higher_precision_type(operands[i].element_type()) {
            highest = found;
        }
        i = i.saturating_add(1);
    }
    highest
}

/// Whether the operands have floats of more than one precision.
const fn is_mixed(operands: &[&ArrayShape]) -> bool {
    let mut first = None;
    let mut i = 0;
    while i < operands.len() {
        let found = operands[i].element_type();
        match first {
            None if found.is_floating() => first = Some(found),
            Some(first) if found.is_floating() && !ElementType::same(first, found) => return true,
            _ => {}
        }
        i = i.saturating_add(1);
    }
    false
}
