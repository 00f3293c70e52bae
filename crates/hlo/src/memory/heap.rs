//! XLA's heap simulation, which assigns offsets to temporaries.
//!
//! Buffers are placed in the order in which their live ranges begin; of several that begin together, the one that ends first comes
//! first, and the result of an asynchronous operation before its context (`HeapSimulator::RunComputation` in
//! `xla/service/heap_simulator/heap_simulator.cc`). Each goes into the smallest gap that holds it. The TPU compiler packs the temporaries in HBM this
//! way; there, a buffer with several values, such as the state of a loop, keeps its memory between them.

use super::schedule::LiveRange;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use xla_shape_core::sorting::sort_by_key;

/// The limit on comparisons of live ranges. Buffers that remain when it is reached are placed after all others, which wastes memory.
const MAX_EFFORT: usize = 1 << 28;

/// A buffer to be placed.
#[derive(Clone, Debug)]
pub(super) struct HeapBuffer {
    pub(super) bytes: u64,
    /// Whether it comes before others that begin in the same step.
    pub(super) is_early: bool,
    /// The end of the live range of the first value in the buffer.
    pub(super) first_end: u32,
    /// The live ranges, in order; the buffer is free between them.
    pub(super) ranges: Vec<LiveRange>,
    /// How long it lives by XLA's clock, which counts how often memory is taken or given back ([`lifetimes`]). Only
    /// [`pack_by_size`] needs it.
    pub(super) lifetime: u64,
}

impl HeapBuffer {
    fn start(&self) -> u32 {
        self.ranges.first().map_or(0, |range| range.start)
    }

    fn end(&self) -> u32 {
        self.ranges.iter().map(|range| range.end).max().unwrap_or(0)
    }

    /// Whether both are live at some step.
    fn overlaps(&self, other: &Self) -> bool {
        let (mut these, mut those) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
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

/// Returns the offset of each buffer in bytes, and the size of the heap. Offsets are multiples of `alignment`.
pub(super) fn pack(buffers: &[HeapBuffer], alignment: u64) -> (Vec<u64>, u64) {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    sort_by_key(&mut order, |&number| {
        buffers.get(number).map(|buffer| (buffer.start(), !buffer.is_early, buffer.first_end, number))
    });
    place(buffers, order, true, alignment)
}

/// Like [`pack`], but as the compilers for CPUs and GPUs do: packs once with the largest buffer first and once with the longest-lived buffer first,
/// and returns the smaller heap (`GlobalDecreasingSizeBestFitHeap` and `ChooseBestHeapAlgorithm` in the same file).
pub(super) fn pack_by_size(buffers: &[HeapBuffer], alignment: u64) -> (Vec<u64>, u64) {
    let length = |buffer: &HeapBuffer| Reverse(buffer.lifetime);
    let mut orders = [(); 2].map(|()| (0..buffers.len()).collect::<Vec<usize>>());
    let [spatial, temporal] = &mut orders;
    sort_by_key(spatial, |&number| buffers.get(number).map(|one| (Reverse(one.bytes), length(one), number)));
    sort_by_key(temporal, |&number| buffers.get(number).map(|one| (length(one), Reverse(one.bytes), number)));
    let [spatial, temporal] = orders.map(|order| place(buffers, order, false, alignment));
    if temporal.1 < spatial.1 { temporal } else { spatial }
}

/// How long buffers live, from the live ranges of their values. The clock advances by one when a value takes memory and when a value gives
/// it back. Within a step, all values that begin take their memory before those that end give theirs back
/// (`HeapSimulator::RunComputation`).
pub(super) fn lifetimes(buffers: &[Vec<LiveRange>]) -> Vec<u64> {
    let all = || buffers.iter().flatten();
    let steps = all().map(|range| range.end.max(range.start) as usize + 1).max().unwrap_or(0);
    // For each step: how many values begin, and how many end.
    let mut counts = vec![[0_usize; 2]; steps];
    // For each value: how many values begin before it in its first step, and how many end before it in its last step.
    let mut ranks = Vec::new();
    for range in all() {
        let mut next = |step: u32, kind: usize| {
            let count = counts.get_mut(step as usize).and_then(|counts| counts.get_mut(kind));
            count.map_or(0, |count| core::mem::replace(count, *count + 1))
        };
        ranks.push([next(range.start, 0), next(range.end, 1)]);
    }
    let mut clock = 0_usize;
    let times: Vec<[usize; 2]> = counts
        .iter()
        .map(|&[begin, end]| {
            let first = clock;
            clock += begin + end;
            [first, first + begin]
        })
        .collect();
    let time = |step: u32, kind: usize, rank: usize| {
        times.get(step as usize).and_then(|times| times.get(kind)).map_or(0, |time| time + rank)
    };
    let mut ranks = ranks.into_iter();
    let lifetime = |values: &Vec<LiveRange>| {
        let events = values.iter().zip(ranks.by_ref());
        let events = events.map(|(range, [begun, ended])| (time(range.start, 0, begun), time(range.end, 1, ended)));
        let (begin, end) =
            events.fold((usize::MAX, 0), |(begin, end), (first, last)| (begin.min(first), end.max(last)));
        end.saturating_sub(begin) as u64
    };
    buffers.iter().map(lifetime).collect()
}

/// Places buffers in this order, each into the smallest gap that holds it. `in_time` says whether they become live in this order.
fn place(buffers: &[HeapBuffer], order: Vec<usize>, in_time: bool, alignment: u64) -> (Vec<u64>, u64) {
    let mut offsets = vec![0_u64; buffers.len()];
    // The placed buffers that may still be live, sorted by offset.
    let mut placed: Vec<PlacedBuffer<'_>> = Vec::new();
    let mut placed_ranges = 0_usize;
    let mut total = 0_u64;
    let mut effort = MAX_EFFORT;
    for number in order {
        let Some(buffer) = buffers.get(number) else { continue };
        // Comparing two buffers walks the live ranges of both.
        let cost = placed.len().saturating_mul(buffer.ranges.len()).saturating_add(placed_ranges);
        effort = effort.saturating_sub(cost);
        let offset = if effort == 0 {
            aligned(total, alignment)
        } else {
            let start = buffer.start();
            placed.retain(|other| {
                let stays = !in_time || other.last >= start;
                placed_ranges = placed_ranges.saturating_sub(if stays { 0 } else { other.buffer.ranges.len() });
                stays
            });
            let busy = placed.iter().filter(|other| other.buffer.overlaps(buffer));
            best_gap(busy.map(|other| (other.begin, other.end)), buffer.bytes, alignment)
        };
        let end = offset.saturating_add(buffer.bytes);
        if let Some(slot) = offsets.get_mut(number) {
            *slot = offset;
        }
        if effort > 0 {
            let at = placed.partition_point(|other| other.begin <= offset);
            placed.insert(at, PlacedBuffer { begin: offset, end, last: buffer.end(), buffer });
            placed_ranges += buffer.ranges.len();
        }
        total = total.max(end);
    }
    (offsets, total)
}

/// A buffer with its offset.
struct PlacedBuffer<'b> {
    begin: u64,
    end: u64,
    /// The last step at which it is live.
    last: u32,
    buffer: &'b HeapBuffer,
}

/// The offset of the smallest gap of at least `bytes`, or the end of the last buffer.
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

/// Rounds up to a multiple of `alignment`; `u64::MAX` if that overflows.
pub(super) fn aligned(bytes: u64, alignment: u64) -> u64 {
    bytes.checked_next_multiple_of(alignment.max(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{HeapBuffer, best_gap, lifetimes, pack};
    use crate::memory::schedule::LiveRange;
    use alloc::vec;
    use alloc::vec::Vec;

    fn buffer(bytes: u64, ranges: &[(u32, u32)]) -> HeapBuffer {
        let first_end = ranges.first().map_or(0, |&(_, end)| end);
        HeapBuffer {
            bytes,
            is_early: false,
            first_end,
            ranges: ranges.iter().map(|&(start, end)| LiveRange { start, end }).collect(),
            lifetime: 0,
        }
    }

    #[test]
    fn the_clock_counts_what_is_taken_and_given_back() {
        let ranges =
            |ranges: &[(u32, u32)]| ranges.iter().map(|&(start, end)| LiveRange { start, end }).collect::<Vec<_>>();
        // The first buffer begins in step 8, in which two others end. The second lives for more steps, but nothing begins or ends in most of them.
        let buffers = [ranges(&[(8, 9)]), ranges(&[(9, 21)]), ranges(&[(1, 8)]), ranges(&[(2, 8)]), ranges(&[])];
        assert_eq!(lifetimes(&buffers), [4, 2, 3, 3, 0]);
    }

    #[test]
    fn places_in_order_of_time() {
        // With an alignment of 1, the third buffer fits where the first was; the fourth fits into no gap.
        let buffers = [buffer(100, &[(0, 2)]), buffer(50, &[(1, 5)]), buffer(60, &[(3, 4)]), buffer(110, &[(3, 3)])];
        assert_eq!(pack(&buffers, 1), (vec![0, 100, 0, 150], 260));
        assert_eq!(pack(&buffers, 64), (vec![0, 128, 192, 0], 252));
        assert_eq!(pack(&[], 64), (Vec::new(), 0));
    }

    #[test]
    fn of_buffers_that_begin_together_the_one_that_ends_first_comes_first() {
        // The last, small buffer takes the gap at 0, which the third, large one would fill exactly.
        let buffers = [buffer(100, &[(0, 1)]), buffer(50, &[(0, 9)]), buffer(100, &[(2, 8)]), buffer(10, &[(2, 3)])];
        assert_eq!(pack(&buffers, 1), (vec![0, 100, 150, 0], 250));
    }

    #[test]
    fn time_between_spans_is_free() {
        let buffers = [buffer(8, &[(0, 1), (5, 6)]), buffer(8, &[(2, 4)]), buffer(8, &[(4, 5)])];
        assert_eq!(pack(&buffers, 1), (vec![0, 0, 8], 16));
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
            let buffers: Vec<HeapBuffer> = (0..next(30))
                .map(|_| {
                    let start = next(20) as u32;
                    let end = start + next(8) as u32;
                    buffer(next(100) + 1, &[(start, end), (end + 2, end + 2 + next(3) as u32)])
                })
                .collect();
            let (offsets, total) = pack(&buffers, 4);
            for (a, at) in buffers.iter().zip(&offsets) {
                assert!(at % 4 == 0 && at + a.bytes <= total);
                for (b, there) in buffers.iter().zip(&offsets) {
                    let apart = at + a.bytes <= *there || there + b.bytes <= *at;
                    assert!(core::ptr::eq(a, b) || !a.overlaps(b) || apart);
                }
            }
        }
    }
}
