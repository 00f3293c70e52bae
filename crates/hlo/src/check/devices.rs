//! Devices of collectives, and shardings.

use crate::attribute::ReplicaGroups;
use crate::finding::{Findings, Problem, Result};
use crate::infer::{Devices, GroupMode, Parameters};
use crate::module::{Instruction, Module};
use crate::parsed::ParsedAttributes;
use crate::schema::opcode::Opcode;
use crate::schema::{Family, Key};
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::shard::{Iota, ShardingError};

pub(super) fn check<'m>(
    instruction: Instruction<'m>,
    attributes: &ParsedAttributes<'m>,
    parameters: &mut Parameters,
    shardings: &mut Shardings,
    findings: &mut Findings<'m>,
) {
    let opcode = instruction.opcode();
    if matches!(opcode, Opcode::AllReduce | Opcode::AllReduceStart | Opcode::ReduceScatter) {
        findings.check(instruction, reducer(instruction, attributes, parameters));
    }
    findings.check(instruction, sharding(instruction, attributes));
    match opcode.family() {
        Family::Collective => findings.check(instruction, collective(instruction, attributes)),
        Family::Call if matches!(opcode, Opcode::While | Opcode::Conditional) => {
            findings.check(instruction, same_sharding(instruction, attributes, parameters, shardings));
        }
        Family::Call
        | Family::Elementwise
        | Family::Product
        | Family::Reduction
        | Family::Transfer
        | Family::Random
        | Family::Custom
        | Family::Start
        | Family::Done
        | Family::Other => {}
    }
}

/// Checks the devices that take part in a collective.
fn collective(instruction: Instruction<'_>, attributes: &ParsedAttributes<'_>) -> Result<()> {
    match instruction.opcode() {
        Opcode::AllReduce | Opcode::AllReduceStart => groups(instruction, attributes, false),
        Opcode::CollectiveBroadcast => once(instruction, attributes),
        Opcode::CollectivePermute | Opcode::CollectivePermuteStart => pairs(instruction, attributes),
        // XLA's verifier does not check the devices of a collective-reduce.
        Opcode::CollectiveReduce => Ok(()),
        _ => groups(instruction, attributes, true),
    }
}

/// Checks that a sharding fits the shape and needs no more devices than the module has (`InstructionVerifier::Preprocess` in
/// `xla/service/hlo_verifier.cc`, `HloSharding::Validate` in `xla/hlo/ir/hlo_sharding.cc`).
fn sharding(instruction: Instruction<'_>, attributes: &ParsedAttributes<'_>) -> Result<()> {
    let Some(sharding) = attributes.sharding(Key::Sharding)? else { return Ok(()) };
    // An outfeed has the sharding of its operands, and XLA accepts any number of elements in it.
    if instruction.opcode() == Opcode::Outfeed {
        return Ok(());
    }
    let expected = || format!("a sharding that fits {}", instruction.shape().without_layout());
    let parts = match sharding.partitions(instruction.shape()) {
        Ok(parts) => parts,
        Err(error @ (ShardingError::Rank { .. } | ShardingError::Leaves { .. } | ShardingError::NotATuple)) => {
            return Err(Problem::mismatch(expected(), format!("{sharding}: {error}")));
        }
        // Manual and unknown shardings have no partition to check.
        Err(_) => return Ok(()),
    };
    let count = instruction.module().count(Key::NumPartitions);
    // XLA treats 1 as "not stated".
    let Some(count) = count.filter(|&count| count > 1) else { return Ok(()) };
    match parts.into_iter().flatten().filter_map(|part| part.device_count()).find(|&found| found > count as u64) {
        Some(found) => Err(Problem::mismatch(format!("a sharding for {count} devices"), format!("one for {found}"))),
        None => Ok(()),
    }
}

/// A cache of the shardings of instructions, so that each text is parsed once.
#[derive(Default)]
pub(super) struct Shardings {
    /// For each instruction number: the number of its sharding, if it has one.
    by_instruction: BTreeMap<u32, Option<usize>>,
    /// The number of each sharding, by its text.
    numbers: BTreeMap<String, usize>,
}

impl Shardings {
    fn number(&mut self, instruction: Instruction<'_>) -> Option<usize> {
        let numbers = &mut self.numbers;
        *self.by_instruction.entry(instruction.number()).or_insert_with(|| {
            // If the sharding cannot be read, the function `sharding` reports it.
            let sharding = instruction.value_of(Key::Sharding)?.sharding().ok()?;
            let next = numbers.len();
            Some(*numbers.entry(format!("{sharding}")).or_insert(next))
        })
    }
}

/// Checks that a loop or conditional and the parameters and roots of its computations have the same sharding; those without a sharding do
/// not count (`InstructionVerifier::VerifyConsistentSharding`).
fn same_sharding(
    instruction: Instruction<'_>,
    attributes: &ParsedAttributes<'_>,
    parameters: &mut Parameters,
    shardings: &mut Shardings,
) -> Result<()> {
    let module = instruction.module();
    let mut all = alloc::vec![instruction];
    for entry in attributes.entries() {
        let Some(key) = Key::among(Key::CALLS, entry.attribute.name()) else { continue };
        let names = entry.attribute.value().names();
        for computation in names.unwrap_or_default().into_iter().filter_map(|name| module.computation(name)) {
            if instruction.opcode() == Opcode::While {
                let first = parameters.get(computation).first();
                all.extend(first.and_then(|&number| module.instruction_at(number)));
            }
            if key != Key::Condition {
                all.push(computation.root());
            }
        }
    }
    let mut numbers = all.into_iter().filter_map(|found| shardings.number(found));
    let Some(first) = numbers.next() else { return Ok(()) };
    let Some(other) = numbers.find(|&other| other != first) else { return Ok(()) };
    let text =
        |number: usize| shardings.numbers.iter().find(|(_, found)| **found == number).map_or("", |(text, _)| text);
    Err(Problem::mismatch(format!("the sharding {} in all called computations", text(first)), text(other)))
}

/// Checks that either all all-reduces constrain their layouts or none (`VerifyLayoutConstrainedAllReduce`).
pub(super) fn constraints<'m>(module: &'m Module, findings: &mut Findings<'m>) {
    let sums = |found: &Instruction<'_>| matches!(found.opcode(), Opcode::AllReduce | Opcode::AllReduceStart);
    let is_constrained =
        |found: Instruction<'_>| found.value_of(Key::ConstrainLayout).is_some_and(|value| value.text() == "true");
    let mut all = module.instructions().filter(sums);
    if let Some(first) = all.next().map(is_constrained)
        && let Some(other) = all.find(|&found| is_constrained(found) != first)
    {
        let expected = format!("`constrain_layout={first}`, like every other all-reduce");
        findings.error(other, Problem::mismatch(expected, format!("`constrain_layout={}`", !first)));
    }
}

/// Checks that the reduction computation takes two scalars and returns one.
fn reducer(instruction: Instruction<'_>, attributes: &ParsedAttributes<'_>, parameters: &mut Parameters) -> Result<()> {
    let name = Key::ToApply.name();
    let value = attributes.name(Key::ToApply)?.ok_or(Problem::MissingAttribute { name })?;
    let module = instruction.module();
    let Some(computation) = module.computation(value) else {
        return match module.name() {
            Some(_) => Err(Problem::UnknownComputation { name: value.to_owned() }),
            None => Ok(()),
        };
    };
    if !parameters.is_complete(computation) {
        return Ok(());
    }
    let is_scalar = |found: Instruction<'_>| found.shape().array().is_some_and(|array| array.num_dimensions() == 0);
    let numbers = parameters.get(computation);
    let all = numbers.iter().take(2).filter_map(|&number| module.instruction_at(number)).all(is_scalar);
    if numbers.len() == 2 && all && is_scalar(computation.root()) {
        return Ok(());
    }
    let expected = format!("a computation of two scalars as `{name}`");
    Err(Problem::mismatch(expected, format!("`{value}` with {} parameters", numbers.len())))
}

/// Checks that the groups contain every device once and, if `same_size`, that they have the same size (`CheckReplicaGroups`).
fn groups(instruction: Instruction<'_>, attributes: &ParsedAttributes<'_>, same_size: bool) -> Result<()> {
    let devices = Devices::new(instruction, attributes)?;
    let found = match devices.groups {
        Some(ReplicaGroups::Lists(groups)) if !groups.is_empty() => {
            lists(groups)?;
            if let Some(first) = groups.first()
                && let Some(other) = groups.iter().find(|group| same_size && group.len() != first.len())
            {
                let expected = format!("groups of {} devices, like the first one", first.len());
                return Err(Problem::mismatch(expected, format!("one of {}", other.len())));
            }
            groups.iter().map(Vec::len).sum()
        }
        Some(ReplicaGroups::Iota { shape, dimensions, permutation }) => {
            iota(shape, dimensions, permutation.as_deref())?
        }
        Some(ReplicaGroups::Lists(_)) | None if devices.mode == GroupMode::FlattenedId => {
            return Err(Problem::mismatch("`replica_groups`, which `use_global_device_ids` requires", "none"));
        }
        _ => return Ok(()),
    };
    let expected = devices.count();
    // XLA treats 1 as "not stated".
    if expected == 1 || expected == found {
        return Ok(());
    }
    let members = match devices.mode {
        GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition => "replicas",
        GroupMode::CrossPartition => "partitions",
        GroupMode::FlattenedId => "devices",
    };
    Err(Problem::mismatch(format!("all {expected} {members} in `replica_groups`"), format!("{found}")))
}

/// Checks that no device is in two groups. Devices may be missing.
fn once(instruction: Instruction<'_>, attributes: &ParsedAttributes<'_>) -> Result<()> {
    let Some(ReplicaGroups::Lists(groups)) = Devices::new(instruction, attributes)?.groups else { return Ok(()) };
    distinct(groups).map(drop)
}

/// The devices of all groups; an error if a device occurs twice.
fn distinct(groups: &[Vec<usize>]) -> Result<BTreeSet<usize>> {
    let mut seen = BTreeSet::new();
    for &device in groups.iter().flatten() {
        if !seen.insert(device) {
            return Err(Problem::mismatch("every device once in `replica_groups`", format!("{device} again")));
        }
    }
    Ok(seen)
}

/// Checks that the groups contain each number from 0 on once.
fn lists(groups: &[Vec<usize>]) -> Result<()> {
    if groups.iter().any(Vec::is_empty) {
        return Err(Problem::mismatch("devices in every group of `replica_groups`", "an empty group"));
    }
    let seen = distinct(groups)?;
    match seen.iter().zip(0..).find(|(device, number)| **device != *number) {
        Some((_, missing)) => Err(Problem::mismatch(
            "the devices from 0 on in `replica_groups`",
            format!("none with the number {missing}"),
        )),
        None => Ok(()),
    }
}

/// Checks groups in iota form, and returns the number of devices.
fn iota(shape: &[usize], dimensions: &[usize], permutation: Option<&[usize]>) -> Result<usize> {
    let wide = |sizes: &[usize]| sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
    let in_order = (0..dimensions.len()).collect::<Vec<_>>();
    let numbers = match Iota::new(&wide(dimensions), permutation.unwrap_or(&in_order)) {
        Ok(numbers) => Some(numbers.count()),
        Err(ShardingError::PermutationLength { .. } | ShardingError::Permutation { .. }) => {
            return Err(Problem::mismatch("a permutation of the array's dimensions after `T`", "other numbers"));
        }
        Err(_) => None,
    };
    let found = shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size)).unwrap_or(usize::MAX);
    if found == 0 || numbers != Some(found as u64) {
        let numbers = numbers.map_or_else(|| "too many".to_owned(), |numbers| format!("{numbers}"));
        let expected = format!("as many devices in the groups as the dimensions after `<=` have, {numbers}");
        return Err(Problem::mismatch(expected, format!("{found}")));
    }
    Ok(found)
}

/// Checks that no device is twice a source or twice a target, and that all exist (`CheckDuplicatedSourceOrTarget`).
fn pairs(instruction: Instruction<'_>, attributes: &ParsedAttributes<'_>) -> Result<()> {
    let (key, name) = (Key::SourceTargetPairs, Key::SourceTargetPairs.name());
    let Some(value) = attributes.value(key) else { return Err(Problem::MissingAttribute { name }) };
    let Some(ReplicaGroups::Lists(pairs)) = attributes.groups(key)? else { return Ok(()) };
    let devices = Devices::new(instruction, attributes)?;
    let limit = match devices.mode {
        GroupMode::CrossReplica => devices.replicas,
        _ => devices.partitions,
    };
    // A collective-permute of slices of buffers has a pair for each slice (`CheckInplaceCollectivePermute`).
    let parts = instruction.operand(2).and_then(|operand| operand.shape()?.tuple_shapes());
    let (mut sources, mut targets) = (BTreeSet::new(), BTreeSet::new());
    for pair in pairs {
        let &[source, target] = pair.as_slice() else {
            return Err(value.is_not("pairs of a source and a target").into());
        };
        if let Some(device) = [source, target].into_iter().find(|&device| limit > 1 && device >= limit) {
            return Err(Problem::mismatch(format!("devices below {limit} in `{name}`"), format!("{device}")));
        }
        if parts.is_some() {
            continue;
        }
        if !sources.insert(source) {
            return Err(Problem::mismatch(format!("every source once in `{name}`"), format!("{source} again")));
        }
        if !targets.insert(target) {
            return Err(Problem::mismatch(format!("every target once in `{name}`"), format!("{target} again")));
        }
    }
    Ok(())
}
