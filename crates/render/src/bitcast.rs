//! Whether one array can be read as another without a copy.

use crate::reshape::ReshapeError;
use crate::{Answer, GivenArray, Text};
use serde::Serialize;
use xla_shape_core::ArrayShape;
use xla_shape_core::bitcast::{Answer as Rule, BitcastError, DecompositionKind};
use xla_shape_core::tpu::Generation;

/// Whether one array can be read as another without a copy, and why.
///
/// The rules are those of `xla_shape_core::bitcast`, which follow `ShapeUtil::DecomposeBitcast`, `ReshapeIsBitcast` and
/// `TransposeIsBitcast` of `xla/shape_util.cc`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Verdict {
    /// Whether one can be read as the other.
    pub bitcast: bool,
    /// Whether both arrays take the same number of bytes.
    pub same_bytes: bool,
    /// Why, as a sentence.
    pub reason: String,
    /// `identity`, `reshape`, `transpose`, `reshape+transpose` or `none`.
    pub kind: &'static str,
    /// Whether a plain reshape or transpose leaves every byte where it is. False for `reshape+transpose`: together the steps move
    /// nothing, but each of them alone would.
    pub plain: bool,
    /// Why a plain reshape moves data, if the bitcast is another operation.
    #[serde(skip)]
    reshape_moves: Option<String>,
    /// The TPU that chose the layout of a shape without one; `None` if no TPU did.
    pub generation: Option<&'static str>,
    /// Whether a shape without a layout is taken as row-major.
    #[serde(skip)]
    is_assumed: bool,
}

impl Verdict {
    /// Says whether `operand` can be read as `result`. A shape without a layout gets the one that a TPU of this generation
    /// chooses; without a generation it is row-major, and the text says so.
    ///
    /// # Errors
    /// If [`new`](Self::new) has no answer, or the layout that a TPU chooses is not known.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_render::{Given, bitcast::Verdict};
    ///
    /// let given = |text: &str| text.parse::<Given>().ok()?.array();
    /// let (from, to) = (given("f32[8,1024]").unwrap(), given("f32[8192]").unwrap());
    /// assert!(Verdict::with_default_layouts(from.clone(), to.clone(), None)?.bitcast);
    /// // On a TPU, the array of two dimensions has tiles of 8 rows.
    /// assert_eq!(Verdict::with_default_layouts(from, to, Some(Generation::V5e))?.kind, "reshape+transpose");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_default_layouts(
        operand: GivenArray,
        result: GivenArray,
        generation: Option<Generation>,
    ) -> Result<Self, ReshapeError> {
        let is_chosen = !operand.has_layout || !result.has_layout;
        let (operand, result) = match generation {
            Some(generation) => (operand.on(generation)?, result.on(generation)?),
            None => (operand.array, result.array),
        };
        let chooser = generation.filter(|_| is_chosen).map(Generation::name);
        let is_assumed = is_chosen && chooser.is_none();
        Ok(Self { generation: chooser, is_assumed, ..Self::new(&operand, &result)? })
    }

    /// Says whether `operand` can be read as `result`.
    ///
    /// If the dimensions are equal, only the layout changes, and each element must keep its position. If they differ, the bitcast
    /// may be any reshape and transpose.
    ///
    /// # Errors
    /// If an array has no size, or the answer cannot be computed.
    ///
    /// ```
    /// use xla_shape_render::bitcast::Verdict;
    ///
    /// let verdict = Verdict::new(&"f32[2,3]{1,0}".parse()?, &"f32[3,2]{0,1}".parse()?)?;
    /// assert_eq!((verdict.bitcast, verdict.kind), (true, "transpose"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(operand: &ArrayShape, result: &ArrayShape) -> Result<Self, BitcastError> {
        let same_bytes = operand.byte_size() == result.byte_size();
        let verdict = |kind: &'static str, reason: String| {
            let plain = !matches!(kind, "none" | "reshape+transpose");
            Self {
                bitcast: kind != "none",
                same_bytes,
                reason,
                kind,
                plain,
                reshape_moves: None,
                generation: None,
                is_assumed: false,
            }
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
                // The answer about a reshape names the first element that would move.
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
    const SCHEMA: &'static str = "xla-shape/bitcast/1";

    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        let reason = &self.reason;
        match &self.reshape_moves {
            None if self.bitcast => text.paragraph(format_args!("a bitcast ({}): {reason}", self.kind)),
            None => {
                let (reason, read) =
                    reason.split_once(". Read").map_or((reason.as_str(), None), |(why, read)| (why, Some(read)));
                let end = if read.is_some() { "." } else { "" };
                text.paragraph(format_args!("not a bitcast: {reason}{end}"));
                if let Some(read) = read {
                    text.paragraph(format_args!("Read{read}"));
                }
            }
            Some(why) if self.plain => {
                text.paragraph(format_args!("a bitcast ({}): {reason}", self.kind));
                text.paragraph(format_args!("A reshape between the same sizes moves data: {why}."));
            }
            Some(why) => {
                text.paragraph(format_args!("A plain reshape moves data: {why}."));
                text.paragraph("Read as the other shape, the same bytes are the result of several steps, which an HLO bitcast does at once:");
                text.paragraph(format_args!("  {reason}"));
            }
        }
        if let Some(generation) = self.generation {
            text.paragraph(format_args!("Shapes without a layout have that of TPU {generation}."));
        } else if self.is_assumed {
            text.paragraph("Shapes without a layout are row-major (or as on the TPU that --for names).");
        }
        text
    }
}
