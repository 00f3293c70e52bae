//! How XLA compiles a change of sharding, compared with the least that must move.

use super::{Change, ReshardError, Resharding};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use xla_shape_core::shard::{Sharding, ShardingKind};
use xla_shape_hlo::{Collective, Module, OutOfMemory, RefusalCause};
use xla_shape_program::CompilerAnswer;

/// What a compiler makes of a program that changes the sharding of an array, and nothing else.
///
/// ```
/// use xla_shape_answers::reshard::{ByXla, Change, Resharding, XlaCollective, XlaMoves};
/// use xla_shape_hlo::Module;
/// use xla_shape_program::CompilerAnswer;
///
/// let change = Change {
///     array: "f32[8,4]".parse()?,
///     from: "{devices=[2,1]<=[2]}".parse()?,
///     to: "{replicated}".parse()?,
///     rearrangement: None,
///     layout: None,
///     hosts: None,
///     devices: Vec::new(),
/// };
/// assert!(change.program(2, &[])?.starts_with("HloModule reshard, num_partitions=2\n"));
/// assert!(change.program(8, &[]).is_err(), "it has two devices");
/// // The program that a compiler made of the change.
/// let module = Module::parse(
///     "HloModule m, num_partitions=2
///     ENTRY e { p = f32[4,4] parameter(0)
///       ROOT g = f32[8,4] all-gather(p), replica_groups={{0,1}}, dimensions={0} }",
/// )?;
/// let warning = "[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {manual} to {replicated} efficiently \
///     for HLO operation %p = f32[4,4] parameter(0)";
/// let answer = Resharding::new(&change)?.beside_xla(("v5e:1x2", 2), &CompilerAnswer::default(), (&module, ""), Some((&module, warning)));
/// let xla: ByXla = answer.xla.unwrap();
/// let moves: XlaMoves = xla.moves;
/// let gather: &XlaCollective = &moves.collectives[0];
/// assert_eq!((gather.opcode.as_str(), gather.bytes_moved, moves.bytes_moved), ("all-gather", Some(128), Some(128)));
/// assert!(!moves.warns && xla.through.unwrap().warns);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ByXla {
    /// The devices that it compiled for, such as "v5e:2x4".
    #[serde(rename = "for")]
    pub devices: String,
    /// The compiler's version, in its own words; null if it does not say it.
    pub compiler: Option<String>,
    /// The bytes that it moves.
    #[serde(flatten)]
    pub moves: XlaMoves,
    /// What it moves if the program goes through the shardings of `through`; null if there are none.
    pub through: Option<XlaMoves>,
}

/// What a compiled program moves between devices.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct XlaMoves {
    /// The collective operations, in the order of the program.
    pub collectives: Vec<XlaCollective>,
    /// The bytes that all devices together receive in these operations; null if they are not known for one of the operations.
    pub bytes_moved: Option<u64>,
    /// Whether the compiler warns of an "Involuntary full rematerialization".
    pub warns: bool,
}

impl XlaMoves {
    fn new((module, notes): (&Module, &str), devices: u64) -> Self {
        let collectives =
            module.collectives().iter().map(|found| XlaCollective::new(found, devices)).collect::<Vec<_>>();
        let bytes_moved = collectives.iter().try_fold(0_u64, |sum, found| sum.checked_add(found.bytes_moved?));
        Self { collectives, bytes_moved, warns: warns(notes) }
    }
}

/// Whether a compiler's notes have the warning of a full rematerialization.
fn warns(notes: &str) -> bool {
    let mut messages = OutOfMemory::default();
    (1..).zip(notes.lines()).for_each(|(number, line)| messages.read_line(number, line));
    messages.refusals().iter().any(|refusal| matches!(refusal.cause, RefusalCause::FullReplication { .. }))
}

/// A collective operation of a compiled program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct XlaCollective {
    /// The opcode, such as "all-gather", always without "-start".
    pub opcode: String,
    /// The name of the instruction.
    pub instruction: String,
    /// The groups of devices, or the pairs of a permutation, as the module writes them; null if it does not.
    pub groups: Option<String>,
    /// The bytes that all devices together receive in all runs of the instruction, without padding; null if that is not known.
    pub bytes_moved: Option<u64>,
}

impl XlaCollective {
    fn new(found: &Collective<'_>, devices: u64) -> Self {
        let own = found.instruction;
        let opcode = own.opcode().to_string();
        let groups = ["replica_groups", "source_target_pairs"].into_iter().find_map(|name| own.attribute(name));
        Self {
            opcode: opcode.strip_suffix("-start").map_or_else(|| opcode.clone(), str::to_owned),
            instruction: own.name().to_owned(),
            groups: groups.map(|groups| groups.text().to_owned()),
            bytes_moved: found
                .bytes_received(devices)
                .zip(found.runs)
                .and_then(|(bytes, runs)| bytes.checked_mul(runs)),
        }
    }
}

impl Resharding {
    /// Adds the compiled form of [`Change::program`] for these devices (their name and number): the compiled program, and what the compiler wrote to
    /// standard error. `through` has the same two for the program that goes through the intermediate shardings.
    #[must_use]
    pub fn beside_xla(
        mut self,
        (name, devices): (&str, u64),
        said: &CompilerAnswer,
        direct: (&Module, &str),
        through: Option<(&Module, &str)>,
    ) -> Self {
        self.xla = Some(ByXla {
            devices: name.to_owned(),
            compiler: said.compiler.clone(),
            moves: XlaMoves::new(direct, devices),
            through: through.map(|through| XlaMoves::new(through, devices)),
        });
        self
    }
}

impl Change {
    /// A program in HLO for `devices` devices that makes the change, through the shardings in `through` if there are any. It has no layouts: the
    /// compiler chooses them, and they have no influence on what moves.
    ///
    /// # Errors
    /// If the change is refused as by [`Resharding::new`], or a sharding is not one of all these devices.
    pub fn program(&self, devices: u64, through: &[Sharding]) -> Result<String, ReshardError> {
        self.plan()?;
        let Self { array, rearrangement, .. } = self;
        let [from, to] = &self.sides()?;
        let (before, after) = (of_all(from, false, devices)?, of_all(to, true, devices)?);
        let element = array.element_type();
        let mut text = format!(
            "HloModule reshard, num_partitions={devices}\n\nENTRY main {{\n  before = {} parameter(0), sharding={before}\n",
            array.without_layout()
        );
        let mut last = "before".to_owned();
        let mut result = array.clone();
        // Writing to a `String` cannot fail.
        if let Some(rearrangement) = rearrangement {
            let (sizes, order) = rearrangement.axes(array).map_err(ReshardError::Rearrangement)?;
            result = rearrangement.result(array).map_err(ReshardError::Rearrangement)?;
            let turned = order.iter().filter_map(|&axis| sizes.get(axis)).collect::<Vec<_>>();
            let _ = writeln!(text, "  axes = {element}[{}] reshape(before)", list(&sizes));
            let _ = writeln!(
                text,
                "  turned = {element}[{}] transpose(axes), dimensions={{{}}}",
                list(turned),
                list(&order)
            );
            let _ = writeln!(text, "  whole = {} reshape(turned)", result.without_layout());
            last = "whole".to_owned();
        }
        // JAX's `with_sharding_constraint` is such a call.
        let mut constrain = |name: &str, sharding: &str| {
            let shape = result.without_layout();
            let target = "custom_call_target=\"Sharding\"";
            let _ = writeln!(text, "  {name} = {shape} custom-call({last}), {target}, sharding={sharding}");
            last = name.to_owned();
        };
        for (number, sharding) in through.iter().enumerate() {
            constrain(&format!("between.{number}"), &of_all(sharding, true, devices)?);
        }
        constrain("ROOT after", &after);
        text.push_str("}\n");
        Ok(text)
    }
}

fn list(numbers: impl IntoIterator<Item: ToString>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

/// The sharding without names of axes, because older compilers do not support these. An error if its devices are not 0 to `devices - 1`.
fn of_all(sharding: &Sharding, is_new: bool, devices: u64) -> Result<String, ReshardError> {
    let wrong = if is_new { ReshardError::After } else { ReshardError::Before };
    let tiled = sharding.to_tiled().map_err(wrong)?;
    if let ShardingKind::Tiled(tiled) = tiled.kind() {
        let own = tiled.assignment().devices();
        let found = own.count();
        let is_known = |device| u64::try_from(device).is_ok_and(|device| device < devices);
        if found != devices || !own.iter().all(is_known) {
            return Err(ReshardError::OtherDevices { is_new, expected: devices, found });
        }
    }
    Ok(tiled.to_string())
}
