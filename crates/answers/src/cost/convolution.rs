//! The orders of dimensions in which cuDNN's convolutions read and write their arrays.

use xla_shape_hlo::Instruction;

/// The search for a convolution's operand looks through at most this many bitcasts and tuple elements.
const LONGEST_CHAIN: usize = 16;

/// An array of a convolution.
#[derive(Clone, Copy)]
enum Part {
    Input,
    Filter,
    Output,
}

/// The order in which a convolution of cuDNN reads an array, in cuDNN's words, such as `NHWC` for images and `OHWI` for filters. `None` for other
/// calls, and for operands whose order the call does not give.
pub(super) fn read(call: Instruction<'_>, value: Instruction<'_>) -> Option<String> {
    use Part::{Filter, Input, Output};
    let is_value = |mut operand: Instruction<'_>| {
        (0..LONGEST_CHAIN).any(|_| {
            let found = operand.number() == value.number();
            operand = operand.operand(0).and_then(|next| next.instruction()).unwrap_or(operand);
            found
        })
    };
    let number = call.operands().position(|operand| operand.instruction().is_some_and(is_value))?;
    // The labels are those of the forward convolution, so the operands of a backward convolution have other roles. The bias of a fused convolution
    // has no order.
    let part = match (target(call)?, number) {
        ("BackwardInput", 0) | ("BackwardFilter", 1) | ("BiasActivationForward", 3) => Output,
        ("BackwardInput", 1) | ("Forward" | "ForwardGraph" | "BiasActivationForward", 1) => Filter,
        (_, 0) => Input,
        _ => return None,
    };
    order(call, part, call.operand(number)?.shape()?.array()?.layout().minor_to_major())
}

/// The order in which a convolution of cuDNN writes its result.
pub(super) fn written(call: Instruction<'_>) -> Option<String> {
    let part = match target(call)? {
        "BackwardInput" => Part::Input,
        "BackwardFilter" => Part::Filter,
        _ => Part::Output,
    };
    order(call, part, call.shape().tuple_shapes()?.first()?.array()?.layout().minor_to_major())
}

/// The text after `__cudnn$conv` in the call's target.
fn target(call: Instruction<'_>) -> Option<&str> {
    call.attribute("custom_call_target")?.text().trim_matches('"').strip_prefix("__cudnn$conv")
}

/// The letters of the dimensions, the slowest in memory first.
fn order(call: Instruction<'_>, part: Part, minor_to_major: &[usize]) -> Option<String> {
    let (operands, output) = call.attribute("dim_labels")?.text().split_once("->")?;
    let (input, filter) = operands.split_once('_')?;
    let labels = match part {
        Part::Input => input,
        Part::Filter => filter,
        Part::Output => output,
    };
    let spatial = labels.bytes().filter(u8::is_ascii_digit).count();
    let letter = |label: u8| {
        let letter = match label {
            b'b' => 'N',
            b'f' => 'C',
            b'o' => 'O',
            b'i' => 'I',
            b'0'..=b'2' => *['D', 'H', 'W'].get(3_usize.checked_sub(spatial)? + usize::from(label - b'0'))?,
            _ => return None,
        };
        Some(letter)
    };
    let labels = labels.as_bytes();
    minor_to_major.iter().rev().map(|&dimension| letter(*labels.get(dimension)?)).collect()
}
