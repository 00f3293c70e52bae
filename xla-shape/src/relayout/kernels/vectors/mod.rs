//! The kernels with vectors of one, two or four 16-byte lanes: x86-64's and Arm's.
//!
//! All are made of one step: zip register `i` with register `i + n/2`, element by element, and take the low and the
//! high half of the result as registers `2i` and `2i + 1`. With the elements of all registers numbered in a row, that
//! moves the highest bit of an element's number to the lowest place. So `log₂ n` steps on `n` rows interleave them,
//! as many steps as an element's number within a lane has bits take rows apart, and on as many registers as a lane has
//! elements both are the same: a transpose. Where a vector has several lanes, transposes zip each lane by itself, with
//! other rows of the source in each.
//!
//! Where arrays are larger than the caches, the order decides: a few rows of the source are read side by side, each from front to
//! back, which processors foresee; and the destination is written in whole lines, two in a row, past the caches. Where its rows
//! begin anywhere, they are transposed on a stage first, or go through the last level while it has room. Interleavings that are no power of two are in `weave`.

#[macro_use]
mod generic;
#[macro_use]
mod transpose;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod hints;
#[cfg(target_arch = "x86_64")]
mod narrow;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod pick;
mod runs;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod tables;
mod weave;

use super::{Axis, Interleave, Kernel, Machine, Packing, Places, Runs, Transpose, Turns, Vectors};
pub(super) use hints::fence;
use hints::{prefetch, prefetch_far, prefetch_to_write};
#[cfg(target_arch = "x86_64")]
pub(super) use pick::{Picks, run as pick};
use std::ops::Range;
use tables::{Loops, Room, Spots};
use transpose::{How, Level, Narrow, STAGED_RUN, TransposeBlock};

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
    let starts_lines = to.align_offset(LINE) == 0 && whole_lines(turns.0, 0);
    let streaming = large
        && match kernel {
            // Parts of lines are no obstacle to copies, except that they take their time.
            Kernel::Copy(bytes) => *bytes >= STAGED_RUN || starts_lines && bytes.is_multiple_of(LINE),
            // Neither are they to what is put together.
            Kernel::Runs(_) => true,
            _ if !starts_lines => false,
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
    let large = large && (streaming || machine.staging || !matches!(kernel, Kernel::Transpose(_)));
    let vectors = machine.vectors;
    if let Kernel::Transpose(kernel) = kernel
        && !kernel.is_dense()
    {
        return false;
    }
    if let Kernel::Interleave(rows) | Kernel::Deinterleave(rows) = kernel
        && weave::takes(rows)
    {
        let back = matches!(kernel, Kernel::Deinterleave(_));
        // SAFETY: the machine has these vectors, the kernel is valid, and the slices are as long as all turns need.
        return unsafe { weave::run(rows, back, (vectors, large), turns, from, to) };
    }
    #[cfg(target_arch = "aarch64")]
    if vectors >= Vectors::Neon && neon::takes(kernel) {
        // SAFETY: the machine has these vectors and they take the kernel, the slices are as long as all turns need, and if
        // `streaming`, `to` and all strides in the destination are multiples of a line.
        return unsafe { neon::run(kernel, (large, streaming), turns, from, to) };
    }
    #[cfg(target_arch = "x86_64")]
    {
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
    }
    false
}

/// Copies less than a line.
///
/// # Safety
/// So many bytes must be valid for reads and writes.
unsafe fn copy_few(from: *const u8, to: *mut u8, bytes: usize) {
    if bytes > 0 {
        #[cfg(test)]
        pending::stored(to, bytes);
        // SAFETY: as required of the caller; the two are different arrays.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
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
        /// Where these stores began.
        static STREAMED: RefCell<HashSet<usize>> = RefCell::default();
    }

    fn lines(to: *mut u8, bytes: usize) -> impl Iterator<Item = usize> {
        to.addr() / LINE..=(to.addr() + bytes - 1) / LINE
    }

    pub(super) fn streamed(to: *mut u8, bytes: usize) {
        LINES.with_borrow_mut(|pending| pending.extend(lines(to, bytes)));
        // A line that is written twice goes to memory twice.
        let is_new = STREAMED.with_borrow_mut(|streamed| streamed.insert(to.addr()));
        assert!(is_new, "a store past the caches to where one has gone already");
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
        STREAMED.with_borrow_mut(HashSet::clear);
    }
}
