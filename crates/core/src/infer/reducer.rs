//! Operations that call a computation for elements: reductions, maps, scans and sorts.

use super::operands::{
    Callee, Operands, Result, default_array, dimension, is_predicate, one_or_tuple, same_dimensions, tuple, without,
};
use super::{AGREES, InferError, WindowDimension, element_types_agree};
use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

type ShapeResult<'a> = Result<Cow<'a, Shape>>;

/// The element type of a scalar; `None` for any other shape.
fn scalar(shape: &Shape) -> Option<ElementType> {
    shape.array().filter(|array| array.num_dimensions() == 0).map(ArrayShape::element_type)
}

/// The element types of a scalar or a tuple of scalars.
fn scalars(attribute: &'static str, result: &Shape) -> Result<Vec<ElementType>> {
    let all: Option<Vec<_>> = match result.tuple_shapes() {
        Some(elements) => elements.iter().map(scalar).collect(),
        None => scalar(result).map(|only| vec![only]),
    };
    let expected = "a scalar, or a tuple of scalars";
    all.ok_or(InferError::Callee { attribute, parameter: None, expected })
}

/// Checks that a computation combines accumulators whose initial values have the types `initial` with elements of the
/// types `elements` (`VerifyReducerShape` in `xla/service/shape_inference.cc`). Returns the types of its results.
pub(super) fn check_reducer(
    attribute: &'static str,
    reducer: Callee<'_>,
    initial: &[ElementType],
    elements: &[ElementType],
) -> Result<Vec<ElementType>> {
    reducer.exactly(attribute, initial.len() + elements.len())?;
    let results = scalars(attribute, reducer.result)?;
    if results.len() != initial.len() || (initial.len() != 1 && reducer.result.tuple_shapes().is_none()) {
        let (what, expected, found) = ("results of the called computation", initial.len(), results.len());
        return Err(InferError::Count { what, expected, found });
    }
    let parameter = |number: usize| reducer.parameters.get(number).and_then(|&shape| scalar(shape));
    for (number, (&result, (&initial, &element))) in results.iter().zip(initial.iter().zip(elements)).enumerate() {
        let error = |parameter, expected| InferError::Callee { attribute, parameter: Some(parameter), expected };
        // The first parameters are the accumulators so far: what one call returns, the next one takes. So they have exactly the types of
        // the results.
        if parameter(number) != Some(result) {
            return Err(error(number, "of the same type as the result"));
        }
        if !element_types_agree(result, initial) {
            let (parameter, expected) = (None, "of the type of the initial value");
            return Err(InferError::Callee { attribute, parameter, expected });
        }
        // The others are elements. Their precision may differ: XLA adds bf16 elements to a sum in f32.
        let second = number + results.len();
        let fits = |found| element_types_agree(element, found) && element_types_agree(result, found);
        if !parameter(second).is_some_and(fits) {
            return Err(error(second, "of the type of the operand's elements"));
        }
    }
    Ok(results)
}

/// Checks operands that are inputs of the same dimensions followed by as many scalar initial values. Returns the
/// element types of the results and the dimensions of the inputs.
fn inputs<'a>(operands: Operands<'_, 'a>, to_apply: Callee<'_>) -> Result<(Vec<ElementType>, &'a [Dimension])> {
    operands.at_least(2)?;
    let count = operands.len() / 2;
    operands.exactly(count * 2)?;
    let arrays = operands.arrays()?;
    let (inputs, initial) = arrays.split_at_checked(count).unwrap_or_default();
    for operand in 1..count {
        operands.same_dimensions(operand, 0)?;
    }
    for operand in count..operands.len() {
        operands.scalar(operand)?;
    }
    let types = |arrays: &[&ArrayShape]| arrays.iter().map(|array| array.element_type()).collect::<Vec<_>>();
    let results = check_reducer("to_apply", to_apply, &types(initial), &types(inputs))?;
    Ok((results, operands.array(0)?.dimensions()))
}

/// An array of these dimensions for each result: a tuple if the computation returns one, else a single array.
fn results<'a>(types: &[ElementType], dimensions: &[Dimension], to_apply: Callee<'_>) -> ShapeResult<'a> {
    let shapes =
        types.iter().map(|&element_type| default_array(element_type, dimensions)).collect::<Result<Vec<_>>>()?;
    if to_apply.result.tuple_shapes().is_some() { tuple(shapes) } else { one_or_tuple(shapes) }
}

/// The rule of `ShapeInference::InferReduceShape` in `xla/service/shape_inference.cc`.
pub(super) fn reduce<'a>(operands: Operands<'_, 'a>, dropped: &[usize], to_apply: Callee<'_>) -> ShapeResult<'a> {
    let (types, dimensions) = inputs(operands, to_apply)?;
    let mut result = without(dimensions, dropped);
    super::reduce(dimensions, dropped, &mut result)?;
    results(&types, &result, to_apply)
}

/// The rule of `ShapeInference::InferReduceWindowShape` in `xla/service/shape_inference.cc`.
pub(super) fn reduce_window<'a>(
    operands: Operands<'_, 'a>,
    window: &[WindowDimension],
    to_apply: Callee<'_>,
) -> ShapeResult<'a> {
    let (_, dimensions) = inputs(operands, to_apply)?;
    let mut result = vec![Dimension::Unbounded; dimensions.len()];
    super::reduce_window(dimensions, window, &mut result)?;
    // Unlike those of a reduction, the results have the types of the initial values.
    let initial = operands.len() / 2..operands.len();
    let types: Vec<_> =
        initial.map(|operand| operands.array(operand).map(ArrayShape::element_type)).collect::<Result<_>>()?;
    results(&types, &result, to_apply)
}

/// The rule of `ShapeInference::InferSelectAndScatterShape` in `xla/service/shape_inference.cc`.
pub(super) fn select_and_scatter<'a>(
    operands: Operands<'_, 'a>,
    window: &[WindowDimension],
    select: Callee<'_>,
    scatter: Callee<'_>,
) -> ShapeResult<'a> {
    operands.exactly(3)?;
    let (array, source, initial) = (operands.array(0)?, operands.array(1)?, operands.array(2)?);
    check_comparator("select", select, &[array.element_type()])?;
    operands.scalar(2)?;
    check_reducer("scatter", scatter, &[initial.element_type()], &[source.element_type()])?;
    operands.like(1, 0)?;
    let mut windows = vec![Dimension::Unbounded; array.num_dimensions()];
    super::reduce_window(array.dimensions(), window, &mut windows)?;
    same_dimensions("operand 1", &windows, source.dimensions())?;
    operands.shape(0).map(Cow::Borrowed)
}

/// Checks that a computation compares two elements of each of these types.
fn check_comparator(attribute: &'static str, callee: Callee<'_>, types: &[ElementType]) -> Result<()> {
    if !is_predicate(callee.result) {
        return Err(InferError::Callee { attribute, parameter: None, expected: "pred[]" });
    }
    callee.exactly(attribute, types.len() * 2)?;
    for (number, (parameter, &element)) in
        callee.parameters.iter().zip(types.iter().flat_map(|element| [element, element])).enumerate()
    {
        if !scalar(parameter).is_some_and(|found| element_types_agree(element, found)) {
            let expected = "of the type of the operand's elements";
            return Err(InferError::Callee { attribute, parameter: Some(number), expected });
        }
    }
    Ok(())
}

/// The rule of `ShapeInference::InferMapShape` in `xla/service/shape_inference.cc`. `all` says whether to check that
/// `dimensions` names all dimensions; XLA's verifier does not check them.
pub(super) fn map<'a>(
    operands: Operands<'_, 'a>,
    dimensions: &[usize],
    to_apply: Callee<'_>,
    all: bool,
) -> ShapeResult<'a> {
    operands.at_least(1)?;
    if all && !dimensions.iter().copied().eq(0..operands.array(0)?.num_dimensions()) {
        return Err(InferError::Unexpected { what: "`dimensions`", expected: "all dimensions in order" });
    }
    let attribute = "to_apply";
    to_apply.exactly(attribute, operands.len())?;
    let Some(result) = scalar(to_apply.result) else {
        return Err(InferError::Callee { attribute, parameter: None, expected: "a scalar" });
    };
    for (operand, parameter) in to_apply.parameters.iter().enumerate() {
        operands.same_dimensions(operand, 0)?;
        let element = operands.array(operand)?.element_type();
        if !scalar(parameter).is_some_and(|found| element_types_agree(element, found)) {
            let expected = "of the type of the operand's elements";
            return Err(InferError::Callee { attribute, parameter: Some(operand), expected });
        }
    }
    default_array(result, operands.array(0)?.dimensions()).map(Cow::Owned)
}

/// The computation runs once for each slice of the inputs. The results are its output slices, stacked along the
/// dimension, and the final carries (`ShapeVerifier::HandleScan` in `xla/service/hlo_verifier.cc`).
pub(super) fn scan<'a>(
    operands: Operands<'_, 'a>,
    along: usize,
    carries: usize,
    to_apply: Callee<'_>,
    declared: Option<&Shape>,
) -> ShapeResult<'a> {
    let attribute = "to_apply";
    operands.at_least(carries + 1)?;
    to_apply.exactly(attribute, operands.len())?;
    let size = dimension("`dimensions`", operands.array(0)?.dimensions(), along)?;
    let all = to_apply.result.tuple_shapes().unwrap_or(core::slice::from_ref(to_apply.result));
    let Some(outputs) = all.len().checked_sub(carries) else {
        let (what, expected, found) = ("results of the called computation", carries, all.len());
        return Err(InferError::Count { what, expected, found });
    };
    // Check this before the results are made: many instructions may call a computation with many results.
    let found = declared.map(|shape| shape.tuple_shapes().map_or(1, <[Shape]>::len));
    if let Some(found) = found.filter(|&found| found != all.len()) {
        return Err(InferError::Count { what: "results", expected: all.len(), found });
    }
    // XLA's parser looks only at the first operand, its verifier at all of them.
    if declared.is_some() {
        check_scanned(operands, along, size, carries, to_apply)?;
    }
    let (slices, carried) = all.split_at_checked(outputs).unwrap_or((all, &[]));
    let mut results = Vec::with_capacity(all.len());
    for slice in slices {
        let expected = "arrays, except the carries";
        let array = slice.array().ok_or(InferError::Callee { attribute, parameter: None, expected })?;
        let mut dimensions = array.dimensions().to_vec();
        dimensions.insert(along.min(dimensions.len()), size);
        results.push(default_array(array.element_type(), &dimensions)?);
    }
    results.extend_from_slice(carried);
    match <[Shape; 1]>::try_from(results) {
        Ok([only]) if to_apply.result.tuple_shapes().is_none() => Ok(Cow::Owned(only)),
        Ok(one) => tuple(one.into()),
        Err(results) => tuple(results),
    }
}

/// Checks that the parameters of a computation are the slices of the inputs, followed by the carries.
fn check_scanned(
    operands: Operands<'_, '_>,
    along: usize,
    size: Dimension,
    carries: usize,
    to_apply: Callee<'_>,
) -> Result<()> {
    let inputs = operands.len().saturating_sub(carries);
    for (number, (operand, &parameter)) in operands.0.iter().zip(to_apply.parameters).enumerate() {
        let agrees = AGREES.ignore_fp_precision();
        let fits = if number < inputs {
            let array = operands.array(number)?;
            let found = dimension("`dimensions`", array.dimensions(), along)?;
            if found != size {
                let what = "a scanned operand";
                return Err(InferError::SizeMismatch { what, dimension: along, expected: size, found });
            }
            agrees.compare(&default_array(array.element_type(), &without(array.dimensions(), &[along]))?, parameter)
        } else {
            agrees.compare(operand, parameter)
        };
        if !fits {
            let expected = "of the shape of its operand";
            return Err(InferError::Callee { attribute: "to_apply", parameter: Some(number), expected });
        }
    }
    Ok(())
}

/// The rule of `ShapeInference::InferShuffleShape` in `xla/service/shape_inference.cc`.
pub(super) fn shuffle<'a>(operands: Operands<'_, 'a>, dimensions: &[usize]) -> ShapeResult<'a> {
    operands.exactly(1)?;
    for &number in dimensions {
        dimension("`dimensions`", operands.array(0)?.dimensions(), number)?;
    }
    operands.shape(0).map(Cow::Borrowed)
}

/// The rule of `ShapeVerifier::HandleSort` in `xla/service/hlo_verifier.cc`. `checked` is the dimension and the
/// comparator to check; `None` if only the shape is wanted.
pub(super) fn sort<'a>(operands: Operands<'_, 'a>, checked: Option<(usize, Option<Callee<'_>>)>) -> ShapeResult<'a> {
    operands.at_least(1)?;
    let arrays = operands.arrays()?;
    if let Some((number, _)) = checked {
        dimension("`dimensions`", operands.array(0)?.dimensions(), number)?;
    }
    for operand in 1..operands.len() {
        operands.same_dimensions(operand, 0)?;
    }
    if let Some((_, Some(to_apply))) = checked {
        let types: Vec<_> = arrays.iter().map(|array| array.element_type()).collect();
        check_comparator("to_apply", to_apply, &types)?;
    }
    match operands.0 {
        [only] => Ok(Cow::Borrowed(*only)),
        all => tuple(all.iter().map(|&shape| shape.clone()).collect()),
    }
}
