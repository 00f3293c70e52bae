//! Lines that alternate in memory, read and written by words. A word has one element of each of these lines, all with the same number in their line.
//!
//! In `bf16[…]{1,0:T(8,128)(2,1)}`, element `i` of the first row and of the second one are the two halves of word `i` of their runs. A loop over
//! every other element is slow on a machine without an instruction that shuffles such elements. A loop over words uses shifts, and every machine can
//! shift vectors of words.

use super::zip::Lanes;
use crate::element::Plain;

/// Lines of an array that are visited together with lines of other arrays.
pub(super) trait Woven {
    type Element: Plain;
    /// Which of its lines alternate.
    const WEAVE: Lanes;
}

/// Lines of several arrays, as a tuple. This is a trait, so that loops along the lines know as a constant how the lines alternate.
pub(super) trait Weaves {
    /// Which lines of each array alternate. Entries after the last array are 1.
    const WEAVES: [Lanes; 4];
    /// Whether some lines alternate, and the lines of all arrays can be read and written by words.
    const ARE_WORDS: bool;
}

macro_rules! weaves {
    ($($A:ident $i:literal),*) => {
        impl<$($A: Woven),*> Weaves for ($($A,)*) {
            const WEAVES: [Lanes; 4] = {
                let mut weaves = [Lanes { dimension: 0, count: 1 }; 4];
                $(weaves[$i] = $A::WEAVE;)*
                weaves
            };
            const ARE_WORDS: bool = true
                $(&& ($A::WEAVE.count == 1 || are_word::<$A::Element>($A::WEAVE.count)))*
                && (false $(|| $A::WEAVE.count > 1)*);
        }
    };
}

weaves!(A 0, B 1);
weaves!(A 0, B 1, C 2);
weaves!(A 0, B 1, C 2, D 3);

/// Whether this many elements are a word.
pub(super) const fn are_word<E: Plain>(count: usize) -> bool {
    matches!(size_of::<E::Value>() * count, 2 | 4 | 8) && count > 1
}

/// Calls the macro `$shift` with two integer types: a word as large as `$count` elements, and one as large as an element. `$other` if there is no
/// such word.
macro_rules! with_word {
    ($E:ident, $count:expr, $shift:ident, $other:expr) => {
        match (size_of::<$E::Value>(), $count) {
            (1, 2) => $shift!(u16, u8),
            (1, 4) => $shift!(u32, u8),
            (1, 8) => $shift!(u64, u8),
            (2, 2) => $shift!(u32, u16),
            (2, 4) => $shift!(u64, u16),
            (4, 2) => $shift!(u64, u32),
            _ => $other,
        }
    };
}

/// The distance of a lane's element from the lowest bit of its word, in bits. Each element has `bits` bits.
#[inline(always)]
const fn shift(bits: u32, count: usize, lane: usize) -> usize {
    bits as usize * if cfg!(target_endian = "big") { count - 1 - lane } else { lane }
}

/// The element of a lane at a place, which is value number `place * count + lane`. Each place has one value of every lane.
///
/// # Safety
/// There are `count` values at the place, and `lane < count`.
#[inline(always)]
unsafe fn read<E: Plain>(values: &[E::Value], count: usize, place: usize, lane: usize) -> E::Value {
    debug_assert!(lane < count && (place + 1) * count <= values.len());
    // SAFETY: the caller guarantees that the place has values.
    let first = unsafe { values.as_ptr().add(place * count) };
    macro_rules! shifted {
        ($Word:ty, $Bits:ty) => {{
            // SAFETY: `count` values are as long as the word, and have no padding bytes (`Plain`).
            let word = unsafe { first.cast::<$Word>().read_unaligned() };
            let bits = (word >> shift(<$Bits>::BITS, count, lane)) as $Bits;
            // SAFETY: a value is as long as these bits, and any bits are a value (`Plain`).
            unsafe { std::mem::transmute_copy::<$Bits, E::Value>(&bits) }
        }};
    }
    // SAFETY: the caller guarantees that the lane is one of the place's values.
    with_word!(E, count, shifted, unsafe { *values.get_unchecked(place * count + lane) })
}

/// Writes the elements of all lanes at a place.
///
/// # Safety
/// There are `N` values at the place.
#[inline(always)]
unsafe fn write<E: Plain, const N: usize>(values: &mut [E::Value], place: usize, elements: [E::Value; N]) {
    debug_assert!((place + 1) * N <= values.len());
    // SAFETY: the caller guarantees that the place has values.
    let first = unsafe { values.as_mut_ptr().add(place * N) };
    macro_rules! joined {
        ($Word:ty, $Bits:ty) => {{
            let mut word = 0;
            for (lane, element) in elements.iter().enumerate() {
                // SAFETY: a value is as long as these bits, and has no padding bytes (`Plain`).
                let bits = unsafe { std::mem::transmute_copy::<E::Value, $Bits>(element) };
                word |= <$Word>::from(bits) << shift(<$Bits>::BITS, N, lane);
            }
            // SAFETY: the `N` values are as long as the word, and any bits are values (`Plain`).
            unsafe { first.cast::<$Word>().write_unaligned(word) };
        }};
    }
    // SAFETY: the caller guarantees `N` values.
    with_word!(E, N, joined, unsafe { first.cast::<[E::Value; N]>().write(elements) });
}

/// Writes the element of a lane at a place; those of other lanes stay as they are.
///
/// # Safety
/// There are `count` values at the place, and `lane < count`.
#[inline(always)]
unsafe fn write_lane<E: Plain>(values: &mut [E::Value], count: usize, place: usize, lane: usize, element: E::Value) {
    debug_assert!(lane < count && (place + 1) * count <= values.len());
    // SAFETY: the caller guarantees that the place has values.
    let first = unsafe { values.as_mut_ptr().add(place * count) };
    macro_rules! replaced {
        ($Word:ty, $Bits:ty) => {{
            let (first, shift) = (first.cast::<$Word>(), shift(<$Bits>::BITS, count, lane));
            // SAFETY: a value is as long as these bits, and has no padding bytes (`Plain`).
            let bits = unsafe { std::mem::transmute_copy::<E::Value, $Bits>(&element) };
            // SAFETY: `count` values are as long as the word, and have no padding bytes (`Plain`).
            let others = unsafe { first.read_unaligned() } & !(<$Word>::from(<$Bits>::MAX) << shift);
            // SAFETY: as above, and any bits are values (`Plain`).
            unsafe { first.write_unaligned(others | <$Word>::from(bits) << shift) };
        }};
    }
    // SAFETY: the caller guarantees that the lane is one of the place's values.
    with_word!(E, count, replaced, unsafe { *values.get_unchecked_mut(place * count + lane) = element });
}

macro_rules! by_words {
    (@one $operand:ident) => { 1 };
    (#[$inline:meta] $by_lines:ident $by_groups:ident($($T:ident $operand:ident $lane:ident $i:literal),*)) => {
        /// Replaces the values of one line by the results of `f` for them and the operands' values. In each array, the line alternates with
        /// others (`A`), so `values` and the operands contain the values of all these lines. `lanes` has, for each array, the number of the line
        /// among the lines that alternate. The other lines stay as they are.
        ///
        /// Where this function is not inlined, its arguments tell the optimizer that the runs do not overlap.
        ///
        /// # Panics
        /// If an operand has too few values.
        #[$inline]
        pub(super) fn $by_lines<A: Weaves, E: Plain, $($T: Plain),*>(
            values: &mut [E::Value],
            $($operand: &[$T::Value],)*
            lanes: [usize; { 1 $(+ by_words!(@one $operand))* }],
            f: &mut impl FnMut(E::Value, $($T::Value),*) -> E::Value,
        ) {
            let count = const { A::WEAVES[0].count };
            let len = values.len() / count;
            let [own, $($lane),*] = lanes;
            assert!(own < count);
            $(
                assert!($lane < const { A::WEAVES[$i].count });
                let $operand = &$operand[..len * const { A::WEAVES[$i].count }];
            )*
            for i in 0..len {
                // SAFETY: there are `len * count` values, and the lane was compared.
                let value = unsafe { read::<E>(values, count, i, own) };
                // SAFETY: the values of all places were cut out above, and the lanes were compared.
                let value = f(value, $(unsafe { read::<$T>($operand, const { A::WEAVES[$i].count }, i, $lane) }),*);
                // SAFETY: as for the value that was read.
                unsafe { write_lane::<E>(values, count, i, own, value) };
            }
        }

        /// Replaces the values of `N` lines that alternate by the results of `f` for them and the operands' values. An operand's
        /// lines may alternate with other lines in its own memory: `A` says with how many, and `lanes` which lane each line has.
        ///
        /// # Panics
        /// If an operand has too few values.
        #[$inline]
        pub(super) fn $by_groups<A: Weaves, E: Plain, $($T: Plain,)* const N: usize>(
            values: &mut [E::Value],
            $($operand: &[&[$T::Value]; N],)*
            lanes: [[usize; N]; { 0 $(+ by_words!(@one $operand))* }],
            f: &mut impl FnMut(E::Value, $($T::Value),*) -> E::Value,
        ) {
            let len = values.len() / N;
            let [$($lane),*] = lanes;
            $(
                assert!($lane.iter().all(|lane| *lane < const { A::WEAVES[$i].count }));
                let mut $operand = *$operand;
                for line in &mut $operand {
                    *line = &line[..len * const { A::WEAVES[$i].count }];
                }
            )*
            for i in 0..len {
                let elements = std::array::from_fn(|line| {
                    // SAFETY: there are `len * N` values, and `line < N`.
                    let value = unsafe { read::<E>(values, N, i, line) };
                    // SAFETY: the values of all places were cut out above, and the lanes were compared.
                    f(value, $(unsafe { read::<$T>($operand[line], const { A::WEAVES[$i].count }, i, $lane[line]) }),*)
                });
                // SAFETY: there are `len * N` values.
                unsafe { write::<E, N>(values, i, elements) };
            }
        }
    };
}

// Always inlined: a kernel that is compiled for several machines then contains these loops, compiled for each of them.
by_words!(#[inline(always)] line_of_kernel group_of_kernel(T first first_lane 1));
by_words!(#[inline] lines_1 groups_1(T first first_lane 1));
by_words!(#[inline] lines_2 groups_2(T first first_lane 1, U second second_lane 2));
by_words!(#[inline] lines_3 groups_3(T first first_lane 1, U second second_lane 2, W third third_lane 3));

#[cfg(test)]
mod tests {
    use super::{are_word, read, write, write_lane};
    use crate::element::{Plain, S8, S16, S32, S64};
    use std::fmt::Debug;

    /// Writes elements together, and checks that each can be read at its place.
    fn check<E: Plain<Value: PartialEq + Debug + Default>, const N: usize>(
        number: impl Fn(usize) -> E::Value,
        is_word: bool,
    ) {
        assert_eq!(are_word::<E>(N), is_word);
        let mut values = vec![E::Value::default(); 3 * N];
        for place in 0..3 {
            // SAFETY: there are three places.
            unsafe { write::<E, N>(&mut values, place, std::array::from_fn(|lane| number(place * N + lane))) };
        }
        for i in 0..3 * N {
            assert_eq!(values[i], number(i));
            // SAFETY: as above; a remainder is less than `N`.
            assert_eq!(unsafe { read::<E>(&values, N, i / N, i % N) }, number(i), "{N} {i}");
        }
        for i in [N, 2 * N - 1, 0] {
            let before = values.clone();
            // SAFETY: as above.
            unsafe { write_lane::<E>(&mut values, N, i / N, i % N, number(3 * N - 1 - i)) };
            for (j, before) in before.into_iter().enumerate() {
                assert_eq!(values[j], if i == j { number(3 * N - 1 - i) } else { before }, "{N} {i} {j}");
            }
        }
    }

    #[test]
    fn words_are_the_elements_in_memory() {
        check::<S8, 1>(|i| i as i8 - 2, false);
        check::<S8, 2>(|i| 20 * i as i8 - 2, true);
        check::<S8, 4>(|i| 10 * i as i8 - 120, true);
        check::<S8, 8>(|i| i as i8 - 2, true);
        check::<S16, 2>(|i| 1000 * i as i16 - 3000, true);
        check::<S16, 4>(|i| -1000 * i as i16, true);
        check::<S16, 8>(|i| i as i16, false);
        check::<S32, 2>(|i| -1_000_000 * i as i32, true);
        check::<S64, 2>(|i| -(i as i64), false);
    }
}
