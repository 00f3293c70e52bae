//! Whether a kernel on a TPU can work on blocks of arrays, and how much VMEM they need.

mod fitting;

pub use fitting::{Fitting, FittingBlock};

use crate::digest::{Digest, Word};
use crate::{Answer, DEFAULT_GENERATION, answer_line};
use schemars::JsonSchema;
use serde::Serialize;
use std::error::Error;
use std::fmt;
use xla_shape_core::tpu::vector::VectorLayout;
use xla_shape_core::tpu::{
    Block, BlockError, DefaultLayoutError, Generation, InMemory, kernel_bytes, row_major_layout, vmem_bytes,
};
use xla_shape_core::{ArrayShape, Dimension};

/// An array or a block of one that a kernel has in VMEM.
///
/// ```
/// use xla_shape_answers::block::{BlockAnswer, Part};
///
/// let scratch = Part::Scratch("f32[8,128]".parse()?);
/// assert_eq!(BlockAnswer::new(&[scratch], None, None)?.vmem_bytes, 4096);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Part {
    /// A block of an array that the kernel reads.
    Input {
        /// The array.
        array: ArrayShape,
        /// The block.
        block: ArrayShape,
    },
    /// A block of an array that the kernel writes.
    Output {
        /// The array.
        array: ArrayShape,
        /// The block.
        block: ArrayShape,
    },
    /// A block of an array, read or written, that is the same in every step of the grid.
    Fixed {
        /// The array.
        array: ArrayShape,
        /// The block.
        block: ArrayShape,
    },
    /// A scratch buffer.
    Scratch(ArrayShape),
}

/// Whether a scratch buffer was given without tiles and in the usual order. It then gets the compiler's layout; otherwise, it keeps its own.
fn is_without_layout(scratch: &ArrayShape) -> bool {
    scratch.layout().tiles().is_empty() && scratch.layout().is_monotonic_with_dim0_major()
}

/// How much VMEM the blocks and buffers of a kernel need, and whether that fits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockAnswer {
    /// The generation of the TPU.
    pub generation: &'static str,
    /// The blocks and scratch buffers.
    pub parts: Vec<Measured>,
    /// The bytes that all parts need.
    pub vmem_bytes: u64,
    /// The bytes of VMEM that the kernel may use.
    pub limit_bytes: u64,
    /// The most bytes that `vmem_limit_bytes` can give a kernel.
    pub most_bytes: u64,
    /// Whether `vmem_bytes` is at most `limit_bytes`.
    pub fits: bool,
    /// The largest blocks that fit, found by halving; null if the given blocks fit, or if no such blocks are found.
    pub fitting: Option<Fitting>,
    /// Whether the generation is the default, because none was named.
    #[serde(skip)]
    pub assumed: bool,
    /// The given limit; if there is none, the compiler's default applies.
    #[serde(skip)]
    pub asked: Option<u64>,
}

/// Why the limit is what it is.
///
/// ```
/// use xla_shape_answers::block::{BlockAnswer, LimitOf, Part};
///
/// let part = Part::Scratch("f32[8,128]".parse()?);
/// assert_eq!(BlockAnswer::new(&[part], None, None)?.limit_of(), Some(LimitOf::Default));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitOf {
    /// The kernel sets no limit, and could set a higher one.
    Default,
    /// The kernel requests more than the compiler gives any kernel.
    Compiler,
}

impl BlockAnswer {
    /// Why the limit has this value; `None` if it is the requested value, or the largest that is possible.
    #[must_use]
    pub fn limit_of(&self) -> Option<LimitOf> {
        match self.asked {
            None if self.limit_bytes < self.most_bytes => Some(LimitOf::Default),
            Some(asked) if asked > self.limit_bytes => Some(LimitOf::Compiler),
            _ => None,
        }
    }
}

/// A block or a scratch buffer in VMEM.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Measured {
    /// What it is.
    pub kind: PartKind,
    /// The array of the block, without a layout; null for a scratch buffer.
    pub array: Option<String>,
    /// The block as it is in VMEM, with its layout.
    pub shape: String,
    /// The bytes of one copy, with padding.
    pub bytes: u64,
    /// How many of `bytes` are padding.
    pub padding_bytes: u64,
    /// `bytes` divided by the bytes of the elements alone.
    pub expansion: f64,
    /// How many copies are in VMEM: 2 if the next block is copied while the kernel works on this one.
    pub copies: u64,
    /// The bytes of all copies.
    pub vmem_bytes: u64,
    /// The vector when the kernel loads the whole block or, if the block is an output's, stores it; null if it is not known.
    pub vector: Option<Vector>,
    /// Why `vector` is null; null if `vector` has a value.
    pub vector_unknown: Option<VectorUnknown>,
}

words! {
    /// What a part of a kernel is.
    pub enum PartKind {
        /// A block of an array that the kernel reads.
        Input = "input",
        /// A block of an array that the kernel writes.
        Output = "output",
        /// A block that is the same in every step of the grid.
        Fixed = "fixed",
        /// A scratch buffer.
        Scratch = "scratch",
    }

    /// Why it is not known in which vector layout a block is loaded or stored.
    pub enum VectorUnknown {
        /// A register cannot hold such an element.
        ElementBits = "registers hold elements of at most 32 bits",
        /// The block has one dimension, or none.
        OneDimension = "no rule is known for blocks of one dimension, for which the compiler chooses among several layouts",
        /// A dimension has a bound instead of a size.
        DynamicSize = "its sizes are known only when the program runs",
        /// The block has a layout that Pallas does not make.
        OtherLayout = "no rule is known for this order of dimensions or these tiles: Pallas gives blocks others",
    }
}

impl VectorUnknown {
    /// Why [`VectorLayout::of_load`] has no answer about a block.
    fn of(block: &ArrayShape) -> Self {
        if block.element_type().bits() > 32 {
            Self::ElementBits
        } else if block.dimensions().len() < 2 {
            Self::OneDimension
        } else if block.dimensions().iter().any(|size| !matches!(size, Dimension::Static(_))) {
            Self::DynamicSize
        } else {
            Self::OtherLayout
        }
    }
}

/// A block as a vector in registers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Vector {
    /// The vector layout, as Mosaic writes it.
    pub layout: String,
    /// The number of registers.
    pub registers: u64,
    /// The vector layout that operations across rows need.
    pub whole_tiles: String,
    /// The steps of the relayout between `layout` and `whole_tiles`; empty if no relayout is needed.
    pub relayout: Vec<String>,
}

impl Vector {
    /// The vector that a kernel loads or stores for a whole block in VMEM.
    fn new(block: &ArrayShape, is_stored: bool) -> Option<Self> {
        let layout = if is_stored { VectorLayout::of_store(block) } else { VectorLayout::of_load(block) }?;
        let size = |dimension: &Dimension| match dimension {
            Dimension::Static(size) => Some(*size),
            _ => None,
        };
        let sizes = block.dimensions().iter().map(size).collect::<Option<Vec<_>>>()?;
        let whole = layout.with_whole_tiles().ok()?;
        // After a load, the relayout makes whole tiles. Before a store, it begins with whole tiles.
        let (from, to) = if is_stored { (whole, layout) } else { (layout, whole) };
        Some(Self {
            layout: layout.to_string(),
            registers: layout.registers(&sizes).ok()?,
            whole_tiles: whole.to_string(),
            relayout: from.relayout(&to, &sizes).ok()?.iter().map(ToString::to_string).collect(),
        })
    }
}

impl Part {
    const fn kind(&self) -> PartKind {
        match self {
            Self::Input { .. } => PartKind::Input,
            Self::Output { .. } => PartKind::Output,
            Self::Fixed { .. } => PartKind::Fixed,
            Self::Scratch(_) => PartKind::Scratch,
        }
    }

    fn measure(&self, generation: Generation) -> Result<Measured, BlockError> {
        let (array, shape, InMemory { copies, bytes }) = match self {
            Self::Input { array, block } | Self::Output { array, block } | Self::Fixed { array, block } => {
                let taken = Block::new(generation, array, block)?;
                let shape = ArrayShape::new(taken.element_type(), block.dimensions(), taken.layout().layout());
                let shape = shape.map_err(|_| BlockError::Layout(DefaultLayoutError::TooLarge))?;
                let InMemory { copies, bytes } = taken.in_memory();
                // Every step uses the same block, so the kernel does not hold a second copy for the next step.
                let copies = if matches!(self, Self::Fixed { .. }) { 1 } else { copies };
                (Some(array.without_layout().to_string()), shape, InMemory { copies, bytes })
            }
            Self::Scratch(shape) => {
                let bytes = vmem_bytes(generation, shape).map_err(BlockError::Layout)?;
                let layout = row_major_layout(generation, shape.element_type(), shape.dimensions());
                let natural = layout.ok().and_then(|layout| shape.clone().with_layout(layout.layout()).ok());
                let natural = natural.filter(|_| is_without_layout(shape));
                (None, natural.unwrap_or_else(|| shape.clone()), InMemory { copies: 1, bytes })
            }
        };
        let data = shape.byte_size().unwrap_or(bytes).saturating_sub(shape.padding_byte_size().unwrap_or(0));
        let vector = Vector::new(&shape, matches!(self, Self::Output { .. }));
        Ok(Measured {
            vector_unknown: vector.is_none().then(|| VectorUnknown::of(&shape)),
            vector,
            kind: self.kind(),
            array,
            shape: shape.to_string(),
            bytes,
            padding_bytes: bytes.saturating_sub(data),
            expansion: if data == 0 { 1.0 } else { bytes as f64 / data as f64 },
            copies,
            vmem_bytes: bytes.saturating_mul(copies),
        })
    }
}

impl BlockAnswer {
    /// Measures the parts of a kernel that may use `limit` bytes of VMEM (`vmem_limit_bytes` in Pallas). Without a limit, the
    /// kernel may use what the compiler gives by default.
    ///
    /// # Errors
    /// If a TPU does not take one of the blocks, or it is not known how much VMEM the compiler gives.
    ///
    /// ```
    /// use xla_shape_answers::block::{BlockAnswer, Part};
    ///
    /// let part = Part::Input { array: "bf16[4096,1000]".parse()?, block: "bf16[104,1000]".parse()? };
    /// let answer = BlockAnswer::new(&[part], None, None)?;
    /// assert_eq!((answer.vmem_bytes, answer.fits), (425_984, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The parts, and how each is held in vector registers:
    ///
    /// ```
    /// use xla_shape_answers::block::{BlockAnswer, KernelError, Part, PartKind, VectorUnknown};
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let block = Part::Input { array: "bf16[4096,1000]".parse()?, block: "bf16[104,1000]".parse()? };
    /// let answer = BlockAnswer::new(&[block, Part::Scratch("f32[1024]".parse()?)], Some(Generation::V5e), None)?;
    /// let [block, scratch] = &answer.parts[..] else { panic!("two parts") };
    /// assert_eq!((block.kind, block.copies, block.padding_bytes), (PartKind::Input, 2, 4992));
    /// assert_eq!(block.vector.as_ref().map(|vector| vector.registers), Some(52));
    /// assert_eq!((scratch.kind, scratch.vector_unknown), (PartKind::Scratch, Some(VectorUnknown::OneDimension)));
    /// let narrow = Part::Input { array: "f32[100,100]".parse()?, block: "f32[3,100]".parse()? };
    /// let error: KernelError = BlockAnswer::new(&[narrow], Some(Generation::V5e), None).unwrap_err();
    /// assert!(error.to_string().contains("multiple of 8"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(parts: &[Part], generation: Option<Generation>, limit: Option<u64>) -> Result<Self, KernelError> {
        Self::placed(parts, &[], generation, limit)
    }

    /// Like [`new`](Self::new), for parts whose places are known: `places` has, for each dimension of each part, the dimension of the grid that
    /// places the block along it; `None` if it is not known.
    pub(crate) fn placed(
        parts: &[Part],
        places: &[Vec<Option<usize>>],
        generation: Option<Generation>,
        limit: Option<u64>,
    ) -> Result<Self, KernelError> {
        let assumed = generation.is_none();
        let generation = generation.unwrap_or(DEFAULT_GENERATION);
        let (measured, vmem_bytes) = Self::measured(parts, generation)?;
        let vmem = generation.kernel_vmem().ok_or(KernelError::Unknown(generation))?;
        let limit_bytes = vmem.limit(limit);
        let fits = vmem_bytes <= limit_bytes;
        Ok(Self {
            generation: generation.name(),
            parts: measured,
            vmem_bytes,
            limit_bytes,
            most_bytes: vmem.most,
            fits,
            fitting: if fits { None } else { fitting::fitting(parts, places, generation, limit_bytes) },
            assumed,
            asked: limit,
        })
    }

    /// The parts, and the bytes that all of them need.
    fn measured(parts: &[Part], generation: Generation) -> Result<(Vec<Measured>, u64), KernelError> {
        let measured = parts.iter().enumerate().map(|(number, part)| {
            let several = parts.len() > 1;
            part.measure(generation).map_err(|error| KernelError::Block {
                part: several.then(|| format!("{} {}", part.kind(), number_in_kind(parts, number))),
                error,
            })
        });
        let measured = measured.collect::<Result<Vec<_>, _>>()?;
        let in_memory = measured.iter().map(|part| InMemory { copies: part.copies, bytes: part.bytes });
        let bytes = kernel_bytes(&in_memory.collect::<Vec<_>>());
        Ok((measured, bytes))
    }

    /// The next command is about smaller blocks that fit. If the given blocks fit, it is about the compiled kernel.
    fn next(&self) -> Vec<Word> {
        let words = |words: &[&str]| words.iter().map(|&word| word.into()).collect::<Vec<Word>>();
        let mut next = match &self.fitting {
            Some(fitting) => {
                let blocks = fitting.blocks.iter().flat_map(|found| {
                    let option = format!("--{}", found.kind);
                    words(&[&option, &found.array, &found.block])
                });
                let scratch = fitting.scratch.iter().flat_map(|shape| words(&["--scratch", shape]));
                let limit = self.asked.map(|limit| words(&["--vmem-limit", &limit.to_string()])).unwrap_or_default();
                words(&["block"]).into_iter().chain(blocks).chain(scratch).chain(limit).collect()
            }
            None => vec!["kernel".into(), Word::File(0)],
        };
        next.extend(words(&["--for", self.generation]));
        next
    }
}

/// The number of a part among those of its kind, from 1.
fn number_in_kind(parts: &[Part], place: usize) -> usize {
    let kind = parts.get(place).map(Part::kind);
    parts.iter().take(place + 1).filter(|part| Some(part.kind()) == kind).count()
}

impl Answer for BlockAnswer {
    const SCHEMA: &'static str = "xla-shape/block/1";

    fn digest(&self) -> Digest {
        Digest { causes: Vec::new(), next: vec![self.next()] }
    }
}

/// The blocks of a kernel on several generations.
///
/// ```
/// use xla_shape_answers::block::{BlockAnswers, Part};
/// use xla_shape_core::tpu::Generation;
///
/// let part = Part::Input { array: "bf16[4096,1000]".parse()?, block: "bf16[104,1000]".parse()? };
/// let answers = BlockAnswers::new(&[part], &[Generation::V5e, Generation::V6e], None)?;
/// assert_eq!((answers.answers[1].generation, answers.fit()), ("v6e", true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct BlockAnswers {
    /// The answer for each generation.
    pub answers: Vec<BlockAnswer>,
}

impl BlockAnswers {
    /// Measures the parts on each generation; if none is named, on [`DEFAULT_GENERATION`].
    ///
    /// # Errors
    /// As [`BlockAnswer::new`].
    pub fn new(parts: &[Part], generations: &[Generation], limit: Option<u64>) -> Result<Self, KernelError> {
        let asked = generations.iter().map(|&generation| Some(generation)).collect::<Vec<_>>();
        let asked = if asked.is_empty() { vec![None] } else { asked };
        let answers = asked.into_iter().map(|generation| BlockAnswer::new(parts, generation, limit));
        Ok(Self { answers: answers.collect::<Result<_, _>>()? })
    }

    /// Whether the blocks fit on all of the generations.
    #[must_use]
    pub fn fit(&self) -> bool {
        self.answers.iter().all(|answer| answer.fits)
    }
}

impl Answer for BlockAnswers {
    const SCHEMA: &'static str = BlockAnswer::SCHEMA;

    fn json(&self) -> String {
        self.answers.iter().map(|answer| answer_line(Self::SCHEMA, answer)).collect()
    }

    fn digest(&self) -> Digest {
        // Blocks that fit on one generation may not fit on another. Begin with one on which they do not fit.
        let first = self.answers.iter().find(|answer| !answer.fits).or_else(|| self.answers.first());
        Digest { causes: Vec::new(), next: first.map(BlockAnswer::next).into_iter().collect() }
    }
}

/// What is wrong with the blocks that were given, so that the kernel cannot be judged.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum KernelError {
    /// A TPU does not support a block.
    Block {
        /// The block, if there are several, such as `input 2`.
        part: Option<String>,
        /// The reason.
        error: BlockError,
    },
    /// It is not known how much VMEM the compiler gives a kernel on the generation.
    Unknown(Generation),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block { part: Some(part), error } => write!(f, "{part}: {error}"),
            Self::Block { part: None, error } => error.fmt(f),
            Self::Unknown(generation) => write!(f, "how much VMEM a kernel may use on TPU {generation} is not known"),
        }
    }
}

impl Error for KernelError {}
