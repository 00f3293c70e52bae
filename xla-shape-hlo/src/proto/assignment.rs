//! The buffer assignment in an `HloProto`.

use super::content::fields;
use super::error::{HloProtoError, HloProtoErrorKind};
use super::room;
use crate::dump::{Allocation, AssignedValue, BufferAssignment};
use crate::memory::written_index;
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use prost::Message;
use xla_shape_core::Shape;
use xla_shape_core::proto::ShapeProto;

/// The fields of `HloProto`.
const MODULE: u32 = 1;
const BUFFER_ASSIGNMENT: u32 = 3;

// Of a module, only what values are called by.
#[derive(Clone, PartialEq, prost::Message)]
struct NamedModule {
    #[prost(message, repeated, tag = "3")]
    computations: Vec<NamedComputation>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct NamedComputation {
    #[prost(message, repeated, tag = "2")]
    instructions: Vec<NamedInstruction>,
    #[prost(int64, tag = "5")]
    id: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct NamedInstruction {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "3")]
    shape: Option<ShapeProto>,
    #[prost(int64, tag = "35")]
    id: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct BufferAssignmentProto {
    #[prost(message, repeated, tag = "1")]
    logical_buffers: Vec<LogicalBufferProto>,
    #[prost(message, repeated, tag = "3")]
    buffer_allocations: Vec<BufferAllocationProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct LogicalBufferProto {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(message, optional, tag = "3")]
    defined_at: Option<Location>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Location {
    #[prost(string, tag = "2")]
    instruction_name: String,
    #[prost(int64, repeated, tag = "3")]
    shape_index: Vec<i64>,
    #[prost(int64, tag = "4")]
    instruction_id: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct BufferAllocationProto {
    #[prost(int64, tag = "1")]
    index: i64,
    #[prost(int64, tag = "2")]
    size: i64,
    #[prost(bool, tag = "3")]
    is_thread_local: bool,
    #[prost(bool, tag = "5")]
    is_entry_computation_parameter: bool,
    #[prost(int64, tag = "6")]
    parameter_number: i64,
    #[prost(bool, tag = "7")]
    maybe_live_out: bool,
    #[prost(int64, tag = "8")]
    color: i64,
    #[prost(message, repeated, tag = "9")]
    assigned: Vec<Assigned>,
    #[prost(bool, tag = "12")]
    is_constant: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Assigned {
    #[prost(int64, tag = "1")]
    logical_buffer_id: i64,
    #[prost(int64, tag = "2")]
    offset: i64,
    #[prost(int64, tag = "3")]
    size: i64,
}

impl BufferAssignment {
    /// The assignment in the message of a compiled module, an `HloProto`; `None` if the message has none.
    ///
    /// ```
    /// use xla_shape_hlo::dump::BufferAssignment;
    ///
    /// // A module without anything, and no assignment.
    /// assert_eq!(BufferAssignment::from_proto(&[0x0a, 2, 0x0a, 0])?, None);
    /// # Ok::<(), xla_shape_hlo::proto::HloProtoError>(())
    /// ```
    ///
    /// # Errors
    /// If the assignment is no message of one, or has values that the module has not.
    pub fn from_proto(bytes: &[u8]) -> Result<Option<Self>, HloProtoError> {
        let Some(fields) = fields(bytes) else { return Ok(None) };
        let of = |wanted: u32| fields.iter().find(|(field, _)| *field == wanted).map(|(_, content)| *content);
        // An `HloModuleProto` has its computations in field 3; it begins with a name and not with a message.
        let (Some(module), Some(assignment)) = (of(MODULE), of(BUFFER_ASSIGNMENT)) else { return Ok(None) };
        if self::fields(module).is_none() || module.is_empty() {
            return Ok(None);
        }
        room::check(module)?;
        let assignment = BufferAssignmentProto::decode(assignment)?;
        let module = NamedModule::decode(module)?;
        let names = Names::new(&module, &assignment)?;
        let allocations = assignment.buffer_allocations.iter().map(|allocation| {
            let place = format!("buffer allocation {}", allocation.index);
            names.allocation(allocation).map_err(|error| error.within(place))
        });
        Ok(Some(Self::from_allocations(allocations.collect::<Result<_, _>>()?)))
    }
}

/// What the values of an assignment are called.
struct Names {
    buffers: BTreeMap<i64, Name>,
}

/// The instruction, the index, and the shape there.
#[derive(Clone)]
struct Name {
    instruction: String,
    index: String,
    shape: String,
}

impl Names {
    fn new(module: &NamedModule, assignment: &BufferAssignmentProto) -> Result<Self, HloProtoError> {
        let mut by_id: BTreeMap<i64, &NamedInstruction> = BTreeMap::new();
        let mut by_name: BTreeMap<&str, &NamedInstruction> = BTreeMap::new();
        for computation in &module.computations {
            for instruction in &computation.instructions {
                by_id.insert(instruction.id, instruction);
                // Ids may be counted in each computation.
                by_id.entry(computation.id.wrapping_shl(32) | instruction.id).or_insert(instruction);
                by_name.insert(&instruction.name, instruction);
            }
        }
        let mut shapes: BTreeMap<*const NamedInstruction, Shape> = BTreeMap::new();
        let mut buffers = BTreeMap::new();
        for buffer in &assignment.logical_buffers {
            let location = buffer.defined_at.clone().unwrap_or_default();
            let unknown = || {
                HloProtoError::new(HloProtoErrorKind::UnknownId {
                    what: "the instruction of a logical buffer",
                    id: location.instruction_id,
                })
            };
            let named = by_id.get(&location.instruction_id).filter(|_| location.instruction_name.is_empty());
            let instruction = named.or_else(|| by_name.get(location.instruction_name.as_str()));
            let instruction = *instruction.or_else(|| by_id.get(&location.instruction_id)).ok_or_else(unknown)?;
            let index: Option<Vec<usize>> = location.shape_index.iter().map(|&i| usize::try_from(i).ok()).collect();
            let index = index.ok_or_else(unknown)?;
            let pointer: *const NamedInstruction = instruction;
            let whole = match shapes.entry(pointer) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(Shape::try_from(instruction.shape.as_ref().ok_or_else(unknown)?)?),
            };
            let part = index
                .iter()
                .try_fold(&*whole, |shape, &element| shape.tuple_shapes().and_then(|elements| elements.get(element)));
            let name = Name {
                instruction: instruction.name.clone(),
                index: written_index(&index),
                shape: match part.ok_or_else(unknown)? {
                    // A table needs no more than to be known as one.
                    Shape::Tuple(_) => "()".to_string(),
                    part => part.to_string(),
                },
            };
            buffers.insert(buffer.id, name);
        }
        Ok(Self { buffers })
    }

    fn allocation(&self, proto: &BufferAllocationProto) -> Result<Allocation, HloProtoError> {
        let bytes = number("size", proto.size)?;
        let values = proto.assigned.iter().map(|assigned| {
            let unknown = HloProtoErrorKind::UnknownId { what: "a logical buffer", id: assigned.logical_buffer_id };
            let name = self.buffers.get(&assigned.logical_buffer_id);
            let name = name.cloned().ok_or_else(|| HloProtoError::new(unknown))?;
            let (size, offset) = (number("size", assigned.size)?, number("offset", assigned.offset)?);
            if offset.checked_add(size).is_none_or(|end| end > bytes) {
                let value = assigned.offset;
                return Err(HloProtoError::new(HloProtoErrorKind::UnknownValue { field: "offset", value }));
            }
            let Name { instruction, index, shape } = name;
            Ok(AssignedValue { instruction, index, bytes: size, offset, shape, meets: false })
        });
        let parameter =
            proto.is_entry_computation_parameter.then(|| number("parameter_number", proto.parameter_number));
        Ok(Allocation {
            number: number("index", proto.index)?,
            bytes,
            space: u8::try_from(proto.color).map_err(|_| wrong("color", proto.color))?,
            parameter: parameter.transpose()?,
            is_constant: proto.is_constant,
            is_thread_local: proto.is_thread_local,
            lives_out: proto.maybe_live_out,
            is_heap: !proto.is_entry_computation_parameter
                && !proto.maybe_live_out
                && !proto.is_thread_local
                && !proto.is_constant,
            values: values.collect::<Result<_, _>>()?,
        })
    }
}

fn wrong(field: &'static str, value: i64) -> HloProtoError {
    HloProtoError::new(HloProtoErrorKind::UnknownValue { field, value })
}

fn number(field: &'static str, value: i64) -> Result<u64, HloProtoError> {
    u64::try_from(value).map_err(|_| wrong(field, value))
}
