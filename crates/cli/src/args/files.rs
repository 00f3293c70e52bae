//! The verbs that write arrays to files.

use super::{Format, OutputPath};
use clap::Args;
use std::path::PathBuf;
use xla_shape_files::SLAB_BYTES;

/// Copy an array in a file into another layout
///
/// Use it when a program expects an array of a file in another layout.
///
/// The names of the files decide their format: .npy, .npz (one array of it, only read), .safetensors (one tensor of it), and raw bytes for
/// anything else.
/// Padding of the result is set to 0. Files may be larger than memory. As JSON, after the file is written: from, to,
/// output, bytes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape relayout in.bin --from 'bf16[256,300]' --to '{1,0:T(8,128)(2,1)}' -o out.bin
  xla-shape relayout in.npy --to '{0,1:T(8,128)}' -o out.bin
  xla-shape relayout model.safetensors --tensor w1 --permute 1,0 -o w1_transposed.safetensors")]
pub(crate) struct RelayoutArguments {
    /// The file to read; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,

    /// The shape of the array in the file; .npy, .npz and .safetensors files have it (except for element types that NumPy does
    /// not know, such as bf16)
    #[arg(long, value_name = "SHAPE")]
    pub(crate) from: Option<String>,

    /// The shape to write, or only its layout; for .npy and .safetensors files, row-major is the default
    #[arg(long, value_name = "SHAPE|LAYOUT")]
    pub(crate) to: Option<String>,

    /// Transpose: entry i is the dimension of the source that becomes dimension i of the result, such as 1,0
    #[arg(long, value_name = "N,N,…")]
    pub(crate) permute: Option<String>,

    /// The name of the tensor in a .safetensors file, or of the array in an .npz file
    #[arg(long, value_name = "NAME")]
    pub(crate) tensor: Option<String>,

    /// The file to write, completely or not at all; `-` is standard output, which gets raw bytes
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: OutputPath,

    /// Print nothing, or what was written as one JSON object
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) slabs: SlabOptions,
}

/// Write the part of a checkpoint that one device needs
///
/// Use it when a device needs only its part of a checkpoint.
///
/// Only the bytes that the device needs are read from .safetensors files; files may be larger than memory. A plan says how each
/// tensor is divided: a JSON object of names, or patterns with `*` and `?`, each with a sharding, or with an object of `sharding` and
/// `layout` (XLA's text) or `generation` (a TPU, such as v5e, for its default layout). A shard whose layout is not row-major is
/// written as bytes (U8); the file's metadata has its shape. Everything is checked before anything is written. A file is written
/// under another name and renamed when it is complete. If a file exists and has the same bytes, it is kept and named in the
/// output; otherwise it is replaced; a link or a pipe in its place is an error. As JSON: device, files (output, tensors, bytes, resumed), tensors (name, output, whole, shape, start, bytes_read, bytes).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape shard weights.safetensors --plan plan.json --device 0 -o shards
  xla-shape shard model.safetensors.index.json --plan plan.json --device 3 -o shards
  echo '{\"*.w\": \"{devices=[4,1]<=[4]}\", \"*\": \"{replicated}\"}' > plan.json")]
pub(crate) struct ShardArguments {
    /// The files to read: .safetensors, or the .json index of a model of several files; those of all devices if they are divided already
    #[arg(value_name = "IN", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// How the tensors are divided: a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,

    /// The number of the device
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) device: i64,

    /// The folder to write into; it is created if it does not exist
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: OutputPath,

    /// Write all files, even those that exist with the same bytes
    #[arg(long)]
    pub(crate) force: bool,

    /// Print which files were kept, or what was written as one JSON object
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) slabs: SlabOptions,
}

/// How much of an array is in memory.
#[derive(Debug, Args)]
pub(crate) struct SlabOptions {
    /// How many bytes of the source, and of the result, are in memory at a time; for tests
    #[arg(long, hide = true, value_name = "BYTES", default_value_t = SLAB_BYTES)]
    pub(crate) slab_bytes: usize,
}
