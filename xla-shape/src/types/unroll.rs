//! Index arithmetic with constants: a separate copy of the code for each digit of the stride table.
//!
//! With a loop over the table, it would depend on the optimizer whether the loop is unrolled and the table becomes constants. Here, each
//! digit is an inline `const`, so only shifts and masks, or multiplications by constants, remain.

use super::array_type::{ArrayType, StaticArray};
use super::index::StaticIndex;
use core::marker::PhantomData;
use xla_shape_core::ArrayShape;
use xla_shape_core::map::{StaticStrideTable, Term};
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::MAX_TEXT;
use xla_shape_relayout::wide::wide;

/// The value of a term. A remainder by a power of two is written as a mask. Otherwise, for a number that is known to be less than twice the modulus,
/// the compiler would generate a comparison and a subtraction.
#[inline(always)]
fn value_of(term: Term, index: &[u64], values: &[u64]) -> u64 {
    match term.modulus {
        Some(modulus) if modulus.is_power_of_two() => {
            Term { modulus: None, ..term }.value(index, values) & (modulus.get() - 1)
        }
        _ => term.value(index, values),
    }
}

/// Whether the digit after number `d` is added to it before both are multiplied by a stride.
///
/// This saves a multiplication for whole indices, `(b * 8 + a) * stride`. If an index is cut into digits, the compiler combines the shift of the
/// digit with that of the stride.
const fn continues(table: &StaticStrideTable, d: usize) -> bool {
    const fn is_whole(term: Term) -> bool {
        term.divisor.get() == 1 && term.modulus.is_none()
    }
    d + 1 < table.num_digits() && is_whole(table.digit(d).term) && is_whole(table.digit(d + 1).term)
}

/// Makes a function that computes positions with copies of the code for these intermediate values and digits.
macro_rules! unrolled {
    ($name:ident: values $($v:literal)*; digits $($d:literal)*) => {
        #[inline(always)]
        fn $name<S: ArrayType>(index: &[usize]) -> usize {
            let index = wide(index);
            let mut values = [0; StaticStrideTable::MAX_INTERMEDIATES];
            let mut run = 0_u64;
            let mut position = 0_u64;
            $(
                if const { $v < S::STRIDE_TABLE.num_intermediates() } {
                    values[$v] = const { S::STRIDE_TABLE.intermediate($v) }.value(index, &values);
                }
            )*
            $(
                if const { $d < S::STRIDE_TABLE.num_digits() } {
                    let digit = const { S::STRIDE_TABLE.digit($d) };
                    run = run.wrapping_mul(digit.size).wrapping_add(value_of(digit.term, index, &values));
                    if const { !continues(S::STRIDE_TABLE, $d) } {
                        position = run.wrapping_mul(digit.stride).wrapping_add(position);
                        run = 0;
                    }
                }
            )*
            let _ = run;
            position as usize
        }
    };
}

unrolled!(up_to_4: values 0; digits 0 1 2 3);
unrolled!(up_to_8: values 0 1; digits 0 1 2 3 4 5 6 7);
unrolled!(up_to_32: values 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    digits 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);

/// The shortest of these functions that has all digits of the stride table.
///
/// The compiler evaluates every constant of a function that it generates, also in branches that it leaves out. With one function for all
/// tables, each array type would take 2 ms longer to compile.
const fn shortest<S: ArrayType>() -> fn(&[usize]) -> usize {
    match (S::STRIDE_TABLE.num_intermediates(), S::STRIDE_TABLE.num_digits()) {
        (0..=1, 0..=4) => up_to_4::<S>,
        (0..=2, 0..=8) => up_to_8::<S>,
        _ => up_to_32::<S>,
    }
}

/// The position of the element with this index, which has as many entries as `S` has dimensions.
#[inline(always)]
pub(super) fn linear_index<S: ArrayType>(index: &[usize]) -> usize {
    (const { shortest::<S>() })(index)
}

/// The parts of the stride table that positions depend on.
struct Positions<S>(PhantomData<S>);

impl<S: ArrayType> Positions<S> {
    const TABLE: &'static StaticStrideTable = &S::STRIDE_TABLE.for_positions();
}

/// Makes a function that computes positions in arrays with unbounded dimensions, from the last digit to the first.
macro_rules! unrolled_scaled {
    ($name:ident: values $($v:literal)*; digits $($d:literal)*) => {
        #[inline(always)]
        fn $name<S: ArrayType>(index: &[usize], sizes: &[usize]) -> usize {
            let (index, sizes) = (wide(index), wide(sizes));
            let mut values = [0; StaticStrideTable::MAX_INTERMEDIATES];
            let mut scale = 1_u64;
            let mut position = 0_u64;
            $(
                if const { $v < Positions::<S>::TABLE.num_intermediates() } {
                    values[$v] = const { Positions::<S>::TABLE.intermediate($v) }.value(index, &values);
                }
            )*
            $(
                if const { $d < Positions::<S>::TABLE.num_digits() } {
                    let digit = const { Positions::<S>::TABLE.digit($d) };
                    let stride = digit.stride.wrapping_mul(scale);
                    position = value_of(digit.term, index, &values).wrapping_mul(stride).wrapping_add(position);
                    if const { Positions::<S>::TABLE.digit($d).is_unbounded() } {
                        scale = scale.wrapping_mul(digit.unbounded_size(sizes));
                    }
                }
            )*
            let _ = scale;
            position as usize
        }
    };
}

unrolled_scaled!(up_to_8_scaled: values 0 1; digits 7 6 5 4 3 2 1 0);
unrolled_scaled!(up_to_32_scaled: values 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    digits 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0);

/// The shorter of these functions that has all digits of the stride table; see [`shortest`].
const fn shortest_scaled<S: ArrayType>() -> fn(&[usize], &[usize]) -> usize {
    match (Positions::<S>::TABLE.num_intermediates(), Positions::<S>::TABLE.num_digits()) {
        (0..=2, 0..=8) => up_to_8_scaled::<S>,
        _ => up_to_32_scaled::<S>,
    }
}

/// The position of the element with this index in an array with unbounded dimensions. `sizes` are the actual sizes.
///
/// From the most minor digit on, strides are constants up to the first unbounded dimension.
#[inline(always)]
pub(super) fn scaled_linear_index<S: ArrayType>(index: &[usize], sizes: &[usize]) -> usize {
    (const { shortest_scaled::<S>() })(index, sizes)
}

const _: () =
    assert!(StaticStrideTable::MAX_INTERMEDIATES == 16 && StaticStrideTable::MAX_DIGITS == 32, "the lists above");

/// The position of the element with a constant index. Fails the compilation if the index is out of bounds.
///
/// Functions that take a constant index evaluate this in their own `const` block, so that the compiler shows the line that calls them.
#[track_caller]
pub(crate) const fn position_at<S: StaticArray, I: StaticIndex<S::Dimensions>>() -> usize {
    assert_in_bounds(I::INDEX, S::SIZES, S::SHAPE);
    let mut values = [0; StaticStrideTable::MAX_INTERMEDIATES];
    S::STRIDE_TABLE.with_extents(wide(S::SIZES)).linear_index_with(wide(I::INDEX), &mut values) as usize
}

/// Fails the compilation if `index` is out of bounds for an array of these sizes.
#[track_caller]
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; both lists have the same length")]
const fn assert_in_bounds(index: &[usize], sizes: &[usize], shape: &ArrayShape) {
    let mut dimension = 0;
    while dimension < sizes.len() {
        if index[dimension] >= sizes[dimension] {
            let text = ConstText::<1024>::new()
                .push_str("index ")
                .push_count(index[dimension])
                .push_str(" is out of bounds for dimension ")
                .push_count(dimension)
                .push_str(" (size ")
                .push_count(sizes[dimension])
                .push_str(") of ")
                .push_str(shape.const_text::<MAX_TEXT>().as_str());
            panic!("{}", text.as_str());
        }
        dimension += 1;
    }
}
