//! Whether one array can be read as another without a copy.

use crate::{Answer, Text};
use serde::Serialize;
use xla_shape_core::ArrayShape;
use xla_shape_core::bitcast::{Answer as Rule, BitcastError, DecompositionKind};

/// Whether one array can be read as another without a copy, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Verdict {
    /// Whether it can.
    pub bitcast: bool,
    /// Whether both take the same number of bytes.
    pub same_bytes: bool,
    /// Why.
    pub reason: String,
    /// `identity`, `reshape`, `transpose`, `reshape+transpose` or `none`.
    pub kind: &'static str,
}

impl Verdict {
    /// Judges reading `operand` as `result`.
    ///
    /// Between equal dimensions, the question is about the layout: each element must stay where it is. Between other
    /// dimensions, any reshape and transpose will do.
    ///
    /// # Errors
    /// If the question has no answer, as for arrays without a size.
    pub fn new(operand: &ArrayShape, result: &ArrayShape) -> Result<Self, BitcastError> {
        let same_bytes = operand.byte_size() == result.byte_size();
        let no = |reason: String| Self { bitcast: false, same_bytes, reason, kind: "none" };
        if operand.same_dimensions(result) && operand.same_element_type(result) {
            return Ok(match operand.layout_change_is_bitcast(result)? {
                Rule::Yes => Self { bitcast: true, same_bytes, reason: Rule::Yes.to_string(), kind: "identity" },
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
                Ok(Self { bitcast: true, same_bytes, reason: decomposition.to_string(), kind })
            }
            Err(error @ (BitcastError::Bytes { .. } | BitcastError::NotDecomposed)) => {
                // The reshape's own answer says which element would move.
                let reason = match operand.reshape_is_bitcast(result) {
                    Ok(Rule::No(reason)) if same_bytes => reason.to_string(),
                    _ => error.to_string(),
                };
                Ok(no(reason))
            }
            Err(error) => Err(error),
        }
    }
}

impl Answer for Verdict {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        let answer = if self.bitcast { format!("a bitcast ({})", self.kind) } else { "no bitcast".into() };
        text.uncut(format_args!("{answer}: {}", self.reason.replace(". Read", ".\nRead")));
        text
    }
}
