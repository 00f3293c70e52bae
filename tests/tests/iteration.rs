//! Walking along memory meets every element once, padding only where it is asked for, and gives what indices give.

use proptest::prelude::*;
use std::collections::BTreeSet;
use xla_shape::types::{ArrayType, StaticShape};
use xla_shape::{Buffer, shape};
use xla_shape_core::stride_table::StaticStrideTable;
use xla_shape_core::{ArrayShape, Dimension, TileBlock};
use xla_shape_tests::strategy;

/// The positions of elements, by the table's inverse.
fn element_positions(array: &ArrayShape, sizes: &[usize]) -> Vec<usize> {
    let inside = |index: &Vec<usize>| index.iter().zip(sizes).all(|(index, size)| index < size);
    let table = array.stride_table().unwrap();
    let elements = table.iter().enumerate();
    elements.filter(|(_, slot)| slot.clone().element().as_ref().is_some_and(inside)).map(|(at, _)| at).collect()
}

proptest! {
    #[test]
    fn segments_hold_every_element_once_and_no_padding(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        let mut positions = Vec::new();
        table.for_each_segment(|segment| positions.extend(segment));
        prop_assert_eq!(positions, element_positions(&array, table.extents()));
    }

    #[test]
    fn segments_of_smaller_sizes_leave_out_what_is_behind_them(
        (array, sizes) in strategy::small_array_shape().prop_flat_map(|array| {
            let extents = array.dimensions().iter().map(|dimension| 0..=dimension.extent().unwrap()).collect::<Vec<_>>();
            (Just(array), extents)
        })
    ) {
        let extents = array.stride_table().unwrap().extents().to_vec();
        let Ok(table) = StaticStrideTable::new(&extents, array.layout()) else { return Ok(()) };
        let mut positions = Vec::new();
        table.as_ref(&sizes).for_each_segment(|segment| positions.extend(segment));
        prop_assert_eq!(positions, element_positions(&array, &sizes));
    }

    #[test]
    fn a_table_with_sizes_put_in_is_that_of_the_sizes(
        (array, unbounded) in strategy::small_array_shape().prop_flat_map(|array| {
            let n = array.num_dimensions();
            (Just(array), proptest::collection::vec(any::<bool>(), n))
        })
    ) {
        let sizes = array.dimensions().iter().map(|dimension| dimension.extent().unwrap()).collect::<Vec<_>>();
        prop_assume!(!sizes.contains(&0));
        let dimensions = sizes.iter().zip(unbounded);
        let dimensions = dimensions
            .map(|(&size, unbounded)| if unbounded { Dimension::Unbounded } else { Dimension::Static(size) })
            .collect::<Vec<_>>();
        let Ok(table) = StaticStrideTable::of(&dimensions, array.layout()) else { return Ok(()) };
        let table = table.with_sizes(&sizes);
        prop_assert_eq!(table.positions(), array.stride_table().unwrap().positions());
        let mut positions = Vec::new();
        table.as_ref(&sizes).for_each_segment(|segment| positions.extend(segment));
        prop_assert_eq!(positions, element_positions(&array, &sizes));
    }

    #[test]
    fn a_tile_block_is_as_large_as_a_tile(array in strategy::small_array_shape()) {
        let Ok(block) = TileBlock::of(array.layout()) else { return Ok(()) };
        prop_assert_eq!(block.positions(), block.sizes().iter().product::<usize>());
        let grid = array.dimensions().iter().enumerate();
        let grid = grid.map(|(i, dimension)| dimension.extent().unwrap().div_ceil(array.layout().tile_size(i)));
        prop_assert_eq!(grid.product::<usize>() * block.positions(), array.stride_table().unwrap().positions());
    }
}

/// Numbers every element by its place in row-major order, from 1; padding is 0.
fn numbered<S: StaticShape<Element = xla_shape::element::S32>>() -> Buffer<S> {
    let mut next = 0;
    Buffer::from_fn(|_| {
        next += 1;
        next
    })
}

fn check_segments<S: StaticShape<Element = xla_shape::element::S32>>() {
    let mut x = numbered::<S>();
    let mut seen = BTreeSet::new();
    x.for_each(|value| assert!(value > 0 && seen.insert(value), "{value} in {}", S::TEXT));
    assert_eq!(seen.len(), S::ELEMENTS);
    let total = seen.iter().sum::<i32>();
    assert_eq!(x.fold_lanes([0; 7], |sum, value| sum + value).iter().sum::<i32>(), total);
    x.fill_padding(-1);
    let padding = x.as_slice().iter().filter(|&&value| value == -1).count();
    assert_eq!((padding, S::BYTES / 4), (x.as_slice().len() - S::ELEMENTS, x.as_slice().len()));
    assert_eq!(x.fold_lanes([0; 4], |sum, value| sum + value).iter().sum::<i32>(), total);
    x.apply(|value| value + 1);
    assert_eq!(x.as_slice().iter().filter(|&&value| value == -1).count(), padding);
    x.fill(-2);
    assert_eq!(x.as_slice().iter().filter(|&&value| value == -1).count(), padding);
    assert!(x.to_row_major().iter().all(|&value| value == -2));
}

#[test]
fn segments_of_typed_buffers() {
    check_segments::<shape!(s32[])>();
    check_segments::<shape!(s32[0,3])>();
    check_segments::<shape!(s32[7,9]{0,1})>();
    check_segments::<shape!(s32[16,256]{1,0:T(8,128)})>();
    check_segments::<shape!(s32[13,200]{1,0:T(8,128)})>();
    check_segments::<shape!(s32[13,200]{1,0:T(8,128)(2,1)})>();
    check_segments::<shape!(s32[3,13,20]{1,2,0:T(8,4)(4,1)L(64)})>();
    check_segments::<shape!(s32[3,5,20]{2,1,0:T(*,4,8)})>();
    check_segments::<shape!(s32[5]{0:T(2,4)})>();
    check_segments::<shape!(s32[9,9]{1,0:T(8,8)(3,1)})>();
}

#[test]
fn what_lies_behind_a_bounded_size_is_padding() {
    type Rows = shape!(s32[<=20,100]{1,0:T(8,128)});
    let mut x = Buffer::zeroed_with(Rows::with_sizes([5, 100]).unwrap()).unwrap();
    x.fill(1);
    assert_eq!(x.as_slice().iter().sum::<i32>(), 500);
    x.fill_padding(2);
    assert_eq!(x.as_slice().iter().sum::<i32>(), 500 + 2 * (24 * 128 - 500));
    let tiles = x.tiles::<[[i32; 128]; 8]>().map(|tile| (tile.origin, tile.inside)).collect::<Vec<_>>();
    assert_eq!(tiles, [([0, 0], [5, 100]), ([8, 0], [0, 100]), ([16, 0], [0, 100])]);
}

#[test]
fn unbounded_sizes_are_put_in() {
    type Rows = shape!(s32[?,100]{1,0:T(8,128)});
    let mut x = Buffer::zeroed_with(Rows::with_sizes([13, 100]).unwrap()).unwrap();
    x.fill(1);
    assert_eq!((x.as_slice().len(), x.as_slice().iter().sum::<i32>()), (16 * 128, 1300));
    assert_eq!((x.tile_grid(), x.as_tiles::<[[i32; 128]; 8]>().len()), ([2, 1], 2));
    type Plain = shape!(s32[3,?]);
    let mut x = Buffer::zeroed_with(Plain::with_sizes([3, 7]).unwrap()).unwrap();
    let mut lengths = Vec::new();
    x.for_each_segment_mut(|segment| lengths.push(segment.len()));
    assert_eq!(lengths, [21]);
}

/// Every tile's elements, by their origin and the array's indices.
fn check_tiles<S, A>(tile_sizes: &[usize], flat: fn(&A) -> &[i32])
where
    S: StaticShape<Element = xla_shape::element::S32>,
    A: xla_shape::iter::NestedArray<i32>,
{
    let mut x = numbered::<S>();
    let grid = x.tile_grid();
    assert_eq!(x.tiles::<A>().len(), grid.as_ref().iter().product::<usize>());
    let mut seen = BTreeSet::new();
    for tile in x.tiles::<A>() {
        let values = flat(tile.elements).iter().filter(|&&value| value != 0).copied().collect::<BTreeSet<_>>();
        let inside = tile.inside.as_ref().iter().product::<usize>();
        assert_eq!(values.len(), inside, "{} {:?}", S::TEXT, tile.origin);
        // The index of every element inside is in this tile.
        for index in S::default().indices() {
            let offsets = index.as_ref().iter().zip(tile.origin.as_ref()).map(|(i, origin)| i.wrapping_sub(*origin));
            let in_tile = offsets.clone().zip(tile_sizes).all(|(offset, size)| offset < *size);
            let in_inside = offsets.zip(tile.inside.as_ref()).all(|(offset, size)| offset < *size);
            assert_eq!(in_tile, in_inside);
            assert_eq!(in_tile, values.contains(&x[index]));
        }
        seen.extend(values);
    }
    assert_eq!(seen.len(), S::ELEMENTS);
    let origins = x.tiles::<A>().map(|tile| tile.origin).collect::<Vec<_>>();
    assert_eq!(x.tiles_mut::<A>().map(|tile| tile.origin).collect::<Vec<_>>(), origins);
    assert_eq!(x.as_mut_tiles::<A>().len(), origins.len());
}

#[test]
fn tiles_cover_the_array() {
    check_tiles::<shape!(s32[13,20]{1,0:T(8,16)}), [[i32; 16]; 8]>(&[8, 16], |tile| tile.as_flattened());
    check_tiles::<shape!(s32[13,20]{0,1:T(8,16)}), [[i32; 16]; 8]>(&[16, 8], |tile| tile.as_flattened());
    check_tiles::<shape!(s32[13,20]{1,0:T(8,16)}), [i32; 128]>(&[8, 16], |tile| tile);
    check_tiles::<shape!(s32[13,20]{1,0:T(8,16)(2,1)}), [[[i32; 2]; 16]; 4]>(&[8, 16], |tile| {
        tile.as_flattened().as_flattened()
    });
    check_tiles::<shape!(s32[13,20]{1,0:T(8,16)(2,1)}), [[[[i32; 1]; 2]; 16]; 4]>(&[8, 16], |tile| {
        tile.as_flattened().as_flattened().as_flattened()
    });
    check_tiles::<shape!(s32[3,5,20]{0,2,1:T(4,2)}), [[i32; 2]; 4]>(&[2, 1, 4], |tile| tile.as_flattened());
    check_tiles::<shape!(s32[5]{0:T(2,4)}), [[i32; 4]; 2]>(&[4], |tile| tile.as_flattened());
    check_tiles::<shape!(s32[300]{0:T(64)(16)(2,1)}), [[[i32; 2]; 16]; 2]>(&[64], |tile| {
        tile.as_flattened().as_flattened()
    });
    check_tiles::<shape!(s32[9,9]{1,0:T(8,4)(3,1)L(1000)}), [[[i32; 3]; 4]; 3]>(&[8, 4], |tile| {
        tile.as_flattened().as_flattened()
    });
}
