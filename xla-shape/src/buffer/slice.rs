//! Slices at constant indices: a part of an array in the same memory.

use super::bytes::{Bytes, BytesMut, Lends};
use super::storage::{Buffer, View, ViewMut};
use crate::element::Stored;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, StaticArray, StaticIndex, position_at};
use std::ops::Range;
use xla_shape_core::ArrayShape;
use xla_shape_core::bitcast::slice_obstacle;
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::MAX_TEXT;
use xla_shape_relayout::wide::wide;

/// The bytes of the slice of shape `R` that begins at `I`. Fails the compilation if the slice is not one stretch of memory of `S`.
#[track_caller]
const fn bytes_of_slice<S, R, I>() -> Range<usize>
where
    S: StaticArray,
    R: StaticArray<Element = S::Element, Layout = S::Layout>,
    I: StaticIndex<S::Dimensions>,
{
    if let Some(reason) = slice_obstacle(S::SHAPE, wide(I::INDEX), wide(R::SIZES)) {
        panic!("{}", reason.as_str())
    }
    // A slice without elements may begin after the array's last element.
    let position = if R::ELEMENTS == 0 { 0 } else { position_at::<S, I>() };
    if let Some(reason) = byte_obstacle(S::SHAPE, position as u64) {
        panic!("{}", reason.as_str())
    }
    let first = position * S::SHAPE.element_bits() as usize / 8;
    assert!(first + R::BYTES <= S::BYTES, "the slice has no more bytes than the array");
    first..first + R::BYTES
}

/// Why a slice cannot begin with the element at a position of an array: the element does not begin at a byte boundary.
pub(super) const fn byte_obstacle(array: &ArrayShape, position: u64) -> Option<ConstText<1024>> {
    let bits = position.saturating_mul(array.element_bits());
    if bits.is_multiple_of(8) {
        return None;
    }
    let problem = ConstText::new().push_str("expected a slice that begins at a whole byte, found one at bit ");
    Some(problem.push_number(bits).push_str(" of ").push_str(array.const_text::<MAX_TEXT>().as_str()))
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The slice of shape `R` that begins at a constant index, in the same memory and layout.
    ///
    /// A slice that is out of bounds, or whose elements are not in memory as those of `R` are, does not compile; that shows in `cargo
    /// build`, not in `cargo check`. With tiles, it begins and ends at their edges.
    ///
    /// ```
    /// use xla_shape::{Buffer, View, index, shape};
    ///
    /// let x = Buffer::<shape!(f32[64,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (1000 * i + j) as f32);
    /// let rows: View<'_, shape!(f32[8,200]{1,0:T(8,128)})> = x.slice(index![16, 0]);
    /// assert_eq!(rows[[3, 150]], 19_150.0);
    /// let tile: View<'_, shape!(f32[8,128]{1,0:T(8,128)})> = x.slice(index![24, 0]);
    /// assert_eq!(tile[[0, 5]], 24_005.0);
    /// ```
    ///
    /// ```compile_fail
    /// # use xla_shape::{Buffer, View, index, shape};
    /// let x = Buffer::<shape!(f32[64,200]{1,0:T(8,128)})>::zeroed();
    /// let columns: View<'_, shape!(f32[64,128]{1,0:T(8,128)})> = x.slice(index![0, 0]); // every other tile
    /// ```
    ///
    /// # Panics
    /// Never: a slice that compiles is in bounds.
    #[must_use]
    #[inline(always)]
    pub fn slice<'s, 'b, R, I>(&'s self, _: I) -> View<'b, R>
    where
        S: StaticArray,
        B: Lends<'s, 'b>,
        R: StaticArray<Element = S::Element, Layout = S::Layout>,
        I: StaticIndex<S::Dimensions>,
    {
        named_in_errors!(Self);
        let bytes = const { bytes_of_slice::<S, R, I>() };
        View::from_bytes(&self.as_bytes()[bytes])
            .expect("as many bytes as the shape takes, whole elements from the first")
    }
}

impl<S: ArrayType<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// The slice of shape `R` that begins at a constant index, to write; see [`slice`](Self::slice).
    ///
    /// ```
    /// use xla_shape::{Buffer, index, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[64,200]{1,0:T(8,128)})>::zeroed();
    /// x.slice_mut::<shape!(f32[8,200]{1,0:T(8,128)}), _>(index![16, 0]).fill(1.0);
    /// assert_eq!((x[[16, 0]], x[[15, 0]]), (1.0, 0.0));
    /// ```
    ///
    /// # Panics
    /// Never: a slice that compiles is in bounds.
    #[must_use]
    #[inline(always)]
    pub fn slice_mut<R, I>(&mut self, _: I) -> ViewMut<'_, R>
    where
        S: StaticArray,
        R: StaticArray<Element = S::Element, Layout = S::Layout>,
        I: StaticIndex<S::Dimensions>,
    {
        named_in_errors!(Self);
        let bytes = const { bytes_of_slice::<S, R, I>() };
        let bytes = &mut self.as_bytes_mut()[bytes];
        ViewMut::from_bytes(bytes).expect("as many bytes as the shape takes, whole elements from the first")
    }
}
