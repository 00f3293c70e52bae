//! Types with sizes that are known only at run time have the same positions and sizes as the run-time shape with those sizes.

use proptest::prelude::*;
use xla_shape::element::{Bf16, F32, U8};
use xla_shape::map::StaticStrideTable;
use xla_shape::types::{ArrayType, SizesError, WholeArray};
use xla_shape::{
    AccessError, ArrayShape, Buffer, BufferError, Dimension, DynBuffer, Layout, Slot, StrideTable, View, ViewMut, shape,
};
use xla_shape_tests::strategy::small_array_shape;
use xla_shape_tests::wide;

/// Compares a type with these sizes with the core's table for the resulting shape.
fn agrees<S: WholeArray>(sizes: S::Index) {
    let typed = S::with_sizes(sizes).unwrap();
    let shape = typed.array_shape();
    let table: StrideTable = shape.stride_table().unwrap();
    assert_eq!(Some(typed.byte_size() as u64), shape.byte_size(), "{shape}");
    let mut count = 0;
    for index in typed.indices() {
        count += 1;
        assert_eq!(
            typed.linear_index_of(index),
            table.as_ref().linear_index(&wide(index.as_ref())) as usize,
            "{index:?} of {shape}"
        );
        assert!(typed.has_index(index));
    }
    assert_eq!(count, sizes.as_ref().iter().product::<usize>());
    assert_eq!(S::from_array_shape(&shape).is_some(), shape.dimensions().iter().all(|d| d.extent().is_some()));
}

#[test]
fn unbounded_dimensions_take_their_sizes_at_run_time() {
    for n in [0, 1, 7, 8, 9, 20] {
        agrees::<shape!(f32[?,128]{1,0:T(8,128)})>([n, 128]);
        agrees::<shape!(bf16[?,130]{1,0:T(8,128)(2,1)})>([n, 130]);
        agrees::<shape!(bf16[130,?]{1,0:T(8,128)(2,1)})>([130, n]);
        agrees::<shape!(f32[?,3,5]{0,2,1:T(4,4)})>([n, 3, 5]);
        agrees::<shape!(s8[3,?,5])>([3, n, 5]);
        agrees::<shape!(s8[?,6]{1,0:T(8,4)(3,1)})>([n, 6]);
        agrees::<shape!(s8[?]{0:T(2,2)})>([n]);
        agrees::<shape!(s8[?,4,6]{2,1,0:T(*,8)})>([n, 4, 6]);
        // With a static size, the two digits of this dimension would be merged. The tile keeps them apart, because the size is not known.
        agrees::<shape!(f32[4,?]{1,0:T(8)})>([4, n]);
        agrees::<shape!(f32[4,?]{1,0:T(8)(4)})>([4, n]);
        agrees::<shape!(f32[4,?,5]{2,1,0:T(8,5)})>([4, n, 5]);
        agrees::<shape!(f32[4,?,1]{2,1,0:T(8,1)})>([4, n, 1]);
        agrees::<shape!(f32[3,?]{1,0:T(1,4)(2,1)})>([3, n]);
        for m in [1, 4, 9] {
            agrees::<shape!(f32[?,?]{1,0:T(4,4)})>([n, m]);
            agrees::<shape!(f32[?,3,?]{0,1,2})>([n, 3, m]);
            agrees::<shape!(f32[<=9,?]{1,0:T(4,4)(2,1)})>([n.min(9), m]);
        }
    }
}

#[test]
fn bounded_dimensions_lie_by_their_bound() {
    for n in 0..=5 {
        agrees::<shape!(bf16[<=5,3]{0,1:T(8,128)(2,1)})>([n, 3]);
    }
    type X = shape!(f32[<=20,128]{1,0:T(8,128)});
    assert_eq!((X::BYTES, X::ELEMENTS), (24 * 128 * 4, 20 * 128));
    assert_eq!(X::linear_index([19, 5]), 19 * 128 + 5);
    let x = X::with_sizes([7, 128]).unwrap();
    assert_eq!((x.byte_size(), x.has_index([6, 0]), x.has_index([7, 0])), (X::BYTES, true, false));
}

#[test]
fn sizes_that_the_type_cannot_have_are_errors() {
    type X = shape!(f32[?,<=8,128]);
    let error = |sizes| X::with_sizes(sizes).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error([3, 9, 128]), "expected a size of at most 8 for dimension 1, found 9");
    assert_eq!(error([3, 8, 127]), "expected size 128 for dimension 2, found 127");
    assert!(matches!(X::with_sizes([usize::MAX, 1, 128]), Err(SizesError::Invalid(_))));
    assert!(matches!(X::with_sizes([1 << 60, 1, 128]), Err(SizesError::Invalid(_))));
}

#[test]
fn a_type_without_static_sizes_holds_them() {
    assert_eq!(size_of::<shape!(f32[?,128])>(), size_of::<usize>());
    assert_eq!(size_of::<shape!(f32[?,<=8,128])>(), 2 * size_of::<usize>());
}

#[test]
fn constructors_take_the_shape_first() {
    type Rows = shape!(s32[?,3]{1,0:T(2,4)});
    let shape = Rows::with_sizes([2, 3]).unwrap();
    let x = Buffer::<Rows>::from_row_major_with(shape, &[1, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!(x.as_slice(), [1, 2, 3, 0, 4, 5, 6, 0]);
    assert_eq!(View::<Rows>::from_slice_with(shape, x.as_slice()).unwrap(), x);
    assert_eq!(Buffer::<Rows>::filled_with(shape, 7).unwrap().to_row_major(), [7; 6]);
    let mut memory = [0; 8];
    ViewMut::<Rows>::from_slice_with(shape, &mut memory).unwrap().fill(1);
    assert_eq!(memory, [1, 1, 1, 0, 1, 1, 1, 0]);
    let wrong = BufferError::WrongNumberOfElements { expected: 6, found: 5 };
    assert_eq!(Buffer::<Rows>::from_row_major_with(shape, &[0; 5]).unwrap_err(), wrong);
    assert_eq!(
        View::<Rows>::from_slice_with(shape, &[0; 6]).unwrap_err(),
        BufferError::WrongLength { expected: 32, found: 24 }
    );
}

#[test]
fn buffers_of_such_types() {
    type Rows = shape!(bf16[?,200]{1,0:T(8,128)(2,1)});
    let mut rows = Buffer::<Rows>::zeroed_with(Rows::with_sizes([11, 200]).unwrap()).unwrap();
    rows.fill_with(|[i, j]| half::bf16::from_f32((i * 3 + j) as f32));
    let dynamic = DynBuffer::from_fn_with::<Bf16>("bf16[11,200]{1,0:T(8,128)(2,1)}".parse().unwrap(), |index| {
        half::bf16::from_f32((index[0] * 3 + index[1]) as f32)
    })
    .unwrap();
    assert_eq!(rows.as_bytes(), dynamic.as_bytes());
    let typed: Buffer<Rows> = dynamic.into_typed().unwrap();
    assert_eq!(
        (typed.get([10, 199]), typed.get([11, 0])),
        (rows.get([10, 199]), Err(AccessError::OutOfBounds { dimension: 0, index: 11, size: 11 }))
    );
    let other = DynBuffer::zeroed_with("bf16[11,201]{1,0:T(8,128)(2,1)}".parse().unwrap()).unwrap();
    assert_eq!(
        other.typed::<Rows>().unwrap_err().to_string(),
        "expected an array of shape bf16[?,200]{1,0:T(8,128)(2,1)}, found bf16[11,201]{1,0:T(8,128)(2,1)}"
    );
    let bounded = DynBuffer::zeroed_with("u8[<=3,2]".parse().unwrap()).unwrap();
    assert_eq!(bounded.typed::<shape!(u8[<=3,2])>().unwrap().shape().sizes(), [3, 2]);
    assert!(bounded.typed::<shape!(u8[<=4,2])>().is_err());
    // An array with a static size has the same layout in memory as one with that size as its bound.
    let all = DynBuffer::zeroed_with("u8[3,2]".parse().unwrap()).unwrap();
    assert_eq!(all.typed::<shape!(u8[<=3,2])>().unwrap().shape().sizes(), [3, 2]);
    assert!(all.typed::<shape!(u8[<=4,2])>().is_err());
    assert!(bounded.typed::<shape!(u8[3,2])>().is_err());
    assert!(bounded.typed::<shape!(u8[?,2])>().is_err());
    assert_eq!(<shape!(f32[?])>::SHAPE.dimensions(), [Dimension::Unbounded]);
    assert!(DynBuffer::zeroed_with("f32[2]".parse().unwrap()).unwrap().get::<U8>(&[0]).is_err());
    assert_eq!(DynBuffer::zeroed_with("f32[2]".parse().unwrap()).unwrap().get::<F32>(&[0]), Ok(0.0));
}

proptest! {
    /// A table with unbounded dimensions gives the same positions as the table for the known sizes, once it is given them.
    #[test]
    fn unbounded_tables_are_tables_once_sizes_are_known(shape in small_array_shape(), unbounded: u8) {
        let sizes = shape.dimensions().iter().map(|dimension| dimension.extent().unwrap()).collect::<Vec<_>>();
        let dimensions = sizes.iter().enumerate().map(|(number, &size)| {
            if unbounded >> (number % 8) & 1 == 1 { Dimension::Unbounded } else { Dimension::Static(size) }
        });
        let dimensions = dimensions.collect::<Vec<_>>();
        let layout = Layout::new(shape.layout().minor_to_major()).unwrap().with_tiles(shape.layout().tiles()).unwrap();
        let Ok(table) = StaticStrideTable::from_dimensions(&dimensions, &layout) else { return Ok(()) };
        let shape = ArrayShape::new(shape.element_type(), &sizes.iter().map(|&size| size.into()).collect::<Vec<_>>(), layout);
        let known = shape.unwrap().stride_table().unwrap();
        let mut values = [0; StaticStrideTable::MAX_INTERMEDIATES];
        for index in known.as_ref().iter().filter_map(Slot::element) {
            let for_positions = table.for_positions();
            let [position, short] = [&table, &for_positions]
                .map(|table| table.with_extents(&sizes).scaled_linear_index_with(&index, &sizes, &mut values));
            prop_assert_eq!(position, short);
            prop_assert_eq!(position, known.as_ref().linear_index(&index), "{:?} of {:?}", index, dimensions);
        }
    }
}
