//! The totals of a program's memory, and the arrays that are in memory at the peak.
//!
//! To add a figure, compute it in `xla_shape_hlo`, and add a field for it here or in `report.rs`: the field is the figure's JSON. Its text is written
//! in `crates/render/src/hlo/text.rs`, and for the page in `page/data.rs`. Adding a field keeps the version of the schema; removing or renaming one,
//! or changing its meaning, needs the next version.

use super::donation::{Donatable, aliases, donatable};
use super::starts::Starts;
use crate::cost::Remedy;
use crate::device::Device;
use crate::explain::Padding;
use crate::names;
use crate::numbers::{InUnits, difference};
use crate::source::{file_and_line, is_argument, path, scope};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use xla_shape_core::memory_space;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_hlo::{Account, Buffer, Lifetime, Module, Role, Sources, Timeline};

/// The memory that a program takes on the device and on the host.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Memory {
    /// What it takes in the memory of the device, which is HBM on a TPU.
    pub device: OnDevice,
    /// What it takes in the memory of the host.
    pub host: OnHost,
}

/// What a program takes in the memory of the device, which is HBM on a TPU.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OnDevice {
    /// The bytes of the parameters on the device.
    pub arguments: u64,
    /// The bytes of the results on the device.
    pub outputs: u64,
    /// The bytes of results that are in the memory of an argument; they are in both `arguments` and `outputs`.
    pub aliases: u64,
    /// The bytes of everything else.
    pub temporaries: u64,
    /// arguments + outputs + temporaries - aliases.
    pub total: u64,
    /// The most bytes at one time as the compiler counts them. VMEM counts too, so this is not the use of HBM.
    pub peak: u64,
    /// Whether `peak` was computed from live ranges; false if it is the compiler's own figure.
    pub peak_is_computed: bool,
    /// The bytes of the program's own code; null if no file says it.
    pub generated_code: Option<u64>,
    /// Whether the numbers are the compiler's own, not an estimate.
    pub exact: bool,
}

impl OnDevice {
    /// The bytes that the program takes of the device's memory, its code included.
    pub fn used(&self) -> u64 {
        self.total.saturating_add(self.generated_code.unwrap_or(0))
    }
}

/// What a program takes in the memory of the host.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OnHost {
    /// The bytes of the parameters on the host.
    pub arguments: u64,
    /// The bytes of the results on the host.
    pub outputs: u64,
    /// The bytes of results that are in the memory of an argument; they are in both `arguments` and `outputs`.
    pub aliases: u64,
    /// The bytes of everything else.
    pub temporaries: u64,
    /// arguments + outputs + temporaries - aliases.
    pub total: u64,
}

impl Memory {
    pub(crate) fn new(account: &Account) -> Self {
        let (device, host) = (account.device, account.host);
        Self {
            device: OnDevice {
                arguments: device.arguments,
                outputs: device.outputs,
                aliases: device.aliases,
                temporaries: device.temporaries,
                total: device.total(),
                peak: account.peak,
                peak_is_computed: true,
                generated_code: None,
                exact: account.exact,
            },
            host: OnHost {
                arguments: host.arguments,
                outputs: host.outputs,
                aliases: host.aliases,
                temporaries: host.temporaries,
                total: host.total(),
            },
        }
    }
}

impl Memory {
    /// The totals of an account of memory, with the bytes of the program's code.
    pub fn with_code(account: &Account, generated_code: u64) -> Self {
        let mut memory = Self::new(account);
        memory.device.generated_code = Some(generated_code);
        memory
    }
}

/// How much of a memory space of the device is used.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Capacity {
    /// The number of the memory space: 0 is HBM, 1 VMEM.
    pub space: u8,
    /// The bytes that a program may use.
    pub bytes: u64,
    /// The bytes that the program uses.
    pub used: u64,
    /// The bytes that are left; negative if the program does not fit.
    pub free: i64,
    /// The bytes of the whole memory of a GPU, of which a JAX process takes `bytes` unless XLA_PYTHON_CLIENT_MEM_FRACTION sets another fraction; null
    /// for other devices.
    pub whole: Option<u64>,
}

impl Capacity {
    /// The same capacity with `bytes` more in use.
    pub(crate) fn with_more(self, bytes: u64) -> Self {
        let used = self.used.saturating_add(bytes);
        Self { used, free: difference(used, self.bytes), ..self }
    }
}

/// How accurate the numbers of a report are. Its text is also its JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, JsonSchema)]
#[schemars(with = "String", inline)]
pub enum Accuracy {
    /// Nothing is known about the memory.
    Unknown,
    /// From the compiler's buffer assignment.
    Exact {
        /// Whether the program is for a TPU.
        is_tpu: bool,
    },
    /// From the compiler's buffer assignment, but temporaries may take some more bytes.
    Nearly {
        /// How many more bytes temporaries may take.
        may_be_more: u64,
    },
    /// From the compiler's totals, without a buffer assignment.
    Totals,
    /// An estimate that was compared with the compiler's numbers.
    Estimate,
    /// An estimate for a module of an older release of the compiler, and what shows that the release is older.
    OlderRelease(&'static str),
    /// An estimate for a CPU or a GPU, by the rules of XLA's own assignment.
    OtherDevice,
    /// An estimate of a module without a schedule.
    Rough,
    /// An estimate of a module without a schedule that is not divided among its devices yet either: its arrays have their whole sizes.
    Undivided {
        /// The number of devices.
        devices: u64,
    },
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Accuracy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Accuracy {
    pub(crate) fn new(timeline: Option<&Timeline<'_>>) -> Self {
        let Some(timeline) = timeline else { return Self::Unknown };
        let account = timeline.account();
        match (account.exact, timeline.is_assigned()) {
            (true, true) => Self::Exact { is_tpu: timeline.is_for_tpu() },
            (true, false) => Self::Totals,
            (false, true) => Self::Nearly { may_be_more: account.may_be_more },
            (false, false) if !timeline.is_scheduled() => {
                let module = timeline.instructions().first().map(|first| first.module());
                let devices = module.filter(|module| !module.is_partitioned()).and_then(Module::partition_count);
                devices.filter(|&devices| devices > 1).map_or(Self::Rough, |devices| Self::Undivided { devices })
            }
            (false, false) if timeline.is_for_tpu() => {
                let module = timeline.instructions().first().map(|first| first.module());
                module.and_then(Module::sign_of_older_release).map_or(Self::Estimate, Self::OlderRelease)
            }
            (false, false) => Self::OtherDevice,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Exact { .. } => "exact",
            Self::Nearly { .. } => "nearly exact",
            Self::Totals => "exact totals",
            Self::Estimate | Self::OlderRelease(_) | Self::OtherDevice => "estimate",
            Self::Rough => "rough estimate",
            Self::Undivided { .. } => "rough estimate before the division",
        }
    }

    /// The name of the accuracy, with what readers must know about the numbers.
    pub(crate) fn note(self) -> String {
        match self {
            Self::Unknown => {
                "unknown: there is no program to run, it is too large, or an operand is used before its definition"
                    .into()
            }
            Self::Exact { is_tpu: false } => "exact: the compiler's own assignment".into(),
            Self::Exact { is_tpu: true } => format!("exact: the compiler's own assignment, counted by the rules of {MEASURED}"),
            Self::Nearly { may_be_more } => format!(
                "nearly exact: the compiler's own assignment; temporaries may be up to {} more, which the message \
                 (`.hlo.pb`) of the same compilation shows",
                InUnits(may_be_more)
            ),
            Self::Totals => TOTALS.into(),
            Self::Estimate => ESTIMATE.into(),
            Self::OlderRelease(sign) => format!(
                "estimate, for a module of an older release of libtpu than 0.0.47 ({sign}): of 63 programs of older releases, HBM \
                 was within 2 % for 38, and 53 % too low to 73 % too high for the others"
            ),
            Self::OtherDevice => OTHER_ESTIMATE.into(),
            Self::Rough => {
                "rough estimate: the module has no schedule, so the order of instructions in the text is taken for the order in which they run".into()
            }
            Self::Undivided { devices } => format!(
                "rough estimate with every array at its whole size: the module is not divided among its {devices} devices yet, so what one of them \
                 needs is not known; the optimized module says it"
            ),
        }
    }
}

/// The releases of libtpu for which the totals from these files were compared with the compiler's memory analysis.
const MEASURED: &str = "libtpu 0.0.17, 0.0.30, 0.0.35, 0.0.42, 0.0.51 and 0.0.52";

/// The note for programs with the compiler's memory analysis, but without a buffer assignment.
pub(crate) const TOTALS: &str =
    "exact: the compiler's own memory analysis; what is in memory at the peak is an estimate";

const OTHER_ESTIMATE: &str = "estimate, by the rules of XLA's own assignment: temporaries were within 0.1 % for 50 of 50 programs for CPUs (jaxlib 0.12); \
                              for GPUs, all memory was within 2 % for 225 of 231, and 3 % too low to 21 % too high for the others";

/// The note about how good an estimate is. The text may not show that an older release compiled the program, so the note gives the figures for older
/// releases, too.
const ESTIMATE: &str = "estimate (the release of libtpu is not shown): of 250 programs of 0.0.52, HBM was within 2 % for 98 in 100 (older \
                        ones: 60), VMEM within 10 % for 92";

pub(crate) fn capacities(device: Device, account: &Account) -> Vec<Capacity> {
    let spaces = [memory_space::DEFAULT, memory_space::GENERIC_FAST].into_iter();
    spaces.filter_map(|space| capacity_in(device, space, account.space_total(space))).collect()
}

/// The capacity of a memory space in which `used` bytes are in use.
pub fn capacity_in(device: Device, space: u8, used: u64) -> Option<Capacity> {
    let bytes = device.capacity(space)?;
    Some(Capacity { space, bytes, used, free: difference(used, bytes), whole: device.whole_gpu() })
}

/// An array that is in memory when its memory space is fullest.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Resident {
    /// The name of the instruction.
    pub name: String,
    /// Which array of the instruction's value, from 0.
    pub leaf: usize,
    /// The opcode of the instruction.
    pub opcode: String,
    /// XLA's text of the shape, with its layout.
    pub shape: String,
    /// The bytes that it takes.
    pub bytes: u64,
    /// How many of `bytes` are padding.
    pub padding_bytes: u64,
    /// "argument", "donated", "output", "constant" or "temporary".
    #[serde(serialize_with = "names::role")]
    #[schemars(with = "String")]
    pub role: Role,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The source file; null if the module has none.
    pub file: Option<String>,
    /// The line in it; null if the module has none.
    pub line: Option<usize>,
    /// For each interval in which the array is live: its first and its last step, counted from 0.
    pub live: Vec<[usize; 2]>,
    /// The byte in the heap of its memory space at which it begins; null if it is not in a heap.
    pub offset: Option<u64>,
    /// What would take less memory; null if nothing is known. No compiler confirmed it.
    pub remedy: Option<Remedy>,
}

impl Resident {
    /// The file and the line, as `train.py:43`.
    pub fn source(&self) -> Option<String> {
        Some(file_and_line(self.file.as_deref()?, self.line))
    }
}

/// Values of one kind at the peak.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Part {
    /// The kind.
    pub name: String,
    /// The bytes of all values of this kind.
    pub bytes: u64,
    /// How many values of this kind there are.
    pub values: usize,
    /// The file and the line of the largest value, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// What is in a memory space when it is fullest.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AtPeak {
    /// Its number.
    pub space: u8,
    /// The bytes in it.
    pub bytes: u64,
    /// The instruction at which it is fullest.
    pub at: String,
    /// The largest arrays in it.
    pub largest: Vec<Resident>,
    /// By role.
    pub by_role: Vec<Part>,
    /// By opcode.
    pub by_opcode: Vec<Part>,
    /// By element type.
    pub by_element_type: Vec<Part>,
    /// By scope. The scope is the op_name without its last part; for an argument, it is the first part of its name.
    pub by_scope: Vec<Part>,
    /// The tree of the largest scopes.
    pub scopes: Vec<Scope>,
}

/// A scope of the user's program, as `op_name` has it, and the scopes inside.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Scope {
    /// A part of the op_name, or several with `/` between them.
    pub name: String,
    /// The bytes of the values in it.
    pub bytes: u64,
    /// How many values are in it.
    pub values: usize,
    /// The scopes inside.
    pub scopes: Vec<Self>,
}

impl AtPeak {
    /// The arrays in `space` when it is fullest; lists have at most `top` entries.
    pub(crate) fn new<'m>(
        module: &'m Module,
        timeline: &Timeline<'m>,
        starts: &Starts<'m>,
        space: u8,
        top: usize,
    ) -> Option<Self> {
        let step = timeline.peak_step(space)?;
        let (sources, roles) = (module.sources(), Roles::new(module));
        let mut live: Vec<&Lifetime<'_>> = timeline
            .live_at(step)
            .filter(|lifetime| lifetime.buffer.memory_space() == space && lifetime.bytes > 0)
            .collect();
        sort_by_key(&mut live, |lifetime| std::cmp::Reverse(lifetime.bytes));
        let mut by = [const { BTreeMap::<String, Part>::new() }; 4];
        let mut tree = Branch::default();
        for lifetime in &live {
            let resident = resident(&sources, &roles, starts, lifetime, step);
            let source = resident.source();
            let path = path(resident.op_name.as_deref(), is_argument(lifetime.role));
            tree.add(&path, lifetime.bytes);
            let names = [
                resident.role.name().to_owned(),
                resident.opcode,
                lifetime.buffer.array.element_type().name().to_owned(),
                scope(&path, is_argument(lifetime.role)),
            ];
            for (parts, name) in by.iter_mut().zip(names) {
                let part = parts.entry(name.clone()).or_insert_with(|| Part {
                    name,
                    bytes: 0,
                    values: 0,
                    source: source.clone(),
                });
                part.bytes = part.bytes.saturating_add(lifetime.bytes);
                part.values += 1;
            }
        }
        let ranked = |parts: BTreeMap<String, Part>| {
            let mut parts = parts.into_values().collect::<Vec<_>>();
            sort_by_key(&mut parts, |part| std::cmp::Reverse(part.bytes));
            parts.truncate(top);
            parts
        };
        let [by_role, by_opcode, by_element_type, by_scope] = by.map(ranked);
        let donatable = donatable(module);
        let largest = |lifetime: &&Lifetime<'_>| Resident {
            remedy: remedy(&donatable, &lifetime.buffer),
            ..resident(&sources, &roles, starts, lifetime, step)
        };
        Some(Self {
            space,
            bytes: timeline.bytes().get(&space)?.get(step).copied()?,
            at: starts.name(*timeline.instructions().get(step)?).to_owned(),
            largest: live.iter().take(top).map(largest).collect(),
            by_role,
            by_opcode,
            by_element_type,
            by_scope,
            scopes: tree.scopes(top.saturating_mul(2)),
        })
    }
}

/// A scope while its bytes are added up.
#[derive(Default)]
struct Branch {
    bytes: u64,
    values: usize,
    parts: BTreeMap<String, Self>,
}

impl Branch {
    fn add(&mut self, path: &[String], bytes: u64) {
        let mut at = self;
        at.bytes = at.bytes.saturating_add(bytes);
        for name in path {
            at = at.parts.entry(name.clone()).or_default();
            at.bytes = at.bytes.saturating_add(bytes);
            at.values += 1;
        }
    }

    /// The `most` largest scopes, as a tree.
    fn scopes(&self, most: usize) -> Vec<Scope> {
        // A scope is never larger than the one around it, so all scopes above a threshold form a tree.
        let mut all = Vec::new();
        let mut open: Vec<&Self> = self.parts.values().collect();
        while let Some(branch) = open.pop() {
            all.push(branch.bytes);
            open.extend(branch.parts.values());
        }
        sort_by_key(&mut all, |bytes| std::cmp::Reverse(*bytes));
        let least = all.get(most.saturating_sub(1)).copied().unwrap_or(0);
        self.at_least(least, 0, &mut most.clone())
    }

    fn at_least(&self, least: u64, depth: usize, left: &mut usize) -> Vec<Scope> {
        // Bounds the recursion: an op_name may have any number of parts.
        const DEEPEST: usize = 12;
        let mut parts: Vec<_> = self.parts.iter().filter(|(_, part)| part.bytes >= least && depth < DEEPEST).collect();
        sort_by_key(&mut parts, |(_, part)| std::cmp::Reverse(part.bytes));
        parts.truncate(*left);
        *left -= parts.len();
        let scope = |(name, part): (&String, &Self)| {
            let (mut name, mut part) = (name.clone(), part);
            // If a scope contains nothing but one inner scope, join both.
            while let Some((inner, only)) = part.parts.first_key_value()
                && only.values == part.values
            {
                name = format!("{name}/{inner}");
                part = only;
            }
            Scope { name, bytes: part.bytes, values: part.values, scopes: part.at_least(least, depth + 1, left) }
        };
        parts.into_iter().map(scope).collect()
    }
}

/// The array that is stored in a buffer at a step. The buffer of a loop's state holds different values over time; this returns the last one that was
/// written.
fn resident<'m: 'm>(
    sources: &Sources<'m>,
    roles: &Roles,
    starts: &Starts<'m>,
    lifetime: &Lifetime<'m>,
    step: usize,
) -> Resident {
    let buffer = lifetime.buffer;
    let now = lifetime.value_at(step).map_or(buffer.instruction, |tenant| tenant.instruction);
    // If the value in the buffer has no op_name, as for a parameter of a loop's body, use the op_name of the buffer's own instruction.
    let [now, made] = [now, buffer.instruction].map(|made| starts.source(sources, made));
    let source = if now.op_name.is_some() { now } else { made };
    Resident {
        name: starts.name(buffer.instruction).to_owned(),
        leaf: starts.leaf(&buffer),
        opcode: starts.opcode(buffer.instruction),
        shape: buffer.array.to_string(),
        bytes: lifetime.bytes,
        padding_bytes: lifetime.bytes.saturating_sub(buffer.footprint.data_bytes),
        role: roles.of(lifetime),
        op_name: source.op_name.map(std::borrow::Cow::into_owned),
        file: source.file.map(std::borrow::Cow::into_owned),
        line: source.line,
        live: lifetime.live_ranges().iter().map(|&(first, last)| [first, last]).collect(),
        offset: lifetime.offset,
        remedy: None,
    }
}

/// What would save memory for an array: if it is mostly padding, less padding; if it is an argument, donating it.
fn remedy(donatable: &[Donatable], buffer: &Buffer<'_>) -> Option<Remedy> {
    let is_it = |found: &&Donatable| (found.instruction, found.leaf) == (buffer.instruction.number(), buffer.leaf);
    let donate = || donatable.iter().find(is_it).map(Donatable::remedy);
    Padding::remedy(buffer.array).map(Remedy::LessPadding).or_else(donate)
}

/// Finds the roles of lifetimes.
pub struct Roles {
    /// The numbers of the parameters in `input_output_alias`. Results reuse the memory of these parameters.
    pub donated: BTreeSet<usize>,
}

impl Roles {
    pub(crate) fn new(module: &Module) -> Self {
        Self { donated: aliases(module).iter().map(|alias| alias.parameter).collect() }
    }

    /// The role. A parameter that the program returns is donated only if `input_output_alias` names it; otherwise it is an
    /// argument.
    pub fn of(&self, lifetime: &Lifetime<'_>) -> Role {
        let own = std::iter::once(lifetime.buffer.instruction);
        let mut values = own.chain(lifetime.values.iter().map(|tenant| tenant.instruction));
        let is_donated =
            values.any(|value| value.parameter_number().is_some_and(|number| self.donated.contains(&number)));
        if lifetime.role == Role::Donated && !is_donated { Role::Argument } else { lifetime.role }
    }
}

#[cfg(test)]
mod tests {
    use super::Accuracy;
    use xla_shape_hlo::Module;

    #[test]
    fn an_estimate_for_an_older_release_does_not_promise_what_a_newer_one_keeps() {
        let text = |config: &str| {
            format!(
                "HloModule m, is_scheduled=true\nENTRY e {{\n  p = f32[8,128]{{1,0:T(8,128)}} parameter(0)\n  \
                 ROOT n = f32[8,128]{{1,0:T(8,128)}} broadcast(p), dimensions={{0,1}}, backend_config={config}\n}}\n"
            )
        };
        let note = |config: &str| {
            let module = Module::parse(&text(config)).unwrap();
            Accuracy::new(module.memory().timeline().as_ref()).note()
        };
        let newer = note("{\"flag_configs\":[],\"aliasing_operands\":{\"lists\":[]}}");
        let expected = "estimate (the release of libtpu is not shown): of 250 programs of 0.0.52";
        assert!(newer.starts_with(expected), "{newer}");
        let older = note("{\"flag_configs\":[]}");
        let expected = "estimate, for a module of an older release of libtpu than 0.0.47 (a broadcast is configured without `aliasing_operands`)";
        assert!(older.starts_with(expected) && !older.contains("98 in 100"), "{older}");
    }
}
