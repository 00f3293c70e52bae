//! What makes a refused program acceptable.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::shard::Sharding;
use xla_shape_core::{ArrayShape, ElementType};

/// A change to a program after which the compiler or the runtime accepts it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Remedy {
    /// Give the kernel more VMEM: `vmem_limit_bytes`.
    RaiseVmemLimit {
        /// The limit in bytes.
        bytes: u64,
    },
    /// Use smaller blocks or scratch buffers.
    SmallerBlocks,
    /// Keep long arrays of scalars in HBM or VMEM.
    ScalarsElsewhere,
    /// Tell the compiler that an index or a size is a multiple.
    MultipleOf {
        /// The multiple.
        multiple: u64,
    },
    /// Load whole tiles and rotate or select in registers.
    LoadAligned {
        /// The size of the tile.
        multiple: u64,
    },
    /// Convert the operands to this type inside the kernel.
    Convert {
        /// The type.
        to: ElementType,
    },
    /// Convert the array to this type outside of the kernel.
    ConvertOutside {
        /// The type.
        to: ElementType,
    },
    /// Leave `precision` at its default.
    DefaultPrecision,
    /// Use a block with these sizes.
    Block {
        /// The sizes.
        sizes: Vec<u64>,
    },
    /// Copy whole lines of lanes, and take the part that is needed in registers.
    CopyWholeLanes {
        /// The number of elements.
        elements: u64,
    },
    /// Reshape outside of the kernel.
    ReshapeOutside,
    /// Compute the primitive outside of the kernel, or write it with other primitives.
    OutsideKernel,
    /// Let Pallas copy the block into VMEM, or copy it in the kernel.
    CopyToVmem,
    /// Write the scalar to SMEM, or store a vector.
    StoreVector,
    /// Wrap the call in `jax.shard_map`.
    ShardMap,
    /// Say which TPU the program is for.
    AbstractMesh,
    /// Say that an output is in host memory.
    HostOutput,
    /// Move a value back to the device before it is returned or used.
    MoveToDevice,
    /// Convert the array to the layout that the program expects.
    ConvertArray {
        /// The array in the expected layout.
        expected: ArrayShape,
    },
    /// Compile the program for the layout that the array has.
    CompileFor {
        /// The array.
        found: ArrayShape,
        /// The bytes that this saves; `None` if it takes more.
        saved_bytes: Option<u64>,
    },
    /// Give the program an array of the expected type and sizes.
    OtherArray,
    /// Change the program where it makes two arrays, so that their shapes are equal.
    EqualShapes,
    /// Free arrays that live on the device.
    FreeArrays,
    /// Compile with a dump of the compiler, which lists the allocations.
    ListAllocations {
        /// The program, if it is known.
        program: Option<String>,
        /// `true` if the message is about a GPU, `false` if about a TPU, `None` if it does not say.
        is_for_gpu: Option<bool>,
    },
    /// List what takes the kernel's VMEM, with `xla-shape kernel`.
    ListKernel,
    /// Request less of the device's memory, or free what else holds it.
    SmallerRequest,
    /// Let XLA hold less of a GPU's memory.
    LeaveRoom,
    /// Let XLA run without command buffers.
    NoCommandBuffers,
    /// Pass large constants to the program as arguments.
    PassConstants,
    /// Keep less in the memory of the host.
    SmallerOnHost,
    /// Give the container more memory.
    LargerContainer,
    /// Send less at a time, or allow longer messages.
    SmallerMessages,
    /// Ask for machines in another zone, or later.
    OtherZone,
    /// Give each dimension of the grid its semantics.
    AllSemantics {
        /// The dimensions.
        grid: u64,
    },
    /// Let XLA choose without timing its choices.
    NoAutotuning,
    /// Install the compiler that belongs to the release of JAX.
    SameRelease,
    /// Use smaller blocks or fewer stages in a kernel for a GPU.
    SmallerGpuBlocks,
    /// Let XLA compile its products without Triton.
    NoTritonProducts,
    /// Break up a fusion of many operands.
    Barrier,
    /// Divide the work among more devices.
    Shard,
    /// Constrain the value to a sharding between the one before and the one after.
    ConstrainSharding {
        /// The array, if the message says which.
        array: Option<ArrayShape>,
        /// Its shardings before and after.
        shardings: Box<[Option<Sharding>; 2]>,
    },
    /// Divide the embedding tables among more SparseCores.
    ShardTables,
    /// Give the instructions that XLA makes more scoped VMEM.
    RaiseScopedVmem {
        /// The bytes that are enough.
        bytes: u64,
    },
    /// Dump the MLIR of a program for SparseCore.
    DumpSparseCore,
    /// Use smaller scratch buffers in a kernel.
    SmallerScratch,
    /// Keep collectives off SparseCore.
    NoCollectiveOffload,
    /// Reduce the limits of an embedding table.
    SmallerTables,
    /// Run again; if it fails again, replace the machine.
    RunAgain,
    /// Run the same program with the same flags everywhere.
    SameProgram,
    /// Check the indices of the kernel.
    CheckIndices,
    /// Wait for each copy and signal.
    PairSemaphores,
    /// Report the message to the project that wrote the compiler.
    Report,
    /// Write a layout with one number for each dimension.
    WholeLayout,
}

impl Remedy {
    /// What helps against a kernel for a GPU that needs too much shared memory.
    pub(crate) fn for_shared_memory() -> Vec<Self> {
        vec![Self::SmallerGpuBlocks, Self::NoTritonProducts]
    }

    /// The name in JSON.
    ///
    /// ```
    /// assert_eq!(xla_shape_hlo::Remedy::ShardMap.name(), "shard_map");
    /// ```
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RaiseVmemLimit { .. } => "raise_vmem_limit",
            Self::SmallerBlocks => "smaller_blocks",
            Self::ScalarsElsewhere => "scalars_elsewhere",
            Self::MultipleOf { .. } => "multiple_of",
            Self::LoadAligned { .. } => "load_aligned",
            Self::Convert { .. } => "convert",
            Self::ConvertOutside { .. } => "convert_outside",
            Self::DefaultPrecision => "default_precision",
            Self::Block { .. } => "block",
            Self::CopyWholeLanes { .. } => "copy_whole_lanes",
            Self::ReshapeOutside => "reshape_outside",
            Self::OutsideKernel => "outside_kernel",
            Self::CopyToVmem => "copy_to_vmem",
            Self::StoreVector => "store_vector",
            Self::ShardMap => "shard_map",
            Self::AbstractMesh => "abstract_mesh",
            Self::HostOutput => "host_output",
            Self::MoveToDevice => "move_to_device",
            Self::ConvertArray { .. } => "convert_array",
            Self::CompileFor { .. } => "compile_for",
            Self::OtherArray => "other_array",
            Self::EqualShapes => "equal_shapes",
            Self::FreeArrays => "free_arrays",
            Self::ListAllocations { .. } => "list_allocations",
            Self::ListKernel => "list_kernel",
            Self::SmallerRequest => "smaller_request",
            Self::LeaveRoom => "leave_room",
            Self::NoCommandBuffers => "no_command_buffers",
            Self::PassConstants => "pass_constants",
            Self::SmallerOnHost => "smaller_on_host",
            Self::LargerContainer => "larger_container",
            Self::SmallerMessages => "smaller_messages",
            Self::OtherZone => "other_zone",
            Self::AllSemantics { .. } => "all_semantics",
            Self::NoAutotuning => "no_autotuning",
            Self::SameRelease => "same_release",
            Self::SmallerGpuBlocks => "smaller_gpu_blocks",
            Self::NoTritonProducts => "no_triton_products",
            Self::Barrier => "barrier",
            Self::Shard => "shard",
            Self::ConstrainSharding { .. } => "constrain_sharding",
            Self::SmallerTables => "smaller_tables",
            Self::ShardTables => "shard_tables",
            Self::RaiseScopedVmem { .. } => "raise_scoped_vmem",
            Self::DumpSparseCore => "dump_sparse_core",
            Self::SmallerScratch => "smaller_scratch",
            Self::NoCollectiveOffload => "no_collective_offload",
            Self::RunAgain => "run_again",
            Self::SameProgram => "same_program",
            Self::CheckIndices => "check_indices",
            Self::PairSemaphores => "pair_semaphores",
            Self::Report => "report",
            Self::WholeLayout => "whole_layout",
        }
    }
}
