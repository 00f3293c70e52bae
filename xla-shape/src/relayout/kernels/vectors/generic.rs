//! What the kernels are for vectors of any kind.

/// Calls `$f` with a kernel's sizes, and whether it streams, as constants; returns `false` for sizes that none has.
macro_rules! with_sizes {
    ($f:ident $arguments:tt, $bits:expr, $kernel:expr, $streaming:expr) => {
        with_sizes!(@arms $f $arguments, ($bits, $kernel.bytes, $kernel.ways), $streaming;
            8, 1, 2; 8, 1, 4; 8, 1, 8; 8, 2, 2; 8, 2, 4; 8, 2, 8; 8, 4, 2; 8, 4, 4; 8, 4, 8; 8, 8, 2; 8, 8, 4;
            4, 1, 1; 4, 1, 2; 4, 1, 4; 4, 1, 8; 2, 1, 1; 2, 1, 2; 2, 1, 4; 2, 1, 8; 1, 1, 1; 1, 1, 2; 1, 1, 4; 1, 1, 8)
    };
    (@arms $f:ident $arguments:tt, $sizes:expr, $streaming:expr; $($bits:literal, $bytes:literal, $ways:literal);*) => {
        match $sizes {
            $(
                // SAFETY: as required of the caller; the constants are those of the kernel.
                ($bits, $bytes, $ways) if $streaming => unsafe { $f::<$bits, $bytes, $ways, true> $arguments },
                // SAFETY: as above.
                ($bits, $bytes, $ways) => unsafe { $f::<$bits, $bytes, $ways, false> $arguments },
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

        /// Stores a vector, past the caches if `streaming`.
        ///
        /// # Safety
        /// `to` must be valid for a write of `SIZE` bytes, and a multiple of `SIZE` if `streaming`.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn store(streaming: bool, to: *mut u8, vector: $vector) {
            if streaming {
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
                Kernel::Copy(_) | Kernel::Runs(_) => true,
                Kernel::Interleave(kernel) | Kernel::Deinterleave(kernel) => kernel.len * kernel.bytes >= SIZE,
                Kernel::Pack(kernel) | Kernel::Unpack(kernel) => kernel.rows.len >= SIZE,
                Kernel::PackUnits(_) | Kernel::UnpackUnits(_) => false,
                Kernel::Transpose(kernel) => {
                    let shuffles = kernel.shuffle.is_none() || SHUFFLES;
                    let (a, b) = (kernel.a_len() * kernel.bytes, kernel.b_len() * kernel.bytes);
                    // Of what is a bit too narrow, shorter vectors take more.
                    shuffles && (a >= 16 && b >= SIZE || NARROW.is_some() && (a < 16 || b < 32))
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
            match kernel {
                Kernel::Copy(bytes @ 1..LINE) => {
                    let kernel = Runs { bytes: *bytes, len: 1, row: 0 };
                    // SAFETY: as required of the caller.
                    unsafe { runs::run(&kernel, None, turns, from, to) };
                }
                Kernel::Copy(bytes) => turns.for_each(0, 0, |from_turn, to_turn| {
                    let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                    // SAFETY: as required of the caller.
                    unsafe { copy_run(from, to, *bytes, (streaming, streaming)) };
                }),
                Kernel::Runs(kernel) => {
                    // SAFETY: as required of the caller.
                    unsafe { runs::run(kernel, streaming.then_some(copy_past_caches), turns, from, to) };
                }
                Kernel::Interleave(rows) => {
                    with_sizes!(interleave(rows, 0, turns, from, to), 8, rows, streaming)
                }
                Kernel::Deinterleave(rows) => {
                    with_sizes!(deinterleave(rows, 0, turns, from, to), 8, rows, streaming)
                }
                Kernel::Pack(Packing { bits, distance, rows }) => {
                    with_sizes!(interleave(rows, *distance, turns, from, to), bits, rows, streaming)
                }
                Kernel::Unpack(Packing { bits, distance, rows }) => {
                    with_sizes!(deinterleave(rows, *distance, turns, from, to), bits, rows, streaming)
                }
                Kernel::PackUnits(_) | Kernel::UnpackUnits(_) => return false,
                // SAFETY: as required of the caller.
                Kernel::Transpose(kernel) => unsafe {
                    transpose::run(&LEVEL, kernel, (large, streaming), turns, from, to);
                },
            }
            true
        }

        /// Copies a run past the caches.
        ///
        /// # Safety
        /// As [`copy_run`].
        #[target_feature(enable = $feature)]
        unsafe fn copy_past_caches(from: *const u8, to: *mut u8, bytes: usize) {
            // SAFETY: as required of the caller.
            unsafe { copy_run(from, to, bytes, (true, false)) };
        }

        /// Copies bytes that lie together; if `fetching`, what follows them in the source is asked for. If `streaming`, whole lines
        /// of the destination go past the caches, and what it has of others through them: no line is written in both ways.
        ///
        /// # Safety
        /// So many bytes must be valid for reads and writes, and at least `SIZE` of them, or none, unless `streaming`.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn copy_run(from: *const u8, to: *mut u8, bytes: usize, (streaming, fetching): (bool, bool)) {
            let mut done = 0;
            if streaming {
                done = to.align_offset(LINE).min(bytes);
                // SAFETY: as required of the caller.
                unsafe { copy_few(from, to, done) };
            }
            while done + LINE <= bytes {
                if fetching {
                    prefetch(from.wrapping_add(done + AHEAD));
                }
                for i in 0..LINE_VECTORS {
                    // SAFETY: a line is left on both sides.
                    let vector = unsafe { load(from.wrapping_add(done + i * SIZE).cast()) };
                    // SAFETY: as above, and `SIZE` divides the place if `streaming`.
                    unsafe { store(streaming, to.wrapping_add(done + i * SIZE), vector) };
                }
                done += LINE;
            }
            if streaming {
                // SAFETY: so many are left, which are no whole line.
                return unsafe { copy_few(from.wrapping_add(done), to.wrapping_add(done), bytes - done) };
            }
            while done < bytes {
                // The last vector may do some bytes a second time.
                done = done.min(bytes - SIZE);
                // SAFETY: a vector is left on both sides.
                let vector = unsafe { load(from.wrapping_add(done).cast()) };
                // SAFETY: as above.
                unsafe { store(false, to.wrapping_add(done), vector) };
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
                row = and(row, low_bits(BITS));
            }
            for part in 1..8 / BITS {
                // SAFETY: as required of the caller.
                let elements = unsafe { load(place.wrapping_add(part * distance).cast()) };
                row = or(row, shifted_up(and(elements, low_bits(BITS)), part * BITS));
            }
            row
        }

        /// The way back.
        ///
        /// # Safety
        /// As [`load_row`], for writes, and all these places are multiples of `SIZE` if `streaming`.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn store_row<const BITS: usize>(streaming: bool, place: *mut u8, distance: usize, row: $vector) {
            for part in 0..8 / BITS {
                let elements = if BITS < 8 { and(shifted_down(row, part * BITS), low_bits(BITS)) } else { row };
                // SAFETY: as required of the caller.
                unsafe { store(streaming, place.wrapping_add(part * distance), elements) };
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
            let mut coming = short.then(|| Places::of(turns));
            if let Some(coming) = &mut coming {
                (0..TURNS_AHEAD / turn).for_each(|_| _ = coming.advance());
            }
            turns.for_each(0, 0, |from_turn, to_turn| {
                let mut ahead = from_turn + AHEAD / WAYS;
                if let Some(coming) = &mut coming {
                    ahead = coming.from;
                    coming.advance();
                }
                let ahead = from.wrapping_add(ahead);
                let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                let mut start = 0;
                while start < len {
                    let is_whole = start + step <= len;
                    if !is_whole {
                        // The last elements fill no vector: some are done twice, the second time through the caches.
                        if STREAMING {
                            fence();
                        }
                        start = len - step;
                    }
                    let mut rows = [zero(); WAYS];
                    for (way, vector) in rows.iter_mut().enumerate() {
                        let place = way * row + start * BYTES;
                        if STREAMING {
                            (0..8 / BITS).for_each(|part| prefetch(ahead.wrapping_add(place + part * distance)));
                        }
                        // SAFETY: `step` elements of each row are left from `start` on.
                        *vector = unsafe { load_row::<BITS>(from.wrapping_add(place), distance) };
                    }
                    for (i, vector) in interleaved::<BYTES, WAYS>(rows).into_iter().enumerate() {
                        let place = to.wrapping_add(start * BYTES * WAYS + i * SIZE);
                        // SAFETY: the run has room for what was read, and `SIZE` divides the distance from `to` unless these are the
                        // last.
                        unsafe { store(STREAMING && is_whole, place, vector) };
                    }
                    start += step;
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
                let mut start = 0;
                while start < len {
                    let is_whole = start + step <= len;
                    if !is_whole {
                        // The last elements fill no vector: some are done twice, the second time through the caches.
                        if STREAMING {
                            fence();
                        }
                        start = len - step;
                    }
                    let mut vectors = [zero(); WAYS];
                    for (i, vector) in vectors.iter_mut().enumerate() {
                        let place = from.wrapping_add(start * BYTES * WAYS + i * SIZE);
                        if STREAMING {
                            prefetch(place.wrapping_add(AHEAD));
                        }
                        // SAFETY: `step` elements of each row are left in the run from `start` on.
                        *vector = unsafe { load(place.cast()) };
                    }
                    for (way, vector) in taken_apart::<BYTES, WAYS>(vectors).into_iter().enumerate() {
                        let place = to.wrapping_add(way * row + start * BYTES);
                        // SAFETY: the row has room for what was read, and `SIZE` divides the distance from `to` unless these are the
                        // last.
                        unsafe { store_row::<BITS>(STREAMING && is_whole, place, distance, vector) };
                    }
                    start += step;
                }
            });
        }

        transposes!($feature, $lanes);
    };
}
