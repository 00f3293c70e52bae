//! The kernels with vectors of one, two or four 16-byte lanes, for x86-64 and Arm.
//!
//! All kernels are made of one step, the *zip step*: interleave register `i` with register `i + n/2`, element by element, and take the low
//! and the high half of the result as registers `2i` and `2i + 1`. If the elements of all registers are numbered consecutively, the step
//! moves the highest bit of an element's number to the lowest place. So `log₂ n` steps interleave `n` rows. To separate the rows again
//! takes as many steps as an element's number within a lane has bits. With as many registers as a lane has elements, both take the same
//! number of steps, which transpose the registers. Where a vector has several lanes, transposes zip each lane separately: each lane has
//! other rows of the source.
//!
//! Where arrays are larger than the caches, the order of the loops determines the speed. A few rows of the source are read
//! side by side, each from front to back, which the hardware prefetcher recognizes. The destination is written in whole lines,
//! two adjacent ones at a time, with non-temporal stores. Columns that do not begin at a cache line are transposed into a
//! staging buffer first, or are written with ordinary stores while the last-level cache has room.
//!
//! Interleaving by factors that are not powers of two is in `interleave`, by 3, 5 and 7 with AVX2 or AVX-512 in `odd_factors`.

#[macro_use]
mod blocks;
#[macro_use]
mod generic;
#[macro_use]
mod matrix;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod hints;
mod interleave;
#[cfg(target_arch = "x86_64")]
mod narrow;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod odd_factors;
#[cfg(target_arch = "x86_64")]
mod permute;
mod runs;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod tables;
mod transpose;

use super::{Axis, Instructions, Interleave, Kernel, LoopCounter, LoopNest, Matrix, Packing, Runs, Transpose, Vectors};
use crate::caches::LINE;
pub(super) use crate::prefetch::prefetch;
use crate::tuning::{
    BySize, ITERATION_PREFETCH_BYTES, MIN_STAGED_RUN, MIN_STREAMED_INTERLEAVING_ROW, ROW_PREFETCH_BYTES,
};
use blocks::{BlockKinds, BlockOptions};
use generic::Vector;
pub(super) use hints::fence;
use hints::{prefetch_far, prefetch_to_write};
#[cfg(target_arch = "x86_64")]
pub(super) use permute::{LANE, Permutes, SIZE, run as permute, run_lanes as permute_lanes};
use std::ops::Range;
use tables::{Loops, OffsetBuffer, Offsets};
use transpose::{Narrow, TransposeKernels};

/// Runs a kernel in every iteration of a loop nest if there are vectors for it. Returns whether it did; if not, nothing is written.
///
/// # Safety
/// `source` and `destination` have at least the bytes that [`LoopNest::span`] gives for [`Kernel::span`], which is not `None`.
#[inline]
pub(super) unsafe fn run(
    kernel: &Kernel,
    instructions: Instructions,
    nest: LoopNest<'_>,
    source: &[u8],
    destination: &mut [u8],
) -> bool {
    let (from, to) = (source.as_ptr(), destination.as_mut_ptr());
    if let Kernel::Matrix(kernel) = kernel {
        // SAFETY: `vectors` comes from `Instructions`, which never have more than the CPU has. The caller guarantees the bounds.
        return unsafe { matrix::run_with(instructions.vectors(), kernel, nest, from, to) };
    }
    // SAFETY: the caller guarantees the bounds.
    unsafe { run_larger(kernel, instructions, nest, from, to) }
}

/// As [`run`], for all kernels except [`Matrix`]. They are kept apart because choosing among them takes longer than moving a small matrix.
///
/// # Safety
/// [`Kernel::span`] is not `None`, and neither is the [`LoopNest::span`] of its result. The latter gives the number of bytes that are valid for reads
/// at `from`, and the number that are valid for writes at `to`.
#[inline(never)]
unsafe fn run_larger(
    kernel: &Kernel,
    instructions: Instructions,
    nest: LoopNest<'_>,
    from: *const u8,
    to: *mut u8,
) -> bool {
    let (vectors, stores) = (instructions.vectors(), instructions.stores());
    let whole_lines = |axes: &[Axis], stride: usize| {
        stride.is_multiple_of(LINE) && axes.iter().all(|axis| axis.to.is_multiple_of(LINE))
    };
    let large = stores.is_streaming();
    // In interleavings, the elements that do not fill a line are written with ordinary stores. In short rows, these would be too large a
    // part.
    let has_lines = |bytes: usize| bytes.is_multiple_of(LINE) || bytes >= MIN_STREAMED_INTERLEAVING_ROW;
    let starts_lines = to.align_offset(LINE) == 0 && whole_lines(nest.0, 0);
    let streaming = large
        && match kernel {
            // Copies may begin and end within lines: they write partial lines with ordinary stores. Only a short copy loses time by that.
            Kernel::Copy(bytes) => *bytes >= MIN_STAGED_RUN || starts_lines && bytes.is_multiple_of(LINE),
            // So may runs, which are collected in a staging buffer.
            Kernel::Runs(_) => true,
            _ if !starts_lines => false,
            Kernel::Interleave(kernel) | Kernel::Pack(Packing { rows: kernel, .. }) => {
                has_lines(kernel.len * kernel.bytes)
            }
            Kernel::Deinterleave(kernel) => whole_lines(&[], kernel.row_stride) && has_lines(kernel.len * kernel.bytes),
            Kernel::Transpose(kernel) => whole_lines(&kernel.a, 0),
            Kernel::Unpack(kernel) => {
                whole_lines(&[], kernel.distance | kernel.rows.row_stride)
                    && has_lines(kernel.rows.len * kernel.rows.bytes)
            }
            Kernel::Matrix(_) | Kernel::PackUnits(_) | Kernel::UnpackUnits(_) => false,
        };
    let large = if matches!(kernel, Kernel::Transpose(_)) { stores.streams_columns(streaming) } else { large };
    if let Kernel::Transpose(kernel) = kernel
        && !kernel.is_dense()
    {
        return false;
    }
    if let Kernel::Interleave(rows) | Kernel::Deinterleave(rows) = kernel
        && interleave::supports(rows)
    {
        let back = matches!(kernel, Kernel::Deinterleave(_));
        // SAFETY: `vectors` comes from `Instructions`, which never have more than the CPU has. `supports` accepts the kernel, and the caller
        // guarantees the bounds.
        return unsafe { interleave::run(rows, back, (vectors, large), nest, from, to) };
    }
    #[cfg(target_arch = "aarch64")]
    if vectors >= Vectors::Neon && neon::supports(kernel) {
        // SAFETY: `vectors` comes from `Instructions`, which never have more than the CPU has, and `supports` accepts the kernel. The caller
        // guarantees the bounds. `streaming` was set only where `to` and the strides are multiples of `LINE`.
        return unsafe { neon::run(kernel, (large, streaming), nest, from, to) };
    }
    #[cfg(target_arch = "x86_64")]
    {
        if vectors >= Vectors::Avx512 && avx512::supports(kernel) {
            // SAFETY: `vectors` comes from `Instructions`, which never have more than the CPU has, and `supports` accepts the kernel. The
            // caller guarantees the bounds. `streaming` was set only where `to` and the strides are multiples of `LINE`.
            return unsafe { avx512::run(kernel, (large, streaming), nest, from, to) };
        }
        if vectors >= Vectors::Avx2 && avx2::supports(kernel) {
            // SAFETY: as for AVX-512.
            return unsafe { avx2::run(kernel, (large, streaming), nest, from, to) };
        }
        if vectors >= Vectors::Sse2 && sse2::supports(kernel) {
            // SAFETY: as for AVX-512.
            return unsafe { sse2::run(kernel, (large, streaming), nest, from, to) };
        }
    }
    false
}

/// How many of the `len` elements of a row are written with non-temporal stores, `step` at a time, where a line has `in_line` of them. If the last
/// vector overlaps the one before, it is written with ordinary stores, and so are all lines that it has a part of: a line that is written in
/// both ways takes several times as long, and needs a fence.
fn streamed_elements(len: usize, step: usize, in_line: usize) -> usize {
    if len.is_multiple_of(step) { len } else { (len - step) / in_line * in_line }
}

/// Copies a part of a cache line with ordinary stores.
///
/// # Safety
/// `bytes` bytes are valid for reads at `from` and for writes at `to`.
unsafe fn copy_partial_line(from: *const u8, to: *mut u8, bytes: usize) {
    if bytes > 0 {
        #[cfg(test)]
        pending::stored(to, bytes);
        // SAFETY: the caller guarantees the bytes. They do not overlap: one of the two is the destination or a staging buffer, the other is
        // not.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
    }
}

/// For tests: the lines that have been written with non-temporal stores since the last fence. No other store may write to them before the
/// next fence.
#[cfg(test)]
mod pending {
    use super::LINE;
    use std::cell::RefCell;
    use std::collections::HashSet;

    thread_local! {
        static LINES: RefCell<HashSet<usize>> = RefCell::default();
        /// The addresses of the non-temporal stores since the last fence.
        static STREAMED: RefCell<HashSet<usize>> = RefCell::default();
    }

    fn lines(to: *mut u8, bytes: usize) -> impl Iterator<Item = usize> {
        to.addr() / LINE..=(to.addr() + bytes - 1) / LINE
    }

    pub(super) fn streamed(to: *mut u8, bytes: usize) {
        LINES.with_borrow_mut(|pending| pending.extend(lines(to, bytes)));
        // Writing a line twice would send it to memory twice.
        let is_new = STREAMED.with_borrow_mut(|streamed| streamed.insert(to.addr()));
        assert!(is_new, "two non-temporal stores to one address");
    }

    pub(super) fn stored(to: *mut u8, bytes: usize) {
        LINES.with_borrow(|pending| {
            assert!(
                lines(to, bytes).all(|line| !pending.contains(&line)),
                "an ordinary store to a line with a pending non-temporal store"
            );
        });
    }

    pub(super) fn fenced() {
        LINES.with_borrow_mut(HashSet::clear);
        STREAMED.with_borrow_mut(HashSet::clear);
    }
}
