//! `gather_rows` and `scatter_rows`: the rows that they move, in any layouts, and the numbers that they refuse.

use std::panic::{AssertUnwindSafe, catch_unwind};
use xla_shape::buffer::BytesMut;
use xla_shape::element::{S8, S16};
use xla_shape::types::{ArrayType, Size, StaticArray};
use xla_shape::{Buffer, Slot, shape};

const NUMBERS: [usize; 5] = [9, 0, 3, 9, 8];

/// Gathers and scatters between a matrix of ten rows and one of five. The values of elements show their indices.
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
        // If a number is repeated, the last row with it wins.
        let from = NUMBERS.iter().rposition(|&number| number == i);
        for j in 0..200 {
            let expected = from.map_or((1000 * i + j) as i16, |from| -((200 * from + j) as i16) - 1);
            assert_eq!(large[[i, j]], expected, "{} [{i},{j}]", T::TEXT);
        }
    }
}

/// Adjacent rows are moved together. The ranges begin and end at any row of a tile, and of a group of rows that alternate in memory.
#[test]
fn rows_that_follow_each_other_are_moved() {
    fn check<S, T>()
    where
        S: StaticArray<Element = S8, Dimensions = (Size<45>, Size<150>), Index = [usize; 2]>,
        T: StaticArray<Element = S8, Dimensions = (Size<70>, Size<150>), Index = [usize; 2]>,
    {
        let (x, y) = (
            Buffer::<S>::from_fn(|[i, j]: [usize; 2]| (31 * i + j) as i8),
            Buffer::<T>::from_fn(|[i, j]: [usize; 2]| (17 * i + 5 * j) as i8),
        );
        let numbers = Buffer::<shape!(s32[45]{0:T(128)})>::from_fn(|[i]| match i {
            0..7 => 3 + i as i32,
            7..8 => 69,
            8..43 => 24 + i as i32, // from row 32 on, more than a tile
            _ => 19 - (i as i32 - 43),
        });
        let (mut gathered, mut scattered) = (x.clone(), y.clone());
        gathered.gather_rows(&y, &numbers);
        scattered.scatter_rows(&x, &numbers);
        let row = |i: usize| numbers[[i]] as usize;
        for index @ [i, j] in S::default().indices() {
            assert_eq!(gathered[index], y[[row(i), j]], "{} {index:?} of {}", S::TEXT, T::TEXT);
        }
        for index @ [i, j] in T::default().indices() {
            let from = (0..45).find(|&from| row(from) == i);
            assert_eq!(
                scattered[index],
                from.map_or(y[index], |from| x[[from, j]]),
                "{} {index:?} of {}",
                T::TEXT,
                S::TEXT
            );
        }
        // Only the elements have changed.
        let mut padding = 0;
        scattered.for_each_position(|slot, value| padding |= if matches!(slot, Slot::Padding) { value } else { 0 });
        gathered.for_each_position(|slot, value| padding |= if matches!(slot, Slot::Padding) { value } else { 0 });
        assert_eq!(padding, 0, "{} {}", S::TEXT, T::TEXT);
    }
    macro_rules! all {
        ($($layout:tt)*) => { $(
            check::<shape!(s8[45,150] $layout), shape!(s8[70,150])>();
            check::<shape!(s8[45,150] $layout), shape!(s8[70,150]{0,1:T(8,128)})>();
            check::<shape!(s8[45,150] $layout), shape!(s8[70,150]{1,0:T(8,128)(2,1)})>();
            check::<shape!(s8[45,150] $layout), shape!(s8[70,150]{1,0:T(32,128)(4,1)})>();
        )* };
    }
    all!({1,0} {1,0:T(32,128)(4,1)} {1,0:T(16,64)(8,1)});
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
    let refused = |numbers: &[isize]| {
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
    assert_eq!(refused(&[isize::MAX, 0]), format!("expected row numbers below 4, found {}", isize::MAX));
    assert_eq!(refused(&[0, -1]), "expected row numbers below 4, found -1");
    let unsigned = catch_unwind(|| Buffer::<shape!(s16[1,3])>::zeroed().gather_rows(&x, [u64::MAX]));
    let message = format!("expected row numbers below 4, found {}", u64::MAX);
    assert_eq!(*unsigned.unwrap_err().downcast::<String>().unwrap(), message);
    // References to numbers are accepted as numbers.
    let mut y = Buffer::<shape!(s16[2,3])>::zeroed();
    y.gather_rows(&x, Buffer::<shape!(s32[2])>::filled(3).as_slice());
    // An array without rows takes no numbers.
    Buffer::<shape!(s16[0,3])>::zeroed().gather_rows(&x, [0; 0]);
    // With sizes that are known only at run time.
    type Open = shape!(s16[2,?]);
    let mut open = Buffer::<Open>::zeroed_with(Open::with_sizes([2, 4]).unwrap()).unwrap();
    let other = Buffer::<Open>::zeroed_with(Open::with_sizes([2, 3]).unwrap()).unwrap();
    let refused = catch_unwind(AssertUnwindSafe(|| open.gather_rows(&other, [0, 1])));
    assert_eq!(*refused.unwrap_err().downcast::<String>().unwrap(), "expected rows of 4 elements, found 3");
}
