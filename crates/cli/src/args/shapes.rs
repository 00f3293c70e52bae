//! The verbs about shapes, layouts and their texts.

use super::{
    AnswerOptions, ChosenCompiler, CompilerArguments, Format, InputFile, JsonOnly, OfferingGenerations, OutputPath,
    SearchArguments, bytes, devices, generation, named_device, one_of, whole,
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use std::ffi::OsString;
use std::path::PathBuf;
use xla_shape::ElementType;
use xla_shape::shard::Hosts;
use xla_shape::tpu::Generation;
use xla_shape_answers::advise::Change;
use xla_shape_answers::convert::Language;
use xla_shape_answers::hlo::Device;
use xla_shape_notations::Notation;
use xla_shape_tune::Devices;

/// Say how much memory a shape takes, why, and where its elements are
///
/// Use it first for a shape: its bytes, its padding, its tiles.
///
/// With --index or --position, only say where an element is, or what is at a position. Positions count elements from the start of the
/// buffer, padding included. With --vector, say how many registers a vector of a TPU kernel takes. A vector layout is written as in
/// Mosaic's dumps: the bits of an element, the row and the column of the first element in its register (`*` if it is replicated), the
/// tile, and the implicit dimensions (-1, -2 or -2,-1).
///
/// As JSON: shape, element_type, dimensions, dynamic, minor_to_major, tiles, memory_space, element_bits, true_rank, elements,
/// physical_elements, bytes, padding_bytes, expansion, and tpu (without a layout, or with --for), gpu (with GPUs in --for), sharding (with
/// --sharding), tuple_shapes (of a tuple). With --index or --position: index and linear (for padding, both are null and padding is true), position, byte_offset,
/// bit_offset. With --vector: vector, layout, registers (their number), grid, slice; with --index also index, register, sublane, lane, part.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape explain 'bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}'
  xla-shape explain 'f32[100,200]' --for v5e,v6e
  xla-shape explain 'bf16[8,64,56,56]' --for h100,a100-80
  xla-shape explain 'f32[3,5]{1,0:T(2,2)}' --index 2,3
  xla-shape explain 'f32[3,5]{1,0:T(2,2)}' --position 17 --format json
  xla-shape explain 'bf16[8192,4096]{1,0:T(8,128)(2,1)}' --sharding '{devices=[4,2]<=[8]}'
  xla-shape explain 'bf16[16,256]' --vector '16,{0,0},(16,128)' --index 5,77")]
pub(crate) struct ExplainArguments {
    /// The shape, in quotes, because shells interpret brackets and braces
    pub(crate) shape: String,

    /// Say where the element with this index is: one number for each dimension, dimension 0 first, such as 2,3
    #[arg(long, value_name = "INDEX", conflicts_with_all = ["position", "sharding", "devices"])]
    pub(crate) index: Option<String>,

    /// Say what is at this position, counted in elements
    #[arg(long, value_name = "N", conflicts_with_all = ["vector", "sharding", "devices"], value_parser = whole::<u64>)]
    pub(crate) position: Option<u64>,

    /// Also say which part each device has; the sharding as XLA, MLIR or JAX writes it
    #[arg(long, value_name = "SHARDING")]
    pub(crate) sharding: Option<String>,

    /// Explain the registers of a vector in this vector layout; the layout of the shape is ignored
    #[arg(long, value_name = "LAYOUT", conflicts_with_all = ["sharding", "devices"])]
    pub(crate) vector: Option<String>,

    /// The TPUs and GPUs whose choice of a layout is shown, such as v5e,h100, or names of JAX or GKE; without it, those of all TPUs are shown
    /// for a shape without a layout
    #[arg(long = "for", value_name = "DEVICES", value_delimiter = ',', value_parser = named_device(), hide_possible_values = true)]
    pub(crate) devices: Vec<Device>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Answer each line of a file of shapes with one JSON object
///
/// Use it when there are many shapes.
///
/// The answer to a good line is {"schema": …, "input": …, "ok": true, "shape": the canonical text, "bytes": the size, or null if
/// a dimension is unbounded, "proto": XLA's ShapeProto in base64}, and a "hint" if no TPU uses the tiles of an array for its
/// elements. The answer to a bad line is {"schema": …, "input": …, "ok": false, "error": {"message": …, "span": [start, end]}},
/// with byte offsets into the line. An empty line is bad. If a line is not UTF-8, U+FFFD replaces the wrong bytes in "input". A
/// line longer than 64 MiB is bad, and its answer repeats only the first 1,024 bytes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  echo 'f32[2,3]' | xla-shape check
  xla-shape check shapes.txt > answers.jsonl || echo 'some are bad'
  xla-shape check --for v5e shapes.txt > on_v5e.jsonl
  echo '{devices=[2,1]0,1}' | xla-shape check --sharding")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) input: InputFile,

    /// Read shardings instead of shapes; the answer to a good line has "sharding", the canonical text, and "proto", XLA's OpSharding
    /// in base64
    #[arg(long)]
    pub(crate) sharding: bool,

    /// Answer for the default layouts of this TPU, in place of the layouts in the lines
    #[arg(long = "for", value_name = "GENERATION", value_parser = generation(), hide_possible_values = true, conflicts_with = "sharding")]
    pub(crate) generation: Option<Generation>,

    /// Has no effect: the answers are always JSON lines
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: JsonOnly,
}

/// Write the Rust compiler's output with shapes in place of types
///
/// Use it when an error of the Rust compiler names types of shapes.
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

    /// Do not read the files with whole names of types that the output names
    #[arg(long, hide = true)]
    pub(crate) no_files: bool,

    /// Text for people; or the compiler's messages in JSON, if the input is JSON
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Reads the name of a file for an SVG picture. Names of other pictures are refused: viewers would not show the file.
fn svg_file(text: &str) -> Result<OutputPath, String> {
    let path = OutputPath::from(OsString::from(text));
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "tif" | "tiff" | "pdf" | "html" => {
            Err(format!("expected a name that ends in .svg, found .{ending}: the picture is SVG"))
        }
        _ => Ok(path),
    }
}

/// Draw where the elements are, or which device has which part
///
/// Use it when you must see which element is where.
///
/// Without a file, the drawing is text. For a large array, it shows the beginning, the end, and where tiles meet. As JSON:
/// shape, positions, all_planes, planes, memory, and physical_to_logical: for each position the number of the element there, counted
/// row-major (the last dimension varies fastest), or null for padding. It is null if there are more than 1,048,576 positions.
///
/// With a sharding, draw which device has which part, in a colour for each device. As JSON: shape, sharding, shard, rows,
/// columns, planes (label, and cells with start, limit, devices, more).
///
/// With a vector layout of a TPU kernel, draw what each sublane of the registers holds. As JSON: vector, layout, registers (their
/// number), grid, shown (register, place, sublanes: lists of lanes, parts, elements), and physical_to_logical for the parts of the
/// registers: those of a 32-bit word first, then the lanes, the sublanes and the registers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape draw 'f32[3,5]{1,0:T(2,2)}'
  xla-shape draw 'f32[16,256]' --vector '32,{3,0},(8,128)'
  xla-shape draw 'f32[64,256]{1,0:T(8,128)}' --sharding '{devices=[4,2]<=[8]}'
  xla-shape draw 'bf16[100,300]{1,0:T(8,128)(2,1)}' --html tiles.html")]
pub(crate) struct DrawArguments {
    /// The shape of an array
    pub(crate) shape: String,

    /// Draw which device has which part; the sharding as XLA, MLIR or JAX writes it
    #[arg(long, value_name = "SHARDING")]
    pub(crate) sharding: Option<String>,

    /// Draw the registers of a vector in this vector layout, as `explain --vector` reads it; the layout of the shape is ignored
    #[arg(long, value_name = "LAYOUT", conflicts_with = "sharding")]
    pub(crate) vector: Option<String>,

    /// Write an SVG picture into this file; `-` is standard output
    #[arg(long, value_name = "FILE", value_parser = svg_file)]
    pub(crate) svg: Option<OutputPath>,

    /// Write a page into this file that shows the position of the selected element; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<OutputPath>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Write a layout in another notation: CuTe, NumPy, torch, MLIR, …
///
/// Use it when a layout comes from another library, or goes to one.
///
/// The notations are those of XLA, CuTe, linear layouts (Triton), mdspan, NumPy, torch, MLIR, Mosaic and oneDNN. A layout is a map from
/// indices to positions. The answer is a text for the same map. If the notation has no such text, the answer is the reason, an element or a position
/// that shows it, and the nearest layout that the notation has. As JSON, one line for each notation: notation, text; or reason, with position or
/// index, and nearest (text, view); sharing and shared, if elements share positions. With --emit, one object: shape, language, name, code. The exit
/// code is 0 whether the notation has the layout or not, and 1 if there is no answer.
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

    /// The notations to write it in; if none is named, all of them, or with --from, XLA's
    #[arg(long, value_name = "NOTATION,…", value_delimiter = ',', value_parser = notation())]
    pub(crate) to: Vec<Notation>,

    /// The notation of the text
    #[arg(long, value_name = "NOTATION", default_value = "xla", value_parser = notation())]
    pub(crate) from: Notation,

    /// Write code instead: a Python module with tile(x) and untile(y), or a function from an index to a position and its inverse
    #[arg(long, value_name = "LANGUAGE", value_parser = one_of(Language::ALL, Language::as_str), conflicts_with = "to")]
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
fn notation() -> impl TypedValueParser<Value = Notation> {
    let value = |&notation: &Notation| match notation {
        // Triton calls its layouts linear.
        Notation::Linear => PossibleValue::new(notation.name()).alias("triton"),
        _ => PossibleValue::new(notation.name()),
    };
    let named = |name: String| Notation::from_name(&name).ok_or("no such notation");
    PossibleValuesParser::new(Notation::ALL.iter().map(value)).try_map(named)
}

/// Reads the name of an element type.
fn element_type(text: &str) -> Result<ElementType, String> {
    ElementType::from_name(text).ok_or_else(|| "expected an element type of XLA, such as bf16".to_owned())
}

/// Say whether two arrays are the same bytes, and what differs
///
/// Use it before a reshape, a transpose or a custom call, to see whether it is free.
///
/// If only the layouts differ: whether each element keeps its position; if not, the first element that moves and why. If the dimensions
/// differ: which bitcast makes B from A, whether a reshape or a transpose is free, and a layout of B for which it would be. As JSON: from,
/// to, from_bytes, to_bytes, same_bytes (whether both take as many), bitcast, kind (identity, reshape, transpose, reshape+transpose or
/// none), plain (whether a plain reshape or transpose leaves the bytes), reason, read_as, differences (element_type, dimensions,
/// minor_to_major, tiles, element_bits, memory_space, attributes), reshape and transpose (free, moved_bytes, free_result, reason; or null),
/// and generation (of the TPU that chose a layout, or null). The exit code is 0 if the answer is yes or no, and 1 if there is none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape compare 'f32[6,2,3]{2,1,0}' 'f32[36]{0}'
  xla-shape compare 'bf16[256,128]{1,0:T(8,128)(2,1)}' 'bf16[256,128]{1,0:T(8,128)}'
  xla-shape compare 'f32[8,1024]' 'f32[8192]' --for v5e")]
pub(crate) struct CompareArguments {
    /// The shape of the array
    #[arg(value_name = "A")]
    pub(crate) from: String,

    /// The shape to read its bytes as, or to copy it into
    #[arg(value_name = "B")]
    pub(crate) to: String,

    /// The generation of the TPU that chooses the layout of shapes without one, such as v5e, or a name of JAX or GKE; they are
    /// row-major if none is named
    #[arg(long = "for", value_name = "GENERATION", value_parser = generation(), hide_possible_values = true)]
    pub(crate) generation: Option<Generation>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Say what moves between devices when the sharding of an array changes
///
/// Use it when an array changes its sharding, to see which bytes must move and which collective does it.
///
/// The answer is the least that must move: no device receives what it has. If several devices have a part, one on the receiver's host
/// (--hosts) sends it; several on that host take turns. Bytes are counted without padding. There are no times, because they depend on the network. With --for,
/// XLA compiles a program that makes the change, without the devices, and the collectives of its partitioner are
/// listed; their bytes are counted as sent directly, and an all-reduce counts as a reduce-scatter and an all-gather.
///
/// As JSON: shape; before and after (sharding, shard, shard_bytes); bytes_moved, bytes_kept, messages; collectives (the collective that makes the
/// change, or those of through, or none), several (whether no single collective makes it); through (null, or the intermediate shardings if XLA warns
/// of a full rematerialization: shardings, each as before, collectives, bytes_moved); axes (with a mesh: axes, bytes, messages); devices (device,
/// kept_bytes, from: device, bytes, start, limit), more_devices; xla (null, or with --for: for, compiler, collectives: opcode, instruction, groups,
/// bytes_moved; bytes_moved; through: null, or collectives and bytes_moved of the program with the intermediate shardings).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape reshard 'bf16[8192,4096]' --from '{devices=[4,2]<=[8]}' --to '{devices=[1,8]<=[8]}'
  xla-shape reshard 'f32[64,128]' --from \"{mesh['x'=4,'y'=2], [{'x'}, {'y'}]}\" --to \"{mesh['x'=4,'y'=2], [{}, {'y'}]}\"
  xla-shape reshard 'bf16[64,2,8,16,128]' --from '{devices=[1,1,8,1,1]<=[8]}' --to '{devices=[1,1,2,1,1,4]<=[8] last_tile_dim_replicate}' --hosts 4
  xla-shape reshard 'f32[512,512]' --from '{devices=[4,1]<=[4]}' --to '{replicated}' --layout '{1,0:T(8,128)}' --device 2 --format json
  xla-shape reshard 'bf16[8192,4096]' --from '{devices=[4,2]<=[8]}' --to '{devices=[1,8]<=[8]}' --for v5e:2x4")]
pub(crate) struct ReshardArguments {
    /// The whole array; its layout is that of the shards before
    pub(crate) shape: String,

    /// The sharding before, as XLA, MLIR or JAX writes it
    #[arg(long, value_name = "SHARDING")]
    pub(crate) from: String,

    /// The sharding afterwards
    #[arg(long, value_name = "SHARDING")]
    pub(crate) to: String,

    /// A reshape and a transposition first, such as '(page part=4) token d -> page (part token) d'; --to is then of the result
    #[arg(long, value_name = "AXES")]
    pub(crate) rearrange: Option<String>,

    /// The layout of the shards afterwards, if it is another
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<String>,

    /// How many devices a host has, or those of each, such as '{{0,4},{1,5}}': a part comes from a device of the same host, if one has it
    #[arg(long, value_name = "N|GROUPS")]
    pub(crate) hosts: Option<Hosts>,

    /// List what these devices receive, such as 0,5; without it, what all devices receive
    #[arg(long = "device", value_name = "DEVICES", value_delimiter = ',', allow_negative_numbers = true)]
    pub(crate) devices: Vec<i64>,

    /// Also compile the change for these devices, such as v5e:2x4 or h100:8, as many as the shardings have: what XLA moves
    #[arg(long = "for", value_name = "DEVICES", value_parser = OfferingGenerations(super::devices), hide_possible_values = true)]
    pub(crate) target: Option<Devices>,

    #[command(flatten)]
    pub(crate) compiler: ChosenCompiler,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Say whether a kernel's blocks are allowed and fit into VMEM
///
/// Use it before you compile a kernel, to see whether its blocks fit.
///
/// The rules are those of Pallas: the last dimension is all of the array's or a multiple of 128, the one before is all of the
/// array's or a multiple of 8. A block is in VMEM twice, because the next one is copied while the kernel works on it; once if it
/// is all of its array or --fixed. If the blocks do not fit, the answer names the largest that do: one axis after the other is halved, at most eight
/// times, each time the one that saves the most. Dimensions with the same sizes in array and block count as one axis; `compile` and `kernel` know the
/// places of a program's blocks, which tell them apart. As JSON, one line for each generation: generation, parts (kind, array, shape in VMEM, bytes, padding_bytes and expansion of
/// one copy, copies, vmem_bytes of all copies, vector, vector_unknown), vmem_bytes of all parts, limit_bytes, most_bytes (the most that a limit can be),
/// fits, fitting (blocks that fit, or null: blocks with kind, array and block; vmem_bytes). The exit code is 1 if the parts do not fit.
///
/// With --rank, each program is a candidate: the same kernel with other blocks. It is compiled for the TPU, which is not needed, and the candidates are
/// ordered by the least time that each can take: by its bundles and its copies between HBM and VMEM. As JSON: for, hbm_bytes_per_second, clock_hz, axes, rows (setting, state,
/// error, least_seconds, limited_by, bundles, most_bundles, bundle_seconds, copied_bytes, copy_seconds, steps, vector_spills, moving_relayouts, vmem_bytes, vmem_limit_bytes, notes),
/// settings, kept, compilers, cut. Answers are cached, so a run that was stopped can continue. The exit code is 1 if no candidate has a time, and 130 if
/// Ctrl-C ended it.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("parts").required(true).multiple(true)))]
#[command(override_usage = "xla-shape block [OPTIONS] <ARRAY> <BLOCK>\n       \
    xla-shape block [OPTIONS] [--input <ARRAY> <BLOCK>] [--output <ARRAY> <BLOCK>] [--fixed <ARRAY> <BLOCK>] [--scratch <SHAPE>]\n       \
    xla-shape block [OPTIONS] --rank <PROGRAM>...")]
#[command(after_help = "Examples:
  xla-shape block 'bf16[4096,1024]' 'bf16[512,1024]'
  xla-shape block --input 'bf16[65536,1024]' 'bf16[8192,1024]' --output 'f32[65536,128]' 'f32[8192,128]' --scratch 'f32[512,512]'
  xla-shape block 'f32[4096,1000]' 'f32[104,1000]' --for v4,v7x --vmem-limit 8MiB
  xla-shape block --rank bm256.mlir bm512.mlir bm1024.mlir --for v6e")]
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

    /// The generations of TPUs, such as v5e,v7x, or names of JAX or GKE; v5e if none is named
    #[arg(long = "for", value_name = "GENERATIONS", value_delimiter = ',', value_parser = generation(), hide_possible_values = true)]
    pub(crate) generations: Vec<Generation>,

    /// The bytes of VMEM that the kernel may use (`vmem_limit_bytes`), such as 64MiB; by default, what the compiler gives a kernel
    #[arg(long = "vmem-limit", alias = "limit", value_name = "BYTES", value_parser = bytes)]
    pub(crate) limit: Option<u64>,

    /// Files with the same kernel and other blocks, in StableHLO: say which is best
    #[arg(long, group = "parts", num_args = 1.., value_name = "PROGRAM", conflicts_with_all = ["array", "inputs", "outputs", "fixed", "scratch", "limit"])]
    pub(crate) rank: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) search: SearchArguments,

    #[command(flatten)]
    pub(crate) compiler: ChosenCompiler,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Say which layout a TPU or GPU chooses, and what takes less memory
///
/// Use it when an array is mostly padding, or is transposed.
///
/// The device's own choice comes first; one entry stands for all orders that take the same memory. On a GPU, all orders take the same memory, and the
/// entries are the orders that operations want. As JSON, one line for each: shape, bytes, saved_bytes (against the device's choice), padding_bytes,
/// expansion, choice (default, natural, default and natural, given, convolution, product, or null), orders (how many orders take the same), change
/// (what to do to the dimensions, or null), jax (the layout to ask JAX for, or null), and room (dimensions that could be longer).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape advise 'bf16[1,3072]'
  xla-shape advise 'bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}' --for v6e
  xla-shape advise 'bf16[8,64,56,56]' --for h100
  xla-shape advise 'f32[100,1]{1,0:T(8,128)}' --what-if 1=8
  xla-shape advise 'f32[100,1]{1,0:T(8,128)}' --what-if 0,1")]
pub(crate) struct AdviseArguments {
    /// The shape of an array
    pub(crate) shape: String,

    /// First change the size of a dimension (1=128), or swap two dimensions (0,1); may be repeated
    #[arg(long, value_name = "N=SIZE|N,N")]
    pub(crate) what_if: Vec<Change>,

    /// The TPU or GPU, such as v5e or h100, or a name of JAX or GKE; v5e if none is named
    #[arg(long = "for", value_name = "DEVICE", value_parser = named_device(), hide_possible_values = true)]
    pub(crate) device: Option<Device>,

    /// How many layouts to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<usize>)]
    pub(crate) top: usize,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Explain an error message or a log: what was refused, what helps
///
/// Use it first when something failed, with the whole message or log.
///
/// Messages of XLA, of its compilers of kernels and of other allocators are read whatever a logger, a launcher, a quote or a terminal
/// puts before their lines. Shapes are read as XLA, JAX, NumPy and MLIR write them. The text output shows the causes, and each shape
/// once, with the most padding first. As JSON, one line for each place of a shape: line and column (from 1, in bytes), shape, bytes,
/// padding_bytes, expansion; if there are messages, finally the contents of the text output as one object: amounts, causes, largest, most_padded,
/// shapes; with --summary, only this object.
///
/// With --program, or with --for where the text has the whole program in MLIR, the compiler is asked about each remedy that changes the program: a
/// remedy that it refuses is not recommended, and one that it takes says what memory the program then needs. If a log warns of a change of sharding,
/// and only one instruction of --program can make that change, the answer names it (instruction in JSON: name, source).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape scan oom.txt
  my_program 2>&1 | xla-shape scan --format json -
  xla-shape scan oom.txt --summary --format json
  xla-shape scan oom.txt --program step.mlir --for v5e
  xla-shape scan log-with-program.txt --for v6e")]
pub(crate) struct ScanArguments {
    #[command(flatten)]
    pub(crate) input: InputFile,

    /// As JSON, write only the object at the end: the messages about memory, and each shape once
    #[arg(long)]
    pub(crate) summary: bool,

    /// The program that was refused, in MLIR or HLO: remedies are compiled before they are recommended
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,

    /// The devices to compile for, such as v5e:2x2; v5e if only --program is given. If a log warns of a change of sharding, the change is compiled by
    /// itself, for all devices of the sharding
    #[arg(long = "for", value_name = "DEVICE", value_parser = OfferingGenerations(devices), hide_possible_values = true)]
    pub(crate) target: Option<Devices>,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}
