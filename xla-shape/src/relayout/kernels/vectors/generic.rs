//! What the kernels are for vectors of any kind.

/// Calls `$f` with a kernel's sizes, and what else is given, as constants; returns `false` for sizes that none has.
macro_rules! with_sizes {
    ($f:ident $arguments:tt, $bits:expr, $kernel:expr $(, $more:literal)?) => {
        with_sizes!(@match $f $arguments, ($bits, $kernel.bytes, $kernel.ways), ($($more)?);
            8, 1, 2; 8, 1, 4; 8, 1, 8; 8, 2, 2; 8, 2, 4; 8, 2, 8; 8, 4, 2; 8, 4, 4; 8, 4, 8; 8, 8, 2; 8, 8, 4;
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
                // SAFETY: as required of the caller.
                unsafe { copy_run::<STREAMING, STREAMING>(from, to, bytes) };
            });
        }

        /// Copies bytes that lie together; with `AHEAD`, what follows them in the source is asked for. If `STREAMING`, whole lines
        /// of the destination go past the caches, and what it has of others through them: no line is written in both ways.
        ///
        /// # Safety
        /// So many bytes must be valid for reads and writes, and at least `SIZE` of them unless `STREAMING`.
        #[target_feature(enable = $feature)]
        unsafe fn copy_run<const STREAMING: bool, const FETCHING: bool>(from: *const u8, to: *mut u8, bytes: usize) {
            let mut done = 0;
            if STREAMING {
                done = to.align_offset(LINE).min(bytes);
                // SAFETY: as required of the caller.
                unsafe { copy_few(from, to, done) };
            }
            while done + LINE <= bytes {
                if FETCHING {
                    prefetch(from.wrapping_add(done + AHEAD));
                }
                for i in 0..LINE_VECTORS {
                    // SAFETY: a line is left on both sides.
                    let vector = unsafe { load(from.wrapping_add(done + i * SIZE).cast()) };
                    // SAFETY: as above, and `SIZE` divides the place if `STREAMING`.
                    unsafe { store::<STREAMING>(to.wrapping_add(done + i * SIZE), vector) };
                }
                done += LINE;
            }
            if STREAMING {
                // SAFETY: so many are left, which are no whole line.
                return unsafe { copy_few(from.wrapping_add(done), to.wrapping_add(done), bytes - done) };
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
            // Rows that a line is too long for take vectors of their own.
            if b.end < line {
                let walk = Walk::cached(kernel, a, b);
                return turns.for_each(0, 0, |from_turn, to_turn| {
                    let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                    // SAFETY: as required of the caller; a vector's rows are there, and ordinary stores need no alignment.
                    unsafe { transpose_evenly::<BYTES, LANE, 1, false, KEEP>(&walk, (from, from), to) };
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
            let walk = match (large, streaming) {
                (false, _) => Walk::cached(kernel, a.clone(), b),
                (true, false) => Walk::large(kernel, a.clone(), b),
                (true, true) => Walk::large(kernel, a.clone(), 0..whole),
            };
            let rest = (streaming && whole < rest.end).then(|| Walk::large(kernel, a, rest));
            // Processors foresee long rows. Of short ones, the next are asked for.
            let short = large && kernel.a_len() * BYTES < SHORT;
            let mut coming = Places::of(turns);
            turns.for_each(0, 0, |from_turn, to_turn| {
                if short {
                    coming.advance();
                }
                let (next, from) = (from.wrapping_add(coming.from), from.wrapping_add(from_turn));
                let to = to.wrapping_add(to_turn);
                // SAFETY: as required of the caller; there are a line's rows, and all of them begin with a line if `streaming`:
                // ordinary stores need no alignment.
                unsafe {
                    match (streaming, short, large || BYTES == 1 || walk.is_narrow(line)) {
                        (true, true, _) => {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, true, READ_ROWS>(&walk, (from, next), to);
                        }
                        (true, false, _) => {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, true, KEEP>(&walk, (from, next), to);
                        }
                        (false, _, true) => {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, KEEP>(&walk, (from, next), to);
                        }
                        (false, _, false) => {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, OWN_NEXT>(&walk, (from, next), to);
                        }
                    }
                }
                if let Some(rest) = &rest {
                    fence();
                    // SAFETY: as above; these rows begin anywhere, and ordinary stores need no alignment.
                    unsafe { transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, KEEP>(rest, (from, next), to) };
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
            let stage = stage.as_mut_ptr().cast::<u8>();
            for b in chunks(kernel.b_len(), STAGE_ROWS, line) {
                let bytes = b.len() * BYTES;
                let dense = is_dense(kernel) && b.len() == kernel.b_len();
                let pitch = if dense { bytes } else { bytes.next_multiple_of(LINE) + LINE };
                let columns = (STAGE_BYTES / pitch).max(line) / line * line;
                for a in chunks(kernel.a_len(), columns, LANE) {
                    assert!(a.len() * pitch <= size_of::<Stage>(), "the stage has room for all columns");
                    let staged = Transpose { a: [Axis { len: a.len(), from: BYTES, to: pitch }, ONCE], ..*kernel };
                    let walk = Walk::staged(&staged, 0..a.len(), b.clone());
                    let (from, first) = (from.wrapping_add(a.start * BYTES), stage.wrapping_sub(b.start * BYTES));
                    if BYTES < 4 {
                        // SAFETY: the columns and rows are some of the kernel's; the stage has room for them.
                        unsafe {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, READ_NEXT>(&walk, (from, from), first)
                        };
                    } else {
                        // SAFETY: as above.
                        unsafe {
                            transpose_evenly::<BYTES, LANE, LINE_VECTORS, false, KEEP>(&walk, (from, from), first)
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
        ) {
            if let Some(shuffle) = walk.kernel.shuffle {
                // SAFETY: as required of the caller.
                unsafe {
                    transpose_walk::<BYTES, LANE, N, STREAMING, HINT, true>(walk, (from, next), to, repeated(shuffle))
                };
            } else {
                // SAFETY: as required of the caller.
                unsafe { transpose_walk::<BYTES, LANE, N, STREAMING, HINT, false>(walk, (from, next), to, zero()) };
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
            shuffle: $vector,
        ) {
            let kernel = walk.kernel;
            let count = N * SIZE / BYTES;
            // A quarter of the rows is asked for with each of the four groups that a line has.
            let quarter = |a: usize| {
                let first = a * BYTES / 16 % (LINE / 16) * (count / 4);
                first..first + count / 4
            };
            let even = |[inner, outer]: &[Axis; 2], count: usize| outer.len == 1 || inner.len.is_multiple_of(count);
            if HINT != READ_ROWS && even(&kernel.a, LANE) && even(&kernel.b, count) {
                let (row, column) = (kernel.b[0].from, kernel.a[0].to);
                walk.for_each(LANE, count, |a, b| {
                    let from = from.wrapping_add(a * BYTES + place(&kernel.b, b, |axis| axis.from));
                    let to = to.wrapping_add(b * BYTES + place(&kernel.a, a, |axis| axis.to));
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
            // Each row and each column is looked up.
            let (mut rows, mut coming, mut columns) = ([from; 2 * LINE], [from; 2 * LINE], [to; LANE]);
            let block = (2 * LINE / BYTES / count).max(1) * count;
            for start in walk.b.clone().step_by(block) {
                let end = walk.b.end.min(start + block);
                // The last rows of all may have some of those before them.
                let start = start.min(walk.b.end - count);
                kernel.rows(start, from, &mut rows[..end - start]);
                if HINT == READ_ROWS {
                    let (start, from) = if end < walk.b.end { (end, from) } else { (walk.b.start, next) };
                    kernel.rows(start, from, &mut coming[..block.min(walk.b.end - start)]);
                }
                walk.rows(start..end).for_each(LANE, count, |a, b| {
                    kernel.columns(a, to.wrapping_add(b * BYTES), &mut columns);
                    if HINT == READ_ROWS {
                        let coming = &coming[b - start..][quarter(a)];
                        coming.iter().for_each(|row| prefetch(row.wrapping_add(a * BYTES)));
                    }
                    let rows = &rows[b - start..][..count];
                    // SAFETY: as required of the caller.
                    unsafe {
                        transpose_group::<BYTES, LANE, N, STREAMING, HINT, SHUFFLED>(
                            |i| rows[i].wrapping_add(a * BYTES),
                            |i| columns[i],
                            shuffle,
                        )
                    };
                });
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
