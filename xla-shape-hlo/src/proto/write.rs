//! Modules to messages.

use super::error::{HloProtoError, no_place};
use super::literal::literal;
use super::message::{
    FrontendAttributes, FrontendAttributesMapEntry, HloBufferDonorProto, HloBufferDonorProtoBufferDonorEntryProto,
    HloComputationProto, HloInputOutputAliasProto, HloInputOutputAliasProtoAliasEntryProto, HloInstructionProto,
    HloModuleProto, HloScheduleProto, HloScheduleProtoInstructionSequence, HloScheduleProtoSequencesEntry,
    StackFrameIndexProto, StackFrameIndexProtoFileLocation, StackFrameIndexProtoStackFrame,
};
use super::names::Names;
use super::origin::{original_value, recovery_table};
use super::set::{metadata, set};
use crate::asynchronous::{Step, short, step};
use crate::attribute::Value;
use crate::module::{Computation, Instruction, Module, Operand, Table};
use crate::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use prost::Message;
use xla_shape_core::proto::{ProgramShapeProto, ShapeProto, encode_shape};

type Result<T> = core::result::Result<T, HloProtoError>;

impl Module<'_> {
    /// The bytes of the module's message, `HloModuleProto`.
    ///
    /// Instructions and computations get ids in their order, and a name that the module has more than once a number behind it,
    /// as XLA gives them. A constant that the text leaves out (`{...}`) is zero, as XLA reads it.
    ///
    /// # Errors
    /// If something could not be read, or has no place in the message: it is named.
    pub fn to_proto(&self) -> Result<Vec<u8>> {
        Ok(message(self)?.encode_to_vec())
    }
}

/// The single computation that stands in short in an instruction: `slice-start(x), slice={…}`.
struct Short {
    id: i64,
    name: String,
    /// The names of its parameters and, last, of the operation.
    instructions: Vec<String>,
}

/// What ids and names are given to.
struct Writer<'m, 'a> {
    module: &'m Module<'a>,
    /// The numbers of the computations, each behind those that it calls.
    order: Vec<u32>,
    /// For each computation, its id and its name.
    computations: Vec<(i64, String)>,
    /// The names of the instructions.
    instructions: Vec<String>,
    /// The messages of the module's shapes, by their numbers.
    shapes: Vec<Vec<u8>>,
    /// What stands in short, by the number of the instruction that begins it.
    short: BTreeMap<u32, Short>,
}

impl<'m, 'a> Writer<'m, 'a> {
    fn new(module: &'m Module<'a>) -> Self {
        let order = callees_first(module);
        let mut writer = Self {
            module,
            computations: vec![(0, String::new()); module.computations().len()],
            instructions: vec![String::new(); module.instructions().len()],
            shapes: module.shapes().iter().map(encode_shape).collect(),
            short: BTreeMap::new(),
            order,
        };
        let (mut computation_names, mut names) = (Names::default(), Names::default());
        let mut next = 1_i64;
        let mut id = || {
            let id = next;
            next = next.saturating_add(1);
            id
        };
        let found: Vec<Computation<'m, 'a>> = module.computations().collect();
        for &number in &writer.order {
            let Some(&computation) = found.get(number as usize) else { continue };
            for start in computation.instructions() {
                if let Some((opcode, Step::Start)) = short(start.opcode().text()) {
                    let name = computation_names.unique("async_wrapped");
                    let parameters = start.operands().map(|_| names.unique("async_param"));
                    let mut instructions: Vec<String> = parameters.collect();
                    instructions.push(names.unique(opcode));
                    writer.short.insert(start.number(), Short { id: id(), name, instructions });
                }
            }
            let name = computation_names.unique(computation.name());
            if let Some(place) = writer.computations.get_mut(number as usize) {
                *place = (id(), name);
            }
            for instruction in computation.instructions() {
                if let Some(place) = writer.instructions.get_mut(instruction.number() as usize) {
                    *place = names.unique(instruction.name());
                }
            }
        }
        writer
    }

    fn computation_id(&self, computation: Computation<'_, '_>) -> i64 {
        self.computations.get(computation.number() as usize).map_or(0, |(id, _)| *id)
    }

    fn computation_name(&self, computation: Computation<'_, '_>) -> String {
        self.computations.get(computation.number() as usize).map_or_else(String::new, |(_, name)| name.clone())
    }

    /// The id of an instruction: that of its computation above, its place below.
    fn instruction_id(&self, instruction: Instruction<'_, '_>) -> i64 {
        let computation = instruction.computation();
        let first = computation.instructions().next().map_or(0, Instruction::number);
        let place = i64::from(instruction.number().saturating_sub(first));
        (self.computation_id(computation) << 32) | place
    }

    fn shape(&self, instruction: Instruction<'_, '_>) -> Option<Vec<u8>> {
        let shape = self.shapes.get(instruction.shape_number() as usize);
        Some(shape.cloned().unwrap_or_else(|| encode_shape(instruction.shape())))
    }

    fn instruction_name(&self, instruction: Instruction<'_, '_>) -> String {
        self.instructions.get(instruction.number() as usize).cloned().unwrap_or_default()
    }
}

/// The numbers of the computations, in the order of the text as far as those that are called stand before their callers.
fn callees_first(module: &Module<'_>) -> Vec<u32> {
    let all: Vec<Computation<'_, '_>> = module.computations().collect();
    let callees = |computation: Computation<'_, '_>| {
        let names = computation.instructions().flat_map(|instruction| instruction.attributes());
        let names = names.filter(|attribute| CALLS.contains(&attribute.name()));
        let names = names.flat_map(|attribute| attribute.value().names().unwrap_or_default());
        names.filter_map(|name| module.computation(name)).map(|found| found.number()).collect::<Vec<u32>>()
    };
    let (mut seen, mut order) = (vec![false; all.len()], Vec::with_capacity(all.len()));
    for start in 0..all.len() {
        let mut open = Vec::new();
        let mut visit = |index: usize, open: &mut Vec<(usize, Vec<u32>)>| {
            if let (Some(seen @ false), Some(&computation)) = (seen.get_mut(index), all.get(index)) {
                *seen = true;
                let mut callees = callees(computation);
                callees.reverse();
                open.push((index, callees));
            }
        };
        visit(start, &mut open);
        while let Some((index, callees)) = open.last_mut() {
            match callees.pop() {
                Some(callee) => visit(callee as usize, &mut open),
                None => {
                    order.extend(u32::try_from(*index));
                    open.pop();
                }
            }
        }
    }
    order
}

fn message(module: &Module<'_>) -> Result<HloModuleProto> {
    let entry = module.entry().ok_or_else(|| no_place("a module without computations"))?;
    if module.computations().any(|computation| computation.is_fragment()) {
        return Err(no_place("instructions outside of computations"));
    }
    let writer = Writer::new(module);
    let mut computations = Vec::with_capacity(writer.order.len());
    let found: Vec<Computation<'_, '_>> = module.computations().collect();
    for computation in writer.order.iter().filter_map(|&number| found.get(number as usize).copied()) {
        let place = format!("computation `{}`", computation.name());
        writer.computation(computation, &mut computations).map_err(|error| error.within(place))?;
    }
    let mut to = HloModuleProto {
        name: module.name().unwrap_or("").to_owned(),
        entry_computation_name: writer.computation_name(entry),
        entry_computation_id: writer.computation_id(entry),
        computations,
        ..HloModuleProto::default()
    };
    to.stack_frame_index = tables(module)?;
    to.host_program_shape = Some(program_shape(entry));
    for attribute in module.attributes() {
        let value = attribute.value();
        match attribute.name() {
            "is_scheduled" if value.boolean()? => to.schedule = Some(writer.schedule()),
            // What only a module's configuration has, whose message is another one.
            "is_scheduled"
            | "replica_count"
            | "num_partitions"
            | "alias_passthrough_params"
            | "allow_spmd_sharding_propagation_to_parameters"
            | "allow_spmd_sharding_propagation_to_output" => {}
            "backend_config" => to.backend_config = backend_config(value)?,
            "entry_computation_layout" => to.host_program_shape = Some(entry_layout(value, entry)?),
            "frontend_attributes" => to.frontend_attributes = Some(frontend_attributes(value)?),
            "origin_recovery_table" => to.original_value_recovery_table = Some(recovery_table(value, message)?),
            "input_output_alias" => {
                let ints = |list: &[usize]| list.iter().map(|&entry| entry as i64).collect();
                let entries = value.aliases()?.into_iter().map(|alias| HloInputOutputAliasProtoAliasEntryProto {
                    output_shape_index: ints(&alias.result_index),
                    parameter_number: alias.parameter as i64,
                    parameter_shape_index: ints(&alias.parameter_index),
                    kind: if alias.must { 2 } else { 1 },
                });
                to.input_output_alias = Some(HloInputOutputAliasProto { entries: entries.collect() });
            }
            "buffer_donor" => to.buffer_donor = Some(donors(value)?),
            other => return Err(no_place(&format!("the attribute `{other}` of the module"))),
        }
    }
    Ok(to)
}

fn donors(value: Value<'_>) -> Result<HloBufferDonorProto> {
    let entry = |(parameter, index): (usize, Vec<usize>)| HloBufferDonorProtoBufferDonorEntryProto {
        parameter_number: parameter as i64,
        parameter_shape_index: index.into_iter().map(|entry| entry as i64).collect(),
    };
    Ok(HloBufferDonorProto { entries: value.donors()?.into_iter().map(entry).collect() })
}

fn program_shape(computation: Computation<'_, '_>) -> ProgramShapeProto {
    let parameters = computation.parameters_by_number();
    ProgramShapeProto {
        parameters: parameters.iter().map(|(_, parameter)| parameter.shape().into()).collect(),
        result: Some(computation.root().shape().into()),
        parameter_names: parameters.iter().map(|(_, parameter)| parameter.name().to_owned()).collect(),
    }
}

fn entry_layout(value: Value<'_>, entry: Computation<'_, '_>) -> Result<ProgramShapeProto> {
    let layout = value.program_shape()?;
    let mut names = program_shape(entry).parameter_names;
    // There must be a name for each.
    if names.len() != layout.parameters.len() {
        names = (0..layout.parameters.len()).map(|number| format!("p{number}")).collect();
    }
    Ok(ProgramShapeProto {
        parameters: layout.parameters.iter().map(|parameter| ShapeProto::from(&parameter.shape)).collect(),
        result: Some((&layout.result).into()),
        parameter_names: names,
    })
}

/// The bytes of what XLA only hands on: braces as they are, or what a string holds.
fn backend_config(value: Value<'_>) -> Result<Vec<u8>> {
    match value.text().starts_with('{') {
        true => Ok(value.text().as_bytes().to_vec()),
        false => Ok(value.bytes()?.into_owned()),
    }
}

pub(crate) fn frontend_attributes(value: Value<'_>) -> Result<FrontendAttributes> {
    let entry = |(key, value): (&str, Value<'_>)| -> Result<_> {
        Ok(FrontendAttributesMapEntry { key: key.to_owned(), value: value.unquoted()?.into_owned() })
    };
    Ok(FrontendAttributes { map: value.fields()?.into_iter().map(entry).collect::<Result<_>>()? })
}

fn tables(module: &Module<'_>) -> Result<Option<StackFrameIndexProto>> {
    if module.tables().is_empty() {
        return Ok(None);
    }
    let strings = |table| -> Result<Vec<String>> {
        module.rows(table).map(|(_, value)| Ok(value.string()?.into_owned())).collect()
    };
    let number = |value: Value<'_>, name: &str| -> Result<i32> {
        let field = value.field(name)?.map_or(Ok(0), |field| field.number())?;
        i32::try_from(field).map_err(|_| no_place("a number of more than 31 bits in a table"))
    };
    let locations = module.rows(Table::FileLocations).map(|(_, value)| {
        Ok(StackFrameIndexProtoFileLocation {
            file_name_id: number(value, "file_name_id")?,
            function_name_id: number(value, "function_name_id")?,
            line: number(value, "line")?,
            end_line: number(value, "end_line")?,
            column: number(value, "column")?,
            end_column: number(value, "end_column")?,
        })
    });
    let frames = module.rows(Table::StackFrames).map(|(_, value)| {
        Ok(StackFrameIndexProtoStackFrame {
            file_location_id: number(value, "file_location_id")?,
            // The text counts parents from 1.
            parent_frame_id: number(value, "parent_frame_id")?.saturating_sub(1),
        })
    });
    Ok(Some(StackFrameIndexProto {
        file_names: strings(Table::FileNames)?,
        function_names: strings(Table::FunctionNames)?,
        file_locations: locations.collect::<Result<_>>()?,
        stack_frames: frames.collect::<Result<_>>()?,
    }))
}

impl Writer<'_, '_> {
    /// The order of the instructions of all computations except those of fusions.
    fn schedule(&self) -> HloScheduleProto {
        let fused = self.module.instructions().filter(|instruction| instruction.opcode() == Opcode::Fusion);
        let fused: BTreeSet<&str> = fused.filter_map(|fusion| fusion.attribute("calls")?.name().ok()).collect();
        let sequence = |id: i64, instructions: usize| HloScheduleProtoSequencesEntry {
            key: id,
            value: Some(HloScheduleProtoInstructionSequence { instruction_ids: ids(id, instructions).collect() }),
        };
        let computations = self.module.computations().filter(|computation| !fused.contains(computation.name()));
        let written = computations
            .map(|computation| sequence(self.computation_id(computation), computation.instructions().len()));
        let short = self.short.values().map(|short| sequence(short.id, short.instructions.len()));
        HloScheduleProto { sequences: written.chain(short).collect() }
    }

    /// Writes a computation behind those that stand in short inside it.
    fn computation(&self, computation: Computation<'_, '_>, to: &mut Vec<HloComputationProto>) -> Result<()> {
        let mut instructions = Vec::with_capacity(computation.instructions().len());
        let id = self.computation_id(computation);
        let has_predecessors = |found: Instruction<'_, '_>| found.attribute("control-predecessors").is_some();
        let mut by_name = BTreeMap::new();
        if computation.instructions().any(has_predecessors) {
            by_name.extend(computation.instructions().map(|found| (found.name(), found)));
        }
        for (found, id) in computation.instructions().zip(ids(id, computation.instructions().len())) {
            let place = || format!("instruction `{}`", found.name());
            instructions.push(self.instruction(found, id, &by_name).map_err(|error| error.within(place()))?);
            if let Some((opcode, Step::Start)) = short(found.opcode().text()) {
                to.push(self.short(found, Opcode::from_text(opcode)).map_err(|error| error.within(place()))?);
            }
        }
        let thread = computation.attribute("execution_thread");
        to.push(HloComputationProto {
            name: self.computation_name(computation),
            instructions,
            program_shape: Some(program_shape(computation)),
            id,
            root_id: self.instruction_id(computation.root()),
            execution_thread: thread.map_or(Ok("main".into()), |thread| thread.string())?.into_owned(),
        });
        Ok(())
    }

    /// The computation of one operation that begins in this instruction, with the operation's own attributes.
    fn short(&self, start: Instruction<'_, '_>, opcode: Opcode<'_>) -> Result<HloComputationProto> {
        let Some(short) = self.short.get(&start.number()) else { return Err(no_place("an operation without a name")) };
        let result = start.shape().tuple_shapes().and_then(|shapes| shapes.get(1));
        let result =
            result.ok_or_else(|| no_place("an operation that begins without giving a tuple with its result"))?;
        let mut instructions = Vec::with_capacity(short.instructions.len());
        let mut program = ProgramShapeProto { result: Some(result.into()), ..ProgramShapeProto::default() };
        for (((operand, name), id), number) in
            start.operands().zip(&short.instructions).zip(ids(short.id, usize::MAX)).zip(0_i64..)
        {
            let shape: ShapeProto = operand.shape().ok_or_else(|| no_place("an operand that is not known"))?.into();
            program.parameters.push(shape.clone());
            program.parameter_names.push(name.clone());
            instructions.push(HloInstructionProto {
                name: name.clone(),
                opcode: "parameter".to_owned(),
                shape: Some(shape.encode_to_vec()),
                id,
                parameter_number: number,
                ..HloInstructionProto::default()
            });
        }
        let mut root = HloInstructionProto {
            name: short.instructions.last().cloned().unwrap_or_default(),
            opcode: opcode.text().to_owned(),
            shape: Some(encode_shape(result)),
            id: (short.id << 32) | i64::try_from(instructions.len()).unwrap_or(0),
            operand_ids: instructions.iter().map(|parameter| parameter.id).collect(),
            called_computation_ids: self.called(start)?,
            ..HloInstructionProto::default()
        };
        for attribute in start.attributes().filter(|attribute| !OF_ANY.contains(&attribute.name())) {
            set(attribute.name(), attribute.value(), opcode, &mut root)?;
        }
        complete(opcode, &mut root);
        let thread = start.attribute("async_execution_thread");
        let root_id = root.id;
        instructions.push(root);
        Ok(HloComputationProto {
            name: short.name.clone(),
            instructions,
            program_shape: Some(program),
            id: short.id,
            root_id,
            execution_thread: thread.map_or(Ok("main".into()), |thread| thread.string())?.into_owned(),
        })
    }

    fn instruction<'i, 'b>(
        &self,
        from: Instruction<'i, 'b>,
        id: i64,
        by_name: &BTreeMap<&str, Instruction<'i, 'b>>,
    ) -> Result<HloInstructionProto> {
        if !from.is_read() {
            return Err(no_place("an instruction that could not be read"));
        }
        let opcode = from.opcode().text();
        let step = short(opcode).map(|(_, step)| step).or_else(|| step(Opcode::from_text(opcode)));
        let mut to = HloInstructionProto {
            name: self.instruction_name(from),
            opcode: step.map_or(opcode, |step| step.opcode().text()).to_owned(),
            shape: self.shape(from),
            id,
            ..HloInstructionProto::default()
        };
        let operand = |found: Operand<'_, '_>| {
            found
                .instruction()
                .map(|found| self.instruction_id(found))
                .ok_or_else(|| no_place("an operand that is not known"))
        };
        to.operand_ids = from.operands().map(operand).collect::<Result<_>>()?;
        match from.opcode() {
            Opcode::Parameter => to.parameter_number = from.parameter_number().map_or(0, |number| number as i64),
            Opcode::Topk => (to.largest, to.is_stable) = (true, true),
            Opcode::Outfeed => {
                let shape = from.operand(0).and_then(|operand| operand.shape());
                to.outfeed_shape = shape.map(|shape| Box::new(shape.into()));
            }
            Opcode::Constant => to.literal = Some(Box::new(literal(from.arguments(), from.shape())?)),
            _ => {}
        }
        // What the operation says is in the computation that it stands in.
        let is_short = self.short.contains_key(&from.number());
        for attribute in from.attributes() {
            let value = attribute.value();
            match attribute.name() {
                "metadata" => to.metadata = Some(metadata(value)?),
                "frontend_attributes" => to.frontend_attributes = Some(frontend_attributes(value)?),
                "origin" | "original_value" => to.original_value = Some(Box::new(original_value(value)?)),
                "backend_config" => to.backend_config = backend_config(value)?,
                "control-predecessors" => {
                    let named = |name: &str| {
                        let found = by_name.get(name).map(|&found| self.instruction_id(found));
                        found.ok_or_else(|| no_place("an unknown predecessor"))
                    };
                    to.control_predecessor_ids = value.names()?.into_iter().map(named).collect::<Result<_>>()?;
                }
                name if !is_short || OF_ANY.contains(&name) => set(name, value, from.opcode(), &mut to)?,
                _ => {}
            }
        }
        complete(from.opcode(), &mut to);
        to.called_computation_ids = match (self.short.get(&from.number()), step) {
            (Some(short), _) => [short.id].into(),
            // The instruction that began has it.
            (None, Some(Step::Update | Step::Done)) => Vec::new(),
            (None, _) => self.called(from)?,
        };
        Ok(to)
    }

    /// The ids of the computations that an instruction calls, in the order of the message.
    fn called(&self, from: Instruction<'_, '_>) -> Result<Vec<i64>> {
        let mut ids = Vec::new();
        for key in CALLS {
            let Some(value) = from.attribute(key) else { continue };
            for name in value.names()? {
                let found = self.module.computation(name);
                let found = found.ok_or_else(|| no_place(&format!("the unknown computation `{name}`")))?;
                ids.push(self.computation_id(found));
            }
        }
        Ok(ids)
    }
}

/// The ids of so many instructions of a computation.
fn ids(computation: i64, count: usize) -> impl Iterator<Item = i64> {
    let count = i64::try_from(count).unwrap_or(i64::from(u32::MAX));
    (0..count).map(move |place| computation << 32 | place)
}

/// The attributes that call computations, in the order of the message: of a loop, the body comes first.
const CALLS: [&str; 10] = [
    "body",
    "condition",
    "select",
    "scatter",
    "true_computation",
    "false_computation",
    "branch_computations",
    "to_apply",
    "calls",
    "called_computations",
];

/// The attributes that any instruction may have.
const OF_ANY: [&str; 9] = [
    "async_execution_thread",
    "backend_config",
    "control-predecessors",
    "frontend_attributes",
    "metadata",
    "origin",
    "original_value",
    "sharding",
    "statistics",
];

/// Sets what XLA wants in a message where the text says nothing.
fn complete(opcode: Opcode<'_>, to: &mut HloInstructionProto) {
    match opcode {
        Opcode::Convolution | Opcode::ReduceWindow | Opcode::SelectAndScatter => {
            to.window.get_or_insert_default();
        }
        Opcode::Dot | Opcode::ScaledDot => {
            to.dot_dimension_numbers.get_or_insert_default();
        }
        Opcode::RaggedDot => {
            let numbers = to.ragged_dot_dimension_numbers.get_or_insert_default();
            numbers.dot_dimension_numbers.get_or_insert_default();
        }
        Opcode::Scan if to.is_associative == 0 => to.is_associative = NOT_ASSOCIATIVE,
        Opcode::CustomCall if to.custom_call_api_version == 0 => to.custom_call_api_version = ORIGINAL_API,
        _ => {}
    }
}

/// `API_VERSION_ORIGINAL`.
const ORIGINAL_API: i32 = 1;

/// `TRI_STATE_FALSE`.
const NOT_ASSOCIATIVE: i32 = 2;
