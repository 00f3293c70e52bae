//! Instructions that call computations, and those that begin and end something.

use super::operands::{Callee, Operands, Result, is_predicate, owned, tuple};
use super::{AGREES, InferError};
use crate::element_type::ElementType;
use crate::shape::Shape;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

type Answer<'a> = Result<Cow<'a, Shape>>;

/// Checks that a computation takes values of these shapes.
fn takes(attribute: &'static str, callee: Callee<'_>, operands: &[&Shape]) -> Result<()> {
    callee.exactly(attribute, operands.len())?;
    let fits = |(operand, parameter): (&&Shape, &&Shape)| AGREES.compare(operand, parameter);
    match operands.iter().zip(callee.parameters).position(|pair| !fits(pair)) {
        Some(parameter) => {
            let expected = "of the shape of the value that it gets";
            Err(InferError::Callee { attribute, parameter: Some(parameter), expected })
        }
        None => Ok(()),
    }
}

pub(super) fn call<'a>(operands: Operands<'_, 'a>, attribute: &'static str, callee: Callee<'a>) -> Answer<'a> {
    takes(attribute, callee, operands.0)?;
    Ok(Cow::Borrowed(callee.result))
}

pub(super) fn while_loop<'a>(operands: Operands<'_, 'a>, condition: Callee<'a>, body: Callee<'a>) -> Answer<'a> {
    operands.exactly(1)?;
    takes("condition", condition, operands.0)?;
    takes("body", body, operands.0)?;
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

pub(super) fn conditional<'a>(operands: Operands<'_, 'a>, branches: &[Callee<'a>]) -> Answer<'a> {
    operands.at_least(1)?;
    operands.scalar(0)?;
    operands.class(0, "pred or s32", |found| matches!(found, ElementType::Pred | ElementType::S32))?;
    if operands.array(0)?.element_type() == ElementType::Pred && branches.len() != 2 {
        return Err(InferError::Count { what: "branches", expected: 2, found: branches.len() });
    }
    operands.exactly(branches.len().saturating_add(1))?;
    let Some(first) = branches.first() else {
        return Err(InferError::Unfit { what: "`branch_computations`", expected: "at least one" });
    };
    for (&branch, &operand) in branches.iter().zip(operands.0.iter().skip(1)) {
        takes("branch_computations", branch, &[operand])?;
        if !AGREES.compare(first.result, branch.result) {
            let (attribute, parameter) = ("branch_computations", None);
            return Err(InferError::Callee { attribute, parameter, expected: "of the same shape in every branch" });
        }
    }
    Ok(Cow::Borrowed(first.result))
}

/// The parameters, the result, and whatever else the program says.
pub(super) fn async_start<'a>(
    operands: Operands<'_, 'a>,
    callee: Callee<'a>,
    written: Option<&'a Shape>,
) -> Answer<'a> {
    let given = written.and_then(Shape::tuple_shapes).and_then(|elements| elements.first()?.tuple_shapes());
    if operands.0.is_empty() && !callee.parameters.is_empty() && given.is_none_or(<[Shape]>::is_empty) {
        // An update gives the operands.
        return written.map(Cow::Borrowed).ok_or(InferError::NotInferred);
    }
    takes("calls", callee, operands.0)?;
    let parameters: Vec<Shape> = operands.0.iter().map(|&shape| shape.clone()).collect();
    let mut elements = vec![tuple(parameters)?.into_owned(), callee.result.clone()];
    elements.extend(written.and_then(Shape::tuple_shapes).unwrap_or(&[]).iter().skip(2).cloned());
    tuple(elements)
}

/// A scalar of type `u32`.
fn handle() -> Result<Shape> {
    owned(ElementType::U32, &[]).map(Cow::into_owned)
}

/// The copy, the operand, and what `copy-done` waits for.
pub(super) fn copy_start<'a>(operands: Operands<'_, 'a>) -> Answer<'a> {
    operands.exactly(1)?;
    let operand = operands.shape(0)?;
    tuple(vec![operand.clone(), operand.clone(), handle()?])
}

pub(super) fn send<'a>(operands: Operands<'_, 'a>) -> Answer<'a> {
    operands.exactly(2)?;
    tuple(vec![operands.shape(0)?.clone(), handle()?, Shape::Token])
}

pub(super) fn recv_done<'a>(operands: Operands<'_, 'a>) -> Answer<'a> {
    operands.exactly(1)?;
    tuple(vec![operands.element(0, 0)?.clone(), Shape::Token])
}
