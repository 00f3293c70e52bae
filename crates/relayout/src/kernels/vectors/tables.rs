//! The offsets of the rows and columns of a transpose: evenly spaced, or in tables.

use super::{LINE, Transpose};
use crate::tuning::OFFSETS_PER_TABLE;
use std::mem::MaybeUninit;
use std::ops::Range;

/// [`fill_offsets`], compiled for some kind of vector.
///
/// # Safety
/// The CPU has these vectors.
pub(super) type FillOffsets = unsafe fn(&Loops, Range<usize>, &mut OffsetBuffer);

/// Splits `0..len` into ranges of `count` numbers. The last range has fewer, or up to `min_block - 1` more: never fewer than `min_block`,
/// if `len` is that large.
pub(super) fn chunks(len: usize, count: usize, min_block: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = len - start;
        let chunk = start..start + if rest < count + min_block { rest } else { count };
        start = chunk.end;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// The offsets of rows or columns, in bytes from some base.
#[derive(Clone, Copy)]
pub(super) struct Offsets<'a> {
    pub(super) count: usize,
    /// The distance between neighbours, if they are evenly spaced.
    pub(super) stride: usize,
    /// All offsets, if they are not.
    pub(super) table: &'a [usize],
}

impl Offsets<'_> {
    /// Empty.
    pub(super) const NONE: Self = Self { count: 0, stride: 0, table: &[] };

    /// A number to add to each offset, and the offsets of `count` rows from row `start` on.
    #[inline(always)]
    pub(super) fn slice<const EVEN: bool>(self, start: usize, count: usize) -> (usize, Self) {
        if EVEN { (start * self.stride, self) } else { (0, Self { table: &self.table[start..][..count], ..self }) }
    }

    /// The offset of row `i`.
    #[inline(always)]
    pub(super) fn get<const EVEN: bool>(self, i: usize) -> usize {
        if EVEN { i * self.stride } else { self.table[i] }
    }
}

/// Memory for a table of offsets, uninitialised until it is filled.
pub(super) struct OffsetBuffer([MaybeUninit<usize>; OFFSETS_PER_TABLE + LINE]);

impl OffsetBuffer {
    pub(super) const NEW: Self = Self([const { MaybeUninit::uninit() }; OFFSETS_PER_TABLE + LINE]);
}

/// The length and stride of each loop, the innermost first. The stride of the innermost loop is the distance between neighbours.
pub(super) type Loops = [(usize, usize); 4];

/// The offsets of rows in the source, or of columns in the destination, from the first one. All iterations share the table.
pub(super) struct OffsetTable<'a> {
    loops: Loops,
    /// The CPU has the vectors that this function is compiled for: [`OffsetTable::both`] requires it.
    fill_offsets: FillOffsets,
    buffer: &'a mut OffsetBuffer,
    /// The rows or columns whose offsets `buffer` holds, from its first entry on.
    range: Range<usize>,
}

impl<'a> OffsetTable<'a> {
    /// The tables of a kernel's rows and of its columns.
    ///
    /// # Safety
    /// The CPU has the vectors that `fill_offsets` is compiled for.
    pub(super) unsafe fn both(
        kernel: &Transpose,
        fill_offsets: FillOffsets,
        [rows, columns]: &'a mut [OffsetBuffer; 2],
    ) -> [Self; 2] {
        let table = |loops, buffer| Self { loops, fill_offsets, buffer, range: 0..0 };
        [
            table(kernel.b.map(|axis| (axis.len, axis.from)), rows),
            table(kernel.a.map(|axis| (axis.len, axis.to)), columns),
        ]
    }

    /// Whether the distance between neighbours is always the same.
    pub(super) fn is_even(&self) -> bool {
        self.loops[1..].iter().all(|(len, _)| *len == 1)
    }

    /// The offset of the first row or column of a range, and the offsets of all of them relative to it. `None` if they are not `even` and
    /// the table does not hold them.
    pub(super) fn offsets(&self, range: Range<usize>, even: bool) -> Option<(usize, Offsets<'_>)> {
        let (count, stride) = (range.len(), self.loops[0].1);
        if even {
            return Some((range.start * stride, Offsets { count, stride, table: &[] }));
        }
        self.get(range).map(|table| (0, Offsets { count, stride: 0, table }))
    }

    /// `(first, offsets)` of a range, filling the table if necessary. Evenly spaced ranges have the same offsets from their first element,
    /// so they share one table.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn filled(&mut self, range: Range<usize>) -> (usize, &[usize]) {
        let (first, range) = if self.is_even() { (range.start * self.loops[0].1, 0..range.len()) } else { (0, range) };
        self.fill_offsets(range.clone());
        (first, self.get(range).expect("they were looked up"))
    }

    fn get(&self, range: Range<usize>) -> Option<&[usize]> {
        // SAFETY: `fill_offsets` below sets `range` right after it has initialised the first `range.len()` entries of the buffer;
        // `MaybeUninit<usize>` has the layout of `usize`.
        let places = unsafe { std::slice::from_raw_parts(self.buffer.0.as_ptr().cast(), self.range.len()) };
        let start = range.start.checked_sub(self.range.start)?;
        places.get(start..start + range.len())
    }

    /// Fills the table with the offsets of a range, unless it holds them.
    pub(super) fn fill_offsets(&mut self, range: Range<usize>) {
        if range.start < self.range.start || self.range.end < range.end {
            // SAFETY: the CPU has the vectors, as `both` requires.
            unsafe { (self.fill_offsets)(&self.loops, range.clone(), self.buffer) };
            self.range = range;
        }
    }
}

/// Writes the offsets of a range to the beginning of the buffer. Inlined, so that it is compiled with the vectors of its caller.
#[inline(always)]
pub(super) fn fill_offsets(loops: &Loops, range: Range<usize>, buffer: &mut OffsetBuffer) {
    let (mut number, mut index) = (range.start, [0; 4]);
    for (entry, (len, _)) in index.iter_mut().zip(loops) {
        if number < *len {
            *entry = number;
            break;
        }
        *entry = number % len;
        number /= len;
    }
    // A range may begin and end within the innermost loop: with an innermost loop of length 3 and an outer one of length 4, numbers 2 to 10
    // are the last offset of the first run, two whole runs, which are written together, and two offsets of the next run.
    let [(inner_len, stride), (outer_len, farther), ..] = *loops;
    let mut left = &mut buffer.0[..range.len()];
    while !left.is_empty() {
        let first = index.iter().zip(loops).fold(0, |place, (i, (_, stride))| place + i * stride);
        // Whole iterations of the innermost loop, or the rest of one, or the beginning of one.
        let (inner, outer) = if index[0] == 0 && left.len() >= inner_len {
            (inner_len, (left.len() / inner_len).min(outer_len - index[1]))
        } else {
            (left.len().min(inner_len - index[0]), 1)
        };
        let part;
        (part, left) = left.split_at_mut(inner * outer);
        // Make the longer of the two loops the inner one.
        if inner < outer {
            for i in 0..inner {
                let places = part[i..].iter_mut().step_by(inner).enumerate();
                places.for_each(|(iteration, place)| _ = place.write(first + i * stride + iteration * farther));
            }
        } else {
            for (iteration, part) in part.chunks_exact_mut(inner).enumerate() {
                let (first, places) = (first + iteration * farther, part.iter_mut().enumerate());
                places.for_each(|(i, place)| _ = place.write(first + i * stride));
            }
        }
        index[0] += inner;
        if index[0] == inner_len {
            (index[0], index[1]) = (0, index[1] + outer);
        }
        for i in 1..3 {
            if index[i] == loops[i].0 {
                (index[i], index[i + 1]) = (0, index[i + 1] + 1);
            }
        }
    }
}
