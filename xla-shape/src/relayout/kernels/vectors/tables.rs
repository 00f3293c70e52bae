//! Where the rows and columns of a transpose are: evenly spaced, or in tables.

use super::{LINE, Transpose};
use std::mem::MaybeUninit;
use std::ops::Range;

/// How many rows, or columns, are looked up at once.
pub(super) const LOOKED_UP: usize = 512;

/// [`look_up`] with vectors.
pub(super) type LookUp = unsafe fn(&Loops, Range<usize>, &mut Room);

/// Ranges of `0..len` with `count` numbers each; the last may have fewer, or up to `least` more: `least`, if there are as many.
pub(super) fn chunks(len: usize, count: usize, least: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = len - start;
        let chunk = start..start + if rest < count + least { rest } else { count };
        start = chunk.end;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Where rows or columns are, in bytes from somewhere.
#[derive(Clone, Copy)]
pub(super) struct Spots<'a> {
    pub(super) count: usize,
    /// How far apart they are, if that is even.
    pub(super) apart: usize,
    /// Each of them, if not.
    pub(super) table: &'a [usize],
}

impl Spots<'_> {
    /// No rows.
    pub(super) const NONE: Self = Self { count: 0, apart: 0, table: &[] };

    /// So many from this one on: what is to be added to their places, and these.
    #[inline(always)]
    pub(super) fn part<const EVEN: bool>(self, start: usize, count: usize) -> (usize, Self) {
        if EVEN { (start * self.apart, self) } else { (0, Self { table: &self.table[start..][..count], ..self }) }
    }

    /// The place of one.
    #[inline(always)]
    pub(super) fn at<const EVEN: bool>(self, i: usize) -> usize {
        if EVEN { i * self.apart } else { self.table[i] }
    }
}

/// Room for the places of rows or columns. Nothing is written into it before it is needed.
pub(super) struct Room([MaybeUninit<usize>; LOOKED_UP + LINE]);

impl Room {
    pub(super) const NEW: Self = Self([const { MaybeUninit::uninit() }; LOOKED_UP + LINE]);
}

/// The turns of each loop, and how far apart they are; the innermost first.
pub(super) type Loops = [(usize, usize); 4];

/// Where rows lie in the source, or columns in the destination, counted from the first of all. Turns share it.
pub(super) struct Table<'a> {
    loops: Loops,
    /// The machine has its vectors.
    look_up: LookUp,
    room: &'a mut Room,
    /// Those that were looked up.
    range: Range<usize>,
}

impl<'a> Table<'a> {
    /// Of a kernel's rows and of its columns.
    ///
    /// # Safety
    /// The machine must have the vectors with which this looks up.
    pub(super) unsafe fn both(kernel: &Transpose, look_up: LookUp, [rows, columns]: &'a mut [Room; 2]) -> [Self; 2] {
        let table = |loops, room| Self { loops, look_up, room, range: 0..0 };
        [
            table(kernel.b.map(|axis| (axis.len, axis.from)), rows),
            table(kernel.a.map(|axis| (axis.len, axis.to)), columns),
        ]
    }

    /// Whether neighbours are always as far apart.
    pub(super) fn is_even(&self) -> bool {
        self.loops[1..].iter().all(|(len, _)| *len == 1)
    }

    /// Where rows or columns are, in a form that blocks take: where the first is, and where all are from there; `None` if
    /// they were not looked up.
    pub(super) fn spots(&self, range: Range<usize>, even: bool) -> Option<(usize, Spots<'_>)> {
        let (count, apart) = (range.len(), self.loops[0].1);
        if even {
            return Some((range.start * apart, Spots { count, apart, table: &[] }));
        }
        self.get(range).map(|table| (0, Spots { count, apart: 0, table }))
    }

    /// The places of some elements, and what is to be added to them: if they are even, those of the first serve for all.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn of(&mut self, range: Range<usize>) -> (usize, &[usize]) {
        let (first, range) = if self.is_even() { (range.start * self.loops[0].1, 0..range.len()) } else { (0, range) };
        self.look_up(range.clone());
        (first, self.get(range).expect("they were looked up"))
    }

    fn get(&self, range: Range<usize>) -> Option<&[usize]> {
        // SAFETY: the places of this range were written, one after the other.
        let places = unsafe { std::slice::from_raw_parts(self.room.0.as_ptr().cast(), self.range.len()) };
        let start = range.start.checked_sub(self.range.start)?;
        places.get(start..start + range.len())
    }

    /// Looks up these elements, unless that was done.
    pub(super) fn look_up(&mut self, range: Range<usize>) {
        if range.start < self.range.start || self.range.end < range.end {
            // SAFETY: the machine has these vectors.
            unsafe { (self.look_up)(&self.loops, range.clone(), self.room) };
            self.range = range;
        }
    }
}

/// Writes the places of these elements. Inlined, so that it takes the vectors of its caller.
#[inline(always)]
pub(super) fn look_up(loops: &Loops, range: Range<usize>, room: &mut Room) {
    let (mut number, mut index) = (range.start, [0; 4]);
    for (entry, (len, _)) in index.iter_mut().zip(loops) {
        if number < *len {
            *entry = number;
            break;
        }
        *entry = number % len;
        number /= len;
    }
    let [(inner_len, apart), (outer_len, farther), ..] = *loops;
    let mut left = &mut room.0[..range.len()];
    while !left.is_empty() {
        let first = index.iter().zip(loops).fold(0, |place, (i, (_, stride))| place + i * stride);
        // Turns of two loops, or the rest of a turn of the inner one, or its beginning.
        let (inner, outer) = if index[0] == 0 && left.len() >= inner_len {
            (inner_len, (left.len() / inner_len).min(outer_len - index[1]))
        } else {
            (left.len().min(inner_len - index[0]), 1)
        };
        let part;
        (part, left) = left.split_at_mut(inner * outer);
        // The longer loop is the inner one here.
        if inner < outer {
            for i in 0..inner {
                let places = part[i..].iter_mut().step_by(inner).enumerate();
                places.for_each(|(turn, place)| _ = place.write(first + i * apart + turn * farther));
            }
        } else {
            for (turn, part) in part.chunks_exact_mut(inner).enumerate() {
                let (first, places) = (first + turn * farther, part.iter_mut().enumerate());
                places.for_each(|(i, place)| _ = place.write(first + i * apart));
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
