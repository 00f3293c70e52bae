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
    /// Whether a plain reshape or transpose leaves every byte where it is. An HLO bitcast can mean more: several of them at
    /// once, which move data one by one.
    pub plain: bool,
    /// Why a plain reshape moves data, where the bytes mean something else.
    #[serde(skip)]
    reshape_moves: Option<String>,
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
        let verdict = |kind: &'static str, reason: String| {
            let plain = !matches!(kind, "none" | "reshape+transpose");
            Self { bitcast: kind != "none", same_bytes, reason, kind, plain, reshape_moves: None }
        };
        let no = |reason: String| verdict("none", reason);
        if operand.same_dimensions(result) && operand.same_element_type(result) {
            return Ok(match operand.layout_change_is_bitcast(result)? {
                Rule::Yes => verdict("identity", Rule::Yes.to_string()),
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
                let reshape_moves = match operand.reshape_is_bitcast(result) {
                    Ok(answer) if !answer.is_yes() => Some(answer.to_string()),
                    _ => None,
                };
                Ok(Self { reshape_moves, ..verdict(kind, decomposition.to_string()) })
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
        let reason = self.reason.replace(". Read", ".\nRead");
        match &self.reshape_moves {
            None if self.bitcast => text.uncut(format_args!("a bitcast ({}): {reason}", self.kind)),
            None => text.uncut(format_args!("not a bitcast: {reason}")),
            Some(why) if self.plain => {
                text.uncut(format_args!("a bitcast ({}): {reason}", self.kind));
                text.line(format_args!("A reshape between the same sizes moves data: {why}."));
            }
            Some(why) => {
                text.line(format_args!("A plain reshape moves data: {why}."));
                text.uncut("Taken for the other, the same bytes mean several steps at once, as an HLO bitcast can:");
                text.uncut(format_args!("  {reason}"));
            }
        }
        text
    }
}
