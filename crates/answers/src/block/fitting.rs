//! The largest blocks that fit, found by halving blocks that do not fit.

use super::{BlockAnswer, Part, PartKind, is_without_layout};
use crate::numbers::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Dimension};

/// The most times that blocks are halved.
const MOST: usize = 8;

/// With more parts than this, the search is not started, because its work grows with the square of their number.
const MOST_PARTS: usize = 64;

/// Blocks that fit, in place of those that do not.
///
/// ```
/// use xla_shape_answers::block::{BlockAnswer, Part};
///
/// let input = Part::Input { array: "f32[65536,1024]".parse()?, block: "f32[8192,1024]".parse()? };
/// let output = Part::Output { array: "f32[65536,128]".parse()?, block: "f32[8192,128]".parse()? };
/// let scratch = ["bf16[8192,128]", "s32[8,128]"].map(|shape| shape.parse().map(Part::Scratch));
/// let [sums, flags] = scratch;
/// let fitting = BlockAnswer::new(&[input, output, sums?, flags?], None, None)?.fitting.unwrap();
/// // The rows of both blocks are halved together.
/// assert_eq!(fitting.blocks[0].block, "f32[1024,1024]");
/// assert_eq!((fitting.blocks[1].block.as_str(), fitting.vmem_bytes), ("f32[1024,128]", (9 << 20) + (1 << 18) + 4096));
/// // The sums have the sizes of the output's block, so they become smaller with it.
/// assert_eq!(fitting.scratch, ["bf16[1024,128]", "s32[8,128]"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Fitting {
    /// The blocks, in the order of the parts.
    pub blocks: Vec<FittingBlock>,
    /// The scratch buffers, in the order of the parts, without a layout unless they were given one. One that has the sizes of an output's block, as a buffer for its sums has, is halved
    /// with it; the others stay as they are, because nothing says which of their dimensions belongs to which block.
    pub scratch: Vec<String>,
    /// The bytes that all parts then need.
    pub vmem_bytes: u64,
}

impl fmt::Display for Fitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = self.blocks.iter().map(|block| format!("{} {} of {}", block.kind, block.block, block.array));
        let scratch = self.scratch.iter().map(|shape| format!("scratch {shape}"));
        let parts = blocks.chain(scratch).collect::<Vec<_>>().join(", ");
        write!(f, "These fit, with {}: {parts}.", Bytes(self.vmem_bytes))
    }
}

/// A block that fits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct FittingBlock {
    /// What it is.
    pub kind: PartKind,
    /// The array, without a layout.
    pub array: String,
    /// The block, without a layout.
    pub block: String,
}

/// The largest blocks that fit into `limit` bytes. In each step, one axis is halved in all blocks that have it: the one that saves the most, so that
/// the fewest steps are needed. `None` if eight steps find no blocks that a TPU supports and that fit, or if there are too many parts.
///
/// It is not known which dimensions of two arrays are the same axis. So dimensions are treated as one axis if they have the same size in the array
/// and in the block. Dimensions that no block divides are halved only if there are no others, because the kernel may need all of their elements.
pub(super) fn fitting(parts: &[Part], generation: Generation, limit: u64) -> Option<Fitting> {
    if parts.len() > MOST_PARTS {
        return None;
    }
    let mut parts = parts.to_vec();
    for _ in 0..MOST {
        let smaller = axes(&parts).into_iter().filter_map(|axis| {
            let parts = parts.iter().map(|part| part.halved(axis, &parts)).collect::<Option<Vec<_>>>()?;
            let bytes = BlockAnswer::measured(&parts, generation).ok()?.1;
            Some((parts, bytes))
        });
        // If several axes save equally much, take the first.
        let (halved, bytes) = smaller.min_by_key(|(_, bytes)| *bytes)?;
        parts = halved;
        if bytes <= limit {
            let blocks = parts.iter().filter_map(|part| {
                let (array, block) = part.array_and_block()?;
                let [array, block] = [array, block].map(|shape| shape.without_layout().to_string());
                Some(FittingBlock { kind: part.kind(), array, block })
            });
            let scratch = parts.iter().filter_map(|part| match part {
                Part::Scratch(shape) if is_without_layout(shape) => Some(shape.without_layout().to_string()),
                Part::Scratch(shape) => Some(shape.to_string()),
                _ => None,
            });
            return Some(Fitting { blocks: blocks.collect(), scratch: scratch.collect(), vmem_bytes: bytes });
        }
    }
    None
}

/// An axis: the size of a dimension of arrays, and the size of a block in it.
type Axis = [u64; 2];

/// The axes that can be halved, the first dimensions first: those that blocks divide. If there are none, all dimensions of whole arrays except the
/// last.
fn axes(parts: &[Part]) -> Vec<Axis> {
    let all = |is_wanted: fn(Axis, bool) -> bool| {
        let mut seen = BTreeSet::new();
        let mut axes = Vec::new();
        for (array, block) in parts.iter().filter_map(Part::array_and_block) {
            let last = block.dimensions().len().saturating_sub(1);
            for (number, axis) in array.dimensions().iter().zip(block.dimensions()).enumerate() {
                let Some(axis) = sizes(axis) else { continue };
                if axis[1] % 2 == 0 && is_wanted(axis, number == last) && seen.insert(axis) {
                    axes.push(axis);
                }
            }
        }
        axes
    };
    let divided = all(|[array, block], _| block < array);
    if divided.is_empty() { all(|_, is_last| !is_last) } else { divided }
}

fn sizes((array, block): (&Dimension, &Dimension)) -> Option<Axis> {
    match (array, block) {
        (Dimension::Static(array), Dimension::Static(block)) => Some([*array, *block]),
        _ => None,
    }
}

impl Part {
    /// The part with an axis halved; unchanged if it does not have the axis. A scratch buffer has the axes of the first output among `parts` whose
    /// block has the same sizes.
    fn halved(&self, axis: Axis, parts: &[Self]) -> Option<Self> {
        let half = |array: &ArrayShape, block: &ArrayShape| {
            let mut dimensions = block.dimensions().to_vec();
            for (dimension, size) in dimensions.iter_mut().zip(array.dimensions()) {
                if sizes((size, dimension)) == Some(axis) {
                    *dimension = (axis[1] / 2).into();
                }
            }
            ArrayShape::new(block.element_type(), &dimensions, block.layout().clone()).ok()
        };
        Some(match self {
            Self::Input { array, block } => Self::Input { array: array.clone(), block: half(array, block)? },
            Self::Output { array, block } => Self::Output { array: array.clone(), block: half(array, block)? },
            Self::Fixed { array, block } => Self::Fixed { array: array.clone(), block: half(array, block)? },
            Self::Scratch(shape) => {
                let output = parts.iter().find_map(|part| match part {
                    Self::Output { array, block } if block.dimensions() == shape.dimensions() => Some(array),
                    _ => None,
                });
                Self::Scratch(match output {
                    Some(array) => half(array, shape)?,
                    None => shape.clone(),
                })
            }
        })
    }

    fn array_and_block(&self) -> Option<(&ArrayShape, &ArrayShape)> {
        match self {
            Self::Input { array, block } | Self::Output { array, block } | Self::Fixed { array, block } => {
                Some((array, block))
            }
            Self::Scratch(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockAnswer, Fitting, Part};

    fn fitting(parts: &[(&str, &str)], scratch: &[&str], limit: u64) -> Option<Fitting> {
        let shape = |text: &str| text.parse().unwrap();
        let blocks = parts.iter().map(|(array, block)| Part::Input { array: shape(array), block: shape(block) });
        let scratch = scratch.iter().map(|text| Part::Scratch(shape(text)));
        BlockAnswer::new(&blocks.chain(scratch).collect::<Vec<_>>(), None, Some(limit)).unwrap().fitting
    }

    fn blocks(parts: &[(&str, &str)], limit: u64) -> Option<Vec<String>> {
        Some(fitting(parts, &[], limit)?.blocks.into_iter().map(|block| block.block).collect())
    }

    #[test]
    fn the_axis_that_saves_most_is_halved_in_all_blocks_that_have_it() {
        let product = [
            ("bf16[4096,8192]", "bf16[2048,1024]"),
            ("bf16[8192,16384]", "bf16[1024,512]"),
            ("f32[4096,16384]", "f32[2048,512]"),
        ];
        // First halve the rows, which appear in the two largest parts; then continue with the other axes.
        assert_eq!(blocks(&product, 12 << 20).unwrap(), ["bf16[1024,1024]", "bf16[1024,512]", "f32[1024,512]"]);
        assert_eq!(blocks(&product, 6 << 20).unwrap(), ["bf16[512,1024]", "bf16[1024,512]", "f32[512,512]"]);
    }

    #[test]
    fn what_no_block_divides_is_left_alone_while_there_is_another_axis() {
        assert_eq!(blocks(&[("f32[4096,1000]", "f32[2048,1000]")], 4 << 20).unwrap(), ["f32[512,1000]"]);
        // Without a grid, the rows are halved.
        assert_eq!(blocks(&[("f32[4096,1000]", "f32[4096,1000]")], 10 << 20).unwrap(), ["f32[1024,1000]"]);
    }

    #[test]
    fn blocks_that_no_tpu_takes_are_not_named() {
        assert_eq!(blocks(&[("f32[4096,1024]", "f32[8,1024]")], 4096), None, "a block of 4 rows is not allowed");
        assert_eq!(blocks(&[("f32[1000,128]", "f32[1000,128]")], 4096), None, "half of 1000 is 500, no multiple of 8");
        assert_eq!(
            fitting(&[("f32[64,128]", "f32[32,128]")], &["f32[1024,1024]"], 1 << 20),
            None,
            "scratch alone is too much"
        );
        assert_eq!(blocks(&[("f32[4096,1024]", "f32[8,1024]")], 1 << 20), None, "they fit");
    }
}
