//! Which devices take part in an instruction, and how a value is divided among them.

use crate::attribute::ReplicaGroups;
use crate::finding::{Findings, Problem, Result};
use crate::infer::{Devices, Members, Parameters};
use crate::module::{Instruction, Module};
use crate::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::shard::{Iota, ShardingError};

pub(super) fn check<'m, 'a>(
    instruction: Instruction<'m, 'a>,
    parameters: &mut Parameters,
    shardings: &mut Shardings,
    findings: &mut Findings<'m, 'a>,
) {
    if matches!(instruction.opcode(), Opcode::AllReduce | Opcode::AllReduceStart | Opcode::ReduceScatter) {
        findings.check(instruction, reducer(instruction, parameters));
    }
    findings.check(instruction, sharding(instruction));
    if matches!(instruction.opcode(), Opcode::While | Opcode::Conditional) {
        findings.check(instruction, same_sharding(instruction, parameters, shardings));
    }
    match instruction.opcode() {
        Opcode::AllReduce | Opcode::AllReduceStart => findings.check(instruction, groups(instruction, false)),
        Opcode::AllGather
        | Opcode::AllGatherStart
        | Opcode::AllToAll
        | Opcode::RaggedAllToAll
        | Opcode::ReduceScatter => findings.check(instruction, groups(instruction, true)),
        Opcode::CollectiveBroadcast => findings.check(instruction, once(instruction)),
        Opcode::CollectivePermute | Opcode::CollectivePermuteStart => findings.check(instruction, pairs(instruction)),
        _ => {}
    }
}

/// Checks that a sharding fits the shape, and that there are as many devices as it takes.
fn sharding(instruction: Instruction<'_, '_>) -> Result<()> {
    let Some(value) = instruction.attribute("sharding") else { return Ok(()) };
    let sharding = value.sharding()?;
    let expected = || format!("a sharding that fits {}", instruction.shape().without_layout());
    let parts = match sharding.partitions(instruction.shape()) {
        Ok(parts) => parts,
        Err(error @ (ShardingError::Rank { .. } | ShardingError::Leaves { .. } | ShardingError::NotATuple)) => {
            return Err(Problem::unfit(expected(), format!("{sharding}: {error}")));
        }
        // What a device has is not always told, and need not be.
        Err(_) => return Ok(()),
    };
    let count = instruction.module().attribute("num_partitions").and_then(|value| value.number().ok());
    // One is what XLA takes for a number that was not given.
    let Some(count) = count.filter(|&count| count > 1) else { return Ok(()) };
    match parts.into_iter().flatten().filter_map(|part| part.device_count()).find(|&found| found > count as u64) {
        Some(found) => Err(Problem::unfit(format!("a sharding for {count} devices"), format!("one for {found}"))),
        None => Ok(()),
    }
}

/// How the values of instructions are divided: each is read once.
#[derive(Default)]
pub(super) struct Shardings {
    /// The number of the sharding, by the number of the instruction; `None` where there is none.
    of: BTreeMap<u32, Option<usize>>,
    /// The number of each sharding, by its text.
    numbers: BTreeMap<String, usize>,
}

impl Shardings {
    fn number(&mut self, instruction: Instruction<'_, '_>) -> Option<usize> {
        let numbers = &mut self.numbers;
        *self.of.entry(instruction.number()).or_insert_with(|| {
            // One that cannot be read is an error elsewhere.
            let sharding = instruction.attribute("sharding")?.sharding().ok()?;
            let next = numbers.len();
            Some(*numbers.entry(format!("{sharding}")).or_insert(next))
        })
    }
}

/// Checks that a value that goes through a loop or comes out of a branch is divided in one way everywhere, where that is said.
fn same_sharding(
    instruction: Instruction<'_, '_>,
    parameters: &mut Parameters,
    shardings: &mut Shardings,
) -> Result<()> {
    let module = instruction.module();
    let mut all = alloc::vec![instruction];
    for attribute in instruction.attributes() {
        let name = attribute.name();
        if !["condition", "body", "branch_computations", "true_computation", "false_computation"].contains(&name) {
            continue;
        }
        let names = attribute.value().names().or_else(|_| attribute.value().name().map(|name| alloc::vec![name]));
        for computation in names.unwrap_or_default().into_iter().filter_map(|name| module.computation(name)) {
            if instruction.opcode() == Opcode::While {
                let first = parameters.of(computation).first();
                all.extend(first.and_then(|&number| module.instruction_at(number)));
            }
            if name != "condition" {
                all.push(computation.root());
            }
        }
    }
    let mut numbers = all.into_iter().filter_map(|found| shardings.number(found));
    let Some(first) = numbers.next() else { return Ok(()) };
    let Some(other) = numbers.find(|&other| other != first) else { return Ok(()) };
    let text =
        |number: usize| shardings.numbers.iter().find(|(_, found)| **found == number).map_or("", |(text, _)| text);
    Err(Problem::unfit(format!("the sharding {} in all that is called", text(first)), text(other)))
}

/// Checks that all sums over devices keep their layouts, or none.
pub(super) fn constraints<'m, 'a>(module: &'m Module<'a>, findings: &mut Findings<'m, 'a>) {
    let sums = |found: &Instruction<'_, '_>| matches!(found.opcode(), Opcode::AllReduce | Opcode::AllReduceStart);
    let is_constrained =
        |found: Instruction<'_, '_>| found.attribute("constrain_layout").is_some_and(|value| value.text() == "true");
    let mut all = module.instructions().filter(sums);
    if let Some(first) = all.next().map(is_constrained)
        && let Some(other) = all.find(|&found| is_constrained(found) != first)
    {
        let expected = format!("`constrain_layout={first}` as in every other one");
        findings.error(other, Problem::unfit(expected, format!("`constrain_layout={}`", !first)));
    }
}

/// Checks that what combines the elements of two devices takes two scalars and gives one.
fn reducer(instruction: Instruction<'_, '_>, parameters: &mut Parameters) -> Result<()> {
    let name = "to_apply";
    let value = instruction.attribute(name).ok_or(Problem::MissingAttribute { name })?.name()?;
    let module = instruction.module();
    let Some(computation) = module.computation(value) else {
        return match module.name() {
            Some(_) => Err(Problem::UnknownComputation { name: value.to_owned() }),
            None => Ok(()),
        };
    };
    let is_scalar = |found: Instruction<'_, '_>| found.shape().array().is_some_and(|array| array.num_dimensions() == 0);
    let numbers = parameters.of(computation);
    let all = numbers.iter().take(2).filter_map(|&number| module.instruction_at(number)).all(is_scalar);
    if numbers.len() == 2 && all && is_scalar(computation.root()) {
        return Ok(());
    }
    let expected = format!("a computation of two scalars as `{name}`");
    Err(Problem::unfit(expected, format!("`{value}` with {} parameters", numbers.len())))
}

/// Checks that the groups have every device once and, if they must, the same size.
fn groups(instruction: Instruction<'_, '_>, same_size: bool) -> Result<()> {
    let devices = Devices::of(instruction)?;
    let found = match &devices.groups {
        Some(ReplicaGroups::Lists(groups)) if !groups.is_empty() => {
            lists(groups)?;
            if let Some(first) = groups.first()
                && let Some(other) = groups.iter().find(|group| same_size && group.len() != first.len())
            {
                let expected = format!("groups of {} devices as the first one", first.len());
                return Err(Problem::unfit(expected, format!("one of {}", other.len())));
            }
            groups.iter().map(Vec::len).fold(0, usize::saturating_add)
        }
        Some(ReplicaGroups::Iota { shape, dimensions, permutation }) => {
            iota(shape, dimensions, permutation.as_deref())?
        }
        Some(ReplicaGroups::Lists(_)) | None if devices.members == Members::Devices => {
            return Err(Problem::unfit("`replica_groups`, as `use_global_device_ids` needs", "none"));
        }
        _ => return Ok(()),
    };
    let expected = devices.count();
    // One is what XLA takes for a number that was not given.
    if expected == 1 || expected == found {
        return Ok(());
    }
    let members = match devices.members {
        Members::Replicas | Members::ReplicasWithPartitions => "replicas",
        Members::Partitions => "partitions",
        Members::Devices => "devices",
    };
    Err(Problem::unfit(format!("all {expected} {members} in `replica_groups`"), format!("{found}")))
}

/// Checks that no device is in two groups; some may be in none.
fn once(instruction: Instruction<'_, '_>) -> Result<()> {
    let Some(ReplicaGroups::Lists(groups)) = Devices::of(instruction)?.groups else { return Ok(()) };
    distinct(&groups).map(drop)
}

/// The devices of all groups, of which none may be there twice.
fn distinct(groups: &[Vec<usize>]) -> Result<BTreeSet<usize>> {
    let mut seen = BTreeSet::new();
    for &device in groups.iter().flatten() {
        if !seen.insert(device) {
            return Err(Problem::unfit("every device once in `replica_groups`", format!("{device} again")));
        }
    }
    Ok(seen)
}

/// Checks that groups name the numbers from 0 on, each once.
fn lists(groups: &[Vec<usize>]) -> Result<()> {
    if groups.iter().any(Vec::is_empty) {
        return Err(Problem::unfit("devices in every group of `replica_groups`", "an empty group"));
    }
    let seen = distinct(groups)?;
    match seen.iter().zip(0..).find(|(device, number)| **device != *number) {
        Some((_, missing)) => {
            Err(Problem::unfit("the devices from 0 on in `replica_groups`", format!("none with the number {missing}")))
        }
        None => Ok(()),
    }
}

/// Checks groups that are cut from an array of numbers, and says how many numbers there are.
fn iota(shape: &[usize], dimensions: &[usize], permutation: Option<&[usize]>) -> Result<usize> {
    let wide = |sizes: &[usize]| sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
    let in_order = (0..dimensions.len()).collect::<Vec<_>>();
    let numbers = match Iota::new(&wide(dimensions), permutation.unwrap_or(&in_order)) {
        Ok(numbers) => Some(numbers.count()),
        Err(ShardingError::PermutationLength { .. } | ShardingError::Permutation { .. }) => {
            return Err(Problem::unfit("a permutation of the array's dimensions after `T`", "other numbers"));
        }
        Err(_) => None,
    };
    let found = shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size)).unwrap_or(usize::MAX);
    if found == 0 || numbers != Some(found as u64) {
        let numbers = numbers.map_or_else(|| "none that can be".to_owned(), |numbers| format!("{numbers}"));
        let expected = format!("as many devices in the groups as in the array of their numbers, {numbers}");
        return Err(Problem::unfit(expected, format!("{found}")));
    }
    Ok(found)
}

/// Checks that no device sends twice, nor receives twice, and that all are there.
fn pairs(instruction: Instruction<'_, '_>) -> Result<()> {
    let name = "source_target_pairs";
    let Some(value) = instruction.attribute(name) else { return Err(Problem::MissingAttribute { name }) };
    let ReplicaGroups::Lists(pairs) = value.replica_groups()? else { return Ok(()) };
    let devices = Devices::of(instruction)?;
    let limit = match devices.members {
        Members::Replicas => devices.replicas,
        _ => devices.partitions,
    };
    // Where parts of buffers are sent, each part has a pair.
    let parts = instruction.operand(2).and_then(|operand| operand.shape()?.tuple_shapes());
    let (mut sources, mut targets) = (BTreeSet::new(), BTreeSet::new());
    for pair in &pairs {
        let &[source, target] = pair.as_slice() else {
            return Err(value.is_not("pairs of a source and a target").into());
        };
        if let Some(device) = [source, target].into_iter().find(|&device| limit > 1 && device >= limit) {
            return Err(Problem::unfit(format!("devices below {limit} in `{name}`"), format!("{device}")));
        }
        if parts.is_some() {
            continue;
        }
        if !sources.insert(source) {
            return Err(Problem::unfit(format!("every source once in `{name}`"), format!("{source} again")));
        }
        if !targets.insert(target) {
            return Err(Problem::unfit(format!("every target once in `{name}`"), format!("{target} again")));
        }
    }
    Ok(())
}
