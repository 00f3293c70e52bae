//! Matching the instructions of two programs, independently of their names.
//!
//! A compiler numbers names anew each time, so names say little. Instructions are paired in rounds: first those that are
//! computed in the same way from the parameters, then those with the same opcode, shape and `op_name`, and at last those that
//! share only their name or their opcode and size. Within a round, equal instructions are paired in text order.

use crate::schema::Key;
use crate::schema::opcode::Opcode;
use crate::source::Sources;
use crate::{Computation, Instruction, Module};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use xla_shape_core::Shape;
use xla_shape_core::sorting::map_of;

/// Pairs of corresponding instructions of two programs, such as a program before and after a change.
///
/// ```
/// use xla_shape_hlo::{Module, Pairs};
///
/// let before = Module::parse("HloModule m\nENTRY e { p = f32[8] parameter(0) ROOT n.1 = f32[8] negate(p) }")?;
/// let after = Module::parse("HloModule m\nENTRY e { x = f32[8] parameter(0) ROOT n.7 = f32[8] negate(x) }")?;
/// let pairs = Pairs::new(&before, &after);
/// assert_eq!(pairs.after(before.instruction("n.1").unwrap()), after.instruction("n.7"));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pairs<'m> {
    after_module: &'m Module,
    before_module: &'m Module,
    after: Vec<Option<u32>>,
    before: Vec<Option<u32>>,
}

/// What a round compares, the most reliable first.
#[derive(Clone, Copy)]
enum Round {
    /// How the value is computed, from the parameters on.
    Computation,
    /// The opcode, the shape with its layout, the `op_name`, and the opcodes and shapes of operands.
    Neighbours,
    /// The opcode, the `op_name`, and the shape without its layout.
    OpNameAndSize,
    /// The number of a program's parameter.
    Parameter,
    /// The opcode and the `op_name`.
    OpName,
    /// The opcode, and operands that are paired already.
    Operands,
    /// The `op_name` and the shape without its layout.
    OpNameOfAnyOpcode,
    /// The name and the opcode.
    Name,
    /// The opcode, and the shape without its layout.
    Size,
}

const ROUNDS: [Round; 9] = [
    Round::Computation,
    Round::Neighbours,
    Round::OpNameAndSize,
    Round::Parameter,
    Round::OpName,
    Round::Operands,
    Round::OpNameOfAnyOpcode,
    Round::Name,
    Round::Size,
];

impl<'m> Pairs<'m> {
    /// Pairs the instructions of all computations, including those of fusions.
    #[must_use]
    pub fn new(before: &'m Module, after: &'m Module) -> Self {
        let (first, second) = (Program::new(before), Program::new(after));
        let mut pairs = Self {
            after_module: after,
            before_module: before,
            after: vec![None; before.instructions().len()],
            before: vec![None; after.instructions().len()],
        };
        for round in ROUNDS {
            pairs.match_round(round, &first, &second);
        }
        pairs
    }

    /// The instruction of the second program that corresponds to an instruction of the first.
    #[must_use]
    pub fn after(&self, before: Instruction<'_>) -> Option<Instruction<'m>> {
        self.after_module.instruction_at(self.after.get(before.number() as usize).copied()??)
    }

    /// The instruction of the first program that corresponds to an instruction of the second.
    #[must_use]
    pub fn before(&self, after: Instruction<'_>) -> Option<Instruction<'m>> {
        self.before_module.instruction_at(self.before.get(after.number() as usize).copied()??)
    }

    /// Both programs.
    pub(crate) const fn modules(&self) -> [&'m Module; 2] {
        [self.before_module, self.after_module]
    }

    fn match_round(&mut self, round: Round, first: &Program<'m>, second: &Program<'m>) {
        // The instructions that have no partner yet, the last ones first.
        let mut waiting: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for instruction in first.module.instructions().rev() {
            let number = instruction.number();
            if self.after.get(number as usize) == Some(&None)
                && let Some(key) = first.key(round, instruction, Some)
            {
                waiting.entry(key).or_default().push(number);
            }
        }
        for instruction in second.module.instructions() {
            let number = instruction.number();
            if self.before.get(number as usize) != Some(&None) {
                continue;
            }
            let paired = |number: u32| self.before.get(number as usize).copied().flatten();
            let key = second.key(round, instruction, paired);
            let found = key.and_then(|key| waiting.get_mut(&key)?.pop());
            if let Some(found) = found
                && let (Some(after), Some(before)) =
                    (self.after.get_mut(found as usize), self.before.get_mut(number as usize))
            {
                (*after, *before) = (Some(number), Some(found));
            }
        }
    }
}

/// One of the two programs, with hashes of its instructions.
struct Program<'m> {
    module: &'m Module,
    sources: Sources<'m>,
    /// For each instruction, a hash of how its value is computed.
    computations: Vec<u64>,
    op_names: Vec<u64>,
    /// For each shape of the module, a hash of all of it and a hash of its sizes alone. A large shape that many operands share is
    /// hashed once.
    shapes: Vec<(u64, u64)>,
}

impl<'m> Program<'m> {
    fn new(module: &'m Module) -> Self {
        let mut program = Self {
            module,
            sources: module.sources(),
            computations: Vec::new(),
            op_names: Vec::new(),
            shapes: Vec::new(),
        };
        program.shapes = module.shapes().iter().map(|shape| (hash(shape), hash_sizes(shape))).collect();
        program.op_names = module
            .instructions()
            .map(|instruction| {
                let source = program.sources.get(instruction);
                source.op_name.as_deref().filter(|name| !name.is_empty()).map_or(0, |name| hash(name).max(1))
            })
            .collect();
        program.computations = vec![0; module.instructions().len()];
        let roots = map_of(module.computations().map(|computation| (computation.name(), computation.root().number())));
        // This expects operands before their users, and computations before their callers. In other orders the hash covers less, and fewer
        // instructions are paired in the first round.
        for computation in module.computations() {
            for instruction in computation.instructions() {
                let hash = program.computation_hash(instruction, computation, &roots);
                if let Some(place) = program.computations.get_mut(instruction.number() as usize) {
                    *place = hash;
                }
            }
        }
        program
    }

    /// The hash of an instruction's shape, and the hash of the shape's sizes alone.
    fn shape(&self, instruction: Instruction<'_>) -> (u64, u64) {
        self.shapes.get(instruction.shape_number() as usize).copied().unwrap_or_default()
    }

    fn op_name(&self, instruction: Instruction<'_>) -> u64 {
        self.op_names.get(instruction.number() as usize).copied().unwrap_or(0)
    }

    fn computation_hash(
        &self,
        instruction: Instruction<'m>,
        computation: Computation<'m>,
        roots: &BTreeMap<&str, u32>,
    ) -> u64 {
        // Attributes whose values contain no names.
        const NAMELESS: [Key; 8] = [
            Key::Index,
            Key::Dimensions,
            Key::Direction,
            Key::CustomCallTarget,
            Key::FusionKind,
            Key::Slice,
            Key::Window,
            Key::DimLabels,
        ];
        let mut hasher = Fnv::default();
        let is_entry = computation.is_entry();
        (is_entry, instruction.opcode().text(), self.shape(instruction), self.op_name(instruction)).hash(&mut hasher);
        let number = instruction.parameter_number();
        number.hash(&mut hasher);
        let known = |number: u32| self.computations.get(number as usize).copied().unwrap_or(0);
        for operand in instruction.operands() {
            operand.instruction().map_or(0, |operand| known(operand.number())).hash(&mut hasher);
        }
        if number.is_none() {
            instruction.literal().hash(&mut hasher);
        }
        for key in NAMELESS {
            if let Some(value) = instruction.value_of(key) {
                (key.name(), value.text()).hash(&mut hasher);
            }
        }
        for &key in Key::CALLS {
            let names = instruction.value_of(key).and_then(|value| value.names().ok());
            for name in names.into_iter().flatten() {
                roots.get(name).map_or(0, |root| known(*root)).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// The hash by which a round compares an instruction; `None` if the round does not apply. `paired` maps an operand's number to the number of its
    /// counterpart in the first program.
    fn key(&self, round: Round, instruction: Instruction<'m>, paired: impl Fn(u32) -> Option<u32>) -> Option<u64> {
        let mut hasher = Fnv::default();
        let opcode = instruction.opcode();
        let op_name = self.op_name(instruction);
        let has_op_name = op_name != 0;
        match round {
            Round::Computation => return self.computations.get(instruction.number() as usize).copied(),
            Round::Neighbours => {
                (opcode.text(), self.shape(instruction), op_name).hash(&mut hasher);
                for operand in instruction.operands() {
                    let found = operand.instruction();
                    found.map(|found| (found.opcode().text(), self.shape(found))).hash(&mut hasher);
                }
            }
            Round::OpNameAndSize if has_op_name => {
                (opcode.text(), op_name, self.shape(instruction).1).hash(&mut hasher);
            }
            Round::Parameter if opcode == Opcode::Parameter && instruction.computation().is_entry() => {
                instruction.parameter_number().hash(&mut hasher);
            }
            Round::OpName if has_op_name => (opcode.text(), op_name).hash(&mut hasher),
            Round::Operands if instruction.operands().len() > 0 => {
                opcode.text().hash(&mut hasher);
                for operand in instruction.operands() {
                    // The round applies only if every operand has a counterpart.
                    paired(operand.instruction()?.number())?.hash(&mut hasher);
                }
            }
            Round::OpNameOfAnyOpcode if has_op_name => {
                (op_name, self.shape(instruction).1).hash(&mut hasher);
            }
            Round::Name => (instruction.name(), opcode.text()).hash(&mut hasher),
            Round::Size => {
                (opcode.text(), has_op_name, self.shape(instruction).1).hash(&mut hasher);
            }
            _ => return None,
        }
        Some(hasher.finish())
    }
}

/// A hash of the element types and dimensions of all arrays.
fn hash_sizes(shape: &Shape) -> u64 {
    let mut hasher = Fnv::default();
    for part in crate::memory::parts(shape) {
        match part.array() {
            Some(array) => (array.element_type().name(), array.dimensions()).hash(&mut hasher),
            None => part.tuple_shapes().map(<[Shape]>::len).hash(&mut hasher),
        }
    }
    hasher.finish()
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = Fnv::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The 64-bit hash FNV-1a of Fowler, Noll and Vo.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Pairs;
    use crate::Module;

    fn pairs(before: &str, after: &str) -> alloc::vec::Vec<(alloc::string::String, alloc::string::String)> {
        let module = |text: &str| Module::parse(text).unwrap();
        let (before, after) = (module(before), module(after));
        let pairs = Pairs::new(&before, &after);
        let pair = |instruction: crate::Instruction<'_>| {
            let other = pairs.after(instruction)?;
            assert_eq!(pairs.before(other), Some(instruction));
            Some((instruction.name().into(), other.name().into()))
        };
        before.instructions().filter_map(pair).collect()
    }

    #[test]
    fn instructions_are_paired_by_what_they_are() {
        let before = "HloModule m\nENTRY e {\n p = f32[8,16] parameter(0)\n q = f32[8,16] parameter(1)\n \
            a.1 = f32[8,16] negate(p)\n a.2 = f32[8,16] negate(q)\n \
            c.1 = f32[8,16] copy(a.1), metadata={op_name=\"layer/x\"}\n ROOT s = f32[8,16] subtract(c.1, a.2)\n}";
        // Names change places, a layout changes, and one is new.
        let after = "HloModule m\nENTRY e {\n q = f32[8,16] parameter(0)\n p = f32[8,16] parameter(1)\n \
            a.2 = f32[8,16] negate(q)\n a.1 = f32[8,16] negate(p)\n new = f32[8,16] abs(a.1)\n \
            z = f32[8,16]{0,1} copy(a.2), metadata={op_name=\"layer/x\"}\n ROOT s.9 = f32[8,16] subtract(z, a.1)\n}";
        let expected = [("p", "q"), ("q", "p"), ("a.1", "a.2"), ("a.2", "a.1"), ("c.1", "z"), ("s", "s.9")];
        let found = pairs(before, after);
        assert!(found.iter().map(|(a, b)| (a.as_str(), b.as_str())).eq(expected), "{found:?}");
    }

    #[test]
    fn sizes_may_change_along_the_way() {
        let text = |batch: usize, suffix: &str| {
            alloc::format!(
                "HloModule m\nENTRY e {{\n p{suffix} = f32[{batch},16] parameter(0)\n a{suffix} = f32[{batch},16] negate(p{suffix})\n \
                 b{suffix} = f32[{batch},16] abs(a{suffix})\n ROOT r{suffix} = f32[16,{batch}] transpose(b{suffix}), dimensions={{1,0}}\n}}"
            )
        };
        assert_eq!(pairs(&text(8, ""), &text(64, "x")).len(), 4);
        assert!(
            pairs("HloModule m\nENTRY e { p = f32[] parameter(0) }", "HloModule m\nENTRY e { c = f32[] constant(1) }")
                .is_empty()
        );
    }
}
