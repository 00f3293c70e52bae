//! Writes modules as messages (`HloModule::ToProto` in `xla/hlo/ir/hlo_module.cc`, `HloInstruction::ToProto`).

use super::error::{HloProtoError, unrepresentable};
use super::fields::{Fields, frontend_attributes};
use super::literal::literal;
use super::message::{
    HloBufferDonorProto, HloBufferDonorProtoBufferDonorEntryProto, HloComputationProto, HloInputOutputAliasProto,
    HloInputOutputAliasProtoAliasEntryProto, HloModuleProto, HloScheduleProto, HloScheduleProtoInstructionSequence,
    HloScheduleProtoSequencesEntry, StackFrameIndexProto, StackFrameIndexProtoFileLocation,
    StackFrameIndexProtoStackFrame, instruction_field as field,
};
use super::names::Names;
use super::origin::recovery_table;
use crate::asynchronous::Step;
use crate::attribute::{Attribute, Value};
use crate::module::{Computation, Instruction, Module, Operand, Table};
use crate::parsed::Data;
use crate::parsed::Row;
use crate::schema::attribute::{COMMON, MODULE};
use crate::schema::opcode::Opcode;
use crate::schema::{Key, Kind};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use prost::Message;
use xla_shape_core::proto::{ProgramShapeProto, ShapeProto, encode_shape};
use xla_shape_core::sorting::{set_of, sort_by_key};

type Result<T> = core::result::Result<T, HloProtoError>;

impl Module {
    /// Encodes the module as an `HloModuleProto`.
    ///
    /// Instructions and computations get ids in text order, and duplicate names get a numeric suffix, as in XLA. The elements of a
    /// constant that the text omits (`{...}`) are zero, as in XLA's parser.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let text = "HloModule m\nENTRY e { p = f32[2]{0} parameter(0) ROOT n = f32[2]{0} negate(p) }";
    /// let message = Module::parse(text)?.to_proto()?;
    /// assert_eq!(Module::from_proto(&message)?.instructions().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If an instruction could not be read, or the message cannot represent a part of the module. The error names the part.
    pub fn to_proto(&self) -> Result<Vec<u8>> {
        Ok(message(self)?.encode_to_vec())
    }
}

/// The computation that an asynchronous start in short form implies: `slice-start(x), slice={…}`.
struct Short {
    id: i64,
    name: String,
    /// The names of its parameters and, last, of the operation.
    instructions: Vec<String>,
}

/// A module with the ids and names of its message.
struct Writer<'m> {
    module: &'m Module,
    /// The numbers of the computations, callees first.
    order: Vec<u32>,
    /// The id and the name of each computation.
    computations: Vec<(i64, String)>,
    /// The names of the instructions.
    instructions: Vec<String>,
    /// The encoded shapes of the module, by number.
    shapes: Vec<Vec<u8>>,
    /// The implied computations, by the number of the asynchronous start.
    short: BTreeMap<u32, Short>,
}

impl<'m> Writer<'m> {
    fn new(module: &'m Module) -> Self {
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
        #[expect(clippy::arithmetic_side_effects, reason = "each computation takes one number")]
        let mut id = || {
            let id = next;
            next += 1;
            id
        };
        let found: Vec<Computation<'m>> = module.computations().collect();
        for &number in &writer.order {
            let Some(&computation) = found.get(number as usize) else { continue };
            // The computation that a short form implies is a callee, so it gets its names before its user.
            for start in computation.instructions() {
                if let Some((opcode, Step::Start)) = start.short_form() {
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

    fn computation_id(&self, computation: Computation<'_>) -> i64 {
        self.computations.get(computation.number() as usize).map_or(0, |(id, _)| *id)
    }

    fn computation_name(&self, computation: Computation<'_>) -> String {
        self.computations.get(computation.number() as usize).map_or_else(String::new, |(_, name)| name.clone())
    }

    /// The id of an instruction: the computation's id in the upper 32 bits, the index in the computation in the lower.
    fn instruction_id(&self, instruction: Instruction<'_>) -> i64 {
        let computation = instruction.computation();
        let first = computation.instructions().next().map_or(0, Instruction::number);
        let place = i64::from(instruction.number().saturating_sub(first));
        (self.computation_id(computation) << 32) | place
    }

    fn shape(&self, instruction: Instruction<'_>) -> &[u8] {
        self.shapes.get(instruction.shape_number() as usize).map_or(&[], Vec::as_slice)
    }

    fn instruction_name(&self, instruction: Instruction<'_>) -> &str {
        self.instructions.get(instruction.number() as usize).map_or("", String::as_str)
    }
}

/// The numbers of the computations, callees before callers, otherwise in text order.
fn callees_first(module: &Module) -> Vec<u32> {
    let all: Vec<Computation<'_>> = module.computations().collect();
    let callees = |computation: Computation<'_>| {
        let names = computation.instructions().flat_map(Instruction::called_names);
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

fn message(module: &Module) -> Result<HloModuleProto> {
    let entry = module.entry().ok_or_else(|| unrepresentable("a module without computations"))?;
    if module.computations().any(|computation| computation.is_fragment()) {
        return Err(unrepresentable("instructions outside of computations"));
    }
    let writer = Writer::new(module);
    let mut computations = Vec::with_capacity(writer.order.len());
    let found: Vec<Computation<'_>> = module.computations().collect();
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
        match Key::among(MODULE, attribute.name()) {
            Some(Key::IsScheduled) if value.boolean()? => to.schedule = Some(writer.schedule()),
            // These belong to `HloModuleConfigProto`, not to this message.
            Some(
                Key::IsScheduled
                | Key::ReplicaCount
                | Key::NumPartitions
                | Key::AliasPassthroughParams
                | Key::AllowShardingToParameters
                | Key::AllowShardingToOutput,
            ) => {}
            Some(Key::BackendConfig) => {
                if let Data::Bytes(config) = Kind::Config.read(value)? {
                    to.backend_config = config.into_owned();
                }
            }
            Some(Key::EntryComputationLayout) => to.host_program_shape = Some(entry_layout(value, entry)?),
            Some(Key::FrontendAttributes) => to.frontend_attributes = Some(frontend_attributes(value.fields()?)?),
            Some(Key::OriginRecoveryTable) => to.original_value_recovery_table = Some(recovery_table(value, message)?),
            Some(Key::InputOutputAlias) => {
                let ints = |list: &[usize]| list.iter().map(|&entry| entry as i64).collect();
                let entries = value.aliases()?.into_iter().map(|alias| HloInputOutputAliasProtoAliasEntryProto {
                    output_shape_index: ints(&alias.result_index),
                    parameter_number: alias.parameter as i64,
                    parameter_shape_index: ints(&alias.parameter_index),
                    kind: if alias.must { 2 } else { 1 },
                });
                to.input_output_alias = Some(HloInputOutputAliasProto { entries: entries.collect() });
            }
            Some(Key::BufferDonor) => to.buffer_donor = Some(donors(value)?),
            _ => return Err(unrepresentable(&format!("the attribute `{}` of the module", attribute.name()))),
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

fn program_shape(computation: Computation<'_>) -> ProgramShapeProto {
    let parameters = computation.parameters_by_number();
    ProgramShapeProto {
        parameters: parameters.iter().map(|(_, parameter)| parameter.shape().into()).collect(),
        result: Some(computation.root().shape().into()),
        parameter_names: parameters.iter().map(|(_, parameter)| parameter.name().to_owned()).collect(),
    }
}

fn entry_layout(value: Value<'_>, entry: Computation<'_>) -> Result<ProgramShapeProto> {
    let layout = value.program_shape()?;
    let mut names = program_shape(entry).parameter_names;
    // Every parameter needs a name.
    if names.len() != layout.parameters.len() {
        names = (0..layout.parameters.len()).map(|number| format!("p{number}")).collect();
    }
    Ok(ProgramShapeProto {
        parameters: layout.parameters.iter().map(|parameter| ShapeProto::from(&parameter.shape)).collect(),
        result: Some((&layout.result).into()),
        parameter_names: names,
    })
}

fn tables(module: &Module) -> Result<Option<StackFrameIndexProto>> {
    if module.tables().is_empty() {
        return Ok(None);
    }
    let strings = |table| -> Result<Vec<String>> {
        module.rows(table).map(|(_, value)| Ok(value.string()?.into_owned())).collect()
    };
    let number = |value: Value<'_>, name: &str| -> Result<i32> {
        let field = value.field(name)?.map_or(Ok(0), |field| field.number())?;
        i32::try_from(field).map_err(|_| unrepresentable("a number of more than 31 bits in a table"))
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
            // In text, parent ids begin at 1.
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

impl Writer<'_> {
    /// The order of the instructions of all computations except those of fusions.
    fn schedule(&self) -> HloScheduleProto {
        let fused = self.module.instructions().filter(|instruction| instruction.opcode() == Opcode::Fusion);
        let fused = set_of(fused.filter_map(|fusion| fusion.name_of(Key::Calls)));
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

    /// Encodes a computation, after the implied computations of its instructions.
    fn computation(&self, computation: Computation<'_>, to: &mut Vec<HloComputationProto>) -> Result<()> {
        let mut instructions = Vec::with_capacity(computation.instructions().len());
        let id = self.computation_id(computation);
        let has_predecessors = |found: Instruction<'_>| found.value_of(Key::ControlPredecessors).is_some();
        let mut by_name = BTreeMap::new();
        if computation.instructions().any(has_predecessors) {
            by_name.extend(computation.instructions().map(|found| (found.name(), found)));
        }
        for (found, id) in computation.instructions().zip(ids(id, computation.instructions().len())) {
            let place = || format!("instruction `{}`", found.name());
            instructions.push(self.instruction(found, id, &by_name).map_err(|error| error.within(place()))?);
            if let Some((opcode, Step::Start)) = found.short_form() {
                to.push(self.short(found, Opcode::from_text(opcode)).map_err(|error| error.within(place()))?);
            }
        }
        let thread = computation.attribute(Key::ExecutionThread.name());
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

    /// Encodes the computation that an asynchronous start in short form implies, with the wrapped operation's attributes.
    fn short(&self, start: Instruction<'_>, opcode: Opcode<'_>) -> Result<HloComputationProto> {
        let Some(short) = self.short.get(&start.number()) else {
            return Err(unrepresentable("an operation without a name"));
        };
        let result = start.shape().tuple_shapes().and_then(|shapes| shapes.get(1));
        let result = result
            .ok_or_else(|| unrepresentable("an asynchronous start whose shape is not a tuple with the result"))?;
        let (mut instructions, mut operand_ids) = (Vec::with_capacity(short.instructions.len()), Vec::new());
        let mut program = ProgramShapeProto { result: Some(result.into()), ..ProgramShapeProto::default() };
        for (((operand, name), id), number) in
            start.operands().zip(&short.instructions).zip(ids(short.id, usize::MAX)).zip(0_i64..)
        {
            let shape: ShapeProto = operand.shape().ok_or_else(|| unrepresentable("an unknown operand"))?.into();
            program.parameters.push(shape.clone());
            program.parameter_names.push(name.clone());
            let mut parameter = head(name, Opcode::Parameter.text(), &shape.encode_to_vec(), id);
            parameter.number(&[field::PARAMETER_NUMBER], number);
            instructions.push(parameter.encode());
            operand_ids.push(id);
        }
        let root_id = (short.id << 32) | i64::try_from(instructions.len()).unwrap_or(0);
        let name = short.instructions.last().map_or("", String::as_str);
        let mut root = head(name, opcode.text(), &encode_shape(result), root_id);
        root.list(&[field::OPERAND_IDS], operand_ids);
        let of_root = |attribute: &Attribute<'_>| {
            Key::among(COMMON, attribute.name()).is_none() && !is_of_start(opcode, attribute.name())
        };
        for attribute in start.attributes().filter(of_root) {
            set(&mut root, opcode, attribute)?;
        }
        if let Some(sharding) = start.wrapped_sharding() {
            root.set(Key::Sharding, sharding.value())?;
        }
        root.list(&[field::CALLED_COMPUTATION_IDS], self.called(start)?);
        complete(opcode, &mut root);
        let thread = start.value_of(Key::AsyncExecutionThread);
        instructions.push(root.encode());
        Ok(HloComputationProto {
            name: short.name.clone(),
            instructions,
            program_shape: Some(program),
            id: short.id,
            root_id,
            execution_thread: thread.map_or(Ok("main".into()), |thread| thread.string())?.into_owned(),
        })
    }

    fn instruction<'i>(
        &self,
        from: Instruction<'i>,
        id: i64,
        by_name: &BTreeMap<&str, Instruction<'i>>,
    ) -> Result<Vec<u8>> {
        if !from.is_read() {
            return Err(unrepresentable("an instruction that could not be read"));
        }
        let opcode = from.opcode().text();
        let step = from.asynchronous_step();
        let text = step.map_or(opcode, |step| step.opcode().text());
        let mut to = head(self.instruction_name(from), text, self.shape(from), id);
        let operand = |found: Operand<'_>| {
            let found = found.instruction().ok_or_else(|| unrepresentable("an unknown operand"))?;
            match found.number() < from.number() {
                true => Ok(self.instruction_id(found)),
                false => Err(unrepresentable("an operand that is defined after its use")),
            }
        };
        to.list(&[field::OPERAND_IDS], from.operands().map(operand).collect::<Result<Vec<_>>>()?);
        match from.opcode() {
            Opcode::Parameter => {
                let number = from.parameter_number().map_or(0, |number| number as i64);
                to.number(&[field::PARAMETER_NUMBER], number);
            }
            Opcode::Topk => {
                for key in [Key::Largest, Key::IsStable].into_iter().filter(|key| from.value_of(*key).is_none()) {
                    to.number(key.field(), 1);
                }
            }
            Opcode::Outfeed if from.value_of(Key::OutfeedShape).is_none() => {
                if let Some(shape) = from.operand(0).and_then(|operand| operand.shape()) {
                    to.message(Key::OutfeedShape.field(), &ShapeProto::from(shape));
                }
            }
            Opcode::Constant => to.message(&[field::LITERAL], &literal(from.arguments(), from.shape())?),
            _ => {}
        }
        // The attributes of a wrapped operation are in the implied computation.
        let is_short = self.short.contains_key(&from.number());
        let operation = from.short_form().map(|(operation, _)| Opcode::from_text(operation));
        for attribute in from.attributes() {
            match Key::among(COMMON, attribute.name()) {
                Some(Key::ControlPredecessors) => {
                    let named = |name: &str| {
                        let found = by_name.get(name).map(|&found| self.instruction_id(found));
                        found.ok_or_else(|| unrepresentable("an unknown predecessor"))
                    };
                    let names = attribute.value().names()?.into_iter();
                    to.list(&[field::CONTROL_PREDECESSOR_IDS], names.map(named).collect::<Result<Vec<_>>>()?);
                }
                Some(key) => to.set(key, attribute.value())?,
                None if !is_short || operation.is_some_and(|of| is_of_start(of, attribute.name())) => {
                    set(&mut to, from.opcode(), attribute)?
                }
                None => {}
            }
        }
        complete(from.opcode(), &mut to);
        let called = match (self.short.get(&from.number()), step) {
            (Some(short), _) => [short.id].into(),
            // The start has the attribute.
            (None, Some(Step::Update | Step::Done)) => Vec::new(),
            (None, _) => self.called(from)?,
        };
        to.list(&[field::CALLED_COMPUTATION_IDS], called);
        Ok(to.encode())
    }

    /// The ids of the computations that an instruction calls, in the order of `called_computation_ids`.
    fn called(&self, from: Instruction<'_>) -> Result<Vec<i64>> {
        let place = |key: &Key| if let Kind::Computation(place) = key.kind() { place } else { 0 };
        let is_called = |attribute: Attribute<'_>| Key::among(Key::CALLS, attribute.name());
        let mut keys: Vec<Key> = from.attributes().filter_map(is_called).collect();
        sort_by_key(&mut keys, place);
        let mut ids = Vec::new();
        for value in keys.into_iter().filter_map(|key| from.value_of(key)) {
            for name in value.names()? {
                let found = self.module.computation(name);
                let found = found.ok_or_else(|| unrepresentable(&format!("the unknown computation `{name}`")))?;
                ids.push(self.computation_id(found));
            }
        }
        Ok(ids)
    }
}

/// Whether an attribute of an asynchronous start in short form must belong to the start itself, because the wrapped operation cannot have it.
fn is_of_start(operation: Opcode<'_>, attribute: &str) -> bool {
    let key = Key::OutputToOperandAliasing;
    attribute == key.name() && !operation.has(key)
}

/// The fields of every instruction.
fn head(name: &str, opcode: &str, shape: &[u8], id: i64) -> Fields {
    let mut to = Fields::default();
    to.bytes(&[field::NAME], name.as_bytes());
    to.bytes(&[field::OPCODE], opcode.as_bytes());
    to.any_bytes(&[field::SHAPE], shape);
    to.number(&[field::ID], id);
    to
}

/// Sets the field of an attribute of this opcode.
fn set(to: &mut Fields, opcode: Opcode<'_>, attribute: Attribute<'_>) -> Result<()> {
    match Row::find(opcode, attribute.name()).key() {
        Some(key) => to.set(key, attribute.value()),
        None => Err(unrepresentable(&format!("the attribute `{}`", attribute.name()))),
    }
}

/// The ids of the first `count` instructions of a computation.
fn ids(computation: i64, count: usize) -> impl Iterator<Item = i64> {
    let count = i64::try_from(count).unwrap_or(i64::from(u32::MAX));
    (0..count).map(move |place| computation << 32 | place)
}

/// Sets the fields that XLA requires although the text omits them.
fn complete(opcode: Opcode<'_>, to: &mut Fields) {
    let mut unless_said = |key: Key, number| {
        if !to.has(key.field()) {
            to.number(key.field(), number);
        }
    };
    match opcode {
        Opcode::Convolution | Opcode::ReduceWindow | Opcode::SelectAndScatter => to.ensure(Key::Window.around()),
        Opcode::Dot | Opcode::ScaledDot => to.ensure(Key::LhsBatchDims.around()),
        Opcode::RaggedDot => to.ensure(Key::RaggedLhsBatchDims.around()),
        Opcode::Scan => unless_said(Key::IsAssociative, NOT_ASSOCIATIVE),
        Opcode::CustomCall => unless_said(Key::ApiVersion, ORIGINAL_API),
        _ => {}
    }
}

/// `API_VERSION_ORIGINAL`.
const ORIGINAL_API: i64 = 1;

/// `TRI_STATE_FALSE`.
const NOT_ASSOCIATIVE: i64 = 2;
