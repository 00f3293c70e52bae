//! Runs of the destination whose elements come from all over a part of the source: where several loops are all too short for the
//! vectors of other kernels.
//!
//! A table says where each element of a run lies on both sides. With 64-byte vectors, a vector of the destination is picked together
//! from as many vectors of the source as its elements lie in, if these are few.

use super::{Machine, Turns, Vectors};
use std::ops::Range;

/// Where the elements of a run lie, in ascending order of the destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct Gather {
    /// The bytes of an element: 1, 2, 4, 8 or 16.
    bytes: usize,
    /// Where each element lies in the source and in the destination, in elements from the beginning of the turn.
    places: Vec<(u32, u32)>,
    picks: Option<Picks>,
}

/// Vectors of the destination, and what they take from which vectors of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Picks {
    pub(super) vectors: Vec<Picked>,
    /// The bytes of a vector of the source that are picked. One for each of them: where it lies within the vector, and [`MINE`].
    pub(super) indices: Vec<Indices>,
    /// Where that vector of the source begins, in bytes from the beginning of the turn.
    pub(super) from: Vec<u32>,
}

/// A vector of the destination: where it begins, which of its bytes are written, and what it takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Picked {
    pub(super) to: usize,
    pub(super) bytes: u64,
    pub(super) picks: Range<usize>,
}

/// In the order of the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub(super) struct Indices(pub(super) [u8; SIZE]);

/// Marks bytes that come from this vector of the source.
pub(super) const MINE: u8 = 0x80;

/// The bytes of a vector.
const SIZE: usize = 64;

/// The most picks of a run: all of them stay in the nearest cache.
const MAX_PICKS: usize = 192;

/// Why nothing is picked: elements one by one are as quick, or with `true`, a shorter run would do.
pub(in super::super) struct TooMany(pub(in super::super) bool);

impl Gather {
    /// Whether a machine can pick.
    pub(in super::super) fn picks(machine: Machine) -> bool {
        machine.vectors >= Vectors::Avx512
    }

    /// The places are in elements, and in ascending order of the destination; none is larger than an `i32` in bytes.
    pub(in super::super) fn new(bytes: usize, places: Vec<(u32, u32)>) -> Self {
        Self { bytes, places, picks: None }
    }

    /// The same, with so many picks for each vector at most.
    pub(in super::super) fn picked(bytes: usize, places: &[(u32, u32)], most: usize) -> Result<Self, TooMany> {
        Ok(Self { bytes, places: places.to_vec(), picks: Some(Picks::of(bytes, places, most)?) })
    }

    /// How many elements a turn has.
    pub(in super::super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The bytes of an element.
    pub(in super::super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether vectors are picked together.
    pub(in super::super) fn is_picked(&self) -> bool {
        self.picks.is_some()
    }

    /// How many bytes each side must have for a turn.
    fn ends(&self) -> (usize, usize) {
        let end = |place: Option<u32>| place.map_or(0, |place| (place as usize + 1) * self.bytes);
        (end(self.places.iter().map(|place| place.0).max()), end(self.places.iter().map(|place| place.1).max()))
    }

    /// Copies the elements of every turn.
    ///
    /// # Panics
    /// If a turn would leave the source or the destination.
    pub(in super::super) fn run(&self, machine: Machine, turns: Turns<'_>, source: &[u8], destination: &mut [u8]) {
        let (from, to) = turns.ends(self.ends()).expect("the places of an array fit in an i64");
        let (source, destination) = (&source[..from], &mut destination[..to]);
        #[cfg(target_arch = "x86_64")]
        if let Some(picks) = &self.picks
            && machine.vectors >= Vectors::Avx512
        {
            let streaming = machine.streaming
                && destination.as_ptr().align_offset(SIZE) == 0
                && turns.0.iter().all(|axis| axis.to.is_multiple_of(SIZE))
                && picks.vectors.iter().all(|vector| vector.bytes == u64::MAX);
            let (from, to) = (source.as_ptr(), destination.as_mut_ptr());
            // SAFETY: the machine has these vectors. Vectors of the source and bytes of the destination lie between those of a turn's
            // elements, and the slices are as long as all turns need. If `streaming`, all vectors of the destination are whole and begin
            // at multiples of their size.
            return unsafe { super::vectors::pick(picks, streaming, turns, from, to) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = machine;
        match self.bytes {
            1 => self.run_elements::<1>(turns, source, destination),
            2 => self.run_elements::<2>(turns, source, destination),
            4 => self.run_elements::<4>(turns, source, destination),
            8 => self.run_elements::<8>(turns, source, destination),
            _ => self.run_elements::<16>(turns, source, destination),
        }
    }

    /// What all ways mean: one element after the other.
    fn run_elements<const BYTES: usize>(&self, turns: Turns<'_>, source: &[u8], destination: &mut [u8]) {
        turns.for_each(0, 0, |from, to| {
            let source = source[from..].as_chunks::<BYTES>().0;
            let destination = destination[to..].as_chunks_mut::<BYTES>().0;
            self.places.iter().for_each(|&(from, to)| destination[to as usize] = source[from as usize]);
        });
    }
}

impl Picks {
    fn of(bytes: usize, places: &[(u32, u32)], most: usize) -> Result<Self, TooMany> {
        let end = places.iter().map(|place| place.0).max().map_or(0, |last| (last as usize + 1) * bytes);
        // Turns that are shorter than a vector have nothing to read one from.
        let last_vector = end.checked_sub(SIZE).ok_or(TooMany(false))? as u32;
        let mut all = Self { vectors: Vec::new(), indices: Vec::new(), from: Vec::new() };
        let shift = (SIZE / bytes).ilog2();
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
                return Err(TooMany(false));
            }
            if all.from.len() > MAX_PICKS {
                return Err(TooMany(true));
            }
        }
        Ok(all)
    }
}
