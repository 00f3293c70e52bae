//! Interleaving of any few rows, and the way back: 3 channels of a picture, 3 coordinates, 12 heads.
//!
//! A vector of the result takes bytes of several vectors of the source, a few of each. Which ones depends on nothing but the
//! element's size, how many rows there are, and with which of them the vector begins. Tables say so; each is made once.

use super::{Interleave, LINE, Turns, Vectors};
use std::sync::OnceLock;

/// The most rows that are woven.
const MAX_WAYS: usize = 15;

/// What a vector of the result takes from each vector of the source: from those of all rows, or from a run of as many.
struct Recipe {
    /// Where each byte lies within its vector of the source.
    index: [u8; 64],
    /// The bytes that each vector of the source gives, by their places in the result.
    masks: [u64; MAX_WAYS],
    /// The same for vectors of 16 bytes: where each byte lies, or 128.
    shuffles: [[u8; 16]; MAX_WAYS],
}

impl Recipe {
    /// Of a vector of `size` bytes; `at` says in which vector of the source each byte lies, and where.
    fn of(size: usize, at: impl Fn(usize) -> (usize, usize)) -> Self {
        let mut recipe = Self { index: [0; 64], masks: [0; MAX_WAYS], shuffles: [[128; 16]; MAX_WAYS] };
        for byte in 0..size {
            let (source, index) = at(byte);
            recipe.index[byte] = index as u8;
            recipe.masks[source] |= 1 << byte;
            if size == 16 {
                recipe.shuffles[source][byte] = index as u8;
            }
        }
        recipe
    }
}

/// The recipes for a kernel and vectors of `size` bytes. To interleave, there is one for each row that a vector may begin with; for
/// the way back, where a vector begins with its own row, there is one.
fn recipes(kernel: &Interleave, size: usize, back: bool) -> &'static [Recipe] {
    type Recipes = OnceLock<Box<[Recipe]>>;
    static ALL: [[[[Recipes; MAX_WAYS + 1]; 4]; 2]; 2] =
        [const { [const { [const { [const { OnceLock::new() }; MAX_WAYS + 1] }; 4] }; 2] }; 2];
    let Interleave { ways, bytes, .. } = *kernel;
    ALL[usize::from(size == 16)][usize::from(back)][bytes.ilog2() as usize][ways].get_or_init(|| {
        if back {
            let at = |byte: usize| byte / bytes * ways * bytes + byte % bytes;
            Box::new([Recipe::of(size, |byte| (at(byte) / size, at(byte) % size))])
        } else {
            let element = |first: usize, byte: usize| first + byte / bytes;
            (0..ways)
                .map(|first| {
                    Recipe::of(size, |byte| {
                        (element(first, byte) % ways, element(first, byte) / ways * bytes + byte % bytes)
                    })
                })
                .collect()
        }
    })
}

/// Where a vector begins that is woven: with which row, and how far from the beginning of that, in bytes.
#[derive(Clone, Copy)]
struct Place {
    way: usize,
    start: usize,
    ways: usize,
    bytes: usize,
    /// From one vector to the next.
    step: (usize, usize),
}

impl Place {
    /// Of the vector of `size` bytes that begins with this element of the run.
    fn of(kernel: &Interleave, size: usize, element: usize) -> Self {
        let Interleave { ways, bytes, .. } = *kernel;
        let in_vector = size / bytes;
        let (way, start) = (element % ways, element / ways * bytes);
        Self { way, start, ways, bytes, step: (in_vector % ways, in_vector / ways * bytes) }
    }

    /// This one; and goes on to the next.
    #[inline(always)]
    fn next(&mut self) -> Self {
        let this = *self;
        self.way += self.step.0;
        self.start += self.step.1;
        if self.way >= self.ways {
            self.way -= self.ways;
            self.start += self.bytes;
        }
        this
    }
}

/// Whether a kernel is woven: others have ways that are quicker.
pub(super) fn takes(kernel: &Interleave) -> bool {
    let Interleave { ways, bytes, .. } = *kernel;
    (3..=MAX_WAYS).contains(&ways) && !ways.is_power_of_two() && matches!(bytes, 1 | 2 | 4 | 8)
}

/// Runs a kernel in every turn, `back` if it takes rows apart; `false` if there are no vectors for it.
///
/// # Safety
/// The machine has these vectors, [`takes`] accepts the kernel, which is valid, and the places are valid as [`Turns::ends`] says.
pub(super) unsafe fn run(
    kernel: &Interleave,
    back: bool,
    (vectors, large): (Vectors, bool),
    turns: Turns<'_>,
    from: *const u8,
    to: *mut u8,
) -> bool {
    // Lines are written whole where elements do not straddle them.
    let strides = turns.0.iter().fold(to.addr() | if back { kernel.row } else { 0 }, |all, axis| all | axis.to);
    let streaming = large && strides.is_multiple_of(kernel.bytes);
    match vectors {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as required of the caller; elements of the destination are multiples of their size if `streaming`.
        Vectors::Avx512 => unsafe { wide::run(kernel, back, streaming, turns, from, to) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above; what has AVX2 has SSSE3.
        Vectors::Avx2 => unsafe { lane::run(kernel, back, streaming, turns, from, to) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        Vectors::Neon => unsafe { lane::run(kernel, back, streaming, turns, from, to) },
        _ => return false,
    }
    true
}

/// How many of these elements are in whole lines that vectors of so many bytes write; the last may write some that come after.
fn whole_lines(elements: usize, bytes: usize, size: usize) -> usize {
    let line = LINE / bytes;
    elements.saturating_sub((LINE - size) / bytes).div_ceil(line) * line
}

/// `unravel` if rows are taken apart, or else `weave`, with the number of rows as a constant.
macro_rules! with_ways {
    ($ways:expr, $back:expr) => {
        with_ways!(@match $ways, $back; 3 5 6 7 9 10 11 12 13 14 15)
    };
    (@match $ways:expr, $back:expr; $($number:literal)*) => {
        match ($ways, $back) {
            $(
                ($number, false) => weave::<$number>,
                ($number, true) => unravel::<$number>,
            )*
            _ => unreachable!("no others are woven"),
        }
    };
}

/// Generates the kernels for vectors of one kind.
macro_rules! weaves {
    ($feature:literal, $size:literal) => {
        use super::{Interleave, LINE, MAX_WAYS, Place, Recipe, Turns, recipes, whole_lines};

        /// The bytes of a vector.
        const SIZE: usize = $size;

        /// Room for a vector of each row.
        type Room = [[u8; SIZE]; MAX_WAYS + 1];

        /// # Safety
        /// As [`super::run`]; if `streaming`, all elements of the destination lie at multiples of their size.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn run(
            kernel: &Interleave,
            back: bool,
            streaming: bool,
            turns: Turns<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let recipes = recipes(kernel, SIZE, back);
            let one_turn = with_ways!(kernel.ways, back);
            turns.for_each(0, 0, |from_turn, to_turn| {
                let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                // SAFETY: as required of the caller.
                unsafe { one_turn(kernel, recipes, streaming, from, to) };
            });
        }

        /// Stores a vector, past the caches if `streaming`.
        ///
        /// # Safety
        /// `to` must be valid for a write of `SIZE` bytes, and a multiple of `SIZE` if `streaming`.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn store(streaming: bool, to: *mut u8, vector: Vector) {
            if streaming {
                #[cfg(test)]
                super::super::pending::streamed(to, SIZE);
                // SAFETY: as required of the caller.
                unsafe { stream_aligned(to.cast(), vector) };
            } else {
                #[cfg(test)]
                super::super::pending::stored(to, SIZE);
                // SAFETY: as required of the caller; no alignment is needed.
                unsafe { store_unaligned(to.cast(), vector) };
            }
        }

        /// The same as [`made`] for any number of rows, where that is seldom.
        ///
        /// # Safety
        /// As [`made`].
        #[inline(never)]
        #[target_feature(enable = $feature)]
        unsafe fn made_of_any(ways: usize, recipe: &Recipe, first: *const u8, apart: usize) -> Vector {
            // SAFETY: as required of the caller.
            unsafe { made(ways, recipe, first, apart) }
        }

        /// Interleaves the rows of one turn.
        ///
        /// # Safety
        /// As [`run`], for this turn.
        #[target_feature(enable = $feature)]
        unsafe fn weave<const WAYS: usize>(
            kernel: &Interleave,
            recipes: &[Recipe],
            streaming: bool,
            from: *const u8,
            to: *mut u8,
        ) {
            // So that the compiler sees it.
            let kernel = &Interleave { ways: WAYS, ..*kernel };
            let Interleave { bytes, len, row, .. } = *kernel;
            let in_vector = SIZE / bytes;
            // The element from which on rows have no whole vector left.
            let end = (len + 1).saturating_sub(in_vector) * WAYS;
            let mut place = Place::of(kernel, SIZE, 0);
            let (mut first, mut streaming_end) = (0, 0);
            if streaming {
                let head = (to.align_offset(LINE) / bytes).min(end);
                while first < head {
                    let Place { way, start, .. } = place.next();
                    // SAFETY: each row has a vector of elements left.
                    let vector = unsafe { made_of_any(WAYS, &recipes[way], from.wrapping_add(start), row) };
                    // SAFETY: the rows have a vector left, so the run has as well. The last one may do some of the next line.
                    unsafe { store(false, to.wrapping_add(first * bytes), vector) };
                    first += in_vector;
                }
                first = head;
                place = Place::of(kernel, SIZE, first);
                streaming_end = first + whole_lines(end - first, bytes, SIZE);
            }
            for (end, streaming) in [(streaming_end, true), (end, false)] {
                while first < end {
                    let Place { way, start, .. } = place.next();
                    // SAFETY: as above.
                    let vector = unsafe { made(WAYS, &recipes[way], from.wrapping_add(start), row) };
                    // SAFETY: as above; all vectors of a line that goes past the caches are written.
                    unsafe { store(streaming, to.wrapping_add(first * bytes), vector) };
                    first += in_vector;
                }
            }
            if first < len * WAYS {
                // SAFETY: as required of the caller; all before `first` is done.
                unsafe { weave_rest(kernel, recipes, first, from, to) };
            }
        }

        /// Interleaves what is left of the rows of a turn, fewer elements of each than a vector has.
        ///
        /// # Safety
        /// As [`run`], for this turn. The element is not in a line that has gone past the caches.
        #[target_feature(enable = $feature)]
        unsafe fn weave_rest(kernel: &Interleave, recipes: &[Recipe], first: usize, from: *const u8, to: *mut u8) {
            let Interleave { ways, bytes, len, row } = *kernel;
            let total = len * ways;
            let start = first / ways;
            // With room to read behind it.
            let mut rows: [[u8; 2 * SIZE]; MAX_WAYS] = [[0; 2 * SIZE]; MAX_WAYS];
            for (way, rest) in rows[..ways].iter_mut().enumerate() {
                let place = from.wrapping_add(way * row + start * bytes);
                // SAFETY: so many elements of the row are left, fewer than a vector has.
                unsafe { std::ptr::copy_nonoverlapping(place, rest.as_mut_ptr(), (len - start) * bytes) };
            }
            let mut run: Room = [[0; SIZE]; MAX_WAYS + 1];
            for (i, room) in run.iter_mut().enumerate().take(((total - first) * bytes).div_ceil(SIZE)) {
                let element = first % ways + i * SIZE / bytes;
                let rest = rows.as_ptr().cast::<u8>().wrapping_add(element / ways * bytes);
                // SAFETY: a vector is left behind each element of the rest.
                let vector = unsafe { made_of_any(ways, &recipes[element % ways], rest, 2 * SIZE) };
                // SAFETY: there is room for a vector.
                unsafe { store_unaligned(room.as_mut_ptr().cast(), vector) };
            }
            // SAFETY: the run has room for its last elements; no line of theirs has gone past the caches.
            unsafe {
                super::super::copy_few(run.as_ptr().cast(), to.wrapping_add(first * bytes), (total - first) * bytes)
            };
        }

        /// Takes the rows of one turn apart.
        ///
        /// # Safety
        /// As [`run`], for this turn.
        #[target_feature(enable = $feature)]
        unsafe fn unravel<const WAYS: usize>(
            kernel: &Interleave,
            recipes: &[Recipe],
            streaming: bool,
            from: *const u8,
            to: *mut u8,
        ) {
            let Interleave { bytes, len, row, .. } = *kernel;
            let (recipe, in_vector) = (&recipes[0], SIZE / bytes);
            let start = |way: usize, first: usize| from.wrapping_add((first * WAYS + way) * bytes);
            // The elements of each row up to which the run has enough left to read.
            let ends: [usize; WAYS] = std::array::from_fn(|way| {
                let readable = (len * WAYS * bytes + 1).saturating_sub(WAYS * SIZE + way * bytes);
                readable.div_ceil(WAYS * bytes).min((len + 1).saturating_sub(in_vector))
            });
            let mut done = [0; WAYS];
            // Several lines of a row at once, from a part of the run that stays in the nearest cache.
            let mut target = 0;
            while target < len {
                target = len.min(target + 1024 / bytes);
                for way in 0..WAYS {
                    let (mut first, mut end) = (done[way], ends[way].min(target));
                    let to = to.wrapping_add(way * row);
                    let mut streaming_end = 0;
                    if streaming {
                        if first == 0 {
                            let head = (to.align_offset(LINE) / bytes).min(end);
                            while first < head {
                                // SAFETY: the run has enough left to read.
                                let vector = unsafe { made_of_any(WAYS, recipe, start(way, first), SIZE) };
                                // SAFETY: the row has a vector left. The last one may do some of the next line.
                                unsafe { store(false, to.wrapping_add(first * bytes), vector) };
                                first += in_vector;
                            }
                            first = head;
                        }
                        streaming_end = first + whole_lines(end.saturating_sub(first), bytes, SIZE);
                        if target < len {
                            // Lines that are not whole yet are left for the next time.
                            end = streaming_end;
                        }
                    }
                    while first < end {
                        // SAFETY: as above.
                        let vector = unsafe { made(WAYS, recipe, start(way, first), SIZE) };
                        // SAFETY: as above; all vectors of a line that goes past the caches are written.
                        unsafe { store(first < streaming_end, to.wrapping_add(first * bytes), vector) };
                        first += in_vector;
                    }
                    done[way] = first;
                }
            }
            // SAFETY: as required of the caller; all before these is done.
            unsafe { unravel_rest(kernel, recipe, &done, from, to) };
        }

        /// Takes apart what is left of each row of a turn.
        ///
        /// # Safety
        /// As [`run`], for this turn. The elements that are left are fewer than a vector has, and not in lines that have gone past the
        /// caches.
        #[target_feature(enable = $feature)]
        unsafe fn unravel_rest(kernel: &Interleave, recipe: &Recipe, done: &[usize], from: *const u8, to: *mut u8) {
            let Interleave { ways, bytes, len, row } = *kernel;
            let run = len * ways * bytes;
            for (way, &first) in done.iter().enumerate() {
                if first < len {
                    // The rest of the run, with room to read behind it.
                    let start = (first * ways + way) * bytes;
                    let mut rest: Room = [[0; SIZE]; MAX_WAYS + 1];
                    let count = (run - start).min(size_of::<Room>());
                    // SAFETY: so much is left of the run, and there is room for it.
                    unsafe { std::ptr::copy_nonoverlapping(from.wrapping_add(start), rest.as_mut_ptr().cast(), count) };
                    // SAFETY: there are as many vectors as rows, and at most so many are read.
                    let vector = unsafe { made_of_any(ways, recipe, rest.as_ptr().cast(), SIZE) };
                    let mut last = [0; SIZE];
                    // SAFETY: there is room for a vector.
                    unsafe { store_unaligned(last.as_mut_ptr().cast(), vector) };
                    let place = to.wrapping_add(way * row + first * bytes);
                    // SAFETY: the row has room for its last elements; no line of theirs has gone past the caches.
                    unsafe { super::super::copy_few(last.as_ptr(), place, (len - first) * bytes) };
                }
            }
        }
    };
}

/// Vectors of 64 bytes.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::__m512i as Vector;
    use std::arch::x86_64::_mm512_loadu_si512 as load;
    use std::arch::x86_64::_mm512_storeu_si512 as store_unaligned;
    use std::arch::x86_64::_mm512_stream_si512 as stream_aligned;
    use std::arch::x86_64::{_mm512_mask_permutexvar_epi8, _mm512_or_si512, _mm512_setzero_si512};

    weaves!("avx512f,avx512bw,avx512vbmi", 64);

    /// # Safety
    /// 64 bytes must be valid for reads at each of so many places, which are so far `apart`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn made(ways: usize, recipe: &Recipe, first: *const u8, apart: usize) -> Vector {
        // SAFETY: 64 bytes are read from an array of as many.
        let index = unsafe { load(recipe.index.as_ptr().cast()) };
        // Two, so that none waits for the one before.
        let mut halves = [_mm512_setzero_si512(); 2];
        for number in 0..ways {
            // SAFETY: as required of the caller.
            let vector = unsafe { load(first.wrapping_add(number * apart).cast()) };
            let half = &mut halves[number % 2];
            *half = _mm512_mask_permutexvar_epi8(*half, recipe.masks[number], index, vector);
        }
        _mm512_or_si512(halves[0], halves[1])
    }
}

/// Vectors of 16 bytes.
#[cfg(target_arch = "x86_64")]
mod lane {
    use std::arch::x86_64::__m128i as Vector;
    use std::arch::x86_64::_mm_loadu_si128 as load;
    use std::arch::x86_64::_mm_storeu_si128 as store_unaligned;
    use std::arch::x86_64::_mm_stream_si128 as stream_aligned;
    use std::arch::x86_64::{_mm_or_si128, _mm_setzero_si128, _mm_shuffle_epi8};

    weaves!("ssse3", 16);

    /// # Safety
    /// 16 bytes must be valid for reads at each of so many places, which are so far `apart`.
    #[inline]
    #[target_feature(enable = "ssse3")]
    unsafe fn made(ways: usize, recipe: &Recipe, first: *const u8, apart: usize) -> Vector {
        let mut result = _mm_setzero_si128();
        for number in 0..ways {
            // SAFETY: as required of the caller.
            let vector = unsafe { load(first.wrapping_add(number * apart).cast()) };
            // SAFETY: 16 bytes are read from an array of as many.
            let shuffle = unsafe { load(recipe.shuffles[number].as_ptr().cast()) };
            result = _mm_or_si128(result, _mm_shuffle_epi8(vector, shuffle));
        }
        result
    }
}

/// Vectors of 16 bytes.
#[cfg(target_arch = "aarch64")]
mod lane {
    use std::arch::aarch64::uint8x16_t as Vector;
    use std::arch::aarch64::vld1q_u8 as load;
    use std::arch::aarch64::vst1q_u8 as store_unaligned;
    // Arm has no stores past the caches that were worth it.
    use std::arch::aarch64::vst1q_u8 as stream_aligned;
    use std::arch::aarch64::{vdupq_n_u8, vorrq_u8, vqtbl1q_u8};

    weaves!("neon", 16);

    /// # Safety
    /// 16 bytes must be valid for reads at each of so many places, which are so far `apart`.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn made(ways: usize, recipe: &Recipe, first: *const u8, apart: usize) -> Vector {
        let mut result = vdupq_n_u8(0);
        for number in 0..ways {
            // SAFETY: as required of the caller, and 16 bytes are read from an array of as many.
            let (vector, shuffle) =
                unsafe { (load(first.wrapping_add(number * apart)), load(recipe.shuffles[number].as_ptr())) };
            result = vorrq_u8(result, vqtbl1q_u8(vector, shuffle));
        }
        result
    }
}
