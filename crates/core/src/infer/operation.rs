//! [`Operation`]: an operation on arrays with its attributes, and the check of its result, also in a `const`.

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

/// An operation on arrays with its attributes: it checks operands and infers the shape of the result.
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
    /// An elementwise operation (`add`, `exponential`, …) on any number of operands of any element type.
    Elementwise,
    /// The elementwise operation of this name, which checks the element types.
    Named(Elementwise),
    /// `compare`: two operands; the result has `pred` elements.
    Compare,
    /// `convert`: the same dimensions, in any element type.
    Convert,
    /// `select`: a predicate, which has the same dimensions or is a scalar, and two values.
    Select,
    /// `clamp`: the lower bound, the operand and the upper bound; bounds may be scalars.
    Clamp,
    /// `broadcast`: dimension `i` of the operand becomes dimension `dimensions[i]` of the result.
    Broadcast {
        /// A dimension of the result for each of the operand.
        dimensions: &'a [usize],
    },
    /// `iota`: no operand; the result counts along a dimension.
    Iota {
        /// The dimension.
        dimension: usize,
    },
    /// `reshape`: the same elements, in row-major order.
    Reshape,
    /// `transpose`: dimension `i` of the result is dimension `dimensions[i]` of the operand.
    Transpose {
        /// A permutation.
        dimensions: &'a [usize],
    },
    /// `reverse`: reverses the order of the elements along some dimensions.
    Reverse {
        /// The dimensions.
        dimensions: &'a [usize],
    },
    /// `slice`: the indices that it takes in each dimension.
    Slice(&'a [SliceDimension]),
    /// `pad`: the operand and the padding value, a scalar. Holds the padding of each dimension.
    Pad(&'a [PaddingDimension]),
    /// `concatenate`: joins the operands along a dimension.
    Concatenate {
        /// The dimension.
        dimension: usize,
    },
    /// `reduce`: the operand and the initial value, a scalar. The result has the element type of the reducing
    /// computation.
    Reduce {
        /// The dimensions that are reduced.
        dimensions: &'a [usize],
    },
    /// `reduce-window`: the operand and the initial value, a scalar. Holds the window of each dimension. Element types
    /// are as for `reduce`.
    ReduceWindow(&'a [WindowDimension]),
    /// `dynamic-slice`: the operand, then a scalar start index for each of its dimensions. Holds the sizes of the
    /// slice.
    DynamicSlice(&'a [u64]),
    /// `dynamic-update-slice`: the operand, the update, then a scalar start index for each dimension.
    DynamicUpdateSlice,
    /// `dot`: the operands may have any element types; the program chooses that of the result.
    Dot(DotDimensions<'a>),
    /// `convolution`: the operands may have any element types; the program chooses that of the result.
    Convolution {
        /// What the dimensions mean.
        dimensions: ConvolutionDimensions<'a>,
        /// One entry for each spatial dimension.
        window: &'a [WindowDimension],
        /// The numbers of groups.
        groups: ConvolutionGroups,
    },
}

/// The reason for an [`obstacle`](Operation::obstacle), before it becomes text.
enum Problem {
    Infer(InferError),
    /// The inferred result differs from the given one. The inferred one has this element type; its dimensions are in
    /// the caller's array.
    Result(ElementType),
    TooManyDimensions,
}

impl Operation<'_> {
    /// XLA's name of the operation; [`Elementwise`](Self::Elementwise) is `elementwise`.
    ///
    /// ```
    /// use xla_shape_core::infer::Operation;
    ///
    /// assert_eq!(Operation::DynamicSlice(&[8, 128]).name(), "dynamic-slice");
    /// ```
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

    /// Why operands of these shapes do not give a result of this shape, as text; `None` if they do.
    ///
    /// Ignores layouts. Compares sizes with [`agree`](super::agree) and element types with [`element_types_agree`].
    /// Operands and result may have up to 32 dimensions.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_core::infer::Operation;
    ///
    /// let (x, y): (ArrayShape, ArrayShape) = ("f32[8,64]".parse()?, "f32[64,8]".parse()?);
    /// let transpose = Operation::Transpose { dimensions: &[1, 0] };
    /// assert!(transpose.obstacle(&[&x], &y).is_none());
    /// assert_eq!(
    ///     transpose.obstacle(&[&x], &x).unwrap().as_str(),
    ///     "f32[8,64] is not the result of transpose(f32[8,64]): expected f32[64,8], found f32[8,64]"
    /// );
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn obstacle(&self, operands: &[&ArrayShape], result: &ArrayShape) -> Option<ConstText<1024>> {
        let mut inferred_dimensions = [Dimension::Unbounded; MAX_INFERRED_DIMENSIONS];
        match self.check(operands, result, &mut inferred_dimensions) {
            Ok(()) => None,
            Err(problem) => Some(self.sentence(&problem, operands, result, &inferred_dimensions)),
        }
    }

    const fn check(
        &self,
        operands: &[&ArrayShape],
        result: &ArrayShape,
        inferred_dimensions: &mut [Dimension; MAX_INFERRED_DIMENSIONS],
    ) -> Result<(), Problem> {
        let num_dimensions = result.num_dimensions();
        if num_dimensions > MAX_INFERRED_DIMENSIONS {
            return Err(Problem::TooManyDimensions);
        }
        if let Err(error) = self.check_operands(operands) {
            return Err(Problem::Infer(error));
        }
        let inferred = inferred_dimensions.split_at_mut(num_dimensions).0;
        if let Err(error) = self.infer(operands, result.dimensions(), inferred) {
            return Err(Problem::Infer(error));
        }
        let given = result.element_type();
        let element_type = match self.element_type(operands) {
            // If the operands have floats of different precision, the program chooses the precision of the result.
            Some(found) if element_types_agree(found, given) && is_mixed(operands) => given,
            Some(found) => found,
            None => given,
        };
        if ElementType::same(element_type, given) && all_agree(inferred, result.dimensions()) {
            return Ok(());
        }
        Err(Problem::Result(element_type))
    }

    /// The elementwise operation; `None` if it is another operation.
    pub(super) const fn elementwise(&self) -> Option<Elementwise> {
        match self {
            Self::Elementwise => Some(Elementwise::UNNAMED),
            Self::Named(elementwise) => Some(*elementwise),
            Self::Compare => Some(Elementwise::COMPARE),
            Self::Convert => Some(Elementwise::CONVERT),
            _ => None,
        }
    }

    /// The smallest number of operands, and the largest if there is a limit.
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
                first + starts
            }
            _ => 2,
        };
        (number, Some(number))
    }

    /// Checks the number of operands, their element types, and which of them must be scalars.
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
            i += 1;
        }
        Ok(())
    }

    const fn check_operand(&self, operands: &[&ArrayShape], operand: usize) -> Result<(), InferError> {
        // The operand whose element type this one must have.
        let like = match self {
            Self::Select if operand == 0 => None,
            Self::Select | Self::Clamp => Some(1),
            Self::DynamicSlice(_) if operand > 0 => None,
            Self::DynamicUpdateSlice if operand > 1 => None,
            // Any two types, such as s4 and bf16.
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
            // All start indices have the type of the first one.
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

    /// The number of dimensions of the result; `None` if it does not follow from the operands.
    pub(super) const fn num_dimensions(&self, operands: &[&ArrayShape]) -> Option<usize> {
        match self {
            Self::Broadcast { .. } | Self::Iota { .. } | Self::Reshape => None,
            Self::Reduce { dimensions } => Some(operands[0].num_dimensions().saturating_sub(dimensions.len())),
            Self::Dot(dimensions) => {
                Some(dimensions.num_dimensions(operands[0].dimensions(), operands[1].dimensions()))
            }
            Self::Convolution { dimensions, .. } => Some(dimensions.output_spatial.len() + 2),
            Self::Select | Self::Clamp => Some(operands[1].num_dimensions()),
            _ => Some(operands[0].num_dimensions()),
        }
    }

    /// Writes the dimensions of the result to `inferred`. Where the rule only checks a result, these are the `given`
    /// dimensions.
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
                let mut found = self.infer_first(operand, inferred);
                let mut i = 1;
                while i < operands.len() && found.is_ok() {
                    let other = operands[i].dimensions();
                    found = match self {
                        Self::Concatenate { dimension } => rearrange::append(inferred, other, *dimension),
                        _ => elementwise::join(inferred, other),
                    };
                    i += 1;
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

    /// The result of an elementwise operation or a concatenation that has only the first operand.
    const fn infer_first(&self, operand: &[Dimension], inferred: &mut [Dimension]) -> Result<(), InferError> {
        if let Self::Concatenate { dimension } = self
            && let Err(error) = check_dimensions("`dimensions`", &[*dimension], operand.len())
        {
            return Err(error);
        }
        elementwise(&[operand], inferred)
    }

    /// The element type of the result, computed from the operands' element types; `None` if the program declares it.
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
            i += 1;
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

/// The element type of the highest precision among the operands'; the first operand's where types cannot be compared
/// (`primitive_util::HigherPrecisionType` in `xla/primitive_util.h`).
const fn highest_precision(operands: &[&ArrayShape]) -> ElementType {
    let mut highest = operands[0].element_type();
    let mut i = 1;
    while i < operands.len() {
        if let Some(found) = highest.higher_precision_type(operands[i].element_type()) {
            highest = found;
        }
        i += 1;
    }
    highest
}

/// Whether the operands have different float types.
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
        i += 1;
    }
    false
}
