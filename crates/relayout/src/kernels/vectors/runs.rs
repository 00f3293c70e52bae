//! Joining runs: they are strided in the source and contiguous in the destination.
//!
//! For non-temporal stores, runs are collected in a staging buffer in the L1 cache first, so that lines that several runs share are written
//! once, and whole.

#[cfg(test)]
use super::pending;
use super::transpose::CopyRun;
use super::{LINE, LoopNest, Runs, prefetch_far};
use crate::tuning::{MAX_RUN, RUN_PREFETCH_BYTES};
use std::mem::MaybeUninit;

/// The bytes that are collected before they are written: several times the longest run.
const STAGED: usize = 8 * MAX_RUN;

/// The staging buffer. The last line has room for the move of a partial line to the beginning.
#[repr(align(64))]
struct Stage {
    _room: [u8; STAGED + LINE],
}

/// Joins the runs of every iteration; with non-temporal stores if there is a `copy_run` for them. Inlined, so that it is compiled with the
/// vectors of its caller.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of the bytes that [`LoopNest::span`] gives for the kernel, whose
/// [`Kernel::span`](super::Kernel::span) is not `None`. The CPU has the vectors of `copy_run`.
#[inline(always)]
pub(super) unsafe fn run(kernel: &Runs, copy_run: Option<CopyRun>, nest: LoopNest<'_>, from: *const u8, to: *mut u8) {
    // Copies with the widest moves that fit in a run.
    match kernel.bytes {
        // SAFETY: the caller guarantees the bounds; a run has at least 64 bytes.
        64.. => unsafe { moved::<64>(kernel, copy_run, nest, from, to) },
        // SAFETY: as above, with at least 32 bytes.
        32.. => unsafe { moved::<32>(kernel, copy_run, nest, from, to) },
        // SAFETY: as above, with at least 16 bytes.
        16.. => unsafe { moved::<16>(kernel, copy_run, nest, from, to) },
        // SAFETY: as above, with at least 8 bytes.
        8.. => unsafe { moved::<8>(kernel, copy_run, nest, from, to) },
        // SAFETY: as above, with at least 4 bytes.
        4.. => unsafe { moved::<4>(kernel, copy_run, nest, from, to) },
        // SAFETY: as above, with at least 2 bytes.
        2.. => unsafe { moved::<2>(kernel, copy_run, nest, from, to) },
        // SAFETY: as above, with at least 1 byte: `Runs::span` is `None` for empty runs.
        _ => unsafe { moved::<1>(kernel, copy_run, nest, from, to) },
    }
}

/// [`run`] with moves of `BYTES` bytes.
///
/// # Safety
/// As [`run`]; a run has at least `BYTES` bytes.
#[inline(always)]
unsafe fn moved<const BYTES: usize>(
    kernel: &Runs,
    copy_run: Option<CopyRun>,
    nest: LoopNest<'_>,
    from: *const u8,
    to: *mut u8,
) {
    let Runs { bytes, len, stride } = *kernel;
    let Some(copy_run) = copy_run else {
        return nest.for_each(0, 0, |from_offset, to_offset| {
            let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
            #[cfg(test)]
            pending::stored(to, bytes * len);
            // SAFETY: the kernel's span is in bounds at these offsets: `len` runs in the source, `len * bytes` bytes in the destination.
            unsafe { copy::<BYTES>(bytes, len, stride, from, to) };
        });
    };
    let mut stage = MaybeUninit::<Stage>::uninit();
    let stage = stage.as_mut_ptr().cast::<u8>();
    // Bytes `start..end` of the stage belong at the same offsets from `place` in the destination. `place` is a multiple of `LINE`, so it
    // may lie before the destination; `start` never does.
    let (mut start, mut end, mut place) = (0, 0, std::ptr::null_mut::<u8>());
    nest.for_each(0, 0, |from_offset, to_offset| {
        let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
        if to != place.wrapping_add(end) {
            if start < end {
                // SAFETY: bytes `start..end` of the stage are initialised, and those of the destination are in bounds: earlier iterations
                // put them there.
                unsafe { copy_run(stage.wrapping_add(start), place.wrapping_add(start), end - start) };
            }
            start = to.addr() % LINE;
            (end, place) = (start, to.wrapping_sub(start));
        }
        let mut first = 0;
        while first < len {
            let count = ((STAGED - end) / bytes).min(len - first);
            let from = from.wrapping_add(first * stride);
            // Shorter runs mostly lie in lines that are already in the cache.
            if bytes >= LINE / 2 {
                (0..count).for_each(|i| prefetch_far(from.wrapping_add(i * stride + RUN_PREFETCH_BYTES)));
            }
            // SAFETY: `first + count <= len`, so the runs are in bounds; `end + count * bytes <= STAGED`, so the stage has room.
            unsafe { copy::<BYTES>(bytes, count, stride, from, stage.wrapping_add(end)) };
            first += count;
            end += count * bytes;
            if end + bytes > STAGED {
                let whole = end & !(LINE - 1);
                // SAFETY: as above, for the whole lines of `start..end`: `start < LINE <= whole <= end`.
                unsafe { copy_run(stage.wrapping_add(start), place.wrapping_add(start), whole - start) };
                // SAFETY: `LINE <= whole <= STAGED`, because a run has at most an eighth of `STAGED`: the stage has `LINE` bytes at
                // `whole`, and they do not overlap its first line. The bytes from `end` on are uninitialised; an untyped copy may move
                // them.
                unsafe { std::ptr::copy_nonoverlapping(stage.wrapping_add(whole), stage, LINE) };
                (start, end, place) = (0, end - whole, place.wrapping_add(whole));
            }
        }
    });
    if start < end {
        // SAFETY: bytes `start..end` of the stage are initialised, and those of the destination are in bounds.
        unsafe { copy_run(stage.wrapping_add(start), place.wrapping_add(start), end - start) };
    }
}

/// Copies `count` runs, `stride` bytes apart in the source and contiguous in the destination.
///
/// # Safety
/// The runs are valid for reads and `count * bytes` bytes at `to` for writes; `bytes >= BYTES`. All bytes are copied if `BYTES` is 64 or more than
/// half of `bytes`.
#[inline(always)]
unsafe fn copy<const BYTES: usize>(bytes: usize, count: usize, stride: usize, from: *const u8, to: *mut u8) {
    let last = bytes - BYTES;
    for i in 0..count {
        let (from, to) = (from.wrapping_add(i * stride), to.wrapping_add(i * bytes));
        let copy = |place: usize| {
            let (from, to) = (from.wrapping_add(place), to.wrapping_add(place));
            // SAFETY: `place + BYTES <= bytes`, within run `i` on both sides. The source and the destination or stage are different memory.
            unsafe { std::ptr::copy_nonoverlapping(from, to, BYTES) };
        };
        // Only the widest moves need a loop; with the others, one or two moves copy a run. Without a loop, runs of 12 bytes take two thirds of the
        // time.
        if last > 0 {
            copy(0);
        }
        if BYTES == 64 {
            let mut done = BYTES;
            while done < last {
                copy(done);
                done += BYTES;
            }
        }
        // The last move overlaps the one before it.
        copy(last);
    }
}
