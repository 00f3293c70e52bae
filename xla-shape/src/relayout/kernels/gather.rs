//! Runs of the destination whose elements come from all over a part of the source: where several loops are all too short for the
//! vectors of other kernels.
//!
//! A table says where each element of a run lies on both sides. With 64-byte vectors, a vector of the destination is picked together
//! from as many vectors of the source as its elements lie in, if these are few.

#[cfg(target_arch = "x86_64")]
use super::vectors::Picks;
use super::{Machine, Turns, Unpicked, Vectors};

/// Where the elements of a run lie, in ascending order of the destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct Gather {
    /// The bytes of an element: 1, 2, 4, 8 or 16.
    bytes: usize,
    /// Where each element lies in the source and in the destination, in elements from the beginning of the turn.
    places: Vec<(u32, u32)>,
    picks: Option<Picks>,
}

/// Other machines have no picks.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, PartialEq, Eq, Debug)]
enum Picks {}

#[cfg(not(target_arch = "x86_64"))]
impl Picks {
    fn of(_: usize, _: &[(u32, u32)], _: usize) -> Result<Self, Unpicked> {
        Err(Unpicked::OneByOne)
    }
}

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
    pub(in super::super) fn picked(bytes: usize, places: &[(u32, u32)], most: usize) -> Result<Self, Unpicked> {
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
                && destination.as_ptr().align_offset(64) == 0
                && turns.0.iter().all(|axis| axis.to.is_multiple_of(64))
                && picks.are_whole();
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
