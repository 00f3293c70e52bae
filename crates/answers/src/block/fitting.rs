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
    /// The scratch buffers, in the order of the parts, without a layout unless they were given one. A buffer with the sizes of an output's block,
    /// such as a buffer for its sums, is halved with the block; the others stay as they are, because nothing says which of their dimensions belongs
    /// to which block.
    pub scratch: Vec<String>,
    /// The bytes that all parts need with these blocks.
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

/// The largest blocks that fit into `limit` bytes, after as few steps as possible. Each step halves one axis in all blocks that have it. If halving
/// any one of several axes is enough, the step halves the axis that leaves the largest blocks. If no axis is enough, it halves the one that saves the
/// most bytes. `None` if eight steps do not find blocks that a TPU takes and that fit, or if there are too many parts.
///
/// `places` has an entry for each dimension of each part: the dimension of the grid whose index is the number of the block along that dimension;
/// `None` if it is not known. If all places are known, dimensions with the same place are one axis. Otherwise, two dimensions count as one axis if
/// their arrays have the same size there, and their blocks too. If a block is as large as its array along a dimension, the kernel may need the
/// whole dimension. It is halved only if no other dimension can be.
pub(super) fn fitting(
    parts: &[Part],
    places: &[Vec<Option<usize>>],
    generation: Generation,
    limit: u64,
) -> Option<Fitting> {
    if parts.len() > MOST_PARTS {
        return None;
    }
    // A place that is not known may depend on any index of the grid, so if one place is not known, no place is used.
    let is_known = parts.iter().enumerate().all(|(number, part)| {
        let mut divided = part.sizes().filter(|(_, [array, block])| block < array && block % 2 == 0);
        divided.all(|(dimension, _)| place(places, number, dimension).is_some())
    });
    let places = if is_known { places } else { &[] };
    let mut parts = parts.to_vec();
    for _ in 0..MOST {
        let smaller = axes(&parts, places).into_iter().filter_map(|axis| {
            let halved = parts.iter().enumerate().map(|(number, part)| part.halved(number, axis, &parts, places));
            let parts = halved.collect::<Option<Vec<_>>>()?;
            let bytes = BlockAnswer::measured(&parts, generation).ok()?.1;
            Some((parts, bytes))
        });
        // The key of parts that fit is the number of bytes that they leave unused, which is at most the limit. The key of other parts is all of their
        // bytes, which exceed the limit, so parts that fit come first. Among equal keys, this takes the first.
        let (halved, bytes) = smaller.min_by_key(|(_, bytes)| limit.checked_sub(*bytes).unwrap_or(*bytes))?;
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

/// An axis: dimensions of parts that are halved together. It is identified by the dimension of the grid that places blocks along it; or if that is
/// not known, by the size of the array and the size of the block along it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Axis {
    Grid(usize),
    Sizes([u64; 2]),
}

/// The dimension of the grid that places a part's block along a dimension; `None` if it is not known.
fn place(places: &[Vec<Option<usize>>], part: usize, dimension: usize) -> Option<usize> {
    places.get(part)?.get(dimension).copied().flatten()
}

/// The axis of a dimension of a part.
fn axis(places: &[Vec<Option<usize>>], part: usize, dimension: usize, sizes: [u64; 2]) -> Axis {
    place(places, part, dimension).map_or(Axis::Sizes(sizes), Axis::Grid)
}

/// The axes along which a block's size is even, in the order of the parts and their dimensions. If a block is smaller than its array along some of
/// these axes, returns only those axes; otherwise, returns all but the axes of each part's last dimension.
fn axes(parts: &[Part], places: &[Vec<Option<usize>>]) -> Vec<Axis> {
    let all = |is_wanted: fn([u64; 2], bool) -> bool| {
        let mut seen = BTreeSet::new();
        let mut axes = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let last = part.array_and_block().map_or(0, |(_, block)| block.dimensions().len().saturating_sub(1));
            for (dimension, sizes) in part.sizes() {
                let axis = axis(places, number, dimension, sizes);
                if sizes[1] % 2 == 0 && is_wanted(sizes, dimension == last) && seen.insert(axis) {
                    axes.push(axis);
                }
            }
        }
        axes
    };
    let divided = all(|[array, block], _| block < array);
    if divided.is_empty() { all(|_, is_last| !is_last) } else { divided }
}

fn sizes((array, block): (&Dimension, &Dimension)) -> Option<[u64; 2]> {
    match (array, block) {
        (Dimension::Static(array), Dimension::Static(block)) => Some([*array, *block]),
        _ => None,
    }
}

impl Part {
    /// This part, whose number is `number`, with its block halved along an axis; unchanged if it does not have the axis, `None` if the block's size
    /// there is odd. A scratch buffer has the axes of the first output among `parts` whose block has the same sizes.
    fn halved(&self, number: usize, wanted: Axis, parts: &[Self], places: &[Vec<Option<usize>>]) -> Option<Self> {
        let half = |number: usize, array: &ArrayShape, block: &ArrayShape| {
            let mut dimensions = block.dimensions().to_vec();
            for (place, (dimension, size)) in dimensions.iter_mut().zip(array.dimensions()).enumerate() {
                if let Some(sizes) = sizes((size, dimension))
                    && axis(places, number, place, sizes) == wanted
                {
                    *dimension = (sizes[1] % 2 == 0).then_some(sizes[1] / 2)?.into();
                }
            }
            ArrayShape::new(block.element_type(), &dimensions, block.layout().clone()).ok()
        };
        Some(match self {
            Self::Input { array, block } => Self::Input { array: array.clone(), block: half(number, array, block)? },
            Self::Output { array, block } => Self::Output { array: array.clone(), block: half(number, array, block)? },
            Self::Fixed { array, block } => Self::Fixed { array: array.clone(), block: half(number, array, block)? },
            Self::Scratch(shape) => {
                let output = parts.iter().enumerate().find_map(|(number, part)| match part {
                    Self::Output { array, block } if block.dimensions() == shape.dimensions() => Some((number, array)),
                    _ => None,
                });
                Self::Scratch(match output {
                    Some((number, array)) => half(number, array, shape)?,
                    None => shape.clone(),
                })
            }
        })
    }

    /// The dimensions whose sizes are static, each with its size in the array and in the block. A scratch buffer gives none.
    fn sizes(&self) -> impl Iterator<Item = (usize, [u64; 2])> + '_ {
        let both = self.array_and_block();
        let both = both.into_iter().flat_map(|(array, block)| array.dimensions().iter().zip(block.dimensions()));
        both.enumerate().filter_map(|(dimension, both)| Some((dimension, sizes(both)?)))
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
    fn dimensions_with_the_same_place_are_one_axis() {
        // Rows and columns have the same sizes.
        let shape = |text: &str| text.parse().unwrap();
        let parts = [
            Part::Input { array: shape("bf16[8192,4096]"), block: shape("bf16[2048,512]") },
            Part::Input { array: shape("bf16[4096,8192]"), block: shape("bf16[512,2048]") },
            Part::Output { array: shape("bf16[8192,8192]"), block: shape("bf16[2048,2048]") },
            Part::Scratch(shape("f32[2048,2048]")),
        ];
        let blocks = |places: &[Vec<Option<usize>>]| {
            let found = BlockAnswer::placed(&parts, places, None, Some(24 << 20)).unwrap().fitting.unwrap();
            let blocks = found.blocks.into_iter().map(|block| block.block).chain(found.scratch);
            (blocks.collect::<Vec<_>>(), found.vmem_bytes >> 20)
        };
        let (i, j, k) = (Some(0), Some(1), Some(2));
        let places = [vec![i, k], vec![k, j], vec![i, j], vec![]];
        let rows = ["bf16[1024,512]", "bf16[512,2048]", "bf16[1024,2048]", "f32[1024,2048]"];
        assert_eq!(blocks(&places), (rows.map(str::to_owned).to_vec(), 22));
        // A place that is computed may depend on any index.
        let computed = [vec![i, None], vec![k, j], vec![i, j], vec![]];
        let both = ["bf16[1024,512]", "bf16[512,1024]", "bf16[1024,1024]", "f32[1024,1024]"];
        assert_eq!(blocks(&computed), (both.map(str::to_owned).to_vec(), 12));
        assert_eq!(blocks(&[]), blocks(&computed));
    }

    #[test]
    fn of_blocks_that_fit_after_one_step_the_largest_are_named() {
        // The first block takes 8 of 10 MiB. For a limit of 9 MiB, halving the rows of either block is enough.
        let parts = [("f32[4096,1024]", "f32[1024,1024]"), ("f32[512,1024]", "f32[256,1024]")];
        assert_eq!(blocks(&parts, 9 << 20).unwrap(), ["f32[1024,1024]", "f32[128,1024]"]);
        assert_eq!(blocks(&parts, 8 << 20).unwrap(), ["f32[512,1024]", "f32[256,1024]"]);
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
