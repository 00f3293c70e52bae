//! Rows that numbers name: what `gather_rows` and `scatter_rows` move, in any layouts, and what they refuse.

use std::panic::{AssertUnwindSafe, catch_unwind};
use xla_shape::buffer::BytesMut;
use xla_shape::element::S16;
use xla_shape::types::{ArrayType, Size};
use xla_shape::{Buffer, shape};

const NUMBERS: [usize; 5] = [9, 0, 3, 9, 8];

/// Gathers and scatters between a matrix of ten rows and one of five, whose elements are their places.
fn check<S, T, B, C>(mut small: Buffer<S, B>, mut large: Buffer<T, C>)
where
    S: ArrayType<Element = S16, Dimensions = (Size<5>, Size<200>), Index = [usize; 2]>,
    T: ArrayType<Element = S16, Dimensions = (Size<10>, Size<200>), Index = [usize; 2]>,
    B: BytesMut,
    C: BytesMut,
{
    large.fill_with(|[i, j]| (1000 * i + j) as i16);
    small.gather_rows(&large, NUMBERS);
    let expected = |i: usize, j: usize| (1000 * NUMBERS[i] + j) as i16;
    assert!((0..5).all(|i| (0..200).all(|j| small[[i, j]] == expected(i, j))), "{}", S::TEXT);

    small.fill_with(|[i, j]| -((200 * i + j) as i16) - 1);
    large.scatter_rows(&small, NUMBERS);
    for i in 0..10 {
        // If a number is repeated, the last row remains.
        let from = NUMBERS.iter().rposition(|&number| number == i);
        for j in 0..200 {
            let expected = from.map_or((1000 * i + j) as i16, |from| -((200 * from + j) as i16) - 1);
            assert_eq!(large[[i, j]], expected, "{} [{i},{j}]", T::TEXT);
        }
    }
}

#[test]
fn rows_of_all_layouts_are_moved() {
    type Plain = shape!(s16[5,200]);
    type Columns = shape!(s16[5,200]{0,1});
    type Packed = shape!(s16[5,200]{1,0:T(8,128)(2,1)});
    type Large = shape!(s16[10,200]{1,0:T(8,128)});
    type LargeColumns = shape!(s16[10,200]{0,1:T(8,128)(2,1)});
    type LargePacked = shape!(s16[10,200]{1,0:T(8,128)(2,1)});
    macro_rules! pairs {
        ($($small:ident)*) => {$(
            check(Buffer::<$small>::zeroed(), Buffer::<Large>::zeroed());
            check(Buffer::<$small>::zeroed(), Buffer::<LargeColumns>::zeroed());
            check(Buffer::<$small>::zeroed(), Buffer::<LargePacked>::zeroed());
        )*};
    }
    pairs!(Plain Columns Packed);
}

#[test]
fn rows_of_blocks_are_moved() {
    type Block = shape!(s16[16,128]{1,0:T(8,128)});
    let x = Buffer::<shape!(s16[40,256]{1,0:T(8,128)})>::from_fn(|[i, j]| (300 * i + j) as i16);
    // The last block has eight rows.
    let last = x.block::<Block>([2, 1]);
    let mut y = Buffer::<shape!(s16[3,128])>::zeroed();
    y.gather_rows(&last, [7, 0, 7]);
    assert_eq!([y[[0, 0]], y[[1, 127]], y[[2, 5]]], [300 * 39 + 128, 300 * 32 + 255, 300 * 39 + 133]);
    let refused = catch_unwind(AssertUnwindSafe(|| y.gather_rows(&last, [7, 0, 8])));
    assert_eq!(refused.unwrap_err().downcast_ref::<String>().unwrap(), "expected row numbers below 8, found 8");
}

#[test]
fn wrong_numbers_are_refused() {
    let x = Buffer::<shape!(s16[4,3])>::zeroed();
    let refused = |numbers: &[usize]| {
        let gather = catch_unwind(|| Buffer::<shape!(s16[2,3])>::zeroed().gather_rows(&x, numbers.iter().copied()));
        let scatter = catch_unwind(|| {
            let y = Buffer::<shape!(s16[2,3])>::zeroed();
            Buffer::<shape!(s16[4,3])>::zeroed().scatter_rows(&y, numbers.iter().copied());
        });
        let [gather, scatter] = [gather, scatter].map(|refused| *refused.unwrap_err().downcast::<String>().unwrap());
        assert_eq!(gather, scatter);
        gather
    };
    assert_eq!(refused(&[0]), "expected 2 row numbers, found 1");
    assert_eq!(refused(&[0, 1, 2]), "expected 2 row numbers, found more");
    assert_eq!(refused(&[0, 4]), "expected row numbers below 4, found 4");
    assert_eq!(refused(&[usize::MAX, 0]), format!("expected row numbers below 4, found {}", usize::MAX));
    // An array without rows takes no numbers.
    Buffer::<shape!(s16[0,3])>::zeroed().gather_rows(&x, []);
}
