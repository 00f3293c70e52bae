//! Gathers: blocks of the destination whose elements lie in several loops that are all too short for the vectors of other kernels.

use super::cost::Cost;
use super::target::{Footprint, Target};
use super::{Choice, MAX_BYTES};
use crate::kernels::{Gather, NotPermuted, Work};
use crate::loops::{Axes, Axis, Region};

/// Bytes of the destination in a block: the first of these, or the next ones where a block needs too many permutes. **I**.
const BLOCK_BYTES: [usize; 3] = [1024, 512, 256];

/// The fewest elements of a block, unless it is all there is. **I**.
const MIN_ELEMENTS: usize = 32;

/// The gather of a region block by block. `None` if the other kernel, whose cost is `other`, is cheaper, or no block is possible.
pub(super) fn cheaper(
    region: &Region,
    bytes: usize,
    target: &Target,
    footprint: Footprint,
    other: Cost,
) -> Option<Choice> {
    if !other.exceeds_a_permute() || bytes > MAX_BYTES || !bytes.is_power_of_two() {
        return None;
    }
    let is_scalar = other == Cost::ElementWise;
    // Without 64-byte vectors, permutes are only faster than scalar code.
    let size = Gather::permuted_size(target.vectors).filter(|_| is_scalar || target.permutes_bytes());
    for (size, most) in size.into_iter().flat_map(|size| BLOCK_BYTES.map(|most| (size, most))) {
        let block = Block::new(region, bytes, most, true)?;
        match Gather::permuted(size, bytes, &block.places, |count| other.admits(count)) {
            Ok(gather) => return Some(block.choice(gather, target, footprint)),
            Err(NotPermuted::TryShorterBlock) => {}
            Err(NotPermuted::TooExpensive) => break,
        }
    }
    let mut block = is_scalar.then(|| Block::new(region, bytes, BLOCK_BYTES[0], false))??;
    // Without permutes, a line of the source should be read completely while it is in the caches.
    let is_near = block.reads_runs || !footprint.exceeds_caches;
    is_near.then(|| {
        let gather = Gather::new(bytes, std::mem::take(&mut block.places));
        block.choice(gather, target, footprint)
    })
}

/// The innermost loops over the destination of a region, which are gathered as a block.
struct Block {
    /// Where each element lies in both arrays, in elements from the start of the iteration.
    places: Vec<(u32, u32)>,
    /// Whether the block contains neighbours in the source.
    reads_runs: bool,
    /// The loops around the block.
    outer: Axes,
    /// The rest of a loop that was cut.
    rest: Option<Region>,
}

impl Block {
    /// A block of up to `most` bytes of the destination. Its outermost loop is cut if it is too long and `cuts` allows it.
    fn new(region: &Region, bytes: usize, most: usize, cuts: bool) -> Option<Self> {
        let mut block = Self { places: vec![(0, 0)], reads_runs: false, outer: region.axes.clone(), rest: None };
        let (mut from_end, mut to_end) = (bytes, bytes);
        // The block takes loops from the innermost one outwards, as long as each continues the block in the destination. A loop repeats the places
        // that the block has so far, shifted by the loop's strides.
        while let Some(&axis) = block.outer.last() {
            // Gaps may take as many bytes as the elements.
            let iterations = most / axis.to;
            if axis.to < to_end || axis.to > 2 * to_end || iterations < 2 || axis.len > iterations && !cuts {
                break;
            }
            block.outer.pop();
            let mut len = axis.len;
            if len > iterations {
                // Whole lines, if possible.
                let lines = 64 >> axis.to.trailing_zeros().min(6);
                len = if iterations < lines { iterations } else { iterations / lines * lines };
                block.cut(region, len);
            }
            from_end = from_end.checked_add((len - 1).checked_mul(axis.from)?)?;
            to_end += (len - 1) * axis.to;
            if from_end > i32::MAX as usize {
                return None;
            }
            block.reads_runs |= axis.from == bytes;
            let count = block.places.len();
            block.places.reserve_exact(count * (len - 1));
            for i in 1..len {
                let (from, to) = ((i * axis.from / bytes) as u32, (i * axis.to / bytes) as u32);
                block.places.extend_from_within(..count);
                block.places[i * count..].iter_mut().for_each(|place| *place = (place.0 + from, place.1 + to));
            }
            if len < axis.len {
                break;
            }
        }
        (block.outer.is_empty() || block.places.len() >= MIN_ELEMENTS).then_some(block)
    }

    /// Cuts the loop that was the last outer one to `len` iterations at a time.
    fn cut(&mut self, region: &Region, len: usize) {
        let number = self.outer.len();
        let axis = region.axes[number];
        let (iterations, left) = (axis.len / len, axis.len % len);
        self.outer.push(Axis { len: iterations, from: axis.from * len, to: axis.to * len });
        if left > 0 {
            let mut rest = region.clone();
            rest.from += iterations * len * axis.from;
            rest.to += iterations * len * axis.to;
            rest.axes[number].len = left;
            rest.normalize();
            self.rest = Some(rest);
        }
    }

    fn choice(self, gather: Gather, target: &Target, footprint: Footprint) -> Choice {
        let (work, vectors) = (Work::Gather(gather), target.vectors);
        Choice { work, outer: self.outer, vectors, stores: footprint.stores, rest: self.rest }
    }
}
