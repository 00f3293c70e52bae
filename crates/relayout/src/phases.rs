//! Copying by tables where each side combines dimensions with `*` differently, so that no table for both sides is much smaller than the
//! arrays.
//!
//! On each side, an element's position is a sum of one number for each dimension, or for the row-major index of dimensions that a `*`
//! combines. These numbers are periodic: after each period, they repeat, increased by a constant. So a table holds one period. A step along
//! a dimension is a constant number of entries in the table, modulo its length.

use super::elements::Widths;
use super::loops::identity;
use super::pieces::positions;
use super::pulse::Pulse;
use super::regions::{SideGroup, side_groups};
use super::tuning::{MAX_PHASE_PERIOD, TABLE_BLOCK};
use crate::wide::local;
use xla_shape_core::StrideTable;
use xla_shape_core::map::increment;

/// Both sides, and the order of the loops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Phases {
    sizes: Vec<usize>,
    from: SideTables,
    to: SideTables,
    /// The dimensions of the loops around the block, the outermost first, none of size 1.
    outer: Vec<usize>,
    /// The dimensions of the block: the one whose neighbours are nearest in the source (`None` if it is the same as the second), and the
    /// one whose neighbours are nearest in the destination.
    inner: (Option<usize>, usize),
}

/// One side. Its dimensions have the numbers that they have in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SideTables {
    periods: Vec<Period>,
    /// For each dimension, the number of its period, and what a step along the dimension adds to the index of that period.
    steps: Vec<(usize, usize)>,
}

/// What an index adds to the position.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Period {
    /// What each index of one period adds to the position.
    table: Vec<usize>,
    /// What each whole period adds to the position.
    whole: usize,
}

/// A position on one side, and how it moves along a dimension.
struct Cursor<'a> {
    table: &'a [usize],
    /// The index within the period.
    phase: usize,
    /// The part of the position that is not in the table.
    base: usize,
    /// What a step adds to `phase` and to `base`.
    step: (usize, usize),
    /// What a whole period adds.
    whole: usize,
}

impl Phases {
    /// The tables of both sides; `None` if a period is too long for a table. `to_dimension[i]` is the source's dimension that is dimension
    /// `i` of the destination.
    pub(super) fn new(from: &StrideTable, to: &StrideTable, to_dimension: &[usize]) -> Option<Self> {
        let sizes = local(from.as_ref().extents()).to_vec();
        let from = SideTables::new(from, &identity(sizes.len()), &sizes)?;
        let to = SideTables::new(to, to_dimension, &sizes)?;
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
    pub(super) fn run(&self, widths: Widths, source: &[u8], destination: &mut [u8], pulse: Pulse<'_>) {
        match widths.bytes() {
            Some(1) => self.run_bytes::<1>(source, destination, pulse),
            Some(2) => self.run_bytes::<2>(source, destination, pulse),
            Some(4) => self.run_bytes::<4>(source, destination, pulse),
            Some(8) => self.run_bytes::<8>(source, destination, pulse),
            Some(16) => self.run_bytes::<16>(source, destination, pulse),
            _ => self.for_each(pulse, |from, to| widths.copy(source, from, destination, to)),
        }
    }

    fn run_bytes<const BYTES: usize>(&self, source: &[u8], destination: &mut [u8], pulse: Pulse<'_>) {
        let (source, destination) = (source.as_chunks::<BYTES>().0, destination.as_chunks_mut::<BYTES>().0);
        self.for_each(pulse, |from, to| destination[to] = source[from]);
    }

    /// Calls `copy` with both positions of every element.
    #[inline(always)]
    fn for_each(&self, mut pulse: Pulse<'_>, mut copy: impl FnMut(usize, usize)) {
        let (near, own) = self.inner;
        let near_len = near.map_or(1, |near| self.sizes[near]);
        let mut index = vec![0; self.sizes.len()];
        let extents = self.outer.iter().map(|&dimension| self.sizes[dimension] as u64).collect::<Vec<_>>();
        let mut outer = vec![0; self.outer.len()];
        loop {
            // In blocks, so that the lines of both sides stay in the L1 cache from one row to the next.
            for near_start in (0..near_len).step_by(TABLE_BLOCK[0]) {
                for own_start in (0..self.sizes[own]).step_by(TABLE_BLOCK[1]) {
                    index[own] = own_start;
                    let len = TABLE_BLOCK[1].min(self.sizes[own] - own_start);
                    for i in near_start..near_len.min(near_start + TABLE_BLOCK[0]) {
                        if let Some(near) = near {
                            index[near] = i;
                        }
                        let (mut from, mut to) = (self.from.cursor(&index, own), self.to.cursor(&index, own));
                        for _ in 0..len {
                            copy(from.position(), to.position());
                            from.advance();
                            to.advance();
                        }
                        if !pulse.after(len) {
                            return;
                        }
                    }
                }
            }
            if !increment(&mut outer, &extents) {
                return;
            }
            self.outer.iter().zip(&outer).for_each(|(&dimension, &entry)| index[dimension] = entry as usize);
        }
    }
}

impl SideTables {
    /// `dimension[i]` is the source's number of the table's dimension `i`; `sizes` are the source's.
    fn new(table: &StrideTable, dimension: &[usize], sizes: &[usize]) -> Option<Self> {
        let mut side = Self { periods: Vec::new(), steps: vec![(0, 0); sizes.len()] };
        for SideGroup { dimensions, size, period } in side_groups(table.as_ref(), dimension, sizes) {
            // In the row-major index of these dimensions, a step along the last one adds 1, and a step along any other adds the product of
            // the sizes after it.
            let mut step = 1;
            for &own in dimensions.iter().rev() {
                side.steps[own] = (side.periods.len(), step);
                step *= sizes[own];
            }
            let period = period.filter(|&period| period < size);
            // One entry more than a period: the last one says what a whole period adds.
            let count = period.map_or(size, |period| period + 1);
            if count > MAX_PHASE_PERIOD {
                return None;
            }
            // The numbers of the dimensions in this side's table.
            let own = |of: &usize| dimension.iter().position(|source| source == of);
            let own = dimensions.iter().map(own).collect::<Option<Vec<_>>>()?;
            let numbers = identity(sizes.len());
            let positions = positions(table.as_ref(), table.as_ref(), &numbers, &own, count);
            let mut table = positions.into_iter().map(|(place, _)| place).collect::<Vec<_>>();
            let whole = period.and_then(|_| table.pop()).unwrap_or(0);
            side.periods.push(Period { table, whole });
        }
        Some(side)
    }

    /// The distance between the first two neighbours along a dimension.
    fn distance(&self, dimension: usize) -> usize {
        let (number, step) = self.steps[dimension];
        self.periods[number].place(step)
    }

    /// The position of an element, ready to move along a dimension.
    fn cursor(&self, index: &[usize], along: usize) -> Cursor<'_> {
        let (number, step) = self.steps[along];
        let place = |number: usize| {
            let steps = index.iter().zip(&self.steps).filter(|(_, (of, _))| *of == number);
            steps.map(|(i, (_, step))| i * step).sum::<usize>()
        };
        // Moving along the dimension changes only the index of its own period, so what the other periods give is added to the base once.
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
        // `step.1` includes the whole periods of the step, so `step.0` is less than a period. A comparison therefore replaces the division.
        if self.phase >= self.table.len() {
            self.phase -= self.table.len();
            self.base += self.whole;
        }
    }
}
