//! Copies of rows by numbers that are known only at run time, such as the lookup and the update of an embedding.

use crate::buffer::{Buffer, Bytes, BytesMut};
use crate::element::Plain;
use crate::iter::copy_rows;
use crate::types::{ArrayType, Dim};
use std::fmt::Display;

impl<S: ArrayType<Element: Plain, Index = [usize; 2]>, B: BytesMut> Buffer<S, B> {
    /// Copies a row of `table` to each row of this matrix: row `i` gets the row whose number is entry `i` of `rows`. The matrices may have
    /// any layouts, and may be blocks.
    ///
    /// The numbers are integers of any type: a vector such as `&Buffer<shape!(s32[3])>`, a slice, a range, an iterator.
    ///
    /// This is XLA's `gather` of whole rows, except that XLA replaces a number that is out of bounds by that of the nearest row.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let table = Buffer::<shape!(f32[1000,200]{1,0:T(8,128)})>::from_fn(|[i, _]| i as f32);
    /// let tokens = Buffer::<shape!(s32[3])>::from_fn(|[i]| [7, 999, 7][i]);
    /// let mut x = Buffer::<shape!(f32[3,200])>::zeroed();
    /// x.gather_rows(&table, &tokens);
    /// assert_eq!([x[[0, 0]], x[[1, 199]], x[[2, 5]]], [7.0, 999.0, 7.0]);
    /// ```
    ///
    /// # Panics
    /// If there are more or fewer numbers than rows, `table` has no row with one of the numbers, or sizes that are known only at run time differ.
    #[track_caller]
    pub fn gather_rows<T, C, M, K, N, I>(&mut self, table: &Buffer<T, C>, rows: impl IntoIterator<Item = I>)
    where
        S: ArrayType<Dimensions = (M, N)>,
        T: ArrayType<Element = S::Element, Dimensions = (K, N), Index = [usize; 2]>,
        C: Bytes,
        M: Dim,
        K: Dim,
        N: Dim,
        I: RowNumber,
    {
        let ([len, columns], [found, found_columns]) = (self.sizes(), table.sizes());
        assert_columns(columns, found_columns);
        let mut count = 0;
        let pairs = numbered(rows.into_iter(), [len, found], &mut count);
        // SAFETY: the matrices have equally many columns, and the numbers have been compared with the numbers of rows.
        let copied = unsafe { copy_rows(self, table, pairs) };
        check(copied, count, [len, found]);
    }

    /// Copies each row of `values` to a row of this matrix: row `i` goes to the row whose number is entry `i` of `rows`. If a number is repeated, the
    /// last row that is copied there remains. The matrices may have any layouts, and may be blocks.
    ///
    /// The numbers are integers of any type, as for [`gather_rows`](Self::gather_rows).
    ///
    /// This is XLA's `scatter` of whole rows, except that XLA leaves out a row whose number is out of bounds.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let new = Buffer::<shape!(f32[2,200])>::from_fn(|[i, _]| 10.0 + i as f32);
    /// let mut cache = Buffer::<shape!(f32[64,200]{1,0:T(8,128)})>::zeroed();
    /// cache.scatter_rows(&new, [63, 5]);
    /// assert_eq!([cache[[63, 0]], cache[[5, 199]], cache[[4, 0]]], [10.0, 11.0, 0.0]);
    /// ```
    ///
    /// # Panics
    /// If there are more or fewer numbers than rows of `values`, this matrix has no row with one of the numbers, or sizes that are known only at run
    /// time differ.
    #[track_caller]
    pub fn scatter_rows<T, C, M, K, N, I>(&mut self, values: &Buffer<T, C>, rows: impl IntoIterator<Item = I>)
    where
        S: ArrayType<Dimensions = (M, N)>,
        T: ArrayType<Element = S::Element, Dimensions = (K, N), Index = [usize; 2]>,
        C: Bytes,
        M: Dim,
        K: Dim,
        N: Dim,
        I: RowNumber,
    {
        let ([found, columns], [len, found_columns]) = (self.sizes(), values.sizes());
        assert_columns(columns, found_columns);
        let mut count = 0;
        let pairs = numbered(rows.into_iter(), [len, found], &mut count).map(|pair| pair.map(|[i, row]| [row, i]));
        // SAFETY: as in `gather_rows`.
        let copied = unsafe { copy_rows(self, values, pairs) };
        check(copied, count, [len, found]);
    }
}

/// The number of a row: any integer, or a reference to one.
// Hidden: it only lets callers pass numbers of any integer type, or references to them.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the number of a row",
    label = "expected integers: a vector such as `&Buffer<shape!(s32[8])>`, a slice, a range, an iterator"
)]
pub trait RowNumber: Copy + Display {
    /// The number, unless it is negative or larger than any array.
    fn row(self) -> Option<usize>;
}

macro_rules! row_numbers {
    ($($Number:ty)*) => {$(
        impl RowNumber for $Number {
            #[inline(always)]
            fn row(self) -> Option<usize> {
                usize::try_from(self).ok()
            }
        }

        impl RowNumber for &$Number {
            #[inline(always)]
            fn row(self) -> Option<usize> {
                usize::try_from(*self).ok()
            }
        }
    )*};
}

row_numbers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

/// What is wrong with the numbers of rows.
enum Wrong<N> {
    /// There are more numbers than rows to copy.
    Count,
    /// There is no row of this number.
    Row(N),
}

/// Each row number with its place in the list, which `count` counts. A number is an error if it is not less than `rows`, or if `len` numbers come
/// before it.
#[inline(always)]
fn numbered<N: RowNumber>(
    numbers: impl Iterator<Item = N>,
    [len, rows]: [usize; 2],
    count: &mut usize,
) -> impl Iterator<Item = Result<[usize; 2], Wrong<N>>> {
    numbers.map(move |number| {
        let place = *count;
        *count += 1;
        let row = number.row().filter(|row| *row < rows).ok_or(Wrong::Row(number));
        if place < len { row.map(|row| [place, row]) } else { Err(Wrong::Count) }
    })
}

/// Panics if a number is not below `rows`, or if there are not exactly `len` numbers.
#[inline(always)]
#[track_caller]
fn check<N: RowNumber>(copied: Result<(), Wrong<N>>, count: usize, [len, rows]: [usize; 2]) {
    match copied {
        Ok(()) if count == len => {}
        Ok(()) => panic!("expected {len} row numbers, found {count}"),
        Err(Wrong::Count) => panic!("expected {len} row numbers, found more"),
        Err(Wrong::Row(number)) => panic!("expected row numbers below {rows}, found {number}"),
    }
}

/// Panics if sizes that are known only at run time differ.
#[inline(always)]
#[track_caller]
fn assert_columns(expected: usize, found: usize) {
    assert!(expected == found, "expected rows of {expected} elements, found {found}");
}
