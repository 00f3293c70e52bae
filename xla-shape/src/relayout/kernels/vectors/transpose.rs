//! Transposes: the order of what they do, and the blocks that they are made of, for vectors of any kind.

use super::super::{Axis, ONCE, Places, Side, Turns, follows};
use super::tables::{LOOKED_UP, LookUp, Room, Spots, Table, chunks};
use super::{LINE, Transpose, fence};
use std::mem::MaybeUninit;
use std::ops::Range;

/// The rows that a transpose stages at once: of a column, their elements take at least so much that the parts of lines at both
/// ends count for little; a line of each stays in the nearest cache, of 32 KiB or more.
const STAGE_ROWS: usize = 512;

/// What the stage of a transpose should hold where the columns may be more or fewer: as much as stays in the nearest cache.
const STAGE_BYTES: usize = 32 << 10;

/// Columns of elements that were transposed, one behind the other. It has room for what [`chunks`] may add to the rows, and to the
/// columns of one line.
#[repr(align(64))]
struct Stage {
    _room: [u8; 52 << 10],
}

/// The shortest runs in the destination that are worth a stage, in bytes.
pub(super) const STAGED_RUN: usize = 256;

/// So many bytes of all turns stay in the nearest cache on both sides.
const NEAREST: usize = 16 << 10;

/// Rows of the source that are shorter than this are not foreseen, in bytes.
const SHORT: usize = 2048;

/// What vectors of one kind do for transposes.
pub(super) struct Level {
    /// The bytes of a vector.
    pub(super) size: usize,
    /// For elements of 1, 2, 4, 8 and 16 bytes, with rows that fill a line: for places in tables, the same with a shuffle, and both
    /// for places that are evenly spaced.
    pub(super) lines: [[TransposeBlock; 4]; 5],
    /// The same with rows that fill a vector.
    pub(super) vectors: [[TransposeBlock; 4]; 5],
    /// What transposes where rows or columns fill no vector, if there is something for that.
    pub(super) narrow: Option<Narrow>,
    /// Copies a run. Whole lines of the destination go past the caches.
    pub(super) copy_run: CopyRun,
    pub(super) look_up: LookUp,
}

/// Transposes a block: where rows begin in the source, and columns in the destination, both counted from the first column and row.
/// Elements are valid for reads and writes there. Columns take at least 16 bytes; rows a line or a vector, and all of those
/// begin with a line of the destination if streaming.
pub(super) type TransposeBlock = unsafe fn(&How<'_>, (*const u8, Spots<'_>), (*mut u8, Spots<'_>));

/// Copies a run.
pub(super) type CopyRun = unsafe fn(*const u8, *mut u8, usize);

/// Transposes the rows of a range in every turn, where these or the columns are too few for other vectors.
pub(super) type Narrow = unsafe fn(&Transpose, Range<usize>, Turns<'_>, *const u8, *mut u8);

/// How a block is transposed.
pub(super) struct How<'a> {
    /// So many columns are done in all rows before the next columns.
    pub(super) columns: usize,
    pub(super) streaming: bool,
    /// Byte `i` of 16 bytes of a row is taken from byte `shuffle[i]`, in blocks that shuffle.
    pub(super) shuffle: [u8; 16],
    /// Whether to ask for the next line of each column, which will be written.
    pub(super) owns_next: bool,
    /// Rows of the source to ask for, the same columns as are read. There may be none.
    pub(super) coming: (*const u8, Spots<'a>),
}

/// What is asked for, beside what is loaded and stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    None,
    /// The next line of each row of the destination, to be written.
    OwnNext,
    /// What comes next in each row of the source.
    ReadNext,
    /// The same columns of the next rows of the source.
    ReadRows,
}

impl Hint {
    /// Where nothing is in the caches: what rows have next, unless it soon is another row. Wide elements are foreseen without.
    fn ahead(kernel: &Transpose) -> Self {
        let row = kernel.a_len() * kernel.bytes;
        if row >= 8 * LINE && kernel.bytes < 16 { Self::ReadNext } else { Self::None }
    }
}

/// What all measured machines agree on is the order; the numbers differ little between them.
#[derive(Clone, Copy)]
enum Order {
    /// So many columns at a time, through all rows: each line of the destination's rows is followed by the next one.
    Columns(usize),
    /// So many rows at a time, through all columns: as many streams are read from front to back as a processor can follow.
    Rows(usize),
}

impl Order {
    /// Where all is in the caches.
    fn cached(bytes: usize) -> Self {
        let lines = match bytes {
            2 | 4 => 1,
            _ => 2,
        };
        Self::Columns((lines * LINE) >> bytes.ilog2())
    }

    /// Where nothing is: two lines side by side are written to each row, unless that takes too many rows.
    fn large(bytes: usize) -> Self {
        let lines = if bytes == 1 { 1 } else { 2 };
        Self::Rows((lines * LINE) >> bytes.ilog2())
    }
}

/// Columns and rows of a transpose, and the way through them.
struct Walk {
    a: Range<usize>,
    b: Range<usize>,
    order: Order,
    hint: Hint,
    streaming: bool,
    block: TransposeBlock,
    /// The fewest columns and rows of a block.
    least: (usize, usize),
    bytes: usize,
    shuffle: [u8; 16],
    /// Whether rows and columns are evenly spaced, and need no tables.
    even: bool,
}

impl Walk {
    /// Transposes; the next turn begins at `next` in the source, where nothing is read.
    ///
    /// # Safety
    /// The machine has the block's vectors. Columns and rows are those of the tables, there are enough for a block, and they are valid on
    /// both sides. If `streaming`, rows and columns begin with lines of the destination.
    unsafe fn run(
        &self,
        (rows, columns): (&mut Table<'_>, &mut Table<'_>),
        (from, next): (*const u8, *const u8),
        to: *mut u8,
    ) {
        if self.even && matches!(self.order, Order::Columns(_)) {
            // SAFETY: as required of the caller.
            return unsafe { self.block((rows, columns), self.a.clone(), self.b.clone(), (from, next), to) };
        }
        let (least_columns, least_rows) = self.least;
        // Parts of a range: those that are looked up at once.
        let parts = |of: &Range<usize>, least: usize| {
            let (start, count) = (of.start, if self.even { of.len() } else { LOOKED_UP });
            chunks(of.len(), count, least).map(move |part| start + part.start..start + part.end)
        };
        for b in parts(&self.b, least_rows) {
            if !self.even {
                rows.look_up(b.clone());
            }
            for a in parts(&self.a, least_columns) {
                if !self.even {
                    columns.look_up(a.clone());
                }
                let block = match self.order {
                    Order::Rows(count) => count,
                    Order::Columns(_) => b.len(),
                };
                let mut start = b.start;
                while start < b.end {
                    let b = start.min(b.end - least_rows)..b.end.min(start + block);
                    // SAFETY: as required of the caller.
                    unsafe { self.block((rows, columns), a.clone(), b, (from, next), to) };
                    start += block;
                }
            }
        }
    }

    /// Transposes some columns and rows.
    ///
    /// # Safety
    /// As [`Self::run`], for these, which were looked up.
    unsafe fn block(
        &self,
        (rows, columns): (&Table<'_>, &Table<'_>),
        a: Range<usize>,
        b: Range<usize>,
        (from, next): (*const u8, *const u8),
        to: *mut u8,
    ) {
        let (from, next) = (from.wrapping_add(a.start * self.bytes), next.wrapping_add(a.start * self.bytes));
        let to = to.wrapping_add(b.start * self.bytes);
        let (row, row_spots) = rows.spots(b.clone(), self.even).expect("the rows were looked up");
        let (column, column_spots) = columns.spots(a.clone(), self.even).expect("the columns were looked up");
        let coming = match self.hint {
            Hint::None | Hint::OwnNext => None,
            Hint::ReadNext => {
                // A line with narrow elements takes longer.
                let ahead = if self.bytes < 4 { LINE } else { 2 * LINE };
                Some((from.wrapping_add(row + ahead), row_spots))
            }
            Hint::ReadRows => {
                // Of the next block, which may be the first of the next turn.
                let is_last = b.end == self.b.end;
                let start = if is_last { self.b.start } else { b.end };
                let coming = rows.spots(start..self.b.end.min(start + b.len()), self.even);
                coming.map(|(row, spots)| ((if is_last { next } else { from }).wrapping_add(row), spots))
            }
        };
        let how = How {
            columns: match self.order {
                // There are no next rows.
                Order::Columns(_) if b.len() == self.least.1 => a.len(),
                Order::Columns(count) => count,
                Order::Rows(_) => self.least.0,
            },
            streaming: self.streaming,
            shuffle: self.shuffle,
            owns_next: self.hint == Hint::OwnNext,
            coming: coming.unwrap_or((from, Spots::NONE)),
        };
        // SAFETY: as required of the caller.
        unsafe { (self.block)(&how, (from.wrapping_add(row), row_spots), (to.wrapping_add(column), column_spots)) };
    }
}

/// Transposes in every turn.
///
/// # Safety
/// The machine has the vectors of this level, which take the kernel. `from` and `to` are valid for what [`Turns::ends`] says. If
/// `streaming`, `to` and all strides in the destination, but for those of elements that lie together, are multiples of a line.
pub(super) unsafe fn run(
    level: &Level,
    kernel: &Transpose,
    (large, streaming): (bool, bool),
    turns: Turns<'_>,
    from: *const u8,
    to: *mut u8,
) {
    let Transpose { bytes, shuffle, .. } = *kernel;
    // Shifts are quicker than divisions.
    let log_bytes = bytes.ilog2() as usize;
    let (lane, line) = (16 >> log_bytes, LINE >> log_bytes);
    let (a, b) = (0..kernel.a_len(), 0..kernel.b_len());
    if let Some(narrow) = level.narrow
        && (a.end < lane || b.end < line)
    {
        // SAFETY: as required of the caller.
        return unsafe { narrow(kernel, b, turns, from, to) };
    }
    let mut rooms = [Room::NEW; 2];
    // SAFETY: as required of the caller.
    let [mut rows, mut columns] = unsafe { Table::both(kernel, level.look_up, &mut rooms) };
    let even = rows.is_even() && columns.is_even();
    let kind = usize::from(shuffle.is_some()) + 2 * usize::from(even);
    let block = level.lines[log_bytes][kind];
    let walk = Walk {
        a,
        b: b.clone(),
        order: Order::cached(bytes),
        hint: Hint::None,
        streaming: false,
        block,
        least: (lane, line),
        bytes,
        shuffle: shuffle.unwrap_or_default(),
        even,
    };
    // Rows that a line is too long for take vectors of their own.
    if b.end < line {
        let block = level.vectors[log_bytes][kind];
        let walk = Walk { block, least: (lane, level.size >> log_bytes), ..walk };
        return turns.for_each(0, 0, |from_turn, to_turn| {
            let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
            // SAFETY: as required of the caller; a vector's rows are there, and ordinary stores need no alignment.
            unsafe { walk.run((&mut rows, &mut columns), (from, from), to) };
        });
    }
    if large && !streaming && (is_dense(kernel) || b.end * bytes >= STAGED_RUN) {
        return turns.for_each(0, 0, |from_turn, to_turn| {
            let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
            // SAFETY: as required of the caller.
            unsafe { staged(level, kernel, &walk, from, to) };
        });
    }
    let whole = b.end & !(line - 1);
    let rest = b.end - line..b.end;
    // Rows that fill no line: if they are few, by themselves; or a line of them, together with some before.
    let few = match bytes {
        1 | 2 => 32,
        4 => 16,
        _ => 0,
    };
    let rest_bytes = (b.end - whole) * bytes;
    let mut is_done = false;
    if let Some(narrow) = level.narrow
        && rest_bytes > 0
        && rest_bytes <= few
        && (!large || streaming)
    {
        // SAFETY: as required of the caller.
        unsafe { narrow(kernel, whole..b.end, turns, from, to) };
        is_done = true;
    }
    let rows_of_walk = if is_done || streaming { 0..whole } else { b };
    // What comes next is asked for: in long rows themselves, behind short ones in the next rows.
    let short = large && walk.a.len() * bytes < SHORT;
    let all = turns.0.iter().fold(rows_of_walk.len() * walk.a.len() * bytes, |all, axis| all * axis.len);
    let hint = if short && streaming {
        Hint::ReadRows
    } else if large {
        Hint::ahead(kernel)
    } else if bytes == 1 && starts_lines(kernel, turns, to) || rows_of_walk.len() <= line || all <= NEAREST {
        // Bytes gain by it only where vectors are parts of two lines.
        Hint::None
    } else {
        Hint::OwnNext
    };
    let order = if large { Order::large(bytes) } else { walk.order };
    let walk = Walk { b: rows_of_walk, order, hint, streaming, ..walk };
    let rest = (streaming && whole < rest.end && !is_done).then(|| Walk {
        a: walk.a.clone(),
        b: rest,
        hint: Hint::None,
        streaming: false,
        ..walk
    });
    let mut coming = short.then(|| Places::of(turns));
    turns.for_each(0, 0, |from_turn, to_turn| {
        let next = coming.as_mut().map_or(0, |coming| {
            coming.advance();
            coming.from
        });
        let (next, from) = (from.wrapping_add(next), from.wrapping_add(from_turn));
        let to = to.wrapping_add(to_turn);
        // SAFETY: as required of the caller; there are a line's rows, and all of them begin with a line if `streaming`:
        // ordinary stores need no alignment.
        unsafe { walk.run((&mut rows, &mut columns), (from, next), to) };
        if let Some(rest) = &rest {
            fence();
            // SAFETY: as above; these rows begin anywhere, and ordinary stores need no alignment.
            unsafe { rest.run((&mut rows, &mut columns), (from, next), to) };
        }
    });
}

/// Whether all of the destination's rows begin with lines.
fn starts_lines(kernel: &Transpose, turns: Turns<'_>, to: *mut u8) -> bool {
    turns.0.iter().chain(&kernel.a).fold(to.addr(), |all, axis| all | axis.to).is_multiple_of(LINE)
}

/// Whether the destination's rows follow each other without gaps.
fn is_dense(kernel: &Transpose) -> bool {
    follows(&kernel.a, |axis| axis.to, kernel.b_len() * kernel.bytes)
}

/// Transposes where the destination's rows begin anywhere: into a stage that stays in the nearest cache, and from
/// there, in whole lines past the caches, to each row.
///
/// # Safety
/// As [`run`], for one turn of this kernel, whose rows take a line and whose columns take 16 bytes.
unsafe fn staged(level: &Level, kernel: &Transpose, walk: &Walk, from: *const u8, to: *mut u8) {
    let bytes = kernel.bytes;
    let line = LINE / bytes;
    let mut stage = MaybeUninit::<Stage>::uninit();
    let stage = stage.as_mut_ptr().cast::<u8>();
    let mut rooms = [Room::NEW; 2];
    for b in chunks(kernel.b_len(), STAGE_ROWS, line) {
        let run = b.len() * bytes;
        let dense = is_dense(kernel) && b.len() == kernel.b_len();
        let pitch = if dense { run } else { run.next_multiple_of(LINE) + LINE };
        let columns_at_once = (STAGE_BYTES / pitch).max(line) / line * line;
        let on_stage = Axis { len: kernel.a_len(), from: bytes, to: pitch };
        let on_stage = Transpose { a: [on_stage, ONCE, ONCE, ONCE], ..*kernel };
        // SAFETY: as required of the caller.
        let [mut rows, mut columns] = unsafe { Table::both(&on_stage, level.look_up, &mut rooms) };
        for a in chunks(kernel.a_len(), columns_at_once, walk.least.0) {
            assert!(a.len() * pitch <= size_of::<Stage>(), "the stage has room for all columns");
            // A line of each row, and then the next row: it is read once.
            let order = Order::Columns(line);
            let walk = Walk { a: 0..a.len(), b: b.clone(), order, hint: Hint::ahead(kernel), ..*walk };
            let (from, first) = (from.wrapping_add(a.start * bytes), stage.wrapping_sub(b.start * bytes));
            // SAFETY: the columns and rows are some of the kernel's; the stage has room for them.
            unsafe { walk.run((&mut rows, &mut columns), (from, from), first) };
            let row = |a: usize| to.wrapping_add(place(&kernel.a, a) + b.start * bytes);
            if dense {
                // SAFETY: what was staged follows each other in the destination, too.
                unsafe { (level.copy_run)(stage, row(a.start), a.len() * run) };
                continue;
            }
            for (i, a) in a.enumerate() {
                // SAFETY: each row of the stage has `run` bytes, which are a part of the row in the destination.
                unsafe { (level.copy_run)(stage.wrapping_add(i * pitch), row(a), run) };
            }
        }
    }
}

/// Where an element of a side lies in the destination.
fn place(side: &Side, mut number: usize) -> usize {
    let mut place = 0;
    for axis in side {
        if number < axis.len {
            return place + number * axis.to;
        }
        place += number % axis.len * axis.to;
        number /= axis.len;
    }
    place
}

/// Does something for each number below a constant, without a loop: the compiler keeps loops of 16 turns, and then has in memory what
/// belongs in registers.
macro_rules! up_to_16 {
    ($i:ident in $count:expr => $body:block) => { up_to_16!(@each $i in $count => $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) };
    (@each $i:ident in $count:expr => $body:block; $($number:literal)*) => {
        $(
            if $number < $count {
                let $i = $number;
                $body
            }
        )*
    };
}

/// Generates the blocks for vectors of one kind.
macro_rules! transposes {
    ($feature:literal, $lanes:literal) => {
        /// What these vectors do for transposes; with the element's bytes and a lane's elements.
        const LEVEL: Level = Level {
            size: SIZE,
            lines: [
                blocks::<1, 16, LINE_VECTORS, false>(),
                blocks::<2, 8, LINE_VECTORS, true>(),
                blocks::<4, 4, LINE_VECTORS, true>(),
                blocks::<8, 2, LINE_VECTORS, true>(),
                blocks::<16, 1, LINE_VECTORS, true>(),
            ],
            vectors: [
                blocks::<1, 16, 1, false>(),
                blocks::<2, 8, 1, true>(),
                blocks::<4, 4, 1, true>(),
                blocks::<8, 2, 1, true>(),
                blocks::<16, 1, 1, true>(),
            ],
            narrow: NARROW,
            copy_run: copy_past_caches,
            look_up,
        };

        /// # Safety
        /// The machine must have these vectors.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn look_up(loops: &Loops, range: Range<usize>, room: &mut Room) {
            super::tables::look_up(loops, range, room);
        }

        /// The four kinds of blocks; elements of a byte are not shuffled.
        const fn blocks<const BYTES: usize, const LANE: usize, const N: usize, const SHUFFLES: bool>()
        -> [TransposeBlock; 4] {
            [
                transpose::<BYTES, LANE, N, false, false>,
                transpose::<BYTES, LANE, N, SHUFFLES, false>,
                transpose::<BYTES, LANE, N, false, true>,
                transpose::<BYTES, LANE, N, SHUFFLES, true>,
            ]
        }

        /// Transposes a lane's columns of as many rows as `N` vectors have elements, and then the next. Rows of the source are loaded
        /// straight into the lanes, so that they are only zipped within them.
        ///
        /// # Safety
        /// As [`TransposeBlock`] says; the rows fill `N` vectors.
        #[target_feature(enable = $feature)]
        unsafe fn transpose<
            const BYTES: usize,
            const LANE: usize,
            const N: usize,
            const SHUFFLED: bool,
            const EVEN: bool,
        >(
            how: &How<'_>,
            (from, rows): (*const u8, Spots<'_>),
            (to, columns): (*mut u8, Spots<'_>),
        ) {
            let &How { streaming, owns_next, coming: (ahead, coming), .. } = how;
            // Rows that fill no line are short: then there are no hints, and nothing goes past the caches.
            let lines = N == LINE_VECTORS;
            let count = N * SIZE / BYTES;
            let shuffle = if SHUFFLED { repeated(how.shuffle) } else { zero() };
            let (last_a, last_b) = (columns.count - LANE, rows.count - count);
            let mut end = 0;
            while end < columns.count {
                let start = end;
                end = columns.count.min(end + how.columns);
                let mut next_b = 0;
                while next_b < rows.count {
                    // The last rows and columns may have some of those before them.
                    let b = next_b.min(last_b);
                    let (first_row, rows) = rows.part::<EVEN>(b, count);
                    let mut next_a = start;
                    while next_a < end {
                        let a = next_a.min(last_a);
                        if lines && coming.count > 0 {
                            // A quarter of the rows with each of the four groups that a line has.
                            let first = b + a * BYTES / 16 % (LINE / 16) * (count / 4);
                            for row in first..coming.count.min(first + count / 4) {
                                prefetch_far(ahead.wrapping_add(coming.at::<EVEN>(row) + a * BYTES));
                            }
                        }
                        let from = from.wrapping_add(first_row + a * BYTES);
                        let mut transposed = [[zero(); LANE]; N];
                        for (n, transposed) in transposed.iter_mut().enumerate() {
                            let mut registers = [zero(); LANE];
                            up_to_16!(i in LANE => {
                                let row = |lane| rows.at::<EVEN>((n * $lanes + lane) * LANE + i);
                                let lanes = std::array::from_fn(|lane| from.wrapping_add(row(lane)));
                                // SAFETY: as required of the caller.
                                registers[i] = unsafe { load_lanes(lanes) };
                                if SHUFFLED {
                                    registers[i] = shuffled(registers[i], shuffle);
                                }
                            });
                            *transposed = zipped::<BYTES, LANE>(registers, LANE.ilog2());
                        }
                        let (first_column, columns) = columns.part::<EVEN>(a, LANE);
                        let to = to.wrapping_add(first_column + b * BYTES);
                        if lines && owns_next {
                            (0..LANE).for_each(|i| prefetch_to_write(to.wrapping_add(columns.at::<EVEN>(i) + LINE)));
                        }
                        // What goes past the caches is written once.
                        let done = if lines && streaming { next_a - a } else { 0 };
                        let store_all = |streaming, done| {
                            for i in 0..LANE {
                                if i < done {
                                    continue;
                                }
                                for (n, transposed) in transposed.iter().enumerate() {
                                    let place = to.wrapping_add(columns.at::<EVEN>(i) + n * SIZE);
                                    // SAFETY: as required of the caller.
                                    unsafe { store(streaming, place, transposed[i]) };
                                }
                            }
                        };
                        if done > 0 {
                            store_all(true, done);
                        } else if lines && streaming {
                            store_all(true, 0);
                        } else {
                            store_all(false, 0);
                        }
                        next_a += LANE;
                    }
                    next_b += count;
                }
            }
        }
    };
}
