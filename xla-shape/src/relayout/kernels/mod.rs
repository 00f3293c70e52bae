//! The innermost loops. All `unsafe` code of the relayout is here, behind functions that check every bound first.
//!
//! Each kernel has a scalar twin in `scalar`, which is its definition. On machines without vectors that this module knows,
//! it is all there is, but for packed elements: `packed` is quicker, and safe as well.

mod cache;
mod gather;
mod packed;
mod scalar;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vectors;

use super::elements::Unit;
use super::options::Vectors;
use super::regions::Axis;
pub(super) use cache::{is_far, is_large};
pub(super) use gather::Gather;
use std::fmt;

/// What the kernels may use. A value that allows vectors is proof that the machine has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Machine {
    vectors: Vectors,
    streaming: bool,
    /// Whether transposes whose rows begin within lines go past the caches as well, by a stage.
    staging: bool,
}

impl Machine {
    /// What this machine can do, with ordinary stores.
    pub(super) fn detect() -> Self {
        // Miri has no stores past the caches.
        #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
        let vectors = Vectors::None;
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        let vectors = if std::arch::is_aarch64_feature_detected!("neon") { Vectors::Neon } else { Vectors::None };
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        let vectors = if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
        {
            Vectors::Avx512
        } else if is_x86_feature_detected!("avx2") {
            Vectors::Avx2
        } else {
            Vectors::Sse2
        };
        Self { vectors, streaming: false, staging: false }
    }

    /// The same with these vectors at most.
    pub(super) fn at_most(self, vectors: Vectors) -> Self {
        Self { vectors: self.vectors.min(vectors), ..self }
    }

    /// The same with stores that go past the caches, where there are such.
    pub(super) fn streaming(self) -> Self {
        Self { streaming: self.vectors != Vectors::None, staging: true, ..self }
    }

    /// The same, but what would need a stage goes through the caches.
    pub(super) fn without_stages(self) -> Self {
        Self { staging: false, ..self }
    }

    /// Whether stores go past the caches.
    pub(super) fn is_streaming(self) -> bool {
        self.streaming
    }

    /// Every choice that this machine has, the scalar twins first.
    #[cfg(test)]
    fn all() -> Vec<Self> {
        let best = Self::detect();
        let mut all = vec![best.at_most(Vectors::None)];
        for vectors in [Vectors::Neon, Vectors::Sse2, Vectors::Avx2, Vectors::Avx512] {
            // No machine has all of them.
            if vectors <= best.vectors && (vectors == Vectors::Neon) == cfg!(target_arch = "aarch64") {
                let machine = best.at_most(vectors);
                all.extend([machine, machine.streaming(), machine.streaming().without_stages()]);
            }
        }
        all
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let vectors = match self.vectors {
            Vectors::None => "without vectors",
            Vectors::Neon | Vectors::Sse2 => "with vectors of 16 bytes",
            Vectors::Avx2 => "with vectors of 32 bytes",
            Vectors::Avx512 => "with vectors of 64 bytes",
        };
        write!(f, "{vectors}, {} the caches", if self.streaming { "past" } else { "through" })
    }
}

/// While it lives, streaming stores may be on their way; when it is dropped, they have all become visible.
pub(super) struct Fence(Machine);

impl Fence {
    pub(super) fn new(machine: Machine) -> Self {
        Self(machine)
    }

    pub(super) fn machine(&self) -> Machine {
        self.0
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.0.streaming {
            vectors::fence();
        }
    }
}

/// Why a run is not picked together from vectors of the source.
pub(super) enum Unpicked {
    /// Elements one by one are as quick.
    OneByOne,
    /// A shorter run would do.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "other machines have no picks"))]
    ShorterRun,
}

/// Places in both arrays from which a kernel runs: loops around it, the outermost first.
#[derive(Clone, Copy)]
pub(super) struct Turns<'a>(pub(super) &'a [Axis]);

impl Turns<'_> {
    /// Calls `inner` with both places of every turn, in bytes or whatever the loops count in. Inlined, so that `inner` may use the vectors of its caller.
    #[inline(always)]
    pub(super) fn for_each(self, from: usize, to: usize, mut inner: impl FnMut(usize, usize)) {
        let (innermost, outer) = match self.0 {
            [] => (ONCE, self.0),
            [outer @ .., innermost] => (*innermost, outer),
        };
        // Most often there is none: then nothing is counted.
        let mut places = None;
        let (mut from_places, mut to_places) = (0, 0);
        loop {
            for i in 0..innermost.len {
                inner(from + from_places + i * innermost.from, to + to_places + i * innermost.to);
            }
            if outer.is_empty() {
                return;
            }
            let places = places.get_or_insert_with(|| Places::of(Turns(outer)));
            if !places.advance() {
                return;
            }
            (from_places, to_places) = (places.from, places.to);
        }
    }

    /// How many bytes each side must have for a kernel that needs `from` and `to` bytes at its place.
    fn ends(self, (from, to): (usize, usize)) -> Option<(usize, usize)> {
        last_turn(self.0, (from, to))
    }
}

/// Where turns begin, one after the other.
struct Places<'a> {
    axes: &'a [Axis],
    /// The turns of each loop so far. There are no more loops: each has at least two turns, and all turns together fit in
    /// an i64.
    counts: [usize; 63],
    /// Where this turn begins in the source, in bytes.
    from: usize,
    /// The same in the destination.
    to: usize,
}

impl<'a> Places<'a> {
    fn of(turns: Turns<'a>) -> Self {
        Self { axes: turns.0, counts: [0; 63], from: 0, to: 0 }
    }

    /// Goes on to the next turn, or after the last to the first; whether there is a next.
    fn advance(&mut self) -> bool {
        for (axis, count) in self.axes.iter().zip(&mut self.counts).rev() {
            *count += 1;
            self.from += axis.from;
            self.to += axis.to;
            if *count < axis.len {
                return true;
            }
            self.from -= axis.len * axis.from;
            self.to -= axis.len * axis.to;
            *count = 0;
        }
        false
    }
}

/// Where the last turn of loops ends on both sides, if a turn takes so many bytes.
fn last_turn<'a>(axes: impl IntoIterator<Item = &'a Axis>, turn: (usize, usize)) -> Option<(usize, usize)> {
    axes.into_iter().try_fold(turn, |(from, to), axis| {
        let turns = axis.len.checked_sub(1)?;
        let add = |end: usize, stride: usize| end.checked_add(stride.checked_mul(turns)?);
        Some((add(from, axis.from)?, add(to, axis.to)?))
    })
}

/// `ways` rows of `len` elements, `row` bytes apart, become one run that takes an element of each row in turn; or back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interleave {
    /// 2 to 15.
    pub(super) ways: usize,
    /// The bytes of an element: a power of two; all of them together take less than 64.
    pub(super) bytes: usize,
    pub(super) len: usize,
    pub(super) row: usize,
}

impl Interleave {
    /// The bytes of the rows, with what lies between them, and those of the run; `None` if they overflow.
    fn ends(&self) -> Option<(usize, usize)> {
        let row = self.len.checked_mul(self.bytes)?;
        Some((self.row.checked_mul(self.ways.checked_sub(1)?)?.checked_add(row)?, row.checked_mul(self.ways)?))
    }
}

/// Runs of `bytes` bytes, `row` bytes apart in the source, follow each other in the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Runs {
    /// 1 to [`MAX_BYTES`](Self::MAX_BYTES).
    pub(super) bytes: usize,
    pub(super) len: usize,
    pub(super) row: usize,
}

impl Runs {
    /// The longest: longer ones gain nothing.
    pub(super) const MAX_BYTES: usize = 1024;

    /// The bytes of the source, with what lies between the runs, and those of the destination; `None` if they overflow, or runs are
    /// empty or too long.
    fn ends(&self) -> Option<(usize, usize)> {
        let axis = Axis { len: self.len, from: self.row, to: self.bytes };
        last_turn(&[axis], (self.bytes, self.bytes)).filter(|_| (1..=Self::MAX_BYTES).contains(&self.bytes))
    }
}

/// The loops of one side of a transpose, the innermost first; those that are not there have length 1.
pub(super) type Side = [Axis; 4];

/// A transpose: elements that lie together, or else near each other, in the source along `a`, and in the destination along `b`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Transpose {
    /// The bytes of an element: 1, 2, 4, 8 or 16.
    pub(super) bytes: usize,
    /// Byte `i` of 16 bytes of elements in the destination is byte `shuffle[i]` of these elements in the source; no
    /// element takes bytes of another.
    pub(super) shuffle: Option<[u8; 16]>,
    /// Neighbours in the source, as are the turns of each outer loop.
    pub(super) a: Side,
    /// Neighbours in the destination, as are the turns of each outer loop.
    pub(super) b: Side,
}

impl Transpose {
    /// How many bytes, counted from the first element, each side must have; `None` if they overflow.
    fn ends(&self) -> Option<(usize, usize)> {
        last_turn(self.a.iter().chain(&self.b), (self.bytes, self.bytes))
    }

    /// Whether elements lie together: in the source along `a`, and in the destination along `b`.
    fn is_dense(&self) -> bool {
        follows(&self.a, |axis| axis.from, self.bytes) && follows(&self.b, |axis| axis.to, self.bytes)
    }

    /// Whether a machine has no vectors for it: elements lie apart, or one of the sides is too short.
    pub(super) fn is_scalar(&self, machine: Machine) -> bool {
        let is_short = self.a_len() * self.bytes < 16 || self.b_len() * self.bytes < 16;
        !self.is_dense() || is_short && machine.vectors < Vectors::Avx512
    }

    /// As many picks for a vector are slower; none are quicker where both sides take a line.
    pub(super) fn slower_picks(&self) -> usize {
        let (a, b) = (self.a_len() * self.bytes, self.b_len() * self.bytes);
        // Vectors are filled from here and there. A store of a few bytes takes about as long as one of a vector.
        if a.min(b) < 16 {
            96 / a.min(b)
        } else if a.max(b) < 64 {
            8
        } else {
            0
        }
    }

    /// How many elements lie together in the source.
    fn a_len(&self) -> usize {
        len(&self.a)
    }

    /// How many elements lie together in the destination.
    fn b_len(&self) -> usize {
        len(&self.b)
    }
}

/// How many elements the loops of a side have.
fn len(side: &Side) -> usize {
    side.iter().map(|axis| axis.len).product()
}

/// Whether each loop goes on where the one within ends, and the innermost by so many bytes.
fn follows(side: &Side, stride: fn(&Axis) -> usize, bytes: usize) -> bool {
    let mut end = bytes;
    side.iter()
        .filter(|axis| axis.len > 1)
        .all(|axis| stride(axis) == std::mem::replace(&mut end, stride(axis) * axis.len))
}

/// No loop.
const ONCE: Axis = Axis { len: 1, from: 0, to: 0 };

/// Elements that take a byte each become packed ones; or back. Those that share a byte lie in different rows, and the
/// bytes that they are packed into are interleaved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packing {
    /// The bits of a packed element: 1, 2 or 4.
    pub(super) bits: usize,
    /// How far apart the elements lie that share a byte.
    pub(super) distance: usize,
    /// Rows of packed bytes; `row` is the distance of their first elements. One row (`ways` is 1) is just copied.
    pub(super) rows: Interleave,
}

impl Packing {
    /// The bytes that the elements take, with what lies between them, and those they are packed into.
    fn ends(&self) -> Option<(usize, usize)> {
        let axis = |len: usize, from| Axis { len, from, to: 0 };
        let Interleave { ways, len, row, .. } = self.rows;
        let axes = [axis(8 / self.bits, self.distance), axis(len, 1), axis(ways, row)];
        Some((last_turn(&axes, (1, 0))?.0, ways.checked_mul(len)?))
    }
}

/// Elements that take a byte each, evenly spaced, become packed ones that follow each other; or back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Units {
    /// The bits of a packed element, fewer than 8.
    pub(super) bits: usize,
    pub(super) unit: Unit,
    /// How far apart neighbours lie where they take a byte each.
    pub(super) distance: usize,
    /// How many units there are.
    pub(super) len: usize,
}

impl Units {
    /// The bytes that the elements take, with what lies between them, and those they are packed into.
    fn ends(&self) -> Option<(usize, usize)> {
        let elements = self.len.checked_mul(self.unit.elements)?;
        let axis = Axis { len: elements, from: self.distance, to: 0 };
        Some((last_turn(&[axis], (1, 0))?.0, self.len.checked_mul(self.unit.bytes)?))
    }
}

/// What the innermost loops do; places are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kernel {
    /// Copies this many bytes that lie together on both sides.
    Copy(usize),
    Runs(Runs),
    Interleave(Interleave),
    /// The way back: `from` and `to` of [`Interleave`] change places.
    Deinterleave(Interleave),
    Transpose(Transpose),
    Pack(Packing),
    /// The way back: `from` and `to` of [`Packing`] change places.
    Unpack(Packing),
    PackUnits(Units),
    /// The way back: `from` and `to` of [`Units`] change places.
    UnpackUnits(Units),
}

impl Kernel {
    /// How many bytes each side must have for one turn; `None` if they overflow, or no kernel is like that.
    fn ends(&self) -> Option<(usize, usize)> {
        let back = |(from, to)| (to, from);
        match self {
            Self::Copy(bytes) => Some((*bytes, *bytes)),
            Self::Runs(kernel) => kernel.ends(),
            Self::Interleave(kernel) => kernel.ends(),
            Self::Deinterleave(kernel) => kernel.ends().map(back),
            Self::Transpose(kernel) => kernel.ends(),
            Self::Pack(kernel) => kernel.ends(),
            Self::Unpack(kernel) => kernel.ends().map(back),
            Self::PackUnits(kernel) => kernel.ends(),
            Self::UnpackUnits(kernel) => kernel.ends().map(back),
        }
    }

    /// Runs the kernel in every turn.
    ///
    /// # Panics
    /// If a turn would leave the source or the destination.
    pub(super) fn run(&self, machine: Machine, turns: Turns<'_>, source: &[u8], destination: &mut [u8]) {
        let ends = self.ends().and_then(|ends| turns.ends(ends));
        let (from, to) = ends.expect("plans have valid kernels, and the places of an array fit in an i64");
        let (source, destination) = (&source[..from], &mut destination[..to]);
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        // SAFETY: the slices are as long as all turns of a valid kernel need.
        if unsafe { vectors::run(self, machine, turns, source, destination) } {
            return;
        }
        let mut stage = [0; size_of::<packed::Stage>()];
        turns.for_each(0, 0, |from, to| {
            let (source, destination) = (&source[from..], &mut destination[to..]);
            match self {
                Self::Pack(kernel) => packed::pack(kernel, machine, &mut stage, source, destination),
                Self::Unpack(kernel) => packed::unpack(kernel, machine, &mut stage, source, destination),
                Self::PackUnits(kernel) => packed::pack_units(kernel, source, destination),
                Self::UnpackUnits(kernel) => packed::unpack_units(kernel, source, destination),
                _ => scalar::run(self, source, destination),
            }
        });
    }
}
