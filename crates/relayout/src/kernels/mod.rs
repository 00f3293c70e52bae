//! The innermost loops. All `unsafe` code that copies is here. It is only reached through functions that check every bound.
//!
//! Each kernel is defined by its implementation in `scalar`, which is plain safe Rust. Where this machine
//! has no vector version of a kernel, that implementation runs; packed elements have a faster one in `packed`, which is
//! safe as well.
//!
//! [`Kernel`] says what each kernel needs. Transposes are in `vectors/transpose.rs` (the order of loops), `blocks.rs`, `narrow.rs` (few
//! rows) and `matrix.rs` (without tables). The permutes of gathers are in `permute.rs`. The instructions of each machine are in
//! `vectors/{sse2,avx2,avx512,neon}.rs`; the trait `Vector` of `vectors/generic.rs` lists the operations that kernels may use. `choice`
//! selects the kernel, and `BLESS=1 cargo test -p xla-shape-relayout --lib choice` writes the list of its choices. `tuning.rs` has the
//! numbers that were measured, and `parts.rs` cuts steps for threads. A new kernel needs a definition in `scalar.rs`, a test in `tests.rs`,
//! a law in `tests/tests/arrays/relayout.rs`, and a case in `benches/src/bin/relayout/cases.rs`.

mod gather;
mod instructions;
mod packed;
mod scalar;
mod step;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vectors;

use super::caches::resident_lines;
use super::elements::Unit;
use super::loops::Axis;
use super::tuning::MAX_RUN;
use super::vector::Vectors;
pub(super) use gather::{Gather, PermuteCount};
use instructions::Fence;
pub(super) use instructions::{Instructions, StoreMode};
pub(super) use step::{BoundedStep, Step, Work};

/// Why a block is not assembled by permutes.
pub(super) enum NotPermuted {
    /// Another kernel costs no more.
    TooExpensive,
    /// The block needs too many permutes; a shorter one may need few enough.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "other machines have no permutes"))]
    TryShorterBlock,
}

/// The bytes of the shortest 3, 5 or 7 rows of 4-byte elements that are interleaved with one permute per row: the bytes of a vector with
/// AVX2.
pub(super) const LEAST_ODD_ROW: usize = 32;

/// Loops around a kernel, the outermost first. The *iterations* of the nest are all combinations of their indices.
#[derive(Clone, Copy)]
pub(super) struct LoopNest<'a>(pub(super) &'a [Axis]);

impl LoopNest<'_> {
    /// Calls `inner` with the offsets of every iteration in the source and in the destination, in the unit of the loops (bytes or
    /// elements). Inlined, so that `inner` is compiled with the vectors of its caller.
    #[inline(always)]
    pub(super) fn for_each(self, from: usize, to: usize, mut inner: impl FnMut(usize, usize)) {
        let (innermost, outer) = match self.0 {
            [] => (NO_LOOP, self.0),
            [outer @ .., innermost] => (*innermost, outer),
        };
        // Usually there is one loop, and no counter is needed.
        let mut places = None;
        let (mut from_places, mut to_places) = (0, 0);
        loop {
            for i in 0..innermost.len {
                inner(from + from_places + i * innermost.from, to + to_places + i * innermost.to);
            }
            if outer.is_empty() {
                return;
            }
            if places.is_none() {
                places = Some(LoopCounter::new(LoopNest(outer)));
            }
            let Some(places) = &mut places else { return };
            if !places.advance() {
                return;
            }
            (from_places, to_places) = (places.from, places.to);
        }
    }

    /// *The span*: how many bytes of the source and of the destination all iterations take together, from the first offset to the end of the
    /// last iteration. One iteration takes `from` and `to` bytes. `None` if a number overflows. If both slices have the span, all iterations
    /// are in bounds.
    fn span(self, (from, to): (usize, usize)) -> Option<(usize, usize)> {
        span_of_loops(self.0, (from, to))
    }
}

/// The offsets of the iterations of a loop nest, one after the other.
struct LoopCounter<'a> {
    axes: &'a [Axis],
    /// The index of each loop. There are at most 63 loops with more than one iteration, since the number of all iterations fits in an
    /// `i64`.
    counts: [usize; 63],
    /// The offset of this iteration in the source, in bytes.
    from: usize,
    /// The offset in the destination.
    to: usize,
}

impl<'a> LoopCounter<'a> {
    fn new(nest: LoopNest<'a>) -> Self {
        Self { axes: nest.0, counts: [0; 63], from: 0, to: 0 }
    }

    /// Advances to the next iteration, or from the last to the first. Returns whether there was a next one.
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

/// The bytes that loops span on both sides if one iteration takes `iteration` bytes; `None` if they overflow or a loop is empty.
fn span_of_loops<'a>(axes: impl IntoIterator<Item = &'a Axis>, iteration: (usize, usize)) -> Option<(usize, usize)> {
    axes.into_iter().try_fold(iteration, |(from, to), axis| {
        if axis.len == 1 {
            return Some((from, to));
        }
        let nest = axis.len.checked_sub(1)?;
        let add = |end: usize, stride: usize| end.checked_add(stride.checked_mul(nest)?);
        Some((add(from, axis.from)?, add(to, axis.to)?))
    })
}

/// Interleaving: `factor` rows of `len` elements, `row_stride` bytes apart in the source, become one run that takes one element from each row in
/// turn. Or the inverse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interleave {
    /// The interleave factor: how many rows there are, 2 to 15 (1 only in [`Packing`]).
    pub(super) factor: usize,
    /// The bytes of an element: 1, 2, 4 or 8. An element of each row together takes at most 32 bytes.
    pub(super) bytes: usize,
    pub(super) len: usize,
    pub(super) row_stride: usize,
}

impl Interleave {
    /// The bytes of the rows, gaps included, and of the run; `None` if they overflow.
    fn span(&self) -> Option<(usize, usize)> {
        let row = self.len.checked_mul(self.bytes)?;
        Some((
            self.row_stride.checked_mul(self.factor.checked_sub(1)?)?.checked_add(row)?,
            row.checked_mul(self.factor)?,
        ))
    }
}

/// Joining: `len` runs of `bytes` bytes, `stride` bytes apart in the source, become contiguous in the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Runs {
    /// 1 to [`MAX_RUN`].
    pub(super) bytes: usize,
    pub(super) len: usize,
    pub(super) stride: usize,
}

impl Runs {
    /// The bytes of the source, gaps included, and of the destination; `None` if they overflow, or runs are empty or too long.
    fn span(&self) -> Option<(usize, usize)> {
        let axis = Axis { len: self.len, from: self.stride, to: self.bytes };
        span_of_loops(&[axis], (self.bytes, self.bytes)).filter(|_| (1..=MAX_RUN).contains(&self.bytes))
    }
}

/// The loops of one side of a transpose, the innermost first. Unused entries have length 1.
pub(super) type Side = [Axis; 4];

/// A transpose: elements are contiguous, or at least near each other, in the source along `a` and in the destination along `b`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Transpose {
    /// The bytes of an element: 1, 2, 4, 8 or 16.
    pub(super) bytes: usize,
    /// How bytes are reordered within elements: byte `i` of 16 bytes in the destination is byte `shuffle[i]` of the same elements in the
    /// source. Bytes stay within their element.
    pub(super) shuffle: Option<[u8; 16]>,
    /// Loops over neighbours in the source: each one continues the one before.
    pub(super) a: Side,
    /// Loops over neighbours in the destination: each one continues the one before.
    pub(super) b: Side,
}

impl Transpose {
    /// The bytes of both sides from the first element on; `None` if they overflow.
    fn span(&self) -> Option<(usize, usize)> {
        span_of_loops(self.a.iter().chain(&self.b), (self.bytes, self.bytes))
    }

    /// Whether elements are contiguous, in the source along `a` and in the destination along `b`.
    pub(super) fn is_dense(&self) -> bool {
        follows(&self.a, |axis| axis.from, self.bytes) && follows(&self.b, |axis| axis.to, self.bytes)
    }

    /// Whether only the scalar kernel can run it: elements are not contiguous, or one of the sides is too short.
    pub(super) fn is_scalar(&self, vectors: Vectors) -> bool {
        let is_short = self.a_len() * self.bytes < 16 || self.b_len() * self.bytes < 16;
        !self.is_dense() || is_short && vectors < Vectors::Avx512
    }

    /// Whether the lines of as many rows as a vector of `size` bytes has elements stay in the L1 cache together.
    pub(super) fn keeps_rows(&self, size: usize) -> bool {
        resident_lines(self.b[0].from) * self.bytes >= size
    }

    /// The bytes of all elements, in all iterations of these loops.
    pub(super) fn bytes_in(&self, outer: &[Axis]) -> usize {
        outer.iter().fold(self.a_len() * self.b_len() * self.bytes, |all, axis| all * axis.len)
    }

    /// How many elements are contiguous in the source.
    pub(super) fn a_len(&self) -> usize {
        len(&self.a)
    }

    /// How many elements are contiguous in the destination.
    pub(super) fn b_len(&self) -> usize {
        len(&self.b)
    }
}

/// How many elements the loops of a side have.
fn len(side: &Side) -> usize {
    side.iter().map(|axis| axis.len).product()
}

/// Whether each loop continues the one inside it, and the innermost loop steps by `bytes`.
fn follows(side: &Side, stride: fn(&Axis) -> usize, bytes: usize) -> bool {
    let mut end = bytes;
    side.iter()
        .filter(|axis| axis.len > 1)
        .all(|axis| stride(axis) == std::mem::replace(&mut end, stride(axis) * axis.len))
}

/// A transpose without tables of offsets: one loop on each side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Matrix {
    /// The bytes of an element: 1, 2, 4, 8 or 16.
    pub(super) bytes: usize,
    /// The loop over columns, whose elements are contiguous in the source.
    pub(super) columns: Axis,
    /// The loop over rows, whose elements are contiguous in the destination.
    pub(super) rows: Axis,
}

impl Matrix {
    /// The bytes of both sides, gaps included; `None` if they overflow.
    fn span(&self) -> Option<(usize, usize)> {
        span_of_loops([&self.columns, &self.rows], (self.bytes, self.bytes))
    }
}

/// A loop of one iteration.
const NO_LOOP: Axis = Axis { len: 1, from: 0, to: 0 };

/// Packing: elements of a byte each become packed ones, or the inverse. Elements that share a byte lie in different rows, and the packed
/// bytes of the rows are interleaved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packing {
    /// The bits of a packed element: 1, 2 or 4.
    pub(super) bits: usize,
    /// The distance between unpacked elements that share a byte when they are packed.
    pub(super) distance: usize,
    /// The rows of packed bytes; `row_stride` is the distance between their first elements. A single row (`factor` is 1) is not
    /// interleaved.
    pub(super) rows: Interleave,
}

impl Packing {
    /// An interleaving as a packing of 8-bit elements: they are whole bytes, so none of them share a byte.
    const fn of_bytes(rows: Interleave) -> Self {
        Self { bits: 8, distance: 0, rows }
    }

    /// The bytes of the unpacked elements, gaps included, and of the packed ones.
    fn span(&self) -> Option<(usize, usize)> {
        let axis = |len: usize, from| Axis { len, from, to: 0 };
        let Interleave { factor, len, row_stride, .. } = self.rows;
        let axes = [axis(8 / self.bits, self.distance), axis(len, 1), axis(factor, row_stride)];
        Some((span_of_loops(&axes, (1, 0))?.0, factor.checked_mul(len)?))
    }
}

/// Packs evenly spaced elements, each in a byte, into contiguous elements of fewer bits, or unpacks them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Units {
    /// The bits of a packed element, fewer than 8.
    pub(super) bits: usize,
    pub(super) unit: Unit,
    /// The distance between neighbouring elements on the unpacked side, where each takes a byte.
    pub(super) distance: usize,
    /// The number of units.
    pub(super) len: usize,
}

impl Units {
    /// The bytes of the unpacked elements, gaps included, and of the packed ones.
    fn span(&self) -> Option<(usize, usize)> {
        let elements = self.len.checked_mul(self.unit.elements)?;
        let axis = Axis { len: elements, from: self.distance, to: 0 };
        Some((span_of_loops(&[axis], (1, 0))?.0, self.len.checked_mul(self.unit.bytes)?))
    }
}

/// The work of an iteration; offsets are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kernel {
    /// Copies this many contiguous bytes.
    Copy(usize),
    Runs(Runs),
    Interleave(Interleave),
    /// The inverse: source and destination of [`Interleave`] are exchanged.
    Deinterleave(Interleave),
    Transpose(Transpose),
    Matrix(Matrix),
    Pack(Packing),
    /// The inverse: source and destination of [`Packing`] are exchanged.
    Unpack(Packing),
    PackUnits(Units),
    /// The inverse: source and destination of [`Units`] are exchanged.
    UnpackUnits(Units),
}

impl Kernel {
    /// The bytes of the source and of the destination that one iteration spans. `None` if they overflow or the kernel is not valid.
    fn span(&self) -> Option<(usize, usize)> {
        let back = |(from, to)| (to, from);
        match self {
            Self::Copy(bytes) => Some((*bytes, *bytes)),
            Self::Runs(kernel) => kernel.span(),
            Self::Interleave(kernel) => kernel.span(),
            Self::Deinterleave(kernel) => kernel.span().map(back),
            Self::Transpose(kernel) => kernel.span(),
            Self::Matrix(kernel) => kernel.span(),
            Self::Pack(kernel) => kernel.span(),
            Self::Unpack(kernel) => kernel.span().map(back),
            Self::PackUnits(kernel) => kernel.span(),
            Self::UnpackUnits(kernel) => kernel.span().map(back),
        }
    }

    /// Runs the kernel in every iteration of a loop nest.
    ///
    /// # Panics
    /// If an iteration would exceed the source or the destination.
    fn run(&self, instructions: Instructions, nest: LoopNest<'_>, source: &[u8], destination: &mut [u8]) {
        let (from, to) = self.span().and_then(|ends| nest.span(ends)).expect("the kernel is valid and its places fit");
        // SAFETY: both slices are cut to the span of all iterations of this kernel.
        unsafe { self.run_within(instructions, nest, &source[..from], &mut destination[..to]) }
    }

    /// Runs the kernel in every iteration of a loop nest.
    ///
    /// # Safety
    /// `source` and `destination` have at least the bytes that [`LoopNest::span`] gives for [`Self::span`], which is not `None`.
    #[inline]
    unsafe fn run_within(&self, instructions: Instructions, nest: LoopNest<'_>, source: &[u8], destination: &mut [u8]) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        // SAFETY: the caller guarantees the bytes.
        if unsafe { vectors::run(self, instructions, nest, source, destination) } {
            return;
        }
        self.run_without_vectors(instructions, nest, source, destination);
    }

    /// Runs the kernel in every iteration of a loop nest. Not inlined, because setting up its buffers would slow down every call.
    #[inline(never)]
    fn run_without_vectors(
        &self,
        instructions: Instructions,
        nest: LoopNest<'_>,
        source: &[u8],
        destination: &mut [u8],
    ) {
        let mut stage = [0; size_of::<packed::Stage>()];
        nest.for_each(0, 0, |from, to| {
            let (source, destination) = (&source[from..], &mut destination[to..]);
            match self {
                Self::Pack(kernel) => packed::pack(kernel, instructions, &mut stage, source, destination),
                Self::Unpack(kernel) => packed::unpack(kernel, instructions, &mut stage, source, destination),
                Self::PackUnits(kernel) => packed::pack_units(kernel, source, destination),
                Self::UnpackUnits(kernel) => packed::unpack_units(kernel, source, destination),
                _ => scalar::run(self, source, destination),
            }
        });
    }
}
