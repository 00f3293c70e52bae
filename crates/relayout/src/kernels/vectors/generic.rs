//! The vector operations that kernels use, and the kernels that are generic over them.

#[cfg(test)]
use super::pending;
use super::{Narrow, Offsets};

/// One kind of vector, with `LANES` lanes of 16 bytes.
///
/// # Safety
/// Every function is unsafe because it compiles to the instructions of its kind of vector: the caller guarantees that this CPU has them. A
/// function that has other requirements may list only those.
pub(super) trait Vector<const LANES: usize>: Copy {
    /// The transpose for rows or columns that do not fill a vector, if this kind of vector has one.
    const NARROW: Option<Narrow>;
    /// Whether [`shuffled`](Self::shuffled) works: whether the instruction set has a byte shuffle.
    const SHUFFLES: bool;

    /// A vector of zero bytes.
    ///
    /// # Safety
    /// This CPU has these vectors.
    unsafe fn zero() -> Self;

    /// Loads a vector from an address of any alignment.
    ///
    /// # Safety
    /// `16 * LANES` bytes at `from` are valid for reads.
    unsafe fn load(from: *const u8) -> Self;

    /// Loads one lane from each of `LANES` rows: from rows `first`, `first + later`, `first + 2 * later`, …, at their offsets from `from`.
    ///
    /// The rows are described by [`Offsets`] instead of a closure because the compiler would make hundreds of instances for closures.
    ///
    /// # Safety
    /// `rows` has those rows, and 16 bytes at `from` plus the offset of each are valid for reads.
    unsafe fn load_rows<const EVEN: bool>(from: *const u8, rows: Offsets<'_>, first: usize, later: usize) -> Self;

    /// Stores to an address of any alignment.
    ///
    /// # Safety
    /// `16 * LANES` bytes at `to` are valid for writes.
    unsafe fn store(self, to: *mut u8);

    /// Stores with a non-temporal store where the instruction set has one, otherwise with an ordinary store.
    ///
    /// # Safety
    /// As [`store`](Self::store), and `to` is a multiple of `16 * LANES`.
    unsafe fn stream(self, to: *mut u8);

    /// [`stream`](Self::stream) if `streaming`, otherwise [`store`](Self::store).
    ///
    /// # Safety
    /// What the function that is called requires.
    #[inline(always)]
    unsafe fn put(self, streaming: bool, to: *mut u8) {
        if streaming {
            #[cfg(test)]
            pending::streamed(to, 16 * LANES);
            // SAFETY: `streaming`, so the caller guarantees what `stream` requires.
            unsafe { self.stream(to) };
        } else {
            #[cfg(test)]
            pending::stored(to, 16 * LANES);
            // SAFETY: not `streaming`, so the caller guarantees what `store` requires.
            unsafe { self.store(to) };
        }
    }

    /// The same 16 bytes in each lane.
    ///
    /// # Safety
    /// This CPU has these vectors.
    unsafe fn repeated(lane: [u8; 16]) -> Self;

    /// In each lane, byte `i` of the result is byte `shuffle[i]`. Each entry of `shuffle` is below 16.
    ///
    /// # Safety
    /// This CPU has these vectors.
    unsafe fn shuffled(self, shuffle: Self) -> Self;

    /// In each byte, moves the `bits` bits from bit `shift` on to the lowest place and clears the others; `bits` is below 8.
    ///
    /// # Safety
    /// This CPU has these vectors.
    unsafe fn bits_from(self, shift: usize, bits: usize) -> Self;

    /// In each byte, replaces the `bits` bits from bit `shift` on, which must be 0, by the lowest bits of `elements`.
    ///
    /// # Safety
    /// This CPU has these vectors.
    unsafe fn with_bits(self, elements: Self, bits: usize, shift: usize) -> Self;

    /// In each lane, interleaves the elements of the lower halves of `self` and `other`.
    ///
    /// # Safety
    /// This CPU has these vectors.
    unsafe fn zip_low<const BYTES: usize>(self, other: Self) -> Self;

    /// In each lane, interleaves the elements of the upper halves of `self` and `other`.
    ///
    /// # Safety
    /// This CPU has these vectors.
    unsafe fn zip_high<const BYTES: usize>(self, other: Self) -> Self;

    /// Applies the zip step, of which all kernels are made, in each lane separately, and repeats it `steps` times in all. See the
    /// documentation of the module `vectors`.
    ///
    /// # Safety
    /// This CPU has these vectors.
    #[inline(always)]
    unsafe fn zipped<const BYTES: usize, const N: usize>(mut registers: [Self; N], steps: u32) -> [Self; N] {
        for _ in 0..steps {
            let old = registers;
            for i in 0..N / 2 {
                // SAFETY: only the CPU features are required, which the caller guarantees.
                registers[2 * i] = unsafe { old[i].zip_low::<BYTES>(old[i + N / 2]) };
                // SAFETY: only the CPU features are required, which the caller guarantees.
                registers[2 * i + 1] = unsafe { old[i].zip_high::<BYTES>(old[i + N / 2]) };
            }
        }
        registers
    }

    /// Interleaves the elements of `FACTOR` rows: the result is a run that takes one element from each row in turn.
    ///
    /// # Safety
    /// This CPU has these vectors.
    #[inline(always)]
    unsafe fn interleaved<const BYTES: usize, const FACTOR: usize>(rows: [Self; FACTOR]) -> [Self; FACTOR] {
        // SAFETY: only the CPU features are required, which the caller guarantees.
        unsafe { Self::zipped::<BYTES, FACTOR>(rows, FACTOR.ilog2()) }
    }

    /// The inverse of [`interleaved`](Self::interleaved).
    ///
    /// # Safety
    /// This CPU has these vectors.
    #[inline(always)]
    unsafe fn deinterleaved<const BYTES: usize, const FACTOR: usize>(vectors: [Self; FACTOR]) -> [Self; FACTOR] {
        if FACTOR == 1 {
            return vectors;
        }
        // SAFETY: only the CPU features are required, which the caller guarantees.
        unsafe { Self::zipped::<BYTES, FACTOR>(vectors, (16 / BYTES).ilog2()) }
    }
}

/// Calls `$f` with constants: the kernel's sizes, and whether it streams. `false` if no instance has these sizes.
///
/// Used only in `pack` and `unpack`. Their callers guarantee what `run` requires, and the safety comments refer to that.
macro_rules! with_sizes {
    ($f:ident $arguments:tt, $bits:expr, $kernel:expr, $streaming:expr) => {
        with_sizes!(@arms $f $arguments, ($bits, $kernel.bytes, $kernel.factor), $streaming;
            8, 1, 2; 8, 1, 4; 8, 1, 8; 8, 2, 2; 8, 2, 4; 8, 2, 8; 8, 4, 2; 8, 4, 4; 8, 4, 8; 8, 8, 2; 8, 8, 4;
            4, 1, 1; 4, 1, 2; 4, 1, 4; 4, 1, 8; 2, 1, 1; 2, 1, 2; 2, 1, 4; 2, 1, 8; 1, 1, 1; 1, 1, 2; 1, 1, 4; 1, 1, 8)
    };
    (@arms $f:ident $arguments:tt, $sizes:expr, $streaming:expr; $($bits:literal, $bytes:literal, $factor:literal);*) => {{
        match $sizes {
            $(
                // SAFETY: the constants are the kernel's sizes, and `run`'s caller guarantees a valid kernel, its bounds and, if it
                // streams, its alignment.
                ($bits, $bytes, $factor) if $streaming => unsafe { $f::<$bits, $bytes, $factor, true> $arguments },
                // SAFETY: as above; ordinary stores require no alignment.
                ($bits, $bytes, $factor) => unsafe { $f::<$bits, $bytes, $factor, false> $arguments },
            )*
            _ => return false,
        }
        true
    }};
}

/// Generates the kernels for one kind of [`Vector`], compiled with the given CPU features.
///
/// A macro, because `#[target_feature]` needs a separate function for each set of features, and a generic function has one set.
macro_rules! kernels {
    ([$($feature:tt)+] $vector:ty, $lanes:literal) => {
        use super::*;

        pub(super) type V = $vector;

        /// The bytes of a vector.
        const SIZE: usize = 16 * $lanes;
        /// How many vectors a cache line has.
        const LINE_VECTORS: usize = LINE / SIZE;

        /// Whether these vectors can run a kernel.
        pub(super) fn supports(kernel: &Kernel) -> bool {
            match kernel {
                Kernel::Copy(_) | Kernel::Runs(_) => true,
                Kernel::Interleave(kernel) | Kernel::Deinterleave(kernel) => kernel.len * kernel.bytes >= SIZE,
                Kernel::Pack(kernel) | Kernel::Unpack(kernel) => kernel.rows.len >= SIZE,
                Kernel::Matrix(_) | Kernel::PackUnits(_) | Kernel::UnpackUnits(_) => false,
                Kernel::Transpose(kernel) => {
                    let shuffles = kernel.shuffle.is_none() || V::SHUFFLES;
                    let (a, b) = (kernel.a_len() * kernel.bytes, kernel.b_len() * kernel.bytes);
                    // Rows of 32 to 63 bytes are left to the 32-byte vectors, which cover more of each row.
                    shuffles && (a >= 16 && b >= SIZE || V::NARROW.is_some() && (a < 16 || b < 32))
                }
            }
        }

        /// Runs a kernel in every iteration of a loop nest. Returns `false`, with nothing written, for sizes that no instance has.
        ///
        /// `large` says that the arrays are larger than the caches, and selects the order of loops for them.
        ///
        /// # Safety
        /// - The CPU has these vectors, [`supports`] accepts the kernel, and [`Kernel::span`] is not `None` for it.
        /// - `from` is valid for reads and `to` for writes of the bytes that [`LoopNest::span`] gives for the kernel: then in every
        ///   iteration, the kernel's own span is in bounds at the iteration's offsets.
        /// - If `streaming`: `to` and every stride in the destination are multiples of `LINE`, except strides between elements that are
        ///   contiguous. `Copy` and `Runs` do not need this.
        #[target_feature($(enable = $feature),+)]
        pub(super) unsafe fn run(
            kernel: &Kernel,
            (large, streaming): (bool, bool),
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) -> bool {
            match kernel {
                Kernel::Copy(bytes @ 1..LINE) => {
                    let kernel = Runs { bytes: *bytes, len: 1, stride: 0 };
                    // SAFETY: `Runs` with one run of `bytes` bytes has the same span as `Copy(bytes)`, which the caller guarantees.
                    unsafe { runs::run(&kernel, None, nest, from, to) };
                }
                Kernel::Copy(bytes) => nest.for_each(0, 0, |from_offset, to_offset| {
                    let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                    // SAFETY: the span of `Copy(bytes)` is `bytes` on both sides, in bounds at these offsets; `bytes >= LINE >= SIZE`.
                    unsafe { copy_run(from, to, *bytes, (streaming, streaming)) };
                }),
                Kernel::Runs(kernel) => {
                    // SAFETY: the caller guarantees the bounds; `copy_non_temporal` uses the same vectors.
                    unsafe { runs::run(kernel, streaming.then_some(copy_non_temporal), nest, from, to) };
                }
                // SAFETY: `pack` treats elements of whole bytes as packed elements of 8 bits; the caller guarantees what it requires.
                Kernel::Interleave(rows) => return unsafe { pack(&Packing::of_bytes(*rows), streaming, nest, from, to) },
                // SAFETY: as above.
                Kernel::Deinterleave(rows) => return unsafe { unpack(&Packing::of_bytes(*rows), streaming, nest, from, to) },
                // SAFETY: the caller guarantees what `pack` requires.
                Kernel::Pack(packing) => return unsafe { pack(packing, streaming, nest, from, to) },
                // SAFETY: the caller guarantees what `unpack` requires.
                Kernel::Unpack(packing) => return unsafe { unpack(packing, streaming, nest, from, to) },
                Kernel::Matrix(_) | Kernel::PackUnits(_) | Kernel::UnpackUnits(_) => return false,
                // SAFETY: `TRANSPOSE_KERNELS` uses these vectors; the caller guarantees the kernel, its bounds and the alignment if
                // `streaming`.
                Kernel::Transpose(kernel) => unsafe {
                    transpose::run(&TRANSPOSE_KERNELS, kernel, (large, streaming), nest, from, to);
                },
            }
            true
        }

        /// Runs the instance of [`interleave`] for these sizes. Returns `false`, with nothing written, if there is none.
        ///
        /// # Safety
        /// As [`run`] for [`Kernel::Pack`] and, if the elements have 8 bits, for [`Kernel::Interleave`].
        #[target_feature($(enable = $feature),+)]
        unsafe fn pack(packing: &Packing, streaming: bool, nest: LoopNest<'_>, from: *const u8, to: *mut u8) -> bool {
            let Packing { bits, distance, rows } = packing;
            with_sizes!(interleave(rows, *distance, nest, from, to), bits, rows, streaming)
        }

        /// Runs the instance of [`deinterleave`] for these sizes. Returns `false`, with nothing written, if there is none.
        ///
        /// # Safety
        /// As [`run`] for [`Kernel::Unpack`] and, if the elements have 8 bits, for [`Kernel::Deinterleave`].
        #[target_feature($(enable = $feature),+)]
        unsafe fn unpack(packing: &Packing, streaming: bool, nest: LoopNest<'_>, from: *const u8, to: *mut u8) -> bool {
            let Packing { bits, distance, rows } = packing;
            with_sizes!(deinterleave(rows, *distance, nest, from, to), bits, rows, streaming)
        }

        /// Copies bytes that are contiguous on both sides, whole lines of the destination with non-temporal stores.
        ///
        /// # Safety
        /// `bytes` bytes are valid for reads at `from` and for writes at `to`.
        #[target_feature($(enable = $feature),+)]
        unsafe fn copy_non_temporal(from: *const u8, to: *mut u8, bytes: usize) {
            // SAFETY: the caller guarantees the bytes; `copy_run` has no minimum if it streams.
            unsafe { copy_run(from, to, bytes, (true, false)) };
        }

        /// Copies bytes that are contiguous on both sides. If `prefetching`, prefetches the source ahead of the loads. If `streaming`,
        /// writes whole lines of the destination with non-temporal stores and partial lines at both ends with ordinary ones, so that no
        /// line is written in both ways.
        ///
        /// # Safety
        /// `bytes` bytes are valid for reads at `from` and for writes at `to`. Unless `streaming`, `bytes` is 0 or at least `SIZE`.
        #[inline]
        #[target_feature($(enable = $feature),+)]
        unsafe fn copy_run(from: *const u8, to: *mut u8, bytes: usize, (streaming, prefetching): (bool, bool)) {
            let mut done = 0;
            if streaming {
                done = to.align_offset(LINE).min(bytes);
                // SAFETY: `done` is at most `bytes`.
                unsafe { copy_partial_line(from, to, done) };
            }
            while done + LINE <= bytes {
                if prefetching {
                    prefetch(from.wrapping_add(done + ROW_PREFETCH_BYTES));
                }
                for i in 0..LINE_VECTORS {
                    // SAFETY: the loop condition leaves `LINE` bytes after `done`, and `i * SIZE + SIZE <= LINE`.
                    let vector = unsafe { V::load(from.wrapping_add(done + i * SIZE)) };
                    // SAFETY: the same bound for the destination. If `streaming`, `to + done` is a multiple of `LINE`: `done` began at
                    // `align_offset(LINE)` and grows by lines.
                    unsafe { vector.put(streaming, to.wrapping_add(done + i * SIZE)) };
                }
                done += LINE;
            }
            if streaming {
                // SAFETY: fewer than `LINE` bytes remain at both pointers; exactly those are copied.
                return unsafe { copy_partial_line(from.wrapping_add(done), to.wrapping_add(done), bytes - done) };
            }
            while done < bytes {
                // The last vector overlaps the one before it.
                done = done.min(bytes - SIZE);
                // SAFETY: `done + SIZE <= bytes`. There is no underflow: the caller guarantees `bytes >= SIZE` where the loop is entered.
                let vector = unsafe { V::load(from.wrapping_add(done)) };
                // SAFETY: the same bound for the destination.
                unsafe { vector.put(false, to.wrapping_add(done)) };
                done += SIZE;
            }
        }

        /// Loads a vector of one row. With `BITS < 8`, packs it: the elements that share a byte are `distance` bytes apart in memory.
        ///
        /// # Safety
        /// `SIZE` bytes are valid for reads at `place + part * distance` for every `part` below `8 / BITS`.
        #[inline]
        #[target_feature($(enable = $feature),+)]
        unsafe fn load_row<const BITS: usize>(place: *const u8, distance: usize) -> V {
            // SAFETY: part 0 of what the caller guarantees.
            let mut row = unsafe { V::load(place) };
            if BITS < 8 {
                // SAFETY: only the CPU features are required, which this function requires, too.
                row = unsafe { row.bits_from(0, BITS) };
            }
            for part in 1..8 / BITS {
                // SAFETY: `part < 8 / BITS`, as the caller guarantees.
                let elements = unsafe { V::load(place.wrapping_add(part * distance)) };
                // SAFETY: only the CPU features are required, which this function requires, too.
                row = unsafe { row.with_bits(elements, BITS, part * BITS) };
            }
            row
        }

        /// The inverse of [`load_row`]: stores a vector to one row. With `BITS < 8`, unpacks it.
        ///
        /// # Safety
        /// `SIZE` bytes are valid for writes at `place + part * distance` for every `part` below `8 / BITS`; if `streaming`, all these
        /// addresses are multiples of `SIZE`.
        #[inline]
        #[target_feature($(enable = $feature),+)]
        unsafe fn store_row<const BITS: usize>(streaming: bool, place: *mut u8, distance: usize, row: V) {
            for part in 0..8 / BITS {
                // SAFETY: only the CPU features are required, which this function requires, too.
                let elements = if BITS < 8 { unsafe { row.bits_from(part * BITS, BITS) } } else { row };
                // SAFETY: `part < 8 / BITS`: the caller guarantees the bytes, and the alignment if `streaming`.
                unsafe { elements.put(streaming, place.wrapping_add(part * distance)) };
            }
        }

        /// Interleaves `FACTOR` rows. With `BITS < 8`, packs their elements first.
        ///
        /// # Safety
        /// As [`run`] for this kernel, whose sizes are the constants. [`supports`] guarantees that a row has at least `SIZE` bytes.
        #[target_feature($(enable = $feature),+)]
        unsafe fn interleave<const BITS: usize, const BYTES: usize, const FACTOR: usize, const STREAMING: bool>(
            kernel: &Interleave,
            distance: usize,
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let step = SIZE / BYTES;
            let (len, row_stride) = (kernel.len, kernel.row_stride);
            let streamed = streamed_elements(len, step, LINE / (BYTES * FACTOR));
            let iteration = FACTOR * len * BYTES * (8 / BITS);
            let short = STREAMING && iteration < ROW_PREFETCH_BYTES;
            let mut prefetched = short.then(|| LoopCounter::new(nest));
            if let Some(prefetched) = &mut prefetched {
                for _ in 0..ITERATION_PREFETCH_BYTES / iteration {
                    prefetched.advance();
                }
            }
            nest.for_each(0, 0, |from_offset, to_offset| {
                let mut ahead = from_offset + ROW_PREFETCH_BYTES / FACTOR;
                if let Some(prefetched) = &mut prefetched {
                    ahead = prefetched.from;
                    prefetched.advance();
                }
                let ahead = from.wrapping_add(ahead);
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                let mut start = 0;
                while start < len {
                    // If the last elements do not fill a vector, step back so that they do: the overlap is stored a second time.
                    start = start.min(len - step);
                    // SAFETY: only the CPU features are required, which this function requires, too.
                    let mut rows = [unsafe { V::zero() }; FACTOR];
                    for (row, vector) in rows.iter_mut().enumerate() {
                        let place = row * row_stride + start * BYTES;
                        if STREAMING {
                            for part in 0..8 / BITS {
                                prefetch(ahead.wrapping_add(place + part * distance));
                            }
                        }
                        // SAFETY: `start + step <= len`, so `SIZE` bytes of row `row` remain from `start` on, for each of the parts that
                        // share its bytes.
                        *vector = unsafe { load_row::<BITS>(from.wrapping_add(place), distance) };
                    }
                    // SAFETY: only the CPU features are required, which this function requires, too.
                    let run = unsafe { V::interleaved::<BYTES, FACTOR>(rows) };
                    for (i, vector) in run.into_iter().enumerate() {
                        let place = to.wrapping_add(start * BYTES * FACTOR + i * SIZE);
                        // SAFETY: the run has `FACTOR * len` elements, and this vector ends at most at element `FACTOR * (start + step)`.
                        // If it is streamed, `to` is a multiple of `LINE` and `start` of `step`, so the address is a multiple of `SIZE`.
                        unsafe { vector.put(STREAMING && start + step <= streamed, place) };
                    }
                    start += step;
                }
            });
        }

        /// The inverse of [`interleave`]: separates a run into `FACTOR` rows. With `BITS < 8`, unpacks them.
        ///
        /// # Safety
        /// As [`run`] for this kernel, whose sizes are the constants. [`supports`] guarantees that a row has at least `SIZE` bytes.
        #[target_feature($(enable = $feature),+)]
        unsafe fn deinterleave<const BITS: usize, const BYTES: usize, const FACTOR: usize, const STREAMING: bool>(
            kernel: &Interleave,
            distance: usize,
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let step = SIZE / BYTES;
            let (len, row_stride) = (kernel.len, kernel.row_stride);
            let streamed = streamed_elements(len, step, LINE / BYTES);
            nest.for_each(0, 0, |from_offset, to_offset| {
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                let mut start = 0;
                while start < len {
                    // As in `interleave`: the overlap is stored a second time.
                    start = start.min(len - step);
                    // SAFETY: only the CPU features are required, which this function requires, too.
                    let mut vectors = [unsafe { V::zero() }; FACTOR];
                    for (i, vector) in vectors.iter_mut().enumerate() {
                        let place = from.wrapping_add(start * BYTES * FACTOR + i * SIZE);
                        if STREAMING {
                            prefetch(place.wrapping_add(ROW_PREFETCH_BYTES));
                        }
                        // SAFETY: the run has `FACTOR * len` elements, and this vector ends at most at element `FACTOR * (start + step)`,
                        // where `start + step <= len`.
                        *vector = unsafe { V::load(place) };
                    }
                    // SAFETY: only the CPU features are required, which this function requires, too.
                    let rows = unsafe { V::deinterleaved::<BYTES, FACTOR>(vectors) };
                    for (row, vector) in rows.into_iter().enumerate() {
                        let place = to.wrapping_add(row * row_stride + start * BYTES);
                        // SAFETY: `start + step <= len`, so `SIZE` bytes of row `row` remain from `start` on. If it is streamed, `to`,
                        // `row_stride` and `distance` are multiples of `LINE` and `start` of `step`, so the address is a multiple of
                        // `SIZE`.
                        unsafe { store_row::<BITS>(STREAMING && start + step <= streamed, place, distance, vector) };
                    }
                    start += step;
                }
            });
        }

        transposes!([$($feature)+] $lanes);
    };
}
