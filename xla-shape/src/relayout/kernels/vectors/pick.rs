//! Vectors of the destination that are picked together from several vectors of the source.

use super::super::Unpicked;
use super::Turns;
#[cfg(test)]
use super::pending;
use std::arch::x86_64::*;
use std::ops::Range;

/// Vectors of the destination, and what they take from which vectors of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct Picks {
    vectors: Vec<Picked>,
    /// The bytes of a vector of the source that are picked. One for each of them: where it lies within the vector, and [`MINE`].
    indices: Vec<Indices>,
    /// Where that vector of the source begins, in bytes from the beginning of the turn.
    from: Vec<u32>,
}

/// A vector of the destination: where it begins, which of its bytes are written, and what it takes.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Picked {
    to: usize,
    bytes: u64,
    picks: Range<usize>,
}

/// One for each byte of a vector of the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
struct Indices([u8; SIZE]);

/// Marks bytes that come from this vector of the source.
const MINE: u8 = 0x80;

/// The bytes of a vector.
const SIZE: usize = 64;

/// The most picks of a run: all of them stay in the nearest cache.
const MAX_PICKS: usize = 192;

impl Picks {
    /// How to pick elements of so many bytes, with so many picks for each vector at most.
    pub(in super::super) fn of(bytes: usize, places: &[(u32, u32)], most: usize) -> Result<Self, Unpicked> {
        let end = places.iter().map(|place| place.0).max().map_or(0, |last| (last as usize + 1) * bytes);
        // Turns that are shorter than a vector have nothing to read one from.
        let last_vector = end.checked_sub(SIZE).ok_or(Unpicked::OneByOne)? as u32;
        let shift = (SIZE / bytes).ilog2();
        let num_vectors = places.last().map_or(0, |place| (place.1 >> shift) as usize + 1);
        let (indices, from) = (Vec::with_capacity(MAX_PICKS / 2), Vec::with_capacity(MAX_PICKS / 2));
        let mut all = Self { vectors: Vec::with_capacity(num_vectors), indices, from };
        let mut done = 0;
        for elements in places.chunk_by(|a, b| a.1 >> shift == b.1 >> shift) {
            let start = all.from.len();
            let to = elements[0].1 >> shift << shift;
            let mut stored = 0;
            for &(from, own) in elements {
                let (from, own) = (from * bytes as u32, (own - to) as usize * bytes);
                stored |= (u64::MAX >> (SIZE - bytes)) << own;
                // Most often, an element lies in the vector that was found last.
                let lies_in = |vector: &u32| from.wrapping_sub(*vector) <= (SIZE - bytes) as u32;
                let number = all.from[start..].iter().rposition(lies_in).map(|number| start + number);
                let number = number.unwrap_or_else(|| {
                    all.from.push(from.min(last_vector));
                    all.indices.push(Indices([0; SIZE]));
                    all.from.len() - 1
                });
                let first = (from - all.from[number]) as u8 | MINE;
                let indices = &mut all.indices[number].0[own..own + bytes];
                indices.iter_mut().zip(first..).for_each(|(index, byte)| *index = byte);
            }
            all.vectors.push(Picked { to: to as usize * bytes, bytes: stored, picks: start..all.from.len() });
            done += elements.len();
            // A pick takes about as long as an element.
            if all.from.len() + 2 * all.vectors.len() > done || all.from.len() > most * all.vectors.len() {
                return Err(Unpicked::OneByOne);
            }
            // The first vectors say how many the others will take, more or less.
            if all.from.len() > MAX_PICKS || all.from.len() * places.len() > 2 * MAX_PICKS * done {
                return Err(Unpicked::ShorterRun);
            }
        }
        Ok(all)
    }

    /// Whether all bytes of all vectors are written.
    pub(in super::super) fn are_whole(&self) -> bool {
        self.vectors.iter().all(|vector| vector.bytes == u64::MAX)
    }
}

/// Picks all vectors of every turn.
///
/// # Safety
/// The machine must have these vectors. In every turn, 64 bytes must be valid for reads wherever the picks begin, and for writes the
/// bytes of each vector that are written; if `streaming`, these are all, and the vectors begin at multiples of 64.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(in super::super) unsafe fn run(picks: &Picks, streaming: bool, turns: Turns<'_>, from: *const u8, to: *mut u8) {
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
            if streaming {
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
