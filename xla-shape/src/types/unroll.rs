//! Index arithmetic with constants: one copy of the code for each digit of the stride table.
//!
//! A loop over the table would leave it to the optimiser to unroll it and to look through the table. Here every digit
//! is an inline `const`, so that what is left are shifts and masks, or multiplications by constants.

use super::array::StaticShape;
use xla_shape_core::stride_table::StaticStrideTable;

macro_rules! unroll {
    ($S:ident, $index:ident, $values:ident, $position:ident; values $($v:literal)*; digits $($d:literal)*) => {
        $(
            if const { $v < $S::STRIDE_TABLE.num_values() } {
                $values[$v] = const { $S::STRIDE_TABLE.value($v) }.of($index, &$values);
            }
        )*
        $(
            if const { $d < $S::STRIDE_TABLE.num_digits() } {
                let digit = const { $S::STRIDE_TABLE.digit($d) };
                $position = digit.of($index, &$values).wrapping_mul(digit.stride).wrapping_add($position);
            }
        )*
    };
}

/// The position of the element with this index, which has as many entries as `S` has dimensions.
#[inline(always)]
pub(super) fn linear_index<S: StaticShape>(index: &[usize]) -> usize {
    let mut values = [0; StaticStrideTable::MAX_VALUES];
    let mut position = 0_usize;
    unroll!(S, index, values, position;
        values 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
        digits 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    position
}

const _: () = assert!(StaticStrideTable::MAX_VALUES == 16 && StaticStrideTable::MAX_DIGITS == 32, "the lists above");
