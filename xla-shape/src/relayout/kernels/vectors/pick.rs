//! Vectors of the destination that are picked together from several vectors of the source.

use super::super::gather::Picks;
use super::Turns;
#[cfg(test)]
use super::pending;
use std::arch::x86_64::*;

/// Picks all vectors of every turn.
///
/// # Safety
/// The machine must have these vectors. In every turn, 64 bytes must be valid for reads wherever the picks begin, and for writes the
/// bytes of each vector that are written; if `STREAMING`, these are all, and the vectors begin at multiples of 64.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn run<const STREAMING: bool>(picks: &Picks, turns: Turns<'_>, from: *const u8, to: *mut u8) {
    turns.for_each(0, 0, |from_turn, to_turn| {
        let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
        for vector in &picks.vectors {
            let mut result = _mm512_setzero_si512();
            for (indices, &place) in picks.indices[vector.picks.clone()].iter().zip(&picks.from[vector.picks.clone()]) {
                // SAFETY: an array of as many bytes that begins at a multiple of them.
                let indices = unsafe { _mm512_load_si512(indices.0.as_ptr().cast()) };
                // SAFETY: as required of the caller.
                let source = unsafe { _mm512_loadu_si512(from.wrapping_add(place as usize).cast()) };
                // The highest bit marks the bytes that are picked; of the rest, only the bits of a byte's number count.
                result = _mm512_mask_permutexvar_epi8(result, _mm512_movepi8_mask(indices), indices, source);
            }
            let to = to.wrapping_add(vector.to);
            if STREAMING {
                #[cfg(test)]
                pending::streamed(to, 64);
                // SAFETY: as required of the caller.
                unsafe { _mm512_stream_si512(to.cast(), result) };
            } else if vector.bytes == u64::MAX {
                #[cfg(test)]
                pending::stored(to, 64);
                // SAFETY: as required of the caller.
                unsafe { _mm512_storeu_si512(to.cast(), result) };
            } else {
                #[cfg(test)]
                pending::stored(to, 64 - vector.bytes.leading_zeros() as usize);
                // SAFETY: as required of the caller; the other bytes are left alone.
                unsafe { _mm512_mask_storeu_epi8(to.cast(), vector.bytes, result) };
            }
        }
    });
}
