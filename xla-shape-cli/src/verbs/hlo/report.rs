//! The memory view of a module, ready to be written.

use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape::hlo::{Buffer, Footprint, Module};

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) module: Option<String>,
    pub(super) computations: usize,
    pub(super) instructions: usize,
    pub(super) opcodes: BTreeMap<String, usize>,
    pub(super) spaces: Vec<Space>,
    pub(super) findings: Vec<String>,
    pub(super) most_padded: Vec<Value>,
    pub(super) largest: Vec<Value>,
    pub(super) tile_formats: Vec<TileFormat>,
    pub(super) layout_changes: Vec<LayoutChange>,
}

/// What lies in one memory space: parameters and all values, as if each had memory of its own.
#[derive(Serialize)]
pub(super) struct Space {
    pub(super) space: u8,
    pub(super) bytes: usize,
    pub(super) padding_bytes: usize,
    pub(super) values: usize,
    pub(super) parameter_bytes: usize,
    pub(super) result_bytes: usize,
    /// The most that is needed at one time; null where the module has no schedule.
    pub(super) peak_bytes: Option<usize>,
    pub(super) peak_at: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Value {
    pub(super) name: String,
    /// Which array of the instruction's value.
    pub(super) leaf: usize,
    pub(super) opcode: String,
    pub(super) shape: String,
    pub(super) bytes: usize,
    pub(super) padding_bytes: usize,
    /// Null for an array without elements.
    pub(super) expansion: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct TileFormat {
    pub(super) format: String,
    pub(super) arrays: usize,
    pub(super) bytes: usize,
    pub(super) padding_bytes: usize,
}

#[derive(Serialize)]
pub(super) struct LayoutChange {
    pub(super) name: String,
    pub(super) opcode: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) moved_bytes: usize,
}

impl Report {
    pub(super) fn new(module: &Module<'_>, top: usize, only: Option<u8>) -> Self {
        let memory = module.memory();
        let wanted = |space: u8| only.is_none_or(|only| only == space);
        let peaks = memory.peaks();
        let spaces = memory.usage().into_iter().filter(|(space, _)| wanted(*space)).map(|(space, usage)| {
            let peak = peaks.as_ref().and_then(|peaks| peaks.get(&space));
            let sum = |part: fn(Footprint) -> usize| part(usage.parameters).saturating_add(part(usage.values));
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
        let first = |ranked: Vec<Buffer<'_, '_>>, worth: fn(&Buffer<'_, '_>) -> usize| {
            let ranked = ranked.into_iter().filter(|buffer| wanted(buffer.memory_space()) && worth(buffer) > 0);
            ranked.take(top).map(|buffer| value(&buffer)).collect()
        };
        let all = memory.buffers().len();
        let mut opcodes = BTreeMap::new();
        for instruction in module.instructions() {
            *opcodes.entry(instruction.opcode().to_string()).or_insert(0) += 1;
        }
        let mut tile_formats = BTreeMap::new();
        for buffer in memory.buffers().iter().filter(|buffer| wanted(buffer.memory_space())) {
            let format = buffer.tile_format();
            let of_format = tile_formats.entry(format.clone());
            let usage = of_format.or_insert(TileFormat { format, arrays: 0, bytes: 0, padding_bytes: 0 });
            usage.arrays += 1;
            usage.bytes = usage.bytes.saturating_add(buffer.footprint.bytes);
            usage.padding_bytes = usage.padding_bytes.saturating_add(buffer.footprint.padding_bytes());
        }
        let mut tile_formats = tile_formats.into_values().collect::<Vec<_>>();
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
            findings: module.check().iter().map(ToString::to_string).collect(),
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
