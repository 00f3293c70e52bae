//! What the values of a program take in memory, as data.

use super::memory::{Accuracy, AtPeak, Capacity, Device, Memory, capacities, capacity_of};
use super::sharding::Shardings;
use super::statistics::Statistics;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_core::memory_space;
use xla_shape_hlo::{Account, Buffer, Footprint, Module, Opcode, Timeline};

/// What the values of a program take in memory, and what is wrong with its instructions.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub(super) module: Option<String>,
    pub(super) computations: usize,
    pub(super) instructions: usize,
    pub(super) opcodes: BTreeMap<String, usize>,
    /// Null where the module has no program to run.
    pub(super) memory: Option<Memory>,
    /// Whether instructions stand in the order in which they run.
    pub(super) scheduled: bool,
    /// How the numbers of `memory` came about.
    pub(super) accuracy: &'static str,
    /// The compiler's own files that were read.
    pub(super) files: Vec<String>,
    /// The other modules of the directory.
    pub(super) other_modules: Vec<String>,
    /// Empty where no device is given.
    pub(super) capacity: Vec<Capacity>,
    pub(super) spaces: Vec<Space>,
    pub(super) at_peak: Vec<AtPeak>,
    /// Null where no sharding says what a device has, for one device, and where the module is partitioned.
    pub(super) sharding: Option<Shardings>,
    pub(super) collectives: Vec<Collective>,
    pub(super) copies: Vec<Copied>,
    pub(super) findings: Vec<Finding>,
    pub(super) most_padded: Vec<Value>,
    pub(super) largest: Vec<Value>,
    pub(super) tile_formats: Vec<TileFormat>,
    pub(super) layout_changes: Vec<LayoutChange>,
}

/// How much a module has; asynchronous operations in short form count as the computations that they stand for.
struct Counts {
    computations: usize,
    instructions: usize,
    opcodes: BTreeMap<String, usize>,
}

impl Counts {
    fn of(module: &Module<'_>) -> Self {
        let mut counts = Self { computations: module.computations().len(), instructions: 0, opcodes: BTreeMap::new() };
        for instruction in module.instructions() {
            let opcode = instruction.opcode();
            let Some((step, operation)) = opcode.long_form() else {
                counts.add(opcode, 1);
                continue;
            };
            counts.add(step, 1);
            if step == Opcode::AsyncStart {
                counts.computations += 1;
                counts.add(Opcode::Parameter, instruction.operands().len());
                counts.add(operation, 1);
            }
        }
        counts
    }

    fn add(&mut self, opcode: Opcode<'_>, count: usize) {
        if count > 0 {
            self.instructions += count;
            *self.opcodes.entry(opcode.to_string()).or_insert(0) += count;
        }
    }
}

/// What the check of a module found.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    /// `error` or `hint`.
    pub(super) severity: &'static str,
    pub(super) instruction: String,
    pub(super) message: String,
    /// Where it stands in the text: first byte, and the one after the last.
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
pub(crate) struct Value {
    pub(crate) name: String,
    /// Which array of the instruction's value.
    pub(crate) leaf: usize,
    pub(crate) opcode: String,
    pub(crate) shape: String,
    pub(crate) bytes: u64,
    pub(crate) padding_bytes: u64,
    /// Null for an array without elements.
    pub(crate) expansion: Option<f64>,
    /// How many values have this shape; the numbers are those of one.
    pub(crate) values: usize,
}

/// An operation in which devices take part together.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Collective {
    pub(super) name: String,
    pub(super) opcode: String,
    pub(super) element_type: Option<String>,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    /// As the module writes them.
    pub(super) groups: Option<String>,
    /// How often it runs; null where a loop does not say how often it turns.
    pub(super) runs: Option<u64>,
    pub(super) op_name: Option<String>,
}

/// A copy, and who reads it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Copied {
    pub(super) name: String,
    pub(super) opcode: String,
    pub(super) shape: String,
    pub(super) bytes: u64,
    pub(super) from_space: u8,
    pub(super) to_space: u8,
    /// The instructions that read the copy, the first few of them.
    pub(super) read_by: Vec<String>,
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
        Self::on(module, module.memory().timeline_on(None).as_ref(), None, top, only)
    }

    /// Reports on `module` with the timeline that is known of it, and the device that it must fit.
    #[must_use]
    pub fn on(
        module: &Module<'_>,
        timeline: Option<&Timeline<'_, '_>>,
        device: Option<Device>,
        top: usize,
        only: Option<u8>,
    ) -> Self {
        let memory = module.memory();
        let account = timeline.map(Timeline::account);
        let wanted = |space: u8| only.is_none_or(|only| only == space);
        let peaks = timeline.filter(|timeline| timeline.is_scheduled()).map(Timeline::peaks);
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
        let all = memory.buffers().len();
        let here = |buffer: &Buffer<'_, '_>| wanted(buffer.memory_space()) && buffer.footprint.bytes > 0;
        let largest = memory.largest(all).into_iter().filter(here);
        let padded = memory.most_padded(all).into_iter().filter(here);
        let padded = padded.filter(|buffer| buffer.footprint.padding_bytes() > 0);
        let counts = Counts::of(module);
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
            computations: counts.computations,
            instructions: counts.instructions,
            opcodes: counts.opcodes,
            memory: account.map(Memory::new),
            scheduled: module.is_scheduled(),
            accuracy: Accuracy::of(timeline).note(),
            files: Vec::new(),
            other_modules: Vec::new(),
            capacity: device.zip(account).map_or_else(Vec::new, |(device, account)| capacities(device, account)),
            spaces,
            at_peak: at_peak(module, timeline, top, only),
            sharding: Shardings::new(module, device, top),
            collectives: collectives(module, top),
            copies: copies(module, &wanted, top),
            findings: findings(module),
            most_padded: grouped(padded, |buffer| buffer.footprint.padding_bytes(), top),
            largest: largest.take(top).map(|buffer| value(&buffer)).collect(),
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

impl Report {
    /// Says which of the compiler's own files were read, and which other modules lie beside this one.
    #[must_use]
    pub fn from_files(self, files: Vec<String>, other_modules: Vec<String>) -> Self {
        Self { files, other_modules, ..self }
    }

    /// Takes the totals from the compiler's own memory analysis instead, and the bytes of the program's code.
    #[must_use]
    pub fn with_account(self, account: &Account, generated_code: u64, device: Option<Device>) -> Self {
        let space = memory_space::DEFAULT;
        let memory = Memory::of_compiler(account, generated_code);
        let hbm = device.and_then(|device| capacity_of(device, space, memory.device.used()));
        let others = self.capacity.into_iter().filter(|capacity| capacity.space != space);
        let capacity = hbm.into_iter().chain(others).collect();
        let accuracy = "exact: the compiler's own memory analysis; what lies where at the peak is an estimate";
        Self { memory: Some(memory), capacity, accuracy, ..self }
    }

    /// The values with the most padding.
    pub(crate) fn most_padded(&self) -> &[Value] {
        &self.most_padded
    }
}

impl Report {
    /// Adds what the compiler's memory analysis knows: the size of the code, and of an exact report the peak.
    #[must_use]
    pub fn with_statistics(mut self, statistics: &Statistics) -> Self {
        if let Some(memory) = &mut self.memory {
            memory.device.generated_code = statistics.generated_code;
            memory.device.peak = statistics.peak.filter(|_| memory.device.exact).unwrap_or(memory.device.peak);
        }
        // Code lies in HBM, too.
        let code = statistics.generated_code.unwrap_or(0);
        let with_code = |capacity: Capacity| match capacity.space {
            memory_space::DEFAULT => capacity.with_more(code),
            _ => capacity,
        };
        self.capacity = self.capacity.into_iter().map(with_code).collect();
        self
    }
}

fn at_peak(module: &Module<'_>, timeline: Option<&Timeline<'_, '_>>, top: usize, only: Option<u8>) -> Vec<AtPeak> {
    let spaces = only.map_or_else(|| vec![memory_space::DEFAULT, memory_space::GENERIC_FAST], |only| vec![only]);
    spaces.into_iter().filter_map(|space| AtPeak::new(module, timeline?, space, top)).collect()
}

fn collectives(module: &Module<'_>, top: usize) -> Vec<Collective> {
    let sources = module.sources();
    let mut found = module.collectives();
    found.sort_by_key(|found| {
        let moved = found.bytes_in.saturating_add(found.bytes_out);
        std::cmp::Reverse(moved.saturating_mul(found.runs.unwrap_or(1)))
    });
    let found = found.into_iter().take(top).map(|found| {
        let instruction = found.instruction;
        let operand = instruction.operand(0).and_then(|operand| operand.shape()?.array());
        let groups = ["replica_groups", "source_target_pairs"].into_iter();
        let groups = groups.filter_map(|key| instruction.attribute(key)).map(|groups| groups.text().to_owned()).next();
        Collective {
            name: instruction.name().to_owned(),
            opcode: instruction.opcode().to_string(),
            element_type: operand.map(|array| array.element_type().name().to_owned()),
            bytes_in: found.bytes_in,
            bytes_out: found.bytes_out,
            groups,
            runs: found.runs,
            op_name: sources.of(instruction).op_name.map(std::borrow::Cow::into_owned),
        }
    });
    found.collect()
}

/// The largest copies of the program, inside a memory space or between two.
fn copies(module: &Module<'_>, wanted: &dyn Fn(u8) -> bool, top: usize) -> Vec<Copied> {
    const READERS: usize = 3;
    let memory = module.memory();
    let mut readers: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    // What has begun is read where it is done.
    let mut done = BTreeMap::new();
    let mut found = Vec::new();
    for instruction in memory.computations().iter().flat_map(|computation| computation.instructions()) {
        let is_copy = matches!(instruction.opcode(), Opcode::Copy | Opcode::CopyStart);
        let from = instruction.operand(0).and_then(|operand| operand.shape()?.array());
        let to = match instruction.shape().tuple_shapes() {
            Some(elements) => elements.first().and_then(|element| element.array()),
            None => instruction.shape().array(),
        };
        if let Some((from, to)) = from.zip(to).filter(|_| is_copy) {
            let spaces = (from.layout().memory_space(), to.layout().memory_space());
            if wanted(spaces.0) || wanted(spaces.1) {
                found.push((instruction, to, spaces));
            }
        }
        for operand in instruction.operands().filter_map(|operand| operand.instruction()) {
            let named = readers.entry(operand.number()).or_default();
            if named.len() < READERS {
                named.push(instruction.name().to_owned());
            }
            if instruction.opcode() == Opcode::CopyDone {
                done.insert(operand.number(), instruction.number());
            }
        }
    }
    found.sort_by_key(|(_, to, _)| std::cmp::Reverse(to.byte_size()));
    let read_by = |instruction: xla_shape_hlo::Instruction<'_, '_>| {
        let made = done.get(&instruction.number()).copied().unwrap_or(instruction.number());
        readers.get(&made).cloned().unwrap_or_default()
    };
    let found = found.into_iter().take(top).map(|(instruction, to, (from_space, to_space))| Copied {
        name: instruction.name().to_owned(),
        opcode: instruction.opcode().to_string(),
        shape: to.to_string(),
        bytes: to.byte_size().unwrap_or(0),
        from_space,
        to_space,
        read_by: read_by(instruction),
    });
    found.collect()
}

/// Values of one shape stand together; those whose sum is worth most come first.
fn grouped<'m, 'a: 'm>(
    ranked: impl Iterator<Item = Buffer<'m, 'a>>,
    worth: fn(&Buffer<'_, '_>) -> u64,
    top: usize,
) -> Vec<Value> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<(u64, Value)> = Vec::new();
    for buffer in ranked {
        let shape = buffer.array.to_string();
        match places.get(&shape).and_then(|&place| groups.get_mut(place)) {
            Some((sum, group)) => {
                *sum = sum.saturating_add(worth(&buffer));
                group.values += 1;
            }
            None => {
                places.insert(shape, groups.len());
                groups.push((worth(&buffer), value(&buffer)));
            }
        }
    }
    groups.sort_by_key(|(sum, _)| std::cmp::Reverse(*sum));
    groups.into_iter().take(top).map(|(_, group)| group).collect()
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
        values: 1,
    }
}
