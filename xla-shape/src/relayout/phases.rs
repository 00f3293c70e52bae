//! Relayouts in which each side combines dimensions in a way of its own, with `*`: no table for both sides is much smaller than the
//! arrays.
//!
//! On each side, an element's position is a sum of one number for each dimension, or for the row-major index of dimensions that a `*`
//! combines. Each of these numbers repeats itself: after a period, it is larger by the same. So a table holds one period, and a
//! step along a dimension is a step in the table, or a few in it and behind its end.

use super::elements::Widths;
use super::pieces::places;
use super::regions::{SideGroup, identity, side_groups};
use crate::StrideTable;
use crate::wide::local;

/// Both sides, with the loops from the outermost to the innermost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Phases {
    sizes: Vec<usize>,
    from: Side,
    to: Side,
    /// The dimensions around the block, none of size 1.
    outer: Vec<usize>,
    /// The dimensions in which neighbours are nearest in the source, and in the destination; the first may not be there.
    inner: (Option<usize>, usize),
}

/// The indices of a block in the loops over neighbours in the source, and over neighbours in the destination.
const BLOCK: [usize; 2] = [16, 128];

/// The most entries of a table.
const MAX_PERIOD: usize = 1 << 16;

/// One side; dimensions are those of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Side {
    periods: Vec<Period>,
    /// For each dimension the number of its period, and what a step along it adds to the index that has the period.
    steps: Vec<(usize, usize)>,
}

/// What an index adds to the position.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Period {
    /// For the indices of one period.
    table: Vec<usize>,
    /// What each whole period adds.
    whole: usize,
}

/// A place on one side, and how it moves along a dimension.
struct Cursor<'a> {
    table: &'a [usize],
    /// Where in the period it is.
    phase: usize,
    /// What is not in the table.
    base: usize,
    /// What a step adds to both.
    step: (usize, usize),
    /// What a whole period adds.
    whole: usize,
}

impl Phases {
    /// `None` if a period is too long for a table. `to_dimension` says which of the source's dimensions each of the destination's is.
    pub(super) fn new(from: &StrideTable, to: &StrideTable, to_dimension: &[usize]) -> Option<Self> {
        let sizes = local(from.as_ref().extents()).to_vec();
        let from = Side::new(from, &identity(sizes.len()), &sizes)?;
        let to = Side::new(to, to_dimension, &sizes)?;
        let mut outer = (0..sizes.len()).filter(|&dimension| sizes[dimension] > 1).collect::<Vec<_>>();
        outer.sort_by_key(|&dimension| std::cmp::Reverse(to.distance(dimension)));
        let own = outer.pop()?;
        let near = outer.iter().copied().min_by_key(|&dimension| from.distance(dimension));
        let near = near.filter(|&dimension| from.distance(dimension) < from.distance(own));
        outer.retain(|&dimension| Some(dimension) != near);
        Some(Self { sizes, from, to, outer, inner: (near, own) })
    }

    /// The bytes of all tables.
    pub(super) fn table_bytes(&self) -> usize {
        let periods = self.from.periods.iter().chain(&self.to.periods);
        periods.map(|period| size_of_val(period.table.as_slice())).sum()
    }

    /// Copies all elements.
    pub(super) fn run(&self, widths: Widths, source: &[u8], destination: &mut [u8]) {
        match widths.bytes() {
            Some(1) => self.run_bytes::<1>(source, destination),
            Some(2) => self.run_bytes::<2>(source, destination),
            Some(4) => self.run_bytes::<4>(source, destination),
            Some(8) => self.run_bytes::<8>(source, destination),
            Some(16) => self.run_bytes::<16>(source, destination),
            _ => self.for_each(|from, to| widths.copy(source, from, destination, to)),
        }
    }

    fn run_bytes<const BYTES: usize>(&self, source: &[u8], destination: &mut [u8]) {
        let (source, destination) = (source.as_chunks::<BYTES>().0, destination.as_chunks_mut::<BYTES>().0);
        self.for_each(|from, to| destination[to] = source[from]);
    }

    /// Calls `copy` with both positions of every element.
    #[inline(always)]
    fn for_each(&self, mut copy: impl FnMut(usize, usize)) {
        let (near, own) = self.inner;
        let nears = near.map_or(1, |near| self.sizes[near]);
        let mut index = vec![0; self.sizes.len()];
        loop {
            for near_start in (0..nears).step_by(BLOCK[0]) {
                for own_start in (0..self.sizes[own]).step_by(BLOCK[1]) {
                    index[own] = own_start;
                    let len = BLOCK[1].min(self.sizes[own] - own_start);
                    for i in near_start..nears.min(near_start + BLOCK[0]) {
                        if let Some(near) = near {
                            index[near] = i;
                        }
                        let (mut from, mut to) = (self.from.cursor(&index, own), self.to.cursor(&index, own));
                        for _ in 0..len {
                            copy(from.position(), to.position());
                            from.advance();
                            to.advance();
                        }
                    }
                }
            }
            let next = self.outer.iter().rposition(|&dimension| index[dimension] + 1 < self.sizes[dimension]);
            let Some(next) = next else { return };
            index[self.outer[next]] += 1;
            self.outer[next + 1..].iter().for_each(|&dimension| index[dimension] = 0);
        }
    }
}

impl Side {
    /// `dimension` says which of the source's dimensions each of the table's is, and `sizes` are the source's.
    fn new(table: &StrideTable, dimension: &[usize], sizes: &[usize]) -> Option<Self> {
        let mut side = Self { periods: Vec::new(), steps: vec![(0, 0); sizes.len()] };
        for SideGroup { dimensions, size, period } in side_groups(table.as_ref(), dimension, sizes) {
            let mut step = 1;
            for &own in dimensions.iter().rev() {
                side.steps[own] = (side.periods.len(), step);
                step *= sizes[own];
            }
            let period = period.filter(|&period| period < size);
            let count = period.map_or(size, |period| period + 1);
            if count > MAX_PERIOD {
                return None;
            }
            // The table's own dimensions.
            let own = |of: &usize| dimension.iter().position(|source| source == of);
            let own = dimensions.iter().map(own).collect::<Option<Vec<_>>>()?;
            let numbers = identity(sizes.len());
            let places = places(table.as_ref(), table.as_ref(), &numbers, &own, count);
            let mut table = places.into_iter().map(|(place, _)| place).collect::<Vec<_>>();
            let whole = period.and_then(|_| table.pop()).unwrap_or(0);
            side.periods.push(Period { table, whole });
        }
        Some(side)
    }

    /// How far apart neighbours along a dimension are at the beginning.
    fn distance(&self, dimension: usize) -> usize {
        let (number, step) = self.steps[dimension];
        self.periods[number].place(step)
    }

    /// The place of an element, to move along a dimension.
    fn cursor(&self, index: &[usize], along: usize) -> Cursor<'_> {
        let (number, step) = self.steps[along];
        let place = |number: usize| {
            let steps = index.iter().zip(&self.steps).filter(|(_, (of, _))| *of == number);
            steps.map(|(i, (_, step))| i * step).sum::<usize>()
        };
        let others = (0..self.periods.len()).filter(|&other| other != number);
        let base = others.map(|other| self.periods[other].place(place(other))).sum::<usize>();
        let Period { table, whole } = &self.periods[number];
        let (phase, len) = (place(number), table.len());
        Cursor {
            table,
            phase: phase % len,
            base: base + phase / len * whole,
            step: (step % len, step / len * whole),
            whole: *whole,
        }
    }
}

impl Period {
    fn place(&self, index: usize) -> usize {
        self.table[index % self.table.len()] + index / self.table.len() * self.whole
    }
}

impl Cursor<'_> {
    #[inline(always)]
    fn position(&self) -> usize {
        self.base + self.table[self.phase]
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.phase += self.step.0;
        self.base += self.step.1;
        if self.phase >= self.table.len() {
            self.phase -= self.table.len();
            self.base += self.whole;
        }
    }
}
