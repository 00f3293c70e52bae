//! A module as text: its head, its tables and its computations.

use super::asynchronous::{Wrapped, step};
use super::attributes::{Attributes, frontend_attributes, joined, name, original_array};
use super::error::{HloProtoError, HloProtoErrorKind};
use super::instruction::instruction;
use super::message::{HloComputationProto, HloInstructionProto, HloModuleProto, Payload};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write as _;
use xla_shape_core::Shape;
use xla_shape_core::text::escaped;

type Result<T> = core::result::Result<T, HloProtoError>;

/// The text that XLA prints for a module.
pub(crate) fn text(module: &mut HloModuleProto) -> Result<String> {
    fill_in(module);
    let module = &*module;
    let ids = Ids::new(module)?;
    let mut out = String::new();
    let entry = ids.computation(module.entry_computation_id);
    let entry = entry.or_else(|| module.computations.iter().find(|found| found.name == module.entry_computation_name));
    let unknown = HloProtoErrorKind::UnknownId { what: "the entry computation", id: module.entry_computation_id };
    let entry = entry.ok_or_else(|| HloProtoError::new(unknown).within("entry_computation_id"))?;
    let _ = write!(out, "HloModule {}", name(&module.name)?);
    head(module, entry, &mut out)?;
    tables(module, &mut out);
    for computation in ids.post_order() {
        let place = alloc::format!("computation `{}`", computation.name);
        let print = self::computation(computation, core::ptr::eq(computation, entry), module, &ids, &mut out);
        print.map_err(|error| error.within(place))?;
        out.push('\n');
    }
    Ok(out)
}

/// Puts what instructions refer to in the module's list of payloads where it belongs.
fn fill_in(module: &mut HloModuleProto) {
    let payloads = core::mem::take(&mut module.payloads);
    let find = |payload: &Payload| {
        let listed = payload.id.and_then(|id| payloads.get(usize::try_from(id).ok()?));
        payload.value.as_ref().or(listed).cloned()
    };
    for instruction in module.computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        if let Some(payload) = &instruction.backend_config_payload
            && let Some(value) = find(payload)
        {
            instruction.backend_config = value;
        }
        let metadata = instruction.metadata.as_mut();
        if let Some(payload) = metadata.and_then(|metadata| metadata.metadata_payload.as_mut()) {
            payload.value = find(payload);
        }
    }
}

fn head(module: &HloModuleProto, entry: &HloComputationProto, out: &mut String) -> Result<()> {
    let mut to = Attributes { out };
    if module.schedule.as_ref().is_some_and(|schedule| !schedule.sequences.is_empty()) {
        to.add("is_scheduled", "true");
    }
    if let Some(aliases) = module.input_output_alias.as_ref().filter(|aliases| !aliases.entries.is_empty()) {
        to.out.push_str(", input_output_alias={ ");
        for (i, alias) in aliases.entries.iter().enumerate() {
            to.out.push_str(if i > 0 { ", {" } else { "{" });
            joined(&alias.output_shape_index, ",", to.out);
            let _ = write!(to.out, "}}: ({}, {{", alias.parameter_number);
            joined(&alias.parameter_shape_index, ",", to.out);
            to.out.push_str(if alias.kind == 2 { "}, must-alias)" } else { "}, may-alias)" });
        }
        to.out.push_str(" }");
    }
    if let Some(donors) = module.buffer_donor.as_ref().filter(|donors| !donors.entries.is_empty()) {
        to.out.push_str(", buffer_donor={ ");
        for (i, donor) in donors.entries.iter().enumerate() {
            let _ = write!(to.out, "{}({}, {{", if i > 0 { ", " } else { "" }, donor.parameter_number);
            joined(&donor.parameter_shape_index, ",", to.out);
            to.out.push_str("})");
        }
        to.out.push_str(" }");
    }
    let layout = module.host_program_shape.as_ref().or(entry.program_shape.as_ref());
    if let Some(layout) = layout {
        to.out.push_str(", entry_computation_layout={(");
        for (i, shape) in layout.parameters.iter().enumerate() {
            // XLA numbers every fifth one.
            match i {
                0 => {}
                _ if i % 5 == 0 => {
                    let _ = write!(to.out, ", /*index={i}*/");
                }
                _ => to.out.push_str(", "),
            }
            let _ = write!(to.out, "{}", Shape::try_from(shape)?);
        }
        to.out.push_str(")->");
        if let Some(result) = &layout.result {
            let _ = write!(to.out, "{}", Shape::try_from(result)?);
        }
        to.out.push('}');
    }
    frontend_attributes(module.frontend_attributes.as_ref(), &mut to)?;
    if !module.backend_config.is_empty() {
        to.free(", backend_config", &module.backend_config);
    }
    if let Some(table) = module.original_value_recovery_table.as_ref().filter(|table| !table.entries.is_empty()) {
        to.out.push_str(", origin_recovery_table={\n");
        for entry in &table.entries {
            to.out.push_str("  {");
            original_array(&entry.old_original_array.clone().unwrap_or_default(), to.out);
            to.out.push_str("} : {");
            original_array(&entry.new_original_array.clone().unwrap_or_default(), to.out);
            to.out.push('}');
            if let Some(recovery) = &entry.recovery_module {
                to.out.push_str(",\n  \"\n");
                let inner =
                    text(&mut recovery.clone()).map_err(|error| error.within("original_value_recovery_table"))?;
                for line in inner.trim_end().lines() {
                    to.out.push_str(if line.is_empty() { "" } else { "    " });
                    escaped(line.as_bytes(), to.out);
                    to.out.push('\n');
                }
                to.out.push_str("\n\n  \"");
            }
            to.out.push('\n');
        }
        to.out.push_str("}\n");
    }
    to.out.push_str("\n\n");
    Ok(())
}

fn tables(module: &HloModuleProto, out: &mut String) {
    let Some(tables) = module.stack_frame_index.as_ref() else { return };
    if tables.file_names.is_empty() && tables.stack_frames.is_empty() {
        return;
    }
    let strings = |title: &str, texts: &[String], out: &mut String| {
        let _ = writeln!(out, "{title}");
        for (text, number) in texts.iter().zip(1_u64..) {
            let _ = write!(out, "{number} \"");
            escaped(text.as_bytes(), out);
            out.push_str("\"\n");
        }
        out.push('\n');
    };
    strings("FileNames", &tables.file_names, out);
    strings("FunctionNames", &tables.function_names, out);
    out.push_str("FileLocations\n");
    for (location, number) in tables.file_locations.iter().zip(1_u64..) {
        let _ = writeln!(
            out,
            "{number} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}",
            location.file_name_id,
            location.function_name_id,
            location.line,
            location.end_line,
            location.column,
            location.end_column
        );
    }
    out.push_str("\nStackFrames\n");
    for (frame, number) in tables.stack_frames.iter().zip(1_u64..) {
        // The text counts parents from 1.
        let parent = frame.parent_frame_id.saturating_add(1);
        let _ = writeln!(out, "{number} {{file_location_id={} parent_frame_id={parent}}}", frame.file_location_id);
    }
    out.push_str("\n\n");
}

fn computation(
    computation: &HloComputationProto,
    is_entry: bool,
    module: &HloModuleProto,
    ids: &Ids<'_>,
    out: &mut String,
) -> Result<()> {
    let _ = write!(out, "{}%{} (", if is_entry { "ENTRY " } else { "" }, name(&computation.name)?);
    let mut parameters: Vec<_> = computation.instructions.iter().filter(|found| found.opcode == "parameter").collect();
    parameters.sort_by_key(|parameter| parameter.parameter_number);
    let without_layout = |instruction: &HloInstructionProto, out: &mut String| -> Result<()> {
        let missing = || HloProtoError::new(HloProtoErrorKind::Missing { field: "shape" });
        let place = || alloc::format!("instruction `{}`", instruction.name);
        let shape = instruction.shape.as_ref().ok_or_else(missing).map_err(|error| error.within(place()))?;
        let shape = Shape::try_from(shape).map_err(|error| HloProtoError::from(error).within(place()))?;
        let _ = write!(out, "{}", shape.without_layout());
        Ok(())
    };
    for (i, parameter) in parameters.into_iter().enumerate() {
        let _ = write!(out, "{}{}: ", if i > 0 { ", " } else { "" }, name(&parameter.name)?);
        without_layout(parameter, out)?;
    }
    out.push_str(") -> ");
    let unknown = HloProtoErrorKind::UnknownId { what: "the root instruction", id: computation.root_id };
    let root = ids.root(computation).ok_or_else(|| HloProtoError::new(unknown).within("root_id"))?;
    without_layout(root, out)?;
    out.push_str(" {\n");
    for of_computation in ids.order(computation, module)? {
        out.push_str("  ");
        let place = || alloc::format!("instruction `{}`", of_computation.name);
        instruction(of_computation, computation, ids, out).map_err(|error| error.within(place()))?;
        out.push('\n');
    }
    out.push('}');
    if !computation.execution_thread.is_empty() && computation.execution_thread != "main" {
        out.push_str(", execution_thread=\"");
        escaped(computation.execution_thread.as_bytes(), out);
        out.push('"');
    }
    out.push('\n');
    Ok(())
}

/// Where what has an id is.
pub(crate) struct Ids<'p> {
    module: &'p HloModuleProto,
    /// Ids and places of the computations, sorted.
    computations: Vec<(i64, usize)>,
    /// For each computation, ids and places of its instructions, sorted.
    instructions: Vec<Vec<(i64, usize)>>,
    /// The schedule of each computation, sorted by its id.
    schedule: Vec<(i64, &'p [i64])>,
}

/// Sorts ids; an id that is there twice is an error.
fn sorted(ids: impl Iterator<Item = i64>, what: &'static str) -> Result<Vec<(i64, usize)>> {
    let mut ids: Vec<_> = ids.zip(0_usize..).collect();
    ids.sort_unstable();
    let again = ids.windows(2).find_map(|pair| match pair {
        [(first, _), (second, _)] if first == second => Some(*first),
        _ => None,
    });
    match again {
        Some(id) => Err(HloProtoError::new(HloProtoErrorKind::DuplicateId { what, id })),
        None => Ok(ids),
    }
}

fn find(ids: &[(i64, usize)], id: i64) -> Option<usize> {
    let place = ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    ids.get(place).map(|(_, index)| *index)
}

impl<'p> Ids<'p> {
    fn new(module: &'p HloModuleProto) -> Result<Self> {
        let computations = sorted(module.computations.iter().map(|computation| computation.id), "computation")?;
        let instructions = module.computations.iter().map(|computation| {
            let ids = sorted(computation.instructions.iter().map(|instruction| instruction.id), "instruction");
            ids.map_err(|error| error.within(alloc::format!("computation `{}`", computation.name)))
        });
        let instructions = instructions.collect::<Result<Vec<_>>>()?;
        let sequences = module.schedule.as_ref().map_or(&[][..], |schedule| schedule.sequences.as_slice());
        let ids_of = |sequence: &'p super::message::HloScheduleProtoSequencesEntry| {
            sequence.value.as_ref().map_or(&[][..], |value| value.instruction_ids.as_slice())
        };
        let mut schedule: Vec<_> = sequences.iter().map(|sequence| (sequence.key, ids_of(sequence))).collect();
        schedule.sort_unstable();
        let ids = Self { module, computations, instructions, schedule };
        ids.check_calls()?;
        Ok(ids)
    }

    pub(crate) fn computation(&self, id: i64) -> Option<&'p HloComputationProto> {
        self.module.computations.get(find(&self.computations, id)?)
    }

    /// The computations that an instruction calls.
    pub(crate) fn called(&self, instruction: &HloInstructionProto) -> Result<Vec<&'p HloComputationProto>> {
        let called = instruction.called_computation_ids.iter().map(|&id| {
            let unknown = HloProtoErrorKind::UnknownId { what: "a computation", id };
            self.computation(id).ok_or_else(|| HloProtoError::new(unknown).within("called_computation_ids"))
        });
        called.collect()
    }

    /// The instruction of this computation with this id.
    pub(crate) fn instruction(&self, id: i64, computation: &HloComputationProto) -> Option<&'p HloInstructionProto> {
        let index = find(&self.computations, computation.id)?;
        let of_computation = self.module.computations.get(index)?;
        // Older messages number instructions in a module, or write only the lower half, as XLA reads it.
        let ids = self.instructions.get(index)?;
        let place = find(ids, id).or_else(|| find(ids, id & 0xffff_ffff));
        of_computation.instructions.get(place?)
    }

    pub(crate) fn root(&self, computation: &HloComputationProto) -> Option<&'p HloInstructionProto> {
        self.instruction(computation.root_id, computation)
    }

    /// The names of these instructions.
    pub(crate) fn named(&self, ids: &[i64], computation: &HloComputationProto) -> Result<Vec<&'p str>> {
        self.names(ids, computation, "control_predecessor_ids")
    }

    pub(crate) fn operands(
        &self,
        instruction: &HloInstructionProto,
        computation: &HloComputationProto,
    ) -> Result<Vec<&'p str>> {
        self.names(&instruction.operand_ids, computation, "operand_ids")
    }

    fn names(&self, ids: &[i64], computation: &HloComputationProto, field: &str) -> Result<Vec<&'p str>> {
        let named = ids.iter().map(|&id| {
            let unknown = HloProtoErrorKind::UnknownId { what: "an instruction of the computation", id };
            let found = self.instruction(id, computation);
            name(&found.ok_or_else(|| HloProtoError::new(unknown).within(field))?.name)
        });
        named.collect()
    }

    /// The instructions of a computation in the order in which they run, or as the message has them.
    fn order(
        &self,
        computation: &'p HloComputationProto,
        module: &HloModuleProto,
    ) -> Result<Vec<&'p HloInstructionProto>> {
        let sequence = self.schedule.binary_search_by_key(&computation.id, |(id, _)| *id).ok();
        let sequence = sequence.and_then(|place| self.schedule.get(place)).map(|(_, ids)| *ids);
        let Some(sequence) = sequence.filter(|_| module.schedule.is_some()) else {
            return Ok(computation.instructions.iter().collect());
        };
        sorted(sequence.iter().copied(), "instruction").map_err(|error| error.within("schedule"))?;
        let scheduled = sequence.iter().map(|&id| {
            let unknown = HloProtoErrorKind::UnknownId { what: "an instruction of the computation", id };
            self.instruction(id, computation).ok_or_else(|| HloProtoError::new(unknown).within("schedule"))
        });
        scheduled.collect()
    }

    /// The computations in the order in which XLA prints them: before each one that is not called, those that it calls, as
    /// its instructions call them in the order of their ids. One that stands in short in an asynchronous operation is left out.
    fn post_order(&self) -> Vec<&'p HloComputationProto> {
        let computations = &self.module.computations;
        let count = computations.len();
        let calls: Vec<_> = (0..count).map(|index| self.calls(index)).collect();
        let mut called = vec![false; count];
        for &index in calls.iter().flatten().flatten() {
            if let Some(called) = called.get_mut(index) {
                *called = true;
            }
        }
        let hidden = self.hidden();
        let (mut seen, mut order) = (vec![false; count], Vec::with_capacity(count));
        for &(_, root) in &self.computations {
            if called.get(root).copied().unwrap_or(true) {
                continue;
            }
            // A computation, and how many of its calling instructions were followed.
            let mut open = vec![(root, 0_usize)];
            while let Some((index, next)) = open.pop() {
                let Some(group) = calls.get(index).and_then(|calls| calls.get(next)) else {
                    order.push(index);
                    continue;
                };
                open.push((index, next.saturating_add(1)));
                // The last one that an instruction calls is seen first.
                for &inner in group.iter().rev() {
                    if !core::mem::replace(seen.get_mut(inner).unwrap_or(&mut true), true) {
                        open.push((inner, 0));
                    }
                }
            }
        }
        order.retain(|&index| !hidden.get(index).copied().unwrap_or(false));
        order.into_iter().filter_map(|index| computations.get(index)).collect()
    }

    /// The places of the computations that the instructions of one call, each for itself, in the order of their ids.
    fn calls(&self, index: usize) -> Vec<Vec<usize>> {
        let instructions = self.module.computations.get(index).map_or(&[][..], |found| found.instructions.as_slice());
        let mut calling: Vec<_> =
            instructions.iter().filter(|instruction| !instruction.called_computation_ids.is_empty()).collect();
        calling.sort_by_key(|instruction| instruction.id);
        let places = |instruction: &HloInstructionProto| {
            let ids = instruction.called_computation_ids.iter();
            ids.filter_map(|&id| find(&self.computations, id)).collect()
        };
        calling.into_iter().map(places).collect()
    }

    /// Which computations stand in short where they are called, so that they are not printed.
    fn hidden(&self) -> Vec<bool> {
        let mut hidden = vec![false; self.module.computations.len()];
        let instructions = self.module.computations.iter().flat_map(|computation| &computation.instructions);
        for start in instructions.filter(|instruction| instruction.opcode == "async-start") {
            let called = start.called_computation_ids.first().and_then(|&id| find(&self.computations, id));
            let place = called.and_then(|index| Some((self.module.computations.get(index)?, hidden.get_mut(index)?)));
            if let Some((computation, hidden)) = place {
                *hidden = self.single(computation).is_some();
            }
        }
        hidden
    }

    /// The instruction that is all that a computation has beside its parameters.
    fn single(&self, computation: &'p HloComputationProto) -> Option<Wrapped<'p>> {
        let root = self.root(computation)?;
        let is_plain = |found: &HloInstructionProto| found.id == root.id || found.opcode == "parameter";
        computation.instructions.iter().all(is_plain).then_some(Wrapped { root, computation })
    }

    /// What an asynchronous operation does, if that is a single instruction: it stands in its place.
    pub(crate) fn wrapped(
        &self,
        instruction: &HloInstructionProto,
        computation: &HloComputationProto,
    ) -> Option<Wrapped<'p>> {
        step(&instruction.opcode)?;
        let mut at = instruction;
        for _ in 0..=computation.instructions.len() {
            if at.opcode == "async-start" {
                return self.single(self.computation(*at.called_computation_ids.first()?)?);
            }
            step(&at.opcode)?;
            at = self.instruction(*at.operand_ids.first()?, computation)?;
        }
        None
    }

    /// Checks that no computation calls itself, however far around.
    fn check_calls(&self) -> Result<()> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let calls = |computation: &HloComputationProto| {
            let ids = computation.instructions.iter().flat_map(|instruction| &instruction.called_computation_ids);
            ids.filter_map(|&id| find(&self.computations, id)).collect()
        };
        let calls: Vec<Vec<usize>> = self.module.computations.iter().map(calls).collect();
        let mut states = vec![State::New; calls.len()];
        for start in 0..calls.len() {
            // A computation, and how many of its calls were followed.
            let mut open = vec![(start, 0_usize)];
            while let Some((computation, next)) = open.pop() {
                let Some(state) = states.get_mut(computation) else { continue };
                if next == 0 {
                    match *state {
                        State::Done => continue,
                        State::Open => {
                            let called = self.module.computations.get(computation).map_or("", |found| &found.name);
                            let error = HloProtoError::new(HloProtoErrorKind::CallCycle);
                            return Err(error.within(alloc::format!("computation `{called}`")));
                        }
                        State::New => *state = State::Open,
                    }
                }
                match calls.get(computation).and_then(|calls| calls.get(next)) {
                    Some(&called) => {
                        open.push((computation, next.saturating_add(1)));
                        open.push((called, 0));
                    }
                    None => *state = State::Done,
                }
            }
        }
        Ok(())
    }
}
