//! The buffer assignment in an `HloProto` (`BufferAssignmentProto` in `xla/service/hlo.proto`).

use super::content::{fields, program_in};
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
use xla_shape_core::sorting::map_of;

/// The field numbers of `HloProto`.
const MODULE: u32 = 1;
const BUFFER_ASSIGNMENT: u32 = 3;

// The parts of a module that identify values.
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
    #[prost(string, tag = "72")]
    comparison_type: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct BufferAssignmentProto {
    #[prost(message, repeated, tag = "1")]
    logical_buffers: Vec<LogicalBufferProto>,
    #[prost(message, repeated, tag = "3")]
    buffer_allocations: Vec<BufferAllocationProto>,
    #[prost(message, repeated, tag = "4")]
    heap_simulator_traces: Vec<HeapSimulatorTrace>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct HeapSimulatorTrace {
    #[prost(message, repeated, tag = "1")]
    events: Vec<Event>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Event {
    #[prost(int32, tag = "1")]
    kind: i32,
    #[prost(int64, tag = "2")]
    buffer_id: i64,
    #[prost(int64, tag = "5")]
    share_with_canonical_id: i64,
}

/// The kinds of heap simulator events that matter here: `FREE` and `SHARE_WITH`. All others allocate.
const FREE: i32 = 1;
const SHARE_WITH: i32 = 2;

#[derive(Clone, PartialEq, prost::Message)]
struct LogicalBufferProto {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(int64, tag = "2")]
    size: i64,
    #[prost(message, optional, tag = "3")]
    defined_at: Option<Location>,
    #[prost(int64, tag = "4")]
    color: i64,
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
    /// The buffer assignment in the message of a compiled module, an `HloProto` or an `HloSnapshot` with one; `None` if the message has none.
    ///
    /// ```
    /// use xla_shape_hlo::dump::BufferAssignment;
    ///
    /// // An `HloProto` with an empty module and without an assignment.
    /// assert_eq!(BufferAssignment::from_proto(&[0x0a, 2, 0x0a, 0])?, None);
    /// # Ok::<(), xla_shape_hlo::proto::HloProtoError>(())
    /// ```
    ///
    /// # Errors
    /// If the assignment cannot be decoded, or refers to values that the module does not have.
    pub fn from_proto(bytes: &[u8]) -> Result<Option<Self>, HloProtoError> {
        let Some(fields) = fields(program_in(bytes)) else { return Ok(None) };
        let of = |wanted: u32| fields.iter().find(|(field, _)| *field == wanted).map(|(_, content)| *content);
        // The bytes may also be an `HloModuleProto`. That message has fields with the same numbers, but its first field is a name, not a message.
        let (Some(module), Some(assignment)) = (of(MODULE), of(BUFFER_ASSIGNMENT)) else { return Ok(None) };
        if self::fields(module).is_none() || module.is_empty() {
            return Ok(None);
        }
        room::check(module)?;
        let assignment = BufferAssignmentProto::decode(assignment)?;
        let named = NamedModule::decode(module)?;
        let names = Names::new(&named, &assignment)?;
        let allocations = assignment.buffer_allocations.iter().map(|allocation| {
            let place = format!("buffer allocation {}", allocation.index);
            names.allocation(allocation).map_err(|error| error.within(place))
        });
        // Only releases up to libtpu 0.0.47, which count gaps, write the type of a comparison.
        let mut instructions = named.computations.iter().flat_map(|computation| &computation.instructions);
        let counts_gaps = instructions.any(|instruction| !instruction.comparison_type.is_empty());
        Ok(Some(Self::from_parts(allocations.collect::<Result<_, _>>()?, counts_gaps, live_bytes(&assignment))))
    }
}

/// The peak of live bytes of arrays in HBM as the compiler counts it (`HeapSimulator` and `NoFragmentationStatsHeap` in
/// `xla/service/heap_simulator/heap_simulator.cc`). Of several buffers that share memory, only one counts at a time: the first one allocated, until
/// it is freed. `None` if the message has no heap simulation.
fn live_bytes(assignment: &BufferAssignmentProto) -> Option<u64> {
    let buffers = assignment.logical_buffers.iter();
    let of_hbm = buffers.filter(|buffer| buffer.color == 0);
    let sizes = map_of(of_hbm.filter_map(|buffer| Some((buffer.id, u64::try_from(buffer.size).ok()?))));
    let mut all = None;
    for trace in &assignment.heap_simulator_traces {
        // `place_of`: for each buffer, the buffer whose memory it shares. `inside`: for each memory, the number of live buffers. `counted`: the
        // bytes of each buffer that counts.
        let (mut place_of, mut inside, mut counted) = (BTreeMap::new(), BTreeMap::<i64, usize>::new(), BTreeMap::new());
        let (mut live, mut most) = (0_u64, None);
        for event in &trace.events {
            let Some(&bytes) = sizes.get(&event.buffer_id) else { continue };
            if event.kind == FREE {
                if let Some(others) = place_of.get(&event.buffer_id).and_then(|place| inside.get_mut(place)) {
                    *others = others.saturating_sub(1);
                }
                live = live.saturating_sub(counted.remove(&event.buffer_id).unwrap_or(0));
            } else {
                let place = match event.kind {
                    SHARE_WITH => {
                        let other = event.share_with_canonical_id;
                        place_of.get(&other).copied().unwrap_or(other)
                    }
                    _ => event.buffer_id,
                };
                place_of.insert(event.buffer_id, place);
                let others = inside.entry(place).or_default();
                if *others == 0 {
                    counted.insert(event.buffer_id, bytes);
                    live = live.saturating_add(bytes);
                }
                *others += 1;
            }
            most = most.max(Some(live));
        }
        if let Some(most) = most {
            all = Some(all.unwrap_or(0_u64).saturating_add(most));
        }
    }
    all
}

/// The names of the values of an assignment.
struct Names {
    buffers: BTreeMap<i64, Name>,
}

/// The instruction, the shape index, and the shape of a value.
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
                // Some releases number instructions in each computation.
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
                    // For a tuple's index table, only the fact that it is a tuple matters.
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
            Ok(AssignedValue { instruction, index, bytes: size, offset, shape, is_phi: false })
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
