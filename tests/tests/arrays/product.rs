//! Compares products of tiled arrays with the definition, for sizes below, equal to and above those of tiles, and of the parts in which the product
//! works.

use half::bf16;
use xla_shape::element::{Bf16, F32, S8, S32, Stored};
use xla_shape::types::{Array, ArrayType, Size};
use xla_shape::{Buffer, layout, shape};

type Matrix<E, const M: usize, const N: usize, L> = Array<E, (Size<M>, Size<N>), L>;

/// Pseudorandom bytes, with many of the extreme values.
fn byte(i: usize, j: usize, seed: usize) -> i8 {
    let mixed = (i * 0x9E37_79B9 + j * 0x85EB_CA6B + seed).wrapping_mul(0xC2B2_AE35) >> 13;
    if mixed & 0x700 == 0 { if mixed & 1 == 0 { i8::MIN } else { i8::MAX } } else { (mixed & 0xff) as u8 as i8 }
}

/// Integers small enough for exact sums in f32.
fn small(i: usize, j: usize, seed: usize) -> f32 {
    f32::from(byte(i, j, seed) >> 4)
}

macro_rules! check {
    ($name:ident: $E:ident $layout:ty, $right:ty, $Sum:ident $total:ident, $value:expr, $wide:expr, $padding:expr) => {
        fn $name<const M: usize, const K: usize, const N: usize>() {
            // This function is compiled once for all sizes. Operands and the result are in row-major order.
            fn by_definition(m: usize, k: usize, n: usize, result: &mut [$total]) -> [Vec<<$E as Stored>::Value>; 2] {
                let matrix = |rows: usize, columns: usize, seed| {
                    (0..rows * columns).map(|number| $value(number / columns, number % columns, seed)).collect::<Vec<_>>()
                };
                let [left, right] = [matrix(m, k, 1), matrix(k, n, 2)];
                for (number, sum) in result.iter_mut().enumerate() {
                    let [row, column] = [number / n, number % n];
                    *sum += (0..k).map(|i| $wide(left[row * k + i]) * $wide(right[i * n + column])).sum::<$total>();
                }
                [left, right]
            }
            let before = (0..M * N).map(|number| (number % 100) as $total).collect::<Vec<_>>();
            let mut expected = before.clone();
            let [a, b] = by_definition(M, K, N, &mut expected);
            let mut a = Buffer::<Matrix<$E, M, K, $layout>>::from_row_major(&a).expect("as many");
            let mut b = Buffer::<Matrix<$E, K, N, $right>>::from_row_major(&b).expect("as many");
            let result = |elements: &[$total]| Buffer::<Matrix<$Sum, M, N, layout!({1,0:T(8,128)})>>::from_row_major(elements).expect("as many");
            let [mut c, mut padded] = [result(&before), result(&expected)];
            // Padding is not read, and not written.
            a.fill_padding($padding);
            b.fill_padding($padding);
            c.fill_padding(7 as _);
            padded.fill_padding(7 as _);
            c.add_product(&a, &b);
            assert_eq!(c.to_row_major(), expected, "{M} {K} {N}");
            assert!(c.as_slice() == padded.as_slice(), "{M} {K} {N}: padding was written");
        }
    };
}

type Tiled = layout!({1,0:T(8,128)});
type Pairs = layout!({1,0:T(8,128)(2,1)});
type Groups = layout!({1,0:T(32,128)(4,1)});

fn half(i: usize, j: usize, seed: usize) -> bf16 {
    bf16::from_f32(small(i, j, seed))
}

check!(check_f32: F32 Tiled, Tiled, F32 f32, small, f32::from, f32::NAN);
check!(check_bf16: Bf16 Pairs, Pairs, F32 f32, half, bf16::to_f32, bf16::NAN);
check!(check_s8: S8 Groups, Groups, S32 i32, byte, i32::from, 77);
// With these layouts, the right operand is transposed in memory.
check!(check_f32_columns: F32 Tiled, layout!({0,1:T(8,128)}), F32 f32, small, f32::from, f32::NAN);
check!(check_bf16_columns: Bf16 Pairs, layout!({0,1:T(8,128)(2,1)}), F32 f32, half, bf16::to_f32, bf16::NAN);
check!(check_s8_columns: S8 Groups, layout!({0,1:T(32,128)(4,1)}), S32 i32, byte, i32::from, 77);

macro_rules! sizes {
    ($($m:literal $k:literal $n:literal),*) => { $(
        check_f32::<$m, $k, $n>();
        check_bf16::<$m, $k, $n>();
        check_s8::<$m, $k, $n>();
        check_f32_columns::<$m, $k, $n>();
        check_bf16_columns::<$m, $k, $n>();
        check_s8_columns::<$m, $k, $n>();
    )* };
}

#[test]
fn products_are_those_of_the_definition() {
    // Few rows are multiplied without packing the right operand; more than 32 rows, with packing.
    sizes!(9 129 127, 33 33 1);
    #[cfg(feature = "laws")]
    sizes!(8 128 128, 32 33 1, 1 1 1, 32 32 256, 33 255 129, 7 300 40, 100 31 33, 3 5 400, 1 257 130);
}

#[test]
fn products_of_empty_arrays_add_nothing() {
    check_f32::<0, 5, 5>();
    check_bf16::<5, 0, 5>();
    check_s8::<5, 5, 0>();
    #[cfg(feature = "laws")]
    sizes!(0 5 5, 5 0 5, 5 5 0, 0 0 0);
}

/// These have more groups of columns, and more panels of rows, than are packed at once.
#[test]
fn products_larger_than_the_parts() {
    check_f32::<16, 600, 130>();
    check_f32::<530, 20, 40>();
    check_bf16::<10, 1100, 40>();
    check_s8::<10, 2100, 40>();
    check_s8::<530, 40, 40>();
    check_f32_columns::<300, 270, 40>();
    check_bf16_columns::<10, 1100, 40>();
    check_s8_columns::<10, 1100, 40>();
}

/// The sums of a product are converted to blocks of another type. The last blocks are smaller, and begin inside tiles of the operands.
#[test]
fn blocks_get_their_sums() {
    type X = shape!(s8[40,70]{1,0:T(32,128)(4,1)});
    type Columns = shape!(s8[70,200]{0,1:T(32,128)(4,1)});
    type Y = shape!(s16[40,200]);
    let x = Buffer::<X>::from_fn(|[i, j]| byte(i, j, 3));
    let w = Buffer::<shape!(s8[70,200]{1,0:T(32,128)(4,1)})>::from_fn(|[i, j]| byte(i, j, 4));
    let columns: Buffer<Columns> = w.relayout();
    let mut sums = Buffer::<shape!(s32[40,200]{1,0:T(8,128)})>::zeroed();
    sums.add_product(&x, &w);
    macro_rules! check {
        ($Block:ty, $w:ident) => {{
            let mut y = Buffer::<Y>::zeroed();
            let mut blocks = 0;
            y.blocks_mut::<$Block>().apply_product(&x, &$w, |mut y, found| {
                blocks += 1;
                let ([i, j], [rows, columns]) = (y.shape().origin(), y.sizes());
                for [k, l] in found.shape().indices() {
                    let expected = if k < rows && l < columns { sums[[i + k, j + l]] } else { 0 };
                    assert_eq!(found[[k, l]], expected, "[{i} + {k}, {j} + {l}]");
                }
                y.apply_with(found, |_, sum| (sum >> 8) as i16);
            });
            assert_eq!(blocks, y.block_grid::<$Block>().iter().product::<usize>());
            assert!(y.shape().indices().all(|index| y[index] == (sums[index] >> 8) as i16));
        }};
    }
    check!(shape!(s16[12,128]), w);
    check!(shape!(s16[40,200]), w);
    check!(shape!(s16[33,256]), w);
    check!(shape!(s16[12,128]), columns);
    check!(shape!(s16[36,50]), columns);
}

#[test]
#[should_panic(expected = "expected operands for a result of 9 by 130, found 8 by 20 and 20 by 130")]
fn sizes_of_blocks_must_fit() {
    type X = shape!(f32[?,20]{1,0:T(8,128)});
    type Y = shape!(f32[?,130]);
    let x = Buffer::<X>::zeroed_with(X::with_sizes([8, 20]).expect("sizes")).expect("memory");
    let w = Buffer::<shape!(f32[20,130]{0,1:T(8,128)})>::zeroed();
    let mut y = Buffer::<Y>::zeroed_with(Y::with_sizes([9, 130]).expect("sizes")).expect("memory");
    y.blocks_mut::<shape!(f32[8,130])>().apply_product(&x, &w, |_, _| ());
}

#[test]
fn blocks_with_fewer_elements_fit_each_other() {
    type X = shape!(s8[40,64]{1,0:T(32,128)(4,1)});
    type W = shape!(s8[64,200]{1,0:T(32,128)(4,1)});
    type Y = shape!(s32[40,200]{1,0:T(8,128)});
    let (x, w) = (Buffer::<X>::from_fn(|[i, j]| byte(i, j, 3)), Buffer::<W>::from_fn(|[i, j]| byte(i, j, 4)));
    let (mut whole, mut parts) = (Buffer::<Y>::zeroed(), Buffer::<Y>::zeroed());
    whole.add_product(&x, &w);
    for place in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let mut y = parts.block_mut::<shape!(s32[32,128]{1,0:T(8,128)})>(place);
        let x = x.block::<shape!(s8[32,64]{1,0:T(32,128)(4,1)})>([place[0], 0]);
        let w = w.block::<shape!(s8[64,128]{1,0:T(32,128)(4,1)})>([0, place[1]]);
        y.add_product(&x, &w);
    }
    assert_eq!(parts, whole);
}

/// The size of a bounded dimension may be so small that whole tiles are padding.
#[test]
fn bounded_dimensions_use_their_sizes() {
    type X = shape!(f32[<=64,<=300]{1,0:T(8,128)});
    type W = shape!(f32[<=300,<=256]{1,0:T(8,128)});
    type Y = shape!(f32[<=64,<=256]{1,0:T(8,128)});
    let mut x = Buffer::<X>::zeroed_with(X::with_sizes([9, 20]).expect("sizes")).expect("memory");
    let mut w = Buffer::<W>::zeroed_with(W::with_sizes([20, 130]).expect("sizes")).expect("memory");
    let mut y = Buffer::<Y>::zeroed_with(Y::with_sizes([9, 130]).expect("sizes")).expect("memory");
    x.fill(2.0);
    w.fill(3.0);
    y.add_product(&x, &w);
    assert!(y.iter().all(|y| y == 120.0));
}

#[test]
#[should_panic(expected = "expected operands for a result of 9 by 130, found 8 by 20 and 20 by 130")]
fn sizes_of_run_time_must_fit() {
    type X = shape!(f32[?,20]{1,0:T(8,128)});
    type Y = shape!(f32[?,130]{1,0:T(8,128)});
    let x = Buffer::<X>::zeroed_with(X::with_sizes([8, 20]).expect("sizes")).expect("memory");
    let w = Buffer::<shape!(f32[20,130]{1,0:T(8,128)})>::zeroed();
    Buffer::<Y>::zeroed_with(Y::with_sizes([9, 130]).expect("sizes")).expect("memory").add_product(&x, &w);
}
