//! Copying by tables, for relayouts with too many regions.
//!
//! On both sides, an element's position is a sum of one number for each dimension, or for each group of dimensions that a `*` combines. So
//! a table for each group holds what its index adds to both positions, and loops over the groups add these up. The two innermost loops run
//! block by block: the one whose consecutive elements are nearest in the source, and the one whose consecutive elements are nearest in the
//! destination.

use super::elements::Widths;
use super::pieces::positions;
use super::pulse::Pulse;
use super::tuning::{MAX_TABLE_ENTRIES, TABLE_BLOCK};
use crate::wide::local;
use xla_shape_core::StrideTable;
use xla_shape_core::map::{Intermediate, Source, Term, increment};

/// For each index of a group, what it adds to the positions in the source and in the destination, in elements.
type Offsets = Vec<(usize, usize)>;

/// The tables, the outermost loop first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Grouped {
    outer: Vec<Offsets>,
    inner: InnermostLoops,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum InnermostLoops {
    /// The elements are contiguous in both arrays: where each run begins on both sides, and its length.
    Runs(Vec<(usize, usize, usize)>),
    /// A loop over neighbours in the source, and one over neighbours in the destination.
    Blocks([Offsets; 2]),
}

impl Grouped {
    /// The tables of a relayout; `None` if they would not be much smaller than the arrays. `to_dimension[i]` is the source's dimension that
    /// is dimension `i` of the destination.
    pub(super) fn new(from: &StrideTable, to: &StrideTable, to_dimension: &[usize]) -> Option<Self> {
        let sizes = local(from.as_ref().extents());
        let identity = (0..sizes.len()).collect::<Vec<_>>();
        let mut groups = identity.iter().map(|&dimension| vec![dimension]).collect::<Vec<_>>();
        // Dimensions that one side combines share a group. Groups of both sides that overlap become one: {0,1} and {1,2} give {0,1,2}.
        for list in combined(from, &identity).into_iter().chain(combined(to, to_dimension)) {
            let (joined, rest) =
                groups.into_iter().partition::<Vec<_>, _>(|group| group.iter().any(|of| list.contains(of)));
            groups = rest;
            groups.push(joined.concat());
        }
        let entries = |group: &Vec<usize>| {
            group.iter().try_fold(1_usize, |entries, &dimension| entries.checked_mul(sizes[dimension]))
        };
        let all = groups.iter().try_fold(0_usize, |sum, group| sum.checked_add(entries(group)?))?;
        let elements = sizes.iter().try_fold(1_usize, |elements, &size| elements.checked_mul(size))?;
        if all > MAX_TABLE_ENTRIES || all > elements / 2 {
            return None;
        }
        groups.retain(|group| entries(group) != Some(1));
        let mut tables = Vec::with_capacity(groups.len());
        for group in &groups {
            let mut table = positions(from.as_ref(), to.as_ref(), to_dimension, group, entries(group)?);
            // In the order of the destination.
            table.sort_unstable_by_key(|&(_, to)| to);
            tables.push(table);
        }
        // The loop whose neighbours are nearest in the destination runs innermost, together with the loop whose neighbours are nearest in the source,
        // if that is another one.
        tables.sort_by_key(|table| std::cmp::Reverse(nearest(table, |(_, to)| to)));
        let own = tables.pop().unwrap_or_else(|| vec![(0, 0)]);
        let near = (0..tables.len()).min_by_key(|&i| nearest(&tables[i], |(from, _)| from));
        let near = near.filter(|&i| nearest(&tables[i], |(from, _)| from) < nearest(&own, |(from, _)| from));
        let inner = match near {
            Some(near) => InnermostLoops::Blocks([tables.remove(near), own]),
            None => InnermostLoops::Runs(runs(&own)),
        };
        Some(Self { outer: tables, inner })
    }

    /// The bytes of all tables.
    pub(super) fn table_bytes(&self) -> usize {
        let inner = match &self.inner {
            InnermostLoops::Runs(runs) => size_of_val(runs.as_slice()),
            InnermostLoops::Blocks(tables) => tables.iter().map(|table| size_of_val(table.as_slice())).sum(),
        };
        inner + self.outer.iter().map(|table| size_of_val(table.as_slice())).sum::<usize>()
    }

    /// Copies all elements.
    pub(super) fn run(&self, widths: Widths, source: &[u8], destination: &mut [u8], pulse: Pulse<'_>) {
        match widths.bytes() {
            Some(1) => self.run_bytes::<1>(source, destination, pulse),
            Some(2) => self.run_bytes::<2>(source, destination, pulse),
            Some(4) => self.run_bytes::<4>(source, destination, pulse),
            Some(8) => self.run_bytes::<8>(source, destination, pulse),
            Some(16) => self.run_bytes::<16>(source, destination, pulse),
            _ => self.for_each(pulse, |from, to, len| {
                (0..len).for_each(|i| widths.copy(source, from + i, destination, to + i))
            }),
        }
    }

    fn run_bytes<const BYTES: usize>(&self, source: &[u8], destination: &mut [u8], pulse: Pulse<'_>) {
        let (source, destination) = (source.as_chunks::<BYTES>().0, destination.as_chunks_mut::<BYTES>().0);
        self.for_each(pulse, |from, to, len| {
            if len == 1 {
                destination[to] = source[from];
            } else {
                destination[to..to + len].copy_from_slice(&source[from..from + len]);
            }
        });
    }

    /// Calls `copy` with both positions and the length of every run of elements.
    #[inline(always)]
    fn for_each(&self, mut pulse: Pulse<'_>, mut copy: impl FnMut(usize, usize, usize)) {
        let extents = self.outer.iter().map(|table| table.len() as u64).collect::<Vec<_>>();
        let mut index = vec![0; self.outer.len()];
        loop {
            let positions = self.outer.iter().zip(&index).map(|(table, &i): (_, &u64)| table[i as usize]);
            let (from, to) = positions.fold((0, 0), |sum, place| (sum.0 + place.0, sum.1 + place.1));
            match &self.inner {
                InnermostLoops::Runs(runs) => {
                    for run in runs {
                        copy(from + run.0, to + run.1, run.2);
                        if !pulse.after(run.2) {
                            return;
                        }
                    }
                }
                InnermostLoops::Blocks([near, own]) => {
                    // In blocks, so that the lines of both sides stay in the L1 cache from one row to the next.
                    for near in near.chunks(TABLE_BLOCK[0]) {
                        for own in own.chunks(TABLE_BLOCK[1]) {
                            for a in near {
                                own.iter().for_each(|b| copy(from + a.0 + b.0, to + a.1 + b.1, 1));
                            }
                            if !pulse.after(near.len() * own.len()) {
                                return;
                            }
                        }
                    }
                }
            }
            if !increment(&mut index, &extents) {
                return;
            }
        }
    }
}

/// The dimensions that each intermediate value depends on.
fn combined(table: &StrideTable, dimension: &[usize]) -> Vec<Vec<usize>> {
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for value in table.as_ref().intermediates() {
        let of = |term: Term| match term.source {
            Source::Zero => Vec::new(),
            Source::Dimension(number) => vec![dimension[number as usize]],
            Source::Intermediate(number) => lists[number as usize].clone(),
        };
        lists.push(match *value {
            Intermediate::Term { term, .. } => of(term),
            Intermediate::Combine { major, minor, .. } => {
                // If digits of one dimension are combined, the dimension counts once.
                let mut all = of(major);
                let minors = of(minor).into_iter().filter(|dimension| !all.contains(dimension)).collect::<Vec<_>>();
                all.extend(minors);
                all
            }
        });
    }
    lists
}

/// The smallest distance between adjacent entries of a table, on one side.
fn nearest(table: &Offsets, side: fn((usize, usize)) -> usize) -> usize {
    table.windows(2).map(|pair| side(pair[0]).abs_diff(side(pair[1]))).min().unwrap_or(usize::MAX)
}

/// The runs of a table whose elements are contiguous on both sides.
fn runs(table: &Offsets) -> Vec<(usize, usize, usize)> {
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    for &(from, to) in table {
        match runs.last_mut() {
            Some(run) if (run.0 + run.2, run.1 + run.2) == (from, to) => run.2 += 1,
            _ => runs.push((from, to, 1)),
        }
    }
    runs
}
