//! Remedies in words.

use crate::numbers::{InUnits, count};
use crate::place::layout_in_jax;
#[cfg(feature = "through")]
use crate::shell_line;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use xla_shape_core::shard::Sharding;
use xla_shape_core::{ArrayShape, ElementType};
use xla_shape_hlo::Remedy;

/// A remedy in JSON.
#[derive(Serialize, JsonSchema)]
pub(super) struct RemedyFields {
    /// The kind of remedy, such as "multiple_of".
    kind: &'static str,
    /// The remedy as a sentence.
    text: String,
}

pub(super) fn serialize<S: Serializer>(remedy: &Remedy, serializer: S) -> Result<S::Ok, S::Error> {
    RemedyFields { kind: remedy.name(), text: text(remedy) }.serialize(serializer)
}

/// A remedy as a sentence.
pub(super) fn text(remedy: &Remedy) -> String {
    match remedy {
        Remedy::RaiseVmemLimit { bytes } => format!(
            "give the kernel {}: pl.pallas_call(…, compiler_params=pltpu.CompilerParams(vmem_limit_bytes={bytes})).",
            InUnits(*bytes)
        ),
        Remedy::SmallerBlocks => {
            "use smaller blocks or scratch buffers; `xla-shape block ARRAY BLOCK` says what they take.".to_owned()
        }
        Remedy::ScalarsElsewhere => {
            "pass long arrays in VMEM or HBM (BlockSpec(memory_space=pltpu.VMEM)), and only a few scalars in SMEM.".to_owned()
        }
        Remedy::MultipleOf { multiple } => format!(
            "if it always is, say so: pl.multiple_of(i, {multiple})."
        ),
        Remedy::LoadAligned { multiple } => format!(
            "load whole tiles, from i // {multiple} * {multiple} on, and rotate them in registers (pltpu.roll)."
        ),
        Remedy::Convert { to } => format!("convert the operands in the kernel: x.astype(jnp.{}).", in_jax(*to)),
        Remedy::ConvertOutside { to } => {
            format!("convert the array before the kernel gets it: x.astype(jnp.{}).", in_jax(*to))
        }
        Remedy::DefaultPrecision => "leave precision at its default for operands of fewer than 32 bits.".to_owned(),
        Remedy::Block { sizes } => {
            let sizes = sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            format!("use the block ({sizes}), and a grid and an index map for it.")
        }
        Remedy::CopyWholeLanes { elements } => format!(
            "copy {} of the dimension, from a multiple of that on, and select in registers.",
            count(*elements, "element", "elements")
        ),
        Remedy::ReshapeOutside => {
            "reshape the array outside of the kernel, so that the last dimension stays as it is in the kernel.".to_owned()
        }
        Remedy::OutsideKernel => {
            "compute it outside of the kernel, or write it with operations that Pallas has.".to_owned()
        }
        Remedy::CopyToVmem => {
            "let Pallas copy a block (a BlockSpec without memory_space=pl.ANY), or copy it with pltpu.async_copy.".to_owned()
        }
        Remedy::StoreVector => {
            "store a vector (jnp.full), or put the output into SMEM: BlockSpec(memory_space=pltpu.SMEM).".to_owned()
        }
        Remedy::ShardMap => "call the kernel inside of jax.shard_map, which gives each device its part.".to_owned(),
        Remedy::AbstractMesh => {
            "lower inside of jax.sharding.use_abstract_mesh, with a mesh that names the TPU.".to_owned()
        }
        Remedy::HostOutput => {
            "if it should be there, say so: out_shardings with memory_kind=\"pinned_host\" for this output.".to_owned()
        }
        Remedy::MoveToDevice => {
            "move it back to the device first: jax.device_put(x, jax.memory.Space.Device).".to_owned()
        }
        Remedy::ConvertArray { expected } => format!(
            "convert the array before the call: jax.device_put(x, Format({}, sharding)).",
            layout_in_jax(expected.layout(), false)
        ),
        Remedy::CompileFor { found, saved_bytes } => {
            let saves = match saved_bytes {
                Some(saved) if *saved > 0 => format!("; the parameter takes {} less then", InUnits(*saved)),
                _ => String::new(),
            };
            format!(
                "compile the program for this layout: in_shardings=Format({}, sharding) in jax.jit{saves}.",
                layout_in_jax(found.layout(), false)
            )
        }
        Remedy::OtherArray => "pass an array with the type, sizes and layout that the program was compiled for.".to_owned(),
        Remedy::EqualShapes => "make the two equal where the program makes them.".to_owned(),
        Remedy::FreeArrays => "find and free what is alive: jax.live_arrays(), jax.profiler.save_device_memory_profile(FILE), \
             or --tpu_log_allocations_on_oom=true in LIBTPU_INIT_ARGS; donate arguments (donate_argnums), and make large arrays \
             sharded from the start (jnp.zeros(…, device=sharding))."
            .to_owned(),
        Remedy::ListAllocations { program, is_for_gpu } => {
            let of = program.as_ref().map(|program| format!(" of {program}")).unwrap_or_default();
            let device = match is_for_gpu {
                Some(true) => "h100",
                Some(false) => "v6e",
                None => "v6e or h100",
            };
            format!(
                "list what takes the memory{of}: compile with XLA_FLAGS=--xla_dump_to=DIR, then `xla-shape hlo DIR`; without a \
                 device, `xla-shape compile PROGRAM.mlir --for DEVICE`, such as {device}."
            )
        }
        Remedy::ListKernel => "`xla-shape kernel PROGRAM.mlir` says what takes the VMEM of a kernel.".to_owned(),
        Remedy::SmallerRequest => "free what holds the memory of this device, or ask for less.".to_owned(),
        Remedy::LeaveRoom => "let XLA hold less: in JAX, XLA_PYTHON_CLIENT_MEM_FRACTION=0.6, or less (0.75 if it is not set), or \
             XLA_PYTHON_CLIENT_PREALLOCATE=false."
            .to_owned(),
        Remedy::NoCommandBuffers => {
            "let XLA run without command buffers, which can be slower: XLA_FLAGS=--xla_gpu_enable_command_buffer= (empty).".to_owned()
        }
        Remedy::PassConstants => {
            "pass large arrays to the function under jax.jit as arguments: those that it takes from outside become constants.".to_owned()
        }
        Remedy::LargerContainer => "give the container more memory: that of the machine does not count.".to_owned(),
        Remedy::SmallerMessages => "send less at a time, or allow more where the channel and the server are made: \
             grpc.max_receive_message_length and grpc.max_send_message_length."
            .to_owned(),
        Remedy::OtherZone => "ask again later, ask in another zone, or reserve machines.".to_owned(),
        Remedy::SmallerOnHost => "hold less in the memory of the host: load arrays in parts, and run fewer processes.".to_owned(),
        Remedy::AllSemantics { grid } => {
            format!("give dimension_semantics {}, one for each dimension of the grid.", count(*grid, "entry", "entries"))
        }
        Remedy::NoAutotuning => {
            "let XLA choose without timing its choices: XLA_FLAGS=--xla_gpu_autotune_level=0.".to_owned()
        }
        Remedy::SameRelease => "install the libtpu that this release of JAX names: pip install -U \"jax[tpu]\".".to_owned(),
        Remedy::SmallerGpuBlocks => "use smaller blocks or fewer stages in the kernel (num_stages).".to_owned(),
        Remedy::NoTritonProducts => {
            "if XLA made the kernel, let it compile products without Triton: XLA_FLAGS=--xla_gpu_enable_triton_gemm=false.".to_owned()
        }
        Remedy::Barrier => "keep some operands out of the fusion: compute them before a jax.lax.optimization_barrier.".to_owned(),
        Remedy::Shard => "divide the largest arrays among more devices, or make them smaller.".to_owned(),
        Remedy::ConstrainSharding { array, shardings } => constrain(array.as_ref(), shardings),
        Remedy::ShardTables => {
            "divide the embedding tables and the arrays of SparseCore's collectives among more devices.".to_owned()
        }
        Remedy::RaiseScopedVmem { bytes } => format!(
            "give the compiler's instructions {}: LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib={}.",
            InUnits(*bytes),
            bytes.div_ceil(1024)
        ),
        Remedy::DumpSparseCore => {
            "find what allocates it: --xla_sc_dump_mlir_to=DIR in LIBTPU_INIT_ARGS dumps the MLIR of the program, and \
             --xla_mosaic_dump_to=DIR that of a kernel."
                .to_owned()
        }
        Remedy::SmallerScratch => "in a Pallas kernel, make the buffers in scratch_shapes smaller.".to_owned(),
        Remedy::NoCollectiveOffload => {
            "if it is a collective, keep it off SparseCore: LIBTPU_INIT_ARGS=\"--xla_tpu_enable_sparse_core_collective_offload_all_gather=false \
             --xla_tpu_enable_sparse_core_collective_offload_all_reduce=false\"."
                .to_owned()
        }
        Remedy::SmallerTables => {
            "lower max_ids_per_partition and max_unique_ids_per_partition to what the data has, or the batch.".to_owned()
        }
        Remedy::RunAgain => "run again; if it fails on the same host, take that host out.".to_owned(),
        Remedy::SameProgram => "use the same program, XLA_FLAGS and libtpu on all hosts.".to_owned(),
        Remedy::CheckIndices => "check the indices of the kernel: pl.debug_print, or interpret mode, which finds accesses out of bounds.".to_owned(),
        Remedy::PairSemaphores => "wait for each copy, and for each signal of a semaphore.".to_owned(),
        Remedy::Report => "report the message with the program to the project that made the compiler.".to_owned(),
        Remedy::WholeLayout => "write the layout with one number for each dimension, or leave it out.".to_owned(),
        _ => String::new(),
    }
}

/// The remedy of constraining the array to a sharding in between, with the command that shows what moves.
#[cfg(feature = "through")]
fn constrain(array: Option<&ArrayShape>, shardings: &[Option<Sharding>; 2]) -> String {
    let [Some(from), Some(to)] = shardings else { return between(Vec::new()) };
    let through = array.and_then(|array| crate::reshard::Through::new(array, from, to));
    let shardings = through.iter().flat_map(|through| &through.shardings).map(|between| between.sharding.as_str());
    let array = array.map_or_else(|| "SHAPE".to_owned(), ToString::to_string);
    let command = ["xla-shape", "reshard", &array, "--from", &from.to_string(), "--to", &to.to_string()];
    format!("{} `{}` says what must move.", between(shardings.collect()), shell_line(command))
}

/// The explorer has no `reshard`, and the search would make it larger. So it only explains what such a sharding does.
#[cfg(not(feature = "through"))]
fn constrain(_: Option<&ArrayShape>, _: &[Option<Sharding>; 2]) -> String {
    between(Vec::new())
}

fn between(shardings: Vec<&str>) -> String {
    let sharding = match &shardings[..] {
        [] => "write a sharding between the two, which changes one dimension at a time".to_owned(),
        [sharding] => format!("write the sharding {sharding} between the two"),
        several => format!("write the shardings {} between the two, one after another", several.join(" and ")),
    };
    format!("{sharding}: jax.lax.with_sharding_constraint(x, sharding).")
}

/// The name of a type in JAX.
fn in_jax(element_type: ElementType) -> &'static str {
    element_type.numpy_name().unwrap_or(element_type.name())
}
