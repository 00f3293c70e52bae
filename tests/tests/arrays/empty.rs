//! Arrays without elements: every kind of them, and every way to iterate over them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use xla_shape::element::S32;
use xla_shape::iter::NestedArray;
use xla_shape::types::WholeArray;
use xla_shape::{Buffer, DynBuffer, Slot, shape};

fn no_element<T>(_: T) {
    panic!("there is no element");
}

/// Iterates in every way over an array without elements, whose tiles are `A`.
fn walk_tiles<S: WholeArray<Element = S32, Index = [usize; 2]>, A: NestedArray<i32>>(sizes: [usize; 2]) {
    walk::<S>(sizes);
    let mut x = Buffer::<S>::zeroed_with(S::with_sizes(sizes).unwrap()).unwrap();
    assert!(x.tiles::<A>().all(|tile| tile.inside.contains(&0)));
    assert!(x.tiles_mut::<A>().all(|tile| tile.inside.contains(&0)));
    assert_eq!(x.as_tiles::<A>().len(), x.tile_grid().iter().product::<usize>());
    assert_eq!(x.as_mut_tiles::<A>().len(), x.tile_grid().iter().product::<usize>());
}

/// Iterates in every way over an array without elements.
fn walk<S: WholeArray<Element = S32, Index = [usize; 2]>>(sizes: [usize; 2]) {
    let mut x = Buffer::<S>::zeroed_with(S::with_sizes(sizes).unwrap()).unwrap();
    let shape = x.shape().array_shape();
    let positions = shape.stride_table().unwrap().as_ref().positions();
    let memory = x.as_slice().len();
    assert!(positions <= memory as u64);

    let mut seen = 0;
    x.for_each_position(|slot, _| {
        assert_eq!(slot, Slot::Padding);
        seen += 1;
    });
    assert_eq!(seen, positions);
    x.for_each_indexed(|index, _| no_element(index));
    x.for_each(no_element);
    x.for_each_segment(|segment| assert!(segment.is_empty()));
    x.for_each_segment_mut(|segment| assert!(segment.is_empty()));
    assert_eq!(x.fold_lanes([7; 3], |_, _| panic!("there is no element")), [7; 3]);
    x.apply(|_| panic!("there is no element"));
    x.fill(3);
    assert!(x.as_slice().iter().all(|value| *value == 0));

    x.for_each_band::<0>(|band| band.for_each_block(|_, block| assert!(block.is_empty())));
    x.for_each_band::<1>(|band| band.for_each_block(|_, block| assert!(block.is_empty())));
    x.for_each_band_mut::<0>(|mut band| band.for_each_block_mut(|_, block| assert!(block.is_empty())));
    x.for_each_band_mut::<1>(|mut band| band.for_each_block_mut(|_, block| assert!(block.is_empty())));
    for index in [[0, 0], [1, 0], [0, 1], [2, 2], [usize::MAX; 2]] {
        x.line::<0>(index).into_iter().for_each(|line| line.for_each(no_element));
        x.line::<1>(index).into_iter().for_each(|line| line.for_each(no_element));
        x.line_mut::<0>(index).into_iter().for_each(|mut line| line.apply(|_| panic!("there is no element")));
        x.line_mut::<1>(index).into_iter().for_each(|mut line| line.apply(|_| panic!("there is no element")));
        assert!(x.get(index).is_err() && x.set(index, 1).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| x[index])).is_err());
    }
    let y = Buffer::<S>::zeroed_with(x.shape()).unwrap();
    x.apply_with(&y, |_, _| panic!("there is no element"));
    x.apply_with_2(&y, &y, |_, _, _| panic!("there is no element"));
    x.indexed_iter().for_each(no_element);
    assert!(x.to_row_major().is_empty());
    assert_eq!(x.shape().indices().len(), 0);
    x.fill_with(|_| panic!("there is no element"));
    x.fill_padding(5);
    assert_eq!(x.as_slice(), vec![5; memory]);

    // As a run-time value, the array has the bound as its size. So skip it if it then has elements.
    if shape.elements() == Some(0) {
        walk_dynamic(x.into_dyn());
    }
}

fn walk_dynamic(mut x: DynBuffer) {
    let mut seen = 0;
    x.for_each_position::<S32>(|slot, _| {
        assert_eq!(slot, Slot::Padding);
        seen += 1;
    })
    .unwrap();
    assert_eq!(seen, x.stride_table().as_ref().positions());
    assert_eq!(x.stride_table().as_ref().iter().count() as u64, seen);
    x.for_each_indexed::<S32>(|index, _| panic!("there is no element {index:?}")).unwrap();
    x.stride_table().as_ref().for_each_segment(|segment| panic!("there is no element in {segment:?}"));
    assert_eq!(x.to_row_major::<S32>(), Ok(vec![]));
    x.fill_with::<S32>(|index| panic!("there is no element {index:?}")).unwrap();
    for index in [[0, 0], [1, 0], [0, 1], [2, 2], [usize::MAX; 2]] {
        assert!(x.get::<S32>(&index).is_err());
        assert!(x.set::<S32>(&index, 1).is_err());
        assert_eq!(x.accessor::<S32>().unwrap().get(&index).ok(), None);
    }
}

#[test]
fn static_sizes() {
    walk::<shape!(s32[0,0]{0,1})>([0, 0]);
    walk::<shape!(s32[0,9223372036854775807])>([0, i64::MAX as usize]);
    walk_tiles::<shape!(s32[3,0]{0,1:T(2,2)(2,1)}), [i32; 4]>([3, 0]);
    #[cfg(feature = "laws")]
    {
        walk::<shape!(s32[0,3])>([0, 3]);
        walk::<shape!(s32[3,0])>([3, 0]);
        walk::<shape!(s32[3,0]{1,0:L(4)})>([3, 0]);
        walk_tiles::<shape!(s32[0,3]{1,0:T(2,2)}), [i32; 4]>([0, 3]);
        walk::<shape!(s32[3,0]{1,0:M(8)})>([3, 0]);
    }
}

#[test]
fn unbounded_dimensions_beside_a_size_of_0() {
    for size in [0, 1, 3, 1 << 40] {
        walk::<shape!(s32[?,0])>([size, 0]);
        walk_tiles::<shape!(s32[0,?]{1,0:T(2,2)(2,1)}), [i32; 4]>([0, size]);
        walk::<shape!(s32[?,<=0]{1,0:L(4)})>([size, 0]);
        #[cfg(feature = "laws")]
        {
            walk_tiles::<shape!(s32[?,0]{0,1:T(2,2)}), [i32; 4]>([size, 0]);
            walk::<shape!(s32[0,?])>([0, size]);
            walk::<shape!(s32[?,<=0])>([size, 0]);
        }
    }
}

#[test]
fn unbounded_dimensions_of_size_0() {
    walk::<shape!(s32[?,3]{0,1})>([0, 3]);
    walk_tiles::<shape!(s32[3,?]{0,1:T(2,2)(2,1)}), [i32; 4]>([3, 0]);
    for size in [0, 1, 3, 1 << 40] {
        walk_tiles::<shape!(s32[?,?]{0,1:T(2,2)}), [i32; 4]>([size, 0]);
        #[cfg(feature = "laws")]
        {
            walk::<shape!(s32[?,?])>([0, size]);
            walk_tiles::<shape!(s32[?,?]{1,0:T(2,2)(2,1)}), [i32; 4]>([0, size]);
        }
    }
    walk_tiles::<shape!(s32[?,<=4]{1,0:T(2,2)}), [i32; 4]>([0, 0]);
    #[cfg(feature = "laws")]
    {
        walk::<shape!(s32[?,3])>([0, 3]);
        walk_tiles::<shape!(s32[?,3]{1,0:T(2,2)}), [i32; 4]>([0, 3]);
        walk_tiles::<shape!(s32[3,?]{1,0:T(2,2)}), [i32; 4]>([3, 0]);
        walk::<shape!(s32[?,<=4])>([0, 2]);
    }
}

/// The memory of these arrays has room for as many elements as the bound allows.
#[test]
fn bounded_dimensions_of_size_0() {
    walk::<shape!(s32[<=0,3])>([0, 3]);
    walk_tiles::<shape!(s32[3,<=4]{0,1:T(2,2)}), [i32; 4]>([3, 0]);
    walk_tiles::<shape!(s32[<=4,?]{1,0:T(2,2)}), [i32; 4]>([0, 3]);
    #[cfg(feature = "laws")]
    {
        walk::<shape!(s32[<=4,3])>([0, 3]);
        walk_tiles::<shape!(s32[<=4,3]{1,0:T(2,2)}), [i32; 4]>([0, 3]);
        walk_tiles::<shape!(s32[<=4,<=4]{1,0:T(2,2)(2,1)}), [i32; 4]>([3, 0]);
        walk::<shape!(s32[?,<=4])>([3, 0]);
    }
}

#[test]
fn tiles_with_combined_dimensions() {
    walk::<shape!(s32[<=4,3]{1,0:T(*,2)})>([0, 3]);
    #[cfg(feature = "laws")]
    {
        walk::<shape!(s32[0,3]{1,0:T(*,2)})>([0, 3]);
        walk::<shape!(s32[3,0]{1,0:T(*,2)})>([3, 0]);
    }
}
