//! Which instructions read the value of another one.

use crate::module::{Instruction, Module};
use alloc::vec;
use alloc::vec::Vec;

/// The readers of each instruction's value: the instructions that have it as an operand.
///
/// ```
/// let module = xla_shape_hlo::Module::parse("\
/// HloModule m
/// ENTRY main {
///   a = f32[8]{0} parameter(0)
///   b = f32[8]{0} negate(a)
///   ROOT c = f32[8]{0} add(a, b)
/// }")?;
/// let readers = module.readers();
/// let names: Vec<&str> = readers.of(module.instruction("a").unwrap()).map(|reader| reader.name()).collect();
/// assert_eq!(names, ["b", "c"]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Readers<'m> {
    module: &'m Module,
    /// Where the readers of each instruction begin in `numbers`; the last entry is the end of them all.
    starts: Vec<u32>,
    numbers: Vec<u32>,
}

impl Module {
    /// The readers of all values, prepared for lookups in time proportional to the module.
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "a text of fewer than 2^32 bytes has fewer operands")]
    pub fn readers(&self) -> Readers<'_> {
        // Counts the readers of each instruction, then puts each reader into its place: a counting sort.
        let mut starts = vec![0_u32; self.instructions().len() + 1];
        for (made, _) in self.reads() {
            if let Some(count) = starts.get_mut((made as usize) + 1) {
                *count += 1;
            }
        }
        let mut sum = 0_u32;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut numbers = vec![0; sum as usize];
        let mut next = starts.clone();
        for (made, reader) in self.reads() {
            let Some(next) = next.get_mut(made as usize) else { continue };
            if let Some(number) = numbers.get_mut(*next as usize) {
                *number = reader;
            }
            *next += 1;
        }
        Readers { module: self, starts, numbers }
    }

    /// Pairs of numbers: a value, and an instruction that reads it. Each pair occurs once.
    fn reads(&self) -> impl Iterator<Item = (u32, u32)> {
        self.instructions().flat_map(|reader| {
            let made = reader.operands().filter_map(|operand| Some(operand.instruction()?.number()));
            let mut made: Vec<u32> = made.collect();
            made.sort_unstable();
            made.dedup();
            made.into_iter().map(move |made| (made, reader.number()))
        })
    }
}

impl<'m> Readers<'m> {
    /// The instructions that read the value of an instruction of the module, each once, in the order of the text.
    pub fn of(&self, instruction: Instruction<'m>) -> impl Iterator<Item = Instruction<'m>> + '_ {
        let number = instruction.number() as usize;
        let at = |number: usize| self.starts.get(number).map_or(0, |&start| start as usize);
        let range = at(number)..at(number + 1);
        let numbers = self.numbers.get(range).unwrap_or_default();
        numbers.iter().filter_map(|&number| self.module.instruction_at(number))
    }
}
