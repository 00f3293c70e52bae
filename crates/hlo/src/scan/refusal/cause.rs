//! Why a compiler or a runtime refused something: one variant for each kind of message, with the figures that the message states.

use super::words::{after, between, list, name, number, number_after, quoted, sizes, types};
use super::{Refusal, Remedy};
use crate::scan::find_shapes;
use crate::scan::spelling::find_spelled_shapes;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::str::FromStr;
use xla_shape_core::shard::Sharding;
use xla_shape_core::{ArrayShape, ElementType, Shape};

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
        /// What the line, or where it begins, must be a multiple of, in bytes.
        multiple_bytes: u64,
        /// Whether the place where it begins is wrong, not its length.
        is_offset: bool,
        /// The array that is copied.
        array: Option<ArrayShape>,
    },
    /// A strided load of an array whose last dimension is not 128.
    StridedLoad {
        /// The array.
        array: Option<ArrayShape>,
    },
    /// An operation got a vector in a layout that it does not take.
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
    /// An operation for which this TPU has no instruction with these element types.
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
    /// A kernel in a program that the compiler divides among devices.
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
        /// The words that would be needed, those that there are, and those of the last allocation.
        words: [u64; 3],
    },
    /// An embedding table does not fit into the memory of a SparseCore, however it is divided (E3001).
    ReplicaCount {
        /// The figures of the table and the memory, by the names that the message has.
        figures: Vec<(String, u64)>,
    },
    /// A layout has another number of dimensions than its shape.
    LayoutRank {
        /// How many dimensions the layout has.
        found: u64,
        /// How many the shape has.
        expected: u64,
        /// The shape, if the message states it.
        array: Option<ArrayShape>,
    },
    /// The partitioner gathers a whole array on each device, because it knows no direct way between two shardings.
    FullReplication {
        /// The array.
        array: Option<ArrayShape>,
        /// The sharding before and after.
        shardings: Box<[Option<Sharding>; 2]>,
        /// Their texts.
        texts: [String; 2],
    },
    /// Two shapes in one sentence that should agree and do not.
    UnequalShapes {
        /// The shapes, in the order of the sentence.
        shapes: [Shape; 2],
    },
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
            Self::MatmulType { .. } => "matmul_type",
            Self::MatmulPrecision { .. } => "matmul_precision",
            Self::BlockShape { .. } => "block_shape",
            Self::UnprovenIndex { .. } => "unproven_index",
            Self::SliceSize { .. } => "slice_size",
            Self::TransferLine { .. } => "transfer_line",
            Self::StridedLoad { .. } => "strided_load",
            Self::VectorLayout { .. } => "vector_layout",
            Self::ShapeCast { .. } => "shape_cast",
            Self::ElementType { .. } => "element_type",
            Self::Primitive { .. } => "primitive",
            Self::NoInstruction { .. } => "no_instruction",
            Self::NoDirectAccess => "no_direct_access",
            Self::StoreType { .. } => "store_type",
            Self::ScalarStore => "scalar_store",
            Self::PartitionedKernel => "partitioned_kernel",
            Self::UnknownDevice { .. } => "unknown_device",
            Self::Kernel { .. } => "kernel",
            Self::SparseCoreMemory { .. } => "sparse_core_memory",
            Self::ReplicaCount { .. } => "replica_count",
            Self::LayoutRank { .. } => "layout_rank",
            Self::FullReplication { .. } => "full_replication",
            Self::UnequalShapes { .. } => "unequal_shapes",
        }
    }

    /// Whether the cause is more than that a kernel was refused or that a core stopped.
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
            Self::InputMismatch { .. } | Self::UnequalShapes { .. } => vec![Remedy::OtherArray],
            Self::CoreHalt(halt) => vec![match halt {
                Halt::Machine => Remedy::RunAgain,
                Halt::OtherProgram => Remedy::SameProgram,
                Halt::Bounds => Remedy::CheckIndices,
                Halt::Semaphore => Remedy::PairSemaphores,
                Halt::Instruction | Halt::Unknown => Remedy::Report,
            }],
            Self::HostOutput { .. } => vec![Remedy::HostOutput, Remedy::MoveToDevice],
            // Every generation multiplies bf16, and f32 in several steps.
            Self::MatmulType { types } => {
                let to = if types.iter().any(|found| found.bits() > 16) { ElementType::F32 } else { ElementType::Bf16 };
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
            Self::NoDirectAccess => vec![Remedy::CopyToVmem],
            Self::StoreType { array, .. } => vec![Remedy::Convert { to: *array }],
            Self::ScalarStore => vec![Remedy::StoreVector],
            Self::PartitionedKernel => vec![Remedy::ShardMap],
            Self::UnknownDevice { .. } => vec![Remedy::AbstractMesh],
            Self::Kernel { .. } => vec![Remedy::Report],
            Self::SparseCoreMemory { space: SPARSE_CORE_HBM, .. } => vec![Remedy::SmallerTables, Remedy::Shard],
            Self::SparseCoreMemory { .. } => vec![Remedy::SmallerBlocks, Remedy::Report],
            Self::ReplicaCount { .. } => vec![Remedy::SmallerTables],
            Self::LayoutRank { .. } => vec![Remedy::WholeLayout],
            Self::FullReplication { .. } => vec![Remedy::ConstrainSharding],
        }
    }
}

/// The memory space of a SparseCore that is HBM (`docs/errors/error_3000.md` of XLA).
const SPARSE_CORE_HBM: u64 = 203;

/// The block that is nearest to this one and takes whole tiles: each size is rounded up to a multiple of the tile, or is that of the
/// array.
fn whole_block(block: &[u64], array: &[u64], tile: &[u64]) -> Vec<u64> {
    let of_end = |sizes: &[u64], back: usize| sizes.len().checked_sub(back).and_then(|at| sizes.get(at).copied());
    let whole = |(place, &size): (usize, &u64)| {
        let back = block.len().saturating_sub(place);
        let (multiple, all) = (of_end(tile, back).unwrap_or(1).max(1), of_end(array, back));
        if all == Some(size) {
            return size;
        }
        let rounded = size.max(1).checked_next_multiple_of(multiple).unwrap_or(size);
        all.filter(|all| *all < rounded).unwrap_or(rounded)
    };
    block.iter().enumerate().map(whole).collect()
}

/// Reads a message. Each rule looks for the words of one kind of message.
pub(super) fn read(text: &str) -> Option<Refusal> {
    let text = &text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cause = RULES.iter().find_map(|rule| rule(text))?;
    let name = between(text, "HLO name `", "`")
        .or_else(|| between(text, "Executable(", ")"))
        .or_else(|| between(text, "Error loading program '", "'"));
    let operation = after(text, "The MLIR operation involved:").and_then(operation);
    Some(Refusal { line: 1, name: name.map(ToOwned::to_owned), operation, source: source(text), cause })
}

/// In this order, since a message can have the words of several: the one that says most comes first.
const RULES: [fn(&str) -> Option<RefusalCause>; 19] = [
    input_mismatch,
    core_halt,
    host_output,
    block_shape,
    index,
    slice_size,
    transfer_line,
    matmul,
    strided_load,
    vector_layout,
    shape_cast,
    primitive,
    other_lowering,
    sparse_core,
    replica_count,
    layout_rank,
    full_replication,
    element_type,
    kernel,
];

/// The name of an operation such as `"xir.vector_load"(…)`, without its dialect.
fn operation(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('"')?;
    let (name, _) = rest.split_once('"')?;
    let name = name.rsplit('.').next()?.trim();
    (!name.is_empty() && name.len() <= 60).then(|| name.to_owned())
}

/// The first file and line of a location such as `loc("…"(callsite("f"("/project/errs.py":34:66 …`.
fn source(text: &str) -> Option<String> {
    text.match_indices(".py\"").find_map(|(at, found)| {
        let file = text.get(..at)?.rsplit(['"', '/']).next()?.trim_start();
        let line = number(text.get(at.checked_add(found.len())?..)?.trim_start().strip_prefix(':')?)?;
        (!file.is_empty() && file.len() <= 100).then(|| alloc::format!("{file}.py:{line}"))
    })
}

/// `expected parameter 3 of size 512 (f32[8]{0}) but got buffer with incompatible size 256 (f32[4]{0})`
fn input_mismatch(text: &str) -> Option<RefusalCause> {
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
    let rest = after(text, "Failed to verify that the index at dimension ")?;
    let multiple = number_after(rest, "tile dimension ")?;
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

fn vector_layout(text: &str) -> Option<RefusalCause> {
    let at = ["Invalid input layout", "Invalid output layout", "Invalid layout"]
        .iter()
        .find_map(|words| text.find(words))?;
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

fn primitive(text: &str) -> Option<RefusalCause> {
    let rest = after(text, "Unimplemented primitive in Pallas")?;
    Some(RefusalCause::Primitive { primitive: name(after(rest, ": ")?)? })
}

fn other_lowering(text: &str) -> Option<RefusalCause> {
    // `Invalid dtype for `swap`. Ref dtype: float32. Value dtype: int32.`
    if let Some((array, value)) = after(text, "Ref dtype: ").and_then(|rest| rest.split_once("Value dtype: ")) {
        let element_type = |text: &str| ElementType::from_any_name(&name(text)?);
        return Some(RefusalCause::StoreType { array: element_type(array)?, value: element_type(value)? });
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
    if text.contains("Cannot store scalars to VMEM") {
        return Some(RefusalCause::ScalarStore);
    }
    if text.contains("Mosaic kernels cannot be automatically partitioned") {
        return Some(RefusalCause::PartitionedKernel);
    }
    Some(RefusalCause::UnknownDevice { kind: name(after(text, "Unsupported TPU device kind: ")?)? })
}

/// `current allocation offset upper bound (140704 words) exceeds the legitimate user allocatable offset upper bound (131071 words) in
/// memory space 201 when allocating 23440 words`
fn sparse_core(text: &str) -> Option<RefusalCause> {
    let (before, rest) = text.split_once("exceeds the legitimate user allocatable offset upper bound (")?;
    let needed = number_after(before, "offset upper bound (")?;
    let words = [needed, number(rest)?, number_after(rest, "when allocating ").unwrap_or(0)];
    Some(RefusalCause::SparseCoreMemory { space: number_after(rest, "in memory space ")?, words })
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
/// %x = …`
fn full_replication(text: &str) -> Option<RefusalCause> {
    let rest = after(text, "nvoluntary full rematerialization")?;
    let (shardings, operation) = after(rest, "sharding ")?.split_once(" without doing a full rematerialization")?;
    let (from, to) = shardings.split_once(" to ")?;
    let sharding = |text: &str| Sharding::from_str(text.trim()).ok();
    let array = find_shapes(operation).find_map(|found| match found.shape {
        Shape::Array(array) => Some(array),
        _ => None,
    });
    Some(RefusalCause::FullReplication {
        array,
        shardings: Box::new([sharding(from), sharding(to)]),
        texts: [from.trim().to_owned(), to.trim().to_owned()],
    })
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
    // A load names the memory, any other operation the vectors.
    for array in types(operation, "vector").into_iter().chain(types(operation, "memref")) {
        if !found.contains(&array.element_type()) && found.len() < 4 {
            found.push(array.element_type());
        }
    }
    if let Some(named) = after(rest, "but got ").and_then(|rest| quoted(rest, '\'')) {
        found = ElementType::from_any_name(&named).into_iter().collect();
    }
    // Of operands of 32 bits, the type is not the reason.
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

/// Two shapes in one sentence that says that they differ.
pub(super) fn unequal_shapes(text: &str) -> Option<Refusal> {
    if text.len() < 16 || !text.contains(['[', '<']) {
        return None;
    }
    let mut found: Vec<_> = find_shapes(text).chain(find_spelled_shapes(text)).take(3).collect();
    found.sort_by_key(|found| found.span.start);
    let [first, second] = found.as_slice() else { return None };
    let (before, connection) = (text.get(..first.span.start)?, text.get(first.span.end..second.span.start)?);
    let says = |text: &str, words: &[&str]| words.iter().any(|words| text.contains(words));
    // The words between the shapes say that they should agree, or the words before them do.
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
    const BEFORE: [&str; 6] = ["mismatch", "ncompatible", "differ", "do not match", "xpected", "must be equal"];
    let is_sentence = connection.len() <= 200 && !connection.contains(" = ");
    let is_said = says(connection, &BETWEEN)
        || (says(before, &BEFORE) && says(connection, &[" and ", " to ", ", ", "; actual", "actual", "found"]));
    if !is_sentence || !is_said || first.shape == second.shape {
        return None;
    }
    let shapes = [first.shape.clone(), second.shape.clone()];
    Some(Refusal { line: 1, name: None, operation: None, source: None, cause: RefusalCause::UnequalShapes { shapes } })
}
