//! Reading the same memory as another shape, for free: the compiler checks that no element moves.

use super::bytes::Bytes;
use super::storage::Buffer;
use crate::element::Stored;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, SameRank, StaticArray, StaticPermutation, resolved};
use xla_shape_core::ArrayShape;
use xla_shape_core::bitcast;
use xla_shape_core::map::StrideTableRef;
use xla_shape_core::text::{ConstText, same_text};
use xla_shape_relayout::wide::wide;

/// **Other shapes of the same memory**, without a copy. Where an element would move, these methods do not compile, and the error says which
/// element; that shows in `cargo build`, not in `cargo check`. To copy, use [`relayout`](crate::relayout).
impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The same array in another layout that has the same bytes.
    ///
    /// ```
    /// use xla_shape::{Buffer, View, shape};
    ///
    /// let x = Buffer::<shape!(f32[64,128]{1,0:T(8,128)})>::from_fn(|[i, j]| (i * 128 + j) as f32);
    /// let row_major: View<'_, shape!(f32[64,128])> = x.view().retile();
    /// assert_eq!(row_major[[9, 5]], 9.0 * 128.0 + 5.0);
    /// ```
    ///
    /// ```compile_fail
    /// # use xla_shape::{Buffer, View, shape};
    /// let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    /// let row_major: View<'_, shape!(f32[64,256])> = x.view().retile(); // element (0,128) would move
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn retile<R>(self) -> Buffer<R, B>
    where
        S: StaticArray,
        R: StaticArray<Element = S::Element, Dimensions = S::Dimensions>,
    {
        named_in_errors!(Self);
        const { assert_none(bitcast::layout_change_obstacle(shapes::<S, R>(), tables::<S, R>())) };
        // SAFETY: `assert_none` has just checked that every element stays where it is, and that the sizes in bytes,
        // the prefixes and the widths are equal.
        unsafe { self.into_shape() }
    }

    /// The same array under another type of the same shape: sizes may be written as `Size<8>`, as a number of `typenum`, or
    /// computed, as in a [`Shard`](crate::types::Shard), and are then different types.
    ///
    /// ```
    /// use typenum::U8;
    /// use xla_shape::element::F32;
    /// use xla_shape::types::{Array, Size};
    /// use xla_shape::{Buffer, View, layout, shape};
    ///
    /// type ByTypenum = Array<F32, (U8, Size<128>), layout!({1,0})>;
    /// fn kernel(x: View<shape!(f32[8,128])>) -> f32 { x[[7, 127]] }
    /// assert_eq!(kernel(Buffer::<ByTypenum>::filled(1.0).view().retype()), 1.0);
    /// ```
    ///
    /// ```compile_fail
    /// # use xla_shape::{Buffer, View, shape};
    /// let x = Buffer::<shape!(f32[8,128])>::zeroed();
    /// let y: View<'_, shape!(f32[8,64])> = x.view().retype(); // another shape
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn retype<R>(self) -> Buffer<R, B>
    where
        S: StaticArray,
        R: StaticArray<Element = S::Element, Index: SameRank<S::Index>>,
    {
        named_in_errors!(Self);
        const { assert_same_shape::<S, R>() };
        // SAFETY: `assert_same_shape` has just checked that both are the same shape.
        unsafe { self.into_shape() }
    }

    /// The transpose, whose dimension `i` is dimension `permutation[i]` of this array, in the same bytes; in `permutation`, -1 is the last dimension.
    ///
    /// ```
    /// use xla_shape::{Buffer, permutation, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[31,57]{1,0:T(8,128)})>::zeroed();
    /// x.set([30, 2], 1.5);
    /// let transposed: Buffer<shape!(f32[57,31]{0,1:T(8,128)})> = x.transpose(permutation![1, 0]);
    /// assert_eq!(transposed[[2, 30]], 1.5);
    /// ```
    #[doc(alias = "permute")]
    #[must_use]
    #[inline(always)]
    pub fn transpose<R, P>(self, _: P) -> Buffer<R, B>
    where
        S: StaticArray,
        R: StaticArray<Element = S::Element>,
        P: StaticPermutation<S::Dimensions>,
    {
        named_in_errors!(Self);
        const {
            let permutation = resolved::<S, P>();
            assert_none(bitcast::transpose_obstacle(
                shapes::<S, R>(),
                tables::<S, R>(),
                permutation.split_at(S::SIZES.len()).0,
            ));
        };
        // SAFETY: `assert_none` has just checked that every element stays where it is, and that the sizes in bytes,
        // the prefixes and the widths are equal.
        unsafe { self.into_shape() }
    }

    /// The array with other dimensions and the same elements in row-major order, in the same bytes: dimensions split, or merged as CuTe's
    /// `coalesce` does.
    ///
    /// ```
    /// use xla_shape::{Buffer, View, shape};
    ///
    /// let x = Buffer::<shape!(f32[4,8,128]{2,1,0:T(8,128)})>::from_fn(|[i, j, k]| (i * 8 * 128 + j * 128 + k) as f32);
    /// let rows: View<'_, shape!(f32[32,128]{1,0:T(8,128)})> = x.view().reshape();
    /// assert_eq!(rows[[9, 5]], 9.0 * 128.0 + 5.0);
    /// ```
    #[doc(alias = "coalesce")]
    #[must_use]
    #[inline(always)]
    pub fn reshape<R>(self) -> Buffer<R, B>
    where
        S: StaticArray,
        R: StaticArray<Element = S::Element>,
    {
        named_in_errors!(Self);
        const { assert_none(bitcast::reshape_obstacle(shapes::<S, R>(), tables::<S, R>())) };
        // SAFETY: `assert_none` has just checked that every element stays where it is, and that the sizes in bytes,
        // the prefixes and the widths are equal.
        unsafe { self.into_shape() }
    }

    /// The array divided into tiles, in the same bytes, as CuTe's `zipped_divide` does: the first half of the result's dimensions number the
    /// tiles, and the second half are the sizes of a tile. Element `(number, inside)` is element `number · tile + inside` of this array.
    ///
    /// ```
    /// use xla_shape::{Buffer, View, shape};
    ///
    /// let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::from_fn(|[i, j]| (i * 256 + j) as f32);
    /// let tiles: View<'_, shape!(f32[8,2,8,128])> = x.view().zipped_divide(); // row-major: tiles are adjacent, and so are their rows
    /// assert_eq!(tiles[[3, 1, 5, 70]], x[[3 * 8 + 5, 128 + 70]]);
    /// ```
    ///
    /// The tiles need not be those of the layout:
    ///
    /// ```
    /// # use xla_shape::{Buffer, View, shape};
    /// let x = Buffer::<shape!(f32[4,6])>::from_fn(|[i, j]| (10 * i + j) as f32);
    /// let pairs: View<'_, shape!(f32[2,6,2,1]{1,3,2,0})> = x.view().zipped_divide(); // pairs of rows
    /// assert_eq!(pairs[[1, 4, 1, 0]], 34.0);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn zipped_divide<R>(self) -> Buffer<R, B>
    where
        S: StaticArray,
        R: StaticArray<Element = S::Element>,
    {
        named_in_errors!(Self);
        const { assert_none(bitcast::divide_obstacle(shapes::<S, R>(), tables::<S, R>())) };
        // SAFETY: `assert_none` has just checked that every element stays where it is, and that the sizes in bytes,
        // the prefixes and the widths are equal.
        unsafe { self.into_shape() }
    }
}

const fn shapes<S: StaticArray, R: StaticArray>() -> [&'static ArrayShape; 2] {
    [S::SHAPE, R::SHAPE]
}

const fn tables<S: StaticArray, R: StaticArray>() -> [StrideTableRef<'static>; 2] {
    [S::STRIDE_TABLE.with_extents(wide(S::SIZES)), R::STRIDE_TABLE.with_extents(wide(R::SIZES))]
}

/// Fails the compilation if two types are not the same shape, which is the case if their canonical texts differ.
#[track_caller]
const fn assert_same_shape<S: StaticArray, R: StaticArray>() {
    if !same_text(S::TEXT.as_bytes(), R::TEXT.as_bytes()) {
        let text = ConstText::<1200>::new().push_str("expected another type of the shape ").push_str(S::TEXT);
        panic!("{}", text.push_str(", found ").push_str(R::TEXT).as_str())
    }
}

#[track_caller]
const fn assert_none(obstacle: Option<ConstText<1024>>) {
    if let Some(reason) = obstacle {
        panic!("{}", reason.as_str());
    }
}
