//! What the kernels are for vectors of any kind.

/// Calls `$f` with a kernel's sizes, and what else is given, as constants; returns `false` for sizes that none has.
macro_rules! with_sizes {
    ($f:ident $arguments:tt, $bits:expr, $kernel:expr $(, $more:literal)?) => {
        with_sizes!(@match $f $arguments, ($bits, $kernel.bytes, $kernel.ways), ($($more)?);
            8, 1, 2; 8, 1, 4; 8, 1, 8; 8, 2, 2; 8, 2, 4; 8, 2, 8; 8, 4, 2; 8, 4, 4; 8, 8, 2;
            4, 1, 1; 4, 1, 2; 4, 1, 4; 4, 1, 8; 2, 1, 1; 2, 1, 2; 2, 1, 4; 2, 1, 8; 1, 1, 1; 1, 1, 2; 1, 1, 4; 1, 1, 8)
    };
    (@match $f:ident $arguments:tt, $sizes:expr, $more:tt; $($bits:literal, $bytes:literal, $ways:literal);*) => {
        with_sizes!(@arms $f $arguments, $sizes; $($bits, $bytes, $ways, $more);*)
    };
    (@arms $f:ident $arguments:tt, $sizes:expr; $($bits:literal, $bytes:literal, $ways:literal, ($($more:literal)?));*) => {
        match $sizes {
            $(
                // SAFETY: as required of the caller; the constants are those of the kernel.
                ($bits, $bytes, $ways) => unsafe { $f::<$bits, $bytes, $ways $(, $more)?> $arguments },
            )*
            _ => return false,
        }
    };
}

/// Generates the kernels for vectors of one kind.
macro_rules! kernels {
    ($feature:literal, $vector:ty, $lanes:literal) => {
        use super::*;

        /// The bytes of a vector.
        const SIZE: usize = 16 * $lanes;
        /// The vectors of a cache line.
        const LINE_VECTORS: usize = LINE / SIZE;

        /// Stores a vector, past the caches if `STREAMING`.
        ///
        /// # Safety
        /// `to` must be valid for a write of `SIZE` bytes, and a multiple of `SIZE` if `STREAMING`.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn store<const STREAMING: bool>(to: *mut u8, vector: $vector) {
            if STREAMING {
                #[cfg(test)]
                pending::streamed(to, SIZE);
                // SAFETY: as required of the caller.
                unsafe { stream_aligned(to.cast(), vector) };
            } else {
                #[cfg(test)]
                pending::stored(to, SIZE);
                // SAFETY: as required of the caller; no alignment is needed.
                unsafe { store_unaligned(to.cast(), vector) };
            }
        }

        /// `steps` times the step of which all kernels are made, in each lane by itself.
        #[inline]
        #[target_feature(enable = $feature)]
        fn zipped<const BYTES: usize, const N: usize>(mut registers: [$vector; N], steps: u32) -> [$vector; N] {
            for _ in 0..steps {
                let old = registers;
                for i in 0..N / 2 {
                    registers[2 * i] = zip_low::<BYTES>(old[i], old[i + N / 2]);
                    registers[2 * i + 1] = zip_high::<BYTES>(old[i], old[i + N / 2]);
                }
            }
            registers
        }

        /// Whether there are vectors of this kind for a kernel.
        pub(super) fn takes(kernel: &Kernel) -> bool {
            match kernel {
                Kernel::Copy(bytes) => *bytes >= SIZE,
                Kernel::Interleave(kernel) | Kernel::Deinterleave(kernel) => kernel.len * kernel.bytes >= SIZE,
                Kernel::Pack(kernel) | Kernel::Unpack(kernel) => kernel.rows.len >= SIZE,
                Kernel::PackUnits(_) | Kernel::UnpackUnits(_) => false,
                Kernel::Transpose(kernel) => {
                    let shuffles = kernel.shuffle.is_none() || SHUFFLES;
                    shuffles && kernel.a_len() * kernel.bytes >= 16 && kernel.b_len() * kernel.bytes >= SIZE
                }
            }
        }

        /// Runs a kernel in every turn; `false` for sizes that no kernel has.
        ///
        /// # Safety
        /// [`takes`] accepts the kernel, which is valid. `from` and `to` must be valid for reads and writes of [`Turns::ends`] bytes. If `streaming`, `to` and all
        /// strides in the destination, but for those of elements that lie together, are multiples of `LINE`.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn run(
            kernel: &Kernel,
            (large, streaming): (bool, bool),
            turns: Turns<'_>,
            from: *const u8,
            to: *mut u8,
        ) -> bool {
            match (kernel, streaming) {
                // SAFETY: as required of the caller.
                (Kernel::Copy(bytes), true) => unsafe { copy::<true>(*bytes, turns, from, to) },
                // SAFETY: as required of the caller.
                (Kernel::Copy(bytes), false) => unsafe { copy::<false>(*bytes, turns, from, to) },
                (Kernel::Interleave(kernel), true) => {
                    with_sizes!(interleave(kernel, 0, turns, from, to), 8, kernel, true)
                }
                (Kernel::Interleave(kernel), false) => {
                    with_sizes!(interleave(kernel, 0, turns, from, to), 8, kernel, false)
                }
                (Kernel::Deinterleave(kernel), true) => {
                    with_sizes!(deinterleave(kernel, 0, turns, from, to), 8, kernel, true)
                }
                (Kernel::Deinterleave(kernel), false) => {
                    with_sizes!(deinterleave(kernel, 0, turns, from, to), 8, kernel, false)
                }
                (Kernel::Pack(Packing { bits, distance, rows }), true) => {
                    with_sizes!(interleave(rows, *distance, turns, from, to), bits, rows, true)
                }
                (Kernel::Pack(Packing { bits, distance, rows }), false) => {
                    with_sizes!(interleave(rows, *distance, turns, from, to), bits, rows, false)
                }
                (Kernel::Unpack(Packing { bits, distance, rows }), true) => {
                    with_sizes!(deinterleave(rows, *distance, turns, from, to), bits, rows, true)
                }
                (Kernel::Unpack(Packing { bits, distance, rows }), false) => {
                    with_sizes!(deinterleave(rows, *distance, turns, from, to), bits, rows, false)
                }
                (Kernel::PackUnits(_) | Kernel::UnpackUnits(_), _) => return false,
                (Kernel::Transpose(kernel), _) => match kernel.bytes {
                    // SAFETY: as required of the caller; the numbers are the element's bytes and a lane's elements.
                    1 => unsafe { transpose::<1, 16>(kernel, (large, streaming), turns, from, to) },
                    // SAFETY: as above.
                    2 => unsafe { transpose::<2, 8>(kernel, (large, streaming), turns, from, to) },
                    // SAFETY: as above.
                    4 => unsafe { transpose::<4, 4>(kernel, (large, streaming), turns, from, to) },
                    // SAFETY: as above.
                    8 => unsafe { transpose::<8, 2>(kernel, (large, streaming), turns, from, to) },
                    // SAFETY: as above.
                    16 => unsafe { transpose::<16, 1>(kernel, (large, streaming), turns, from, to) },
                    _ => return false,
                },
            }
            true
        }

        /// Copies at least [`SIZE`] bytes in every turn.
        ///
        /// # Safety
        /// As [`run`], for this kernel.
        #[target_feature(enable = $feature)]
        unsafe fn copy<const STREAMING: bool>(bytes: usize, turns: Turns<'_>, from: *const u8, to: *mut u8) {
            turns.for_each(0, 0, |from_turn, to_turn| {
                let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                let mut done = 0;
                while done + LINE <= bytes {
                    if STREAMING {
                        prefetch(from.wrapping_add(done + AHEAD));
                    }
                    for i in 0..LINE_VECTORS {
                        // SAFETY: a line is left on both sides.
                        let vector = unsafe { load(from.wrapping_add(done + i * SIZE).cast()) };
                        // SAFETY: as above, and `SIZE` divides the distance from `to`.
                        unsafe { store::<STREAMING>(to.wrapping_add(done + i * SIZE), vector) };
                    }
                    done += LINE;
                }
                if STREAMING && done < bytes {
                    fence();
                }
                while done < bytes {
                    // The last vector may do some bytes a second time.
                    done = done.min(bytes - SIZE);
                    // SAFETY: a vector is left on both sides.
                    let vector = unsafe { load(from.wrapping_add(done).cast()) };
                    // SAFETY: as above.
                    unsafe { store::<false>(to.wrapping_add(done), vector) };
                    done += SIZE;
                }
            });
        }

        /// Reads a vector of a row. If elements are packed, those that share a byte lie `distance` apart.
        ///
        /// # Safety
        /// `SIZE` bytes must be valid for reads at `place` and, with fewer than 8 bits, at all that share their bytes.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn load_row<const BITS: usize>(place: *const u8, distance: usize) -> $vector {
            // SAFETY: as required of the caller.
            let mut row = unsafe { load(place.cast()) };
            if BITS < 8 {
                row = and(row, low_bits::<BITS>());
            }
            for part in 1..8 / BITS {
                // SAFETY: as required of the caller.
                let elements = unsafe { load(place.wrapping_add(part * distance).cast()) };
                row = or(row, shifted_up(and(elements, low_bits::<BITS>()), part * BITS));
            }
            row
        }

        /// The way back.
        ///
        /// # Safety
        /// As [`load_row`], for writes, and all these places are multiples of `SIZE` if `STREAMING`.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn store_row<const BITS: usize, const STREAMING: bool>(place: *mut u8, distance: usize, row: $vector) {
            for part in 0..8 / BITS {
                let elements = if BITS < 8 { and(shifted_down(row, part * BITS), low_bits::<BITS>()) } else { row };
                // SAFETY: as required of the caller.
                unsafe { store::<STREAMING>(place.wrapping_add(part * distance), elements) };
            }
        }

        /// Interleaves rows, after packing them if elements have fewer than 8 bits.
        ///
        /// # Safety
        /// As [`run`], for this kernel.
        #[target_feature(enable = $feature)]
        unsafe fn interleave<const BITS: usize, const BYTES: usize, const WAYS: usize, const STREAMING: bool>(
            kernel: &Interleave,
            distance: usize,
            turns: Turns<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let step = SIZE / BYTES;
            let (len, row) = (kernel.len, kernel.row);
            let turn = WAYS * len * BYTES * (8 / BITS);
            let short = STREAMING && turn < AHEAD;
            let mut coming = Places::of(turns);
            if short {
                for _ in 0..TURNS_AHEAD / turn {
                    coming.advance();
                }
            }
            turns.for_each(0, 0, |from_turn, to_turn| {
                let ahead = if short { coming.from } else { from_turn + AHEAD / WAYS };
                let ahead = from.wrapping_add(ahead);
                if short {
                    coming.advance();
                }
                let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                let interleaved = |start: usize| {
                    let mut rows = [zero(); WAYS];
                    for (way, vector) in rows.iter_mut().enumerate() {
                        let place = from.wrapping_add(way * row + start * BYTES);
                        if STREAMING {
                            for part in 0..8 / BITS {
                                prefetch(ahead.wrapping_add(way * row + start * BYTES + part * distance));
                            }
                        }
                        // SAFETY: `step` elements of each row are left from `start` on.
                        *vector = unsafe { load_row::<BITS>(place, distance) };
                    }
                    interleaved::<BYTES, WAYS>(rows)
                };
                let mut start = 0;
                while start + step <= len {
                    for (i, vector) in interleaved(start).into_iter().enumerate() {
                        let place = to.wrapping_add(start * BYTES * WAYS + i * SIZE);
                        // SAFETY: the run has room for what was read, and `SIZE` divides the distance from `to`.
                        unsafe { store::<STREAMING>(place, vector) };
                    }
                    start += step;
                }
                if start < len {
                    if STREAMING {
                        fence();
                    }
                    // The last elements fill no vector: some are done twice.
                    let start = len - step;
                    for (i, vector) in interleaved(start).into_iter().enumerate() {
                        let place = to.wrapping_add(start * BYTES * WAYS + i * SIZE);
                        // SAFETY: the run has room for what was read.
                        unsafe { store::<false>(place, vector) };
                    }
                }
            });
        }

        /// The way back: takes rows apart, and unpacks them if elements have fewer than 8 bits.
        ///
        /// # Safety
        /// As [`run`], for this kernel.
        #[target_feature(enable = $feature)]
        unsafe fn deinterleave<const BITS: usize, const BYTES: usize, const WAYS: usize, const STREAMING: bool>(
            kernel: &Interleave,
            distance: usize,
            turns: Turns<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let step = SIZE / BYTES;
            let (len, row) = (kernel.len, kernel.row);
            turns.for_each(0, 0, |from_turn, to_turn| {
                let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                let apart = |start: usize| {
                    let mut vectors = [zero(); WAYS];
                    for (i, vector) in vectors.iter_mut().enumerate() {
                        let place = from.wrapping_add(start * BYTES * WAYS + i * SIZE);
                        if STREAMING {
                            prefetch(place.wrapping_add(AHEAD));
                        }
                        // SAFETY: `step` elements of each row are left in the run from `start` on.
                        *vector = unsafe { load(place.cast()) };
                    }
                    taken_apart::<BYTES, WAYS>(vectors)
                };
                let mut start = 0;
                while start + step <= len {
                    for (way, vector) in apart(start).into_iter().enumerate() {
                        let place = to.wrapping_add(way * row + start * BYTES);
                        // SAFETY: the row has room for what was read, and `SIZE` divides the distance from `to`.
                        unsafe { store_row::<BITS, STREAMING>(place, distance, vector) };
                    }
                    start += step;
                }
                if start < len {
                    if STREAMING {
                        fence();
                    }
                    // The last elements fill no vector: some are done twice.
                    let start = len - step;
                    for (way, vector) in apart(start).into_iter().enumerate() {
                        let place = to.wrapping_add(way * row + start * BYTES);
                        // SAFETY: the row has room for what was read.
                        unsafe { store_row::<BITS, false>(place, distance, vector) };
                    }
                }
            });
        }

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
            let plain = kernel.is_plain();
            // Once, since to make room for the columns of each block would cost as much as a small block.
            let mut columns = [to; BLOCK_LINES[0] * LINE];
            Block::for_each(kernel, large, turns, from, to, |block, next| match (large, streaming, plain) {
                // SAFETY: as required of the caller; the block is a part of a turn, and the kernel is plain if it says so.
                (false, _, true) => unsafe { transpose_cached_block::<BYTES, LANE, true>(kernel, block, &mut columns) },
                // SAFETY: as above.
                (false, _, false) => unsafe {
                    transpose_cached_block::<BYTES, LANE, false>(kernel, block, &mut columns)
                },
                // SAFETY: as above.
                (true, true, _) => unsafe { transpose_block::<BYTES, LANE, true>(kernel, block, next) },
                // SAFETY: as above.
                (true, false, _) => unsafe { transpose_block::<BYTES, LANE, false>(kernel, block, next) },
            });
        }

        /// Transposes a block along its diagonals: where rows lie a power of two apart, all lines of the same rows need
        /// the same few sets of the nearest cache, and so do all lines of the same columns.
        ///
        /// # Safety
        /// As [`transpose`] for the turn in which the block is; the kernel is plain if `PLAIN`.
        #[target_feature(enable = $feature)]
        unsafe fn transpose_cached_block<const BYTES: usize, const LANE: usize, const PLAIN: bool>(
            kernel: &Transpose,
            block: &Block,
            columns: &mut [*mut u8],
        ) {
            let line = LINE / BYTES;
            let shuffle = kernel.shuffle.map(|shuffle| repeated(shuffle));
            let (a_lines, b_lines) = (block.a.len() / line, block.b.len() / line);
            let columns = &mut columns[..a_lines * line];
            kernel.columns(block.a.start, block.to.wrapping_add(block.b.start * BYTES), columns);
            for diagonal in 0..a_lines {
                let mut i = diagonal;
                for k in 0..b_lines {
                    let (rows, columns) = (&block.rows[k * line..][..line], &columns[i * line..][..line]);
                    let start = block.a.start * BYTES + i * LINE;
                    // SAFETY: as required of the caller; these are columns and rows of the block.
                    unsafe {
                        transpose_lines::<BYTES, LANE, false, PLAIN>(kernel, rows, start, columns, k * LINE, shuffle)
                    };
                    i = if i + 1 == a_lines { 0 } else { i + 1 };
                }
            }
            // SAFETY: as required of the caller.
            unsafe { transpose_rests::<BYTES, LANE>(kernel, block, shuffle, false) };
        }

        /// Transposes a block, while it asks for the lines of the next one.
        ///
        /// # Safety
        /// As [`transpose`] for the turn in which the block is; `to` and all strides in the destination are multiples of
        /// `LINE` if `STREAMING`.
        #[target_feature(enable = $feature)]
        unsafe fn transpose_block<const BYTES: usize, const LANE: usize, const STREAMING: bool>(
            kernel: &Transpose,
            block: &Block,
            next: Option<&Block>,
        ) {
            let line = LINE / BYTES;
            let shuffle = kernel.shuffle.map(|shuffle| repeated(shuffle));
            let mut next_lines = next.map(|next| Lines::of(next, BYTES));
            let (a_lines, b_lines) = (block.a.len() / line, block.b.len() / line);
            let mut columns = [block.to; LINE];
            for i in 0..a_lines {
                let a = block.a.start + i * line;
                kernel.columns(a, block.to.wrapping_add(block.b.start * BYTES), &mut columns[..line]);
                for k in 0..b_lines {
                    if let Some(lines) = &mut next_lines {
                        lines.prefetch(line);
                    }
                    let (rows, columns) = (&block.rows[k * line..][..line], &columns[..line]);
                    // SAFETY: as required of the caller; these are columns and rows of the block.
                    unsafe {
                        transpose_lines::<BYTES, LANE, STREAMING, false>(
                            kernel,
                            rows,
                            a * BYTES,
                            columns,
                            k * LINE,
                            shuffle,
                        )
                    };
                }
            }
            // SAFETY: as required of the caller.
            unsafe { transpose_rests::<BYTES, LANE>(kernel, block, shuffle, STREAMING) };
        }

        /// Transposes what of a block fills no lines.
        ///
        /// # Safety
        /// As [`transpose`] for the turn in which the block is.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn transpose_rests<const BYTES: usize, const LANE: usize>(
            kernel: &Transpose,
            block: &Block,
            shuffle: Option<$vector>,
            streaming: bool,
        ) {
            let line = LINE / BYTES;
            let (a_rest, b_rest) = (block.a.len() % line, block.b.len() % line);
            if streaming && a_rest + b_rest > 0 {
                fence();
            }
            if b_rest > 0 {
                let first = block.b.len() - b_rest;
                // SAFETY: as required of the caller.
                unsafe { transpose_rest::<BYTES, LANE>(kernel, block, block.a.clone(), first, shuffle) };
            }
            if a_rest > 0 {
                let a = block.a.end - a_rest..block.a.end;
                // SAFETY: as required of the caller.
                unsafe { transpose_rest::<BYTES, LANE>(kernel, block, a, 0, shuffle) };
            }
        }

        /// Transposes the rest of a block: these columns, from its row number `first` on.
        ///
        /// # Safety
        /// As [`transpose`] for the turn in which the block is: [`takes`] has made sure that all blocks together have the rows
        /// of a vector and the columns of a lane.
        #[cold]
        #[target_feature(enable = $feature)]
        unsafe fn transpose_rest<const BYTES: usize, const LANE: usize>(
            kernel: &Transpose,
            block: &Block,
            columns: Range<usize>,
            first: usize,
            shuffle: Option<$vector>,
        ) {
            let count = SIZE / BYTES;
            let mut b = block.b.start + first;
            while b < block.b.end {
                // The last rows and columns may be done a second time, also those of the block before: `takes` has made
                // sure that all blocks together have as many.
                b = b.min(block.b.end - count);
                let mut rows = [block.from; SIZE];
                kernel.rows(b, block.from, &mut rows[..count]);
                let mut a = columns.start;
                while a < columns.end {
                    a = a.min(columns.end - LANE);
                    let mut columns = [block.to; LANE];
                    kernel.columns(a, block.to.wrapping_add(b * BYTES), &mut columns);
                    // SAFETY: as required of the caller.
                    unsafe { transpose_lanes::<BYTES, LANE>(&rows[..count], a * BYTES, columns, shuffle) };
                    a += LANE;
                }
                b += count;
            }
        }

        /// Transposes a line's elements, from byte `start` on, of as many rows of the source. Each line is read once:
        /// where rows lie a power of two apart, the cache could not hold all of theirs.
        ///
        /// # Safety
        /// There must be as many rows and columns as a line has elements: evenly spaced, and with no shuffle, if `PLAIN`. A line
        /// from `start` on of the rows must be valid for reads, and from `to` on of the columns for writes; there they are
        /// multiples of `SIZE` if `STREAMING`.
        #[inline(never)]
        #[target_feature(enable = $feature)]
        unsafe fn transpose_lines<const BYTES: usize, const LANE: usize, const STREAMING: bool, const PLAIN: bool>(
            kernel: &Transpose,
            rows: &[*const u8],
            start: usize,
            columns: &[*mut u8],
            to: usize,
            shuffle: Option<$vector>,
        ) {
            let (rows, columns) = (&rows[..LINE / BYTES], &columns[..LINE / BYTES]);
            // Where a step from one to the next is always the same, it is quicker to add it than to look places up, but for
            // large arrays: there it was no quicker, and slower where rows of the source are short.
            let row = |i| if PLAIN { rows[0].wrapping_add(i * kernel.b[0].from) } else { rows[i] };
            let column = |i| if PLAIN { columns[0].wrapping_add(i * kernel.a[0].to) } else { columns[i] };
            let shuffle = shuffle.filter(|_| !PLAIN);
            let mut stage = [[MaybeUninit::<$vector>::uninit(); LANE]; LINE / 16 * LINE_VECTORS];
            // In each lane by itself, so that only whole lanes are left to be moved.
            for (i, staged) in stage.iter_mut().enumerate() {
                let group = i / LINE_VECTORS;
                let part = i - group * LINE_VECTORS;
                let mut registers = [zero(); LANE];
                for (i, register) in registers.iter_mut().enumerate() {
                    // SAFETY: as required of the caller.
                    *register = unsafe { load(row(group * LANE + i).wrapping_add(start + part * SIZE).cast()) };
                }
                if let Some(shuffle) = shuffle {
                    for register in &mut registers {
                        *register = shuffled(*register, shuffle);
                    }
                }
                let zipped = zipped::<BYTES, LANE>(registers, LANE.ilog2());
                for i in 0..LANE {
                    staged[i].write(zipped[i]);
                }
            }
            for part in 0..LINE_VECTORS {
                for i in 0..LANE {
                    for vector in 0..LINE_VECTORS {
                        let mut registers = [zero(); $lanes];
                        for (lane, register) in registers.iter_mut().enumerate() {
                            let staged = &stage[(vector * $lanes + lane) * LINE_VECTORS + part][i];
                            // SAFETY: all of the stage has been written.
                            *register = unsafe { staged.assume_init() };
                        }
                        for (lane, transposed) in lanes_transposed(registers).into_iter().enumerate() {
                            let column = column((part * $lanes + lane) * LANE + i);
                            // SAFETY: as required of the caller.
                            unsafe { store::<STREAMING>(column.wrapping_add(to + vector * SIZE), transposed) };
                        }
                    }
                }
            }
        }

        /// Transposes a lane's elements, from byte `start` on, of as many rows of the source as a vector has elements.
        ///
        /// # Safety
        /// 16 bytes from `start` on of the rows must be valid for reads, and a vector of each column for writes.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn transpose_lanes<const BYTES: usize, const LANE: usize>(
            rows: &[*const u8],
            start: usize,
            columns: [*mut u8; LANE],
            shuffle: Option<$vector>,
        ) {
            let mut registers = [zero(); LANE];
            for (i, register) in registers.iter_mut().enumerate() {
                let lanes = std::array::from_fn(|lane| rows[lane * LANE + i].wrapping_add(start));
                // SAFETY: as required of the caller.
                *register = unsafe { load_lanes(lanes) };
                if let Some(shuffle) = shuffle {
                    *register = shuffled(*register, shuffle);
                }
            }
            for (column, transposed) in columns.into_iter().zip(zipped::<BYTES, LANE>(registers, LANE.ilog2())) {
                // SAFETY: as required of the caller.
                unsafe { store::<false>(column, transposed) };
            }
        }
    };
}
