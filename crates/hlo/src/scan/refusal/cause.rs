//! Why a compiler or a runtime refused something: one variant for each kind of message, with the figures that the message states.
//!
//! To read a new kind of message, add a variant here, a rule in `rules.rs`, its first words in `reader.rs`, what helps in `remedy.rs`, and the
//! sentences in `crates/answers/src/scan`. Also add a case to `scripts/refusals.py` or a row to `tests/corpus/reports/public.jsonl`, and a row to
//! `docs/symptoms.md`.

use super::words::sizes;
use super::{Code, Remedy};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::shard::Sharding;
use xla_shape_core::{ArrayShape, ElementType, Shape, memory_space};

/// Why a program, an array or a kernel was refused.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum RefusalCause {
    /// A program was called with an array that does not have the size, and so not the shape or layout, that it expects (E0102).
    InputMismatch {
        /// The number of the parameter.
        parameter: u64,
        /// The bytes of the parameter and of the array.
        bytes: [u64; 2],
        /// The arrays, if the message states them.
        arrays: Option<[ArrayShape; 2]>,
    },
    /// A core of a TPU stopped (E0200).
    CoreHalt(Halt),
    /// A value in host memory is returned, but the program says that the result is in the device's memory (E1200).
    HostOutput {
        /// The instruction that moves the value.
        value: String,
    },
    /// An operation reads a value in host memory that can only be moved, sliced and updated there.
    HostUse {
        /// The instruction that moves the value to the host.
        value: String,
        /// The instruction of the operation.
        user: String,
    },
    /// The compiler runs operations on the host, because their operands are in the host's memory. This is a warning.
    HostCompute {
        /// The names of the instructions, at most 20 of them.
        instructions: Vec<String>,
    },
    /// An instruction other than a kernel, such as a fusion of many operands, needs more VMEM than there is. XLA's message calls this a bug of XLA.
    InstructionVmem {
        /// The instruction, if the message lists it.
        instruction: Option<String>,
        /// The number of its operands.
        operands: Option<u64>,
    },
    /// The matrix unit does not multiply these types (E2001).
    MatmulType {
        /// The types of the operands.
        types: Vec<ElementType>,
    },
    /// The matrix unit does not multiply this type with this precision.
    MatmulPrecision {
        /// The type of the operands.
        element_type: Option<ElementType>,
    },
    /// A block does not consist of whole tiles (E2002).
    BlockShape {
        /// The argument of the kernel, as the message names it.
        argument: String,
        /// The sizes of the block.
        block: Vec<u64>,
        /// The sizes of the array; empty where the message leaves them out.
        array: Vec<u64>,
        /// What the last sizes must be multiples of.
        tile: Vec<u64>,
    },
    /// The compiler cannot prove that an index is a multiple of a tile (E2003).
    UnprovenIndex {
        /// The dimension.
        dimension: u64,
        /// What the index must be a multiple of.
        multiple: u64,
        /// The array that is indexed.
        array: Option<ArrayShape>,
    },
    /// A slice does not consist of whole tiles.
    SliceSize {
        /// The dimension.
        dimension: u64,
        /// What the size must be a multiple of.
        multiple: u64,
        /// The size; `None` if it is known only at run time.
        size: Option<u64>,
        /// The array that is sliced.
        array: Option<ArrayShape>,
    },
    /// A copy between memories moves lines that are too short, or begin inside a word of the memory.
    TransferLine {
        /// The length of the line, or its first position, must be a multiple of this many bytes.
        multiple_bytes: u64,
        /// Whether the position at which the line begins is wrong, rather than its length.
        is_offset: bool,
        /// The array that is copied.
        array: Option<ArrayShape>,
    },
    /// A strided load of an array whose last dimension is not 128.
    StridedLoad {
        /// The array.
        array: Option<ArrayShape>,
    },
    /// XLA gives a kernel an operand in a different layout than the kernel was compiled for.
    OperandLayout {
        /// The number of the operand, if the message states it.
        operand: Option<u64>,
        /// What the kernel expects, and what XLA gives it.
        shapes: Box<[Shape; 2]>,
    },
    /// An operation got a vector in a layout that it does not accept.
    VectorLayout {
        /// The layout, as Mosaic writes it.
        layout: Option<String>,
        /// The vectors of the operation.
        vectors: Vec<ArrayShape>,
    },
    /// A reshape in a kernel for which the compiler has no code.
    ShapeCast {
        /// The sizes before and after, if the message states them.
        sizes: Option<[Vec<u64>; 2]>,
    },
    /// This TPU has no instruction for an operation with these element types.
    ElementType {
        /// The element types of the operation.
        types: Vec<ElementType>,
        /// Whether the operation loads, stores or converts, so that no other operation can come before it in the kernel.
        is_move: bool,
    },
    /// A primitive of JAX that Pallas does not translate.
    Primitive {
        /// Its name.
        primitive: String,
        /// Whether the kernel is for a GPU, not a TPU.
        is_for_gpu: bool,
    },
    /// A conversion between element types that Pallas does not translate for TPUs.
    Cast {
        /// The type before.
        from: ElementType,
        /// The type after.
        to: ElementType,
    },
    /// This generation of TPUs has no instruction for an operation.
    NoInstruction {
        /// What the message calls it.
        what: String,
    },
    /// A kernel loads from or stores into HBM without a copy.
    NoDirectAccess,
    /// A value is stored into an array of another element type.
    StoreType {
        /// The element type of the array.
        array: ElementType,
        /// The element type of the value.
        value: ElementType,
    },
    /// A scalar is stored into vector memory.
    ScalarStore,
    /// A vector is loaded from or stored into scalar memory.
    VectorInSmem,
    /// `dimension_semantics` does not have one entry for each dimension of the grid.
    GridSemantics {
        /// The dimensions of the grid.
        grid: u64,
        /// The entries.
        semantics: u64,
    },
    /// The compiler of kernels does not have an operation that JAX wrote, because the releases of the two do not fit together.
    UnknownOperation {
        /// The operation, such as `tpu.wait_dma`.
        operation: String,
    },
    /// The compiler of kernels is older than JAX accepts.
    OldCompiler {
        /// The oldest version that it accepts.
        least: String,
    },
    /// An operation on elements of this type that Pallas does not translate for TPUs.
    LoweringType {
        /// The type; `None` for unsigned integers of any size.
        element_type: Option<ElementType>,
    },
    /// XLA's autotuner found nothing that this GPU compiles and runs.
    Autotuning {
        /// The instruction.
        instruction: String,
    },
    /// A kernel is in a program that the compiler divides among devices.
    PartitionedKernel,
    /// Pallas does not know for which TPU it lowers the kernel.
    UnknownDevice {
        /// The device that it found.
        kind: String,
    },
    /// Any other message of the compiler of kernels.
    Kernel {
        /// The message.
        message: String,
    },
    /// A memory of a SparseCore is too small (E3000).
    SparseCoreMemory {
        /// The number of the memory space.
        space: u64,
        /// The number of words that are needed, and the number that the memory has, if the message states them.
        words: Option<[u64; 2]>,
        /// The number of words of the last allocation, if the message states it.
        last: Option<u64>,
    },
    /// The memory of a GPU ran out outside of XLA; the message has no sizes.
    CudaMemory,
    /// A library found no room for memory of its own on a GPU, outside of the pool that XLA holds.
    LibraryMemory {
        /// The library.
        library: Library,
        /// Whether XLA called it, not another framework.
        is_of_xla: bool,
        /// Whether the message says that memory is the reason. Otherwise, it is the most likely one.
        is_certain: bool,
        /// The bytes that are free, and those of the whole memory, if the message states them.
        free: Option<[u64; 2]>,
    },
    /// The driver of a GPU has no memory for the graph of a command buffer, outside of the pool that XLA holds.
    CommandBuffer {
        /// How many graphs there are, if the message states it.
        alive: Option<u64>,
    },
    /// A message of gRPC is longer than the receiver or the sender allows. No memory ran out.
    MessageSize {
        /// The bytes of the message, and the most that are allowed, if the message states them.
        bytes: Option<[u64; 2]>,
    },
    /// A zone of a cloud has no machine to lend. No memory ran out.
    NoCapacity {
        /// The zone.
        zone: String,
    },
    /// The memory of the host ran out; the message has no sizes.
    HostMemory,
    /// A program needs more of a small memory than there is; the message has no sizes.
    NoSpace {
        /// The memory space: SMEM or the synchronization flags.
        space: u8,
        /// Whether XLA's message calls this a bug of XLA.
        is_internal: bool,
    },
    /// A message of which only the code is known, from XLA's catalogue.
    Code {
        /// The code.
        code: Code,
    },
    /// A kernel for a GPU needs more shared memory than a block of threads may have; the message has no sizes.
    SharedMemory,
    /// An embedding table does not fit into the memory of a SparseCore, however it is divided (E3001).
    ReplicaCount {
        /// The figures of the table and the memory, by the names that the message has.
        figures: Vec<(String, u64)>,
    },
    /// A layout has another number of dimensions than its shape.
    LayoutRank {
        /// How many dimensions the layout has.
        found: u64,
        /// How many dimensions the shape has.
        expected: u64,
        /// The shape, if the message states it.
        array: Option<ArrayShape>,
    },
    /// The partitioner gathers a whole array on each device, because it knows no direct way between two shardings.
    FullReplication {
        /// The whole array, if the message has the shape of a shard, and its sharding can be read. Several arrays can have shards of one shape;
        /// this is the largest of them, the one that is divided evenly.
        array: Option<ArrayShape>,
        /// The sharding before and after.
        shardings: Box<[Option<Sharding>; 2]>,
        /// Their texts.
        texts: [String; 2],
    },
    /// A sentence has two shapes that should agree and do not.
    UnequalShapes {
        /// The shapes, in the order of the sentence.
        shapes: [Shape; 2],
        /// Their shardings, if the sentence has both and they differ.
        shardings: Option<Box<[Sharding; 2]>>,
        /// Whether the shapes are of an instruction that the compiler itself made.
        is_internal: bool,
    },
}

/// A library with memory of its own on a GPU.
///
/// ```
/// use xla_shape_hlo::{Library, Refusal, RefusalCause};
///
/// let refusal = Refusal::read("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`").unwrap();
/// assert_eq!(refusal.cause, RefusalCause::LibraryMemory {
///     library: Library::Cublas,
///     is_of_xla: false,
///     is_certain: true,
///     free: None,
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Library {
    /// Collectives.
    Nccl,
    /// Products.
    Cublas,
    /// Convolutions and attention.
    Cudnn,
}

/// Why a core stopped.
///
/// ```
/// use xla_shape_hlo::{Halt, Refusal, RefusalCause};
///
/// let text = "INTERNAL: Core halted unexpectedly: BoundsCheck 26 (error code 0x1a) at 0x51";
/// let refusal = Refusal::read(text).unwrap();
/// assert_eq!(refusal.cause, RefusalCause::CoreHalt(Halt::Bounds), "an access outside of an array");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Halt {
    /// A fault of the machine, its network or its power.
    Machine,
    /// An instruction that the machine does not allow: a bug of the compiler.
    Instruction,
    /// Devices run different programs.
    OtherProgram,
    /// An access outside of an array.
    Bounds,
    /// A semaphore of a kernel that is not zero at the end.
    Semaphore,
    /// The message does not say.
    Unknown,
}

impl RefusalCause {
    /// XLA's code for such a message, if its catalogue has one.
    ///
    /// ```
    /// use xla_shape_hlo::RefusalCause;
    ///
    /// assert_eq!(RefusalCause::ScalarStore.code(), None);
    /// assert_eq!(RefusalCause::HostOutput { value: "tuple.64".into() }.code(), Some("E1200"));
    /// ```
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::InputMismatch { .. } => "E0102",
            Self::CoreHalt(_) => "E0200",
            Self::HostOutput { .. } => "E1200",
            Self::MatmulType { .. } => "E2001",
            Self::BlockShape { .. } => "E2002",
            Self::UnprovenIndex { .. } => "E2003",
            Self::SparseCoreMemory { .. } => "E3000",
            Self::ReplicaCount { .. } => "E3001",
            Self::Code { code } => code.id(),
            _ => return None,
        })
    }

    /// The name in JSON.
    ///
    /// ```
    /// assert_eq!(xla_shape_hlo::RefusalCause::ScalarStore.name(), "scalar_store");
    /// ```
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::InputMismatch { .. } => "input_mismatch",
            Self::CoreHalt(_) => "core_halt",
            Self::HostOutput { .. } => "host_output",
            Self::HostUse { .. } => "host_use",
            Self::HostCompute { .. } => "host_compute",
            Self::InstructionVmem { .. } => "instruction_vmem",
            Self::MatmulType { .. } => "matmul_type",
            Self::MatmulPrecision { .. } => "matmul_precision",
            Self::BlockShape { .. } => "block_shape",
            Self::UnprovenIndex { .. } => "unproven_index",
            Self::SliceSize { .. } => "slice_size",
            Self::TransferLine { .. } => "transfer_line",
            Self::StridedLoad { .. } => "strided_load",
            Self::OperandLayout { .. } => "operand_layout",
            Self::VectorLayout { .. } => "vector_layout",
            Self::ShapeCast { .. } => "shape_cast",
            Self::ElementType { .. } => "element_type",
            Self::Primitive { .. } => "primitive",
            Self::Cast { .. } => "cast",
            Self::NoInstruction { .. } => "no_instruction",
            Self::NoDirectAccess => "no_direct_access",
            Self::StoreType { .. } => "store_type",
            Self::ScalarStore => "scalar_store",
            Self::PartitionedKernel => "partitioned_kernel",
            Self::UnknownDevice { .. } => "unknown_device",
            Self::Kernel { .. } => "kernel",
            Self::SparseCoreMemory { .. } => "sparse_core_memory",
            Self::CudaMemory => "cuda_memory",
            Self::LibraryMemory { .. } => "library_memory",
            Self::CommandBuffer { .. } => "command_buffer",
            Self::MessageSize { .. } => "message_size",
            Self::NoCapacity { .. } => "no_capacity",
            Self::HostMemory => "host_memory",
            Self::NoSpace { .. } => "no_space",
            Self::Code { .. } => "code",
            Self::VectorInSmem => "vector_in_smem",
            Self::GridSemantics { .. } => "grid_semantics",
            Self::UnknownOperation { .. } => "unknown_operation",
            Self::OldCompiler { .. } => "old_compiler",
            Self::LoweringType { .. } => "lowering_type",
            Self::Autotuning { .. } => "autotuning",
            Self::SharedMemory => "shared_memory",
            Self::ReplicaCount { .. } => "replica_count",
            Self::LayoutRank { .. } => "layout_rank",
            Self::FullReplication { .. } => "full_replication",
            Self::UnequalShapes { .. } => "unequal_shapes",
        }
    }

    /// Whether memory ran out.
    ///
    /// ```
    /// use xla_shape_hlo::RefusalCause;
    ///
    /// assert!(RefusalCause::HostMemory.is_out_of_memory() && !RefusalCause::ScalarStore.is_out_of_memory());
    /// ```
    #[must_use]
    pub const fn is_out_of_memory(&self) -> bool {
        matches!(
            self,
            Self::CudaMemory
                | Self::LibraryMemory { .. }
                | Self::CommandBuffer { .. }
                | Self::HostMemory
                | Self::NoSpace { .. }
        )
    }

    /// Whether the message gives a reason. Some messages only say that a kernel was refused or a core stopped.
    pub(super) const fn is_known(&self) -> bool {
        !matches!(self, Self::Kernel { .. } | Self::CoreHalt(Halt::Unknown))
    }

    /// What makes the program acceptable, the most likely first.
    ///
    /// ```
    /// use xla_shape_hlo::{RefusalCause, Remedy};
    ///
    /// assert_eq!(RefusalCause::PartitionedKernel.remedies(), [Remedy::ShardMap]);
    /// ```
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::InputMismatch { arrays: Some([expected, found]), .. }
                if expected.same_dimensions(found) && expected.same_element_type(found) =>
            {
                let saved = expected.byte_size().zip(found.byte_size());
                let saved_bytes = saved.and_then(|(expected, found)| expected.checked_sub(found));
                vec![
                    Remedy::ConvertArray { expected: expected.clone() },
                    Remedy::CompileFor { found: found.clone(), saved_bytes },
                ]
            }
            Self::UnequalShapes { is_internal: true, .. } => vec![Remedy::Report],
            Self::UnequalShapes { .. } => vec![Remedy::EqualShapes],
            Self::InputMismatch { .. } => vec![Remedy::OtherArray],
            Self::CoreHalt(halt) => vec![match halt {
                Halt::Machine => Remedy::RunAgain,
                Halt::OtherProgram => Remedy::SameProgram,
                Halt::Bounds => Remedy::CheckIndices,
                Halt::Semaphore => Remedy::PairSemaphores,
                Halt::Instruction | Halt::Unknown => Remedy::Report,
            }],
            Self::HostOutput { .. } => vec![Remedy::HostOutput, Remedy::MoveToDevice],
            Self::HostUse { .. } | Self::HostCompute { .. } => vec![Remedy::MoveToDevice],
            Self::InstructionVmem { .. } => vec![Remedy::Barrier, Remedy::Report],
            // Every generation multiplies f32; v4 and later ones also multiply bf16.
            Self::MatmulType { types } => {
                let is_of_bf16 = !types.is_empty() && types.iter().all(|found| *found == ElementType::Bf16);
                let is_long = types.iter().any(|found| found.bits() > 16);
                let to = if is_of_bf16 || is_long { ElementType::F32 } else { ElementType::Bf16 };
                // Where a float of 4 bits cannot be multiplied, it cannot be converted either.
                let is_float4 = |found: &ElementType| found.is_floating() && found.bits() < 8;
                match types.iter().any(is_float4) {
                    true => vec![Remedy::ConvertOutside { to }],
                    false => vec![Remedy::Convert { to }],
                }
            }
            Self::MatmulPrecision { .. } => {
                vec![Remedy::DefaultPrecision, Remedy::Convert { to: ElementType::F32 }]
            }
            Self::BlockShape { block, array, tile, .. } => {
                vec![Remedy::Block { sizes: whole_block(block, array, tile) }]
            }
            Self::UnprovenIndex { multiple, .. } => {
                vec![Remedy::MultipleOf { multiple: *multiple }, Remedy::LoadAligned { multiple: *multiple }]
            }
            Self::SliceSize { size: None, multiple, .. } => vec![Remedy::MultipleOf { multiple: *multiple }],
            Self::SliceSize { size: Some(size), multiple, .. } => {
                vec![Remedy::CopyWholeLanes { elements: size.next_multiple_of((*multiple).max(1)) }]
            }
            Self::TransferLine { multiple_bytes, array, .. } => {
                let bits = array.as_ref().map_or(32, |array| array.element_type().bits()).max(1);
                let least = multiple_bytes.saturating_mul(8).checked_div(bits).unwrap_or(128).max(1);
                let line = array.as_ref().and_then(|array| sizes(array)?.last().copied()).unwrap_or(least);
                vec![Remedy::CopyWholeLanes { elements: line.max(1).next_multiple_of(least) }]
            }
            Self::StridedLoad { .. } => vec![Remedy::ReshapeOutside],
            Self::VectorLayout { .. } => vec![Remedy::LoadAligned { multiple: 128 }, Remedy::ReshapeOutside],
            Self::ShapeCast { .. } => vec![Remedy::ReshapeOutside],
            Self::ElementType { types, is_move } => {
                let is_integral = !types.is_empty() && types.iter().all(|found| found.is_integral());
                // A float of 32 bits is refused only where an integer is expected.
                let is_f32 = types == &[ElementType::F32];
                let to = if is_integral || is_f32 { ElementType::S32 } else { ElementType::F32 };
                vec![if *is_move { Remedy::ConvertOutside { to } } else { Remedy::Convert { to } }]
            }
            Self::Primitive { .. } | Self::NoInstruction { .. } => vec![Remedy::OutsideKernel],
            Self::Cast { from, to } => {
                let is_integral = from.is_integral() && to.is_integral();
                vec![Remedy::ConvertOutside { to: if is_integral { ElementType::S32 } else { ElementType::F32 } }]
            }
            Self::NoDirectAccess => vec![Remedy::CopyToVmem],
            Self::StoreType { array, .. } => vec![Remedy::Convert { to: *array }],
            Self::ScalarStore => vec![Remedy::StoreVector],
            Self::PartitionedKernel => vec![Remedy::ShardMap],
            Self::UnknownDevice { .. } => vec![Remedy::AbstractMesh],
            Self::Kernel { .. } | Self::OperandLayout { .. } => vec![Remedy::Report],
            Self::SparseCoreMemory { space: SPARSE_CORE_HBM, .. } => vec![Remedy::SmallerTables, Remedy::Shard],
            Self::SparseCoreMemory { .. } => {
                vec![Remedy::DumpSparseCore, Remedy::SmallerScratch, Remedy::NoCollectiveOffload, Remedy::Report]
            }
            Self::CudaMemory => vec![Remedy::SmallerRequest],
            Self::LibraryMemory { is_of_xla: true, .. } => vec![Remedy::LeaveRoom, Remedy::SmallerRequest],
            Self::LibraryMemory { .. } => vec![Remedy::SmallerRequest],
            Self::CommandBuffer { .. } => vec![Remedy::LeaveRoom, Remedy::NoCommandBuffers],
            Self::MessageSize { .. } => vec![Remedy::SmallerMessages],
            Self::NoCapacity { .. } => vec![Remedy::OtherZone],
            Self::Autotuning { .. } => vec![Remedy::NoAutotuning, Remedy::Report],
            Self::LoweringType { element_type } => {
                // Releases of JAX that do not translate an operation on integers of 32 bits translate it for floats.
                let to = match element_type {
                    None => ElementType::S32,
                    Some(found) if found.is_integral() && *found != ElementType::S32 => ElementType::S32,
                    _ => ElementType::F32,
                };
                match *element_type == Some(to) {
                    true => vec![Remedy::OutsideKernel],
                    false => vec![Remedy::Convert { to }],
                }
            }
            Self::OldCompiler { .. } => vec![Remedy::SameRelease],
            Self::HostMemory => vec![Remedy::SmallerOnHost],
            Self::NoSpace { space: memory_space::SMEM, is_internal: false } => vec![Remedy::ScalarsElsewhere],
            Self::NoSpace { .. } => vec![Remedy::Report],
            Self::Code { .. } => Vec::new(),
            Self::VectorInSmem => vec![Remedy::ScalarsElsewhere],
            Self::GridSemantics { grid, .. } => vec![Remedy::AllSemantics { grid: *grid }],
            Self::UnknownOperation { .. } => vec![Remedy::SameRelease],
            Self::SharedMemory => Remedy::for_shared_memory(),
            Self::ReplicaCount { .. } => vec![Remedy::SmallerTables],
            Self::LayoutRank { .. } => vec![Remedy::WholeLayout],
            Self::FullReplication { array, shardings, .. } => {
                vec![Remedy::ConstrainSharding { array: array.clone(), shardings: shardings.clone() }]
            }
        }
    }
}

/// The memory space of a SparseCore that is HBM (`docs/errors/error_3000.md` of XLA).
const SPARSE_CORE_HBM: u64 = 203;

/// The nearest block of whole tiles: each size is rounded up to a multiple of the tile, but to no more than the array's size.
fn whole_block(block: &[u64], array: &[u64], tile: &[u64]) -> Vec<u64> {
    let of_end = |sizes: &[u64], back: usize| sizes.len().checked_sub(back).and_then(|at| sizes.get(at).copied());
    let whole = |(place, &size): (usize, &u64)| {
        let back = block.len() - place;
        let (multiple, all) = (of_end(tile, back).unwrap_or(1).max(1), of_end(array, back));
        if all == Some(size) {
            return size;
        }
        let rounded = size.max(1).checked_next_multiple_of(multiple).unwrap_or(size);
        all.filter(|all| *all < rounded).unwrap_or(rounded)
    };
    block.iter().enumerate().map(whole).collect()
}
