//! Gives asynchronous operations the same names, whether a module has them in long or in short form.
//!
//! In the long form, an `async-start` runs an operation that is an instruction of its own. Messages and most texts have the short form, in which
//! there is only an instruction such as `negate-start`. So all lists of an answer give the operation the name of its start.

use std::collections::BTreeMap;
use xla_shape_hlo::{Buffer, Instruction, Module, Opcode, Source, Sources};

/// For each instruction of the long form, by its number: the instruction of the short form.
pub(crate) struct Starts<'m>(BTreeMap<u32, Step<'m>>);

/// The instruction of the short form that corresponds to one of the long form.
struct Step<'m> {
    instruction: Instruction<'m>,
    /// The opcode of the operation that runs.
    operation: Opcode<'m>,
    suffix: &'static str,
    /// How many arrays of the start come before those of the operation, because the start's result comes after the operands.
    leaves_before: usize,
}

impl<'m> Starts<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        let mut found = BTreeMap::new();
        for (operation, start) in module.asynchronous_operations() {
            let operands = start.shape().tuple_shapes().and_then(|all| all.first());
            let leaves_before = operands.map_or(0, |operands| operands.arrays().count());
            for (number, leaves_before) in [(operation.number(), leaves_before), (start.number(), 0)] {
                let step = Step { instruction: start, operation: operation.opcode(), suffix: "-start", leaves_before };
                found.insert(number, step);
            }
        }
        let later = |instruction: &Instruction<'_>| match instruction.opcode() {
            Opcode::AsyncUpdate => Some("-update"),
            Opcode::AsyncDone => Some("-done"),
            _ => None,
        };
        // An update or a done comes later in the module than the step that it continues.
        for (instruction, suffix) in module.instructions().filter_map(|one| Some((one, later(&one)?))) {
            let before = instruction.operand(0).and_then(|operand| operand.instruction());
            if let Some(operation) = before.and_then(|before| found.get(&before.number())).map(|step| step.operation) {
                found.insert(instruction.number(), Step { instruction, operation, suffix, leaves_before: 0 });
            }
        }
        Self(found)
    }

    /// The instruction that stands for this one in every form of the module.
    pub(crate) fn named(&self, instruction: Instruction<'m>) -> Instruction<'m> {
        self.0.get(&instruction.number()).map_or(instruction, |step| step.instruction)
    }

    /// The name of that instruction.
    pub(crate) fn name(&self, instruction: Instruction<'m>) -> &'m str {
        self.named(instruction).name()
    }

    /// Its opcode in short form.
    pub(crate) fn opcode(&self, instruction: Instruction<'m>) -> String {
        match self.0.get(&instruction.number()) {
            Some(step) => format!("{}{}", step.operation, step.suffix),
            None => instruction.opcode().to_string(),
        }
    }

    /// The number of a buffer's array in that instruction.
    pub(crate) fn leaf(&self, buffer: &Buffer<'m>) -> usize {
        buffer.leaf + self.0.get(&buffer.instruction.number()).map_or(0, |step| step.leaves_before)
    }

    /// The place in the user's program that makes the value: the place of the start, or if it has none, the place of the operation.
    pub(crate) fn source(&self, sources: &Sources<'m>, instruction: Instruction<'m>) -> Source<'m> {
        let source = sources.get(self.named(instruction));
        if source == Source::default() { sources.get(instruction) } else { source }
    }
}

#[cfg(test)]
mod tests {
    use crate::Answer;
    use crate::hlo::Report;
    use xla_shape_hlo::Module;
    use xla_shape_program::Program;

    /// The whole answer without step numbers, because in the long form the operation has a step of its own.
    fn answer(module: Module) -> serde_json::Value {
        let report = Report::new(&Program::from(module).memory(None), None, 100, None);
        let mut answer: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        for peak in answer["at_peak"].as_array_mut().unwrap() {
            for one in peak["largest"].as_array_mut().unwrap() {
                one["live"].take();
            }
        }
        answer
    }

    fn answers(text: &str) -> [serde_json::Value; 2] {
        let long = Module::parse(text).unwrap();
        let short = Module::from_proto(&long.to_proto().unwrap()).unwrap();
        assert!(short.to_string().contains("-start(") && !short.to_string().contains("async-start("), "{short}");
        [long, short].map(answer)
    }

    #[test]
    fn what_belongs_to_a_start_is_named_by_it_in_every_list() {
        let [long, short] = answers(
            "HloModule m, is_scheduled=true\nw {\n  x = f32[1024]{0} parameter(0)\n  ROOT ng = f32[1024]{0} negate(x)\n}\n\
             ENTRY e {\n  p = f32[1024]{0} parameter(0)\n  \
             s = ((f32[1024]{0}), f32[1024]{0}, u32[]) async-start(p), calls=w, metadata={op_name=\"jit(f)/neg\"}\n  \
             u = ((f32[1024]{0}), f32[1024]{0}, u32[]) async-update(s)\n  ROOT d = f32[1024]{0} async-done(u)\n}\n",
        );
        assert_eq!(long, short);
        let peak = &long["at_peak"][0];
        let part = peak["by_opcode"].as_array().unwrap().iter().find(|part| part["name"] == "negate-start").unwrap();
        assert_eq!(part["bytes"], 4100, "{peak}");
        for list in [&peak["largest"], &long["largest"]] {
            let found = list.as_array().unwrap().iter().find(|one| one["name"] == "s" && one["leaf"] == 1).unwrap();
            assert_eq!((&found["opcode"], &found["op_name"]), (&"negate-start".into(), &"jit(f)/neg".into()));
            assert!(list.as_array().unwrap().iter().all(|one| one["name"] != "ng"), "{list}");
        }
    }

    #[test]
    fn a_collective_is_named_by_its_start_and_ranked_at_its_place() {
        let [long, short] = answers(
            "HloModule m, is_scheduled=true, replica_count=2\nw {\n  x = f32[8]{0} parameter(0)\n  \
             ROOT r = f32[8]{0} all-to-all(x), replica_groups={{0,1}}, dimensions={0}\n}\n\
             ENTRY e {\n  p = f32[8]{0} parameter(0)\n  \
             a = f32[8]{0} all-to-all(p), replica_groups={{0,1}}, dimensions={0}\n  \
             s = ((f32[8]{0}), f32[8]{0}) async-start(a), calls=w\n  ROOT d = f32[8]{0} async-done(s)\n}\n",
        );
        assert_eq!(long, short);
        let named = long["collectives"].as_array().unwrap().iter().map(|one| (&one["name"], &one["opcode"]));
        let expected = [["a", "all-to-all"], ["s", "all-to-all-start"]].map(|one| one.map(serde_json::Value::from));
        assert!(named.eq(expected.iter().map(|[name, opcode]| (name, opcode))), "{}", long["collectives"]);
    }
}
