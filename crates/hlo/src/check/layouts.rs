//! Layouts that an instruction must keep (`InstructionVerifier::Postprocess` in `xla/service/hlo_verifier.cc`).

use crate::finding::{Problem, Result};
use crate::module::{Instruction, Module};
use crate::schema::Family;
use crate::schema::opcode::Opcode;
use alloc::format;
use alloc::string::String;
use xla_shape_core::{ArrayShape, Shape, memory_space};

/// Whether XLA has assigned the layouts of a module, which a schedule or tiles show. Before that, the layouts in the text mean nothing.
pub(super) fn are_assigned(module: &Module) -> bool {
    let tiled = |shape: &Shape| shape.array().is_some_and(|array| !array.layout().tiles().is_empty());
    module.is_scheduled() || module.shapes().iter().any(tiled)
}

/// Checks that the operands of an instruction have the same order of dimensions as its result, and that the instruction may move data from
/// their memory spaces to the result's.
pub(super) fn check(instruction: Instruction<'_>, are_assigned: bool) -> Result<()> {
    let Some(result) = instruction.shape().array() else { return Ok(()) };
    let operands = instruction.operands().filter_map(|operand| operand.shape()?.array());
    for operand in operands.filter(|operand| operand.num_dimensions() == result.num_dimensions()) {
        memory(instruction.opcode(), operand, result)?;
        let order = |array: &ArrayShape| array.layout().minor_to_major().to_vec();
        if are_assigned && keeps_layout(instruction.opcode()) && order(operand) != order(result) {
            let text = |array: &ArrayShape| -> String {
                let numbers = order(array).iter().map(|number| format!("{number}")).collect::<alloc::vec::Vec<_>>();
                format!("{{{}}}", numbers.join(","))
            };
            let expected = format!("the order of the operand, {}, in the result", text(operand));
            return Err(Problem::mismatch(expected, text(result)));
        }
    }
    Ok(())
}

/// Whether the operands and the result of an opcode must have the same order of dimensions (`LayoutAssignment::InstructionCanChangeLayout`
/// in `xla/service/layout_assignment.cc`).
fn keeps_layout(opcode: Opcode<'_>) -> bool {
    opcode.family() == Family::Elementwise
        || matches!(
            opcode,
            Opcode::Concatenate
                | Opcode::DynamicSlice
                | Opcode::DynamicUpdateSlice
                | Opcode::Pad
                | Opcode::Reverse
                | Opcode::Slice
        )
}

/// Checks the memory spaces of a slice and of an update. A slice must not move data from the device's memory to the host's, and an update
/// must not move it back (`HostOffloadInstructionCanChangeMemorySpace`). XLA's rule also forbids a result outside VMEM if the operand is in
/// VMEM. That is not a finding here, because modules from the TPU compiler have such results.
fn memory(opcode: Opcode<'_>, operand: &ArrayShape, result: &ArrayShape) -> Result<()> {
    let (from, to) = match opcode {
        Opcode::DynamicSlice => (memory_space::DEFAULT, memory_space::HOST),
        Opcode::DynamicUpdateSlice => (memory_space::HOST, memory_space::DEFAULT),
        _ => return Ok(()),
    };
    let (before, after) = (operand.layout().memory_space(), result.layout().memory_space());
    if (before, after) == (from, to) {
        let expected = format!("a result in the memory S({before}) of the operand");
        return Err(Problem::mismatch(expected, format!("S({after})")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn findings(head: &str, body: &str) -> Vec<String> {
        let text = format!("HloModule m{head}\nENTRY e {{\n{body}}}\n");
        let module = Module::parse(&text).unwrap_or_else(|error| panic!("{}", error.render(&text)));
        module.check().iter().map(ToString::to_string).collect()
    }

    const SCHEDULED: &str = ", is_scheduled=true";

    #[test]
    fn what_works_element_by_element_keeps_the_order_of_its_operands() {
        let parameters = "  p = f32[4,8]{1,0} parameter(0)\n  t = f32[4,8]{0,1} parameter(1)\n";
        let finding = |name: &str, opcode: &str| {
            format!("%{name} ({opcode}): expected the order of the operand, {{1,0}}, in the result, found {{0,1}}")
        };
        for (instruction, opcode) in [
            ("f32[4,8]{0,1} negate(p)", "negate"),
            ("f32[4,8]{0,1} add(t, p)", "add"),
            ("f16[4,8]{0,1} convert(p)", "convert"),
            ("pred[4,8]{0,1} compare(p, p), direction=LT", "compare"),
            ("f32[4,16]{0,1} concatenate(t, p), dimensions={1}", "concatenate"),
            ("f32[2,8]{0,1} slice(p), slice={[0:2], [0:8]}", "slice"),
            ("f32[4,8]{0,1} reverse(p), dimensions={0}", "reverse"),
        ] {
            let body = format!("{parameters}  ROOT r = {instruction}\n");
            assert_eq!(findings(SCHEDULED, &body), [finding("r", opcode)], "{instruction}");
            // Before XLA assigns layouts, the layouts in the text mean nothing.
            assert_eq!(findings("", &body), [""; 0], "{instruction}");
        }
        // Tiles show that layouts are assigned.
        let tiled = "  p = f32[4,8]{1,0:T(8,128)} parameter(0)\n  ROOT n = f32[4,8]{0,1:T(8,128)} negate(p)\n";
        assert_eq!(findings("", tiled), [finding("n", "negate")]);
        // A copy, a transpose and a reshape may change the order of dimensions; `bitcast-convert(t)` and `negate(t)` keep the order of `t`.
        for instruction in [
            "f32[4,8]{0,1} copy(p)",
            "f32[4,8]{0,1} bitcast-convert(t)",
            "f32[4,8]{0,1} negate(t)",
            "f32[8,4]{0,1} transpose(p), dimensions={1,0}",
            "f32[4,8]{0,1} reshape(p)",
        ] {
            assert_eq!(
                findings(SCHEDULED, &format!("{parameters}  ROOT r = {instruction}\n")),
                [""; 0],
                "{instruction}"
            );
        }
    }

    #[test]
    fn slices_and_updates_stay_in_their_memory() {
        let update = |from: &str, to: &str| {
            format!(
                "  a = f32[8,8]{{1,0{from}}} parameter(0)\n  u = f32[1,8]{{1,0}} parameter(1)\n  i = s32[] parameter(2)\n  \
                 ROOT d = f32[8,8]{{1,0{to}}} dynamic-update-slice(a, u, i, i)\n"
            )
        };
        assert_eq!(
            findings("", &update(":S(5)", "")),
            ["%d (dynamic-update-slice): expected a result in the memory S(5) of the operand, found S(0)"]
        );
        // The TPU compiler itself writes the first two of these moves; the third one stays in the host's memory.
        for (from, to) in [("", ":S(5)"), (":S(1)", ""), (":S(5)", ":S(5)")] {
            assert_eq!(findings("", &update(from, to)), [""; 0], "{from} to {to}");
        }
        let slice = |from: &str, to: &str| {
            format!(
                "  a = f32[8,8]{{1,0{from}}} parameter(0)\n  i = s32[] parameter(1)\n  \
                 ROOT d = f32[1,8]{{1,0{to}}} dynamic-slice(a, i, i), dynamic_slice_sizes={{1,8}}\n"
            )
        };
        assert_eq!(findings("", &slice("", ":S(5)")).len(), 1);
        assert_eq!(findings("", &slice(":S(5)", "")), [""; 0]);
    }
}
