//! The least time that a GPU takes for an instruction, from the bytes that it moves and its number of operations. It is used where the compiler
//! gives no figure.

use super::convolution::{operations, target};
use super::copies::moved;
use super::figure::Basis;
use super::totals::{bytes, bytes_written};
use crate::{Instruction, Opcode};
use xla_shape_core::gpu::Speed;
use xla_shape_core::{Shape, memory_space};

/// The picoseconds in a second.
const SECOND: u128 = 1_000_000_000_000;

/// The picoseconds that the memory needs to move the bytes of an instruction: a copy, a transpose, a fusion of these alone, a slice that is
/// read or overwritten, or a convolution or matrix product that a library computes. For a convolution, the time for its operations counts if
/// that is longer. `None` for other instructions, and for those that move bytes to or from the host.
pub(super) fn time(instruction: Instruction<'_>, speed: Speed) -> Option<(u64, Basis)> {
    let shapes = || instruction.operands().filter_map(|operand| operand.shape());
    let arrays = shapes().chain([instruction.shape()]).flat_map(Shape::arrays);
    if arrays.into_iter().any(|array| array.layout().memory_space() == memory_space::HOST) {
        return None;
    }
    let bytes = match instruction.opcode() {
        Opcode::Copy | Opcode::Transpose => bytes(shapes())?.checked_add(bytes_written(instruction)?)?,
        // Before compute capability 9.0 the compiler gives no figure for any fusion.
        Opcode::Fusion if moved(instruction).is_some() => bytes(shapes())?.checked_add(bytes_written(instruction)?)?,
        Opcode::DynamicSlice => bytes_written(instruction)?.checked_mul(2)?,
        Opcode::DynamicUpdateSlice => bytes(shapes().skip(1).take(1))?.checked_mul(2)?,
        Opcode::CustomCall if is_library(instruction) => {
            // The last element of the result is the call's workspace.
            let result = instruction.shape().tuple_shapes().and_then(<[Shape]>::first).unwrap_or(instruction.shape());
            bytes(shapes())?.checked_add(bytes(core::iter::once(result))?)?
        }
        _ => return None,
    };
    let time = |amount: u64, per_second: u64| {
        u64::try_from((u128::from(amount) * SECOND).checked_div(u128::from(per_second))?).ok()
    };
    let moves = time(bytes, speed.bytes_per_second)?;
    let computes = || {
        let (operations, element_type) = operations(instruction)?;
        time(operations, speed.gpu?.operations_per_second(element_type)?)
    };
    let computes = computes().filter(|&computes| computes > moves);
    Some(computes.map_or((moves, Basis::Bytes), |computes| (computes, Basis::Operations)))
}

/// Whether a custom call is a convolution of cuDNN or a product of cuBLAS.
fn is_library(call: Instruction<'_>) -> bool {
    target(call).is_some_and(|target| ["__cudnn$conv", "__cublas$"].iter().any(|library| target.starts_with(library)))
}
