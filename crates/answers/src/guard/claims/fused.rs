//! Finds the fusions that contain instructions.

use std::collections::BTreeMap;
use xla_shape_hlo::{Instruction, Module, Opcode};

/// The outermost fusions that contain these instructions, and the instructions that no fusion contains. Instructions that do no work are
/// left out.
pub(super) fn fusions<'m>(
    module: &'m Module,
    instructions: &[Instruction<'m>],
) -> (Vec<Instruction<'m>>, Vec<Instruction<'m>>) {
    let callers = callers(module);
    let (mut fusions, mut outside) = (BTreeMap::new(), BTreeMap::new());
    for &instruction in instructions {
        let place = outermost(instruction, &callers);
        match place.opcode() {
            Opcode::Fusion => {
                fusions.insert(place.number(), place);
            }
            Opcode::Parameter | Opcode::Constant | Opcode::Tuple | Opcode::GetTupleElement | Opcode::Bitcast => {}
            // Ignore prefetches, which the compiler adds for any array.
            Opcode::CopyStart | Opcode::CopyDone => {}
            _ => {
                outside.insert(place.number(), place);
            }
        }
    }
    (fusions.into_values().collect(), outside.into_values().collect())
}

/// For each computation that is a part of a single instruction, such as a fusion or a reduction: its name, and that instruction. The computations of
/// loops, branches and calls are left out, because their instructions run by themselves.
fn callers(module: &Module) -> BTreeMap<&str, Instruction<'_>> {
    let mut callers = BTreeMap::new();
    for instruction in module.instructions() {
        let key = match instruction.opcode() {
            Opcode::Fusion => "calls",
            Opcode::Call => continue,
            _ => "to_apply",
        };
        if let Some(Ok(name)) = instruction.attribute(key).map(|value| value.name()) {
            callers.entry(name).or_insert(instruction);
        }
    }
    callers
}

/// The outermost fusion that contains the instruction. If there is none, the instruction that contains it, such as a reduction, or else the
/// instruction itself.
fn outermost<'m>(instruction: Instruction<'m>, callers: &BTreeMap<&str, Instruction<'m>>) -> Instruction<'m> {
    let (mut place, mut fusion) = (instruction, None);
    // The bound ends the loop if calls form a cycle, which XLA refuses.
    for _ in 0..callers.len() + 1 {
        let Some(&caller) = callers.get(place.computation().name()) else { break };
        place = caller;
        if caller.opcode() == Opcode::Fusion {
            fusion = Some(caller);
        }
    }
    fusion.unwrap_or(place)
}
