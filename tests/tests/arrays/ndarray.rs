//! Arrays without tiles and views of the crate `ndarray` share the same memory.

use ndarray::{Array, Array2, ArrayD, IxDyn, ShapeBuilder, array, s};
use proptest::prelude::*;
use xla_shape::element::{F32, S16, S32, U8};
use xla_shape::types::ArrayType;
use xla_shape::{Buffer, BufferError, DynBuffer, DynView, DynViewMut, View, ViewMut, shape};

#[test]
fn typed_arrays_are_borrowed_as_views() {
    let mut x = Buffer::<shape!(s32[2,3,4]{0,2,1})>::from_fn(|[i, j, k]| (100 * i + 10 * j + k) as i32);
    let expected = Array::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as i32);
    assert_eq!(x.as_ndarray(), expected);
    assert_eq!(x.as_ndarray().as_ptr(), x.as_slice().as_ptr());
    x.as_ndarray_mut()[[1, 2, 3]] = -1;
    assert_eq!(x[[1, 2, 3]], -1);
}

#[test]
fn sizes_at_run_time_and_bounds_are_sizes_of_the_view() {
    type Rows = shape!(f32[?,3]);
    let x = Buffer::<Rows>::zeroed_with(Rows::with_sizes([5, 3]).unwrap()).unwrap();
    assert_eq!(x.as_ndarray().shape(), [5, 3]);
    assert_eq!(View::<Rows>::from_ndarray(x.as_ndarray()).unwrap().shape().sizes(), [5, 3]);

    type Bounded = shape!(f32[<=4,<=3]{0,1});
    let mut x = Buffer::<Bounded>::zeroed_with(Bounded::with_sizes([2, 3]).unwrap()).unwrap();
    x.set([1, 2], 1.5).unwrap();
    let view = x.as_ndarray();
    assert_eq!((view.shape(), view.strides(), view[[1, 2]]), (&[2, 3][..], &[1, 4][..], 1.5));
}

#[test]
fn dimensions_of_one_and_none_have_any_stride() {
    let ones = Array2::<i32>::zeros((3, 1));
    assert!(View::<shape!(s32[3,1]{0,1})>::from_ndarray(ones.view()).is_ok());
    assert!(View::<shape!(s32[1,3]{0,1})>::from_ndarray(ones.t()).is_ok());
    let none = Array2::<i32>::zeros((0, 5));
    assert!(View::<shape!(s32[0,5]{0,1})>::from_ndarray(none.view()).is_ok());
    assert!(Buffer::<shape!(s32[0,5]{0,1})>::zeroed().as_ndarray().is_empty());
    let scalar = Buffer::<shape!(s32[])>::filled(7);
    assert_eq!(scalar.as_ndarray().into_scalar(), &7);
    assert_eq!(DynView::from_ndarray::<S32, _>(none.view()).unwrap().shape().to_string(), "s32[0,5]{1,0}");
}

#[test]
fn what_does_not_fit_is_an_error() {
    type Matrix = shape!(s32[2,3]);
    let message = |result: Result<View<'_, Matrix>, BufferError>| result.err().map(|error| error.to_string());
    let x = array![[1, 2, 3], [4, 5, 6]];
    let wide = Array2::<i32>::zeros((2, 6));
    assert_eq!(
        message(View::<Matrix>::from_ndarray(x.t())).as_deref(),
        Some("expected size 2 for dimension 0, found 3")
    );
    let columns = Array2::<i32>::zeros((2, 3).f());
    assert_eq!(
        message(View::<Matrix>::from_ndarray(columns.view())).as_deref(),
        Some("expected strides [3, 1], found [1, 2]")
    );
    let gaps = wide.slice(s![.., ..;2]);
    assert_eq!(message(View::<Matrix>::from_ndarray(gaps)).as_deref(), Some("expected strides [3, 1], found [6, 2]"));
    let reversed = x.slice(s![.., ..;-1]);
    assert_eq!(
        message(View::<Matrix>::from_ndarray(reversed)).as_deref(),
        Some("expected strides [3, 1], found [3, -1]")
    );

    let padded = View::<shape!(s32[2,3]{1,0:L(8)})>::from_ndarray(x.view()).err();
    assert_eq!(padded, Some(BufferError::WrongLength { expected: 32, found: 24 }));
    let error = DynView::from_ndarray::<S32, _>(gaps).err().unwrap();
    assert_eq!(error.to_string(), "expected strides [3, 1], found [6, 2]");
    let broadcast = x.row(0);
    let broadcast = broadcast.broadcast((4, 3)).unwrap();
    assert!(matches!(DynView::from_ndarray::<S32, _>(broadcast), Err(BufferError::WrongStrides { .. })));

    let tiled = DynBuffer::zeroed_with("f32[8,128]{1,0:T(8,128)}".parse().unwrap()).unwrap();
    let error = tiled.as_ndarray::<F32>().err().unwrap();
    assert_eq!(error.to_string(), "expected an array without tiles, found f32[8,128]{1,0:T(8,128)}");
    let error = tiled.as_ndarray::<S16>().err();
    assert!(error.is_some());
}

#[test]
fn views_are_written_through() {
    let mut x = array![[1, 2, 3], [4, 5, 6]];
    ViewMut::<shape!(s32[2,3])>::from_ndarray(x.view_mut()).unwrap()[[1, 2]] = 60;
    DynViewMut::from_ndarray::<S32, _>(x.view_mut()).unwrap().set::<S32>(&[0, 0], 10).unwrap();
    assert_eq!(x, array![[10, 2, 3], [4, 5, 60]]);
    let mut x = DynBuffer::zeroed_with("s32[2,3]{0,1}".parse().unwrap()).unwrap();
    x.as_ndarray_mut::<S32>().unwrap()[[1, 2]] = 7;
    assert_eq!(x.get::<S32>(&[1, 2]), Ok(7));
}

proptest! {
    /// A buffer that is converted to an `ndarray` and back keeps its memory, for every order of dimensions.
    #[test]
    fn there_and_back(
        (sizes, order) in prop::collection::vec(0_usize..4, 0..6)
            .prop_flat_map(|sizes| (Just(sizes.clone()), Just((0..sizes.len()).collect::<Vec<_>>()).prop_shuffle())),
    ) {
        let count = sizes.iter().product::<usize>() as i32;
        let dense = ArrayD::from_shape_vec(IxDyn(&sizes), (0..count).collect()).unwrap();
        let permuted = dense.view().permuted_axes(IxDyn(&order));
        let x = DynView::from_ndarray::<S32, _>(permuted.view()).unwrap();
        prop_assert_eq!(x.as_ndarray::<S32>().unwrap(), permuted.view());
        prop_assert_eq!(x.to_row_major::<S32>().unwrap(), permuted.iter().copied().collect::<Vec<_>>());
        prop_assert_eq!(x.as_slice::<S32>().unwrap(), dense.as_slice().unwrap());
    }
}

#[test]
fn empty_arrays_of_sizes_that_no_ndarray_has() {
    const LARGE: usize = isize::MAX as usize;
    let x = DynBuffer::zeroed_with(format!("u8[0,{LARGE},2]").parse().unwrap()).unwrap();
    let error = x.as_ndarray::<U8>().unwrap_err();
    assert!(matches!(error, BufferError::TooLargeForNdarray(_)));
    assert_eq!(
        error.to_string(),
        "expected sizes whose product without zeros fits in an isize, as an `ndarray` has, found \
         u8[0,9223372036854775807,2]{2,1,0}"
    );
    type Sizes = shape!(u8[?,?,2]);
    let x = |large| Buffer::<Sizes>::zeroed_with(Sizes::with_sizes([0, large, 2]).unwrap()).unwrap();
    assert!(x(LARGE / 2).as_ndarray().is_empty());
    assert!(x(LARGE / 2).into_dyn().as_ndarray::<U8>().unwrap().is_empty());
    let panic = std::panic::catch_unwind(|| x(LARGE).as_ndarray_mut().len()).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().starts_with("expected sizes whose product without zeros"));
}
