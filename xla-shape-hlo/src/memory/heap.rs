//! Places for values that live for a while: XLA's heap simulation.
//!
//! Values are placed in the order in which they begin to live, larger ones first, each into the smallest gap that holds it.
//! This is how the TPU compiler packs the temporaries of HBM.

use super::schedule::Span;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// How many comparisons of spans a heap is worth; values beyond lie after all others, which takes more than it must.
const MAX_EFFORT: usize = 1 << 28;

/// What wants a place.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) bytes: u64,
    /// When it is needed, in order; there may be time between two spans.
    pub(super) spans: Vec<Span>,
}

impl Block {
    fn start(&self) -> u32 {
        self.spans.first().map_or(0, |span| span.start)
    }

    fn end(&self) -> u32 {
        self.spans.iter().map(|span| span.end).max().unwrap_or(0)
    }

    /// Whether both are needed at one time.
    fn meets(&self, other: &Self) -> bool {
        let (mut these, mut those) = (self.spans.iter().peekable(), other.spans.iter().peekable());
        while let (Some(this), Some(that)) = (these.peek(), those.peek()) {
            if this.end < that.start {
                these.next();
            } else if that.end < this.start {
                those.next();
            } else {
                return true;
            }
        }
        false
    }
}

/// The offset of each block in bytes, and the bytes that all take together. Offsets are multiples of `alignment`.
pub(super) fn pack(blocks: &[Block], alignment: u64) -> (Vec<u64>, u64) {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|&number| blocks.get(number).map(|block| (block.start(), Reverse(block.bytes), number)));
    let mut offsets = vec![0_u64; blocks.len()];
    // Those that may still be needed, by offset.
    let mut placed: Vec<Placed<'_>> = Vec::new();
    let mut placed_spans = 0_usize;
    let mut total = 0_u64;
    let mut effort = MAX_EFFORT;
    for number in order {
        let Some(block) = blocks.get(number) else { continue };
        // Each comparison goes through the spans of both.
        let cost = placed.len().saturating_mul(block.spans.len()).saturating_add(placed_spans);
        effort = effort.saturating_sub(cost);
        let offset = if effort == 0 {
            aligned(total, alignment)
        } else {
            let start = block.start();
            placed.retain(|other| {
                let stays = other.last >= start;
                placed_spans = placed_spans.saturating_sub(if stays { 0 } else { other.block.spans.len() });
                stays
            });
            let busy = placed.iter().filter(|other| other.block.meets(block));
            best_gap(busy.map(|other| (other.begin, other.end)), block.bytes, alignment)
        };
        let end = offset.saturating_add(block.bytes);
        if let Some(place) = offsets.get_mut(number) {
            *place = offset;
        }
        if effort > 0 {
            let at = placed.partition_point(|other| other.begin <= offset);
            placed.insert(at, Placed { begin: offset, end, last: block.end(), block });
            placed_spans = placed_spans.saturating_add(block.spans.len());
        }
        total = total.max(end);
    }
    (offsets, total)
}

/// A block that has its place.
struct Placed<'b> {
    begin: u64,
    end: u64,
    /// The last step at which it is needed.
    last: u32,
    block: &'b Block,
}

/// The beginning of the smallest gap that holds so many bytes; after everything if none does.
fn best_gap(busy: impl Iterator<Item = (u64, u64)>, bytes: u64, alignment: u64) -> u64 {
    let (mut free, mut best): (u64, Option<(u64, u64)>) = (0, None);
    for (begin, end) in busy {
        let start = aligned(free, alignment);
        let gap = begin.saturating_sub(free);
        if begin > free
            && start.checked_add(bytes).is_some_and(|end| end <= begin)
            && best.is_none_or(|(least, _)| gap < least)
        {
            best = Some((gap, start));
        }
        free = free.max(end);
    }
    best.map_or_else(|| aligned(free, alignment), |(_, start)| start)
}

/// The next multiple of `alignment`, or the largest number.
pub(super) fn aligned(bytes: u64, alignment: u64) -> u64 {
    bytes.checked_next_multiple_of(alignment.max(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Block, best_gap, pack};
    use crate::memory::schedule::Span;
    use alloc::vec;
    use alloc::vec::Vec;

    fn block(bytes: u64, spans: &[(u32, u32)]) -> Block {
        Block { bytes, spans: spans.iter().map(|&(start, end)| Span { start, end }).collect() }
    }

    #[test]
    fn places_in_order_of_time() {
        // The second one fits where the first was, a third one between them does not.
        let blocks = [block(100, &[(0, 2)]), block(50, &[(1, 5)]), block(60, &[(3, 4)]), block(110, &[(3, 3)])];
        assert_eq!(pack(&blocks, 1), (vec![0, 100, 0, 150], 260));
        assert_eq!(pack(&blocks, 64), (vec![0, 128, 192, 0], 252));
        assert_eq!(pack(&[], 64), (Vec::new(), 0));
    }

    #[test]
    fn time_between_spans_is_free() {
        let blocks = [block(8, &[(0, 1), (5, 6)]), block(8, &[(2, 4)]), block(8, &[(4, 5)])];
        assert_eq!(pack(&blocks, 1), (vec![0, 0, 8], 16));
    }

    #[test]
    fn the_smallest_gap_is_taken() {
        let busy = [(10, 20), (50, 60), (80, 90)];
        assert_eq!(best_gap(busy.into_iter(), 15, 1), 60);
        assert_eq!(best_gap(busy.into_iter(), 5, 1), 0);
        assert_eq!(best_gap(busy.into_iter(), 31, 1), 90);
        assert_eq!(best_gap(busy.into_iter(), 18, 16), 32, "a gap must hold it from where it may begin");
    }

    #[test]
    fn nothing_that_lives_at_one_time_overlaps() {
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let blocks: Vec<Block> = (0..next(30))
                .map(|_| {
                    let start = next(20) as u32;
                    let end = start + next(8) as u32;
                    block(next(100) + 1, &[(start, end), (end + 2, end + 2 + next(3) as u32)])
                })
                .collect();
            let (offsets, total) = pack(&blocks, 4);
            for (a, at) in blocks.iter().zip(&offsets) {
                assert!(at % 4 == 0 && at + a.bytes <= total);
                for (b, there) in blocks.iter().zip(&offsets) {
                    let apart = at + a.bytes <= *there || there + b.bytes <= *at;
                    assert!(core::ptr::eq(a, b) || !a.meets(b) || apart);
                }
            }
        }
    }
}
