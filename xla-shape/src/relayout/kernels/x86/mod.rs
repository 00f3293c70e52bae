//! The kernels for x86-64, with vectors of one, two or four 16-byte lanes.
//!
//! All are made of one step: zip register `i` with register `i + n/2`, element by element, and take the low and the
//! high half of the result as registers `2i` and `2i + 1`. With the elements of all registers numbered in a row, that
//! moves the highest bit of an element's number to the lowest place. So `log₂ n` steps on `n` rows interleave them,
//! as many steps as an element's number within a lane has bits take rows apart, and on as many registers as a lane has
//! elements both are the same: a transpose. Where a vector has several lanes, transposes zip each lane by itself, with
//! other rows of the source in each.
//!
//! Where arrays are larger than the caches, three things decide, and all were measured: the source is read in its own
//! order, or else in runs of one to four kibibytes; what is read next is asked for before it is needed, since no machine foresees
//! it; and the destination is written in whole lines, several in a row, past the caches.

#[macro_use]
mod generic;

mod avx2;
mod avx512;
mod sse2;

use super::{Axis, Interleave, Kernel, Machine, Packing, Places, Transpose, Turns, Vectors};
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch, _mm_sfence};
use std::mem::MaybeUninit;
use std::ops::Range;

/// The bytes of a cache line.
const LINE: usize = 64;

/// How far ahead lines are asked for, in bytes of all rows that are interleaved.
const AHEAD: usize = 2048;

/// The same where turns are shorter than that, in bytes of all turns. Then it is asked for what later turns read: what
/// follows in memory is theirs only until a row ends.
const TURNS_AHEAD: usize = 8192;

/// The shortest rows for which a fence in each turn is worth its time, in bytes.
const FENCED: usize = 1024;

/// Runs a kernel in every turn, if there is a way to do so with vectors; whether there is.
///
/// # Safety
/// The kernel is valid, and the slices are as long as [`Turns::ends`] says.
pub(super) unsafe fn run(
    kernel: &Kernel,
    machine: Machine,
    turns: Turns<'_>,
    source: &[u8],
    destination: &mut [u8],
) -> bool {
    let (from, to) = (source.as_ptr(), destination.as_mut_ptr());
    let whole_lines = |axes: &[Axis], stride: usize| {
        stride.is_multiple_of(LINE) && axes.iter().all(|axis| axis.to.is_multiple_of(LINE))
    };
    let large = machine.streaming;
    // What a turn has beside whole lines is stored through the caches, behind a fence: where turns are short, that costs more
    // than going past the caches gains.
    let is_worth_fences = |bytes: usize| bytes.is_multiple_of(LINE) || bytes >= FENCED;
    let streaming = large
        && to.align_offset(LINE) == 0
        && whole_lines(turns.0, 0)
        && match kernel {
            Kernel::Copy(bytes) => is_worth_fences(*bytes),
            Kernel::Interleave(kernel) | Kernel::Pack(Packing { rows: kernel, .. }) => {
                is_worth_fences(kernel.len * kernel.bytes)
            }
            Kernel::Deinterleave(kernel) => whole_lines(&[], kernel.row) && is_worth_fences(kernel.len * kernel.bytes),
            Kernel::Transpose(kernel) => whole_lines(&kernel.a, 0),
            Kernel::Unpack(kernel) => {
                whole_lines(&[], kernel.distance | kernel.rows.row)
                    && is_worth_fences(kernel.rows.len * kernel.rows.bytes)
            }
            Kernel::PackUnits(_) | Kernel::UnpackUnits(_) => false,
        };
    let vectors = machine.vectors;
    if vectors >= Vectors::Avx512 && avx512::takes(kernel) {
        // SAFETY: the machine has these vectors and they take the kernel, the slices are as long as all turns need, and if
        // `streaming`, `to` and all strides in the destination are multiples of a line.
        return unsafe { avx512::run(kernel, (large, streaming), turns, from, to) };
    }
    if vectors >= Vectors::Avx2 && avx2::takes(kernel) {
        // SAFETY: as above.
        return unsafe { avx2::run(kernel, (large, streaming), turns, from, to) };
    }
    if vectors >= Vectors::Sse2 && sse2::takes(kernel) {
        // SAFETY: as above.
        return unsafe { sse2::run(kernel, (large, streaming), turns, from, to) };
    }
    false
}

/// Waits for the stores past the caches: what is stored after it to the same lines comes after them.
#[inline]
pub(super) fn fence() {
    // SAFETY: every x86-64 has SSE.
    unsafe { _mm_sfence() };
    #[cfg(test)]
    pending::fenced();
}

/// Asks for the line at a place that may lie outside of all arrays.
#[inline]
fn prefetch(place: *const u8) {
    // SAFETY: every x86-64 has SSE, and this is a hint, which reads nothing.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
}

/// The lines of a block's rows in the source and in the destination of a transpose. All of a block is in the nearest
/// caches or on its way there.
const BLOCK_LINES: [usize; 2] = [8, 8];

/// The same for large arrays and elements of so many bytes: rows in the source are long enough that memory is read at full
/// speed, and longer where the destination has more rows to write to.
const fn large_block_lines(bytes: usize) -> [usize; 2] {
    [if bytes < 4 { LINE / bytes } else { 16 }, 2]
}

/// Parts of `0..len` of nearly the same length: multiples of `line`, at most `lines` of them; the last may be shorter.
fn blocks(len: usize, line: usize, lines: usize) -> impl Iterator<Item = Range<usize>> {
    let all = len.div_ceil(line);
    let block = all.div_ceil(all.div_ceil(lines).max(1)).max(1) * line;
    (0..len).step_by(block).map(move |start| start..len.min(start + block))
}

/// A part of a transpose: the elements with these numbers along `a` and `b`, in the turn that begins at `from` and `to`.
struct Block {
    a: Range<usize>,
    b: Range<usize>,
    from: *const u8,
    to: *mut u8,
    /// Where in the source the row of each element of `b` begins.
    rows: [*const u8; BLOCK_LINES[1] * LINE],
}

impl Block {
    /// Calls `visit` with each block and, if arrays are `large`, the one after it. Blocks of the same rows of the
    /// destination follow each other.
    fn for_each(
        kernel: &Transpose,
        large: bool,
        turns: Turns<'_>,
        from: *const u8,
        to: *mut u8,
        mut visit: impl FnMut(&Self, Option<&Self>),
    ) {
        let [a_lines, b_lines] = if large { large_block_lines(kernel.bytes) } else { BLOCK_LINES };
        let line = LINE / kernel.bytes;
        // Two that take turns, since copying the rows of one would cost as much as a small block.
        let mut both = [(); 2].map(|()| Self { a: 0..0, b: 0..0, from, to, rows: [from; BLOCK_LINES[1] * LINE] });
        let mut last = None;
        turns.for_each(0, 0, |from_turn, to_turn| {
            let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
            for a in blocks(kernel.a_len(), line, a_lines) {
                for b in blocks(kernel.b_len(), line, b_lines) {
                    let number = last.map_or(0, |last| 1 - last);
                    let next = &mut both[number];
                    kernel.rows(b.start, from, &mut next.rows[..b.len()]);
                    (next.a, next.b, next.from, next.to) = (a.clone(), b, from, to);
                    if !large {
                        visit(next, None);
                        continue;
                    }
                    if let Some(last) = last {
                        visit(&both[last], Some(&both[number]));
                    }
                    last = Some(number);
                }
            }
        });
        if let Some(last) = last {
            visit(&both[last], None);
        }
    }
}

/// The lines of a block in the source, to be asked for row by row.
struct Lines<'a> {
    /// The rest of the rows.
    rows: std::slice::Iter<'a, *const u8>,
    /// The bytes that the block has of each row.
    bytes: Range<usize>,
    /// Where the lines that are still to be asked for begin in the current row.
    row: *const u8,
    start: usize,
}

impl<'a> Lines<'a> {
    fn of(block: &'a Block, bytes: usize) -> Self {
        let rows = block.rows[..block.b.len()].iter();
        let bytes = block.a.start * bytes..block.a.end * bytes;
        Self { rows, row: block.from, start: bytes.end, bytes }
    }

    /// Asks for so many lines.
    #[inline]
    fn prefetch(&mut self, count: usize) {
        for _ in 0..count {
            if self.start >= self.bytes.end {
                let Some(row) = self.rows.next() else { return };
                (self.row, self.start) = (*row, self.bytes.start);
            }
            prefetch(self.row.wrapping_add(self.start));
            self.start += LINE;
        }
    }
}

/// The lines that were stored to past the caches since the last fence, and to which nothing else may be stored before the
/// next one.
#[cfg(test)]
mod pending {
    use super::LINE;
    use std::cell::RefCell;
    use std::collections::HashSet;

    thread_local! {
        static LINES: RefCell<HashSet<usize>> = RefCell::default();
    }

    fn lines(to: *mut u8, bytes: usize) -> impl Iterator<Item = usize> {
        to.addr() / LINE..=(to.addr() + bytes - 1) / LINE
    }

    pub(super) fn streamed(to: *mut u8, bytes: usize) {
        LINES.with_borrow_mut(|pending| pending.extend(lines(to, bytes)));
    }

    pub(super) fn stored(to: *mut u8, bytes: usize) {
        LINES.with_borrow(|pending| {
            assert!(
                lines(to, bytes).all(|line| !pending.contains(&line)),
                "a store to a line that needs a fence first"
            );
        });
    }

    pub(super) fn fenced() {
        LINES.with_borrow_mut(HashSet::clear);
    }
}
