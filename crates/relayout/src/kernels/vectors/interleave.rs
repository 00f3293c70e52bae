//! Interleaving by factors that are not powers of two, and the inverse: 3 colour channels, 3 coordinates, 12 heads. With AVX2 or AVX-512, 3, 5
//! and 7 rows of elements of at most 4 bytes are in `odd_factors`, unless they are short.
//!
//! A vector of the result takes a few bytes from each of several vectors of the source, by permutes. Which bytes depends only on the
//! element's size, the factor and the row that the vector begins with. Tables hold these permutes; each table is computed once in the
//! program.

#[cfg(target_arch = "x86_64")]
use super::odd_factors;
use super::{Interleave, LINE, LoopNest, Vector, Vectors};
use crate::tuning::DEINTERLEAVE_BLOCK;
use std::sync::OnceLock;

/// The largest factor.
const MAX_FACTOR: usize = 15;

/// The permutes of one vector of the result: from a vector of each row, or from consecutive vectors of a run.
struct PermuteTable {
    /// Where each byte of the result lies within its vector of the source.
    index: [u8; 64],
    /// For each vector of the source, which bytes of the result come from it.
    masks: [u64; MAX_FACTOR],
    /// For 16-byte vectors, a byte shuffle for each vector of the source: the index of each byte, or 128, which gives 0, if the byte comes
    /// from another vector.
    shuffles: [[u8; 16]; MAX_FACTOR],
}

impl PermuteTable {
    /// The table of a vector of `size` bytes; `at` gives the number of the source vector of each byte, and its index there.
    fn new(size: usize, at: impl Fn(usize) -> (usize, usize)) -> Self {
        let mut table = Self { index: [0; 64], masks: [0; MAX_FACTOR], shuffles: [[128; 16]; MAX_FACTOR] };
        for byte in 0..size {
            let (source, index) = at(byte);
            table.index[byte] = index as u8;
            table.masks[source] |= 1 << byte;
            if size == 16 {
                table.shuffles[source][byte] = index as u8;
            }
        }
        table
    }
}

/// The tables for a kernel and vectors of `size` bytes. A *group* is one vector of each row, and the vectors of the run that hold the same
/// elements. To interleave, there is a table for each row that a vector of the run may begin with, and then one for each vector of a group.
/// To deinterleave (`back`), there is a table for each row: what the row takes from a group.
fn tables(kernel: &Interleave, size: usize, back: bool) -> &'static [PermuteTable] {
    type Tables = OnceLock<Box<[PermuteTable]>>;
    static ALL: [[[[Tables; MAX_FACTOR + 1]; 4]; 2]; 2] =
        [const { [const { [const { [const { OnceLock::new() }; MAX_FACTOR + 1] }; 4] }; 2] }; 2];
    let Interleave { factor, bytes, .. } = *kernel;
    ALL[usize::from(size == 16)][usize::from(back)][bytes.ilog2() as usize][factor].get_or_init(|| {
        if back {
            let at = |row: usize, byte: usize| (byte / bytes * factor + row) * bytes + byte % bytes;
            (0..factor)
                .map(|row| PermuteTable::new(size, |byte| (at(row, byte) / size, at(row, byte) % size)))
                .collect()
        } else {
            let element = |first: usize, byte: usize| first + byte / bytes;
            let at = |first: usize, byte: usize| {
                (element(first, byte) % factor, element(first, byte) / factor * bytes + byte % bytes)
            };
            let group = (0..factor).map(|number| number * size / bytes);
            (0..factor).chain(group).map(|first| PermuteTable::new(size, |byte| at(first, byte))).collect()
        }
    })
}

/// Where a vector of the run begins: in which row, and at which offset from that row's start, in bytes.
#[derive(Clone, Copy)]
struct VectorStart {
    row_number: usize,
    start: usize,
    factor: usize,
    bytes: usize,
    /// How far the next vector is from this one, in rows and in bytes.
    step: (usize, usize),
}

impl VectorStart {
    /// The start of the `size`-byte vector that begins with this element of the run.
    fn new(kernel: &Interleave, size: usize, element: usize) -> Self {
        let Interleave { factor, bytes, .. } = *kernel;
        let in_vector = size / bytes;
        let (row_number, start) = (element % factor, element / factor * bytes);
        Self { row_number, start, factor, bytes, step: (in_vector % factor, in_vector / factor * bytes) }
    }

    /// Returns this start, and advances to where the next vector starts.
    #[inline(always)]
    fn next(&mut self) -> Self {
        let this = *self;
        self.row_number += self.step.0;
        self.start += self.step.1;
        if self.row_number >= self.factor {
            self.row_number -= self.factor;
            self.start += self.bytes;
        }
        this
    }
}

/// Whether a kernel is interleaved by tables. The zip steps of the other kernels are faster for powers of two.
pub(super) fn supports(kernel: &Interleave) -> bool {
    let Interleave { factor, bytes, .. } = *kernel;
    (3..=MAX_FACTOR).contains(&factor) && !factor.is_power_of_two() && matches!(bytes, 1 | 2 | 4 | 8)
}

/// Runs a kernel in every iteration of a loop nest; `back` deinterleaves. Returns `false`, with nothing written, if the CPU has
/// no suitable vectors.
///
/// # Safety
/// The CPU has `vectors`, and [`supports`] accepts the kernel. `from` is valid for reads and `to` for writes of the bytes that
/// [`LoopNest::span`] gives for the kernel.
pub(super) unsafe fn run(
    kernel: &Interleave,
    back: bool,
    (vectors, large): (Vectors, bool),
    nest: LoopNest<'_>,
    from: *const u8,
    to: *mut u8,
) -> bool {
    // Whole lines can be written with non-temporal stores if no element straddles two lines.
    let strides = nest.0.iter().fold(to.addr() | if back { kernel.row_stride } else { 0 }, |all, axis| all | axis.to);
    // Rows shorter than a line fill no 64-byte vector, so nothing would be streamed.
    let fills_vectors = vectors < Vectors::Avx512 || kernel.len * kernel.bytes >= LINE;
    let streaming = large && fills_vectors && strides.is_multiple_of(kernel.bytes);
    #[cfg(target_arch = "x86_64")]
    {
        // If `odd_factors` has a kernel for ordinary stores only, that kernel is up to twice as fast as permutes of less than 64 bytes with
        // non-temporal stores.
        let streaming =
            streaming && (vectors >= Vectors::Avx512 || odd_factors::supports(kernel, back, (vectors, true)));
        if odd_factors::supports(kernel, back, (vectors, streaming)) {
            // SAFETY: the CPU has these vectors, and `supports` accepts the kernel; the caller guarantees its bounds. `streaming` is set only where
            // all strides in the destination are multiples of the element's bytes.
            unsafe { odd_factors::run(kernel, back, (vectors, streaming), nest, from, to) };
            return true;
        }
    }
    match vectors {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has these vectors; the caller guarantees the kernel and its bounds. `streaming` is set only where all strides in the
        // destination are multiples of the element's bytes.
        Vectors::Avx512 => unsafe { wide::run(kernel, back, streaming, nest, from, to) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Vectors::Avx2 | Vectors::Avx512Bw => unsafe { lane::run(kernel, back, streaming, nest, from, to) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        Vectors::Neon => unsafe { lane::run(kernel, back, streaming, nest, from, to) },
        _ => return false,
    }
    true
}

/// The number of elements in whole lines such that every `size`-byte vector of these lines begins among the `elements`. The last vector
/// may end after them.
fn whole_lines(elements: usize, bytes: usize, size: usize) -> usize {
    let line = LINE / bytes;
    elements.saturating_sub((LINE - size) / bytes).div_ceil(line) * line
}

/// The deinterleaving kernel if `back`, otherwise the interleaving one, with the factor as a constant.
macro_rules! with_factor {
    ($factor:expr, $back:expr) => {
        with_factor!(@match $factor, $back; 3 5 6 7 9 10 11 12 13 14 15)
    };
    (@match $factor:expr, $back:expr; $($number:literal)*) => {
        match ($factor, $back) {
            $(
                ($number, false) => interleave::<$number>,
                ($number, true) => deinterleave::<$number>,
            )*
            _ => unreachable!("no others are woven"),
        }
    };
}

/// Vectors that can be assembled by a [`PermuteTable`].
trait TablePermute<const LANES: usize>: Vector<LANES> {
    /// Assembles a vector from `factor` vectors, the first at `first` and each `stride` bytes after the one before.
    ///
    /// # Safety
    /// The CPU has the vectors, and `16 * LANES` bytes at each of these addresses are valid for reads.
    unsafe fn permuted(factor: usize, table: &PermuteTable, first: *const u8, stride: usize) -> Self;
}

/// Generates the kernels for one kind of [`TablePermute`] vector, compiled with the given CPU features.
macro_rules! table_kernels {
    ([$($feature:tt)+] $vector:ty, $lanes:literal) => {
        use super::super::Vector;
        use super::{TablePermute, Interleave, LINE, MAX_FACTOR, VectorStart, PermuteTable, LoopNest, DEINTERLEAVE_BLOCK, tables, whole_lines};

        type V = $vector;

        /// The bytes of a vector.
        const SIZE: usize = 16 * $lanes;

        /// Memory for a vector of each row, and one more.
        type VectorBuffer = [[u8; SIZE]; MAX_FACTOR + 1];

        /// Runs a kernel in every iteration.
        ///
        /// # Safety
        /// As [`super::run`], and the CPU has the vectors that this function is compiled for. If `streaming`, every element of the destination lies at a multiple of
        /// its size.
        #[target_feature($(enable = $feature),+)]
        pub(in super::super) unsafe fn run(
            kernel: &Interleave,
            back: bool,
            streaming: bool,
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let tables = tables(kernel, SIZE, back);
            let one_turn = with_factor!(kernel.factor, back);
            nest.for_each(0, 0, |from_offset, to_offset| {
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                // SAFETY: the kernel's span is in bounds at these offsets, as the caller guarantees.
                unsafe { one_turn(kernel, tables, streaming, from, to) };
            });
        }

        /// [`TablePermute::permuted`] as one function for all factors, for code that runs rarely.
        ///
        /// # Safety
        /// As [`TablePermute::permuted`].
        #[inline(never)]
        #[target_feature($(enable = $feature),+)]
        unsafe fn permuted_out_of_line(factor: usize, table: &PermuteTable, first: *const u8, stride: usize) -> V {
            // SAFETY: the caller guarantees what `permuted` requires.
            unsafe { V::permuted(factor, table, first, stride) }
        }

        /// Interleaves the rows of one iteration.
        ///
        /// # Safety
        /// As [`run`], for one iteration at `from` and `to`.
        #[target_feature($(enable = $feature),+)]
        unsafe fn interleave<const FACTOR: usize>(
            kernel: &Interleave,
            tables: &[PermuteTable],
            streaming: bool,
            from: *const u8,
            to: *mut u8,
        ) {
            // Makes the factor a constant for the compiler.
            let kernel = &Interleave { factor: FACTOR, ..*kernel };
            let Interleave { bytes, len, row_stride, .. } = *kernel;
            let in_vector = SIZE / bytes;
            // For every element of the run below `end`, each row has a whole vector from the element's position in its row on: `element /
            // FACTOR + in_vector <= len`.
            let end = (len + 1).saturating_sub(in_vector) * FACTOR;
            let mut address = VectorStart::new(kernel, SIZE, 0);
            let (mut first, mut streaming_end) = (0, 0);
            if streaming {
                let head = (to.align_offset(LINE) / bytes).min(end);
                while first < head {
                    let VectorStart { row_number, start, .. } = address.next();
                    // SAFETY: `first < end`, so `SIZE` bytes from `start` on are within each row.
                    let vector = unsafe { permuted_out_of_line(FACTOR, &tables[row_number], from.wrapping_add(start), row_stride) };
                    // SAFETY: `first < end`, so the run has `in_vector` more elements: `(len - in_vector) * FACTOR + FACTOR - 1 + in_vector
                    // <= len * FACTOR`. The last vector of the head may write into the first whole line, before that line is streamed.
                    unsafe { vector.put(false, to.wrapping_add(first * bytes)) };
                    first += in_vector;
                }
                first = head;
                address = VectorStart::new(kernel, SIZE, first);
                streaming_end = first + whole_lines(end - first, bytes, SIZE);
            }
            for (end, streaming) in [(streaming_end, true), (end, false)] {
                while first < end {
                    let VectorStart { row_number, start, .. } = address.next();
                    // SAFETY: `first` is below the larger `end`: whole lines have only vectors that begin below it (`whole_lines`). So
                    // `SIZE` bytes from `start` on are within each row.
                    let vector = unsafe { V::permuted(FACTOR, &tables[row_number], from.wrapping_add(start), row_stride) };
                    // SAFETY: the run has `in_vector` more elements, as above. If `streaming`, the first vector begins at a line, so all
                    // are at multiples of `SIZE`.
                    unsafe { vector.put(streaming, to.wrapping_add(first * bytes)) };
                    first += in_vector;
                }
            }
            if first < len * FACTOR && !streaming && len >= in_vector {
                // The last vector of each row; the elements that are already written are written again.
                let start = (len - in_vector) * bytes;
                let done = (first - (len - in_vector) * FACTOR) / in_vector;
                for number in done..FACTOR {
                    let table = &tables[FACTOR + number];
                    // SAFETY: each row has `len` elements, so `SIZE` bytes from `start` on.
                    let vector = unsafe { V::permuted(FACTOR, table, from.wrapping_add(start), row_stride) };
                    // SAFETY: the run has `FACTOR` vectors from `start * FACTOR` on. An ordinary store requires no alignment.
                    unsafe { vector.put(false, to.wrapping_add(start * FACTOR + number * SIZE)) };
                }
            } else if first < len * FACTOR {
                // SAFETY: the caller guarantees the iteration. `first` is at least `end`, and all elements before it are written.
                unsafe { interleave_tail(kernel, tables, first, from, to) };
            }
        }

        /// Interleaves the rest of the rows of one iteration, from element `first` of the run on.
        ///
        /// # Safety
        /// As [`run`], for one iteration at `from` and `to`. Fewer elements of each row are left than a vector has: `len - first / factor <
        /// in_vector`. The line of element `first` has no pending non-temporal store.
        #[target_feature($(enable = $feature),+)]
        unsafe fn interleave_tail(kernel: &Interleave, tables: &[PermuteTable], first: usize, from: *const u8, to: *mut u8) {
            let Interleave { factor, bytes, len, row_stride } = *kernel;
            let total = len * factor;
            let start = first / factor;
            // Copies of the rests, followed by zeros so that whole vectors can be read.
            let mut rows: [[u8; 2 * SIZE]; MAX_FACTOR] = [[0; 2 * SIZE]; MAX_FACTOR];
            for (row_number, rest) in rows[..factor].iter_mut().enumerate() {
                let address = from.wrapping_add(row_number * row_stride + start * bytes);
                // SAFETY: `len - start` elements of the row are left, which take fewer than `SIZE` bytes; `rest` has `2 * SIZE`.
                unsafe { std::ptr::copy_nonoverlapping(address, rest.as_mut_ptr(), (len - start) * bytes) };
            }
            let mut run: VectorBuffer = [[0; SIZE]; MAX_FACTOR + 1];
            for (i, room) in run.iter_mut().enumerate().take(((total - first) * bytes).div_ceil(SIZE)) {
                let element = first % factor + i * SIZE / bytes;
                let rest = rows.as_ptr().cast::<u8>().wrapping_add(element / factor * bytes);
                // SAFETY: the vector begins at an element that is left, so less than `SIZE` bytes after the start of each rest, which has
                // `2 * SIZE` bytes; rests are `2 * SIZE` bytes apart.
                let vector = unsafe { permuted_out_of_line(factor, &tables[element % factor], rest, 2 * SIZE) };
                // SAFETY: `room` has `SIZE` bytes.
                unsafe { vector.store(room.as_mut_ptr()) };
            }
            // SAFETY: the run has `total - first` elements from `first` on. The loop above wrote them all: `room` holds at most `SIZE`
            // bytes of each row, and `run` has a vector for each of up to `MAX_FACTOR` rows.
            unsafe {
                super::super::copy_partial_line(run.as_ptr().cast(), to.wrapping_add(first * bytes), (total - first) * bytes)
            };
        }

        /// Separates the run of one iteration into rows.
        ///
        /// # Safety
        /// As [`run`], for one iteration at `from` and `to`.
        #[target_feature($(enable = $feature),+)]
        unsafe fn deinterleave<const FACTOR: usize>(
            kernel: &Interleave,
            tables: &[PermuteTable],
            streaming: bool,
            from: *const u8,
            to: *mut u8,
        ) {
            let Interleave { bytes, len, row_stride, .. } = *kernel;
            let (table, in_vector) = (&tables[0], SIZE / bytes);
            let start = |row_number: usize, first: usize| from.wrapping_add((first * FACTOR + row_number) * bytes);
            // The end of each row, for whole vectors. At any element before it, `FACTOR` whole vectors can be read from the run, and one can be
            // written to the row.
            let ends: [usize; FACTOR] = std::array::from_fn(|row_number| {
                let readable = (len * FACTOR * bytes + 1).saturating_sub(FACTOR * SIZE + row_number * bytes);
                readable.div_ceil(FACTOR * bytes).min((len + 1).saturating_sub(in_vector))
            });
            let mut done = [0; FACTOR];
            // Takes several lines of a row at once, from a part of the run that stays in the L1 cache.
            let mut target = 0;
            while target < len {
                target = len.min(target + DEINTERLEAVE_BLOCK / bytes);
                for row_number in 0..FACTOR {
                    let (mut first, mut end) = (done[row_number], ends[row_number].min(target));
                    let to = to.wrapping_add(row_number * row_stride);
                    let mut streaming_end = 0;
                    if streaming {
                        if first == 0 {
                            let head = (to.align_offset(LINE) / bytes).min(end);
                            while first < head {
                                // SAFETY: `first < ends[row_number]`, so the run has `FACTOR` vectors from here on.
                                let vector = unsafe { permuted_out_of_line(FACTOR, table, start(row_number, first), SIZE) };
                                // SAFETY: `first < ends[row_number]`, so the row has room for a vector. The last vector of the head may
                                // write into the first whole line, before that line is streamed.
                                unsafe { vector.put(false, to.wrapping_add(first * bytes)) };
                                first += in_vector;
                            }
                            first = head;
                        }
                        streaming_end = first + whole_lines(end.saturating_sub(first), bytes, SIZE);
                        if target < len {
                            // Leave lines that are not complete yet for the next round.
                            end = streaming_end;
                        }
                    }
                    while first < end {
                        // SAFETY: `first` is below `end` or in a line whose vectors all begin below it (`whole_lines`), and `end <=
                        // ends[row_number]`: the run has `FACTOR` vectors from here on.
                        let vector = unsafe { V::permuted(FACTOR, table, start(row_number, first), SIZE) };
                        // SAFETY: the row has room for a vector, as above. If it is streamed, the vectors began at a line, so all are at
                        // multiples of `SIZE`.
                        unsafe { vector.put(first < streaming_end, to.wrapping_add(first * bytes)) };
                        first += in_vector;
                    }
                    done[row_number] = first;
                }
            }
            if !streaming && len >= in_vector {
                // The last vector of each row, from the last group; the elements that are already written are written again.
                let start = (len - in_vector) * bytes;
                for (row_number, table) in tables.iter().enumerate().filter(|(row_number, _)| done[*row_number] < len) {
                    // SAFETY: the run has `FACTOR` vectors from `start * FACTOR` on.
                    let vector = unsafe { V::permuted(FACTOR, table, from.wrapping_add(start * FACTOR), SIZE) };
                    // SAFETY: the row has `len` elements, so `SIZE` bytes from `start` on. An ordinary store requires no alignment.
                    unsafe { vector.put(false, to.wrapping_add(row_number * row_stride + start)) };
                }
                return;
            }
            // SAFETY: the caller guarantees the iteration. Each row is written up to `done`, which is at least its entry of `ends`.
            unsafe { deinterleave_tail(kernel, table, &done, from, to) };
        }

        /// Separates the rest of each row of one iteration, from element `done[row]` on.
        ///
        /// # Safety
        /// As [`run`], for one iteration at `from` and `to`. At most as many elements of each row are left as a vector has, and their lines
        /// have no pending non-temporal stores.
        #[target_feature($(enable = $feature),+)]
        unsafe fn deinterleave_tail(kernel: &Interleave, table: &PermuteTable, done: &[usize], from: *const u8, to: *mut u8) {
            let Interleave { factor, bytes, len, row_stride } = *kernel;
            let run = len * factor * bytes;
            for (row_number, &first) in done.iter().enumerate() {
                if first < len {
                    // A copy of the rest of the run, followed by zeros so that whole vectors can be read.
                    let start = (first * factor + row_number) * bytes;
                    let mut rest: VectorBuffer = [[0; SIZE]; MAX_FACTOR + 1];
                    let count = (run - start).min(size_of::<VectorBuffer>());
                    // SAFETY: the run has `run - start` bytes from `start` on, and `count` is at most the size of the buffer.
                    unsafe { std::ptr::copy_nonoverlapping(from.wrapping_add(start), rest.as_mut_ptr().cast(), count) };
                    // SAFETY: `factor` vectors are read, `SIZE` bytes apart; the buffer has `MAX_FACTOR + 1`.
                    let vector = unsafe { permuted_out_of_line(factor, table, rest.as_ptr().cast(), SIZE) };
                    let mut last = [0; SIZE];
                    // SAFETY: `last` has `SIZE` bytes.
                    unsafe { vector.store(last.as_mut_ptr()) };
                    let address = to.wrapping_add(row_number * row_stride + first * bytes);
                    // SAFETY: the row has `len - first` elements from `first` on, at most a vector's, which `last` holds.
                    unsafe { super::super::copy_partial_line(last.as_ptr(), address, (len - first) * bytes) };
                }
            }
        }
    };
}

/// 64-byte vectors.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;

    __features!(Avx512 => table_kernels!(__m512i, 4));

    impl TablePermute<4> for __m512i {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
        // SAFETY: callers guarantee what `TablePermute::permuted` asks.
        unsafe fn permuted(factor: usize, table: &PermuteTable, first: *const u8, stride: usize) -> Self {
            // SAFETY: `index` has 64 bytes.
            let index = unsafe { _mm512_loadu_si512(table.index.as_ptr().cast()) };
            // Two accumulators, so that a permute does not wait for the one before.
            let mut halves = [_mm512_setzero_si512(); 2];
            for number in 0..factor {
                // SAFETY: the caller guarantees 64 readable bytes at each of `factor` addresses.
                let vector = unsafe { _mm512_loadu_si512(first.wrapping_add(number * stride).cast()) };
                let half = &mut halves[number % 2];
                *half = _mm512_mask_permutexvar_epi8(*half, table.masks[number], index, vector);
            }
            _mm512_or_si512(halves[0], halves[1])
        }
    }
}

/// 16-byte vectors.
#[cfg(target_arch = "x86_64")]
pub(super) mod lane {
    use std::arch::x86_64::*;

    __features!(Avx2 => table_kernels!(__m128i, 1));

    impl TablePermute<1> for __m128i {
        #[inline]
        #[target_feature(enable = "ssse3")]
        // SAFETY: callers guarantee what `TablePermute::permuted` asks.
        unsafe fn permuted(factor: usize, table: &PermuteTable, first: *const u8, stride: usize) -> Self {
            let mut result = _mm_setzero_si128();
            for number in 0..factor {
                // SAFETY: the caller guarantees 16 readable bytes at each of `factor` addresses.
                let vector = unsafe { _mm_loadu_si128(first.wrapping_add(number * stride).cast()) };
                // SAFETY: an entry of `shuffles` has 16 bytes.
                let shuffle = unsafe { _mm_loadu_si128(table.shuffles[number].as_ptr().cast()) };
                result = _mm_or_si128(result, _mm_shuffle_epi8(vector, shuffle));
            }
            result
        }
    }
}

/// 16-byte vectors.
#[cfg(target_arch = "aarch64")]
mod lane {
    use std::arch::aarch64::*;

    __features!(Neon => table_kernels!(uint8x16_t, 1));

    impl TablePermute<1> for uint8x16_t {
        #[inline]
        #[target_feature(enable = "neon")]
        // SAFETY: callers guarantee what `TablePermute::permuted` asks.
        unsafe fn permuted(factor: usize, table: &PermuteTable, first: *const u8, stride: usize) -> Self {
            let mut result = vdupq_n_u8(0);
            for number in 0..factor {
                // SAFETY: the caller guarantees 16 readable bytes at each of `factor` addresses.
                let vector = unsafe { vld1q_u8(first.wrapping_add(number * stride)) };
                // SAFETY: an entry of `shuffles` has 16 bytes.
                let shuffle = unsafe { vld1q_u8(table.shuffles[number].as_ptr()) };
                result = vorrq_u8(result, vqtbl1q_u8(vector, shuffle));
            }
            result
        }
    }
}
