//! Runs from here and there that follow each other in the destination.
//!
//! Past the caches, they are put together on a stage in the nearest cache: lines that they share are written once, and whole.

#[cfg(test)]
use super::pending;
use super::transpose::CopyRun;
use super::{LINE, Runs, Turns, prefetch_far};
use std::mem::MaybeUninit;

/// How far behind each run lines are asked for, in bytes.
const AHEAD: usize = 1024;

/// The bytes that are put together at once: more than a run has.
const STAGED: usize = 8 * Runs::MAX_BYTES;

/// Room for them, and for the line in which they end: it is moved to the beginning, with what it has behind them.
#[repr(align(64))]
struct Stage {
    _room: [u8; STAGED + LINE],
}

/// Copies the runs of every turn; past the caches with `copy_run`, if that is there. Inlined, so that it takes the vectors of its
/// caller.
///
/// # Safety
/// The kernel is valid, `from` and `to` are valid for what [`Turns::ends`] says, and the machine has the vectors of `copy_run`.
#[inline(always)]
pub(super) unsafe fn run(kernel: &Runs, copy_run: Option<CopyRun>, turns: Turns<'_>, from: *const u8, to: *mut u8) {
    // With the widest moves that a run has room for.
    match kernel.bytes {
        // SAFETY: as required of the caller.
        64.. => unsafe { moved::<64>(kernel, copy_run, turns, from, to) },
        // SAFETY: as above.
        32.. => unsafe { moved::<32>(kernel, copy_run, turns, from, to) },
        // SAFETY: as above.
        16.. => unsafe { moved::<16>(kernel, copy_run, turns, from, to) },
        // SAFETY: as above.
        8.. => unsafe { moved::<8>(kernel, copy_run, turns, from, to) },
        // SAFETY: as above.
        4.. => unsafe { moved::<4>(kernel, copy_run, turns, from, to) },
        // SAFETY: as above.
        2.. => unsafe { moved::<2>(kernel, copy_run, turns, from, to) },
        // SAFETY: as above.
        _ => unsafe { moved::<1>(kernel, copy_run, turns, from, to) },
    }
}

/// # Safety
/// As [`run`]; a run has at least so many bytes.
#[inline(always)]
unsafe fn moved<const BYTES: usize>(
    kernel: &Runs,
    copy_run: Option<CopyRun>,
    turns: Turns<'_>,
    from: *const u8,
    to: *mut u8,
) {
    let Runs { bytes, len, row } = *kernel;
    let Some(copy_run) = copy_run else {
        return turns.for_each(0, 0, |from_turn, to_turn| {
            let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
            #[cfg(test)]
            pending::stored(to, bytes * len);
            // SAFETY: as required of the caller.
            unsafe { copy::<BYTES>(bytes, len, row, from, to) };
        });
    };
    let mut stage = MaybeUninit::<Stage>::uninit();
    let stage = stage.as_mut_ptr().cast::<u8>();
    // What is on the stage, and where its beginning lies in the destination: at a line, which may begin before the destination.
    let (mut start, mut end, mut place) = (0, 0, std::ptr::null_mut::<u8>());
    turns.for_each(0, 0, |from_turn, to_turn| {
        let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
        if to != place.wrapping_add(end) {
            if start < end {
                // SAFETY: these bytes are on the stage, and the destination's.
                unsafe { copy_run(stage.wrapping_add(start), place.wrapping_add(start), end - start) };
            }
            start = to.addr() % LINE;
            (end, place) = (start, to.wrapping_sub(start));
        }
        let mut first = 0;
        while first < len {
            let count = ((STAGED - end) / bytes).min(len - first);
            let from = from.wrapping_add(first * row);
            // Of shorter ones, most lie in lines that are here.
            if bytes >= LINE / 2 {
                (0..count).for_each(|i| prefetch_far(from.wrapping_add(i * row + AHEAD)));
            }
            // SAFETY: so many runs are left in the source, and the stage has room for them.
            unsafe { copy::<BYTES>(bytes, count, row, from, stage.wrapping_add(end)) };
            first += count;
            end += count * bytes;
            if end + bytes > STAGED {
                let whole = end & !(LINE - 1);
                // SAFETY: these bytes are on the stage, and the destination's.
                unsafe { copy_run(stage.wrapping_add(start), place.wrapping_add(start), whole - start) };
                // SAFETY: `whole` is behind the first line, since a run has at most an eighth of `STAGED`, and at most `STAGED`: the stage
                // has room for a line there. What was not written is moved without being read.
                unsafe { std::ptr::copy_nonoverlapping(stage.wrapping_add(whole), stage, LINE) };
                (start, end, place) = (0, end - whole, place.wrapping_add(whole));
            }
        }
    });
    if start < end {
        // SAFETY: as above.
        unsafe { copy_run(stage.wrapping_add(start), place.wrapping_add(start), end - start) };
    }
}

/// Copies runs that are `row` apart, one behind the other.
///
/// # Safety
/// The runs are valid for reads, and all their bytes together for writes; a run has at least `BYTES`.
#[inline(always)]
unsafe fn copy<const BYTES: usize>(bytes: usize, count: usize, row: usize, from: *const u8, to: *mut u8) {
    let last = bytes - BYTES;
    for i in 0..count {
        let (from, to) = (from.wrapping_add(i * row), to.wrapping_add(i * bytes));
        let copy = |place: usize| {
            let (from, to) = (from.wrapping_add(place), to.wrapping_add(place));
            // SAFETY: as required of the caller; the two are different arrays.
            unsafe { std::ptr::copy_nonoverlapping(from, to, BYTES) };
        };
        let mut done = 0;
        while done < last {
            copy(done);
            done += BYTES;
        }
        // The last move may do some bytes a second time.
        copy(last);
    }
}
