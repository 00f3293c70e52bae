//! The arguments of the program, with the help that it prints.

use crate::verbs::schema::names;
use crate::verbs::tune::{Share, share, weight};
use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;
use xla_shape::ElementType;
use xla_shape::hlo::byte_count;
use xla_shape::memory_space;
use xla_shape::tpu::Generation;
use xla_shape::validate::MAX_MEMORY_SPACE;
use xla_shape::worlds::World;
use xla_shape_files::SLAB_BYTES;
use xla_shape_pjrt::{Slice, SliceError};
use xla_shape_render::advise::Change;
use xla_shape_render::convert::Language;
use xla_shape_render::hlo::{Device, Limit};

/// Explain XLA shapes and layouts, and find where the memory of a program goes
#[derive(Debug, Parser)]
#[command(name = "xla-shape", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Examples:
  xla-shape explain 'bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}'
  xla-shape scan oom.txt
  xla-shape VERB --help

Exit codes: 0 success, 1 the input has problems, 2 wrong usage, 3 a part of the input could not be read.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Explain(ExplainArguments),
    Index(IndexArguments),
    Map(MapArguments),
    Draw(DrawArguments),
    Relayout(RelayoutArguments),
    Shard(ShardArguments),
    Hlo(HloArguments),
    Cost(CostArguments),
    Kernel(KernelArguments),
    Guard(GuardArguments),
    Compile(CompileArguments),
    Tune(TuneArguments),
    Scan(ScanArguments),
    Reshape(ReshapeArguments),
    Bitcast(BitcastArguments),
    Convert(ConvertArguments),
    Tpu(TpuArguments),
    Block(BlockArguments),
    Vector(VectorArguments),
    Advise(AdviseArguments),
    Check(CheckArguments),
    Rustc(RustcArguments),
    Schema(SchemaArguments),
    Completions(CompletionsArguments),
    /// Print the manual, as `man` reads it
    #[command(after_help = "Example:
  xla-shape man > ~/.local/share/man/man1/xla-shape.1")]
    Man,
}

/// Say how much memory a shape takes and why, what each part of its text means, and where its elements are
///
/// As JSON: shape, element_type, dimensions, dynamic, minor_to_major, tiles, memory_space, element_bits, true_rank, elements,
/// physical_elements, bytes, padding_bytes, expansion, and tpu (without a layout), sharding (with --sharding), tuple_shapes (of a
/// tuple).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape explain 'bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}'
  xla-shape explain --format json 'f32[3,5]{1,0:T(2,2)}'
  xla-shape explain 'bf16[8192,4096]{1,0:T(8,128)(2,1)}' --sharding '{devices=[4,2]<=[8]}'")]
pub(crate) struct ExplainArguments {
    /// The shape, in quotes, because shells interpret brackets and braces
    pub(crate) shape: String,

    /// Also say which part each device has; the sharding as XLA, MLIR or JAX writes it
    #[arg(long, value_name = "SHARDING")]
    pub(crate) sharding: Option<String>,

    /// For a shape without a layout: the generation of the TPU that chooses it, such as v5e, or a name of JAX or GKE; all are shown
    /// if none is named
    #[arg(long = "for", value_name = "GENERATION")]
    pub(crate) generation: Option<Generation>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Read one shape per line and answer each line with one JSON object
///
/// The answer to a good line is {"schema": …, "input": …, "ok": true, "shape": the canonical text, "bytes": the size, or null if
/// a dimension is unbounded, "proto": XLA's ShapeProto in base64}. The answer to a bad line is {"schema": …, "input": …, "ok":
/// false, "error": {"message": …, "span": [start, end]}}, with byte offsets into the line. An empty line is bad. If a line is not
/// UTF-8, U+FFFD replaces the wrong bytes in "input". A line longer than 64 MiB is bad, and its answer repeats only the first
/// 1,024 bytes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  echo 'f32[2,3]' | xla-shape check
  xla-shape check shapes.txt > answers.jsonl || echo 'some are bad'
  echo '{devices=[2,1]0,1}' | xla-shape check --sharding")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) input: InputFile,

    /// Read shardings instead of shapes; the answer to a good line has "sharding", the canonical text, and "proto", XLA's OpSharding
    /// in base64
    #[arg(long)]
    pub(crate) sharding: bool,

    /// Has no effect: the answers are always JSON lines
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: JsonOnly,
}

/// Write the Rust compiler's output with shapes in place of the types of this library
///
/// If the compiler compares two shapes, a line marks the difference. If it wrote a long type to a file, the type is shown.
/// Everything else is left unchanged, except that control characters other than colours are escaped. The output of
/// `cargo build --message-format=json` is read, too: the text output has its messages for people; --format json prints the same
/// lines with shapes in message, label and rendered, for editors.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape rustc build.log
  cargo build 2>&1 | xla-shape rustc
  cargo check --message-format=json | xla-shape rustc --format json")]
pub(crate) struct RustcArguments {
    /// The compiler's output; `-` is standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// Text for people; or the compiler's messages in JSON, if the input is JSON
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Say where an element is, or what is at a position
///
/// Positions count elements from the start of the buffer, padding included. As JSON: index and linear (for padding, both
/// are null and padding is true), position, byte_offset, bit_offset.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true)))]
#[command(
    override_usage = "xla-shape index [OPTIONS] <SHAPE> <INDEX>\n       xla-shape index [OPTIONS] <SHAPE> --linear <N>"
)]
#[command(after_help = "Examples:
  xla-shape index 'f32[3,5]{1,0:T(2,2)}' 2,3
  xla-shape index 'f32[3,5]{1,0:T(2,2)}' --linear 17
  xla-shape index 'f32[]' ''")]
pub(crate) struct IndexArguments {
    /// The shape of an array
    pub(crate) shape: String,

    /// The index of the element: one number for each dimension, dimension 0 first, such as 2,3
    #[arg(group = "what")]
    pub(crate) index: Option<String>,

    /// The position to look at, in elements
    #[arg(long, group = "what", value_name = "N")]
    pub(crate) linear: Option<u64>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Say how many registers a vector of a TPU kernel takes, and where an element is in them
///
/// A vector layout is written as in Mosaic's dumps: the bits of an element, the row and the column of the first element in its
/// register (`*` if it is replicated), the tile, and the implicit dimensions (-1, -2 or -2,-1). As JSON: vector, layout, registers
/// (their number), grid, slice; with --at also index, register, sublane, lane, part.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape vector 'f32[16,256]' '32,{3,0},(8,128)'
  xla-shape vector 'bf16[16,256]' '16,{0,0},(16,128)' --at 5,77")]
pub(crate) struct VectorArguments {
    /// The vector, written as an array; its layout is ignored
    pub(crate) vector: String,

    /// The vector layout
    pub(crate) layout: String,

    /// The index of an element to locate
    #[arg(long, value_name = "INDEX")]
    pub(crate) at: Option<String>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Print which element is at each position, as a JSON array
///
/// Entry N is the number of the element at position N, counted row-major (the last dimension varies fastest), or null
/// for padding.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape map 'f32[3,5]{1,0:T(2,2)}'")]
pub(crate) struct MapArguments {
    /// The shape of an array
    pub(crate) shape: String,

    /// Has no effect: the map is always JSON
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: JsonOnly,
}

/// Draw where the elements are, by index and by position in memory
///
/// Without a file, the drawing is text. For a large array, it shows the beginning, the end, and where tiles meet. As JSON:
/// shape, positions, all_planes, planes, memory.
///
/// With a sharding, draw which device has which part, in a colour for each device. As JSON: shape, sharding, shard, rows,
/// columns, planes (label, and cells with start, limit, devices, more).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape draw 'f32[3,5]{1,0:T(2,2)}'
  xla-shape draw 'f32[64,256]{1,0:T(8,128)}' --sharding '{devices=[4,2]<=[8]}'
  xla-shape draw 'bf16[100,300]{1,0:T(8,128)(2,1)}' --html tiles.html")]
pub(crate) struct DrawArguments {
    /// The shape of an array
    pub(crate) shape: String,

    /// Draw which device has which part; the sharding as XLA, MLIR or JAX writes it
    #[arg(long, value_name = "SHARDING")]
    pub(crate) sharding: Option<String>,

    /// Write an SVG picture into this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Write a page into this file that shows the position of the selected element; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Copy an array in a file into another layout
///
/// The names of the files decide their format: .npy, .safetensors (one tensor of it), and raw bytes for anything else.
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

    /// The shape of the array in the file; .npy and .safetensors files have it (except for element types that NumPy does
    /// not know, such as bf16)
    #[arg(long, value_name = "SHAPE")]
    pub(crate) from: Option<String>,

    /// The shape to write, or only its layout; for .npy and .safetensors files, row-major is the default
    #[arg(long, value_name = "SHAPE|LAYOUT")]
    pub(crate) to: Option<String>,

    /// Transpose: entry i is the dimension of the source that becomes dimension i of the result, such as 1,0
    #[arg(long, value_name = "N,N,…")]
    pub(crate) permute: Option<String>,

    /// The name of the tensor in a .safetensors file
    #[arg(long, value_name = "NAME")]
    pub(crate) tensor: Option<String>,

    /// The file to write, completely or not at all; `-` is standard output, which gets raw bytes
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: PathBuf,

    /// Print nothing, or what was written as one JSON object
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// How many bytes of the source, and of the result, are in memory at a time; for tests
    #[arg(long, hide = true, value_name = "BYTES", default_value_t = SLAB_BYTES)]
    pub(crate) slab_bytes: usize,
}

/// Say whether a reshape or a transpose from A to B is free, and if not, how much it moves
///
/// A reshape keeps the row-major order of the elements. If the sizes of B are those of A in another order, the transpose
/// between them has an answer, too. As JSON: from, to, free, moved_bytes (read and written), free_result (B in a layout that
/// would be free, or null), reason, transpose (null, or permutation, free, moved_bytes, free_result, reason), and generation (of
/// the TPU that chose a layout, or null).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape reshape 'bf16[32,2,192]{2,1,0:T(2,128)(2,1)}' 'bf16[64,192]{1,0:T(8,128)(2,1)}'
  xla-shape reshape 'f32[8,1024]' 'f32[8192]' --for v6e")]
pub(crate) struct ReshapeArguments {
    /// The shape of the array
    #[arg(value_name = "A")]
    pub(crate) from: String,

    /// The shape of the result
    #[arg(value_name = "B")]
    pub(crate) to: String,

    #[command(flatten)]
    pub(crate) tpu: TpuOptions,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Say a layout in another notation: CuTe, linear layouts, mdspan, NumPy, torch, MLIR, Mosaic, oneDNN
///
/// A layout is a map from indices to positions. The answer is a text that says the same map, or the reason why the notation has none, with
/// an element or a position that shows it, and the nearest layout that it has. As JSON, one line for each notation: world, text; or reason, with position
/// or index, and nearest (text, view); sharing and shared, if elements share positions. With --emit, one object: shape, language, name, code. The exit code is 0 whether the notation has the layout or not, and 1
/// if there is no answer.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape convert 'bf16[8,128]{1,0:T(8,128)(2,1)}' --to cute
  xla-shape convert --from cute '((2,4),128):((1,256),2)'
  xla-shape convert --from cute '((2,4),128):((1,256),2)' --to numpy,memref
  xla-shape convert 'bf16[6,200]{1,0:T(8,128)(2,1)}' --emit numpy > tiles.py
  xla-shape convert 'bf16[6,200]{1,0:T(8,128)(2,1)}' --emit c --name position > position.c")]
pub(crate) struct ConvertArguments {
    /// The shape of an array, or the layout in the notation that --from names
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: String,

    /// The notations to say it in; all of them if none is named, or with --from, XLA's
    #[arg(long, value_name = "WORLD,…", value_delimiter = ',', value_parser = world)]
    pub(crate) to: Vec<World>,

    /// The notation of the text
    #[arg(long, value_name = "WORLD", default_value = "xla", value_parser = world)]
    pub(crate) from: World,

    /// Write code instead: a Python module with tile(x) and untile(y), or a function from an index to a position and its inverse
    #[arg(long, value_name = "LANGUAGE", value_parser = Language::from_str, conflicts_with = "to")]
    pub(crate) emit: Option<Language>,

    /// The name of the function in the code
    #[arg(long, value_name = "NAME", default_value = "linear_index", requires = "emit")]
    pub(crate) name: String,

    /// The type of the elements, where the notation has none; f32 if none is named
    #[arg(long, value_name = "TYPE", value_parser = element_type)]
    pub(crate) element_type: Option<ElementType>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Reads the name of a notation.
fn world(text: &str) -> Result<World, String> {
    World::from_name(text).ok_or_else(|| {
        let names = World::ALL.iter().map(|world| world.name()).collect::<Vec<_>>();
        format!("expected one of {}", names.join(", "))
    })
}

/// Reads the name of an element type.
fn element_type(text: &str) -> Result<ElementType, String> {
    ElementType::from_name(text).ok_or_else(|| "expected an element type of XLA, such as bf16".to_owned())
}

/// Write the part of a checkpoint that one device needs
///
/// Only the bytes that the device needs are read from .safetensors files; files may be larger than memory. A plan says how each
/// tensor is divided: a JSON object of names, or patterns with `*`, each with a sharding, or with an object of `sharding` and
/// `layout` (XLA's text) or `generation` (a TPU, such as v5e, for its default layout). A shard whose layout is not row-major is
/// written as bytes (U8); the file's metadata has its shape. Everything is checked before anything is written. A file is written
/// under another name and renamed when it is complete. If a file exists and has the same bytes, it is kept and named in the
/// output; otherwise it is replaced. As JSON: device, files (output, tensors, bytes, resumed), tensors (name, output, whole, shape, start, bytes_read, bytes).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape shard weights.safetensors --plan plan.json --device 0 -o shards
  xla-shape shard model.safetensors.index.json --plan plan.json --device 3 -o shards
  echo '{\"*.w\": \"{devices=[4,1]<=[4]}\", \"*\": \"{replicated}\"}' > plan.json")]
pub(crate) struct ShardArguments {
    /// The files to read: .safetensors, or the .json index of a model of several files
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
    pub(crate) output: PathBuf,

    /// Write all files, even those that exist with the same bytes
    #[arg(long)]
    pub(crate) force: bool,

    /// Print which files were kept, or what was written as one JSON object
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// How many bytes of the source, and of the result, are in memory at a time; for tests
    #[arg(long, hide = true, value_name = "BYTES", default_value_t = SLAB_BYTES)]
    pub(crate) slab_bytes: usize,
}

/// Say whether one array can be read as another without moving a byte
///
/// If the dimensions are equal: whether each element keeps its position in the other layout; if not, the first element that moves
/// and why. If the dimensions differ: whether a plain reshape or transpose is free; if not, which combination of them the bitcast
/// is. As JSON: bitcast, same_bytes, reason, kind, which is identity, reshape, transpose, reshape+transpose or none,
/// plain, whether a plain reshape or transpose leaves the bytes, and generation (of the TPU that chose a layout, or null). The
/// exit code is 0 for yes and for no, and 1 if there is no answer.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape bitcast 'f32[6,2,3]{2,1,0}' 'f32[36]{0}'
  xla-shape bitcast 'bf16[256,128]{1,0:T(8,128)(2,1)}' 'bf16[256,128]{1,0:T(8,128)}'
  xla-shape bitcast 'f32[8,1024]' 'f32[8192]' --for v5e")]
pub(crate) struct BitcastArguments {
    /// The shape that the bytes have
    #[arg(value_name = "A")]
    pub(crate) from: String,

    /// The shape to read them as
    #[arg(value_name = "B")]
    pub(crate) to: String,

    /// The generation of the TPU that chooses the layout of shapes without one, such as v5e, or a name of JAX or GKE; they are
    /// row-major if none is named
    #[arg(long = "for", value_name = "GENERATION")]
    pub(crate) generation: Option<Generation>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Say which layout a TPU chooses for a shape by default, and how much memory it takes
///
/// A layout in the text is replaced by the default one; each array of a tuple gets its own. As JSON, one line for each
/// generation: input, ok, shape and bytes, or error with message and span in bytes, as in check; and generation, unless exactly one
/// is named.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape tpu 'f32[100,200]'
  xla-shape tpu 'f32[100,200]' --for v3,v6e
  xla-shape tpu --for v5e - < shapes.txt > answers.jsonl")]
pub(crate) struct TpuArguments {
    /// The shape; `-` reads one shape per line from standard input and answers each line with JSON
    pub(crate) shape: String,

    /// The generations, such as v5e,v7x, or names of JAX or GKE; v5e if none is named
    #[arg(long = "for", value_name = "GENERATIONS", value_delimiter = ',')]
    pub(crate) generations: Vec<Generation>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Say whether a TPU kernel can work on these blocks, and whether they fit into VMEM
///
/// The rules are those of Pallas: the last dimension is all of the array's or a multiple of 128, the one before is all of the
/// array's or a multiple of 8. A block is in VMEM twice, because the next one is copied while the kernel works on it; once if it
/// is all of its array or --fixed. As JSON: generation, parts (kind, array, shape in VMEM, bytes, padding_bytes and expansion of
/// one copy, copies, vmem_bytes of all copies), vmem_bytes of all parts, limit_bytes, most_bytes (the most that a limit can be),
/// fits.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("parts").required(true).multiple(true)))]
#[command(override_usage = "xla-shape block [OPTIONS] <ARRAY> <BLOCK>\n       \
    xla-shape block [OPTIONS] [--input <ARRAY> <BLOCK>] [--output <ARRAY> <BLOCK>] [--fixed <ARRAY> <BLOCK>] [--scratch <SHAPE>]")]
#[command(after_help = "Examples:
  xla-shape block 'bf16[4096,1024]' 'bf16[512,1024]'
  xla-shape block --input 'bf16[65536,1024]' 'bf16[8192,1024]' --output 'f32[65536,128]' 'f32[8192,128]' --scratch 'f32[512,512]'
  xla-shape block 'f32[4096,1000]' 'f32[104,1000]' --for v4 --vmem-limit 8MiB")]
pub(crate) struct BlockArguments {
    /// The shape of an array that the kernel reads
    #[arg(group = "parts", requires = "block")]
    pub(crate) array: Option<String>,

    /// The shape of a block of it
    pub(crate) block: Option<String>,

    /// An array that the kernel reads, and its block; may be repeated
    #[arg(long = "input", group = "parts", num_args = 2, value_names = ["ARRAY", "BLOCK"])]
    pub(crate) inputs: Vec<String>,

    /// An array that the kernel writes, and its block; may be repeated
    #[arg(long = "output", group = "parts", num_args = 2, value_names = ["ARRAY", "BLOCK"])]
    pub(crate) outputs: Vec<String>,

    /// An array and a block of it that is the same in every step of the grid, or has one buffer (`pl.Buffered(1)`); may be repeated
    #[arg(long, group = "parts", num_args = 2, value_names = ["ARRAY", "BLOCK"])]
    pub(crate) fixed: Vec<String>,

    /// A scratch buffer in VMEM; may be repeated
    #[arg(long, group = "parts", value_name = "SHAPE")]
    pub(crate) scratch: Vec<String>,

    #[command(flatten)]
    pub(crate) tpu: TpuOptions,

    /// The bytes of VMEM that the kernel may use (`vmem_limit_bytes`), such as 64MiB; by default, what the compiler gives a kernel
    #[arg(long = "vmem-limit", alias = "limit", value_name = "BYTES", value_parser = bytes)]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Reads a number of bytes that is not 0, with or without a unit.
fn some_bytes(text: &str) -> Option<u64> {
    byte_count(text).filter(|&bytes| bytes > 0)
}

fn bytes(text: &str) -> Result<u64, String> {
    some_bytes(text).ok_or_else(|| "expected bytes, such as 16777216 or 16MiB".to_owned())
}

/// Compare how much memory an array takes on a TPU in the device's own layout, in row-major order, and in others
///
/// The device's own choice comes first; one entry stands for all orders that take the same memory. As JSON, one line for each:
/// shape, bytes, saved_bytes (against the device's choice), padding_bytes, expansion, choice (default, natural, default and
/// natural, given, or null), orders (how many orders take the same), change (what to do to the dimensions, or null), jax (the
/// layout to ask JAX for, or null), and room (dimensions that could be longer).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape advise 'bf16[1,3072]'
  xla-shape advise 'bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}' --for v6e
  xla-shape advise 'f32[100,1]{1,0:T(8,128)}' --what-if 1=8
  xla-shape advise 'f32[100,1]{1,0:T(8,128)}' --what-if 0,1")]
pub(crate) struct AdviseArguments {
    /// The shape of an array
    pub(crate) shape: String,

    /// First change the size of a dimension (1=128), or swap two dimensions (0,1); may be repeated
    #[arg(long, value_name = "N=SIZE|N,N")]
    pub(crate) what_if: Vec<Change>,

    #[command(flatten)]
    pub(crate) tpu: TpuOptions,

    /// How many layouts to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Show how much memory the values of an HLO module take, and what is wrong with the module
///
/// Totals by memory space, the most padded and the largest values, tile formats, layout changes, and what is wrong with
/// instructions. The file is text or a message: HloModuleProto, HloProto or HloModuleProtoWithConfig. The exit code is 1 if XLA
/// would refuse the module. Parts of a text that cannot be read are skipped and reported first; the exit code is then 3. As JSON: summary, module, computations, instructions, opcodes, memory, scheduled, accuracy, files, notes,
/// other_modules, capacity, spaces, at_peak, sharding, collectives, copies, findings, most_padded, largest, tile_formats,
/// layout_changes.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  xla-shape hlo module.hlo --top 5
  xla-shape hlo module.hlo --space 1 --html vmem.html
  xla-shape hlo diff before.hlo after.hlo
  xla-shape hlo show module.hlo %fusion.3
  xla-shape hlo print module.hlo.pb")]
pub(crate) struct HloArguments {
    #[command(subcommand)]
    pub(crate) verb: Option<HloVerb>,

    /// The file with the module, or a directory of a dump (`--xla_dump_to`); `-` is standard input
    ///
    /// The compiler's own files about memory, beside the module, are read, too, and make the numbers exact.
    #[arg(required = true)]
    pub(crate) file: Option<PathBuf>,

    /// The device that the program must fit: v4, v5e, v5p, v6e, v7x, …, a name of JAX or GKE, or bytes of HBM, such as 16GiB; v5e if
    /// none is named
    #[arg(long = "for", visible_alias = "device", value_name = "DEVICE", value_parser = device)]
    pub(crate) device: Option<Device>,

    /// Estimate, even if the compiler's own files are beside the module
    #[arg(long)]
    pub(crate) estimate: bool,

    /// End with the exit code 1 for hints, too, not only for errors
    #[arg(long)]
    pub(crate) strict: bool,

    /// How many entries a list has at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,

    /// Show only this memory space: its number, or its name, such as VMEM
    #[arg(long, value_name = "S", value_parser = space)]
    pub(crate) space: Option<u8>,

    /// Also write a page into this file, with pictures of which buffers are live, where and when; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Reads the number or the name of a memory space.
fn space(text: &str) -> Result<u8, String> {
    let named = || memory_space::from_name(text);
    let numbered = || text.parse().ok().filter(|&space: &u8| u64::from(space) <= MAX_MEMORY_SPACE);
    numbered().or_else(named).ok_or_else(|| {
        format!(
            "expected a memory space: a number from 0 to {MAX_MEMORY_SPACE}, or a name, such as HBM, VMEM, SMEM or host"
        )
    })
}

/// Reads the name of a TPU generation, or a number of bytes.
fn device(text: &str) -> Result<Device, String> {
    if let Some(generation) = Generation::from_name(text) {
        return Ok(Device::Generation(generation));
    }
    some_bytes(text).map(Device::Bytes).ok_or_else(|| {
        let names = Generation::ALL.iter().map(|generation| generation.name()).collect::<Vec<_>>();
        format!("expected one of {}, or bytes such as 16GiB", names.join(", "))
    })
}

#[derive(Debug, Subcommand)]
pub(crate) enum HloVerb {
    Diff(HloDiffArguments),
    Print(HloPrintArguments),
    Show(HloShowArguments),
}

/// Show one instruction: operands, readers, layouts, source line, place in memory, cycles and padding
///
/// As JSON: instruction, opcode, computation, shape, operands, operand_shapes, readers, calls, op_name, source, cycles (of one run, or
/// null), runs, bytes, padding, live (first and last step of each time that it is in memory), offset (in the heap of its memory space,
/// or null), arrays (the same for each array of its value), text, unread (which figures of the module cannot be read, and why).
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape hlo show module.hlo %fusion.3")]
pub(crate) struct HloShowArguments {
    /// The file with the module, or a directory of a dump; `-` is standard input
    pub(crate) file: PathBuf,

    /// The instruction's name, with or without %
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Write a module as the text that XLA prints, or as its message
///
/// The file is text or a message: HloModuleProto, HloProto or HloModuleProtoWithConfig.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape hlo print module.hlo.pb")]
pub(crate) struct HloPrintArguments {
    /// The file with the module; `-` is standard input
    pub(crate) file: PathBuf,

    /// What to write: text, or the message HloModuleProto
    #[arg(long, value_enum, default_value_t)]
    pub(crate) to: HloForm,
}

/// How a module is written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub(crate) enum HloForm {
    #[default]
    Text,
    Proto,
}

/// Say what changed between two modules: the memory at the peak, and values
///
/// Instructions are paired by op_name, opcode, shapes and operands, not by their names. If the compiler's own files are
/// beside a module, or a directory of a dump is given, its numbers are exact. As JSON, one line for each difference: name,
/// change; measure has before, after and cause; copy, collective and fusion (added or removed) have opcode, shape, cycles, cause,
/// because, remedy, op_name and source; others (total, peak, shape, layout, memory space, added or removed) have bytes_before,
/// bytes_after, bytes; for values also leaf,
/// before, after, cause, op_name and source; for peaks space, at_before, at_after and because.
///
/// A cause is one of: source changed, layout asked, sharding, rematerialization, fusion choice, flags or version. Programs for different
/// numbers of partitions or replicas are compared only with --other-devices. A module does not say for which generation it was compiled.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape hlo diff before.hlo after.hlo --format json
  xla-shape hlo diff before.hlo after.hlo --markdown > comment.md
  xla-shape hlo diff before.hlo after.hlo --fail-if 'cycles>+2%' 'memory>+1%' 'copies>0'")]
pub(crate) struct HloDiffArguments {
    /// The file with the first module, or a directory of a dump
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,

    /// The file with the second module, or a directory of a dump
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,

    /// Use only the modules, even if the compiler's own files are beside them
    #[arg(long)]
    pub(crate) estimate: bool,

    /// End with the exit code 1 if a number grew by more than this, such as 'cycles>+2%', 'memory>16MiB' or 'copies>0'
    #[arg(long = "fail-if", value_name = "LIMIT", num_args = 1..)]
    pub(crate) limits: Vec<Limit>,

    /// Compare the programs even if they are for different numbers of partitions or replicas
    #[arg(long)]
    pub(crate) other_devices: bool,

    /// Write Markdown, such as for a pull request's comment
    #[arg(long, conflicts_with = "format")]
    pub(crate) markdown: bool,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Say what the compiler expects a program to cost, and which source lines and copies cost most
///
/// A program that is not compiled yet (StableHLO or HLO) is compiled first, as by `compile`. With --try, it is compiled again with each
/// layout that would remove a copy, and the answer says what that gains.
///
/// The figures are the compiler's own: estimates of cycles in the module that it returns (JAX: `compiled.as_text()`; or
/// `xla-shape compile -o`). The files that XLA dumps leave most of them out; then there is no total. Bodies of loops count as often as
/// they run. As JSON: module, cycles (once, total, said, without, flagged, partial), without, unread, loops, branches, copies
/// (instruction, opcode, cycles, runs, total, share, bytes, from, to, change, cause, remedy, op_name, source), lines, scopes, opcodes,
/// instructions, collectives, tried.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape cost module.hlo
  xla-shape cost program.mlir --for v6e --try
  xla-shape cost module.hlo --format json")]
pub(crate) struct CostArguments {
    /// The file with the module, text or message, or a directory of a dump; or with a program; `-` is standard input
    pub(crate) file: PathBuf,

    /// The TPU that a program is compiled for: a generation, with the chips along each axis if not those of one host, such as v5e:2x2
    #[arg(long = "for", value_name = "DEVICE", default_value = "v5e", value_parser = target)]
    pub(crate) target: Target,

    /// Also write the answer as an HTML page to this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Compile the program again with each layout that would remove a copy, and with all of them
    #[arg(long = "try")]
    pub(crate) try_remedies: bool,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Record what a program costs, and fail when a change makes it worse
///
/// `record` writes a small JSON file: memory, cycles, copies, collectives and fusions, the layouts of parameters and results, and the
/// cycles of source lines. `check` compares a program with it; the exit code is 1 if a number grew by more than its limit.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape guard record step.json step.mlir --for v5e,v6e
  xla-shape guard check step.json step.mlir
  xla-shape guard check step.json module.hlo --fail-if 'cycles>+2%' 'memory>+1%' 'copies>0'")]
pub(crate) struct GuardArguments {
    #[command(subcommand)]
    pub(crate) verb: GuardVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuardVerb {
    Record(GuardRecordArguments),
    Check(GuardCheckArguments),
}

/// A program that is recorded or checked.
#[derive(Debug, Args)]
pub(crate) struct GuardProgram {
    /// The program (StableHLO), which is compiled as by `compile`; or a compiled module, or the directory of a dump; `-` is standard input
    pub(crate) program: PathBuf,

    /// The TPUs that the program is compiled for: generations, with the chips along each axis if not those of one host, such as v5e:2x2,v6e;
    /// by default those of the record, and v5e for a new one. For a compiled module, the TPU that it was compiled for, which it does not contain
    #[arg(long = "for", value_name = "DEVICES", value_delimiter = ',', value_parser = target)]
    pub(crate) targets: Vec<Target>,
}

/// Write what a program costs into a file, completely or not at all
///
/// A record is replaced; another file is not. As JSON, the contents of the file: programs (device, compiler, module, partitions, replicas, measures,
/// parameters, result, shardings, operations, computing, copies, lines).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape guard record step.json step.mlir --for v5e,v6e
  xla-shape guard record step.json module.hlo")]
pub(crate) struct GuardRecordArguments {
    /// The file to write; `-` is standard output, which then has nothing else
    pub(crate) record: PathBuf,

    #[command(flatten)]
    pub(crate) program: GuardProgram,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Compare a program with a record; the exit code is 1 if a number grew by more than its limit
///
/// As JSON, one line for each device: device, module, compiler_before, compiler, passed, limits, exceeded, warnings, measures (name, before, after,
/// cause), copies_added, copies_removed, lines (source, before, after), and accept, the command that accepts the changes. If another
/// version of the compiler made the record, a warning names both.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape guard check step.json step.mlir
  xla-shape guard check step.json module.hlo --fail-if 'cycles>+2%' 'copies>0'
  xla-shape guard check step.json step.mlir --markdown > comment.md")]
pub(crate) struct GuardCheckArguments {
    /// The file that `guard record` wrote
    pub(crate) record: PathBuf,

    #[command(flatten)]
    pub(crate) program: GuardProgram,

    /// Fail if a number grew by more than this; by default 'cycles>2%' 'memory>1%' 'copies>0', for the numbers that the record has
    #[arg(long = "fail-if", value_name = "LIMIT", num_args = 1..)]
    pub(crate) limits: Vec<Limit>,

    /// Compare the programs even if they are for different numbers of partitions or replicas
    #[arg(long)]
    pub(crate) other_devices: bool,

    /// Write Markdown, such as for a pull request's comment
    #[arg(long, conflicts_with = "format")]
    pub(crate) markdown: bool,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Compile a program for TPUs, with the compiler's own library, and say which layouts and how much memory it chose
///
/// The program is StableHLO (MLIR, text or bytecode) or HLO (text or message). No TPU is needed: `pip install libtpu` installs the
/// compiler. It is found in the active Python environment, or by PJRT_PLUGIN or TPU_LIBRARY_PATH, which name the file. As JSON,
/// one line for each device: for, generation, and module, fingerprint, inputs, outputs, input_shardings, output_shardings,
/// memory (as in hlo), capacity, most_padded, cost, cycles; or error with its message. The exit code is 1 if the
/// program was not compiled for one of them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape compile program.mlir --for v5e:2x2
  xla-shape compile program.mlir --for v5e,v6e,v7x --format json
  xla-shape compile program.mlir --for v5e --html memory.html -o optimized.hlo")]
pub(crate) struct CompileArguments {
    /// The file with the program; `-` is standard input
    pub(crate) program: PathBuf,

    /// The TPUs: generations, and the chips along each axis unless it is one host, such as v5e:2x2,v4:2x2x4
    #[arg(long = "for", value_name = "DEVICES", value_delimiter = ',', default_value = "v5e", value_parser = target)]
    pub(crate) targets: Vec<Target>,

    /// Write the optimized module into this file: text, or XLA's message if it ends in .pb; `-` is standard output
    ///
    /// With several devices, each has a separate file: module.hlo becomes module.v5e-2x2.hlo, …
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Write a page with pictures of which buffers are live, where and when, into this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    /// How many entries a list has at most
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,

    /// Compile in this process, which another one of this program started
    #[arg(long, hide = true)]
    pub(crate) alone: bool,
}

/// Find the best layout of an array that several programs share, by compiling them with many layouts
///
/// The programs are StableHLO as text. They are compiled as they are, with the layouts that the compiler itself chooses, and with the
/// layouts that these answers suggest, each in a process of its own; no TPU is needed. Places of a shared array are parameters (arg0, …)
/// and results (out0, …) of a program. A program has the name of its file without the ending; if there is only one, the name may be left
/// out. A donated parameter and its result are one array. The figures are the compiler's estimates: they rank layouts, but are not times.
///
/// Answers are cached on disk, so a search that was stopped can continue. As JSON: best (layout and major_to_minor for each name), today
/// (layouts, cycles, bytes, copies, programs), keep, best_entry, arrays, programs, compiles, kept, all, cut, tried (layouts, taken, cycles,
/// bytes, copies, programs, because, error), notes. The exit code is 1 if all layouts exceed the limit.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape tune decode.mlir --share kv=arg0,out0 --for v5e
  xla-shape tune prefill.mlir decode.mlir --share kv=prefill:out1,decode:arg4 --weight decode=100
  xla-shape tune step.mlir --share w=arg0 --share m=arg1 --all --format json")]
pub(crate) struct TuneArguments {
    /// The files with the programs
    #[arg(required = true, value_name = "PROGRAM")]
    pub(crate) programs: Vec<PathBuf>,

    /// An array that has one layout in all of these places; may be repeated
    #[arg(long = "share", required = true, value_name = "NAME=PROGRAM:PLACE,…", value_parser = share)]
    pub(crate) shares: Vec<Share>,

    /// The TPU: a generation, with the chips along each axis if not those of one host, such as v5e:2x2
    #[arg(long = "for", value_name = "DEVICE", default_value = "v5e", value_parser = target)]
    pub(crate) target: Target,

    /// How often a program runs, relative to the others (1 by default), such as decode=100; may be repeated
    #[arg(long = "weight", value_name = "PROGRAM=N", value_parser = weight)]
    pub(crate) weights: Vec<(String, u32)>,

    /// The most HBM that a program may take, such as 16GiB
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) at_most_bytes: Option<u64>,

    /// Try every combination of layouts, also those with much padding
    #[arg(long)]
    pub(crate) all: bool,

    /// Stop after N compilations, cached answers included; the answer is then the best layout so far
    #[arg(long, value_name = "N")]
    pub(crate) compiles: Option<usize>,

    /// How many compilers run at a time; by default at most one per core, and only as many as fit into the free memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,

    /// The folder for the cached answers; by default, xla-shape in the user's cache folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: Option<PathBuf>,

    /// Neither read nor write cached answers
    #[arg(long, conflicts_with = "cache")]
    pub(crate) no_cache: bool,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// The compiler, and its options.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompilerArguments {
    /// The PJRT plug-in with the compiler, such as libtpu.so; its code is run
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Option<PathBuf>,

    /// How many copies of the program run; by default, the number in the program
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) replicas: Option<u32>,

    /// Among how many devices each copy is divided; by default, the number in the program
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) partitions: Option<u32>,

    /// An option of the compiler, such as xla_tpu_scoped_vmem_limit_kib=65536; may be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    pub(crate) options: Vec<(String, String)>,

    /// How long the compiler may take for one device, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Self::TIME_LIMIT)]
    pub(crate) time_limit: u64,
}

impl CompilerArguments {
    /// How long the compiler may take if the user does not say it, in seconds.
    pub(crate) const TIME_LIMIT: u64 = 600;
}

/// A TPU that a program is compiled for.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Its name, such as v5e:2x2.
    pub(crate) name: String,
    pub(crate) generation: Generation,
    /// The compiler's name of it, or why the compiler does not know it.
    pub(crate) slice: Result<Slice, String>,
}

/// Reads the name of a TPU. A generation that the compiler does not know leads to an answer with an error, not to wrong usage.
pub(crate) fn target(text: &str) -> Result<Target, SliceError> {
    let slice = text.parse::<Slice>();
    match slice {
        Ok(slice) => {
            let chips = slice.to_string();
            let (_, chips) = chips.split_once(':').unwrap_or_default();
            let generation = slice.generation();
            Ok(Target { name: format!("{generation}:{chips}"), generation, slice: Ok(slice) })
        }
        Err(SliceError::Unsupported(generation)) => {
            let error = SliceError::Unsupported(generation).to_string();
            Ok(Target { name: text.to_owned(), generation, slice: Err(error) })
        }
        Err(error) => Err(error),
    }
}

/// Reads the name and the value of an option.
fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Say what the compiler made of Pallas kernels: relayouts, unaligned loads, bundles by line and loop, units, vector memory
///
/// A directory is a dump, which libtpu writes with the flags --xla_mosaic_dump_to=DIR, --xla_jf_dump_to=DIR,
/// --xla_jf_dump_llo_text=true, --xla_mosaic_enable_llo_source_annotations=true and --xla_mosaic_enable_dump_debug_info=true in
/// LIBTPU_INIT_ARGS. A program in StableHLO is compiled with these flags, for each TPU after --for; no TPU is needed, only
/// `pip install libtpu`. A bundle is the instructions that the TPU executes at the same time. As JSON: kernels (for, name, instruction, grid, bundles, empty,
/// executed, operations, relayouts, unaligned, lines, loops, units, vmem, vector_slots, vector_slots_with_source, unread, notes) and
/// errors (for, message).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape kernel program.mlir --for v5e,v6e,v7x
  xla-shape kernel dump --for v5e")]
pub(crate) struct KernelArguments {
    /// The directory of the dump, or the file with the program; `-` is standard input
    pub(crate) path: PathBuf,

    /// The TPUs to compile for, v5e by default; for a dump, the TPU that it was made for, which has the limit of vector memory
    #[arg(long = "for", value_name = "DEVICES", value_delimiter = ',', value_parser = target)]
    pub(crate) targets: Vec<Target>,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Find every shape in any text, such as a log or an out-of-memory message
///
/// Shapes are read as XLA, JAX, NumPy and MLIR write them. The text output shows each shape once, with the most padding
/// first, and the contents of messages about memory. As JSON, one line for each place: line and column (from 1, in bytes), shape,
/// bytes, padding_bytes, expansion.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape scan oom.txt
  my_program 2>&1 | xla-shape scan --format json -")]
pub(crate) struct ScanArguments {
    #[command(flatten)]
    pub(crate) input: InputFile,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Print the JSON Schema of what a verb writes with --format json
///
/// The field `schema` of the output has the same name as the schema: its `$id`, which ends with the version.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape schema hlo > hlo.json")]
pub(crate) struct SchemaArguments {
    /// The verb; hlo-diff for `hlo diff`
    #[arg(value_parser = PossibleValuesParser::new(names()))]
    pub(crate) verb: String,
}

/// Print the script that completes the arguments of this program in a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape completions bash > ~/.local/share/bash-completion/completions/xla-shape")]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// The file that a verb reads line by line.
#[derive(Debug, Args)]
pub(crate) struct InputFile {
    /// The file to read; `-` is standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
}

/// The TPU that an answer is about, or that chooses the layout of shapes without one.
#[derive(Debug, Args)]
pub(crate) struct TpuOptions {
    /// The generation of the TPU, such as v5e, or a name of JAX or GKE; v5e if none is named
    #[arg(long = "for", value_name = "GENERATION")]
    pub(crate) generation: Option<Generation>,
}

/// How an answer is written.
#[derive(Debug, Args)]
pub(crate) struct AnswerOptions {
    /// Text for people, or JSON: one object, or one on each line where there are several answers
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// The form of an output that is always JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum JsonOnly {
    /// For programs
    #[default]
    Json,
}
