//! Whether a kernel on a TPU can work on blocks of arrays, and how much VMEM they need.

use crate::tpu::{DEFAULT_GENERATION, cost, named};
use crate::words::{Bytes, column_width, count};
use crate::{Answer, Text};
use serde::Serialize;
use std::error::Error;
use std::fmt;
use xla_shape_core::tpu::vector::VectorLayout;
use xla_shape_core::tpu::{
    Block, BlockError, DOUBLE_BUFFERED, DefaultLayoutError, Generation, InMemory, kernel_bytes, row_major_layout,
    vmem_bytes,
};
use xla_shape_core::{ArrayShape, Dimension};

/// A part of what a kernel has in VMEM.
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

/// How much VMEM the blocks and buffers of a kernel need, and whether that fits.
#[derive(Clone, Debug, Serialize)]
pub struct BlockAnswer {
    generation: &'static str,
    parts: Vec<Measured>,
    /// The bytes of all parts together.
    vmem_bytes: u64,
    /// The bytes of VMEM that the kernel may use.
    limit_bytes: u64,
    /// The most bytes that `vmem_limit_bytes` can give a kernel.
    most_bytes: u64,
    fits: bool,
    /// Whether the generation is the default, because none was named.
    #[serde(skip)]
    assumed: bool,
    /// The limit that was given; without one, the limit is the compiler's default.
    #[serde(skip)]
    asked: Option<u64>,
}

/// One part of a kernel.
#[derive(Clone, Debug, Serialize)]
struct Measured {
    kind: &'static str,
    array: Option<String>,
    /// The block as it is in VMEM.
    shape: String,
    /// The bytes of one copy, with padding.
    bytes: u64,
    padding_bytes: u64,
    expansion: f64,
    /// 2 if the next block is copied while the kernel works on this one.
    copies: u64,
    vmem_bytes: u64,
    /// The vector when the kernel loads all of the block, or stores it; `None` if that is not known.
    vector: Option<Vector>,
    /// Why it is not known.
    vector_unknown: Option<&'static str>,
}

/// Why it is not known in which vector layout a block is loaded or stored: [`VectorLayout::of_load`] has no answer.
fn why_unknown(block: &ArrayShape) -> &'static str {
    if block.element_type().bits() > 32 {
        "registers hold elements of at most 32 bits"
    } else if block.dimensions().len() < 2 {
        "no rule is known for blocks of one dimension, for which the compiler chooses among several layouts"
    } else if block.dimensions().iter().any(|size| !matches!(size, Dimension::Static(_))) {
        "its sizes are known only when the program runs"
    } else {
        "no rule is known for this order of dimensions or these tiles: Pallas gives blocks others"
    }
}

/// A block as a vector in registers.
#[derive(Clone, Debug, Serialize)]
struct Vector {
    layout: String,
    registers: u64,
    /// The layout that operations across rows need.
    whole_tiles: String,
    /// The steps of the relayout between the two; empty if there is none.
    relayout: Vec<String>,
}

impl Vector {
    /// The vector of a block as it is in VMEM.
    fn new(block: &ArrayShape, is_stored: bool) -> Option<Self> {
        let layout = if is_stored { VectorLayout::of_store(block) } else { VectorLayout::of_load(block) }?;
        let size = |dimension: &Dimension| match dimension {
            Dimension::Static(size) => Some(*size),
            _ => None,
        };
        let sizes = block.dimensions().iter().map(size).collect::<Option<Vec<_>>>()?;
        let whole = layout.with_whole_tiles().ok()?;
        let (from, to) = if is_stored { (whole, layout) } else { (layout, whole) };
        Some(Self {
            layout: layout.to_string(),
            registers: layout.registers(&sizes).ok()?,
            whole_tiles: whole.to_string(),
            relayout: from.relayout(&to, &sizes).ok()?.iter().map(ToString::to_string).collect(),
        })
    }

    /// What a load or a store of the whole block brings.
    fn sentence(&self, is_stored: bool) -> String {
        let Self { layout, registers, whole_tiles, relayout } = self;
        let (verb, side) = if is_stored { ("stored", "from") } else { ("loaded", "into") };
        let registers = count(*registers, "register", "registers");
        match relayout.is_empty() {
            true => format!("{verb} as a whole, {registers} in {layout}; no relayout"),
            false => format!(
                "{verb} as a whole, {registers} in {layout}: operations across rows, such as reductions, need a relayout {side} \
                 {whole_tiles}, which {}; elementwise operations usually need none",
                relayout.join(", ")
            ),
        }
    }
}

impl Part {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Input { .. } => "input",
            Self::Output { .. } => "output",
            Self::Fixed { .. } => "fixed",
            Self::Scratch(_) => "scratch",
        }
    }

    fn measure(&self, generation: Generation) -> Result<Measured, BlockError> {
        let (array, shape, InMemory { copies, bytes }) = match self {
            Self::Input { array, block } | Self::Output { array, block } | Self::Fixed { array, block } => {
                let taken = Block::new(generation, array, block)?;
                let shape = ArrayShape::new(taken.element_type(), block.dimensions(), taken.layout().layout());
                let shape = shape.map_err(|_| BlockError::Layout(DefaultLayoutError::TooLarge))?;
                let InMemory { copies, bytes } = taken.in_memory();
                let copies = if matches!(self, Self::Fixed { .. }) { 1 } else { copies };
                (Some(array.without_layout().to_string()), shape, InMemory { copies, bytes })
            }
            Self::Scratch(shape) => {
                let bytes = vmem_bytes(generation, shape).map_err(BlockError::Layout)?;
                let layout = row_major_layout(generation, shape.element_type(), shape.dimensions());
                let natural = layout.ok().and_then(|layout| shape.clone().with_layout(layout.layout()).ok());
                let natural = natural
                    .filter(|_| shape.layout().tiles().is_empty() && shape.layout().is_monotonic_with_dim0_major());
                (None, natural.unwrap_or_else(|| shape.clone()), InMemory { copies: 1, bytes })
            }
        };
        let data = shape.byte_size().unwrap_or(bytes).saturating_sub(shape.padding_byte_size().unwrap_or(0));
        let vector = Vector::new(&shape, matches!(self, Self::Output { .. }));
        Ok(Measured {
            vector_unknown: vector.is_none().then(|| why_unknown(&shape)),
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
    /// use xla_shape_render::Answer;
    /// use xla_shape_render::block::{BlockAnswer, Part};
    ///
    /// let part = Part::Input { array: "bf16[4096,1000]".parse()?, block: "bf16[104,1000]".parse()? };
    /// let answer = BlockAnswer::new(&[part], None, None)?;
    /// assert!(answer.json().contains("\"vmem_bytes\":425984") && answer.json().contains("\"fits\":true"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(parts: &[Part], generation: Option<Generation>, limit: Option<u64>) -> Result<Self, KernelError> {
        let assumed = generation.is_none();
        let generation = generation.unwrap_or(DEFAULT_GENERATION);
        let measured = parts.iter().enumerate().map(|(number, part)| {
            let several = parts.len() > 1;
            part.measure(generation).map_err(|error| KernelError::Block {
                part: several.then(|| format!("{} {}", part.kind(), number_in_kind(parts, number))),
                error,
            })
        });
        let parts = measured.collect::<Result<Vec<_>, _>>()?;
        let vmem = generation.kernel_vmem().ok_or(KernelError::Unknown(generation))?;
        let in_memory = parts.iter().map(|part| InMemory { copies: part.copies, bytes: part.bytes });
        let vmem_bytes = kernel_bytes(&in_memory.collect::<Vec<_>>());
        let limit_bytes = vmem.limit(limit);
        Ok(Self {
            generation: generation.name(),
            parts,
            vmem_bytes,
            limit_bytes,
            most_bytes: vmem.most,
            fits: vmem_bytes <= limit_bytes,
            assumed,
            asked: limit,
        })
    }

    /// Whether the parts fit into the VMEM that the kernel may use.
    #[must_use]
    pub const fn fits(&self) -> bool {
        self.fits
    }
}

/// The number of a part among those of its kind, from 1.
fn number_in_kind(parts: &[Part], place: usize) -> usize {
    let kind = parts.get(place).map(Part::kind);
    parts.iter().take(place.saturating_add(1)).filter(|part| Some(part.kind()) == kind).count()
}

impl Answer for BlockAnswer {
    const SCHEMA: &'static str = "xla-shape/block/1";

    fn text(&self, width: usize) -> Text {
        let Self { generation, parts, vmem_bytes, limit_bytes, most_bytes, fits, assumed, asked } = self;
        let mut text = Text::new(width);
        let verdict = if *fits { "fit into" } else { "do not fit into" };
        let (needed, limit) = (Bytes(*vmem_bytes), Bytes(*limit_bytes));
        text.paragraph(format_args!(
            "The blocks need {needed}, and {verdict} the {limit} of VMEM that a kernel may use on {}.",
            named(generation, *assumed)
        ));
        match asked {
            None if limit_bytes < most_bytes => text.paragraph(format_args!(
                "That is the compiler's limit if the kernel gives no vmem_limit_bytes (--vmem-limit), which can be at most {}.",
                Bytes(*most_bytes)
            )),
            Some(asked) if asked > limit_bytes => text.paragraph(format_args!("The compiler gives no kernel more than that.")),
            _ => {}
        }
        text.paragraph("What the kernel computes needs more where its values do not fit into registers.");
        text.paragraph("");
        let kinds = column_width(parts.iter().map(|part| part.kind.len()));
        for Measured { kind, array, shape, bytes, expansion, copies, vector, vector_unknown, .. } in parts {
            let of = array.as_ref().map_or(String::new(), |array| format!(" of {array}"));
            text.verbatim(format_args!("  {kind:kinds$}  {shape}{of}"));
            let each = cost(Some(*bytes), Some(*expansion));
            let what = match (*kind, *copies) {
                (_, DOUBLE_BUFFERED) => "twice, because the next block is copied while the kernel works on this one",
                ("scratch", _) => "once",
                ("fixed", _) => "once, because it is the same in every step",
                _ => "once, because it is all of the array",
            };
            text.paragraph(format_args!("  {:kinds$}  {each}; {what}", ""));
            if let Some(vector) = vector {
                text.paragraph(format_args!("  {:kinds$}  {}", "", vector.sentence(*kind == "output")));
            }
            if let Some(why) = vector_unknown {
                let verb = if *kind == "output" { "stores" } else { "loads" };
                text.paragraph(format_args!("  {:kinds$}  relayouts of {verb} are not known: {why}", ""));
            }
        }
        text
    }
}

/// Why there is no answer about a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum KernelError {
    /// A TPU does not take a block.
    Block {
        /// Which one, if there are several, such as `input 2`.
        part: Option<String>,
        /// Why it does not.
        error: BlockError,
    },
    /// It is not known how much VMEM the compiler gives a kernel.
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
