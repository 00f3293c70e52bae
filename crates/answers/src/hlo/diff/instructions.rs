//! Whether two programs are the same, instruction for instruction, ignoring their figures.

use crate::digest;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use xla_shape_hlo::{Instruction, Module, Pairs};

/// Whether two programs are the same, instruction for instruction. Programs that take the same memory and the same cycles can compute different
/// results.
///
/// ```
/// use xla_shape_answers::hlo::Difference;
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
///
/// let program = |opcode: &str| {
///     let text = format!("HloModule m\nENTRY e {{ p = f32[8]{{0}} parameter(0) ROOT r = f32[8]{{0}} {opcode}(p, p) }}");
///     Module::parse(&text).map(Program::from)
/// };
/// let (before, after) = (program("add")?, program("maximum")?);
/// let found = Difference::new(&before.memory(None), &after.memory(None)).instructions;
/// assert_eq!((found.same, found.differing), (Some(false), 2));
/// assert_eq!(found.examples[1].to_string(), "only after: maximum %r");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Instructions {
    /// Whether both are the same program: the same instructions in the same order, whatever their names. Null if the modules do not say it: they
    /// leave out elements of constants, or could not be read completely.
    pub same: Option<bool>,
    /// How many instructions differ, or are only in one program. 0 if the programs differ only in the order of their instructions, or in which
    /// computations are called.
    pub differing: usize,
    /// The first of the differing instructions.
    pub examples: Vec<Differing>,
}

/// An instruction that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Differing {
    /// Its opcode and name in the first program, such as "add %sum.3"; null if only the second program has it.
    pub before: Option<String>,
    /// Its opcode and name in the second program; null if only the first program has it.
    pub after: Option<String>,
}

impl Instructions {
    pub(super) fn new([before, after]: [&Module; 2], pairs: &Pairs<'_>) -> Self {
        let same = before.is_same_program(after);
        // Pairs are found by similarity, so equal instructions may be paired crosswise, and then seem to differ. Programs that are the same
        // have no differences.
        let differing = if same == Some(true) { Vec::new() } else { pairs.differing() };
        let named = |found: Instruction<'_>| format!("{} %{}", found.opcode(), found.name());
        let examples = differing
            .iter()
            .take(digest::MOST)
            .map(|[before, after]| Differing { before: before.map(named), after: after.map(named) });
        Self { same, differing: differing.len(), examples: examples.collect() }
    }
}

impl fmt::Display for Differing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if before == after => write!(f, "{after}"),
            (Some(before), Some(after)) => write!(f, "{before}, then {after}"),
            (Some(before), None) => write!(f, "only before: {before}"),
            (None, after) => write!(f, "only after: {}", after.as_deref().unwrap_or_default()),
        }
    }
}
