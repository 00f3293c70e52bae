//! Views of the crate `ndarray`, borrowed from arrays and as arrays, without a copy.
//!
//! An `ndarray` has one stride for each dimension, like an array without tiles.

use super::bytes::{Bytes, BytesMut, Lends};
use super::dynamic::{DynShape, DynView, DynViewMut};
use super::error::BufferError;
use super::storage::{Buffer, View, ViewMut};
use crate::element::{Element, Plain};
use crate::element::{bytes_of, bytes_of_mut};
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, MultiIndex, ValueOf, WholeArray};
use ndarray::{
    ArrayView, ArrayViewD, ArrayViewMut, ArrayViewMutD, Dimension, IntoDimension, IxDyn, ShapeBuilder, StrideShape,
};
use xla_shape_core::text::ConstText;
use xla_shape_core::{ArrayShape, Layout};
use xla_shape_relayout::wide::{local, wide};

/// The dimensions of an `ndarray` with the indices of `S`.
type Dim<S> = <<S as ArrayType>::Index as IntoDimension>::Dim;

/// Fails the compilation if the array has tiles.
#[track_caller]
const fn assert_untiled<S: WholeArray>() {
    if !S::SHAPE.layout().tiles().is_empty() {
        let problem = ConstText::<1024>::new().push_str("expected an array without tiles, found ").push_str(S::TEXT);
        panic!("{}", problem.as_str())
    }
}

/// The strides of an array without tiles, in elements.
fn strides<S: WholeArray>(shape: S) -> S::Index {
    let mut strides = S::Index::ORIGIN;
    for dimension in 0..strides.as_ref().len() {
        let mut unit = S::Index::ORIGIN;
        unit.as_mut()[dimension] = 1;
        // Dimensions of size 1 need no stride, and neither do arrays without elements.
        let has_two = shape.has_index(unit);
        strides.as_mut()[dimension] = if has_two { shape.linear_index_of(unit) } else { 0 };
    }
    strides
}

/// Checks that elements have the strides of an array without tiles, except in dimensions of size 1.
fn check_strides(sizes: &[usize], expected: &[usize], found: &[isize]) -> Result<(), BufferError> {
    let agrees =
        |(&size, (&expected, &found)): (&usize, (&usize, &isize))| size == 1 || usize::try_from(found) == Ok(expected);
    let is_empty = sizes.contains(&0);
    if is_empty || sizes.iter().zip(expected.iter().zip(found)).all(agrees) {
        Ok(())
    } else {
        Err(BufferError::WrongStrides { expected: expected.to_vec(), found: found.to_vec() })
    }
}

/// Whether an `ndarray` can have these sizes: the product of those other than 0 must not exceed `isize::MAX`, even if there are no
/// elements.
fn has_ndarray(sizes: &[usize]) -> bool {
    let mut sizes = sizes.iter().filter(|size| **size != 0);
    sizes.try_fold(1, |product: isize, &size| product.checked_mul(isize::try_from(size).ok()?)).is_some()
}

/// Panics if an `ndarray` cannot have these sizes.
#[track_caller]
fn assert_has_ndarray<S: ArrayType>(shape: S) {
    let sizes = shape.sizes();
    assert!(
        has_ndarray(sizes.as_ref()),
        "expected sizes whose product without zeros fits in an isize, as an `ndarray` has, found {:?}",
        sizes.as_ref()
    );
}

impl<S: WholeArray<Element: Plain, Index: IntoDimension>, B: Bytes> Buffer<S, B> {
    /// The array as a view of the crate `ndarray`.
    ///
    /// An array with tiles does not compile; that shows in `cargo build`, not in `cargo check`. `ndarray` has types for up to six
    /// dimensions; for more, use [`into_dyn`](Self::into_dyn).
    ///
    /// # Panics
    /// If the array is empty and its other sizes multiply to more than `isize::MAX`, which an `ndarray` cannot have.
    ///
    /// ```
    /// use ndarray::{ArrayView2, array};
    /// use xla_shape::{View, shape};
    ///
    /// let x = View::<shape!(s32[2,3]{0,1})>::from_slice(&[1, 4, 2, 5, 3, 6])?;
    /// let view: ArrayView2<'_, i32> = x.as_ndarray();
    /// assert_eq!(view, array![[1, 2, 3], [4, 5, 6]]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn as_ndarray<'s, 'b>(&'s self) -> ArrayView<'b, ValueOf<S>, Dim<S>>
    where
        B: Lends<'s, 'b>,
    {
        named_in_errors!(Self);
        const { assert_untiled::<S>() };
        assert_has_ndarray(self.shape());
        let shape = self.shape().sizes().into_dimension().strides(strides(self.shape()).into_dimension());
        ArrayView::from_shape(shape, self.as_slice()).expect("an array is inside its memory")
    }
}

impl<S: WholeArray<Element: Plain, Index: IntoDimension>, B: BytesMut> Buffer<S, B> {
    /// The array as a view of the crate `ndarray`, to write.
    ///
    /// An array with tiles does not compile, as in [`as_ndarray`](Self::as_ndarray).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(s32[2,3]{0,1})>::zeroed();
    /// x.as_ndarray_mut().row_mut(1).fill(7);
    /// assert_eq!(x[[1, 2]], 7);
    /// ```
    ///
    /// # Panics
    /// As [`as_ndarray`](Self::as_ndarray).
    #[must_use]
    #[track_caller]
    pub fn as_ndarray_mut(&mut self) -> ArrayViewMut<'_, ValueOf<S>, Dim<S>> {
        named_in_errors!(Self);
        const { assert_untiled::<S>() };
        assert_has_ndarray(self.shape());
        let shape = self.shape().sizes().into_dimension().strides(strides(self.shape()).into_dimension());
        ArrayViewMut::from_shape(shape, self.as_mut_slice()).expect("an array is inside its memory")
    }
}

/// The shape `S` with the sizes of an `ndarray`, if the strides agree.
fn shape_of<S: WholeArray>(sizes: &[usize], found: &[isize]) -> Result<S, BufferError> {
    let mut index = S::Index::ORIGIN;
    index.as_mut().copy_from_slice(sizes);
    let shape = S::with_sizes(index)?;
    check_strides(sizes, strides(shape).as_ref(), found)?;
    Ok(shape)
}

impl<'a, S: WholeArray<Element: Plain, Index: IntoDimension>> View<'a, S> {
    /// Borrows a view of the crate `ndarray` as an array.
    ///
    /// An array with tiles does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use ndarray::array;
    /// use xla_shape::{View, shape};
    ///
    /// let matrix = array![[1, 2, 3], [4, 5, 6]];
    /// let x = View::<shape!(s32[2,3])>::from_ndarray(matrix.view())?;
    /// let transposed = View::<shape!(s32[3,2]{0,1})>::from_ndarray(matrix.t())?;
    /// assert_eq!((x[[0, 2]], transposed[[2, 0]]), (3, 3));
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the sizes or strides differ, or the array has padding after its elements.
    pub fn from_ndarray(array: ArrayView<'a, ValueOf<S>, Dim<S>>) -> Result<Self, BufferError> {
        named_in_errors!(Self);
        const { assert_untiled::<S>() };
        let shape = shape_of::<S>(array.shape(), array.strides())?;
        let values = array.to_slice_memory_order().unwrap_or_default();
        Self::from_parts(shape, bytes_of::<S::Element>(values))
    }
}

impl<'a, S: WholeArray<Element: Plain, Index: IntoDimension>> ViewMut<'a, S> {
    /// Borrows a view of the crate `ndarray` as an array to write.
    ///
    /// An array with tiles does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use ndarray::array;
    /// use xla_shape::{ViewMut, shape};
    ///
    /// let mut matrix = array![[1, 2, 3], [4, 5, 6]];
    /// ViewMut::<shape!(s32[2,3])>::from_ndarray(matrix.view_mut())?[[1, 2]] = 60;
    /// assert_eq!(matrix[[1, 2]], 60);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// As [`View::from_ndarray`].
    pub fn from_ndarray(array: ArrayViewMut<'a, ValueOf<S>, Dim<S>>) -> Result<Self, BufferError> {
        named_in_errors!(Self);
        const { assert_untiled::<S>() };
        let shape = shape_of::<S>(array.shape(), array.strides())?;
        let values = array.into_slice_memory_order().unwrap_or_default();
        Self::from_parts(shape, bytes_of_mut::<S::Element>(values))
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// The array as a view of the crate `ndarray`.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::from_row_major_with::<S32>("s32[2,3]{0,1}".parse()?, &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x.as_ndarray::<S32>()?.sum(), 21);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`as_slice`](Self::as_slice), or if the array has tiles, or is empty and its other sizes multiply to more than `isize::MAX`.
    ///
    /// # Panics
    /// Never.
    pub fn as_ndarray<'s, 'b, E: Plain>(&'s self) -> Result<ArrayViewD<'b, E::Value>, BufferError>
    where
        B: Lends<'s, 'b>,
    {
        let shape = self.strided_shape()?;
        Ok(ArrayViewD::from_shape(shape, self.as_slice::<E>()?).expect("an array is inside its memory"))
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    fn strided_shape(&self) -> Result<StrideShape<IxDyn>, BufferError> {
        if !has_ndarray(local(self.stride_table().as_ref().extents())) {
            return Err(BufferError::TooLargeForNdarray(Box::new(self.shape().clone())));
        }
        match self.stride_table().as_ref().strides() {
            Some(strides) if self.shape().layout().tiles().is_empty() => {
                Ok(IxDyn(local(self.stride_table().as_ref().extents())).strides(IxDyn(local(&strides))))
            }
            _ => Err(BufferError::Tiled(Box::new(self.shape().clone()))),
        }
    }
}

impl<B: BytesMut> Buffer<DynShape, B> {
    /// The array as a view of the crate `ndarray`, to write.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let mut x = DynBuffer::zeroed_with("s32[2,3]".parse()?)?;
    /// x.as_ndarray_mut::<S32>()?.fill(7);
    /// assert_eq!(x.get::<S32>(&[1, 2])?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`as_ndarray`](Self::as_ndarray).
    ///
    /// # Panics
    /// Never.
    pub fn as_ndarray_mut<E: Plain>(&mut self) -> Result<ArrayViewMutD<'_, E::Value>, BufferError> {
        let shape = self.strided_shape()?;
        Ok(ArrayViewMutD::from_shape(shape, self.as_mut_slice::<E>()?).expect("an array is inside its memory"))
    }
}

/// The shape of an array with these sizes and strides and without gaps.
fn dense_shape<E: Element>(sizes: &[usize], strides: &[isize]) -> Result<ArrayShape, BufferError> {
    let shape = ArrayShape::with_default_layout(E::TYPE, wide(sizes))?;
    if sizes.contains(&0) {
        return Ok(shape);
    }
    // Dimensions of size 1 go after the dimension before them, as in row-major order; their strides do not matter.
    let mut order = (0..sizes.len()).filter(|&dimension| sizes[dimension] != 1).collect::<Vec<_>>();
    order.sort_by_key(|&dimension| std::cmp::Reverse(strides[dimension]));
    for dimension in (0..sizes.len()).filter(|&dimension| sizes[dimension] == 1) {
        let place = order.iter().position(|&other| other + 1 == dimension).map_or(0, |place| place + 1);
        order.insert(place, dimension);
    }
    order.reverse();
    let shape = shape.with_layout(Layout::new(&order)?)?;
    let expected = shape.stride_table()?.as_ref().strides().unwrap_or_default();
    check_strides(sizes, local(&expected), strides)?;
    Ok(shape)
}

impl<'a> DynView<'a> {
    /// Borrows a view of the crate `ndarray` as an array, whose layout orders the dimensions by their strides.
    ///
    /// ```
    /// use ndarray::array;
    /// use xla_shape::DynView;
    /// use xla_shape::element::S32;
    ///
    /// let matrix = array![[1, 2, 3], [4, 5, 6]];
    /// let transposed = DynView::from_ndarray::<S32, _>(matrix.t())?;
    /// assert_eq!(transposed.shape().to_string(), "s32[3,2]{0,1}");
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the values are not contiguous, or there are more than an array can have.
    pub fn from_ndarray<E: Plain, D: Dimension>(array: ArrayView<'a, E::Value, D>) -> Result<Self, BufferError> {
        let shape = dense_shape::<E>(array.shape(), array.strides())?;
        Self::from_slice_with::<E>(shape, array.to_slice_memory_order().unwrap_or_default())
    }
}

impl<'a> DynViewMut<'a> {
    /// Borrows a view of the crate `ndarray` as an array to write.
    ///
    /// ```
    /// use ndarray::array;
    /// use xla_shape::DynViewMut;
    /// use xla_shape::element::S32;
    ///
    /// let mut matrix = array![[1, 2, 3], [4, 5, 6]];
    /// DynViewMut::from_ndarray::<S32, _>(matrix.view_mut())?.set::<S32>(&[1, 2], 60)?;
    /// assert_eq!(matrix[[1, 2]], 60);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`DynView::from_ndarray`].
    pub fn from_ndarray<E: Plain, D: Dimension>(array: ArrayViewMut<'a, E::Value, D>) -> Result<Self, BufferError> {
        let shape = dense_shape::<E>(array.shape(), array.strides())?;
        Self::from_slice_with::<E>(shape, array.into_slice_memory_order().unwrap_or_default())
    }
}
