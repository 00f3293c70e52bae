//! Transposes: the order of what they do, and the kernels for vectors of any kind.

use super::super::{Side, follows};
use super::{Axis, LINE, Transpose, Turns};
use std::mem::MaybeUninit;
use std::ops::Range;

/// The rows that a transpose stages at once: of a column, their elements take at least so much that the parts of lines at both
/// ends count for little; a line of each stays in the nearest cache, of 32 KiB or more.
pub(super) const STAGE_ROWS: usize = 512;

/// What the stage of a transpose should hold where the columns may be more or fewer: as much as stays in the nearest cache.
pub(super) const STAGE_BYTES: usize = 32 << 10;

/// Columns of elements that were transposed, one behind the other. It has room for what [`chunks`] may add to the rows, and to the
/// columns of one line.
pub(super) type Stage = [u8; 52 << 10];

/// The shortest runs in the destination that are worth a stage, in bytes.
pub(super) const STAGED_RUN: usize = 256;

/// Hints that a group of a transpose gives: none, …
pub(super) const KEEP: u8 = 0;
/// … that the next line of each row of the destination will be written, …
pub(super) const OWN_NEXT: u8 = 1;
/// … that the next line of each row of the source will be read, …
pub(super) const READ_NEXT: u8 = 2;
/// … or the same columns of the next rows.
pub(super) const READ_ROWS: u8 = 3;

/// Rows of the source that are shorter than this are not foreseen, in bytes.
pub(super) const SHORT: usize = 2048;

/// Whether rows of a destination that begin anywhere are best written from a stage.
pub(super) fn is_staged(kernel: &Transpose) -> bool {
    is_dense(kernel) || kernel.b_len() * kernel.bytes >= STAGED_RUN
}

/// Whether the destination's rows follow each other without gaps.
pub(super) fn is_dense(kernel: &Transpose) -> bool {
    follows(&kernel.a, |axis| axis.to, kernel.b_len() * kernel.bytes)
}

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

/// The way through a transpose: which groups of columns and rows come one after the other.
pub(super) struct Walk<'a> {
    pub(super) kernel: &'a Transpose,
    pub(super) a: Range<usize>,
    pub(super) b: Range<usize>,
    pub(super) order: Order,
}

/// What all measured machines agree on is the order; the numbers differ little between them.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// So many columns at a time, through all rows: each line of the destination's rows is followed by the next one.
    Columns(usize),
    /// So many rows at a time, through all columns: as many streams are read from front to back as a processor can follow.
    Rows(usize),
}

impl Order {
    /// How many rows come before the next block, of so many.
    pub(super) fn rows(self, all: usize) -> usize {
        match self {
            Self::Columns(_) => all,
            Self::Rows(block) => block.min(all),
        }
    }
}

impl<'a> Walk<'a> {
    /// Where all is in the caches.
    pub(super) fn cached(kernel: &'a Transpose, a: Range<usize>, b: Range<usize>) -> Self {
        let lines = match kernel.bytes {
            1 => 4,
            2 | 4 => 1,
            _ => 2,
        };
        Self { kernel, a, b, order: Order::Columns(lines * LINE / kernel.bytes) }
    }

    /// Where nothing is: two lines side by side are written to each row, unless that takes too many rows.
    pub(super) fn large(kernel: &'a Transpose, a: Range<usize>, b: Range<usize>) -> Self {
        let lines = if kernel.bytes == 1 { 1 } else { 2 };
        Self { kernel, a, b, order: Order::Rows(lines * LINE / kernel.bytes) }
    }

    /// Where the destination is a stage.
    pub(super) fn staged(kernel: &'a Transpose, a: Range<usize>, b: Range<usize>) -> Self {
        Self { kernel, a, order: Order::Rows(b.len()), b }
    }

    /// Whether no row of the destination has a line after its first.
    pub(super) fn is_narrow(&self, line: usize) -> bool {
        self.b.len() <= line
    }

    /// Calls `visit` with the first column and row of each group of so many. The last groups may have some of those before them.
    #[inline(always)]
    pub(super) fn for_each(&self, columns: usize, rows: usize, mut visit: impl FnMut(usize, usize)) {
        let (last_a, last_b) = (self.a.end - columns, self.b.end - rows);
        match self.order {
            Order::Columns(block) => {
                for block_start in self.a.clone().step_by(block) {
                    for b in self.b.clone().step_by(rows) {
                        for a in (block_start..self.a.end.min(block_start + block)).step_by(columns) {
                            visit(a.min(last_a), b.min(last_b));
                        }
                    }
                }
            }
            Order::Rows(block) => {
                for block_start in self.b.clone().step_by(block) {
                    for a in self.a.clone().step_by(columns) {
                        for b in (block_start..self.b.end.min(block_start + block)).step_by(rows) {
                            visit(a.min(last_a), b.min(last_b));
                        }
                    }
                }
            }
        }
    }
}

/// Where an element of a side lies.
#[inline(always)]
pub(super) fn place(side: &Side, mut number: usize, stride: impl Fn(&Axis) -> usize) -> usize {
    let mut place = 0;
    for axis in side {
        if number < axis.len {
            return place + number * stride(axis);
        }
        place += number % axis.len * stride(axis);
        number /= axis.len;
    }
    place
}

/// Calls `put` for the parts of two loops that these elements of a side are made of: with the place of the first element, and how many
/// turns the inner and the outer loop have and how far apart they are.
#[inline(always)]
fn parts(
    side: &Side,
    range: Range<usize>,
    stride: impl Fn(&Axis) -> usize,
    mut put: impl FnMut(usize, (usize, usize), (usize, usize)),
) {
    let (mut number, mut index) = (range.start, [0; 4]);
    for (entry, axis) in index.iter_mut().zip(side) {
        if number < axis.len {
            *entry = number;
            break;
        }
        *entry = number % axis.len;
        number /= axis.len;
    }
    let (inner, outer) = (&side[0], &side[1]);
    let mut left = range.len();
    while left > 0 {
        let first = side.iter().zip(index).fold(0, |place, (axis, i)| place + i * stride(axis));
        if index[0] == 0 && left >= inner.len {
            let turns = (left / inner.len).min(outer.len - index[1]);
            put(first, (inner.len, stride(inner)), (turns, stride(outer)));
            left -= turns * inner.len;
            index[1] += turns;
        } else {
            // The rest of a turn of the inner loop, or the beginning of one.
            let count = left.min(inner.len - index[0]);
            put(first, (count, stride(inner)), (1, 0));
            left -= count;
            index[0] += count;
        }
        for i in 0..3 {
            if index[i] == side[i].len {
                index[i] = 0;
                index[i + 1] += 1;
            }
        }
    }
}

/// How many rows, or columns, are looked up at once.
pub(super) const LOOKED_UP: usize = 512;

/// Room for a table, which is not moved once it is there.
pub(super) type Room = [MaybeUninit<usize>; LOOKED_UP + LINE];

/// Nothing is written into it before it is needed.
pub(super) const ROOM: Room = [const { MaybeUninit::uninit() }; LOOKED_UP + LINE];

/// Places of some elements of a side, counted from the first of all. Turns share it.
pub(super) struct Table<'a> {
    places: &'a mut Room,
    /// Those that are there.
    range: Range<usize>,
}

impl<'a> Table<'a> {
    pub(super) fn new(places: &'a mut Room) -> Self {
        Self { places, range: 0..0 }
    }

    /// The places of these elements, of the same side every time.
    #[inline(always)]
    pub(super) fn of(&mut self, side: &Side, range: Range<usize>, stride: impl Fn(&Axis) -> usize) -> &[usize] {
        let count = range.len();
        if self.range != range {
            let mut done = 0;
            parts(side, range.clone(), stride, |first, (inner, apart), (outer, farther)| {
                let part = &mut self.places[done..done + inner * outer];
                done += part.len();
                // The longer loop is the inner one here.
                if inner < outer {
                    for i in 0..inner {
                        let places = part[i..].iter_mut().step_by(inner);
                        places.enumerate().for_each(|(turn, place)| {
                            place.write(first + i * apart + turn * farther);
                        });
                    }
                } else {
                    for (turn, part) in part.chunks_exact_mut(inner).enumerate() {
                        let first = first + turn * farther;
                        part.iter_mut().enumerate().for_each(|(i, place)| {
                            place.write(first + i * apart);
                        });
                    }
                }
            });
            assert!(done == count, "each element has a place");
            self.range = range;
        }
        // SAFETY: as many as the range has were written, one after the other.
        unsafe { std::slice::from_raw_parts(self.places[..count].as_ptr().cast(), count) }
    }
}

/// The places of a transpose's rows, and of its columns.
pub(super) struct Tables<'a> {
    pub(super) rows: Table<'a>,
    pub(super) columns: Table<'a>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(rows: &'a mut Room, columns: &'a mut Room) -> Self {
        Self { rows: Table::new(rows), columns: Table::new(columns) }
    }
}

/// What transposes the rows of a range in every turn, where these or the columns are too few for other vectors.
pub(super) type Narrow = unsafe fn(&Transpose, Range<usize>, Turns<'_>, *const u8, *mut u8) -> bool;

/// Generates the transposes for vectors of one kind.
macro_rules! transposes {
    ($feature:literal, $vector:ty, $lanes:literal) => {
        /// Transposes in every turn.
        ///
        /// # Safety
        /// As [`run`], for this kernel, which [`takes`] has accepted.
        #[target_feature(enable = $feature)]
        unsafe fn transpose<const BYTES: usize, const LANE: usize>(
            kernel: &Transpose,
            (large, streaming): (bool, bool),
            turns: Turns<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let line = LINE / BYTES;
            let (a, b) = (0..kernel.a_len(), 0..kernel.b_len());
            let narrow = |b: Range<usize>| {
                // SAFETY: as required of the caller; a machine has these vectors if there is such a function for it.
                NARROW.is_some_and(|narrow| unsafe { narrow(kernel, b, turns, from, to) })
            };
            if (a.end < LANE || b.end < line) && narrow(b.clone()) {
                return;
            }
            let (mut rows, mut columns) = (ROOM, ROOM);
            let mut tables = Tables::new(&mut rows, &mut columns);
            // Rows that a line is too long for take vectors of their own.
            if b.end < line {
                let walk = Walk::cached(kernel, a, b);
                return turns.for_each(0, 0, |from_turn, to_turn| {
                    let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                    // SAFETY: as required of the caller; a vector's rows are there, and ordinary stores need no alignment.
                    unsafe { transpose_evenly::<BYTES, LANE, 1, false, KEEP>(&walk, (from, from), to, &mut tables) };
                });
            }
            if large && !streaming && is_staged(kernel) {
                // SAFETY: as required of the caller.
                return turns.for_each(0, 0, |from_turn, to_turn| unsafe {
                    transpose_staged::<BYTES, LANE>(kernel, from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                });
            }
            let whole = b.end / line * line;
            let rest = b.end - line..b.end;
            // Rows that fill no line: if they are few, by themselves; or a line of them, together with some before.
            let few = match BYTES {
                1 | 2 => 32,
                4 => 16,
                _ => 0,
            };
            let rest_bytes = (b.end - whole) * BYTES;
            let is_done = rest_bytes > 0 && !large && rest_bytes <= few && narrow(whole..b.end);
            let rows = if is_done || streaming { 0..whole } else { b };
            let walk = if large { Walk::large(kernel, a.clone(), rows) } else { Walk::cached(kernel, a.clone(), rows) };
            let rest = (streaming && whole < rest.end && !is_done).then(|| Walk::large(kernel, a, rest));
            // Processors foresee long rows. Of short ones, the next are asked for.
            let short = large && kernel.a_len() * BYTES < SHORT;
            let mut coming = Places::of(turns);
            turns.for_each(0, 0, |from_turn, to_turn| {
                if short {
                    coming.advance();
                }
                let (next, from) = (from.wrapping_add(coming.from), from.wrapping_add(from_turn));
                let (to, tables) = (to.wrapping_add(to_turn), &mut tables);
                // SAFETY: as required of the caller; there are a line's rows, and all of them begin with a line if `streaming`:
                // ordinary stores need no alignment.
                unsafe {
                    match (streaming, short, large || BYTES == 1 || walk.is_narrow(line)) {
                        (true, true, _) => {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, true, READ_ROWS>(
                                &walk,
                                (from, next),
                                to,
                                tables,
                            );
                        }
                        (true, false, _) => {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, true, KEEP>(&walk, (from, next), to, tables);
                        }
                        (false, _, true) => {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, KEEP>(&walk, (from, next), to, tables);
                        }
                        (false, _, false) => {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, OWN_NEXT>(
                                &walk,
                                (from, next),
                                to,
                                tables,
                            );
                        }
                    }
                }
                if let Some(rest) = &rest {
                    fence();
                    // SAFETY: as above; these rows begin anywhere, and ordinary stores need no alignment.
                    unsafe {
                        transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, KEEP>(rest, (from, next), to, tables)
                    };
                }
            });
        }

        /// Transposes where the destination's rows begin anywhere: into a stage that stays in the nearest cache, and from
        /// there, in whole lines past the caches, to each row.
        ///
        /// # Safety
        /// As [`run`], for one turn of this kernel, which [`takes`] and [`is_staged`] have accepted and whose rows take a line.
        #[target_feature(enable = $feature)]
        unsafe fn transpose_staged<const BYTES: usize, const LANE: usize>(
            kernel: &Transpose,
            from: *const u8,
            to: *mut u8,
        ) {
            let line = LINE / BYTES;
            let mut stage = MaybeUninit::<Stage>::uninit();
            let (mut row_room, mut column_room) = (ROOM, ROOM);
            let stage = stage.as_mut_ptr().cast::<u8>();
            for b in chunks(kernel.b_len(), STAGE_ROWS, line) {
                let bytes = b.len() * BYTES;
                let dense = is_dense(kernel) && b.len() == kernel.b_len();
                let pitch = if dense { bytes } else { bytes.next_multiple_of(LINE) + LINE };
                let columns = (STAGE_BYTES / pitch).max(line) / line * line;
                for a in chunks(kernel.a_len(), columns, LANE) {
                    assert!(a.len() * pitch <= size_of::<Stage>(), "the stage has room for all columns");
                    let staged =
                        Transpose { a: [Axis { len: a.len(), from: BYTES, to: pitch }, ONCE, ONCE, ONCE], ..*kernel };
                    let walk = Walk::staged(&staged, 0..a.len(), b.clone());
                    let mut tables = Tables::new(&mut row_room, &mut column_room);
                    let (from, first) = (from.wrapping_add(a.start * BYTES), stage.wrapping_sub(b.start * BYTES));
                    if BYTES < 4 {
                        // SAFETY: the columns and rows are some of the kernel's; the stage has room for them.
                        unsafe {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, READ_NEXT>(
                                &walk,
                                (from, from),
                                first,
                                &mut tables,
                            )
                        };
                    } else {
                        // SAFETY: as above.
                        unsafe {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, KEEP>(
                                &walk,
                                (from, from),
                                first,
                                &mut tables,
                            )
                        };
                    }
                    let row = |a: usize| to.wrapping_add(place(&kernel.a, a, |axis| axis.to) + b.start * BYTES);
                    if dense {
                        // SAFETY: what was staged follows each other in the destination, too.
                        unsafe { copy_run::<true, false>(stage, row(a.start), a.len() * bytes) };
                        continue;
                    }
                    for (i, a) in a.enumerate() {
                        // SAFETY: each row of the stage has `bytes` bytes, which are a part of the row in the destination.
                        unsafe { copy_run::<true, false>(stage.wrapping_add(i * pitch), row(a), bytes) };
                    }
                }
            }
        }

        /// Transposes what a walk comes by; the next begins at `next` in the source, where nothing is read.
        ///
        /// # Safety
        /// The walk's columns and rows must be valid on both sides. There must be the columns of a lane and the rows of `N`
        /// vectors, and all of these places must be multiples of `SIZE` if `STREAMING`.
        #[target_feature(enable = $feature)]
        unsafe fn transpose_evenly<
            const BYTES: usize,
            const LANE: usize,
            const N: usize,
            const STREAMING: bool,
            const HINT: u8,
        >(
            walk: &Walk<'_>,
            (from, next): (*const u8, *const u8),
            to: *mut u8,
            tables: &mut Tables<'_>,
        ) {
            if let Some(shuffle) = walk.kernel.shuffle {
                // SAFETY: as required of the caller.
                unsafe {
                    transpose_walk::<BYTES, LANE, N, STREAMING, HINT, true>(
                        walk,
                        (from, next),
                        to,
                        tables,
                        repeated(shuffle),
                    )
                };
            } else {
                // SAFETY: as required of the caller.
                unsafe {
                    transpose_walk::<BYTES, LANE, N, STREAMING, HINT, false>(walk, (from, next), to, tables, zero())
                };
            }
        }

        /// Transposes what a walk comes by, with its shuffle if it has one.
        ///
        /// # Safety
        /// As [`transpose_evenly`].
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn transpose_walk<
            const BYTES: usize,
            const LANE: usize,
            const N: usize,
            const STREAMING: bool,
            const HINT: u8,
            const SHUFFLED: bool,
        >(
            walk: &Walk<'_>,
            (from, next): (*const u8, *const u8),
            to: *mut u8,
            tables: &mut Tables<'_>,
            shuffle: $vector,
        ) {
            let kernel = walk.kernel;
            let count = N * SIZE / BYTES;
            // A quarter of the rows is asked for with each of the four groups that a line has.
            let quarter = |a: usize| {
                let first = a * BYTES / 16 % (LINE / 16) * (count / 4);
                first..first + count / 4
            };
            let is_even = |[_, outer @ ..]: &Side| outer.iter().all(|axis| axis.len == 1);
            if HINT != READ_ROWS && is_even(&kernel.a) && is_even(&kernel.b) {
                let (row, column) = (kernel.b[0].from, kernel.a[0].to);
                walk.for_each(LANE, count, |a, b| {
                    let from = from.wrapping_add(a * BYTES + b * row);
                    let to = to.wrapping_add(b * BYTES + a * column);
                    if HINT == READ_NEXT {
                        quarter(a).for_each(|i| prefetch(from.wrapping_add(i * row + LINE)));
                    }
                    // SAFETY: as required of the caller; neighbours are as far apart as the kernel says.
                    unsafe {
                        transpose_group::<BYTES, LANE, N, STREAMING, HINT, SHUFFLED>(
                            |i| from.wrapping_add(i * row),
                            |i| to.wrapping_add(i * column),
                            shuffle,
                        )
                    };
                });
                return;
            }
            // Rows and columns are looked up.
            for rows in chunks(walk.b.len(), LOOKED_UP, count) {
                let rows = walk.b.start + rows.start..walk.b.start + rows.end;
                let is_all = rows == walk.b;
                let to = to.wrapping_add(rows.start * BYTES);
                let rows = tables.rows.of(&kernel.b, rows, |axis| axis.from);
                for columns in chunks(walk.a.len(), LOOKED_UP, LANE) {
                    let columns = walk.a.start + columns.start..walk.a.start + columns.end;
                    let (from, next) =
                        (from.wrapping_add(columns.start * BYTES), next.wrapping_add(columns.start * BYTES));
                    let columns = tables.columns.of(&kernel.a, columns, |axis| axis.to);
                    let part = Walk { kernel, a: 0..columns.len(), b: 0..rows.len(), order: walk.order };
                    part.for_each(LANE, count, |a, b| {
                        if HINT == READ_ROWS {
                            // The same of the next block, which may be the first of the next turn.
                            let coming = b + walk.order.rows(rows.len());
                            let is_here = coming < rows.len();
                            let (from, first) = if is_here { (from, coming) } else { (next, coming - rows.len()) };
                            let Range { start, end } = quarter(a);
                            let coming = rows.get(first + start..first + end).filter(|_| is_here || is_all);
                            coming
                                .unwrap_or_default()
                                .iter()
                                .for_each(|row| prefetch(from.wrapping_add(row + a * BYTES)));
                        }
                        let (from, rows) = (from.wrapping_add(a * BYTES), &rows[b..][..count]);
                        let (to, columns) = (to.wrapping_add(b * BYTES), &columns[a..][..LANE]);
                        // SAFETY: as required of the caller.
                        unsafe {
                            transpose_group::<BYTES, LANE, N, STREAMING, HINT, SHUFFLED>(
                                |i| from.wrapping_add(rows[i]),
                                |i| to.wrapping_add(columns[i]),
                                shuffle,
                            )
                        };
                    });
                }
            }
        }

        /// Transposes a lane's elements of as many rows of the source as `N` vectors have elements. Rows of the source are loaded straight into the lanes, so that they are only zipped within them.
        ///
        /// # Safety
        /// 16 bytes must be valid for reads at the rows, and `N` vectors for writes at the columns; these are multiples of `SIZE` if
        /// `STREAMING`.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn transpose_group<
            const BYTES: usize,
            const LANE: usize,
            const N: usize,
            const STREAMING: bool,
            const HINT: u8,
            const SHUFFLED: bool,
        >(
            row: impl Fn(usize) -> *const u8,
            column: impl Fn(usize) -> *mut u8,
            shuffle: $vector,
        ) {
            let mut transposed = [[zero(); LANE]; N];
            for (n, transposed) in transposed.iter_mut().enumerate() {
                let mut registers = [zero(); LANE];
                for (i, register) in registers.iter_mut().enumerate() {
                    let lanes = std::array::from_fn(|lane| row((n * $lanes + lane) * LANE + i));
                    // SAFETY: as required of the caller.
                    *register = unsafe { load_lanes(lanes) };
                    if SHUFFLED {
                        *register = shuffled(*register, shuffle);
                    }
                }
                *transposed = zipped::<BYTES, LANE>(registers, LANE.ilog2());
            }
            for i in 0..LANE {
                let column = column(i);
                if HINT == OWN_NEXT {
                    prefetch_to_write(column.wrapping_add(LINE));
                }
                for (n, transposed) in transposed.iter().enumerate() {
                    // SAFETY: as required of the caller.
                    unsafe { store::<STREAMING>(column.wrapping_add(n * SIZE), transposed[i]) };
                }
            }
        }
    };
}
