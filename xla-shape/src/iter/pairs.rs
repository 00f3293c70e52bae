//! The bands of two arrays together.

use super::bands::{Along, Band, for_each_band_origin};
use crate::buffer::{Buffer, Bytes, BytesMut, Mut, Ref, assert_whole};
use crate::element::Plain;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, own_index, resolve, sizes_of};
use xla_shape_core::text::ConstText;

/// Fails the compilation if the lines of two arrays are not adjacent in the same way.
#[track_caller]
const fn assert_same_bands<S: ArrayType, T: ArrayType, const DIM: i64>() {
    let (these, those, mut i) = (Along::<S, DIM>::BANDS, Along::<T, DIM>::BANDS, 0);
    let mut same = these.lanes == those.lanes;
    while i < S::SHAPE.num_dimensions() {
        same = same && these.steps[i] == those.steps[i];
        i += 1;
    }
    if !same {
        let text = ConstText::<1024>::new().push_str("expected lines side by side as in ").push_str(S::TEXT);
        let text = text.push_str(", ").push_number(these.lanes).push_str(" in a band, found ").push_number(those.lanes);
        panic!("{}", text.push_str(" in one of ").push_str(T::TEXT).as_str())
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// Calls `f` with all lines along dimension `DIM` (-1 is the last), to write, and with the same lines of another array of the same
    /// dimensions. Values that were folded from the lines of one array can be applied to the lines of the other.
    ///
    /// Lines must be adjacent in the same way in both arrays, as in layouts with equal tiles; other layouts do not compile, which shows in
    /// `cargo build`.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// // Divides each row of y by the sum of the same row of x.
    /// let x = Buffer::<shape!(s32[20,200]{1,0:T(8,128)})>::from_fn(|[i, _]| i as i32 + 1);
    /// let mut y = Buffer::<shape!(f32[20,200]{1,0:T(8,128)})>::filled(1.0);
    /// y.for_each_band_mut_with::<-1, _, _>(&x, |mut y, x| {
    ///     let sums = x.fold(0, |sum, x| sum + x, |a, b| a + b);
    ///     y.apply(&sums, |y, sum| y / sum as f32);
    /// });
    /// assert_eq!(y[[3, 150]], 1.0 / 800.0);
    /// ```
    ///
    /// # Panics
    /// If sizes that are known only at run time differ.
    #[inline(always)]
    #[track_caller]
    pub fn for_each_band_mut_with<const DIM: i64, T, C>(
        &mut self,
        other: &Buffer<T, C>,
        mut f: impl FnMut(Band<S, Mut<'_>, DIM>, Band<T, Ref<'_>, DIM>),
    ) where
        T: ArrayType<Element: Plain, Dimensions = S::Dimensions>,
        C: Bytes,
    {
        named_in_errors!(Self);
        const { resolve(DIM, S::SHAPE) };
        const { assert_whole::<S>() };
        const { assert_whole::<T>() };
        const { assert_same_bands::<S, T, DIM>() };
        let (expected, found) = (self.sizes(), sizes_of(other.shape()));
        assert!(expected == found, "expected an operand with sizes {expected:?}, found {found:?}");
        for_each_band_origin::<S, DIM>(self.shape(), |origin| {
            f(Band::new(self.view_mut(), origin), Band::new(other.view(), own_index::<T>(origin)));
        });
    }
}
