//! Instructions that call computations, and asynchronous copies and transfers.

use super::operands::{Callee, Operands, Result, default_result, is_predicate, tuple};
use super::{AGREES, InferError};
use crate::element_type::ElementType;
use crate::shape::Shape;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

type ShapeResult<'a> = Result<Cow<'a, Shape>>;

/// Checks that the parameters of a computation have the shapes of these operands.
fn check_parameters(attribute: &'static str, callee: Callee<'_>, operands: &[&Shape]) -> Result<()> {
    callee.exactly(attribute, operands.len())?;
    let fits = |(operand, parameter): (&&Shape, &&Shape)| AGREES.compare(operand, parameter);
    match operands.iter().zip(callee.parameters).position(|pair| !fits(pair)) {
        Some(parameter) => {
            let expected = "of the shape of its operand";
            Err(InferError::Callee { attribute, parameter: Some(parameter), expected })
        }
        None => Ok(()),
    }
}

/// The rule of `ShapeVerifier::HandleCall` in `xla/service/hlo_verifier.cc` and `ShapeInference::InferCallShape` in
/// `xla/service/shape_inference.cc`.
pub(super) fn call<'a>(operands: Operands<'_, 'a>, attribute: &'static str, callee: Callee<'a>) -> ShapeResult<'a> {
    check_parameters(attribute, callee, operands.0)?;
    Ok(Cow::Borrowed(callee.result))
}

/// The rule of `ShapeInference::InferWhileShape` in `xla/service/shape_inference.cc`.
pub(super) fn while_loop<'a>(operands: Operands<'_, 'a>, condition: Callee<'a>, body: Callee<'a>) -> ShapeResult<'a> {
    operands.exactly(1)?;
    check_parameters("condition", condition, operands.0)?;
    check_parameters("body", body, operands.0)?;
    if !is_predicate(condition.result) {
        let (attribute, parameter) = ("condition", None);
        return Err(InferError::Callee { attribute, parameter, expected: "pred[]" });
    }
    let state = operands.shape(0)?;
    if !AGREES.compare(state, body.result) {
        let (attribute, parameter) = ("body", None);
        return Err(InferError::Callee { attribute, parameter, expected: "of the shape of the operand" });
    }
    Ok(Cow::Borrowed(state))
}

/// The rule of `ShapeInference::InferConditionalShape` in `xla/service/shape_inference.cc`.
pub(super) fn conditional<'a>(operands: Operands<'_, 'a>, branches: &[Callee<'a>]) -> ShapeResult<'a> {
    operands.at_least(1)?;
    operands.scalar(0)?;
    operands.class(0, "pred or s32", |found| matches!(found, ElementType::Pred | ElementType::S32))?;
    if operands.array(0)?.element_type() == ElementType::Pred && branches.len() != 2 {
        return Err(InferError::Count { what: "branches", expected: 2, found: branches.len() });
    }
    operands.exactly(branches.len() + 1)?;
    let Some(first) = branches.first() else {
        return Err(InferError::Unexpected { what: "`branch_computations`", expected: "at least one" });
    };
    for (&branch, &operand) in branches.iter().zip(operands.0.iter().skip(1)) {
        check_parameters("branch_computations", branch, &[operand])?;
        if !AGREES.compare(first.result, branch.result) {
            let (attribute, parameter) = ("branch_computations", None);
            return Err(InferError::Callee { attribute, parameter, expected: "of the same shape in every branch" });
        }
    }
    Ok(Cow::Borrowed(first.result))
}

/// A tuple of the operands, the result, and the context values that the program declares
/// (`ShapeVerifier::HandleAsyncStart` in `xla/service/hlo_verifier.cc`).
pub(super) fn async_start<'a>(
    operands: Operands<'_, 'a>,
    callee: Callee<'a>,
    declared: Option<&'a Shape>,
) -> ShapeResult<'a> {
    let given = declared.and_then(Shape::tuple_shapes).and_then(|elements| elements.first()?.tuple_shapes());
    if operands.0.is_empty() && !callee.parameters.is_empty() && given.is_none_or(<[Shape]>::is_empty) {
        // A later `async-update` supplies the operands.
        return declared.map(Cow::Borrowed).ok_or(InferError::NotInferred);
    }
    // A later `async-update` may also supply only the last operands. The result may be `()` until then.
    let is_late =
        given.is_some_and(|given| given.len() == operands.0.len()) && operands.0.len() < callee.parameters.len();
    let known = if is_late { operands.0.len() } else { callee.parameters.len() };
    let bound = callee.parameters.get(..known).unwrap_or(callee.parameters);
    check_parameters("calls", Callee { parameters: bound, ..callee }, operands.0)?;
    let parameters: Vec<Shape> = operands.0.iter().map(|&shape| shape.clone()).collect();
    let declared_result = declared.and_then(Shape::tuple_shapes).and_then(|elements| elements.get(1));
    let is_open = |result: &&Shape| is_late && result.tuple_shapes().is_some_and(<[Shape]>::is_empty);
    let result = declared_result.filter(is_open).unwrap_or(callee.result);
    let mut elements = vec![tuple(parameters)?.into_owned(), result.clone()];
    elements.extend(declared.and_then(Shape::tuple_shapes).unwrap_or(&[]).iter().skip(2).cloned());
    tuple(elements)
}

/// `u32[]`: the context of an asynchronous operation.
fn context() -> Result<Shape> {
    default_result(ElementType::U32, &[]).map(Cow::into_owned)
}

/// The copy, the operand, and the context that `copy-done` waits for (`ShapeVerifier::HandleCopyStart` in
/// `xla/service/hlo_verifier.cc`).
pub(super) fn copy_start<'a>(operands: Operands<'_, 'a>) -> ShapeResult<'a> {
    operands.exactly(1)?;
    let operand = operands.shape(0)?;
    tuple(vec![operand.clone(), operand.clone(), context()?])
}

/// The rule of `ShapeVerifier::HandleSend` in `xla/service/hlo_verifier.cc`.
pub(super) fn send<'a>(operands: Operands<'_, 'a>) -> ShapeResult<'a> {
    operands.exactly(2)?;
    tuple(vec![operands.shape(0)?.clone(), context()?, Shape::Token])
}

/// The rule of `ShapeVerifier::HandleRecvDone` in `xla/service/hlo_verifier.cc`.
pub(super) fn recv_done<'a>(operands: Operands<'_, 'a>) -> ShapeResult<'a> {
    operands.exactly(1)?;
    tuple(vec![operands.element(0, 0)?.clone(), Shape::Token])
}
