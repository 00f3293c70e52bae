//! Which loops a kernel takes.

use super::MAX_BYTES;
use super::target::Target;
use crate::kernels::{Interleave, Kernel, LEAST_ODD_ROW, Runs, Side, StoreMode, Transpose};
use crate::loops::{Axes, Axis};
use crate::tuning::MAX_RUN;

/// With ordinary stores, runs of this many bytes or more are copied one by one as fast as they are joined. **I**.
const LONG_RUN: usize = 128;

/// Runs of [`LONG_RUN`] bytes or more are joined with ordinary stores only if an iteration has at least this many bytes. For fewer, the
/// preparation takes too long. **I**.
const MIN_JOINED_ITERATION: usize = 512;

/// Bytes of the shortest 3, 5 or 7 rows of 1- and 2-byte elements that are interleaved with AVX-512; shorter ones are permuted. **Z**.
const MIN_ODD_ROW: usize = 24;

/// Bytes of the shortest 2 or 8 rows that are interleaved with AVX-512, except 2 rows of 8-byte elements; shorter ones are permuted. **Z**.
const MIN_PAIRED_ROW: usize = 32;

/// The largest distance between elements, in elements, at which they count as near each other. **I**.
const MAX_NEAR_STRIDE: usize = 8;

/// Takes the loops of a kernel out of `axes`, which are the loops of a normalized region with elements of `bytes` bytes. `is_tiny` says
/// whether the whole region is tiny.
pub(super) fn taken(axes: &mut Axes, bytes: usize, is_tiny: bool, target: &Target, stores: StoreMode) -> Kernel {
    let (bytes, shuffle) = widen(axes, bytes);
    if shuffle.is_none()
        && let Some(&Axis { len, .. }) = axes.last().filter(|axis| (axis.from, axis.to) == (bytes, bytes))
    {
        axes.pop();
        let run = len * bytes;
        return runs(axes, run, stores).unwrap_or(Kernel::Copy(run));
    }
    if bytes > MAX_BYTES || !bytes.is_power_of_two() {
        return runs(axes, bytes, stores).unwrap_or(Kernel::Copy(bytes));
    }
    interleaved(axes, bytes, shuffle, is_tiny, target, stores)
        .unwrap_or_else(|| Kernel::Transpose(transposed(axes, bytes, shuffle)))
}

/// Merges the innermost loops that cover the same few bytes on both sides into one wider element. If the order of the bytes differs,
/// returns the shuffle.
fn widen(axes: &mut Axes, bytes: usize) -> (usize, Option<[u8; MAX_BYTES]>) {
    if bytes > MAX_BYTES {
        return (bytes, None);
    }
    // The innermost loops are taken together if they cover as many bytes as their elements have, without gaps, on both sides: 2 times 2 bytes become
    // one element of 4 bytes, even if the source has the two in another order. The largest possible size up to 16 bytes is taken.
    let (mut taken, mut wide) = (0, bytes);
    for count in 1..=axes.len() {
        let inner = &axes[axes.len() - count..];
        let end = inner.iter().try_fold(bytes, |end, axis| end.checked_mul(axis.len).filter(|&end| end <= MAX_BYTES));
        let Some(end) = end else { break };
        let last = |side: fn(&Axis) -> usize| inner.iter().map(|axis| (axis.len - 1) * side(axis)).sum::<usize>();
        if end.is_power_of_two() && last(|axis| axis.from) == end - bytes && last(|axis| axis.to) == end - bytes {
            (taken, wide) = (count, end);
        }
    }
    if taken == 0 {
        return (bytes, None);
    }
    let inner = axes.drain(axes.len() - taken..).collect::<Axes>();
    let mut shuffle = std::array::from_fn(|i| i as u8);
    for element in (0..wide).step_by(bytes) {
        // Where the element at this offset of the destination lies in the source.
        let from = inner.iter().map(|axis| element / axis.to % axis.len * axis.from).sum::<usize>();
        for byte in 0..bytes {
            shuffle[element + byte] = (from + byte) as u8;
        }
    }
    for i in wide..MAX_BYTES {
        shuffle[i] = shuffle[i - wide] + wide as u8;
    }
    (wide, (!shuffle.is_sorted()).then_some(shuffle))
}

/// Takes the loop over runs that follow each other in the destination, if joining them is faster.
fn runs(axes: &mut Axes, bytes: usize, stores: StoreMode) -> Option<Kernel> {
    let gains = |axis: &Axis| {
        if stores.is_streaming() {
            // Whole lines are written at once anyway, if the destination begins at a line.
            !bytes.is_multiple_of(64)
        } else {
            bytes < LONG_RUN || axis.len * bytes >= MIN_JOINED_ITERATION
        }
    };
    let along = axes.iter().position(|axis| axis.to == bytes && bytes <= MAX_RUN && gains(axis))?;
    let Axis { len, from: stride, .. } = axes.remove(along);
    Some(Kernel::Runs(Runs { bytes, len, stride }))
}

/// Takes the loops of an interleaving with a small factor, or of the inverse, if there are any.
fn interleaved(
    axes: &mut Axes,
    bytes: usize,
    shuffle: Option<[u8; 16]>,
    is_tiny: bool,
    target: &Target,
    stores: StoreMode,
) -> Option<Kernel> {
    if shuffle.is_some() || bytes == MAX_BYTES {
        return None;
    }
    let shortest_row = |factor| shortest_row(factor, bytes, is_tiny, target, stores);
    let is_long = |along: &usize, rows: usize, axes: &[Axis]| {
        shortest_row(axes[rows].len).is_some_and(|least| axes[*along].len * bytes >= least)
    };
    let find = |from: Option<usize>, to: Option<usize>| {
        let fits = |axis: &Axis| from.is_none_or(|from| axis.from == from) && to.is_none_or(|to| axis.to == to);
        axes.iter().position(fits)
    };
    // Rows that are interleaved: in the source, the elements of one row follow each other; in the destination, the elements at one index of
    // all rows do.
    if let Some(rows) = find(None, Some(bytes))
        && let Some(along) = find(Some(bytes), Some(bytes * axes[rows].len)).filter(|along| is_long(along, rows, axes))
    {
        let (rows, along) = (axes[rows], axes[along]);
        axes.retain(|axis| *axis != rows && *axis != along);
        return Some(Kernel::Interleave(Interleave { factor: rows.len, bytes, len: along.len, row_stride: rows.from }));
    }
    // The inverse.
    if let Some(rows) = find(Some(bytes), None)
        && let Some(along) = find(Some(bytes * axes[rows].len), Some(bytes)).filter(|along| is_long(along, rows, axes))
    {
        let (rows, along) = (axes[rows], axes[along]);
        axes.retain(|axis| *axis != rows && *axis != along);
        return Some(Kernel::Deinterleave(Interleave { factor: rows.len, bytes, len: along.len, row_stride: rows.to }));
    }
    None
}

/// The fewest bytes that a row must have so that `factor` rows of elements of `bytes` bytes are interleaved; `None` if `factor` rows never
/// are. Shorter rows do not fill a vector, or are permuted in less time. With more rows, a transpose fills whole lanes.
fn shortest_row(factor: usize, bytes: usize, is_tiny: bool, target: &Target, stores: StoreMode) -> Option<usize> {
    let (permutes_bytes, permutes_odd_rows) = (target.permutes_bytes(), target.permutes_odd_rows());
    let is_interleaved = match factor {
        // A tiny array is transposed as a `Matrix` instead.
        2 | 4 | 8 if is_tiny && factor * bytes >= MAX_BYTES => false,
        2 | 4 | 8 => factor * bytes <= 2 * MAX_BYTES,
        3 if bytes == 8 => permutes_bytes && stores.is_streaming(),
        5 | 7 if bytes == 4 => permutes_odd_rows,
        3..16 => factor * bytes < MAX_BYTES,
        _ => false,
    };
    is_interleaved.then_some(match factor {
        5 | 7 if bytes == 4 => LEAST_ODD_ROW,
        3 if bytes == 4 && permutes_odd_rows && (is_tiny || permutes_bytes) => LEAST_ODD_ROW,
        _ if !permutes_bytes => MAX_BYTES,
        _ if is_tiny => 64,
        3 | 5 | 7 if bytes < 4 => MIN_ODD_ROW,
        4 => MAX_BYTES,
        2 if bytes == 8 => MAX_BYTES,
        2 | 8 => MIN_PAIRED_ROW,
        _ => 64,
    })
}

/// Takes the loops of a transpose: those that continue each other in the source, and those that do in the destination.
fn transposed(axes: &mut Axes, bytes: usize, shuffle: Option<[u8; 16]>) -> Transpose {
    // A chain begins with the loop of the smallest stride, so that the elements of a line are moved together, even where they are not
    // contiguous and are moved one by one.
    let nearest = |axes: &[Axis], side: fn(&Axis) -> usize| {
        let nearest = axes.iter().map(side).min().filter(|&stride| stride <= MAX_NEAR_STRIDE * bytes);
        if bytes < MAX_BYTES { nearest.unwrap_or(bytes) } else { bytes }
    };
    let mut a = Chain::new(nearest(axes, |axis| axis.from), |axis| axis.from);
    a.take(axes);
    let mut b = Chain::new(nearest(axes, |axis| axis.to), |axis| axis.to);
    b.take(axes);
    // A loop may continue the chains of both sides. If the destination's chain is shorter than a cache line, and the source's chain
    // has 16 bytes already, the destination's chain gets it, because the destination is written in whole lines. Otherwise, the source's chain does.
    loop {
        let b_first = b.len * bytes < 64 && a.len * bytes >= MAX_BYTES;
        let taken = if b_first { [b.take(axes), a.take(axes)] } else { [a.take(axes), b.take(axes)] };
        if taken == [false; 2] {
            return Transpose { bytes, shuffle, a: a.loops, b: b.loops };
        }
    }
}

/// Loops that continue each other on one side.
struct Chain {
    side: fn(&Axis) -> usize,
    /// The stride that the next loop must have.
    end: usize,
    /// The number of loops.
    count: usize,
    /// The number of iterations of all loops together.
    len: usize,
    loops: Side,
}

impl Chain {
    /// A chain whose first loop has this stride.
    fn new(stride: usize, side: fn(&Axis) -> usize) -> Self {
        Self { side, end: stride, count: 0, len: 1, loops: [Axis { len: 1, from: 0, to: 0 }; 4] }
    }

    /// Takes the loop that continues the chain. Returns whether there was such a loop, and the chain had room for it.
    fn take(&mut self, axes: &mut Axes) -> bool {
        let next = axes.iter().position(|axis| (self.side)(axis) == self.end);
        let (Some(next), true) = (next, self.count < self.loops.len()) else { return false };
        let axis = axes.remove(next);
        self.end = (self.side)(&axis) * axis.len;
        self.len *= axis.len;
        self.loops[self.count] = axis;
        self.count += 1;
        true
    }
}
