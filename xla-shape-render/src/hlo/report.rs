//! What the values of a program take in memory, as data.

use crate::{Answer, Text};
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_hlo::{Buffer, Footprint, Module};

/// What the values of a program take in memory, and what is wrong with its instructions.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub(super) module: Option<String>,
    pub(super) computations: usize,
    pub(super) instructions: usize,
    pub(super) opcodes: BTreeMap<String, usize>,
    pub(super) spaces: Vec<Space>,
    pub(super) findings: Vec<Finding>,
    pub(super) most_padded: Vec<Value>,
    pub(super) largest: Vec<Value>,
    pub(super) tile_formats: Vec<TileFormat>,
    pub(super) layout_changes: Vec<LayoutChange>,
}

/// What the check of a module found.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    /// `error` or `hint`.
    pub(super) severity: &'static str,
    pub(super) instruction: String,
    pub(super) message: String,
    /// Where it stands in the text: first byte, and the one behind the last.
    pub(super) span: [usize; 2],
    /// What a person reads.
    #[serde(skip)]
    pub(super) text: String,
}

/// The findings of a module, errors first.
fn findings(module: &Module<'_>) -> Vec<Finding> {
    let mut found = module.check();
    found.sort_by_key(|finding| core::cmp::Reverse(finding.severity()));
    let finding = |found: xla_shape_hlo::Finding<'_, '_>| Finding {
        severity: found.severity().name(),
        instruction: found.instruction().name().to_owned(),
        message: found.problem().to_string(),
        span: [found.span().start, found.span().end],
        text: found.to_string(),
    };
    found.into_iter().map(finding).collect()
}

/// What lies in one memory space: parameters and all values, as if each had memory of its own.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Space {
    pub(super) space: u8,
    pub(super) bytes: u64,
    pub(super) padding_bytes: u64,
    pub(super) values: usize,
    pub(super) parameter_bytes: u64,
    pub(super) result_bytes: u64,
    /// The most that is needed at one time; null where the module has no schedule.
    pub(super) peak_bytes: Option<u64>,
    pub(super) peak_at: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Value {
    pub(super) name: String,
    /// Which array of the instruction's value.
    pub(super) leaf: usize,
    pub(super) opcode: String,
    pub(super) shape: String,
    pub(super) bytes: u64,
    pub(super) padding_bytes: u64,
    /// Null for an array without elements.
    pub(super) expansion: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct TileFormat {
    pub(super) format: String,
    pub(super) arrays: usize,
    pub(super) bytes: u64,
    pub(super) padding_bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct LayoutChange {
    pub(super) name: String,
    pub(super) opcode: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) moved_bytes: u64,
}

impl Report {
    /// Reports on `module`. Lists have at most `top` entries; `only` picks a memory space.
    #[must_use]
    pub fn new(module: &Module<'_>, top: usize, only: Option<u8>) -> Self {
        let memory = module.memory();
        let wanted = |space: u8| only.is_none_or(|only| only == space);
        let peaks = memory.peaks();
        let spaces = memory.usage().into_iter().filter(|(space, _)| wanted(*space)).map(|(space, usage)| {
            let peak = peaks.as_ref().and_then(|peaks| peaks.get(&space));
            let sum = |part: fn(Footprint) -> u64| part(usage.parameters).saturating_add(part(usage.values));
            Space {
                space,
                bytes: sum(|footprint| footprint.bytes),
                padding_bytes: sum(Footprint::padding_bytes),
                values: usage.num_values,
                parameter_bytes: usage.parameters.bytes,
                result_bytes: usage.results.bytes,
                peak_bytes: peak.map(|peak| peak.bytes),
                peak_at: peak.map(|peak| peak.at.name().to_owned()),
            }
        });
        let spaces = spaces.collect();
        // All are ranked, so that those of one space can be picked.
        let first = |ranked: Vec<Buffer<'_, '_>>, worth: fn(&Buffer<'_, '_>) -> u64| {
            let ranked = ranked.into_iter().filter(|buffer| wanted(buffer.memory_space()) && worth(buffer) > 0);
            ranked.take(top).map(|buffer| value(&buffer)).collect()
        };
        let all = memory.buffers().len();
        let mut opcodes = BTreeMap::new();
        for instruction in module.instructions() {
            *opcodes.entry(instruction.opcode().to_string()).or_insert(0) += 1;
        }
        let here = only.map_or_else(|| memory.clone(), |only| memory.in_space(only));
        let tile_formats = here.tile_formats().into_iter().map(|(format, usage)| TileFormat {
            format,
            arrays: usage.arrays,
            bytes: usage.footprint.bytes,
            padding_bytes: usage.footprint.padding_bytes(),
        });
        let mut tile_formats = tile_formats.collect::<Vec<_>>();
        tile_formats.sort_by_key(|format| std::cmp::Reverse(format.bytes));
        let mut changes = memory.layout_changes();
        changes.retain(|change| wanted(change.to.layout().memory_space()));
        changes.sort_by_key(|change| std::cmp::Reverse(change.moved_bytes));
        Self {
            module: module.name().map(str::to_owned),
            computations: module.computations().len(),
            instructions: module.instructions().len(),
            opcodes,
            spaces,
            findings: findings(module),
            most_padded: first(memory.most_padded(all), |buffer| buffer.footprint.padding_bytes()),
            largest: first(memory.largest(all), |buffer| buffer.footprint.bytes),
            tile_formats,
            layout_changes: changes
                .into_iter()
                .take(top)
                .map(|change| LayoutChange {
                    name: change.instruction.name().to_owned(),
                    opcode: change.instruction.opcode().to_string(),
                    from: change.from.to_string(),
                    to: change.to.to_string(),
                    moved_bytes: change.moved_bytes,
                })
                .collect(),
        }
    }
}

impl Answer for Report {
    fn text(&self, width: usize) -> Text {
        super::text::page(self, width)
    }
}

fn value(buffer: &Buffer<'_, '_>) -> Value {
    Value {
        name: buffer.instruction.name().to_owned(),
        leaf: buffer.leaf,
        opcode: buffer.instruction.opcode().to_string(),
        shape: buffer.array.to_string(),
        bytes: buffer.footprint.bytes,
        padding_bytes: buffer.footprint.padding_bytes(),
        expansion: buffer.footprint.expansion(),
    }
}
