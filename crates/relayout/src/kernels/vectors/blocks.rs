//! The blocks that transposes are made of, for any kind of vector. *Row* and *column* mean the same as in `transpose`.

use super::tables::Offsets;

/// The blocks for one size of elements.
pub(super) struct BlockKinds {
    /// For rows and columns whose offsets are in tables.
    pub(super) tabled: TransposeBlock,
    /// As `tabled`, and changes the order of the bytes in each element.
    pub(super) tabled_shuffled: TransposeBlock,
    /// For evenly spaced rows and columns.
    pub(super) even: TransposeBlock,
    /// As `even`, and changes the order of the bytes in each element.
    pub(super) even_shuffled: TransposeBlock,
}

impl BlockKinds {
    /// The block for rows and columns that are evenly spaced or not, and elements that are shuffled or not.
    pub(super) fn of(&self, is_even: bool, is_shuffled: bool) -> TransposeBlock {
        match (is_even, is_shuffled) {
            (false, false) => self.tabled,
            (false, true) => self.tabled_shuffled,
            (true, false) => self.even,
            (true, true) => self.even_shuffled,
        }
    }
}

/// Transposes a block, given where its rows begin in the source and its columns in the destination, as offsets from the two pointers.
///
/// # Safety
/// - The CPU has the vectors of the [`TransposeKernels`](super::transpose::TransposeKernels) with this block.
/// - The element of row `b` and column `a` is valid for reads at `a * bytes` bytes after `from + rows[b]`, and for writes at `b * bytes`
///   bytes after `to + columns[a]`.
/// - Rows have at least 16 bytes. Columns have at least a line if the block is one of [`TransposeKernels::lines`](super::transpose::TransposeKernels::lines), and at
///   least a vector if it is one of [`TransposeKernels::vectors`](super::transpose::TransposeKernels::vectors).
/// - If `streaming`, columns consist of whole lines, and all of them begin at a line.
pub(super) type TransposeBlock = unsafe fn(&BlockOptions<'_>, (*const u8, Offsets<'_>), (*mut u8, Offsets<'_>));

/// How a block is transposed.
pub(super) struct BlockOptions<'a> {
    /// This many columns are transposed in all rows before the next columns.
    pub(super) columns: usize,
    pub(super) streaming: bool,
    /// In blocks that shuffle: byte `i` of 16 bytes of a row is taken from byte `shuffle[i]`.
    pub(super) shuffle: [u8; 16],
    /// Whether to prefetch the next line of each column for writing.
    pub(super) prefetch_writes: bool,
    /// Rows of the source to prefetch, in the same columns as are read. May be empty.
    pub(super) rows_to_prefetch: (*const u8, Offsets<'a>),
}

/// Repeats a block for each number below a constant, unrolled: the compiler keeps loops of 16 iterations, and then spills to memory what
/// belongs in registers. The conditions are constants, so that the blocks of other numbers take no time to compile, not even without
/// optimisation.
macro_rules! up_to_16 {
    ($i:ident in $count:expr => $body:block) => { up_to_16!(@each $i in $count => $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) };
    (@each $i:ident in $count:expr => $body:block; $($number:literal)*) => {
        $(
            if const { $number < $count } {
                let $i = $number;
                $body
            }
        )*
    };
}

/// Generates the blocks for one kind of vector.
macro_rules! transposes {
    ([$($feature:tt)+] $lanes:literal) => {
        /// The transposes of these vectors. `blocks` takes an element's bytes and how many elements a lane has.
        const TRANSPOSE_KERNELS: TransposeKernels = TransposeKernels {
            size: SIZE,
            lines: BySize {
                one: blocks::<1, 16, LINE_VECTORS, false>(),
                two: blocks::<2, 8, LINE_VECTORS, true>(),
                four: blocks::<4, 4, LINE_VECTORS, true>(),
                eight: blocks::<8, 2, LINE_VECTORS, true>(),
                sixteen: blocks::<16, 1, LINE_VECTORS, true>(),
            },
            vectors: BySize {
                one: blocks::<1, 16, 1, false>(),
                two: blocks::<2, 8, 1, true>(),
                four: blocks::<4, 4, 1, true>(),
                eight: blocks::<8, 2, 1, true>(),
                sixteen: blocks::<16, 1, 1, true>(),
            },
            narrow: V::NARROW,
            copy_run: copy_non_temporal,
            fill_offsets,
            copy_rows,
        };

        /// Copies `width` bytes of each of `count` rows, and prefetches the source `ahead` bytes after each row.
        ///
        /// # Safety
        /// As [`CopyRows`](super::transpose::CopyRows) says.
        #[target_feature($(enable = $feature),+)]
        unsafe fn copy_rows((from, stride): (*const u8, usize), (to, pitch): (*mut u8, usize), count: usize, width: usize, ahead: usize) {
            for row in 0..count {
                let (from, to) = (from.wrapping_add(row * stride), to.wrapping_add(row * pitch));
                (0..width).step_by(LINE).for_each(|line| prefetch_far(from.wrapping_add(ahead + line)));
                let mut done = 0;
                while done + SIZE <= width {
                    // SAFETY: `done + SIZE <= width`.
                    let vector = unsafe { V::load(from.wrapping_add(done)) };
                    // SAFETY: as above; an ordinary store requires no alignment.
                    unsafe { vector.put(false, to.wrapping_add(done)) };
                    done += SIZE;
                }
                while done < width {
                    // The last 16 bytes overlap those before them.
                    let last = done.min(width - 16);
                    // SAFETY: `last + 16 <= width`. The destination is a buffer apart from the source.
                    unsafe { std::ptr::copy_nonoverlapping(from.wrapping_add(last), to.wrapping_add(last), 16) };
                    done = last + 16;
                }
            }
        }

        /// [`super::tables::fill_offsets`], compiled for these vectors.
        ///
        /// # Safety
        /// The CPU has these vectors.
        #[target_feature($(enable = $feature),+)]
        pub(super) unsafe fn fill_offsets(loops: &Loops, range: Range<usize>, buffer: &mut OffsetBuffer) {
            super::tables::fill_offsets(loops, range, buffer);
        }

        /// The blocks for one size of elements. Single bytes are never shuffled, so they have no blocks that shuffle.
        const fn blocks<const BYTES: usize, const LANE: usize, const N: usize, const SHUFFLES: bool>() -> BlockKinds {
            BlockKinds {
                tabled: transpose::<BYTES, LANE, N, false, false>,
                tabled_shuffled: transpose::<BYTES, LANE, N, SHUFFLES, false>,
                even: transpose::<BYTES, LANE, N, false, true>,
                even_shuffled: transpose::<BYTES, LANE, N, SHUFFLES, true>,
            }
        }

        /// Transposes the columns of one lane in as many rows as `N` vectors have elements, then the columns of the next lane. Rows of the
        /// source are loaded directly into the lanes where they belong, so that zip steps stay within lanes.
        ///
        /// # Safety
        /// As [`TransposeBlock`] says. The rows fill at least `N` vectors, the columns at least one lane.
        #[target_feature($(enable = $feature),+)]
        unsafe fn transpose<
            const BYTES: usize,
            const LANE: usize,
            const N: usize,
            const SHUFFLED: bool,
            const EVEN: bool,
        >(
            options: &BlockOptions<'_>,
            (from, rows): (*const u8, Offsets<'_>),
            (to, columns): (*mut u8, Offsets<'_>),
        ) {
            let &BlockOptions { streaming, prefetch_writes, rows_to_prefetch: (prefetch_from, prefetched), .. } = options;
            let count = N * SIZE / BYTES;
            // SAFETY: only the CPU features are required, which this function requires, too.
            let shuffle = if SHUFFLED { unsafe { V::repeated(options.shuffle) } } else { unsafe { V::zero() } };
            let (last_a, last_b) = (columns.count - LANE, rows.count - count);
            let mut end = 0;
            while end < columns.count {
                let start = end;
                end = columns.count.min(end + options.columns);
                let mut next_b = 0;
                while next_b < rows.count {
                    // The last rows and columns overlap those before them.
                    let b = next_b.min(last_b);
                    let (first_row, rows) = rows.slice::<EVEN>(b, count);
                    let mut next_a = start;
                    while next_a < end {
                        let a = next_a.min(last_a);
                        // Columns shorter than a line are neither prefetched nor written with non-temporal stores.
                        if const { N == LINE_VECTORS } && prefetched.count > 0 {
                            // A line of each row takes four iterations (one for each 16 bytes): each of them prefetches a quarter of the
                            // rows.
                            let first = b + a * BYTES / 16 % (LINE / 16) * (count / 4);
                            for row in first..prefetched.count.min(first + count / 4) {
                                prefetch_far(prefetch_from.wrapping_add(prefetched.get::<EVEN>(row) + a * BYTES));
                            }
                        }
                        let from = from.wrapping_add(first_row + a * BYTES);
                        // SAFETY: only the CPU features are required, which this function requires, too.
                        let zero = unsafe { V::zero() };
                        let mut transposed = [[zero; LANE]; N];
                        for (n, transposed) in transposed.iter_mut().enumerate() {
                            let mut registers = [zero; LANE];
                            up_to_16!(i in LANE => {
                                // SAFETY: `n * $lanes * LANE + i` plus `LANE` for each further lane is below `count`, so these are rows
                                // `b..b + count`, and `a + LANE <= columns.count`: 16 bytes from column `a` on are the row's.
                                registers[i] = unsafe { V::load_rows::<EVEN>(from, rows, n * $lanes * LANE + i, LANE) };
                                if SHUFFLED {
                                    // SAFETY: only the CPU features are required, which this function requires, too.
                                    registers[i] = unsafe { registers[i].shuffled(shuffle) };
                                }
                            });
                            // SAFETY: only the CPU features are required, which this function requires, too.
                            *transposed = unsafe { V::zipped::<BYTES, LANE>(registers, LANE.ilog2()) };
                        }
                        let (first_column, columns) = columns.slice::<EVEN>(a, LANE);
                        let to = to.wrapping_add(first_column + b * BYTES);
                        if const { N == LINE_VECTORS } && prefetch_writes {
                            for i in 0..LANE {
                                prefetch_to_write(to.wrapping_add(columns.get::<EVEN>(i) + LINE));
                            }
                        }
                        // Non-temporal stores write each line once: columns that the block before has written are skipped.
                        let done = if const { N == LINE_VECTORS } && streaming { next_a - a } else { 0 };
                        let store_all = |streaming, done| {
                            for i in 0..LANE {
                                if i < done {
                                    continue;
                                }
                                for (n, transposed) in transposed.iter().enumerate() {
                                    let place = to.wrapping_add(columns.get::<EVEN>(i) + n * SIZE);
                                    // SAFETY: vector `n` of column `a + i` holds the rows from `b + n * SIZE / BYTES` on, which end at or
                                    // below `b + count <= rows.count`. If streaming, columns begin at a line and `b` is a multiple of the
                                    // rows of a line, so the address is a multiple of `SIZE`.
                                    unsafe { transposed[i].put(streaming, place) };
                                }
                            }
                        };
                        if done > 0 {
                            store_all(true, done);
                        } else if const { N == LINE_VECTORS } && streaming {
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
