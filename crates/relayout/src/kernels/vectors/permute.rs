//! Vectors of the destination that are assembled from several vectors of the source by permutes.

use super::super::{NotPermuted, PermuteCount};
use super::LoopNest;
#[cfg(test)]
use super::pending;
use crate::tuning::MAX_PERMUTES_PER_BLOCK;
use std::arch::x86_64::*;
use std::ops::Range;

/// The vectors of the destination, and the permutes that assemble them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct Permutes {
    /// The bytes of a vector: [`SIZE`] or [`LANE`].
    size: usize,
    vectors: Vec<PermutedVector>,
    /// `size` bytes for each permute: for each byte of the result that comes from this vector of the source, its index there. With
    /// [`SIZE`], the highest bit marks these bytes; with [`LANE`], it marks the others.
    indices: Vec<Indices>,
    /// One entry for each permute: where its vector of the source begins, in bytes from the start of the iteration. With [`SIZE`], the bytes of
    /// `read` end at or before the end of the iteration's elements; with [`LANE`], all 16 bytes do.
    from: Vec<u32>,
    /// With [`SIZE`], a mask of the bytes that are read of each vector of the source: all, unless the elements span less than a vector.
    read: u64,
}

/// A vector of the destination: its offset in bytes from the start of the iteration, a mask of the bytes that are written, and its
/// permutes.
#[derive(Clone, PartialEq, Eq, Debug)]
struct PermutedVector {
    to: usize,
    bytes: u64,
    permutes: Range<usize>,
}

/// The indices of one permute of [`SIZE`] bytes, or of four of [`LANE`] bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
struct Indices([u8; SIZE]);

/// The highest bit of an index.
const MARK: u8 = 0x80;

/// The bytes of a vector with AVX-512.
pub(in super::super) const SIZE: usize = 64;

/// The bytes of a vector with AVX2, whose permutes stay within lanes. Such vectors are written whole.
pub(in super::super) const LANE: usize = 16;

impl Permutes {
    /// The permutes with vectors of `size` bytes for elements of `bytes` bytes at these places. `admits` says
    /// whether so many permutes are cheaper than another kernel.
    pub(in super::super) fn new(
        size: usize,
        bytes: usize,
        places: &[(u32, u32)],
        admits: impl Fn(PermuteCount) -> bool,
    ) -> Result<Self, NotPermuted> {
        let end = places.iter().map(|place| place.0).max().map_or(0, |last| (last as usize + 1) * bytes);
        // If the elements span less than a vector, it is read with a mask, which AVX2 does not have for bytes.
        if end == 0 || end < size && size == LANE {
            return Err(NotPermuted::TooExpensive);
        }
        let read = u64::MAX >> SIZE.saturating_sub(end);
        let last_vector = end.saturating_sub(size) as u32;
        let shift = (size / bytes).ilog2();
        let num_vectors = places.last().map_or(0, |place| (place.1 >> shift) as usize + 1);
        let from = Vec::with_capacity(MAX_PERMUTES_PER_BLOCK / 2);
        let indices = Vec::with_capacity(MAX_PERMUTES_PER_BLOCK / 2 * size / SIZE);
        let mut all = Self { size, vectors: Vec::with_capacity(num_vectors), indices, from, read };
        // Without masks, the last vector overlaps the one before it, so the elements must have no gaps.
        let is_dense = places.last().is_some_and(|last| last.1 as usize + 1 == places.len());
        let last = &places[places.len().saturating_sub(size / bytes)..];
        if size == LANE && (!is_dense || last.len() * bytes < size) {
            return Err(NotPermuted::TooExpensive);
        }
        let mut done = 0;
        for elements in places.chunk_by(|a, b| a.1 >> shift == b.1 >> shift) {
            let elements = if size == LANE && elements.len() < last.len() { last } else { elements };
            let start = all.from.len();
            let to = if size == LANE { elements[0].1 } else { elements[0].1 >> shift << shift };
            let mut stored = 0;
            for &(from, own) in elements {
                let (from, own) = (from * bytes as u32, (own - to) as usize * bytes);
                stored |= (u64::MAX >> (SIZE - bytes)) << own;
                // An element usually lies in the vector that was added last.
                let lies_in = |vector: &u32| from.wrapping_sub(*vector) <= (size - bytes) as u32;
                let number = all.from[start..].iter().rposition(lies_in).map(|number| start + number);
                let number = number.unwrap_or_else(|| all.add(from.min(last_vector)));
                let first = (from - all.from[number]) as u8 | if size == LANE { 0 } else { MARK };
                let place = number * size + own;
                let indices = &mut all.indices[place / SIZE].0[place % SIZE..][..bytes];
                indices.iter_mut().zip(first..).for_each(|(index, byte)| *index = byte);
            }
            all.vectors.push(PermutedVector {
                to: to as usize * bytes,
                bytes: stored,
                permutes: start..all.from.len(),
            });
            done += elements.len();
            let count = PermuteCount { permutes: all.from.len(), vectors: all.vectors.len(), elements: done };
            if !admits(count) {
                return Err(NotPermuted::TooExpensive);
            }
            // The first vectors tell about how many permutes the others will take.
            if all.from.len() > MAX_PERMUTES_PER_BLOCK
                || all.from.len() * places.len() > 2 * MAX_PERMUTES_PER_BLOCK * done
            {
                return Err(NotPermuted::TryShorterBlock);
            }
        }
        Ok(all)
    }

    /// Adds a permute of the vector of the source that begins here, without any bytes yet. Returns its number.
    fn add(&mut self, from: u32) -> usize {
        self.from.push(from);
        if self.indices.len() * SIZE < self.from.len() * self.size {
            self.indices.push(Indices([if self.size == LANE { MARK } else { 0 }; SIZE]));
        }
        self.from.len() - 1
    }

    /// The bytes of a vector.
    pub(in super::super) fn size(&self) -> usize {
        self.size
    }

    /// Whether every byte of every vector is written.
    pub(in super::super) fn are_whole(&self) -> bool {
        self.vectors.iter().all(|vector| vector.bytes == u64::MAX)
    }
}

/// Assembles and writes all vectors of [`SIZE`] bytes in every iteration.
///
/// # Safety
/// The CPU has AVX-512 F, BW and VBMI, and the vectors have [`SIZE`] bytes. In every iteration, the bytes that `permutes.read` names are
/// valid for reads from each entry of `permutes.from` on, and the bytes of each vector that its mask names are valid for writes. If
/// `streaming`, all masks are full and all vectors lie at multiples of 64.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(in super::super) unsafe fn run(
    permutes: &Permutes,
    streaming: bool,
    nest: LoopNest<'_>,
    from: *const u8,
    to: *mut u8,
) {
    nest.for_each(0, 0, |from_offset, to_offset| {
        let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
        let mut rest = permutes.indices.iter().zip(&permutes.from);
        for vector in &permutes.vectors {
            let mut result = _mm512_setzero_si512();
            for (indices, &place) in rest.by_ref().take(vector.permutes.len()) {
                // SAFETY: `Indices` has 64 bytes and is aligned to 64.
                let indices = unsafe { _mm512_load_si512(indices.0.as_ptr().cast()) };
                // SAFETY: the caller guarantees the bytes in the mask; the load does not access the others.
                let source =
                    unsafe { _mm512_maskz_loadu_epi8(permutes.read, from.wrapping_add(place as usize).cast()) };
                // The highest bit of an index marks the bytes to take; of the other bits, the permute uses the lowest six.
                result = _mm512_mask_permutexvar_epi8(result, _mm512_movepi8_mask(indices), indices, source);
            }
            let to = to.wrapping_add(vector.to);
            if streaming {
                #[cfg(test)]
                pending::streamed(to, 64);
                // SAFETY: if `streaming`, the caller guarantees that all 64 bytes are writable and that `to` is a multiple of 64.
                unsafe { _mm512_stream_si512(to.cast(), result) };
            } else if vector.bytes == u64::MAX {
                #[cfg(test)]
                pending::stored(to, 64);
                // SAFETY: the mask is full, so the caller guarantees that all 64 bytes are writable.
                unsafe { _mm512_storeu_si512(to.cast(), result) };
            } else {
                #[cfg(test)]
                pending::stored(to, 64 - vector.bytes.leading_zeros() as usize);
                // SAFETY: the caller guarantees that the bytes in the mask are writable; the store does not access the others.
                unsafe { _mm512_mask_storeu_epi8(to.cast(), vector.bytes, result) };
            }
        }
    });
}

/// Assembles and writes all vectors of [`LANE`] bytes in every iteration.
///
/// # Safety
/// The CPU has AVX2, and the vectors have [`LANE`] bytes. In every iteration, 16 bytes are valid for reads from each entry of `permutes.from`
/// on, and for writes at each vector.
#[target_feature(enable = "avx2")]
pub(in super::super) unsafe fn run_lanes(permutes: &Permutes, nest: LoopNest<'_>, from: *const u8, to: *mut u8) {
    nest.for_each(0, 0, |from_offset, to_offset| {
        let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
        for vector in &permutes.vectors {
            let mut result = _mm_setzero_si128();
            let indices = permutes.indices.as_ptr().cast::<u8>().wrapping_add(vector.permutes.start * LANE);
            for (number, &place) in permutes.from[vector.permutes.clone()].iter().enumerate() {
                // SAFETY: `Permutes::add` makes room for `LANE` bytes of indices for each permute, one after the other.
                let indices = unsafe { _mm_load_si128(indices.wrapping_add(number * LANE).cast()) };
                // SAFETY: the caller guarantees 16 readable bytes at each entry of `permutes.from`.
                let source = unsafe { _mm_loadu_si128(from.wrapping_add(place as usize).cast()) };
                // A marked index gives 0.
                result = _mm_or_si128(result, _mm_shuffle_epi8(source, indices));
            }
            let to = to.wrapping_add(vector.to);
            #[cfg(test)]
            pending::stored(to, LANE);
            // SAFETY: the caller guarantees that all 16 bytes are writable.
            unsafe { _mm_storeu_si128(to.cast(), result) };
        }
    });
}
