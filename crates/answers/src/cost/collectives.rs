//! The bytes that collectives move, and the instructions that run meanwhile.

use crate::amount::{self, Amount};
use crate::source::source_text;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_hlo::cost::Costs;
use xla_shape_hlo::{Instruction, Module, Readers, Sources};

/// A collective.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Collective {
    /// The name of the instruction.
    pub instruction: String,
    /// The opcode.
    pub opcode: String,
    /// The bytes of the operands on one device, in each run.
    pub bytes_in: u64,
    /// The bytes of the results on one device, in each run.
    pub bytes_out: u64,
    /// The groups of devices, as the module writes them; null if it does not.
    pub groups: Option<String>,
    /// How often it runs; null if a loop around it does not say.
    pub runs: Option<u64>,
    /// The cost of the instructions between its start and its end; `None` if it is not asynchronous.
    #[serde(flatten, serialize_with = "amount::hidden")]
    #[schemars(with = "amount::Hidden")]
    pub hidden: Option<Amount>,
    /// The most expensive of these instructions, at most three.
    pub hidden_by: Vec<String>,
    /// Whether it has a start and an end.
    #[serde(skip)]
    pub is_asynchronous: bool,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// The search for the most expensive instructions between the start and the end of a collective looks only at this many, the first ones.
const MOST_BETWEEN: usize = 1000;

/// The collectives of a module, each with the instructions that hide it.
pub(super) fn collectives<'m>(
    module: &'m Module,
    costs: &Costs<'m>,
    readers: &Readers<'m>,
    sources: &Sources<'m>,
) -> Vec<Collective> {
    // For each instruction, the sum of the costs of all instructions before it.
    let mut before = vec![0_u64];
    for instruction in module.instructions() {
        let sum = before.last().copied().unwrap_or(0);
        before.push(sum.saturating_add(costs.cost_of(instruction)));
    }
    let entry = |found: xla_shape_hlo::Collective<'m>| {
        let own = found.instruction;
        let start = found.pieces.first().map_or(own, |first| first.fusion);
        let last = found.pieces.last().map(|last| last.fusion);
        let is_asynchronous = last.is_some() || start.opcode().text().ends_with("-start");
        let done = last.or_else(|| readers.of(start).find(|reader| reader.opcode().text().ends_with("-done")));
        let is_after = |done: &Instruction<'m>| {
            done.computation().number() == start.computation().number() && done.number() > start.number()
        };
        let done = done.filter(|done| is_asynchronous && module.is_scheduled() && is_after(done));
        let sum = |number: u32| before.get(number as usize).copied().unwrap_or(0);
        let first = start.number() + 1;
        let hidden = done.map(|done| sum(done.number()).saturating_sub(sum(first)));
        // The search is bounded, because there may be many collectives, each with many instructions in between.
        let between = done.into_iter().flat_map(|done| first..done.number()).take(MOST_BETWEEN);
        let between = between.filter_map(|number| module.instruction_at(number));
        let mut names: Vec<_> = between.map(|between| (costs.cost_of(between), between)).collect();
        names.retain(|(cost, _)| *cost > 0);
        sort_by_key(&mut names, |(cost, _)| Reverse(*cost));
        Collective {
            instruction: own.name().to_owned(),
            opcode: own.opcode().to_string(),
            bytes_in: found.bytes_in,
            bytes_out: found.bytes_out,
            groups: own.attribute("replica_groups").map(|groups| groups.text().to_owned()),
            runs: found.runs,
            hidden_by: names.iter().take(3).map(|(_, instruction)| instruction.name().to_owned()).collect(),
            hidden: hidden.map(|number| Amount::new(costs.unit(), number)),
            is_asynchronous,
            source: source_text(&sources.get(own)),
        }
    };
    module.collectives().into_iter().map(entry).collect()
}
