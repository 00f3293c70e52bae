//! Linear algebra, FFT, batch normalization, conversions, random numbers, and operations on sizes.

use super::InferError;
use super::operands::{Operands, Result, default_array, default_result, dimension, same_dimensions, tuple, with_type};
use crate::element_type::{ElementClass, ElementType};
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::borrow::Cow;
use alloc::vec;

type ShapeResult<'a> = Result<Cow<'a, Shape>>;

const FLOATS: &str = "floats";
const NUMBERS: &str = "floats or complex numbers";

const fn is_float_or_complex(element_type: ElementType) -> bool {
    element_type.is_floating() || element_type.is_complex()
}

/// The element type that the program declares for the result.
fn declared_type(declared: Option<&Shape>) -> Result<ElementType> {
    declared.and_then(Shape::array).map(ArrayShape::element_type).ok_or(InferError::NotInferred)
}

/// The rule of `ShapeInference::InferReducePrecisionShape` in `xla/service/shape_inference.cc`.
pub(super) fn reduce_precision<'a>(operands: Operands<'_, 'a>, exponent_bits: usize) -> ShapeResult<'a> {
    operands.exactly(1)?;
    operands.class(0, FLOATS, ElementType::is_floating)?;
    if exponent_bits == 0 {
        return Err(InferError::Unexpected { what: "`exponent_bits`", expected: "at least 1" });
    }
    operands.shape(0).map(Cow::Borrowed)
}

/// Splitting wide elements adds a minor dimension of narrow ones; joining narrow elements removes the last dimension
/// (`ShapeInference::InferBitcastConvertShape` in `xla/service/shape_inference.cc`).
pub(super) fn bitcast_convert<'a>(operands: Operands<'_, 'a>, declared: Option<&Shape>) -> ShapeResult<'a> {
    operands.exactly(1)?;
    let (array, to) = (operands.array(0)?, declared_type(declared)?);
    let from = array.element_type();
    if from.is_complex() != to.is_complex() {
        let expected = if from.is_complex() { "complex numbers" } else { "real numbers" };
        return Err(InferError::Unexpected { what: "the elements of the result", expected });
    }
    let (before, after) = (from.packed_bits(), to.packed_bits());
    let mut dimensions = array.dimensions().to_vec();
    if before == after {
        return with_type(array, to);
    }
    // Narrower elements take one more dimension, `f32[4]` to `bf16[4,2]`. Wider elements remove the last dimension.
    let (wide, narrow) = (before.max(after), before.min(after));
    let Some(ratio) = wide.checked_div(narrow).filter(|_| wide.is_multiple_of(narrow)) else {
        return Err(InferError::Unexpected {
            what: "the bits of one element",
            expected: "a multiple of those of the other",
        });
    };
    if before > after {
        dimensions.push(Dimension::Static(ratio));
    } else {
        let (last, expected) = (dimensions.len().saturating_sub(1), Dimension::Static(ratio));
        let found = dimension("the operand", &dimensions, last)?;
        if !super::agree(expected, found) {
            return Err(InferError::SizeMismatch { what: "the operand", dimension: last, expected, found });
        }
        dimensions.pop();
    }
    default_result(to, &dimensions)
}

/// The rule of `ShapeInference::InferStochasticConvertShape` in `xla/service/shape_inference.cc`.
pub(super) fn stochastic_convert<'a>(operands: Operands<'_, 'a>, declared: Option<&Shape>) -> ShapeResult<'a> {
    operands.exactly(2)?;
    operands.class(0, FLOATS, ElementType::is_floating)?;
    operands.class(1, "unsigned integers", |found| matches!(found.class(), ElementClass::UnsignedInteger))?;
    let (array, random) = (operands.array(0)?, operands.array(1)?);
    if array.element_type().bits() != random.element_type().bits() {
        return Err(InferError::Unexpected { what: "a random number", expected: "of as many bits as an element" });
    }
    operands.same_dimensions(1, 0)?;
    with_type(array, declared_type(declared)?)
}

/// The rule of `ShapeInference::InferGetDimensionSizeShape` in `xla/service/shape_inference.cc`.
pub(super) fn get_dimension_size<'a>(operands: Operands<'_, 'a>, number: usize) -> ShapeResult<'a> {
    operands.exactly(1)?;
    check_size_fits_s32(operands.array(0)?, number)?;
    default_result(ElementType::S32, &[])
}

/// Checks that the dimension exists and that its size fits in an `s32`.
fn check_size_fits_s32(array: &ArrayShape, number: usize) -> Result<()> {
    let size = dimension("`dimensions`", array.dimensions(), number)?;
    if size.extent().is_some_and(|size| i32::try_from(size).is_err()) {
        return Err(InferError::Unexpected { what: "the size of the dimension", expected: "less than 2^31" });
    }
    Ok(())
}

/// The rule of `ShapeInference::InferSetDimensionSizeShape` in `xla/service/shape_inference.cc`.
pub(super) fn set_dimension_size<'a>(operands: Operands<'_, 'a>, number: usize) -> ShapeResult<'a> {
    operands.exactly(2)?;
    let array = operands.array(0)?;
    check_size_fits_s32(array, number)?;
    operands.scalar(1)?;
    operands.class(1, "s32", |found| found == ElementType::S32)?;
    let mut dimensions = array.dimensions().to_vec();
    if let Some(dimension) = dimensions.get_mut(number)
        && let Some(size) = dimension.extent()
    {
        *dimension = Dimension::Bounded(size);
    }
    match ArrayShape::new(array.element_type(), &dimensions, array.layout().clone()) {
        Ok(array) => Ok(Cow::Owned(Shape::Array(array))),
        Err(_) => default_result(array.element_type(), &dimensions),
    }
}

/// The rule of `ShapeVerifier::HandleRng` in `xla/service/hlo_verifier.cc`. Some programs have more operands after the two limits, such as
/// the dimensions of the result as an array; XLA compiles these programs and ignores the operands.
pub(super) fn rng<'a>(operands: Operands<'_, 'a>, normal: bool, declared: Option<&'a Shape>) -> ShapeResult<'a> {
    operands.at_least(2)?;
    operands.scalar(0)?;
    operands.scalar(1)?;
    let expected = operands.array(0)?.element_type();
    let found = operands.array(1)?.element_type();
    if expected != found {
        return Err(InferError::ElementType { operand: 1, expected, found });
    }
    match normal {
        true => operands.class(0, FLOATS, ElementType::is_floating)?,
        false => operands.class(0, "anything but complex numbers", |found| !found.is_complex())?,
    }
    let result = declared.and_then(Shape::array).ok_or(InferError::NotInferred)?;
    with_type(result, expected)
}

/// The rule of `ShapeVerifier::HandleRngBitGenerator` in `xla/service/hlo_verifier.cc`.
pub(super) fn rng_bit_generator<'a>(operands: Operands<'_, 'a>, declared: Option<&'a Shape>) -> ShapeResult<'a> {
    operands.exactly(1)?;
    let declared = declared.ok_or(InferError::NotInferred)?;
    match declared.tuple_shapes() {
        Some([_, bits]) => tuple(vec![operands.shape(0)?.clone(), bits.clone()]),
        Some(elements) => Err(InferError::Count { what: "elements in the result", expected: 2, found: elements.len() }),
        None => Ok(Cow::Borrowed(declared)),
    }
}

/// The rule of `ShapeInference::InferDynamicReshapeShape` in `xla/service/shape_inference.cc`.
pub(super) fn dynamic_reshape<'a>(operands: Operands<'_, 'a>, declared: Option<&'a Shape>) -> ShapeResult<'a> {
    operands.at_least(1)?;
    let (array, result) = (operands.array(0)?, declared.and_then(Shape::array).ok_or(InferError::NotInferred)?);
    super::reshape(array.dimensions(), result.dimensions())?;
    operands.exactly(result.num_dimensions() + 1)?;
    for operand in 1..operands.len() {
        operands.class(operand, "s32", |found| found == ElementType::S32)?;
    }
    with_type(result, array.element_type())
}

/// The `k` largest elements along the last dimension, and their indices (`ShapeInference::InferTopKShape` in
/// `xla/service/shape_inference.cc`).
pub(super) fn top_k<'a>(operands: Operands<'_, 'a>, k: u64) -> ShapeResult<'a> {
    operands.exactly(1)?;
    let array = operands.array(0)?;
    let mut dimensions = array.dimensions().to_vec();
    let number = dimensions.len().saturating_sub(1);
    let Some(last) = dimensions.last_mut() else {
        return Err(InferError::DimensionOutOfRange { what: "the operand", dimension: 0, num_dimensions: 0 });
    };
    if let Some(size) = last.extent()
        && k > size
    {
        return Err(InferError::SliceOutOfRange { dimension: number, start: 0, limit: k, size });
    }
    *last = Dimension::Static(k);
    tuple(vec![default_array(array.element_type(), &dimensions)?, default_array(ElementType::S32, &dimensions)?])
}

/// The transform that an `fft` computes: `FftType` in `xla/xla_data.proto`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FftType {
    /// `FFT`: complex to complex, forward.
    Fft,
    /// `IFFT`: complex to complex, inverse.
    Ifft,
    /// `RFFT`: real to complex, forward. The other half of the result is symmetric and is left out.
    Rfft,
    /// `IRFFT`: complex to real, inverse.
    Irfft,
}

impl FftType {
    /// All of them, in the order of their numbers in `xla/xla_data.proto`.
    pub const ALL: [Self; 4] = [Self::Fft, Self::Ifft, Self::Rfft, Self::Irfft];

    /// XLA's name of the transform.
    ///
    /// ```
    /// use xla_shape_core::infer::FftType;
    ///
    /// assert_eq!(FftType::ALL.map(FftType::name), ["FFT", "IFFT", "RFFT", "IRFFT"]);
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fft => "FFT",
            Self::Ifft => "IFFT",
            Self::Rfft => "RFFT",
            Self::Irfft => "IRFFT",
        }
    }
}

/// The rule of `ShapeInference::InferFftShape` in `xla/service/shape_inference.cc`.
pub(super) fn fft<'a>(operands: Operands<'_, 'a>, fft_type: FftType, length: &[u64]) -> ShapeResult<'a> {
    operands.exactly(1)?;
    let array = operands.array(0)?;
    if length.is_empty() || length.len() > 3 {
        return Err(InferError::Unexpected { what: "`fft_length`", expected: "a list of 1 to 3 sizes" });
    }
    let Some(first) = array.num_dimensions().checked_sub(length.len()) else {
        let (expected, found) = (length.len(), array.num_dimensions());
        return Err(InferError::Count { what: "or more dimensions in the operand", expected, found });
    };
    match fft_type {
        FftType::Rfft => operands.class(0, "f32 or f64", |found| found.complex_type().is_some())?,
        _ => operands.class(0, "complex numbers", ElementType::is_complex)?,
    }
    if matches!(fft_type, FftType::Fft | FftType::Ifft) {
        return operands.shape(0).map(Cow::Borrowed);
    }
    let mut dimensions = array.dimensions().to_vec();
    let (last, size) = (array.num_dimensions().saturating_sub(1), length.last().copied().unwrap_or(0));
    // The transform of `size` real numbers has `size / 2 + 1` different complex ones: the rest are their conjugates.
    #[expect(clippy::arithmetic_side_effects, reason = "half of a `u64` is far from its limit")]
    let half = if size == 0 { 0 } else { size / 2 + 1 };
    let (has, gives) = if fft_type == FftType::Rfft { (size, half) } else { (half, size) };
    for (number, (&found, &expected)) in
        dimensions.iter().zip(core::iter::repeat_n(&0, first).chain(length)).enumerate()
    {
        let expected = Dimension::Static(if number == last { has } else { expected });
        if number >= first && !super::agree(expected, found) {
            return Err(InferError::SizeMismatch { what: "the operand", dimension: number, expected, found });
        }
    }
    if let Some(last) = dimensions.last_mut() {
        *last = super::sized(*last, gives);
    }
    // As checked above, the operand is complex, or has a type that complex numbers can consist of.
    let found = array.element_type();
    let element_type = found.complex_type().or_else(|| found.complex_component_type()).unwrap_or(found);
    match ArrayShape::new(element_type, &dimensions, array.layout().clone()) {
        Ok(array) => Ok(Cow::Owned(Shape::Array(array))),
        Err(_) => default_result(element_type, &dimensions),
    }
}

/// Checks that the last two dimensions have the same size. The result is the batch dimensions and that size.
fn square(array: &ArrayShape) -> Result<(&[Dimension], Dimension)> {
    let dimensions = array.dimensions();
    let Some((batch, &[rows, columns])) = dimensions.split_last_chunk::<2>() else {
        let found = dimensions.len();
        return Err(InferError::Count { what: "or more dimensions in operand 0", expected: 2, found });
    };
    if super::agree(rows, columns) {
        return Ok((batch, columns));
    }
    let (what, dimension) = ("operand 0", dimensions.len().saturating_sub(1));
    Err(InferError::SizeMismatch { what, dimension, expected: rows, found: columns })
}

/// The rule of `ShapeInference::InferCholeskyShape` in `xla/service/shape_inference.cc`.
pub(super) fn cholesky<'a>(operands: Operands<'_, 'a>) -> ShapeResult<'a> {
    operands.exactly(1)?;
    operands.class(0, NUMBERS, is_float_or_complex)?;
    square(operands.array(0)?)?;
    operands.shape(0).map(Cow::Borrowed)
}

/// The rule of `ShapeInference::InferTriangularSolveShape` in `xla/service/shape_inference.cc`.
pub(super) fn triangular_solve<'a>(operands: Operands<'_, 'a>, left_side: bool) -> ShapeResult<'a> {
    operands.exactly(2)?;
    operands.class(0, NUMBERS, is_float_or_complex)?;
    let (a, b) = (operands.array(0)?, operands.array(1)?);
    if a.element_type() != b.element_type() {
        let (expected, found) = (a.element_type(), b.element_type());
        return Err(InferError::ElementType { operand: 1, expected, found });
    }
    let (batch, size) = square(a)?;
    super::check_len("operand 1", a.num_dimensions(), b.num_dimensions())?;
    let number = b.num_dimensions().saturating_sub(if left_side { 2 } else { 1 });
    let found = dimension("operand 1", b.dimensions(), number)?;
    if !super::agree(size, found) {
        return Err(InferError::SizeMismatch { what: "operand 1", dimension: number, expected: size, found });
    }
    same_dimensions("operand 1", batch, b.dimensions().get(..batch.len()).unwrap_or(&[]))?;
    operands.shape(1).map(Cow::Borrowed)
}

/// Checks a batch normalization: operand 0 has floats, and the operands `vectors` have one entry for each feature. The
/// result is the shape of such a vector.
fn features<'a>(operands: Operands<'_, 'a>, feature: usize, vectors: core::ops::Range<usize>) -> Result<Shape> {
    operands.class(0, FLOATS, ElementType::is_floating)?;
    let array: &'a ArrayShape = operands.array(0)?;
    let count = dimension("`feature_index`", array.dimensions(), feature)?;
    for operand in vectors {
        operands.like(operand, 0)?;
        same_dimensions("a vector of features", &[count], operands.array(operand)?.dimensions())?;
    }
    default_array(array.element_type(), &[count])
}

/// The rule of `ShapeInference::InferBatchNormTrainingShape` in `xla/service/shape_inference.cc`.
pub(super) fn batch_norm_training<'a>(operands: Operands<'_, 'a>, feature: usize) -> ShapeResult<'a> {
    operands.exactly(3)?;
    let vector = features(operands, feature, 1..3)?;
    tuple(vec![operands.shape(0)?.clone(), vector.clone(), vector])
}

/// The rule of `ShapeInference::InferBatchNormInferenceShape` in `xla/service/shape_inference.cc`.
pub(super) fn batch_norm_inference<'a>(operands: Operands<'_, 'a>, feature: usize) -> ShapeResult<'a> {
    operands.exactly(5)?;
    features(operands, feature, 1..5)?;
    operands.shape(0).map(Cow::Borrowed)
}

/// The rule of `ShapeInference::InferBatchNormGradShape` in `xla/service/shape_inference.cc`.
pub(super) fn batch_norm_grad<'a>(operands: Operands<'_, 'a>, feature: usize) -> ShapeResult<'a> {
    operands.exactly(5)?;
    let vector = features(operands, feature, 1..4)?;
    operands.like(4, 0)?;
    operands.same_dimensions(4, 0)?;
    tuple(vec![operands.shape(0)?.clone(), vector.clone(), vector])
}
