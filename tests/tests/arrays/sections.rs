//! Sections: each element is the array's element that the slices select, and nothing else is written.

use crate::numbers::{numbered_with_padding as numbered, values, values_at};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use xla_shape::element::{S4, S32};
use xla_shape::map::StaticStrideTable;
use xla_shape::types::ArrayType;
use xla_shape::{Buffer, View, ViewMut, layout, shape};
use xla_shape_tests::strategy::small_array_shape;

/// Compares a section with its definition, by every way to read it.
fn check_read<S: ArrayType<Element = S32>>(section: View<'_, S>, expected: &[i32]) {
    assert_eq!(values(&section), expected, "{section:?}");
    assert_eq!(section.to_row_major(), expected);
    assert!(section.get(section.sizes()).is_err());
    let sorted = |mut values: Vec<i32>| {
        values.sort_unstable();
        values
    };
    let mut seen = Vec::new();
    section.for_each_segment(|segment| seen.extend_from_slice(segment));
    assert_eq!(sorted(seen), sorted(expected.to_vec()));
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    section.lines::<-1>().for_each(|row| row.for_each(|value| rows.push(value)));
    assert_eq!(rows, expected);
    section.lines::<0>().for_each(|column| columns.extend((0..column.len()).map(|i| column[i])));
    assert_eq!(sorted(columns), sorted(expected.to_vec()));
}

/// Adds 8000 to each element: 1000 by each way to write.
fn add_everywhere<S: ArrayType<Element = S32>>(mut x: ViewMut<'_, S>) {
    x.apply(|value| value + 1000);
    for index in x.shape().indices() {
        x[index] += 1000;
    }
    // Blocks of bands include padding, whose value is -1. The caller checks that it does not change.
    let add = |block: &mut [i32]| block.iter_mut().filter(|value| **value != -1).for_each(|value| *value += 1000);
    x.for_each_band_mut::<-1>(|mut rows| rows.for_each_block_mut(|_, block| add(block)));
    x.for_each_band_mut::<0>(|mut rows| rows.for_each_block_mut(|_, block| add(block)));
    for index in x.shape().indices() {
        if index.as_ref().last() == Some(&0) {
            x.line_mut::<-1>(index).unwrap().apply(|value| value + 1000);
            let mut row = x.line_mut::<-1>(index).unwrap();
            (0..row.len()).for_each(|i| row[i] += 1000);
        }
        if index.as_ref().first() == Some(&0) {
            x.line_mut::<0>(index).unwrap().for_each_run_mut(|_, mut run| run.apply(|value| value + 1000));
        }
    }
    let copy: Vec<i32> = x.to_row_major();
    let mut next = copy.iter();
    x.fill_with(|_| next.next().unwrap() + 1000);
}

/// Checks a section of `x`; `in_array` is the array's index of an element of the section.
macro_rules! check {
    ($x:ident, $section:ident::<$($parameter:ty),*>($($slices:expr),*), $mutable:ident, $in_array:expr) => {{
        let in_array = $in_array;
        let section = $x.$section::<$($parameter),*>($($slices),*);
        let mine: Vec<_> = section.shape().indices().map(in_array).collect();
        check_read(section, &values_at(&$x.view(), &mine));
        let before = $x.clone();
        add_everywhere($x.$mutable::<$($parameter),*>($($slices),*));
        // This compares all bytes, including padding.
        let mut expected = before;
        mine.into_iter().for_each(|index| expected[index] += 8000);
        assert_eq!($x.as_bytes(), expected.as_bytes());
    }};
}

macro_rules! axis {
    ($x:ident, $n:literal, $layout:ty, $index:expr, $in_array:expr) => {{
        let in_array = $in_array;
        let section = $x.index_axis::<$n, $layout>($index);
        let mine: Vec<_> = section.shape().indices().map(in_array).collect();
        check_read(section, &values_at(&$x.view(), &mine));
        let before = $x.clone();
        add_everywhere($x.index_axis_mut::<$n, $layout>($index));
        // This compares all bytes, including padding.
        let mut expected = before;
        mine.into_iter().for_each(|index| expected[index] += 8000);
        assert_eq!($x.as_bytes(), expected.as_bytes());
    }};
}

#[test]
fn sections_with_one_index() {
    for head in 0..if cfg!(miri) { 1 } else { 3 } {
        let mut x = numbered(<shape!(s32[3,5,6]{2,1,0:T(2,4)})>::default());
        axis!(x, 0, layout!({1,0:T(2,4)}), head, |[i, j]: [usize; 2]| [head, i, j]);
        let mut x = numbered(<shape!(s32[5,6,3]{1,0,2:T(2,4)(2,1)})>::default());
        axis!(x, -1, layout!({1,0:T(2,4)(2,1)}), head, |[i, j]: [usize; 2]| [i, j, head]);
        let mut x = numbered(<shape!(s32[4,3,5])>::default());
        axis!(x, 1, layout!({1,0}), head, |[i, j]: [usize; 2]| [i, head, j]);
        let mut x = numbered(<shape!(s32[4,3,5]{1,0,2})>::default());
        axis!(x, 1, layout!({0,1}), head, |[i, j]: [usize; 2]| [i, head, j]);
        let mut x = numbered(<shape!(s32[3])>::default());
        x.index_axis_mut::<0, layout!({:})>(head).apply(|value| 10 * value);
        assert_eq!(x.as_slice(), [1, 2, 3].map(|value| if value == head as i32 + 1 { 10 * value } else { value }));
        assert_eq!(x.index_axis::<0, layout!({:})>(head)[[]], x[[head]]);
        // With sizes that are known only at run time.
        let mut x = numbered(<shape!(s32[?,5,6]{2,1,0:T(2,4)})>::with_sizes([3, 5, 6]).unwrap());
        axis!(x, 0, layout!({1,0:T(2,4)}), head, |[i, j]: [usize; 2]| [head, i, j]);
        let mut x = numbered(<shape!(s32[3,?,6]{2,1,0:T(2,4)})>::with_sizes([3, 5, 6]).unwrap());
        axis!(x, 0, layout!({1,0:T(2,4)}), head, |[i, j]: [usize; 2]| [head, i, j]);
        let mut x = numbered(<shape!(s32[?,3,6])>::with_sizes([4, 3, 6]).unwrap());
        axis!(x, 1, layout!({1,0}), head, |[i, j]: [usize; 2]| [i, head, j]);
        let mut x = numbered(<shape!(s32[3,<=7,6]{2,1,0:T(2,4)})>::with_sizes([3, 5, 6]).unwrap());
        axis!(x, 0, layout!({1,0:T(2,4)}), head, |[i, j]: [usize; 2]| [head, i, j]);
    }
}

#[test]
fn sections_with_ranges() {
    type X = shape!(s32[3,8,12]{2,1,0:T(2,4)});
    for start in [0, 2, 4] {
        let mut x = numbered(X::default());
        check!(
            x,
            section::<shape!(s32[4,12]{1,0:T(2,4)}), _>((1, start..start + 4, ..)),
            section_mut,
            |[i, j]: [usize; 2]| [1, start + i, j]
        );
        let mut x = numbered(X::default());
        check!(
            x,
            section::<shape!(s32[2,2,8]{2,1,0:T(2,4)}), _>((1..3, start..start + 2, start % 4 * 2..start % 4 * 2 + 8)),
            section_mut,
            |[h, i, j]: [usize; 3]| [1 + h, start + i, start % 4 * 2 + j]
        );
    }
    // Without tiles, every range is a section.
    for start in 0..4 {
        let mut x = numbered(<shape!(s32[5,4,7]{0,2,1})>::default());
        check!(
            x,
            section::<shape!(s32[2,3]{0,1}), _>((start..start + 2, 3, start..start + 3)),
            section_mut,
            |[i, j]: [usize; 2]| [start + i, 3, start + j]
        );
    }
    // An empty range at the array's end, and the whole of a bounded dimension.
    let mut x = numbered(<shape!(s32[2,7])>::default());
    check!(x, section::<shape!(s32[0]), _>((1, 7..7)), section_mut, |[j]: [usize; 1]| [1, j]);
    let mut x = numbered(<shape!(s32[4,<=7])>::with_sizes([4, 5]).unwrap());
    check!(x, section::<shape!(s32[2,<=7]), _>((1..3, ..)), section_mut, |[i, j]: [usize; 2]| [1 + i, j]);
}

/// Sections with a bound: sizes below and equal to the bound, with bounds below, equal to and above the array's size.
#[test]
fn sections_with_bounds() {
    macro_rules! rows {
        ($part:ty, $range:expr) => {{
            let mut x = numbered(<shape!(s32[2,9,12]{2,1,0:T(2,4)})>::default());
            let range: std::ops::Range<usize> = $range;
            let start = range.start;
            check!(x, section::<$part, _>((1, range.clone(), ..)), section_mut, |[i, j]: [usize; 2]| [1, start + i, j]);
        }};
    }
    let all = [0..0, 0..2, 4..8, 8..9, 2..9, 0..9, 4..4];
    for range in all.into_iter().take(if cfg!(miri) { 3 } else { 7 }) {
        rows!(shape!(s32[<=9,12]{1,0:T(2,4)}), range.clone());
        rows!(shape!(s32[<=100,12]{1,0:T(2,4)}), range.clone());
        rows!(shape!(s32[?,12]{1,0:T(2,4)}), range.clone());
        if range.len() <= 4 {
            rows!(shape!(s32[<=4,12]{1,0:T(2,4)}), range);
        }
    }
    let mut x = numbered(<shape!(s32[9,12]{1,0:T(2,4)})>::default());
    for (origin, sizes) in [([2, 4], [4, 8]), ([8, 8], [1, 4]), ([0, 0], [9, 12]), ([0, 4], [0, 4]), ([4, 0], [2, 12])]
    {
        let [a, b] = origin;
        check!(x, part::<shape!(s32[<=9,<=12]{1,0:T(2,4)})>(origin, sizes), part_mut, |[i, j]: [usize; 2]| [
            a + i,
            b + j
        ]);
    }
    // Also parts of arrays with sizes that are known only at run time, in column-major order without tiles.
    let mut x = numbered(<shape!(s32[<=9,7]{0,1})>::with_sizes([6, 7]).unwrap());
    check!(x, part::<shape!(s32[<=9,<=3]{0,1})>([1, 3], [4, 2]), part_mut, |[i, j]: [usize; 2]| [1 + i, 3 + j]);
    let mut x = numbered(<shape!(s32[?,7]{0,1})>::with_sizes([6, 7]).unwrap());
    check!(x, part::<shape!(s32[?,3]{0,1})>([1, 3], [4, 3]), part_mut, |[i, j]: [usize; 2]| [1 + i, 3 + j]);
    // Parts can be divided into blocks and parts, too.
    let mut x = numbered(<shape!(s32[9,12]{1,0:T(2,4)})>::default());
    let before = x.clone();
    let mut part = x.part_mut::<shape!(s32[<=9,12]{1,0:T(2,4)})>([2, 0], [6, 12]);
    part.blocks_mut::<shape!(s32[4,4]{1,0:T(2,4)})>().for_each(add_everywhere);
    add_everywhere(part.part_mut::<shape!(s32[<=9,<=8]{1,0:T(2,4)})>([2, 4], [4, 8]));
    for ([i, j], value) in before.indexed_iter() {
        let in_part = (2..8).contains(&i);
        let in_inner = (4..8).contains(&i) && j >= 4;
        assert_eq!(x[[i, j]], value + 8000 * (i32::from(in_part) + i32::from(in_inner)), "{i} {j}");
    }
}

#[test]
fn sections_of_blocks_and_blocks_of_sections() {
    let x = numbered(<shape!(s32[3,9,12]{2,1,0:T(2,4)})>::default());
    for block in x.blocks::<shape!(s32[2,4,8]{2,1,0:T(2,4)})>() {
        let [a, b, c] = block.shape().origin();
        for head in 0..block.sizes()[0] {
            let section = block.index_axis::<0, layout!({1,0:T(2,4)})>(head);
            let expected: Vec<_> = section.shape().indices().map(|[i, j]| x[[a + head, b + i, c + j]]).collect();
            check_read(section, &expected);
        }
    }
    let section = x.index_axis::<0, layout!({1,0:T(2,4)})>(2);
    for block in section.blocks::<shape!(s32[4,8]{1,0:T(2,4)})>() {
        let [b, c] = block.shape().origin();
        let expected: Vec<_> = block.shape().indices().map(|[i, j]| x[[2, b + i, c + j]]).collect();
        check_read(block, &expected);
    }
    let mut y = x.clone();
    let mut section = y.index_axis_mut::<0, layout!({1,0:T(2,4)})>(2);
    for block in section.blocks_mut::<shape!(s32[4,8]{1,0:T(2,4)})>() {
        add_everywhere(block);
    }
    for index in x.shape().indices() {
        assert_eq!(y[index], x[index] + if index[0] == 2 { 8000 } else { 0 });
    }
}

/// Elements of 4 bits: neighbouring sections can share a byte.
#[test]
fn sections_of_packed_elements() {
    type X = shape!(s4[3,5,3]{2,1,0:E(4)});
    let number = |[i, j, k]: [usize; 3]| S4::new(((7 * i + 3 * j + k) % 16) as i8 - 8).unwrap();
    let new = S4::new(5).unwrap();
    for at in 0..3 {
        let mut x = Buffer::<X>::from_fn(number);
        let mut expected = x.clone();
        let mut section = x.index_axis_mut::<0, layout!({1,0:E(4)})>(at);
        for (j, k) in (0..5).flat_map(|j| (0..3).map(move |k| (j, k))) {
            section.set([j, k], new).unwrap();
            expected.set([at, j, k], new).unwrap();
        }
        assert_eq!(x.as_bytes(), expected.as_bytes(), "{at}");
        let mut section = x.index_axis_mut::<2, layout!({1,0:E(4)})>(at);
        for (i, j) in (0..3).flat_map(|i| (0..5).map(move |j| (i, j))) {
            section.set([i, j], S4::new(j as i8).unwrap()).unwrap();
            expected.set([i, j, at], S4::new(j as i8).unwrap()).unwrap();
        }
        assert_eq!(x.as_bytes(), expected.as_bytes(), "{at}");
        let mut section = x.section_mut::<shape!(s4[2,1]{1,0:E(4)}), _>((at, 1..3, at..at + 1));
        for j in 0..2 {
            let negated = S4::new(-i8::from(section.get([j, 0]).unwrap())).unwrap();
            section.set([j, 0], negated).unwrap();
            expected.set([at, 1 + j, at], negated).unwrap();
        }
        assert_eq!(x.as_bytes(), expected.as_bytes(), "{at}");
        assert_eq!(x.index_axis::<1, layout!({1,0:E(4)})>(at).get([2, 1]), x.get([2, at, 1]));
        // A section can be used as an array only if it begins at a whole byte.
        let array = x.index_axis::<0, layout!({1,0:E(4)})>(at).as_array();
        assert_eq!(array.is_some(), at % 2 == 0);
        assert!(array.is_none_or(|array| array.indexed_iter().all(|([j, k], value)| Ok(value) == x.get([at, j, k]))));
    }
}

#[test]
fn sections_that_are_arrays() {
    type Head = shape!(s32[8,4]{1,0:T(2,4)});
    let x = numbered(<shape!(s32[3,8,4]{2,1,0:T(2,4)})>::default());
    for head in 0..if cfg!(miri) { 1 } else { 3 } {
        let array: View<'_, Head> = x.index_axis::<0, layout!({1,0:T(2,4)})>(head).as_array().unwrap();
        assert!(array.indexed_iter().all(|([i, j], value)| value == x[[head, i, j]]));
        let part = x.section::<shape!(s32[4,4]{1,0:T(2,4)}), _>((head, 2..6, ..)).as_array().unwrap();
        assert!(part.indexed_iter().all(|([i, j], value)| value == x[[head, 2 + i, j]]));
    }
    let x = numbered(<shape!(s32[?,5,6]{2,1,0:T(2,4)})>::with_sizes([3, 5, 6]).unwrap());
    let array = x.index_axis::<0, layout!({1,0:T(2,4)})>(2).as_array().unwrap();
    assert!(array.indexed_iter().all(|([i, j], value)| value == x[[2, i, j]]));
    assert_eq!(array.as_bytes().len(), 6 * 8 * 4);
    // A section of a section can be an array even if the section around it is not one.
    let x = numbered(<shape!(s32[2,3,8,4]{3,2,1,0:T(2,4)})>::default());
    let (outer, inner) = (x.index_axis::<0, layout!({2,1,0:T(2,4)})>(1), x.index_axis::<1, layout!({2,1,0:T(2,4)})>(2));
    let head: View<'_, Head> = outer.index_axis::<0, layout!({1,0:T(2,4)})>(2).as_array().unwrap();
    assert!(head.indexed_iter().all(|([i, j], value)| value == x[[1, 2, i, j]]));
    let head: View<'_, Head> = inner.index_axis::<0, layout!({1,0:T(2,4)})>(1).as_array().unwrap();
    assert!(head.indexed_iter().all(|([i, j], value)| value == x[[1, 2, i, j]]));
    let rows = outer.section::<shape!(s32[4,4]{1,0:T(2,4)}), _>((2, 2..6, ..)).as_array().unwrap();
    assert!(rows.indexed_iter().all(|([i, j], value)| value == x[[1, 2, 2 + i, j]]));
    let empty = Buffer::<shape!(s32[3,0])>::zeroed();
    assert!(empty.index_axis::<0, layout!({ 0 })>(2).as_array().unwrap().as_slice().is_empty());
}

/// Writing through an array changes the section's elements and nothing else: no other element, no padding.
#[test]
fn sections_that_are_arrays_to_write() {
    macro_rules! check {
        ($x:ident, $part:expr, $in_array:expr) => {{
            let before = $x.clone();
            let mut part = $part;
            let mut array = part.as_array_mut().unwrap();
            array.apply(|value| value + 1000);
            let indices: Vec<_> = array.shape().indices().map($in_array).collect();
            let mut expected = before;
            indices.into_iter().for_each(|index| expected[index] += 1000);
            assert_eq!($x.as_slice(), expected.as_slice());
        }};
    }
    let mut x = numbered(<shape!(s32[3,8,3]{2,1,0:T(2,4)})>::default());
    for head in 0..if cfg!(miri) { 1 } else { 3 } {
        check!(x, x.index_axis_mut::<0, layout!({1,0:T(2,4)})>(head), |[i, j]: [usize; 2]| [head, i, j]);
        // There is only one column of tiles, so its rows are adjacent and a range may begin inside a tile.
        for start in 0..4 {
            check!(
                x,
                x.section_mut::<shape!(s32[4,3]{1,0:T(2,4)}), _>((head, start..start + 4, ..)),
                |[i, j]: [usize; 2]| [head, start + i, j]
            );
        }
    }
    let mut x = numbered(<shape!(s32[7,9]{1,0:T(2,4)})>::default());
    for row in 0..4 {
        type Rows = shape!(s32[2,9]{1,0:T(2,4)});
        if row == 3 {
            assert!(x.block_mut::<Rows>([row, 0]).as_array_mut().is_none(), "the last block has one row");
        } else {
            check!(x, x.block_mut::<Rows>([row, 0]), |[i, j]: [usize; 2]| [2 * row + i, j]);
        }
    }
    let mut empty = Buffer::<shape!(s32[3,0])>::zeroed();
    assert!(empty.index_axis_mut::<0, layout!({ 0 })>(2).as_array_mut().unwrap().as_mut_slice().is_empty());
    // Two elements share a byte. An array that ends inside a byte could not be written without changing its neighbour.
    let mut odd = Buffer::<shape!(s4[4,3]{1,0:E(4)})>::zeroed();
    assert!((0..4).all(|i| odd.index_axis_mut::<0, layout!({0:E(4)})>(i).as_array_mut().is_none()));
    let mut even = Buffer::<shape!(s4[3,4]{1,0:E(4)})>::zeroed();
    even.index_axis_mut::<0, layout!({0:E(4)})>(1).as_array_mut().unwrap().fill_with(|_| S4::new(-1).unwrap());
    assert_eq!(even.as_bytes(), [0, 0, 0xff, 0xff, 0, 0]);
}

#[test]
fn sections_outside() {
    let message = |f: &dyn Fn()| *catch_unwind(AssertUnwindSafe(f)).unwrap_err().downcast::<String>().unwrap();
    type Part = shape!(f32[16,256]{1,0:T(8,128)});
    type Bounded = shape!(f32[<=32,256]{1,0:T(8,128)});
    type Few = shape!(f32[<=16,256]{1,0:T(8,128)});
    let x = Buffer::<shape!(f32[4,32,256]{2,1,0:T(8,128)})>::zeroed();
    let b =
        Buffer::<shape!(f32[4,<=32,256]{2,1,0:T(8,128)})>::zeroed_with(ArrayType32::with_sizes([4, 24, 256]).unwrap())
            .unwrap();
    let empty = Buffer::<shape!(f32[0,256]{1,0:T(8,128)})>::zeroed();
    let m = Buffer::<shape!(f32[32,256]{1,0:T(8,128)})>::zeroed();
    type Case<'a> = (&'a dyn Fn(), &'a str);
    let cases: [Case<'_>; 13] = [
        (&|| _ = x.index_axis::<0, layout!({1,0:T(8,128)})>(4), "index 4 is out of bounds for dimension 0 (size 4)"),
        (
            &|| _ = x.index_axis::<0, layout!({1,0:T(8,128)})>(usize::MAX),
            "index 18446744073709551615 is out of bounds for dimension 0 (size 4)",
        ),
        (&|| _ = x.section::<Part, _>((0, 24..40, ..)), "the range 24..40 is out of bounds for dimension 1 (size 32)"),
        (
            #[expect(clippy::reversed_empty_ranges, reason = "what a caller may pass")]
            &|| _ = x.section::<Part, _>((0, 16..0, ..)),
            "the range 16..0 is out of bounds for dimension 1 (size 32)",
        ),
        (
            &|| _ = x.section::<Part, _>((0, 4..20, ..)),
            "the range 4..20 cuts dimension 1 inside of a group of 8; expected multiples of it, or all",
        ),
        (&|| _ = x.section::<Part, _>((0, 0..8, ..)), "expected size 16 for dimension 0, found 8"),
        (&|| _ = x.section::<Part, _>((0, .., ..)), "expected size 16 for dimension 0, found 32"),
        (&|| _ = b.section::<Bounded, _>((0, 8..32, ..)), "the range 8..32 is out of bounds for dimension 1 (size 24)"),
        (&|| _ = m.part::<Few>([8, 0], [24, 256]), "expected a size of at most 16 for dimension 0, found 24"),
        (&|| _ = m.part::<Few>([8, 0], [12, 256]), "the range 8..20 cuts dimension 0 inside of a group of 8"),
        (
            &|| _ = m.part::<Few>([8, 0], [usize::MAX, 256]),
            "the range 8..18446744073709551615 is out of bounds for dimension 0 (size 32)",
        ),
        (
            &|| _ = m.part::<Few>([usize::MAX, 0], [0, 256]),
            "the range 18446744073709551615..18446744073709551615 is out of bounds for dimension 0 (size 32)",
        ),
        (&|| _ = empty.part::<Few>([0, 0], [8, 256]), "the range 0..8 is out of bounds for dimension 0 (size 0)"),
    ];
    for (call, expected) in cases {
        assert!(message(call).contains(expected), "{}", message(call));
    }
}

type ArrayType32 = shape!(f32[4,<=32,256]{2,1,0:T(8,128)});

proptest! {
    /// An element's position is its position in the table of the section, plus the position of the section's first element.
    #[test]
    fn tables_of_sections(shape in small_array_shape(), fixed in prop::collection::vec(any::<bool>(), 12)) {
        let Some(extents) = shape.dimensions().iter().map(|size| size.extent()).collect::<Option<Vec<_>>>() else { return Ok(()) };
        let Ok(table) = StaticStrideTable::new(&extents, shape.layout()) else { return Ok(()) };
        let fixed = &fixed[..extents.len()];
        let Some(section) = table.section(fixed) else { return Ok(()) };
        let kept: Vec<_> = extents.iter().zip(fixed).filter(|(_, fixed)| !**fixed).map(|(size, _)| *size).collect();
        let (whole, section) = (table.with_extents(&extents).to_owned(), section.with_extents(&kept).to_owned());
        let only = |index: &[u64], wanted: bool| -> Vec<u64> {
            index.iter().zip(fixed).map(|(&entry, &fixed)| if fixed == wanted { entry } else { 0 }).collect()
        };
        whole.as_ref().for_each_slot(|position, slot| {
            if let Some(index) = slot.element() {
                let inside: Vec<_> = index.iter().zip(fixed).filter(|(_, fixed)| !**fixed).map(|(&entry, _)| entry).collect();
                let first = whole.as_ref().linear_index(&only(index, true));
                assert_eq!(first + section.as_ref().linear_index(&inside), position, "{shape} {fixed:?} {index:?}");
            }
        });
    }
}
