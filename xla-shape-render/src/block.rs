//! Whether a kernel on a TPU can work on blocks of an array, and what they need.

use crate::tpu::{USUAL, cost};
use crate::words::Bytes;
use crate::{Answer, Text};
use serde::Serialize;
use xla_shape_core::ArrayShape;
use xla_shape_core::tpu::{Block, BlockError, DOUBLE_BUFFERED, DefaultLayoutError, Generation};

/// What a kernel's block of an array needs in VMEM.
#[derive(Clone, Debug, Serialize)]
pub struct BlockAnswer {
    array: String,
    generation: &'static str,
    /// The block as it is in VMEM.
    shape: String,
    /// Of one copy, with padding.
    bytes: u64,
    padding_bytes: u64,
    expansion: f64,
    /// Of both copies, where the block changes from step to step.
    vmem_bytes: Option<u64>,
    /// What a kernel may use.
    limit_bytes: u64,
    fits: bool,
    /// Whether the generation is the default.
    #[serde(skip)]
    assumed: bool,
}

impl BlockAnswer {
    /// Measures `block` of `array`, for a kernel that may use `limit` bytes of VMEM; all of it, if there is no limit.
    ///
    /// # Errors
    /// If a TPU does not take the block.
    pub fn new(
        array: &ArrayShape,
        block: &ArrayShape,
        generation: Option<Generation>,
        limit: Option<u64>,
    ) -> Result<Self, BlockError> {
        let assumed = generation.is_none();
        let generation = generation.unwrap_or(USUAL);
        let taken = Block::new(generation, array, block)?;
        let in_vmem = block.clone().with_layout(taken.layout().layout());
        let in_vmem = in_vmem.map_err(|_| BlockError::Layout(DefaultLayoutError::TooLarge))?;
        let vmem_bytes = taken.vmem_bytes(DOUBLE_BUFFERED);
        let limit_bytes = limit.unwrap_or(u64::MAX).min(generation.vmem_bytes());
        Ok(Self {
            array: array.without_layout().to_string(),
            generation: generation.name(),
            shape: in_vmem.to_string(),
            bytes: taken.byte_size(),
            padding_bytes: in_vmem.padding_byte_size().unwrap_or(0),
            expansion: in_vmem.expansion().unwrap_or(1.0),
            vmem_bytes,
            limit_bytes,
            fits: vmem_bytes.is_some_and(|bytes| bytes <= limit_bytes),
            assumed,
        })
    }
}

impl Answer for BlockAnswer {
    fn text(&self, width: usize) -> Text {
        let Self { array, generation, shape, bytes, expansion, vmem_bytes, limit_bytes, fits, assumed, .. } = self;
        let mut text = Text::new(width);
        let named = if *assumed { " (--for names another generation)" } else { "" };
        text.line(format_args!("TPU {generation}{named} takes this block of {array}."));
        text.uncut(format_args!("  {shape}"));
        text.line(format_args!("  one copy: {}", cost(Some(*bytes), Some(*expansion))));
        let both = vmem_bytes.map_or("more bytes than fit in a u64".to_owned(), |bytes| Bytes(bytes).to_string());
        text.line(format_args!("  two copies, where the block changes from step to step: {both}"));
        let verdict = if *fits { "They fit" } else { "They do not fit" };
        text.line(format_args!("  {verdict} into the {} of VMEM that the kernel may use.", Bytes(*limit_bytes)));
        text
    }
}
