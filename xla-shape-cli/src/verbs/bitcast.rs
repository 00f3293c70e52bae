//! `bitcast`: whether one array can be taken for another without moving a byte.

use crate::args::{BitcastArguments, Format};
use crate::failure::Failure;
use crate::io;
use serde::Serialize;
use xla_shape::ArrayShape;
use xla_shape::bitcast::{Answer, BitcastError, DecompositionKind};

#[derive(Serialize)]
struct Verdict {
    bitcast: bool,
    same_bytes: bool,
    reason: String,
    kind: &'static str,
}

pub(crate) fn run(arguments: &BitcastArguments) -> Result<(), Failure> {
    let ((_, operand), (_, result)) = (super::array_of(&arguments.from)?, super::array_of(&arguments.to)?);
    let verdict = verdict(&operand, &result).map_err(Failure::said)?;
    let text = match arguments.format {
        Format::Json => super::json_line(&verdict),
        Format::Text => {
            let answer = if verdict.bitcast { format!("a bitcast ({})", verdict.kind) } else { "no bitcast".into() };
            format!("{answer}: {}\n", verdict.reason.replace(". Read", ".\nRead"))
        }
    };
    io::print(&text)
}

/// Between the same dimensions, the question is about the layout: each element must stay where it is. Otherwise any
/// reshape and transpose will do.
fn verdict(operand: &ArrayShape, result: &ArrayShape) -> Result<Verdict, BitcastError> {
    let same_bytes = operand.byte_size() == result.byte_size();
    let no = |reason: String| Verdict { bitcast: false, same_bytes, reason, kind: "none" };
    if operand.same_dimensions(result) && operand.same_element_type(result) {
        return Ok(match operand.layout_change_is_bitcast(result)? {
            Answer::Yes => Verdict { bitcast: true, same_bytes, reason: Answer::Yes.to_string(), kind: "identity" },
            answer => match operand.decompose_bitcast(result) {
                Ok(other) => no(format!("{answer}. Read as the other, the bytes mean: {other}")),
                Err(_) => no(answer.to_string()),
            },
        });
    }
    match operand.decompose_bitcast(result) {
        Ok(decomposition) => {
            let kind = match decomposition.kind() {
                DecompositionKind::Identity => "identity",
                DecompositionKind::Reshape => "reshape",
                DecompositionKind::Transpose => "transpose",
                DecompositionKind::ReshapeTransposeReshape => "reshape+transpose",
            };
            Ok(Verdict { bitcast: true, same_bytes, reason: decomposition.to_string(), kind })
        }
        Err(error @ (BitcastError::Bytes { .. } | BitcastError::NotDecomposed)) => {
            // The reshape's own answer says which element would move.
            let reason = match operand.reshape_is_bitcast(result) {
                Ok(Answer::No(reason)) if same_bytes => reason.to_string(),
                _ => error.to_string(),
            };
            Ok(no(reason))
        }
        Err(error) => Err(error),
    }
}
