//! Modules to messages.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::literal::literal;
use super::message::{
    FrontendAttributes, FrontendAttributesMapEntry, HloBufferDonorProto, HloBufferDonorProtoBufferDonorEntryProto,
    HloComputationProto, HloInputOutputAliasProto, HloInputOutputAliasProtoAliasEntryProto, HloInstructionProto,
    HloModuleProto, HloScheduleProto, HloScheduleProtoInstructionSequence, HloScheduleProtoSequencesEntry,
    StackFrameIndexProto, StackFrameIndexProtoFileLocation, StackFrameIndexProtoStackFrame,
};
use super::set::{metadata, set};
use crate::attribute::Value;
use crate::module::{Computation, Instruction, Module, Table};
use crate::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use prost::Message;
use xla_shape_core::proto::{ProgramShapeProto, ShapeProto};

type Result<T> = core::result::Result<T, HloProtoError>;

impl Module<'_> {
    /// The bytes of the module's message, `HloModuleProto`.
    ///
    /// Instructions and computations get ids in their order. A constant that the text leaves out (`{...}`) is zero, as
    /// XLA reads it.
    ///
    /// # Errors
    /// If something could not be read, or has no place in the message: it is named.
    pub fn to_proto(&self) -> Result<Vec<u8>> {
        Ok(message(self)?.encode_to_vec())
    }
}

/// An error about what the message has no place for.
pub(crate) fn no_place(what: &str) -> HloProtoError {
    HloProtoError::new(HloProtoErrorKind::NoPlace { what: what.to_owned() })
}

/// The id of a computation.
fn computation_id(computation: Computation<'_, '_>) -> i64 {
    i64::from(computation.number()).saturating_add(1)
}

/// The id of an instruction: that of its computation above, its place below.
fn instruction_id(instruction: Instruction<'_, '_>) -> i64 {
    let computation = instruction.computation();
    let first = computation.instructions().next().map_or(0, Instruction::number);
    let place = i64::from(instruction.number().saturating_sub(first));
    (computation_id(computation) << 32) | place
}

fn message(module: &Module<'_>) -> Result<HloModuleProto> {
    let entry = module.entry().ok_or_else(|| no_place("a module without computations"))?;
    if module.computations().any(|computation| computation.is_fragment()) {
        return Err(no_place("instructions outside of computations"));
    }
    let computations = module.computations().map(|computation| {
        let place = format!("computation `{}`", computation.name());
        self::computation(computation).map_err(|error| error.within(place))
    });
    let mut to = HloModuleProto {
        name: module.name().unwrap_or("").to_owned(),
        entry_computation_name: entry.name().to_owned(),
        entry_computation_id: computation_id(entry),
        computations: computations.collect::<Result<_>>()?,
        ..HloModuleProto::default()
    };
    to.stack_frame_index = tables(module)?;
    to.host_program_shape = Some(program_shape(entry));
    for attribute in module.attributes() {
        let value = attribute.value();
        match attribute.name() {
            "is_scheduled" if value.boolean()? => to.schedule = Some(schedule(module)),
            // What only a module's configuration has; the message of it is another one.
            "is_scheduled"
            | "replica_count"
            | "num_partitions"
            | "alias_passthrough_params"
            | "allow_spmd_sharding_propagation_to_parameters"
            | "allow_spmd_sharding_propagation_to_output" => {}
            "entry_computation_layout" => to.host_program_shape = Some(entry_layout(value, entry)?),
            "frontend_attributes" => to.frontend_attributes = Some(frontend_attributes(value)?),
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

/// `{ (0, {}), (1, {0}) }`.
fn donors(value: Value<'_>) -> Result<HloBufferDonorProto> {
    let wrong = || HloProtoError::from(value.is_not("donors: `{ (parameter, {index}), … }`"));
    let mut entries = Vec::new();
    for item in value.items()? {
        let inside = item.text().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?;
        let (parameter, index) = inside.split_once(',').ok_or_else(wrong)?;
        let index = index.trim_ascii().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or_else(wrong)?;
        let number = |text: &str| text.trim_ascii().parse::<i64>().map_err(|_| wrong());
        let index = index.split(',').filter(|entry| !entry.trim_ascii().is_empty()).map(number);
        entries.push(HloBufferDonorProtoBufferDonorEntryProto {
            parameter_number: number(parameter)?,
            parameter_shape_index: index.collect::<Result<_>>()?,
        });
    }
    Ok(HloBufferDonorProto { entries })
}

/// The order of the instructions of all computations but those of fusions.
fn schedule(module: &Module<'_>) -> HloScheduleProto {
    let fused = module.instructions().filter(|instruction| instruction.opcode() == Opcode::Fusion);
    let fused: alloc::collections::BTreeSet<&str> =
        fused.filter_map(|fusion| fusion.attribute("calls")?.name().ok()).collect();
    let sequences = module.computations().filter(|computation| !fused.contains(computation.name()));
    let sequence = |computation: Computation<'_, '_>| HloScheduleProtoSequencesEntry {
        key: computation_id(computation),
        value: Some(HloScheduleProtoInstructionSequence { instruction_ids: ids(computation).collect() }),
    };
    HloScheduleProto { sequences: sequences.map(sequence).collect() }
}

fn ids<'m>(computation: Computation<'m, '_>) -> impl Iterator<Item = i64> + use<'m> {
    let above = computation_id(computation) << 32;
    let count = i64::try_from(computation.instructions().len()).unwrap_or(0);
    (0..count).map(move |place| above | place)
}

fn program_shape(computation: Computation<'_, '_>) -> ProgramShapeProto {
    let mut parameters: Vec<_> =
        computation.instructions().filter_map(|found| Some((found.parameter_number()?, found))).collect();
    parameters.sort_by_key(|(number, _)| *number);
    ProgramShapeProto {
        parameters: parameters.iter().map(|(_, parameter)| parameter.shape().into()).collect(),
        result: Some(computation.root().shape().into()),
        parameter_names: parameters.iter().map(|(_, parameter)| parameter.name().to_owned()).collect(),
    }
}

fn entry_layout(value: Value<'_>, entry: Computation<'_, '_>) -> Result<ProgramShapeProto> {
    let layout = value.program_shape()?;
    let of_entry = program_shape(entry);
    Ok(ProgramShapeProto {
        parameters: layout.parameters.iter().map(|parameter| ShapeProto::from(&parameter.shape)).collect(),
        result: Some((&layout.result).into()),
        parameter_names: of_entry.parameter_names,
    })
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

fn computation(computation: Computation<'_, '_>) -> Result<HloComputationProto> {
    let instructions = computation.instructions().zip(ids(computation)).map(|(found, id)| {
        let place = format!("instruction `{}`", found.name());
        instruction(found, id).map_err(|error| error.within(place))
    });
    let thread = computation.attribute("execution_thread");
    let root = computation.root();
    Ok(HloComputationProto {
        name: computation.name().to_owned(),
        instructions: instructions.collect::<Result<_>>()?,
        program_shape: Some(program_shape(computation)),
        id: computation_id(computation),
        root_id: instruction_id(root),
        execution_thread: thread.map_or(Ok("main".into()), |thread| thread.string())?.into_owned(),
        ..HloComputationProto::default()
    })
}

fn instruction(from: Instruction<'_, '_>, id: i64) -> Result<HloInstructionProto> {
    if !from.is_read() {
        return Err(no_place("an instruction that could not be read"));
    }
    let mut to = HloInstructionProto {
        name: from.name().to_owned(),
        opcode: from.opcode().to_string(),
        shape: Some(from.shape().into()),
        id,
        ..HloInstructionProto::default()
    };
    let operand = |found: crate::module::Operand<'_, '_>| {
        found.instruction().map(instruction_id).ok_or_else(|| no_place("an operand that is not known"))
    };
    to.operand_ids = from.operands().map(operand).collect::<Result<_>>()?;
    match from.opcode() {
        Opcode::Parameter => to.parameter_number = from.parameter_number().map_or(0, |number| number as i64),
        Opcode::Constant => to.literal = Some(Box::new(literal(from.arguments(), from.shape())?)),
        _ => {}
    }
    for attribute in from.attributes() {
        let value = attribute.value();
        match attribute.name() {
            "metadata" => to.metadata = Some(metadata(value)?),
            "frontend_attributes" => to.frontend_attributes = Some(frontend_attributes(value)?),
            "backend_config" => {
                to.backend_config = match value.text().starts_with('{') {
                    true => value.text().as_bytes().to_vec(),
                    false => value.bytes()?.into_owned(),
                };
            }
            "control-predecessors" => {
                let computation = from.computation();
                let named = |name: &str| {
                    computation.instruction(name).map(instruction_id).ok_or_else(|| no_place("an unknown predecessor"))
                };
                to.control_predecessor_ids = value.names()?.into_iter().map(named).collect::<Result<_>>()?;
            }
            name => set(name, value, from, &mut to)?,
        }
    }
    to.called_computation_ids = called(from)?;
    Ok(to)
}

/// The ids of the computations that an instruction calls, in the order of the message.
fn called(from: Instruction<'_, '_>) -> Result<Vec<i64>> {
    // Of a loop, the body comes first.
    const KEYS: [&str; 11] = [
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
        "comparator",
    ];
    let mut ids = Vec::new();
    for key in KEYS {
        let Some(value) = from.attribute(key) else { continue };
        for name in value.names()? {
            let found = from.module().computation(name);
            ids.push(computation_id(found.ok_or_else(|| no_place(&format!("the unknown computation `{name}`")))?));
        }
    }
    Ok(ids)
}
