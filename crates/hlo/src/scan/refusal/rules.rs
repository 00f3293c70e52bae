//! Recognizes refusals: one rule for each kind of message, which looks for its words and reads its figures.

use super::Refusal;
use super::cause::{Halt, Library, RefusalCause};
use super::reader::{CUDA_MEMORY, GRAPHS, KILLED, NCCL_FAILURE, NO_SPACE, NO_VMEM, OTHER_RESOURCES};
use super::words::{after, between, list, name, number, number_after, quoted, sizes, types};
use crate::scan::brackets::{CURLY, Pair, ROUND, SQUARE, closing, count_parts};
use crate::scan::find_shapes;
use crate::scan::spelling::find_spelled_shapes;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::str::FromStr;
use xla_shape_core::shard::Sharding;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::{ArrayShape, Dimension, ElementType, Shape, memory_space};

/// Reads a message. Each rule looks for the words of one kind of message.
pub(super) fn read(text: &str) -> Option<Refusal> {
    let text = &text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cause = RULES.iter().find_map(|rule| rule(text))?;
    let name = between(text, "HLO name `", "`")
        .or_else(|| between(text, "Executable(", ")"))
        .or_else(|| between(text, "Error loading program '", "'"))
        .or_else(|| between(text, "hlo_module=", ","))
        .or_else(|| between(text, "HLO: ", ";").filter(|_| matches!(cause, RefusalCause::CoreHalt(_))));
    let operation = match cause {
        RefusalCause::FullReplication { .. } => between(text, "op_name=\"", "\"").map(ToOwned::to_owned),
        _ => after(text, "The MLIR operation involved:").and_then(operation),
    };
    Some(Refusal { line: 1, name: name.map(ToOwned::to_owned), operation, source: source(text), cause })
}

/// The rules in the order in which they are tried. A message can have the words of several rules, so the rule that says most comes first.
const RULES: [fn(&str) -> Option<RefusalCause>; 36] = [
    instruction_vmem,
    input_mismatch,
    core_halt,
    host_output,
    host_use,
    host_compute,
    block_shape,
    index,
    slice_size,
    transfer_line,
    matmul,
    strided_load,
    operand_layout,
    vector_layout,
    shape_cast,
    primitive,
    other_lowering,
    shared_memory,
    message_size,
    no_capacity,
    command_buffer,
    library_memory,
    cuda_memory,
    host_memory,
    no_space,
    sparse_core,
    replica_count,
    layout_rank,
    full_replication,
    grid_semantics,
    lowering_type,
    old_compiler,
    autotuning,
    element_type,
    unknown_operation,
    kernel,
];

/// The name of an operation such as `"xir.vector_load"(…)`, without its dialect.
fn operation(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('"')?;
    let (name, _) = rest.split_once('"')?;
    let name = name.rsplit('.').next()?.trim();
    (!name.is_empty() && name.len() <= 60).then(|| name.to_owned())
}

/// The first file and line of a location such as `loc("…"(callsite("f"("/project/errs.py":34:66 …`, or of an instruction's metadata:
/// `source_file="/project/errs.py" source_line=34`.
fn source(text: &str) -> Option<String> {
    text.match_indices(".py\"").find_map(|(at, found)| {
        let file = text.get(..at)?.rsplit(['"', '/']).next()?.trim_start();
        let rest = text.get(at.checked_add(found.len())?..)?.trim_start();
        let line = number([":", "source_line="].iter().find_map(|before| rest.strip_prefix(before))?)?;
        (!file.is_empty() && file.len() <= 100).then(|| alloc::format!("{file}.py:{line}"))
    })
}

/// `expected parameter 3 of size 512 (f32[8]{0}) but got buffer with incompatible size 256 (f32[4]{0})`, and of TensorFlow `Run-time
/// shape mismatch for TPUExecute argument[98] (…). Expected element_type: F32 dimensions: 32 …; got element_type: F32 dimensions: 8 …`
fn input_mismatch(text: &str) -> Option<RefusalCause> {
    if let Some(rest) = after(text, "shape mismatch for TPUExecute argument[") {
        let (expected, found) = rest.split_once("; got ")?;
        let arrays = [shape_message(after(expected, "Expected ")?)?, shape_message(found)?];
        let [expected, found] = arrays.each_ref().map(ArrayShape::byte_size);
        let bytes = [expected?, found?];
        return Some(RefusalCause::InputMismatch { parameter: number(rest)?, bytes, arrays: Some(arrays) });
    }
    let rest = after(text, "xpected parameter ")?;
    let parameter = number(rest)?;
    let (expected, found) = rest.split_once("incompatible size ")?;
    let bytes = [number_after(expected, "of size ")?, number(found)?];
    let array = |text: &str| match find_shapes(text).next()?.shape {
        Shape::Array(array) => Some(array),
        Shape::Tuple(elements) => elements.first().and_then(Shape::array).cloned(),
        _ => None,
    };
    let arrays = array(expected).zip(array(found)).map(|(expected, found)| [expected, found]);
    Some(RefusalCause::InputMismatch { parameter, bytes, arrays })
}

/// `It should not be possible to run out of vmem …  XLA label: %fusion.8 = f32[8]{0} fusion(f32[8]{0}, f32[8]{0}, ...(+30)), kind=kLoop`
fn instruction_vmem(text: &str) -> Option<RefusalCause> {
    let labels = after(text, NO_VMEM)?.split("XLA label: %").skip(1);
    let listed = labels.filter_map(|label| Some((name(label)?, label.split_once(" fusion(")?.1))).next();
    let operands = listed.as_ref().and_then(|(_, rest)| operand_count(rest));
    Some(RefusalCause::InstructionVmem { instruction: listed.map(|(name, _)| name), operands })
}

/// The number of operands before the closing parenthesis; `...(+30)` are 30.
fn operand_count(text: &str) -> Option<u64> {
    const PAIRS: [Pair; 3] = [ROUND, SQUARE, CURLY];
    let inside = text.get(..closing(text.as_bytes(), &PAIRS)?)?;
    let count = count_parts(inside.as_bytes(), &PAIRS);
    let more = after(inside, "...(+").and_then(number);
    Some(more.map_or(count, |more| count.saturating_sub(1).saturating_add(more)))
}

fn core_halt(text: &str) -> Option<RefusalCause> {
    if !text.contains("halted unexpectedly") && !text.contains("halted prematurely") {
        return None;
    }
    let observed = between(text, "observed errors are: [", "]").unwrap_or("");
    let has = |words: &str| text.contains(words);
    let halt = if ["Hardware", "Network", "Power"].iter().any(|fault| observed.contains(fault)) {
        Halt::Machine
    } else if observed.contains("User") {
        Halt::Instruction
    } else if has("launch group") {
        Halt::OtherProgram
    } else if has("BoundsCheck") {
        Halt::Bounds
    } else if has("emaphore") {
        Halt::Semaphore
    } else {
        Halt::Unknown
    };
    Some(RefusalCause::CoreHalt(halt))
}

fn host_output(text: &str) -> Option<RefusalCause> {
    text.find("is returned from the entry computation but the layout for this output is not set to host memory")?;
    let value = after(text, "starting from ").and_then(name).unwrap_or_default();
    Some(RefusalCause::HostOutput { value })
}

/// `Tensor which is moved to host (starting from "a") is used by an instruction ("b") which is not acceptable during pure memory offload`
fn host_use(text: &str) -> Option<RefusalCause> {
    let (rest, _) = text.split_once("acceptable during pure memory offload")?;
    let (value, user) = after(rest, "moved to host")?.rsplit_once("by an instruction")?;
    let bare = |text: &str| name(text.trim_start_matches([' ', '(', '"', '%']));
    Some(RefusalCause::HostUse { value: bare(after(value, "from ")?)?, user: bare(user)? })
}

/// `Found an instruction ("add.5") which does device compute in host memory space`, or `slice.9 will be converted into host compute`.
fn host_compute(text: &str) -> Option<RefusalCause> {
    let found = || between(text, "Found an instruction (\"", "\") which does device compute in host memory space");
    let converted = || text.split_once(" will be converted into host compute")?.0.rsplit(' ').next();
    Some(RefusalCause::HostCompute { instructions: vec![name(found().or_else(converted)?)?] })
}

/// `Operand of shape (…, 256, 8192) has tiling (16, 128), but its block shape (…, 8, 8192) is not divisible …` of the compiler, and
/// `requires that the last two dimensions of your block shape are divisible by 8 and 128 … has block shape (…), array shape (…)` of
/// Pallas.
fn block_shape(text: &str) -> Option<RefusalCause> {
    if let Some(tile) = between(text, "has tiling ", ", but its block shape").and_then(list) {
        let block = known_sizes(after(text, "but its block shape ")?)?;
        let array = after(text, "Operand of shape ").and_then(known_sizes).unwrap_or_default();
        let argument = between(text, "window params for ", ":").unwrap_or("a block").to_owned();
        return Some(RefusalCause::BlockShape { argument, block, array, tile });
    }
    let rest = after(text, "your block shape")?;
    let block = list(after(rest, "has block shape ")?)?;
    let array = list(after(rest, "array shape ")?)?;
    let argument = after(rest, "Block spec for ").and_then(|rest| rest.split(" in ").next()).unwrap_or("a block");
    let tile = match number_after(rest, "divisible by ").zip(number_after(rest, " and ")) {
        Some((rows, lanes)) => vec![rows, lanes],
        None => vec![8, 128],
    };
    Some(RefusalCause::BlockShape { argument: argument.to_owned(), block, array, tile })
}

/// The sizes in a list that may begin with `...`.
fn known_sizes(text: &str) -> Option<Vec<u64>> {
    list(&text.replacen("(..., ", "(", 1).replacen("(…, ", "(", 1))
}

/// The array that a kernel indexes, slices or copies: the first one with its tiles, else the first one.
fn indexed(text: &str) -> Option<ArrayShape> {
    let operation = after(text, "The MLIR operation involved:").unwrap_or(text);
    types(operation, "memref").into_iter().next()
}

fn index(text: &str) -> Option<RefusalCause> {
    let first = after(text, "cannot statically prove that index in dimension ");
    if let Some(rest) = first {
        let multiple = number_after(rest, "is a multiple of ")?;
        return Some(RefusalCause::UnprovenIndex { dimension: number(rest)?, multiple, array: indexed(text) });
    }
    // `Failed to prove that a tile index in dimension 1 is divisible by the tiling (128)`, of releases before 2026
    let older = after(text, "Failed to prove that a tile index in dimension ");
    let (rest, words) = match older {
        Some(rest) => (rest, "by the tiling ("),
        None => (after(text, "Failed to verify that the index at dimension ")?, "tile dimension "),
    };
    let multiple = number_after(rest, words)?;
    Some(RefusalCause::UnprovenIndex { dimension: number(rest)?, multiple, array: indexed(text) })
}

fn slice_size(text: &str) -> Option<RefusalCause> {
    let (rest, multiple, size) = if let Some(rest) = after(text, "lice shape along dimension ") {
        let size = number_after(rest, "but is ");
        (rest, number_after(rest, "aligned to tiling (")?, size)
    } else if let Some(rest) = after(text, "Failed to verify that the size at dimension ") {
        (rest, number_after(rest, "tile dimension ")?, None)
    } else {
        let rest = after(text, "dynamic slice size along dimension ")?;
        (rest, number_after(rest, "divisible by the tiling (")?, None)
    };
    let dimension = number(rest)?;
    // The result of the slice is the second array of the operation.
    let arrays = types(after(text, "The MLIR operation involved:").unwrap_or(""), "memref");
    let result = arrays.get(1).and_then(sizes).and_then(|sizes| sizes.get(usize::try_from(dimension).ok()?).copied());
    Some(RefusalCause::SliceSize { dimension, multiple, size: size.or(result), array: arrays.into_iter().next() })
}

fn transfer_line(text: &str) -> Option<RefusalCause> {
    if let Some(rest) = after(text, "inner slice in the DMA transfer must be divisible by ") {
        let multiple_bytes = number(rest)?;
        return Some(RefusalCause::TransferLine { multiple_bytes, is_offset: false, array: indexed(text) });
    }
    let bits = number_after(text, "not a multiple of the memory space word size (")?;
    // The result of the slice has the sizes that are copied.
    let arrays = types(after(text, "The MLIR operation involved:").unwrap_or(""), "memref");
    let array = arrays.get(1).or_else(|| arrays.first()).cloned();
    Some(RefusalCause::TransferLine { multiple_bytes: bits.checked_div(8)?, is_offset: true, array })
}

fn matmul(text: &str) -> Option<RefusalCause> {
    let words = ["Unsupported matmul", "Bad lhs", "Bad rhs", "data type in matrix multiplication", "acc with int"];
    let at = words.iter().find_map(|words| text.find(words))?;
    let rest = text.get(at..)?;
    let operation = after(rest, "The MLIR operation involved:");
    let of = |text: &str| types(text, "vector").into_iter().map(|vector| vector.element_type()).collect::<Vec<_>>();
    let mut found = operation.map(of).unwrap_or_default();
    found.truncate(2);
    if found.is_empty() {
        found = of(rest.get(..200).unwrap_or(rest));
        found.truncate(2);
    }
    if text.contains("contract_precision<fp32>") && found.first() == found.get(1) {
        return Some(RefusalCause::MatmulPrecision { element_type: found.first().copied() });
    }
    Some(RefusalCause::MatmulType { types: found })
}

fn strided_load(text: &str) -> Option<RefusalCause> {
    text.find("The last dim size is not 128 in original base memref")?;
    Some(RefusalCause::StridedLoad { array: indexed(text) })
}

/// `XLA layout does not match MLIR layout for an operand of shape f32[16,3072]: expected {1,0:T(128)S(1)}, got {1,0:T(8,128)S(1)}`, and
/// of newer releases `XLA layout ({0:S(1)}) does not match Mosaic layout ({0:T(128)S(1)}) for an operand of shape s32[0]`.
fn operand_layout(text: &str) -> Option<RefusalCause> {
    let (before, rest) = text.split_once(" for an operand of shape ")?;
    let shape = rest.get(..rest.find(']')?.checked_add(1)?)?;
    let (expected, found) = match before.split_once(" does not match Mosaic layout ") {
        Some((found, expected)) => (expected, after(found, "XLA layout ")?),
        None => after(rest, ": expected ")?.split_once(", got ")?,
    };
    let with = |layout: &str| {
        let layout = layout.trim_start_matches('(');
        let end = layout.find('}')?.checked_add(1)?;
        [shape.trim(), layout.get(..end)?].concat().parse::<Shape>().ok()
    };
    let shapes = Box::new([with(expected)?, with(found)?]);
    Some(RefusalCause::OperandLayout { operand: number_after(before, "kernel operand "), shapes })
}

fn vector_layout(text: &str) -> Option<RefusalCause> {
    const WORDS: [&str; 8] = [
        "Invalid input layout",
        "Invalid output layout",
        "Invalid layout",
        "Invalid relayout",
        "Non-trivial layouts unsupported",
        "unsupported operand shapes or layouts",
        "Padded transposes unsupported",
        "unsupported layout change",
    ];
    let at = WORDS.iter().find_map(|words| text.find(words))?;
    let rest = text.get(at..)?;
    let layout = between(rest, "vpad<\"", "\"").map(|layout| layout.trim().to_owned());
    Some(RefusalCause::VectorLayout { layout, vectors: types(rest, "vector") })
}

fn shape_cast(text: &str) -> Option<RefusalCause> {
    let rest = after(text, "nsupported shape cast")?;
    let stated = after(rest, "from ").and_then(list).zip(after(rest, " to ").and_then(list));
    let vectors = types(after(rest, "The MLIR operation involved:").unwrap_or(""), "vector");
    let involved = || match vectors.as_slice() {
        [from, to, ..] => sizes(from).zip(sizes(to)),
        _ => None,
    };
    Some(RefusalCause::ShapeCast { sizes: stated.or_else(involved).map(|(from, to)| [from, to]) })
}

/// `Unimplemented primitive in Pallas TPU lowering for tc: sort`; for GPUs, `in Pallas Mosaic GPU lowering` and `in Pallas Triton lowering`.
fn primitive(text: &str) -> Option<RefusalCause> {
    if let Some((before, _)) = text.split_once("` is a Triton-specific primitive") {
        let primitive = name(before.rsplit('`').next()?)?;
        return Some(RefusalCause::Primitive { primitive, is_for_gpu: false });
    }
    let (lowering, rest) = after(text, "Unimplemented primitive in Pallas")?.split_once(": ")?;
    let is_for_gpu = ["GPU", "Triton"].iter().any(|words| lowering.contains(words));
    Some(RefusalCause::Primitive { primitive: name(rest)?, is_for_gpu })
}

fn other_lowering(text: &str) -> Option<RefusalCause> {
    // `Invalid dtype for `swap`. Ref dtype: float32. Value dtype: int32.`
    if let Some((array, value)) = after(text, "Ref dtype: ").and_then(|rest| rest.split_once("Value dtype: ")) {
        let element_type = |text: &str| ElementType::from_any_name(&name(text)?);
        return Some(RefusalCause::StoreType { array: element_type(array)?, value: element_type(value)? });
    }
    if let Some((from, to)) = after(text, "Unsupported cast: ").and_then(|rest| rest.split_once(" -> ")) {
        let element_type = |text: &str| ElementType::from_any_name(&name(text)?);
        return Some(RefusalCause::Cast { from: element_type(from)?, to: element_type(to)? });
    }
    if text.contains("only allowed on VMEM and SMEM references") {
        return Some(RefusalCause::NoDirectAccess);
    }
    if text.contains("VectorElementTypeInterface") {
        let what = "a vector of elements that kernels do not have, such as complex numbers".to_owned();
        return Some(RefusalCause::NoInstruction { what });
    }
    if let Some((before, _)) = text.split_once(" not supported by this TPU generation") {
        let what = before.rsplit(": ").next().unwrap_or(before);
        return Some(RefusalCause::NoInstruction { what: what.chars().take(100).collect() });
    }
    if text.contains("Can only load scalars from SMEM") || text.contains("Can only store scalars to SMEM") {
        return Some(RefusalCause::VectorInSmem);
    }
    if text.contains("Cannot store scalars to VMEM") {
        return Some(RefusalCause::ScalarStore);
    }
    if text.contains("Mosaic kernels cannot be automatically partitioned") {
        return Some(RefusalCause::PartitionedKernel);
    }
    Some(RefusalCause::UnknownDevice { kind: name(after(text, "Unsupported TPU device kind: ")?)? })
}

/// `Received message larger than max (7340032 vs. 4194304)`, which gRPC says of its own messages.
fn message_size(text: &str) -> Option<RefusalCause> {
    let rest = after(text, OTHER_RESOURCES[0])?;
    let bytes = number_after(rest, "(").zip(number_after(rest, " vs. ")).map(|(bytes, limit)| [bytes, limit]);
    Some(RefusalCause::MessageSize { bytes })
}

/// `There is no more capacity in the zone us-central2-b; you can try in another zone`
fn no_capacity(text: &str) -> Option<RefusalCause> {
    Some(RefusalCause::NoCapacity { zone: name(after(text, OTHER_RESOURCES[1])?.trim_start())? })
}

/// `Underlying backend ran out of memory trying to instantiate command buffer with 1054 (total of 40 alive graphs in the process).`
fn command_buffer(text: &str) -> Option<RefusalCause> {
    let rest = GRAPHS.iter().find_map(|words| after(text, words))?;
    if !text.contains("ut of memory") && !text.contains(CUDA_MEMORY[1]) {
        return None;
    }
    Some(RefusalCause::CommandBuffer { alive: number_after(rest, "(total of ") })
}

/// The driver's message that memory is short, if it states no sizes, and no other message has it as its reason.
fn cuda_memory(text: &str) -> Option<RefusalCause> {
    const EXPLAINED: [&str; 3] = [" bytes) from device", " bytes on host", "Original error: "];
    let is_unexplained = |words: &str| {
        let mut from = 0_usize;
        text.match_indices(words).any(|(at, found)| {
            let before = text.get(core::mem::replace(&mut from, at + found.len())..at).unwrap_or("");
            !EXPLAINED.iter().any(|words| before.contains(words))
        })
    };
    CUDA_MEMORY.into_iter().any(is_unexplained).then_some(RefusalCause::CudaMemory)
}

/// `Last NCCL warning(error) log entry (may be unrelated) 'Cuda failure 2 'out of memory''`, of cuBLAS `failed to create cublas handle: the
/// resource allocation failed`, and of cuDNN `Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED … Memory usage: 1769472 bytes free,
/// 42505273344 bytes total.`
fn library_memory(text: &str) -> Option<RefusalCause> {
    let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
    // `Cuda failure 2 'out of memory'`: its own words, not those of another message after it.
    let failure = after(text, NCCL_FAILURE).and_then(|rest| rest.split('\'').nth(1));
    let (library, is_certain) = if failure == Some("out of memory") {
        (Library::Nccl, true)
    } else if has(&["CUBLAS_STATUS_ALLOC_FAILED", "cublas handle: the resource allocation failed"]) {
        (Library::Cublas, true)
    } else if has(&["CUDNN_STATUS_ALLOC_FAILED"]) {
        (Library::Cudnn, true)
    } else if has(&["failed to create cublas handle", "Failure to initialize cublas"]) {
        (Library::Cublas, false)
    } else if has(&["ould not create cudnn handle"]) {
        (Library::Cudnn, false)
    } else {
        return None;
    };
    let is_of_xla = has(&["NCCL operation ", "create cublas handle", "initialize cublas", "create cudnn handle"]);
    let free = after(text, "Memory usage: ").and_then(|rest| number(rest).zip(number_after(rest, " bytes free, ")));
    Some(RefusalCause::LibraryMemory { library, is_of_xla, is_certain, free: free.map(|(free, all)| [free, all]) })
}

fn host_memory(text: &str) -> Option<RefusalCause> {
    // The name of the class alone proves nothing: a program may name it and never throw it.
    const WORDS: [&str; 3] = ["instance of 'std::bad_alloc'", "what(): std::bad_alloc", "Error: std::bad_alloc"];
    // If Linux states the size, it is an amount.
    let is_killed = text.contains(KILLED) && !text.contains("anon-rss:");
    (is_killed || WORDS.iter().any(|words| text.contains(words))).then_some(RefusalCause::HostMemory)
}

/// `Ran out of memory in memory space smem.`, without sizes after it.
fn no_space(text: &str) -> Option<RefusalCause> {
    let rest = NO_SPACE.iter().find_map(|words| text.get(text.find(words)?..))?;
    let space = name(after(rest, "in memory space ")?)?;
    let space = if space == "smem" { memory_space::SMEM } else { memory_space::SEMAPHORE };
    let has_sizes = rest.contains("Used ") || rest.contains("llocation");
    (!has_sizes).then(|| RefusalCause::NoSpace { space, is_internal: rest.contains("should not be possible") })
}

/// `Length of grid does not match length of dimension semantics. len(grid)=2, len(dimension_semantics)=1`
fn grid_semantics(text: &str) -> Option<RefusalCause> {
    let rest = after(text, "does not match length of dimension semantics")?;
    let lengths = number_after(rest, "len(grid)=").zip(number_after(rest, "len(dimension_semantics)="))?;
    Some(RefusalCause::GridSemantics { grid: lengths.0, semantics: lengths.1 })
}

/// What Pallas says about types that it does not translate: `Reductions over int8 not implemented.`, and of unsigned integers of any size
/// `Reductions over unsigned integers not implemented.`
fn lowering_type(text: &str) -> Option<RefusalCause> {
    const WORDS: [(&str, &str); 6] = [
        ("Reductions over ", " not implemented"),
        ("Unsigned integer dtype ", " is not supported"),
        ("can be converted to scalars, but got: ", ""),
        ("Unsupported dtype in cmp: ", ""),
        ("Unsupported dtype for mulhi: ", ""),
        ("Unsupported dtype for sign: ", ""),
    ];
    WORDS.iter().find_map(|(words, end)| {
        let rest = after(text, words).filter(|rest| rest.contains(end))?;
        if rest.starts_with("unsigned integers ") {
            return Some(RefusalCause::LoweringType { element_type: None });
        }
        Some(RefusalCause::LoweringType { element_type: Some(ElementType::from_any_name(&name(rest)?)?) })
    })
}

/// `Pallas TPU requires a recent libtpu version (at least 0.0.46). Found version string: …`
fn old_compiler(text: &str) -> Option<RefusalCause> {
    let least = between(text, "requires a recent libtpu version (at least ", ")")?;
    Some(RefusalCause::OldCompiler { least: least.chars().take(20).collect() })
}

/// `Autotuning failed for HLO: %fusion = pred[] fusion(...), kind=kInput with error: NOT_FOUND: No valid config found!`
fn autotuning(text: &str) -> Option<RefusalCause> {
    let instruction = name(after(text, "Autotuning failed for HLO: ")?.trim_start_matches('%'))?;
    Some(RefusalCause::Autotuning { instruction })
}

/// `unregistered operation 'tpu.wait_dma' found in dialect ('tpu')`
fn unknown_operation(text: &str) -> Option<RefusalCause> {
    let operation = quoted(after(text, "unregistered operation ")?, '\'')?;
    Some(RefusalCause::UnknownOperation { operation })
}

/// The message of XLA:GPU's launches of kernels that asked for too much; newer releases state sizes.
fn shared_memory(text: &str) -> Option<RefusalCause> {
    text.contains("Shared memory requested exceeds device resources").then_some(RefusalCause::SharedMemory)
}

/// `current allocation offset upper bound (140704 words) exceeds the legitimate user allocatable offset upper bound (131071 words) in
/// memory space 201 when allocating 23440 words`; some releases name the memory space.
fn sparse_core(text: &str) -> Option<RefusalCause> {
    let (before, rest) = text.split_once("exceeds the legitimate user allocatable offset upper bound (")?;
    let words = number_after(before, "offset upper bound (").zip(number(rest)).map(|(needed, limit)| [needed, limit]);
    let space = after(rest, "in memory space ")?;
    let space = number(space).or(match name(space)?.as_str() {
        "smem" => Some(0),
        "tile_spmem" => Some(201),
        "spmem" => Some(202),
        "hbm" => Some(203),
        "sflag" => Some(204),
        _ => None,
    })?;
    Some(RefusalCause::SparseCoreMemory { space, words, last: number_after(rest, "when allocating ") })
}

fn replica_count(text: &str) -> Option<RefusalCause> {
    let rest = after(text, "No viable logical replica count for the embedding table with metadata:")?;
    let figure = |part: &str| {
        let (name, value) = part.split_once(" = ")?;
        let name = name.rsplit(['(', ' ']).next()?;
        Some((name.to_owned(), number(value)?))
    };
    Some(RefusalCause::ReplicaCount { figures: rest.split(", ").filter_map(figure).take(12).collect() })
}

/// `layout minor_to_major field contains 0 elements, but shape is rank 4: {}; shape: element_type: PRED dimensions: 10 …`
fn layout_rank(text: &str) -> Option<RefusalCause> {
    let rest = after(text, "minor_to_major field contains ")?;
    let (found, expected) = (number(rest)?, number_after(rest, "but shape is rank ")?);
    let array = after(rest, "shape: ").and_then(shape_message).or_else(|| match find_shapes(rest).next()?.shape {
        Shape::Array(array) => Some(array),
        _ => None,
    });
    Some(RefusalCause::LayoutRank { found, expected, array })
}

/// The array in a `ShapeProto` that is printed as text: `element_type: F32 dimensions: 2 layout { minor_to_major: 0 }`.
pub(crate) fn shape_message(text: &str) -> Option<ArrayShape> {
    let mut words = text.split_whitespace();
    let (mut element, mut dimensions, mut order) = (None, Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        match word {
            "element_type:" => {
                if element.is_some() {
                    break;
                }
                element = ElementType::from_any_name(&words.next()?.to_ascii_lowercase());
            }
            "dimensions:" => dimensions.push(words.next()?),
            "minor_to_major:" => order.push(words.next()?),
            _ => {}
        }
        if dimensions.len() > 64 || order.len() > 64 {
            return None;
        }
    }
    let layout = if order.is_empty() { String::new() } else { alloc::format!("{{{}}}", order.join(",")) };
    ArrayShape::from_str(&alloc::format!("{}[{}]{layout}", element?.name(), dimensions.join(","))).ok()
}

/// `The compiler was not able to go from sharding {…} to {…} without doing a full rematerialization of the tensor for HLO operation:
/// %x = …`, or, of newer releases, `cannot go from sharding {…} to {…} efficiently for HLO operation %x = …`
fn full_replication(text: &str) -> Option<RefusalCause> {
    let rest = after(text, "nvoluntary full rematerialization")?;
    let rest = after(rest, "sharding ")?;
    let ends = [" without doing a full rematerialization", " efficiently for HLO operation"];
    let (shardings, operation) = ends.iter().find_map(|end| rest.split_once(end))?;
    // The metadata of a sharding may contain the word, too.
    let (from, to) = match shardings.find("} to {") {
        Some(end) => (&shardings[..=end], &shardings[end + "} to ".len()..]),
        None => shardings.split_once(" to ")?,
    };
    let shardings = [from, to].map(|text| Sharding::from_str(text.trim()).ok());
    let shard = find_shapes(operation).find_map(|found| match found.shape {
        Shape::Array(array) => Some(array),
        _ => None,
    });
    Some(RefusalCause::FullReplication {
        array: shard.zip(shardings[0].as_ref()).and_then(|(shard, sharding)| whole(&shard, sharding)),
        shardings: Box::new(shardings),
        texts: [from.trim().to_owned(), to.trim().to_owned()],
    })
}

/// The whole array, if its shards have this shape and it is divided evenly. The message has the shape of a shard, because the partitioner prints the
/// instruction of the divided program (`PartitionedHlo::hlo` in `xla/service/spmd/spmd_partitioner.cc`).
fn whole(shard: &ArrayShape, sharding: &Sharding) -> Option<ArrayShape> {
    // The number of tiles does not depend on the sizes.
    let partition = sharding.partition(shard).ok()?;
    let mut dimensions = shard.dimensions().to_vec();
    for (dimension, tiles) in dimensions.iter_mut().zip(partition.tiles()) {
        *dimension = Dimension::Static(dimension.extent()?.checked_mul(*tiles)?);
    }
    ArrayShape::new(shard.element_type(), &dimensions, shard.layout().clone()).ok()
}

/// Messages about an operation that has no instruction for its element types.
fn element_type(text: &str) -> Option<RefusalCause> {
    const WORDS: [&str; 8] = [
        "Unsupported type",
        "Please cast your input",
        "Target does not support this",
        "failed to legalize operation",
        "Invalid vector type for load",
        "only supported for 32-bit types",
        "Only 32-bit",
        "Unsupported element type",
    ];
    if let Some(rest) = after(text, "must be vector of integer or index values, but got ") {
        let types = types(rest, "vector").iter().take(1).map(|vector| vector.element_type()).collect();
        return Some(RefusalCause::ElementType { types, is_move: false });
    }
    let at = WORDS.iter().filter_map(|words| text.find(words)).min()?;
    let rest = text.get(at..)?;
    let named = after(rest, "The MLIR operation involved:").and_then(operation).unwrap_or_default();
    let is_move = ["load", "store", "pack", "ext", "trunc"].iter().any(|word| named.contains(word));
    let operation = after(rest, "The MLIR operation involved:").unwrap_or(rest);
    let mut found = Vec::new();
    // For a load, the message has the type of the array in memory (`memref`); for any other operation, the types of the vectors.
    for array in types(operation, "vector").into_iter().chain(types(operation, "memref")) {
        if !found.contains(&array.element_type()) && found.len() < 4 {
            found.push(array.element_type());
        }
    }
    if let Some(named) = after(rest, "but got ").and_then(|rest| quoted(rest, '\'')) {
        found = ElementType::from_any_name(&named).into_iter().collect();
    }
    // If the operands have 32 bits, their type is not the reason.
    if !found.is_empty() && found.iter().all(|found| found.bits() == 32) {
        return None;
    }
    found.retain(|found| found.bits() != 32);
    Some(RefusalCause::ElementType { types: found, is_move })
}

fn kernel(text: &str) -> Option<RefusalCause> {
    let rest = after(text, "Mosaic failed to compile TPU kernel")?;
    let message = after(rest, ": ")?;
    let ends = [" at location:", ".at location:", " The MLIR operation", " See https://", " Please report", " NOTE:"];
    let end = ends.iter().filter_map(|end| message.find(end)).min().unwrap_or(message.len());
    let message: String = message.get(..end)?.chars().take(300).collect();
    (!message.trim().is_empty()).then(|| RefusalCause::Kernel { message: message.trim().to_string() })
}

/// Finds two shapes in a sentence that says that they differ.
pub(super) fn unequal_shapes(text: &str) -> Option<Refusal> {
    if text.len() < 16 || !text.contains(['[', '<']) {
        return None;
    }
    let mut found: Vec<_> = find_shapes(text).chain(find_spelled_shapes(text)).take(3).collect();
    sort_by_key(&mut found, |found| found.span.start);
    let [first, second] = found.as_slice() else { return None };
    let (before, connection) = (text.get(..first.span.start)?, text.get(first.span.end..second.span.start)?);
    let says = |text: &str, words: &[&str]| words.iter().any(|words| text.contains(words));
    // Words between the two shapes, or before the first one, say that the shapes should agree.
    const BETWEEN: [&str; 12] = [
        " vs",
        " got",
        "!=",
        " but ",
        "not equal",
        "not match",
        "not compatible",
        "incompatible",
        "mismatch",
        "instead of",
        "expected",
        "differs from",
    ];
    const BEFORE: [&str; 7] =
        ["mismatch", "ncompatible", "differ", "do not match", "xpected", "must be equal", "annot concatenate"];
    let is_sentence = connection.len() <= 200 && !connection.contains(" = ");
    let shardings = sharding(connection).zip(sharding(text.get(second.span.end..)?));
    let shardings =
        shardings.filter(|(first, second)| first != second).map(|(first, second)| Box::new([first, second]));
    let is_said = says(connection, &BETWEEN)
        || (says(before, &BEFORE)
            && says(connection, &[" and ", " to ", " with ", ", ", "; actual", "actual", "found"]));
    if !is_sentence || !is_said || (first.shape == second.shape && shardings.is_none()) {
        return None;
    }
    let shapes = [first.shape.clone(), second.shape.clone()];
    // This is how XLA's verifier begins a message, which is about an instruction that the compiler itself made.
    let is_internal = before.contains("xpected instruction to have shape");
    let cause = RefusalCause::UnequalShapes { shapes, shardings, is_internal };
    Some(Refusal { line: 1, name: None, operation: None, source: None, cause })
}

/// The first sharding in a text: the first braces whose content is one.
fn sharding(text: &str) -> Option<Sharding> {
    text.match_indices('{').find_map(|(at, _)| {
        let rest = text.get(at..)?;
        let end = closing(rest.as_bytes().get(1..)?, &[CURLY])?.checked_add(1)?;
        rest.get(..end.checked_add(1)?)?.parse().ok()
    })
}
