//! The lists of a report: collectives, copies, values.

use super::report::{AxisTraffic, Collective, Copied, Place, Value};
use super::starts::Starts;
use std::collections::BTreeMap;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_hlo::{Buffer, Collective as Moved, Instruction, Module, Opcode, Sources};

/// The collectives that move the most bytes, and the bytes that all of them move along each axis of the devices' mesh.
pub(super) fn collectives<'m>(
    module: &'m Module,
    starts: &Starts<'m>,
    top: usize,
) -> (Vec<Collective>, Vec<AxisTraffic>) {
    let (sources, mesh) = (module.sources(), module.device_mesh());
    // A collective in a loop counts as often as it runs, or once if that is not known.
    let mut found = module.collectives();
    sort_by_key(&mut found, |found| {
        let moved = found.bytes_in.saturating_add(found.bytes_out);
        (std::cmp::Reverse(moved.saturating_mul(found.runs.unwrap_or(1))), starts.named(found.instruction).number())
    });
    let along = |found: &Moved<'m>| {
        let along = found.instruction.collective_axes(mesh.as_ref()?)?;
        Some((along.axes.iter().map(ToString::to_string).collect::<Vec<_>>(), along.shift))
    };
    let mut by_axis: Vec<AxisTraffic> = Vec::new();
    for (found, (axes, _)) in found.iter().filter_map(|found| Some((found, along(found)?))) {
        let bytes = found.runs.and_then(|runs| found.bytes_in.checked_mul(runs));
        match by_axis.iter_mut().find(|other| other.axes == axes) {
            Some(other) => {
                // If the bytes of one collective are unknown, so is the sum.
                other.collectives += 1;
                other.bytes = other.bytes.zip(bytes).and_then(|(sum, bytes)| sum.checked_add(bytes));
            }
            None => by_axis.push(AxisTraffic { axes, collectives: 1, bytes }),
        }
    }
    sort_by_key(&mut by_axis, |traffic| std::cmp::Reverse(traffic.bytes));
    let found = found.into_iter().take(top).map(|found| {
        let instruction = found.instruction;
        let operand = instruction.operand(0).and_then(|operand| operand.shape()?.array());
        let groups = ["replica_groups", "source_target_pairs"].into_iter();
        let groups = groups.filter_map(|key| instruction.attribute(key)).map(|groups| groups.text().to_owned()).next();
        let (axes, shift) = along(&found).unwrap_or_default();
        Collective {
            name: starts.name(instruction).to_owned(),
            opcode: starts.opcode(instruction),
            element_type: operand.map(|array| array.element_type().name().to_owned()),
            bytes_in: found.bytes_in,
            bytes_out: found.bytes_out,
            groups,
            axes,
            shift,
            operand: operand.map(ToString::to_string),
            argument: argument(instruction, &sources),
            runs: found.runs,
            place: Place::new(starts.source(&sources, instruction)),
        }
    });
    (found.collect(), by_axis)
}

/// The user's name of the argument that is the first operand, directly or through copies.
fn argument(collective: Instruction<'_>, sources: &Sources<'_>) -> Option<String> {
    /// Longer chains of copies are not followed.
    const LONGEST: usize = 16;
    let mut value = collective.operand(0)?.instruction()?;
    for _ in 0..LONGEST {
        match value.opcode() {
            Opcode::Parameter if value.computation().is_entry() => {
                return sources.get(value).op_name.map(std::borrow::Cow::into_owned);
            }
            Opcode::Copy | Opcode::CopyStart | Opcode::CopyDone | Opcode::Bitcast | Opcode::OptBarrier => {
                value = value.operand(0)?.instruction()?;
            }
            _ => return None,
        }
    }
    None
}

/// The largest copies of the program, inside a memory space or between two.
pub(super) fn copies<'m>(
    memory: &xla_shape_hlo::Memory<'m>,
    starts: &Starts<'m>,
    wanted: &dyn Fn(u8) -> bool,
    top: usize,
) -> Vec<Copied> {
    const READERS: usize = 3;
    // The readers of each copy, by the copy's number.
    let mut readers: BTreeMap<u32, Vec<Instruction<'m>>> = BTreeMap::new();
    // The result of a copy-start is read from its copy-done.
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
                found.push((instruction, to, to.byte_size(), spaces));
            }
        }
        let copied =
            |operand: &Instruction<'_>| matches!(operand.opcode(), Opcode::Copy | Opcode::CopyStart | Opcode::CopyDone);
        for operand in instruction.operands().filter_map(|operand| operand.instruction()).filter(copied) {
            let reading = readers.entry(operand.number()).or_default();
            if reading.len() < READERS {
                reading.push(instruction);
            }
            if instruction.opcode() == Opcode::CopyDone {
                done.insert(operand.number(), instruction.number());
            }
        }
    }
    sort_by_key(&mut found, |(copy, _, bytes, _)| (std::cmp::Reverse(*bytes), starts.named(*copy).number()));
    let read_by = |instruction: Instruction<'m>| {
        let made = done.get(&instruction.number()).copied().unwrap_or(instruction.number());
        readers.get(&made).into_iter().flatten().map(|reader| starts.name(*reader).to_owned()).collect()
    };
    let found = found.into_iter().take(top).map(|(instruction, to, bytes, (from_space, to_space))| Copied {
        name: starts.name(instruction).to_owned(),
        opcode: starts.opcode(instruction),
        shape: to.to_string(),
        bytes: bytes.unwrap_or(0),
        from_space,
        to_space,
        read_by: read_by(instruction),
    });
    found.collect()
}

/// Joins values of the same shape, and sorts them by the sum of their padding.
pub(super) fn grouped<'m: 'm>(
    sources: &Sources<'m>,
    starts: &Starts<'m>,
    ranked: Vec<Buffer<'m>>,
    top: usize,
) -> Vec<Value> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Value> = Vec::new();
    for buffer in ranked {
        let shape = buffer.array.to_string();
        match places.get(&shape).and_then(|&place| groups.get_mut(place)) {
            Some(group) => {
                group.all_bytes = group.all_bytes.saturating_add(buffer.footprint.bytes);
                group.all_padding_bytes = group.all_padding_bytes.saturating_add(buffer.footprint.padding_bytes());
                group.values += 1;
            }
            None => {
                places.insert(shape, groups.len());
                groups.push(value(sources, starts, &buffer));
            }
        }
    }
    sort_by_key(&mut groups, |group| std::cmp::Reverse(group.all_padding_bytes));
    groups.truncate(top);
    groups
}

pub(super) fn value<'m: 'm>(sources: &Sources<'m>, starts: &Starts<'m>, buffer: &Buffer<'m>) -> Value {
    Value {
        name: starts.name(buffer.instruction).to_owned(),
        leaf: starts.leaf(buffer),
        opcode: starts.opcode(buffer.instruction),
        shape: buffer.array.to_string(),
        bytes: buffer.footprint.bytes,
        padding_bytes: buffer.footprint.padding_bytes(),
        expansion: buffer.footprint.expansion(),
        values: 1,
        all_bytes: buffer.footprint.bytes,
        all_padding_bytes: buffer.footprint.padding_bytes(),
        place: Place::new(starts.source(sources, buffer.instruction)),
    }
}
