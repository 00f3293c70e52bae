//! One instruction of a program, with everything that is known about it.

use super::memory::Roles;
use crate::Answer;
use crate::amount;
use crate::cost::Amount;
use crate::digest::{self, Digest};
use crate::names;
use crate::source::source_text;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::{ArrayShape, Shape};
use xla_shape_hlo::cost::{CostError, Costs};
use xla_shape_hlo::{Footprint, Instruction, Lifetime, Module, Readers, Role, Sources, Timeline};
use xla_shape_program::ProgramMemory;

/// One instruction: its operands and readers, layouts, source line, place in memory, cycles and padding.
///
/// ```
/// use xla_shape_hlo::{Module, Role};
/// use xla_shape_answers::Answer;
/// use xla_shape_program::Program;
/// use xla_shape_answers::hlo::{ShowError, ShownInstruction};
///
/// let program = Program::from(Module::parse("\
/// HloModule m, is_scheduled=true
/// ENTRY main {
///   a = f32[4,100]{1,0:T(8,128)} parameter(0)
///   ROOT b = f32[4,100]{1,0:T(8,128)} negate(a)
/// }")?);
/// let memory = program.memory(None);
/// let shown = ShownInstruction::new(&memory, "%a")?;
/// assert!(shown.json().contains(r#""readers":["b"]"#));
/// assert_eq!((shown.padding, shown.arrays[0].role), (Some(2496), Some(Role::Argument)));
/// let error = ShownInstruction::new(&memory, "aa").unwrap_err();
/// assert_eq!(error, ShowError::NoInstruction { name: "aa".to_owned(), nearest: Some("a".to_owned()) });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShownInstruction {
    /// Its name.
    pub instruction: String,
    /// Its opcode.
    pub opcode: String,
    /// The name of the computation that it is in.
    pub computation: String,
    /// The shape of its value, with its layout.
    pub shape: String,
    /// The names of its operands.
    pub operands: Vec<String>,
    /// The shapes of its operands; null for one that is not known.
    pub operand_shapes: Vec<Option<String>>,
    /// The names of the instructions that read it.
    pub readers: Vec<String>,
    /// The names of the computations that it calls.
    pub calls: Vec<String>,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
    /// The cost of one run; `None` without a figure.
    #[serde(flatten, serialize_with = "amount::one_run")]
    #[schemars(with = "amount::OneRun")]
    pub amount: Option<Amount>,
    /// How often it runs; null if it is not known.
    pub runs: Option<u64>,
    /// The bytes of all arrays of its value, with padding; null if one has no size.
    pub bytes: Option<u64>,
    /// How many of `bytes` are padding; null if `bytes` is null.
    pub padding: Option<u64>,
    /// For each interval in which its first array is live: its first and its last step, counted from 0.
    pub live: Vec<[usize; 2]>,
    /// The offset of its first array in the heap of its memory space, in bytes; null if it is not in a heap.
    pub offset: Option<u64>,
    /// The arrays of its value.
    pub arrays: Vec<ShownArray>,
    /// The instruction as HLO.
    pub text: String,
    /// Which figures of the module cannot be read, and why; those of this instruction first.
    pub unread: Vec<String>,
}

/// An array of an instruction's value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShownArray {
    /// The shape, with its layout.
    pub shape: String,
    /// The bytes that it takes; null if it has no size.
    pub bytes: Option<u64>,
    /// How many of `bytes` are padding; null if `bytes` is null.
    pub padding: Option<u64>,
    /// For each interval in which it is live: its first and its last step, counted from 0.
    pub live: Vec<[usize; 2]>,
    /// The byte in the heap of its memory space at which it begins; null if it is not in a heap.
    pub offset: Option<u64>,
    /// Its role in the program; null if it has no memory of its own.
    #[serde(serialize_with = "names::role_or_null")]
    #[schemars(with = "Option<String>")]
    pub role: Option<Role>,
}

/// Why an instruction cannot be shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShowError {
    /// The module has no instruction with this name.
    NoInstruction {
        /// The requested name.
        name: String,
        /// The most similar name in the module.
        nearest: Option<String>,
    },
}

impl fmt::Display for ShowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInstruction { name, nearest } => {
                write!(f, "the module has no instruction %{name}")?;
                nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; the nearest is %{nearest}"))
            }
        }
    }
}

impl std::error::Error for ShowError {}

impl ShownInstruction {
    /// The instruction with this name, written with or without `%`.
    ///
    /// # Errors
    /// If the module has no instruction of this name. Figures that cannot be read are listed in the answer instead.
    pub fn new(memory: &ProgramMemory<'_>, name: &str) -> Result<Self, ShowError> {
        let module = memory.program().module();
        let instruction = find(module, name)?;
        let facts = Facts::new(module, memory.timeline());
        let unread = facts.unread(instruction);
        Ok(Self { text: instruction.to_string(), unread, ..facts.shown(instruction) })
    }

    /// The computation that it is in, and its source line.
    pub fn place(&self) -> (&str, Option<&str>) {
        (&self.computation, self.source.as_deref())
    }

    /// The role of its first array in memory.
    pub fn role(&self) -> Option<Role> {
        self.arrays.first().and_then(|array| array.role)
    }
}

/// The instruction with this name, written with or without `%`.
///
/// # Errors
/// If the module has no instruction of this name.
pub fn find<'m>(module: &'m Module, name: &str) -> Result<Instruction<'m>, ShowError> {
    let name = name.trim().trim_start_matches('%');
    // Names are unique only within a computation, so look in the entry computation first.
    let named = match name.rsplit_once('/') {
        Some((computation, name)) => module.computation(computation).and_then(|inside| inside.instruction(name)),
        None => module.entry().and_then(|entry| entry.instruction(name)),
    };
    named
        .or_else(|| module.instruction(name))
        .ok_or_else(|| ShowError::NoInstruction { name: name.to_owned(), nearest: nearest(module, name) })
}

/// What is known about all instructions of a module, computed once.
///
/// ```
/// use xla_shape_answers::hlo::show::{Facts, find};
/// use xla_shape_hlo::{Module, Role};
/// use xla_shape_program::Program;
///
/// let program = Program::from(Module::parse("\
/// HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }
/// ENTRY e {
///   x = f32[8,128]{1,0:T(8,128)} parameter(0)
///   y = f32[8,128]{1,0:T(8,128)} parameter(1)
///   ROOT z = f32[8,128]{1,0:T(8,128)} add(x, y)
/// }")?);
/// let (module, memory) = (program.module(), program.memory(None));
/// let facts = Facts::new(module, memory.timeline());
/// assert!(module.instructions().map(|one| facts.shown(one).bytes).eq([Some(4096); 3]));
/// // The result is in the memory of the donated parameter.
/// assert!(facts.roles.donated.contains(&0));
/// let [x, y] = ["x", "y"].map(|name| facts.shown(find(module, name).unwrap()).role());
/// assert_eq!([x, y], [Some(Role::Donated), Some(Role::Argument)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Facts<'p, 'm> {
    timeline: Option<&'p Timeline<'m>>,
    costs: Costs<'m>,
    /// Why the costs of computations are not known.
    errors: Vec<CostError>,
    /// The costs by the number of the instruction.
    by_number: HashMap<u32, usize>,
    /// By the number of an instruction: the lifetimes of its arrays, as indices into the timeline's list.
    lifetimes: HashMap<u32, Vec<usize>>,
    /// The readers of instructions.
    pub readers: Readers<'m>,
    /// Where instructions come from.
    pub sources: Sources<'m>,
    /// The roles of values in the program.
    pub roles: Roles,
}

impl<'p, 'm> Facts<'p, 'm> {
    /// Computes the facts about a module.
    pub fn new(module: &'m Module, timeline: Option<&'p Timeline<'m>>) -> Self {
        let (costs, errors) = module.costs_with_errors();
        let by_number = costs.instructions().iter().enumerate();
        let by_number = by_number.map(|(place, cost)| (cost.instruction.number(), place)).collect();
        let mut lifetimes: HashMap<u32, Vec<usize>> = HashMap::new();
        for (place, lifetime) in timeline.iter().flat_map(|timeline| timeline.lifetimes()).enumerate() {
            let values = lifetime.values.iter().map(|value| value.instruction.number());
            for number in values.chain([lifetime.buffer.instruction.number()]) {
                let places = lifetimes.entry(number).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        let (readers, sources, roles) = (module.readers(), module.sources(), Roles::new(module));
        Self { timeline, costs, errors, by_number, lifetimes, readers, sources, roles }
    }

    /// The answer about one instruction, without its text and the figures that cannot be read.
    pub fn shown(&self, instruction: Instruction<'m>) -> ShownInstruction {
        let cost = self.by_number.get(&instruction.number()).and_then(|&place| self.costs.instructions().get(place));
        let source = self.sources.get(instruction);
        let places = self.places(instruction);
        let mut arrays = Vec::new();
        push_arrays(instruction.shape(), &mut arrays);
        let arrays: Vec<_> =
            arrays.into_iter().enumerate().map(|(leaf, array)| shown(array, places.get(&leaf), &self.roles)).collect();
        let sum = |part: fn(&ShownArray) -> Option<u64>| {
            arrays.iter().map(part).try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?))
        };
        let called = [
            "calls",
            "to_apply",
            "body",
            "condition",
            "branch_computations",
            "true_computation",
            "false_computation",
            "called_computations",
        ];
        let calls = called.iter().filter_map(|key| instruction.attribute(key)?.names().ok());
        ShownInstruction {
            instruction: instruction.name().to_owned(),
            opcode: instruction.opcode().to_string(),
            computation: instruction.computation().name().to_owned(),
            shape: instruction.shape().to_string(),
            operands: instruction.operands().map(|operand| operand.name().to_owned()).collect(),
            operand_shapes: instruction.operands().map(|operand| operand.shape().map(Shape::to_string)).collect(),
            readers: self.readers.of(instruction).map(|reader| reader.name().to_owned()).collect(),
            calls: calls.flatten().map(str::to_owned).collect(),
            source: source_text(&source),
            op_name: source.op_name.map(std::borrow::Cow::into_owned),
            amount: cost.and_then(|cost| Some(Amount::new(self.costs.unit(), cost.figure.known()?))),
            runs: cost.and_then(|cost| cost.runs),
            bytes: sum(|array| array.bytes),
            padding: sum(|array| array.padding),
            live: arrays.first().map(|array| array.live.clone()).unwrap_or_default(),
            offset: arrays.first().and_then(|array| array.offset),
            arrays,
            text: String::new(),
            unread: Vec::new(),
        }
    }

    /// The figures that cannot be read, those of this instruction first.
    fn unread(&self, instruction: Instruction<'_>) -> Vec<String> {
        let own = instruction.span();
        let mut unread: Vec<_> = self.costs.unread().iter().map(|(_, error)| error).chain(&self.errors).collect();
        sort_by_key(&mut unread, |error| (error.span() != own, error.span().start));
        unread.into_iter().map(ToString::to_string).collect()
    }

    /// The buffers of an instruction's arrays, each with the number of the array.
    fn places(&self, instruction: Instruction<'_>) -> BTreeMap<usize, InBuffer<'p, 'm>> {
        let number = instruction.number();
        let mut places = BTreeMap::new();
        let Some(timeline) = self.timeline else { return places };
        let used = self.lifetimes.get(&number).into_iter().flatten();
        let used: Vec<_> = used.filter_map(|&place| timeline.lifetimes().get(place)).collect();
        for &lifetime in &used {
            // The instruction's array may share a buffer with other values.
            for value in lifetime.values.iter().filter(|value| value.instruction.number() == number) {
                places.entry(value.leaf).or_insert_with(|| (lifetime, vec![[value.start, value.end]]));
            }
        }
        for lifetime in used.into_iter().filter(|lifetime| lifetime.buffer.instruction.number() == number) {
            let live = lifetime.live_ranges().iter().map(|&(first, last)| [first, last]);
            places.insert(lifetime.buffer.leaf, (lifetime, live.collect()));
        }
        places
    }
}

/// The arrays of a shape, in the order in which they are written.
pub(crate) fn push_arrays<'s>(shape: &'s Shape, arrays: &mut Vec<&'s ArrayShape>) {
    arrays.extend(shape.array());
    for element in shape.tuple_shapes().unwrap_or_default() {
        push_arrays(element, arrays);
    }
}

/// A buffer, and for each interval in which a value is in it, the first and the last step.
type InBuffer<'t, 'm> = (&'t Lifetime<'m>, Vec<[usize; 2]>);

fn shown(array: &ArrayShape, place: Option<&InBuffer<'_, '_>>, roles: &Roles) -> ShownArray {
    let footprint = Footprint::new(array);
    let (found, live) = place.map_or((None, Vec::new()), |(found, live)| (Some(*found), live.clone()));
    ShownArray {
        shape: array.to_string(),
        bytes: footprint.map(|footprint| footprint.bytes),
        padding: footprint.map(Footprint::padding_bytes),
        live,
        offset: found.and_then(|found| found.offset),
        role: found.map(|found| roles.of(found)),
    }
}

/// The name in a module that is most similar to this one, if one is similar.
fn nearest(module: &Module, name: &str) -> Option<String> {
    // Very long names were not typed by a person, and comparing them would take long.
    const LONGEST: usize = 256;
    if name.len() > LONGEST {
        return None;
    }
    let like = |other: &str| strsim::jaro_winkler(name, other);
    let names = module.instructions().map(|instruction| instruction.name()).filter(|other| other.len() <= LONGEST);
    let some = names.map(|other| (like(other), other)).filter(|(like, _)| *like > 0.0);
    let best = some.max_by(|one, other| one.0.total_cmp(&other.0));
    best.map(|(_, name)| name.to_owned())
}

impl Answer for ShownInstruction {
    const SCHEMA: &'static str = "xla-shape/hlo-show/1";

    /// The next commands are about the first operand, the first reader, and the program's cost.
    fn digest(&self) -> Digest {
        let neighbours = [self.operands.first(), self.readers.first()].into_iter().flatten();
        let shown = neighbours.map(|name| digest::show(name));
        Digest { causes: Vec::new(), next: shown.chain([vec!["cost".into(), digest::Word::File(0)]]).collect() }
    }
}
