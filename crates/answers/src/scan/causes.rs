//! Why a compiler or a runtime refused something, and what helps: as data from the message, and in words.

use super::amounts::{amount_words, names};
use super::difference::{differences, sharding_difference, with_size};
#[cfg(feature = "through")]
use super::instruction::InProgram;
use super::parts::{self, LargePart};
use super::remedies::{self, RemedyFields};
use super::trial::{Trial, TrialFields, Tried};
use crate::json_line;
use crate::numbers::{InUnits, bracketed, count};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::tpu::Generation;
use xla_shape_core::tpu::vector::VectorLayout;
use xla_shape_core::{ArrayShape, ElementType, Shape, memory_space};
use xla_shape_hlo::{AmountCause, Halt, Library, Refusal, RefusalCause, Remedy, ReportedAmount};

/// Why something was refused: what a message says, with what would help. Its JSON has sentences.
#[derive(Clone, PartialEq, Debug, JsonSchema)]
#[schemars(with = "Fields<'static>", inline)]
pub struct Cause {
    /// What was refused.
    pub refused: Refused,
    /// The parts that take most of the amount.
    pub parts: Vec<LargePart>,
    /// What would help, the most likely first.
    pub remedies: Vec<Help>,
    /// Remedies that a compiler was asked about and refused.
    pub refuted: Vec<Help>,
    /// The instruction that the message is about, if a given program certainly has it.
    #[cfg(feature = "through")]
    pub instruction: Option<InProgram>,
}

/// A message that says that something was refused.
///
/// ```
/// use xla_shape_answers::scan::{Refused, Scan};
///
/// let mut scan = Scan::default();
/// scan.read_line(b"Scoped allocation with size 24.00M and limit 16.00M exceeded scoped vmem limit by 8.00M.");
/// let cause = &scan.causes()[0];
/// let Refused::Memory(amount) = &cause.refused else { panic!("memory") };
/// assert_eq!((amount.limit, cause.refused.kind()), (Some(16 << 20), "scoped_vmem"));
/// assert!(cause.what().starts_with("a kernel needs 24 MiB of VMEM, 8 MiB too much"));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Refused {
    /// Memory that was not available.
    Memory(ReportedAmount),
    /// Anything else.
    Other(Refusal),
}

impl Refused {
    /// The kind of message: the cause of an amount, or what else was refused, such as `unproven_index`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Memory(amount) => amount.cause.name(),
            Self::Other(refusal) => refusal.cause.name(),
        }
    }

    /// XLA's code for such a message, such as `E1001`; `None` if its catalogue of errors has none.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Memory(amount) => amount.cause.code(),
            Self::Other(refusal) => refusal.code(),
        }
    }

    /// The number of the message's first line, from 1.
    #[must_use]
    pub const fn line(&self) -> u64 {
        match self {
            Self::Memory(amount) => amount.line,
            Self::Other(refusal) => refusal.line,
        }
    }

    /// The program or the kernel, if the message says which.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Memory(amount) => amount.name.as_deref(),
            Self::Other(refusal) => refusal.name.as_deref(),
        }
    }

    /// The file and the line in the user's program, if the message says where.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        match self {
            Self::Memory(_) => None,
            Self::Other(refusal) => refusal.source.as_deref(),
        }
    }
}

/// A cause in JSON.
#[derive(Serialize, JsonSchema)]
struct Fields<'a> {
    /// The number of the message's first line, from 1.
    line: u64,
    /// XLA's code for such a message, such as "E1001"; null if its catalogue of errors has none.
    code: Option<&'static str>,
    /// The kind of message: the cause of an amount, or what else was refused, such as "unproven_index".
    kind: &'static str,
    /// The program or the kernel; null if the message does not say.
    name: Option<&'a str>,
    /// The file and the line in the user's program; null if the message does not say.
    source: Option<&'a str>,
    /// The instruction of the given program that makes this change of sharding, if that is certain; missing otherwise.
    #[cfg(feature = "through")]
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<&'a InProgram>,
    /// What was refused, as a sentence.
    what: String,
    /// What is known about it, as sentences.
    details: Vec<String>,
    /// What would help, the most likely first.
    remedies: &'a [Help],
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields().serialize(serializer)
    }
}

/// What would help.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Help {
    /// The remedy.
    #[serde(flatten, serialize_with = "super::remedies::serialize")]
    #[schemars(with = "RemedyFields")]
    pub remedy: Remedy,
    /// What a compiler said of the program with this remedy; missing without a program, and for remedies that a compiler cannot try.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "super::trial::serialize")]
    #[schemars(with = "Option<TrialFields<'static>>")]
    pub trial: Option<Trial>,
}

/// What to do, as a sentence.
impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&remedies::text(&self.remedy))
    }
}

impl Cause {
    /// The cause if memory ran out; `None` if the message does not say why.
    pub(super) fn of_amount(amount: &ReportedAmount, after: &[ReportedAmount], trials: &[Tried]) -> Option<Self> {
        let (remedies, refuted) = helps(amount.line, amount.remedies(), trials);
        let refused = Refused::Memory(amount.clone());
        let parts = parts::large(amount, after);
        // Some messages do not say why memory ran out: `None` for these.
        amount_words(amount).map(|_| Self::new(refused, parts, (remedies, refuted)))
    }

    /// The cause of any other refusal.
    pub(super) fn of_refusal(refusal: Refusal, trials: &[Tried]) -> Self {
        let (remedies, refuted) = helps(refusal.line, refusal.cause.remedies(), trials);
        Self::new(Refused::Other(refusal), Vec::new(), (remedies, refuted))
    }

    fn new(refused: Refused, parts: Vec<LargePart>, (remedies, refuted): (Vec<Help>, Vec<Help>)) -> Self {
        Self {
            refused,
            parts,
            remedies,
            refuted,
            #[cfg(feature = "through")]
            instruction: None,
        }
    }

    /// What was refused, as a sentence.
    #[must_use]
    pub fn what(&self) -> String {
        self.sentences().0
    }

    /// What is known about it, as sentences.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        self.sentences().1
    }

    /// Sentences about what was refused, and what is known about it.
    fn sentences(&self) -> (String, Vec<String>) {
        let (what, mut details) = match &self.refused {
            Refused::Memory(amount) => amount_words(amount).unwrap_or_default(),
            Refused::Other(refusal) => refusal_words(refusal),
        };
        #[cfg(feature = "through")]
        details.extend(self.instruction.as_ref().map(InProgram::sentence));
        for help in &self.refuted {
            let message = match &help.trial {
                Some(Trial::Refused { message }) => message.lines().next().unwrap_or("").trim().trim_end_matches('.'),
                _ => "",
            };
            details.push(format!("Tried, and refused by the compiler ({message}): {help}"));
        }
        for part in &self.parts {
            details.push(part.to_string());
        }
        (what, details)
    }

    fn fields(&self) -> Fields<'_> {
        let Self { refused, remedies, .. } = self;
        let (what, details) = self.sentences();
        Fields {
            line: refused.line(),
            code: refused.code(),
            kind: refused.kind(),
            name: refused.name(),
            source: refused.source(),
            #[cfg(feature = "through")]
            instruction: self.instruction.as_ref(),
            what,
            details,
            remedies,
        }
    }

    /// The whole content without the line number, to recognise repeated messages.
    pub(super) fn without_line(&self) -> String {
        json_line(&Fields { line: 0, ..self.fields() })
    }

    /// Whether this is about the arrays in HBM.
    #[must_use]
    pub const fn is_about_hbm(&self) -> bool {
        let Refused::Memory(amount) = &self.refused else { return false };
        matches!(
            amount.cause,
            AmountCause::Program
                | AmountCause::Loading
                | AmountCause::SparseCore
                | AmountCause::Array
                | AmountCause::Gpu
                | AmountCause::Rematerialization
        )
    }
}

/// The remedies for the message in a line, in two lists. The first has those that the compiler did not refuse, beginning with those with which the
/// program compiled; the second has those that it refused.
fn helps(line: u64, remedies: Vec<Remedy>, trials: &[Tried]) -> (Vec<Help>, Vec<Help>) {
    let (mut helps, mut refuted) = (Vec::new(), Vec::new());
    for remedy in remedies {
        let tried = trials.iter().find(|(of, other, _)| *of == line && *other == remedy);
        let trial = tried.map(|(.., trial)| trial.clone());
        let list = if matches!(trial, Some(Trial::Refused { .. })) { &mut refuted } else { &mut helps };
        list.push(Help { remedy, trial });
    }
    sort_by_key(&mut helps, |help| !matches!(help.trial, Some(Trial::Compiles { .. })));
    (helps, refuted)
}

/// A sentence about the generations that can multiply operands of these types: one type for both operands, or one for each. The sentence calls the
/// types `named`. Without types, it says what generations can multiply in general.
fn product_types(types: &[ElementType], named: &str) -> String {
    let operands = match types {
        [one] => Some((*one, *one)),
        [left, right, ..] => Some((*left, *right)),
        [] => None,
    };
    let Some((left, right)) = operands else {
        return "Every generation multiplies f32, those since v4 also bf16; others depend on the generation."
            .to_owned();
    };
    let able = Generation::ALL.iter().copied().filter(|generation| generation.multiplies(left, right));
    match names(&able.collect::<Vec<_>>()) {
        able if able.is_empty() => format!("No generation multiplies {named} without a conversion."),
        able => format!("Without a conversion, {named} can be multiplied on {able}."),
    }
}

fn type_names(types: &[ElementType]) -> String {
    types.iter().map(|found| found.name()).collect::<Vec<_>>().join(" and ")
}

/// The array in a sentence: `f32[8,1024]`.
fn bare(array: Option<&ArrayShape>) -> String {
    array.map_or("the array".to_owned(), |array| array.without_layout().to_string())
}

/// Sentences about what was refused, and what is known about it.
fn refusal_words(refusal: &Refusal) -> (String, Vec<String>) {
    let kernel = refusal.name.as_ref().map_or("the kernel".to_owned(), |name| format!("the kernel {name}"));
    let operation = refusal.operation.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    match &refusal.cause {
        RefusalCause::InputMismatch { parameter, bytes: [expected, found], arrays } => {
            let program = refusal.name.as_deref().unwrap_or("the program");
            match arrays {
                Some([of_program, of_array]) => (
                    format!(
                        "parameter {parameter} of {program}: the program expects {}; the array is {}.",
                        with_size(&Shape::Array(of_program.clone())),
                        with_size(&Shape::Array(of_array.clone()))
                    ),
                    differences(&Shape::Array(of_program.clone()), &Shape::Array(of_array.clone())),
                ),
                None => (
                    format!(
                        "parameter {parameter} of {program}: the program expects {}; the array has {}.",
                        count(*expected, "byte", "bytes"),
                        count(*found, "byte", "bytes")
                    ),
                    vec!["The message has no shapes: another type, another shape or another padding.".to_owned()],
                ),
            }
        }
        RefusalCause::CoreHalt(halt) => (
            format!(
                "a core of the TPU stopped{}.",
                refusal.name.as_ref().map(|name| format!(" in %{name}")).unwrap_or_default()
            ),
            vec![
                match halt {
                    Halt::Machine => "The message names a fault of the machine, its network or its power.",
                    Halt::Instruction => {
                        "An instruction that the machine does not allow, which the compiler should not have made."
                    }
                    Halt::OtherProgram => "Devices that should run the same program run different ones.",
                    Halt::Bounds => "A copy or an access is outside of its array.",
                    Halt::Semaphore => "A semaphore of a kernel is not zero at the end.",
                    _ => "The message does not say why.",
                }
                .to_owned(),
            ],
        ),
        RefusalCause::HostOutput { value } => {
            let from = if value.is_empty() { String::new() } else { format!(", from %{value} on") };
            (
                format!(
                    "an output is in host memory, S({}){from}, but the signature of the program says that it is in the device's memory.",
                    memory_space::HOST
                ),
                Vec::new(),
            )
        }
        RefusalCause::HostUse { value, user } => {
            let layouts = "If the program has none there, it comes from two layouts of the value.";
            let is_move = ["transpose", "copy", "bitcast"].iter().any(|name| user.starts_with(name));
            (
                format!("%{user} reads a value in host memory, S({}), from %{value} on.", memory_space::HOST),
                ["In host memory, a value can only be moved, sliced and updated."]
                    .into_iter()
                    .chain(is_move.then_some(layouts))
                    .map(str::to_owned)
                    .collect(),
            )
        }
        RefusalCause::HostCompute { instructions } => {
            let names = instructions.iter().map(|name| format!("%{name}")).collect::<Vec<_>>().join(", ");
            (
                format!("the compiler runs {names} on the host, because operands are in host memory."),
                vec!["This is a warning: on the host, they take much longer.".to_owned()],
            )
        }
        RefusalCause::InstructionVmem { instruction, operands } => {
            let name =
                instruction.as_ref().map_or("an instruction".to_owned(), |name| format!("the instruction %{name}"));
            let operands = operands.map(|operands| format!(" It has {}.", count(operands, "operand", "operands")));
            (
                format!("{name} needs more VMEM than there is. XLA made it; it is not part of a kernel."),
                vec![format!(
                    "XLA should not make such an instruction.{} Other layouts or less HBM do not help.",
                    operands.unwrap_or_default()
                )],
            )
        }
        RefusalCause::MatmulType { types } => {
            let names = if types.is_empty() { "these types".to_owned() } else { type_names(types) };
            (format!("the matrix unit of this TPU does not multiply {names}."), vec![product_types(types, &names)])
        }
        RefusalCause::MatmulPrecision { element_type } => {
            let of = element_type.map(|found| format!(" of {found}")).unwrap_or_default();
            (
                format!("the product{of} asks for the precision of f32 (Precision.HIGHEST), which only f32 has."),
                Vec::new(),
            )
        }
        RefusalCause::BlockShape { argument, block, array, tile } => {
            let whole = if array.is_empty() { String::new() } else { format!(" of an array {}", bracketed(array)) };
            (
                format!("the block {}{whole} ({argument}) does not consist of whole tiles.", bracketed(block)),
                vec![format!(
                    "The last {} must be multiples of {}, or those of the array.",
                    count(tile.len() as u64, "size", "sizes"),
                    tile.iter().map(u64::to_string).collect::<Vec<_>>().join(" and ")
                )],
            )
        }
        RefusalCause::UnprovenIndex { dimension, multiple, array } => (
            format!(
                "{kernel} indexes dimension {dimension} of {}{operation}, which has tiles of {multiple} there: the compiler must \
                 be able to prove that the index is a multiple of {multiple}.",
                bare(array.as_ref())
            ),
            Vec::new(),
        ),
        RefusalCause::SliceSize { dimension, multiple, size, array } => {
            let stated = size.map_or("the size".to_owned(), |size| format!("the size is {size} and"));
            let provable = "If it is known only at run time, the compiler must be able to prove that it is.";
            (
                format!(
                    "{kernel} slices dimension {dimension} of {}{operation}: {stated} must be a multiple of {multiple}, the size of \
                     the tile.",
                    bare(array.as_ref())
                ),
                if size.is_none() { vec![provable.to_owned()] } else { Vec::new() },
            )
        }
        RefusalCause::TransferLine { multiple_bytes, is_offset, array } => {
            let part = if *is_offset {
                "begins in the middle of a word of the memory"
            } else {
                "has lines that are too short"
            };
            let line = array.as_ref().filter(|_| !is_offset).and_then(|array| {
                let size = array.dimensions().last()?.extent()?;
                let bytes = size.checked_mul(array.element_type().bits())?.checked_div(8)?;
                Some(format!(" A line has {} ({size} of {}).", count(bytes, "byte", "bytes"), array.element_type()))
            });
            (
                format!("{kernel} copies {}{operation}, which {part}.", bare(array.as_ref())),
                vec![format!(
                    "{} must be a multiple of {}.{}",
                    if *is_offset { "Where a line begins" } else { "The length of a line" },
                    count(*multiple_bytes, "byte", "bytes"),
                    line.unwrap_or_default()
                )],
            )
        }
        RefusalCause::StridedLoad { array } => (
            format!("{kernel} loads {} with a stride, which needs a last dimension of 128.", bare(array.as_ref())),
            Vec::new(),
        ),
        RefusalCause::OperandLayout { operand, shapes } => {
            let [expected, found] = &**shapes;
            let operand = operand.map_or("an operand".to_owned(), |number| format!("operand {number}"));
            (
                format!(
                    "{operand} of the kernel: the kernel expects {}; XLA gives it {}.",
                    with_size(expected),
                    with_size(found)
                ),
                differences(expected, found),
            )
        }
        RefusalCause::VectorLayout { layout, vectors } => {
            let what = layout.as_ref().map_or("a layout".to_owned(), |layout| format!("the vector layout {layout}"));
            let of = vectors.first().map(|vector| format!(" of {}", bare(Some(vector)))).unwrap_or_default();
            (
                format!("{kernel} has an operation{operation} that does not take {what}{of}."),
                layout_words(layout.as_deref()),
            )
        }
        RefusalCause::ShapeCast { sizes } => {
            let what = sizes
                .as_ref()
                .map(|[from, to]| format!(" from {} to {}", bracketed(from), bracketed(to)))
                .unwrap_or_default();
            (
                format!("{kernel} reshapes a vector{what}, for which the compiler has no code."),
                vec![
                    "It can merge and split dimensions if the last one stays, or is a multiple of 128 on both sides."
                        .to_owned(),
                ],
            )
        }
        RefusalCause::ElementType { types, .. } => {
            let types = if types.is_empty() { "these types".to_owned() } else { type_names(types) };
            (format!("this TPU has no instruction for an operation{operation} of {kernel} on {types}."), Vec::new())
        }
        RefusalCause::Primitive { primitive, is_for_gpu } => {
            let devices = if *is_for_gpu { "GPUs" } else { "TPUs" };
            (format!("Pallas does not translate the primitive `{primitive}` for {devices}."), Vec::new())
        }
        RefusalCause::Cast { from, to } => {
            (format!("Pallas does not convert {from} to {to} in a kernel for TPUs."), Vec::new())
        }
        RefusalCause::CudaMemory => {
            let what = "the memory of a GPU ran out, outside of XLA's pool; the message has no sizes.".to_owned();
            let detail =
                "The request is one of CUDA's, such as those of another framework, or of a kernel that is loaded.";
            (what, vec![detail.to_owned()])
        }
        RefusalCause::LibraryMemory { library, is_of_xla, is_certain, free } => {
            let (name, does) = match library {
                Library::Cublas => ("cuBLAS", "products"),
                Library::Cudnn => ("cuDNN", "convolutions and attention"),
                _ => ("NCCL", "collectives"),
            };
            let what = match is_certain {
                true => format!("{name}, the library of {does}, has no room for its own memory on the GPU."),
                false => format!(
                    "{name}, the library of {does}, does not start on the GPU: most likely, it has no room for its own memory."
                ),
            };
            let sizes = free.map(|[free, all]| format!("; of {}, {} are free", InUnits(all), InUnits(free)));
            let sizes = sizes.unwrap_or_else(|| "; the message has no sizes".to_owned());
            let detail = match is_of_xla {
                true => format!("It needs memory outside of the pool that XLA holds{sizes}."),
                false => "The message has no sizes, and is not of XLA.".to_owned(),
            };
            let other =
                "If there is enough memory, this XLA is not built for the GPU, or the driver is too old.".to_owned();
            (what, [detail].into_iter().chain((!is_certain).then_some(other)).collect())
        }
        RefusalCause::CommandBuffer { alive } => {
            let alive = alive.map(|alive| format!(" {} of the process are alive.", count(alive, "graph", "graphs")));
            (
                "the driver of the GPU has no memory for the graph of a command buffer.".to_owned(),
                vec![format!(
                    "A graph takes memory of the driver, outside of the pool that XLA holds.{}",
                    alive.unwrap_or_default()
                )],
            )
        }
        RefusalCause::MessageSize { bytes } => {
            let what = match bytes {
                Some([bytes, limit]) => {
                    format!("a message of gRPC has {}; at most {} are allowed.", InUnits(*bytes), InUnits(*limit))
                }
                None => "a message of gRPC is longer than is allowed.".to_owned(),
            };
            (what, vec!["No memory ran out.".to_owned()])
        }
        RefusalCause::NoCapacity { zone } => {
            (format!("the zone {zone} has no such machine to lend."), vec!["No memory ran out.".to_owned()])
        }
        RefusalCause::HostMemory => {
            let what = "the memory of the host ran out; the message has no sizes.".to_owned();
            (what, vec!["The process asked the operating system, not a device.".to_owned()])
        }
        RefusalCause::NoSpace { space, is_internal } => {
            let name = match *space {
                memory_space::SMEM => "SMEM, the memory of scalars,",
                _ => "synchronization flags",
            };
            let own = is_internal.then(|| "XLA calls it a bug of its own.".to_owned());
            (
                format!("a program needs more {name} than the TPU has; the message has no sizes."),
                own.into_iter().collect(),
            )
        }
        RefusalCause::Code { code } => {
            let name = code.name().map(|name| format!(", {name}")).unwrap_or_default();
            let page = code.page().map(|page| format!("XLA explains it: {page}."));
            let page = page.unwrap_or_else(|| "It is a general code: XLA has no page about it.".to_owned());
            (format!("the message has XLA's code {}{name}, and no other words that are known.", code.id()), vec![page])
        }
        RefusalCause::VectorInSmem => {
            ("a kernel loads a vector from SMEM or stores one there. SMEM holds scalars.".to_owned(), Vec::new())
        }
        RefusalCause::GridSemantics { grid, semantics } => (
            format!(
                "the grid of a kernel has {}, and dimension_semantics has {}.",
                count(*grid, "dimension", "dimensions"),
                count(*semantics, "entry", "entries")
            ),
            Vec::new(),
        ),
        RefusalCause::OldCompiler { least } => {
            (format!("this release of JAX needs libtpu {least} or newer for Pallas."), Vec::new())
        }
        RefusalCause::LoweringType { element_type } => {
            let unsigned =
                "As int32, a sum has the same bits. A maximum or a minimum is wrong if values reach 2147483648.";
            let float =
                "A float32 is exact for integers up to 16777216. Newer releases of JAX reduce int32, such as 0.12.";
            match element_type {
                None => (
                    "Pallas does not translate a reduction of unsigned integers for TPUs.".to_owned(),
                    vec![unsigned.to_owned()],
                ),
                Some(found) => (
                    format!("Pallas does not translate an operation on {found} for TPUs."),
                    (*found == ElementType::S32).then(|| float.to_owned()).into_iter().collect(),
                ),
            }
        }
        RefusalCause::Autotuning { instruction } => (
            format!("XLA's autotuner found no way to compile and run the instruction %{instruction} on this GPU."),
            vec!["Memory is not the reason unless another message says so.".to_owned()],
        ),
        RefusalCause::UnknownOperation { operation } => (
            format!("{kernel} has the operation {operation}, which this compiler does not have."),
            vec!["JAX, which wrote the kernel, and the compiler in libtpu are of releases that do not fit.".to_owned()],
        ),
        RefusalCause::SharedMemory => {
            let kernel = refusal.name.as_ref().map(|program| format!(" of {program}")).unwrap_or_default();
            let what = format!("a kernel{kernel} for a GPU needs more shared memory than a block of threads may have.");
            (what, Vec::new())
        }
        RefusalCause::NoInstruction { what } => {
            (format!("this generation of TPUs has no instruction for an operation of {kernel}: {what}."), Vec::new())
        }
        RefusalCause::NoDirectAccess => ("a kernel loads from an array that is in HBM.".to_owned(), Vec::new()),
        RefusalCause::StoreType { array, value } => {
            (format!("a kernel stores {value} into an array of {array}."), Vec::new())
        }
        RefusalCause::ScalarStore => {
            ("a kernel stores a scalar into VMEM, which holds vectors.".to_owned(), Vec::new())
        }
        RefusalCause::PartitionedKernel => (
            "a kernel is in a program that XLA divides among devices, and XLA cannot divide kernels.".to_owned(),
            Vec::new(),
        ),
        RefusalCause::UnknownDevice { kind } => (
            format!("Pallas lowers the kernel for a TPU, but the device is `{kind}`, which names no generation."),
            Vec::new(),
        ),
        RefusalCause::Kernel { message } => (format!("the compiler refused {kernel}: {message}"), Vec::new()),
        RefusalCause::SparseCoreMemory { space, words, last } => {
            let name = match space {
                0 => "SMEM",
                201 => "TileSpmem, the memory of a tile",
                202 => "Spmem, the memory that its tiles share",
                203 => "HBM",
                204 => "the synchronization flags",
                _ => "unknown",
            };
            let what = match words {
                Some([needed, limit]) => format!(
                    "{} of memory space {space} ({name}) and may use {}: {} too many.",
                    count(*needed, "word", "words"),
                    count(*limit, "word", "words"),
                    count(needed.saturating_sub(*limit), "word", "words")
                ),
                None => format!("more of memory space {space} ({name}) than it may use."),
            };
            let last = last
                .map(|last| format!("The last allocation has {}; a word has 4 bytes.", count(last, "word", "words")));
            (format!("a program for SparseCore needs {what}"), last.into_iter().collect())
        }
        RefusalCause::ReplicaCount { figures } => {
            let figure = |name: &str| figures.iter().find(|(found, _)| found == name).map(|(_, value)| *value);
            let parts = ["fixed_size_allocation_bytes", "row_dependent_size_allocation_bytes"].map(figure);
            let sizes = parts[0].zip(parts[1]).zip(figure("total_spmem_size_bytes")).map(|((fixed, rows), total)| {
                format!(
                    "It needs {} and, for its rows, {}; there are {}.",
                    InUnits(fixed),
                    InUnits(rows),
                    InUnits(total)
                )
            });
            let list = figures.iter().filter(|(name, _)| !name.ends_with("_bytes"));
            let list = list.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
            (
                "an embedding table does not fit into the memory of a SparseCore, however it is divided.".to_owned(),
                sizes.into_iter().chain((!list.is_empty()).then(|| format!("The table has {list}."))).collect(),
            )
        }
        RefusalCause::LayoutRank { found, expected, array } => {
            let shape = array
                .as_ref()
                .map(|array| format!(" Another shape of the message is {}.", with_size(&Shape::Array(array.clone()))));
            (
                format!("a layout orders {}, but its shape has {expected}.", count(*found, "dimension", "dimensions")),
                vec![format!(
                    "The layout of the first shape has no order for {}.{}",
                    count(*expected, "dimension", "dimensions"),
                    shape.unwrap_or_default()
                )],
            )
        }
        RefusalCause::FullReplication { array, shardings, texts: [from, to] } => {
            let bytes = array.as_ref().and_then(ArrayShape::byte_size);
            let moved = bytes.map(|bytes| {
                format!(
                    "Each device gathers all {} of {}, if that is divided evenly, and then takes its part.",
                    InUnits(bytes),
                    bare(array.as_ref())
                )
            });
            let unnamed =
                array.is_none().then(|| "The message does not name the array; newer releases of XLA do.".to_owned());
            let parts = shardings.iter().zip(["before", "after"]).filter_map(|(sharding, when)| {
                let part = sharding.as_ref()?.partition(array.as_ref()?).ok()?.shard().clone();
                Some(format!("A device has {} {when}.", with_size(&Shape::Array(part))))
            });
            (
                format!("the partitioner knows no direct way from {from} to {to}{operation}."),
                moved.into_iter().chain(unnamed).chain(parts).collect(),
            )
        }
        RefusalCause::UnequalShapes { shapes: [first, second], shardings, .. } => {
            let (what, mut details) = match first == second {
                true => (format!("{} is divided in two ways.", with_size(first)), Vec::new()),
                false => {
                    (format!("{} and {} differ.", with_size(first), with_size(second)), differences(first, second))
                }
            };
            details.extend(shardings.as_deref().map(|shardings| sharding_difference([first, second], shardings)));
            (what, details)
        }
        _ => (String::new(), Vec::new()),
    }
}

/// What a vector layout means, if it is the reason for a refusal.
fn layout_words(text: Option<&str>) -> Vec<String> {
    let Some(text) = text else { return Vec::new() };
    if text == "none" {
        return vec!["The operand has no vector layout: it is a scalar or an array in memory.".to_owned()];
    }
    let command = format!("`xla-shape explain SHAPE --vector '{text}'` explains it.");
    match text.parse::<VectorLayout>() {
        Ok(layout) => vec![format!("{layout} is a layout of whole registers. {command}")],
        Err(error) => vec![format!("The layout is not valid: {error}.")],
    }
}
