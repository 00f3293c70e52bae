//! Iteration in memory order visits every element once, padding only on request, and gives the same values as indices.

use crate::numbers::{assert_padding_is_zero, numbered, times, value, values};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::thread;
use xla_shape::element::{F32, S4, S32};
use xla_shape::iter::{Band, NestedArray};
use xla_shape::relayout::{RelayoutError, Side};
use xla_shape::types::StaticArray;
use xla_shape::{AccessError, Buffer, BufferError, DynBuffer, ElementType, Layout, Slot, TileDimension, shape};
use xla_shape_core::map::{OffsetTables, StaticStrideTable};
use xla_shape_core::{ArrayShape, Dimension, TileBlock};
use xla_shape_tests::{local, strategy};

/// The positions of elements, computed with the inverse of the table.
fn element_positions(array: &ArrayShape, sizes: &[u64]) -> Vec<u64> {
    let inside = |index: &Vec<u64>| index.iter().zip(sizes).all(|(index, size)| index < size);
    let table = array.stride_table().unwrap();
    let elements = (0..).zip(table.as_ref().iter());
    elements.filter(|(_, slot)| slot.clone().element().as_ref().is_some_and(inside)).map(|(at, _)| at).collect()
}

proptest! {
    #[test]
    fn segments_hold_every_element_once_and_no_padding(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        let mut positions = Vec::new();
        table.as_ref().for_each_segment(|segment| positions.extend(segment));
        prop_assert_eq!(positions, element_positions(&array, table.as_ref().extents()));
    }

    #[test]
    fn segments_of_smaller_sizes_leave_out_what_is_behind_them(
        (array, sizes) in strategy::small_array_shape().prop_flat_map(|array| {
            let extents = array.dimensions().iter().map(|dimension| 0..=dimension.extent().unwrap()).collect::<Vec<_>>();
            (Just(array), extents)
        })
    ) {
        let extents = array.stride_table().unwrap().as_ref().extents().to_vec();
        let Ok(table) = StaticStrideTable::new(&extents, array.layout()) else { return Ok(()) };
        let mut positions = Vec::new();
        table.with_extents(&sizes).for_each_segment(|segment| positions.extend(segment));
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

        let dimensions = sizes.iter().zip(unbounded);
        let dimensions = dimensions
            .map(|(&size, unbounded)| if unbounded { Dimension::Unbounded } else { Dimension::Static(size) })
            .collect::<Vec<_>>();
        let Ok(table) = StaticStrideTable::from_dimensions(&dimensions, array.layout()) else { return Ok(()) };
        let table = table.with_sizes(&sizes);
        prop_assert_eq!(table.positions(), array.stride_table().unwrap().as_ref().positions());
        let mut positions = Vec::new();
        table.with_extents(&sizes).for_each_segment(|segment| positions.extend(segment));
        prop_assert_eq!(positions, element_positions(&array, &sizes));
    }

    #[test]
    fn a_tile_block_is_as_large_as_a_tile(array in strategy::small_array_shape()) {
        let Ok(block) = TileBlock::new(array.layout()) else { return Ok(()) };
        prop_assert_eq!(block.positions(), block.sizes().iter().product::<u64>());
        let grid = array.dimensions().iter().enumerate();
        let grid = grid.map(|(i, dimension)| dimension.extent().unwrap().div_ceil(array.layout().tile_size(i)));
        prop_assert_eq!(grid.product::<u64>() * block.positions(), array.stride_table().unwrap().as_ref().positions());
    }
}

fn check_segments<S: StaticArray<Element = S32>>() {
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
    check_segments::<shape!(s32[7,9]{0,1})>();
    check_segments::<shape!(s32[13,200]{1,0:T(8,128)})>();
    check_segments::<shape!(s32[3,13,20]{1,2,0:T(8,4)(4,1)L(64)})>();
    check_segments::<shape!(s32[3,5,20]{2,1,0:T(*,4,8)})>();
    #[cfg(feature = "laws")]
    {
        check_segments::<shape!(s32[0,3])>();
        check_segments::<shape!(s32[16,256]{1,0:T(8,128)})>();
        check_segments::<shape!(s32[13,200]{1,0:T(8,128)(2,1)})>();
        check_segments::<shape!(s32[5]{0:T(2,4)})>();
        check_segments::<shape!(s32[9,9]{1,0:T(8,8)(3,1)})>();
    }
}

#[test]
fn what_lies_behind_a_bounded_size_is_padding() {
    type Rows = shape!(s32[<=20,100]{1,0:T(8,128)});
    let mut x = Buffer::<Rows>::zeroed_with(Rows::with_sizes([5, 100]).unwrap()).unwrap();
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
    let mut x = Buffer::<Rows>::zeroed_with(Rows::with_sizes([13, 100]).unwrap()).unwrap();
    x.fill(1);
    assert_eq!((x.as_slice().len(), x.as_slice().iter().sum::<i32>()), (16 * 128, 1300));
    assert_eq!((x.tile_grid(), x.as_tiles::<[[i32; 128]; 8]>().len()), ([2, 1], 2));
    type Plain = shape!(s32[3,?]);
    let mut x = Buffer::<Plain>::zeroed_with(Plain::with_sizes([3, 7]).unwrap()).unwrap();
    let mut lengths = Vec::new();
    x.for_each_segment_mut(|segment| lengths.push(segment.len()));
    assert_eq!(lengths, [21]);
}

/// Compares the elements of every tile with the array's elements at the same indices.
fn check_tiles<S, A>(tile_sizes: &[usize], flat: fn(&A) -> &[i32])
where
    S: StaticArray<Element = S32>,
    A: NestedArray<i32>,
{
    let mut x = numbered::<S>();
    let grid = x.tile_grid();
    assert_eq!(x.tiles::<A>().len(), grid.as_ref().iter().product::<usize>());
    let mut seen = BTreeSet::new();
    for tile in x.tiles::<A>() {
        let values = flat(tile.elements).iter().filter(|&&value| value != 0).copied().collect::<BTreeSet<_>>();
        let inside = tile.inside.as_ref().iter().product::<usize>();
        assert_eq!(values.len(), inside, "{} {:?}", S::TEXT, tile.origin);
        // The tile has exactly the elements whose index is in it.
        for index in S::default().indices() {
            let offsets = index.as_ref().iter().zip(tile.origin.as_ref()).map(|(i, origin)| i.wrapping_sub(*origin));
            let in_tile = offsets.clone().zip(tile_sizes).all(|(offset, size)| offset < *size);
            let in_inside = offsets.zip(tile.inside.as_ref()).all(|(offset, size)| offset < *size);
            assert_eq!(in_tile, in_inside);
            assert_eq!(in_tile, values.contains(&value(&x.view(), index)));
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
    check_tiles::<shape!(s32[13,20]{0,1:T(8,16)}), [[i32; 16]; 8]>(&[16, 8], |tile| tile.as_flattened());
    check_tiles::<shape!(s32[13,20]{1,0:T(8,16)(2,1)}), [[[i32; 2]; 16]; 4]>(&[8, 16], |tile| {
        tile.as_flattened().as_flattened()
    });
    check_tiles::<shape!(s32[3,5,20]{0,2,1:T(4,2)}), [[i32; 2]; 4]>(&[2, 1, 4], |tile| tile.as_flattened());
    check_tiles::<shape!(s32[9,9]{1,0:T(8,4)(3,1)L(1000)}), [[[i32; 3]; 4]; 3]>(&[8, 4], |tile| {
        tile.as_flattened().as_flattened()
    });
    #[cfg(feature = "laws")]
    {
        check_tiles::<shape!(s32[13,20]{1,0:T(8,16)}), [[i32; 16]; 8]>(&[8, 16], |tile| tile.as_flattened());
        check_tiles::<shape!(s32[13,20]{1,0:T(8,16)}), [i32; 128]>(&[8, 16], |tile| tile);
        check_tiles::<shape!(s32[13,20]{1,0:T(8,16)(2,1)}), [[[[i32; 1]; 2]; 16]; 4]>(&[8, 16], |tile| {
            tile.as_flattened().as_flattened().as_flattened()
        });
        check_tiles::<shape!(s32[5]{0:T(2,4)}), [[i32; 4]; 2]>(&[4], |tile| tile.as_flattened());
        check_tiles::<shape!(s32[300]{0:T(64)(16)(2,1)}), [[[i32; 2]; 16]; 2]>(&[64], |tile| {
            tile.as_flattened().as_flattened()
        });
    }
}

proptest! {
    #[test]
    fn a_walk_meets_what_the_inverse_says(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        let mut slots = Vec::new();
        table.as_ref().for_each_slot(|position, slot| slots.push((position, slot.map(<[u64]>::to_vec))));
        let expected = (0..).zip(table.as_ref().iter());
        prop_assert_eq!(slots, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_run_is_where_its_stride_says(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        for dimension in 0..array.num_dimensions() {
            let run = table.as_ref().run(dimension);
            let stride = run.stride.unwrap();
            for index in array.stride_table().unwrap().as_ref().iter().filter_map(Slot::element) {
                let mut start = index.clone();
                start[dimension] -= start[dimension] % run.len;
                let expected = table.as_ref().linear_index(&start) + (index[dimension] - start[dimension]) * stride;
                prop_assert_eq!(table.as_ref().linear_index(&index), expected);
            }
        }
    }

    #[test]
    fn bands_hold_every_element_once(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        let sizes = table.as_ref().extents();
        for dimension in 0..array.num_dimensions() {
            let bands = table.as_ref().bands(dimension);
            let (mut seen, mut blocks) = (BTreeSet::new(), BTreeSet::new());
            for index in table.as_ref().iter().filter_map(Slot::element) {
                // The first element of the band, and the first element of the block, to which this element belongs.
                let mut origin = index.clone();
                for (entry, step) in origin.iter_mut().zip(bands.steps) {
                    *entry -= *entry % step;
                }
                origin[dimension] = 0;
                let mut block = origin.clone();
                block[dimension] = index[dimension] - index[dimension] % bands.len;
                let len = bands.len.min(sizes[dimension] - block[dimension]) * bands.lanes;
                let begin = table.as_ref().linear_index(&block);
                let position = table.as_ref().linear_index(&index);
                prop_assert!((begin..begin + len).contains(&position), "{array} {dimension} {index:?} {bands:?}");
                blocks.insert((begin, begin + len));
                prop_assert_eq!((position - begin) / bands.lanes, index[dimension] - block[dimension]);
                // An element is in the same lane as the first element of its line.
                let mut line = index.clone();
                line[dimension] = 0;
                prop_assert_eq!(table.as_ref().linear_index(&line) - table.as_ref().linear_index(&origin), (position - begin) % bands.lanes);
                prop_assert!(seen.insert(position));
            }
            // Blocks do not overlap, even in padding; so bands do not, either.
            let mut end = 0;
            for (begin, next) in blocks {
                prop_assert!(begin >= end, "{array} {dimension} {begin} {bands:?}");
                end = next;
            }
        }
    }
}

/// Compares the elements of bands and lines with those found by indices.
fn check_lines<S: StaticArray<Element = S32>, const DIM: i64>(expected_lanes: usize) {
    let dimension = if DIM < 0 { S::SIZES.len() - (-DIM) as usize } else { DIM as usize };
    let mut x = numbered::<S>();
    let y = x.clone();
    let mut lines = 0;
    x.for_each_band::<DIM>(|band| {
        assert_eq!(<Band<S, &[i32], DIM>>::LANES, expected_lanes, "{}", S::TEXT);
        for lane in 0..expected_lanes {
            let Some(mut index) = band.line(lane) else { continue };
            lines += 1;
            let mut expected = Vec::new();
            for i in 0..band.line_len() {
                index.as_mut()[dimension] = i;
                expected.push(value(&x.view(), index));
            }
            let mut found = Vec::<i32>::new();
            band.for_each_block(|start, block| {
                assert_eq!(start, found.len());
                found.extend(block.iter().skip(lane).step_by(expected_lanes));
            });
            assert_eq!(found, expected, "{}", S::TEXT);
            let mut found = Vec::<i32>::new();
            let line = x.line::<DIM>(index).unwrap();
            line.for_each_run(|start, run| {
                assert_eq!((start, run.is_empty()), (found.len(), false));
                assert_eq!(run.as_slice().is_some(), run.stride() == 1);
                assert_eq!(run.iter().len(), run.len());
                found.extend(run.iter());
            });
            assert!((0..line.len()).map(|i| line[i]).eq(expected.iter().copied()), "{}", S::TEXT);
            assert_eq!((line.len(), line.is_empty()), (expected.len(), false));
            assert_eq!(found, expected, "{}", S::TEXT);
        }
    });
    let lines_of_array = if S::ELEMENTS == 0 { 0 } else { S::ELEMENTS / S::SIZES[dimension] };
    assert_eq!(lines, lines_of_array, "{}", S::TEXT);
    // Multiply every line by its sum: by bands, and by lines.
    let mut z = y.clone();
    x.for_each_band_mut::<DIM>(|mut band| {
        let sums = band.fold_lanes([0_i32; 48], i32::wrapping_add, i32::wrapping_add);
        band.apply_lanes(sums, |value, sum| value.wrapping_mul(sum));
    });
    for index in S::default().indices().filter(|index| index.as_ref()[dimension] == 0) {
        let mut sum = 0_i32;
        z.line::<DIM>(index).unwrap().for_each(|value| sum = sum.wrapping_add(value));
        z.line_mut::<DIM>(index).unwrap().apply(|value| value.wrapping_mul(sum));
    }
    assert_eq!(x.to_row_major(), z.to_row_major(), "{}", S::TEXT);
    // All bands at once, each in a thread of its own.
    let mut w = y.clone();
    thread::scope(|threads| {
        for mut band in w.bands_mut::<DIM>() {
            threads.spawn(move || {
                let sums = band.fold(0, i32::wrapping_add, i32::wrapping_add);
                band.apply(&sums, |value, sum| value.wrapping_mul(sum));
            });
        }
    });
    assert_eq!(x.to_row_major(), w.to_row_major(), "{}", S::TEXT);
    let mut origins = Vec::new();
    y.for_each_band::<DIM>(|band| origins.push(band.origin()));
    assert!(y.bands::<DIM>().map(|band| band.origin()).eq(origins), "{}", S::TEXT);
    // Only the elements have changed.
    assert_padding_is_zero(&z);
}

#[test]
fn bands_and_lines_hold_what_indices_give() {
    check_lines::<shape!(s32[7,9]), -1>(1);
    check_lines::<shape!(s32[12,9]{0,1}), -1>(12);
    check_lines::<shape!(s32[13,40]{1,0:T(8,16)}), 0>(16);
    check_lines::<shape!(s32[13,40]{1,0:T(8,16)(2,1)}), 1>(2);
    check_lines::<shape!(s32[3,13,40]{2,1,0:T(8,16)(4,1)}), -1>(4);
    check_lines::<shape!(s32[2,3,4,6]{1,3,2,0}), 3>(3);
    check_lines::<shape!(s32[3,5,20]{2,1,0:T(*,4,8)}), 1>(1);
    check_lines::<shape!(s32[100]{0:T(64)(16)(2,1)}), 0>(1);
    check_lines::<shape!(s32[4,0]), 0>(1);
    #[cfg(feature = "laws")]
    {
        check_lines::<shape!(s32[7,12]), 0>(12);
        check_lines::<shape!(s32[12,9]{0,1}), 0>(1);
        check_lines::<shape!(s32[13,200]{1,0:T(8,128)}), -1>(1);
        check_lines::<shape!(s32[13,40]{1,0:T(8,16)(2,1)}), 0>(1);
        check_lines::<shape!(s32[2,3,4,6]{3,2,1,0}), 1>(24);
        check_lines::<shape!(s32[3,5,20]{2,1,0:T(*,4,8)}), 2>(1);
        check_lines::<shape!(s32[5]{0:T(2,4)}), 0>(1);
        check_lines::<shape!(s32[1,5]), 0>(1);
    }
}

#[test]
fn bands_at_once_with_lanes_beside_each_other() {
    check_lines::<shape!(s32[5,6]{1,0:T(4,4)(2,1)}), -1>(2);
    check_lines::<shape!(s32[5,6]{0,1:T(2,4)}), -1>(4);
}

/// Compares iteration over operands of all these layouts together with access by index.
fn check_zip<S, T, U>()
where
    S: StaticArray<Element = S32>,
    T: StaticArray<Element = S32, Dimensions = S::Dimensions, Index = S::Index>,
    U: StaticArray<Element = S32, Dimensions = S::Dimensions, Index = S::Index>,
{
    let (mut sum, y, z) = (numbered::<S>(), numbered::<T>(), numbered::<U>());
    let mut all = sum.clone();
    let numbers = values(&sum.view());
    sum.apply_with(&y, |x, y| 3 * x + y);
    all.apply_with_2(&y, &z, |x, y, z| 3 * x + 5 * y + z);
    assert_eq!(values(&sum.view()), times(4, &numbers), "{} {}", S::TEXT, T::TEXT);
    assert_eq!(values(&all.view()), times(9, &numbers), "{} {} {}", S::TEXT, T::TEXT, U::TEXT);
    assert_padding_is_zero(&sum);
    assert_padding_is_zero(&all);
}

/// For each shape as the first operand, the second one is the shape itself and the one before it, and in `scripts/laws.sh` every shape. The third
/// operand is always the first shape of the list.
macro_rules! every_two {
    ($first:ty; $($shape:ty;)*) => {
        #[cfg(feature = "laws")]
        every_two!(@each $first; [$first; $($shape;)*] [$first; $($shape;)*]);
        #[cfg(not(feature = "laws"))]
        every_two!(@before $first; $first; $($shape;)*);
    };
    (@before $first:ty; $before:ty; $shape:ty; $($next:ty;)*) => {
        check_zip::<$before, $before, $first>();
        check_zip::<$shape, $before, $first>();
        every_two!(@before $first; $shape; $($next;)*);
    };
    (@before $first:ty; $last:ty;) => {
        check_zip::<$first, $last, $last>();
    };
    (@each $first:ty; [$($shape:ty;)*] $all:tt) => {
        $(every_two!(@with $shape; $all); check_zip::<$shape, $shape, $first>();)*
    };
    (@with $shape:ty; [$($other:ty;)*]) => { $(check_zip::<$shape, $other, $shape>();)* };
}

#[test]
fn operands_together_give_what_indices_give() {
    every_two! {
        shape!(s32[11,30]);
        shape!(s32[11,30]{0,1});
        shape!(s32[11,30]{1,0:T(8,16)});
        shape!(s32[11,30]{1,0:T(8,16)(2,1)});
        shape!(s32[11,30]{0,1:T(4,12)});
        shape!(s32[11,30]{1,0:T(8,8)(3,1)});
        shape!(s32[11,30]{1,0:T(*,8)L(512)});
    }
    check_zip::<shape!(s32[]), shape!(s32[]), shape!(s32[])>();
    check_zip::<shape!(s32[]{:T(4)}), shape!(s32[]), shape!(s32[])>();
    check_zip::<shape!(s32[4,0]), shape!(s32[4,0]{0,1}), shape!(s32[4,0])>();
}

/// Compares iteration over lines of all these layouts together (row `i` of `S`, `T` and `U`) with access by index.
fn check_lines_together<S, T, U>()
where
    S: StaticArray<Element = S32, Index = [usize; 2]>,
    T: StaticArray<Element = S32, Index = [usize; 2]>,
    U: StaticArray<Element = S32, Index = [usize; 2]>,
{
    let (x, y, z) = (numbered::<S>(), numbered::<T>(), numbered::<U>());
    let (mut sum, mut all, mut across, mut by_number) = (x.clone(), x.clone(), x.clone(), x.clone());
    for i in 0..x.sizes()[0] {
        let (b, c) = (y.line::<1>([i, 0]).unwrap(), z.line::<1>([i, 0]).unwrap());
        sum.line_mut::<1>([i, 0]).unwrap().apply_with(&b, |x, y| 3 * x + y);
        all.line_mut::<1>([i, 0]).unwrap().apply_with_2(&b, &c, |x, y, z| 3 * x + 5 * y + z);
        let mut line = by_number.line_mut::<1>([i, 0]).unwrap();
        (0..b.len()).for_each(|j| line[j] += b[j]);
    }
    // Iterate over a column together with a row.
    let crosses = x.sizes()[0] == y.sizes()[1];
    if crosses {
        across.line_mut::<0>([0, 2]).unwrap().apply_with(&y.line::<1>([3, 0]).unwrap(), |x, y| x - y);
    }
    let numbers = values(&x.view());
    assert_eq!(values(&sum.view()), times(4, &numbers), "{} {}", S::TEXT, T::TEXT);
    assert_eq!(values(&all.view()), times(9, &numbers), "{} {} {}", S::TEXT, T::TEXT, U::TEXT);
    assert_eq!(values(&by_number.view()), times(2, &numbers), "{} {}", S::TEXT, T::TEXT);
    for (index, found) in S::default().indices().zip(values(&across.view())) {
        let [x, y] =
            [value(&x.view(), index), if crosses && index[1] == 2 { value(&y.view(), [3, index[0]]) } else { 0 }];
        assert_eq!(found, x - y, "{} {}", S::TEXT, T::TEXT);
    }
    // Only the elements have changed.
    assert_padding_is_zero(&sum);
    assert_padding_is_zero(&across);
}

#[test]
fn lines_together_give_what_indices_give() {
    type Rows = shape!(s32[13,40]);
    type Columns = shape!(s32[13,40]{0,1});
    type Tiled = shape!(s32[13,40]{1,0:T(8,16)});
    type Packed = shape!(s32[13,40]{1,0:T(8,16)(2,1)});
    type Uneven = shape!(s32[13,40]{1,0:T(3,12)});
    check_lines_together::<Rows, Rows, Rows>();
    check_lines_together::<Tiled, Tiled, Rows>();
    check_lines_together::<Rows, Tiled, Packed>();
    check_lines_together::<Packed, Columns, Uneven>();
    check_lines_together::<Columns, Packed, Tiled>();
    check_lines_together::<Uneven, Tiled, Columns>();
    check_lines_together::<shape!(s32[13,13]{1,0:T(8,8)(2,1)}), shape!(s32[13,13]{0,1:T(4,8)}), shape!(s32[13,13])>();
}

/// Strides that are known only at run time.
#[test]
fn lines_of_sizes_at_run_time() {
    type Open = shape!(s32[?,?]);
    type Bounded = shape!(s32[<=16,<=48]{1,0:T(8,16)});
    let mut open = Buffer::<Open>::zeroed_with(Open::with_sizes([13, 40]).unwrap()).unwrap();
    open.fill_with(|[i, j]| (100 * i + j) as i32);
    let mut bounded = Buffer::<Bounded>::zeroed_with(Bounded::with_sizes([13, 40]).unwrap()).unwrap();
    bounded.fill_with(|[i, j]| (7 * i + j) as i32);
    let (before, other) = (open.clone(), bounded.clone());
    open.line_mut::<0>([0, 3]).unwrap().apply_with(&other.line::<0>([0, 5]).unwrap(), |x, y| x - 2 * y);
    bounded.line_mut::<1>([4, 0]).unwrap().apply_with_2(
        &before.line::<1>([2, 0]).unwrap(),
        &other.line::<1>([12, 0]).unwrap(),
        |x, y, z| x + y - z,
    );
    let column = open.line::<0>([0, 3]).unwrap();
    for i in 0..13 {
        assert_eq!((column[i], column.len()), (before[[i, 3]] - 2 * other[[i, 5]], 13), "{i}");
    }
    let row = bounded.line::<1>([4, 0]).unwrap();
    for j in 0..40 {
        assert_eq!((row[j], row.len()), (other[[4, j]] + before[[2, j]] - other[[12, j]], 40), "{j}");
    }
    for number in [13, 15, 16, usize::MAX] {
        assert!(std::panic::catch_unwind(|| column[number]).is_err(), "{number}");
    }
}

#[test]
fn lines_panic_exactly_for_numbers_out_of_bounds() {
    let x = numbered::<shape!(s32[3,200]{1,0:T(8,128)})>();
    assert!(x.line::<-1>([3, 0]).is_none());
    for number in [0, 127, 128, 199, 200, 255, usize::MAX] {
        let row = x.line::<-1>([2, 0]).unwrap();
        let found = std::panic::catch_unwind(|| row[number]);
        assert_eq!(found.ok(), (number < 200).then(|| x[[2, number]]), "{number}");
        let mut y = x.clone();
        let written =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| y.line_mut::<-1>([2, 0]).unwrap()[number] = 0));
        assert_eq!(written.is_ok(), number < 200, "{number}");
    }
    let mut y = Buffer::<shape!(s32[8,100])>::zeroed();
    let different = std::panic::AssertUnwindSafe(|| {
        y.line_mut::<-1>([0, 0]).unwrap().apply_with(&x.line::<-1>([0, 0]).unwrap(), |_, x| x);
    });
    assert!(std::panic::catch_unwind(different).is_err());
}

#[test]
fn sizes_at_run_time_are_compared() {
    type Rows = shape!(s32[?,100]{1,0:T(8,128)});
    type Plain = shape!(s32[?,100]);
    let rows = |n| Buffer::<Rows>::zeroed_with(Rows::with_sizes([n, 100]).unwrap()).unwrap();
    let mut x = rows(13);
    let mut y = Buffer::<Plain>::zeroed_with(Plain::with_sizes([13, 100]).unwrap()).unwrap();
    y.fill_with(|[i, j]| (100 * i + j) as i32);
    x.apply_with(&y, |_, y| y);
    assert_eq!(x.to_row_major(), y.to_row_major());
    y.for_each_band::<-1>(|row| row.for_each_block(|_, row| assert_eq!(row.len(), 100)));
    let mut sum = 0;
    y.line::<0>([0, 7]).unwrap().for_each(|value| sum += value);
    assert_eq!(sum, 7 * 13 + 100 * 78);
    assert!(std::panic::catch_unwind(move || x.apply_with(&rows(12), |_, y| y)).is_err());
}

#[test]
fn elements_with_indices_in_the_order_of_memory() {
    type X = shape!(s4[5,7]{0,1:T(2,4)E(4)});
    let x = Buffer::<X>::from_fn(|[i, j]| S4::from_bits((i + j) as u8));
    let mut last = None;
    let mut count = 0;
    x.for_each_indexed(|index, value| {
        assert_eq!(Ok(value), x.get(index));
        assert!(last < Some(X::linear_index(index)));
        last = Some(X::linear_index(index));
        count += 1;
    });
    assert_eq!(count, 35);
    let mut found = 0;
    let y = x.clone().into_dyn();
    y.for_each_indexed::<S4>(|index, value| {
        assert_eq!(Ok(value), y.get::<S4>(index));
        found += 1;
    })
    .unwrap();
    assert_eq!(found, 35);
    assert!(y.for_each_indexed::<S32>(|_, _| ()).is_err());
}

proptest! {
    #[test]
    fn offset_tables_give_every_position(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        let Some(offsets) = OffsetTables::new(table.as_ref()) else {
            prop_assert!(array.layout().tiles().iter().any(|tile| tile.dimensions().contains(&TileDimension::Combine)));
            return Ok(());
        };
        for (position, slot) in (0..).zip(table.as_ref().iter()) {
            if let Slot::Element(mut index) = slot {
                prop_assert_eq!(offsets.position(&index), Some(position));
                for dimension in 0..index.len() {
                    let before = std::mem::replace(&mut index[dimension], table.as_ref().extents()[dimension]);
                    prop_assert_eq!(offsets.position(&index), None);
                    index[dimension] = before;
                }
                index.push(0);
                prop_assert_eq!(offsets.position(&index), None);
            }
        }
    }
}

#[test]
fn accessors_read_and_write_what_buffers_do() {
    for text in ["s32[5,7]{0,1:T(2,4)L(100)M(3)}", "s32[3,5,7]{2,1,0:T(*,2,4)}", "s32[]", "s32[0]"] {
        let mut x = DynBuffer::zeroed_with(text.parse().unwrap()).unwrap();
        let sizes = x.stride_table().as_ref().extents().to_vec();
        let table = x.stride_table().clone();
        let mut elements = x.accessor_mut::<S32>().unwrap();
        assert_eq!(elements.has_offset_tables(), !text.contains('*'));
        for (position, slot) in table.as_ref().iter().enumerate() {
            let Slot::Element(index) = slot else { continue };
            assert_eq!(elements.set(&local(&index), position as i32), Ok(()));
            assert_eq!(elements.get(&local(&index)), Ok(position as i32));
        }
        assert!(elements.set(&local(&sizes), 1).is_err() || sizes.is_empty());
        x.for_each_position::<S32>(|slot, value| assert!(slot.element().is_some() || value == 0)).unwrap();
        let elements = x.accessor::<S32>().unwrap();
        x.for_each_indexed::<S32>(|index, value| assert_eq!(elements.get(index), Ok(value))).unwrap();
        assert!(x.accessor::<S4>().is_err());
    }
    let mut x = DynBuffer::zeroed_with("s4[5,7]{0,1:T(2,4)E(4)}".parse().unwrap()).unwrap();
    x.accessor_mut::<S4>().unwrap().set(&[4, 6], S4::from_bits(5)).unwrap();
    assert_eq!(x.accessor::<S4>().unwrap().get(&[4, 6]), x.get::<S4>(&[4, 6]));
}

proptest! {
    #[test]
    fn walks_at_run_time_see_every_element_and_no_padding(shape in strategy::small_array_shape()) {
        let shape = ArrayShape::new(ElementType::S32, shape.dimensions(), shape.layout().clone()).unwrap();
        let mut x = DynBuffer::filled_with::<S32>(shape.clone(), 1).unwrap();
        x.fill_padding::<S32>(-1).unwrap();
        let (elements, bytes) = (shape.elements().unwrap() as i32, shape.byte_size().unwrap() as i32);
        prop_assert_eq!(x.as_slice::<S32>().unwrap().iter().sum::<i32>(), elements - (bytes / 4 - elements));

        let mut next = 0;
        x.apply::<S32>(|_| { next += 1; next }).unwrap();
        prop_assert_eq!(next, elements);
        prop_assert!(x.as_slice::<S32>().unwrap().iter().filter(|&&x| x != -1).eq(&(1..=elements).collect::<Vec<_>>()));
        let mut seen = vec![];
        x.for_each::<S32>(|value| seen.push(value)).unwrap();
        let mut indexed = vec![];
        x.for_each_indexed::<S32>(|index, value| { assert_eq!(x.get::<S32>(index), Ok(value)); indexed.push(value) }).unwrap();
        prop_assert_eq!(&seen, &indexed);
        let sum = x.fold_lanes::<S32, i32, 4>([0; 4], |sum, x| sum + x).unwrap().iter().sum::<i32>();
        prop_assert_eq!(sum, elements * (elements + 1) / 2);
        prop_assert_eq!(x.iter::<S32>().unwrap().len() as i32, elements);
        prop_assert_eq!(x.iter::<S32>().unwrap().collect::<Vec<_>>(), x.to_row_major::<S32>().unwrap());

        // Arrays with the same values are equal in any layouts; arrays that differ in one value are not.
        let plain = x.relayout(Layout::descending(shape.num_dimensions())).unwrap();
        prop_assert_eq!(&x, &plain);
        prop_assert!(plain.is_close::<F32, _>(&x, 0.0, 0.0).is_err());
        if elements > 0 {
            x.fill::<S32>(-7).unwrap();
            prop_assert!(x != plain);
            prop_assert!(x.all_with::<S32, S32, _>(&plain, |a, b| a < b).unwrap());
        }
    }
}

#[test]
fn what_cannot_be_borrowed_is_not_walked_at_run_time() {
    let mut packed = DynBuffer::zeroed_with("s4[5,7]{0,1:T(2,4)E(4)}".parse().unwrap()).unwrap();
    assert!(matches!(packed.fill::<S32>(1), Err(BufferError::Access(AccessError::WrongElementType { .. }))));
    let shape = "f32[4]{0:M(3)}".parse().unwrap();
    let mut x = DynBuffer::zeroed_with(shape).unwrap();
    assert!(matches!(x.apply::<F32>(|x| x), Err(BufferError::NotBorrowable(_))));
    assert!(matches!(x.fill_padding::<F32>(0.0), Err(BufferError::NotBorrowable(_))));
    assert!(matches!(x.for_each::<F32>(|_| ()), Err(BufferError::NotBorrowable(_))));
    let error = x.relayout("{1,0}".parse().unwrap()).unwrap_err();
    assert!(matches!(error, RelayoutError::Invalid(_)));
    let error = x.relayout("{0:SC(0:2)}".parse().unwrap()).unwrap_err();
    assert_eq!(error, RelayoutError::Split { side: Side::Destination });
    assert_eq!(packed, packed.relayout("{1,0:E(4)}".parse().unwrap()).unwrap());
    packed.set::<S4>(&[4, 6], S4::from_bits(5)).unwrap();
    assert_ne!(packed, DynBuffer::zeroed_with("s4[5,7]{0,1:T(2,4)E(4)}".parse().unwrap()).unwrap());
}

#[test]
fn tables_that_are_too_large_are_not_made() {
    let table = |text: &str| text.parse::<ArrayShape>().unwrap().stride_table().unwrap();
    assert!(OffsetTables::new(table("u8[1048576]").as_ref()).is_some());
    assert!(OffsetTables::new(table("u8[1048577]").as_ref()).is_none());
    assert!(OffsetTables::new(table("u8[1048576,1]").as_ref()).is_none());
}

/// Folds and changes each row, in any layout, and compares the results with the definition.
fn check_folds<S: StaticArray<Element = S32, Index = [usize; 2]>>() {
    let mut x = numbered::<S>();
    let expected = |i: usize| (0..S::SIZES[1]).map(|j| value(&x.view(), [i, j])).sum::<i32>();
    let sums = (0..S::SIZES[0]).map(expected).collect::<Vec<_>>();
    let mut seen = vec![false; S::SIZES[0]];
    x.for_each_band::<-1>(|rows| {
        let values = rows.fold(0, |sum, x| sum + x, |a, b| a + b);
        for (lane, [i, _]) in rows.lines() {
            assert_eq!(values.get(lane), sums[i], "{i} of {}", S::TEXT);
            assert!(!std::mem::replace(&mut seen[i], true));
        }
    });
    assert!(seen.into_iter().all(|seen| seen));
    let before = x.to_row_major();
    x.for_each_band_mut::<-1>(|mut rows| {
        let values = rows.fold(0, |sum, x| sum + x, |a, b| a + b);
        rows.apply(&values.map(|sum| 2 * sum), |x, sum| x - sum);
    });
    let rows = before.chunks(S::SIZES[1]).zip(&sums);
    let after = rows.flat_map(|(row, sum)| row.iter().map(move |x| x - 2 * sum)).collect::<Vec<_>>();
    assert_eq!(x.to_row_major(), after, "{}", S::TEXT);
    let mut in_order = Vec::new();
    x.lines::<-1>().for_each(|row| row.for_each(|x| in_order.push(x)));
    assert_eq!(in_order, after);
}

#[test]
fn rows_are_folded_in_any_layout() {
    check_folds::<shape!(s32[5,7]{0,1})>();
    check_folds::<shape!(s32[21,200]{1,0:T(8,128)(2,1)})>();
    check_folds::<shape!(s32[40,20]{0,1:T(8,32)})>();
    #[cfg(feature = "laws")]
    {
        check_folds::<shape!(s32[5,7])>();
        check_folds::<shape!(s32[64,7]{0,1})>();
        check_folds::<shape!(s32[20,200]{1,0:T(8,128)})>();
        check_folds::<shape!(s32[200,20]{0,1:T(8,128)})>();
        check_folds::<shape!(s32[7,9]{0,1:T(4,3)})>();
    }
}

#[test]
fn arrays_of_different_layouts_are_equal_if_their_elements_are() {
    let x = numbered::<shape!(s32[9,20]{1,0:T(4,8)(2,1)})>();
    let mut y = x.relayout::<shape!(s32[9,20]{0,1})>();
    y.fill_padding(7);
    assert_eq!(x, y);
    assert_eq!(format!("{x:?}"), "s32[9,20]{1,0:T(4,8)(2,1)} [1, 2, 3, 4, 5, 6, 7, 8, …]");
    y[[8, 19]] += 1;
    assert_ne!(x, y);
    assert!(x.all_with(&y, |a, b| (a - b).abs() <= 1));
}
