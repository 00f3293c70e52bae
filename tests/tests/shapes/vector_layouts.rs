//! Vector layouts: compared with the compiler's own register counts, and checked by laws for every layout of a small set.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use xla_shape_core::Slot;
use xla_shape_core::tpu::vector::{
    ImplicitDimensions, LANES, Location, Offset, RelayoutStep, SUBLANES, VectorLayout, VectorLayoutError,
};
use xla_shape_tests::{corpus, is_thorough};

const IMPLICIT: [ImplicitDimensions; 4] = [
    ImplicitDimensions::None,
    ImplicitDimensions::MostMinor,
    ImplicitDimensions::SecondMostMinor,
    ImplicitDimensions::Both,
];

fn layout(text: &str) -> VectorLayout {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Layouts of every width, tile and implicit dimension, with offsets at both ends of a slice.
fn small_world() -> Vec<VectorLayout> {
    let mut layouts = Vec::new();
    for bits in [1, 2, 4, 8, 16, 32] {
        for rows in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
            for columns in [128, 256, 512, 1024, 4096] {
                let Ok(plain) = VectorLayout::new(
                    bits,
                    [Offset::Fixed(0), Offset::Fixed(0)],
                    [rows, columns],
                    ImplicitDimensions::None,
                ) else {
                    continue;
                };
                let offsets =
                    plain.slice().map(|slice| [Offset::Fixed(0), Offset::Fixed(slice - 1), Offset::Replicated]);
                for implicit in IMPLICIT {
                    for row in offsets[0] {
                        for column in offsets[1] {
                            layouts.push(VectorLayout::new(bits, [row, column], [rows, columns], implicit).unwrap());
                        }
                    }
                }
            }
        }
    }
    layouts
}

#[test]
fn registers_are_those_that_the_compiler_unrolls_into() {
    #[derive(Deserialize)]
    struct Row {
        vector: String,
        layout: String,
        registers: u64,
    }
    for row in corpus::<Row>("vector_registers.jsonl") {
        let (sizes, _) = row.vector.rsplit_once('x').unwrap_or(("", ""));
        let sizes: Vec<u64> =
            sizes.split('x').filter(|size| !size.is_empty()).map(|size| size.parse().unwrap()).collect();
        assert_eq!(layout(&row.layout).registers(&sizes), Ok(row.registers), "{} {}", row.vector, row.layout);
    }
}

#[test]
fn whole_arrays_are_loaded_and_stored_as_the_compiler_does() {
    #[derive(Deserialize)]
    struct Row {
        array: String,
        load: String,
        store: String,
    }
    for Row { array, load, store } in corpus::<Row>("vector_blocks.jsonl") {
        let array = array.parse().unwrap();
        assert_eq!(VectorLayout::of_load(&array), Some(layout(&load)), "{array}");
        assert_eq!(VectorLayout::of_store(&array), Some(layout(&store)), "{array}");
    }
    for unknown in [
        "f32[256]{0:T(256)}",
        "f32[8,128]",
        "f32[8,128]{0,1:T(8,128)}",
        "f32[0,128]{1,0:T(8,128)}",
        "f64[8,128]{1,0:T(8,128)}",
        "bf16[16,256]{1,0:T(8,128)}",
        "bf16[16,256]{1,0:T(8,128)(4,1)}",
        "f32[16,256]{1,0:T(8,128)(2,1)}",
        "s8[16,256]{1,0:T(8,128)(2,1)(2,1)}",
    ] {
        assert_eq!(VectorLayout::of_load(&unknown.parse().unwrap()), None, "{unknown}");
    }
}

#[test]
fn what_is_printed_is_read_back() {
    for layout in small_world() {
        assert_eq!(layout.to_string().parse(), Ok(layout));
    }
}

#[test]
fn a_text_that_is_no_vector_layout_is_refused_where_it_goes_wrong() {
    for (text, place, message) in [
        ("", 0..0, "expected a number, found the end of the text"),
        ("none", 0..1, "expected a number, found `n`"),
        ("32", 2..2, "expected `,`, found the end of the text"),
        ("32,(", 3..4, "expected `{`, found `(`"),
        ("32,{-1,0},(8,128)", 4..5, "expected an offset: a number or `*`, found `-`"),
        ("32,{0 ,0},(8,128)", 5..6, "expected `,`, found ` `"),
        ("32,{0,0},(8,128),-3", 16..17, "expected `,-1`, `,-2`, `,-2,-1` or the end of the vector layout, found `,`"),
        ("32,{0,0},(8,128),", 16..17, "expected `,-1`, `,-2`, `,-2,-1` or the end of the vector layout, found `,`"),
        (
            "32,{0,0},(8,99999999999999999999)",
            12..32,
            "expected a number that fits in an i64, found `99999999999999999999`",
        ),
        ("64,{0,0},(8,128)", 0..16, "expected elements of 1, 2, 4, 8, 16 or 32 bits, found 64"),
        ("32,{8,0},(8,128)", 0..16, "expected a row offset below 8, what one register holds, found 8"),
        ("16,{0,256},(8,128)", 0..18, "expected a column offset below 256, what one register holds, found 256"),
        (
            "32,{0,0},(3,128)",
            0..16,
            "expected a tile that fills 1, 2, 4 or 8 sublanes of 128 words, found (3,128) of 32-bit elements",
        ),
        (
            "32,{0,0},(9223372036854775807,2)",
            0..32,
            "expected a tile that fills 1, 2, 4 or 8 sublanes of 128 words, found (9223372036854775807,2) of 32-bit elements",
        ),
        (
            "8,{0,0},(2,256)",
            0..15,
            "expected a tile of 1 row, or of at least the 4 rows that share a word, found 2 rows",
        ),
    ] {
        let error = text.parse::<VectorLayout>().unwrap_err();
        assert_eq!((error.to_string().as_str(), error.span().into()), (message, place), "{text}");
    }
    assert_eq!(
        VectorLayout::new(32, [Offset::Fixed(0); 2], [0, 128], ImplicitDimensions::None),
        Err(VectorLayoutError::Tile { tile: [0, 128], bits: 32 })
    );
}

#[test]
fn vectors_that_have_no_such_layout_are_refused() {
    let plain = layout("32,{7,0},(8,128)");
    assert_eq!(plain.registers(&[8]), Err(VectorLayoutError::NumDimensions { at_least: 2, found: 1 }));
    assert_eq!(plain.registers(&[4, 0, 8]), Err(VectorLayoutError::NoElements { dimension: 1 }));
    assert_eq!(plain.registers(&[u64::MAX, 8, 8]), Err(VectorLayoutError::TooLarge));
    assert_eq!(plain.registers(&[u64::MAX, 8]), Err(VectorLayoutError::TooLarge));
    assert_eq!(plain.map(&[1 << 40, 1 << 40, 8, 8]).err(), Some(VectorLayoutError::TooLarge));
    assert_eq!(plain.grid(&[]), Err(VectorLayoutError::NumDimensions { at_least: 2, found: 0 }));
    // For a scalar, both dimensions are implicit in the layout.
    assert_eq!(layout("32,{0,0},(8,128),-2,-1").registers(&[]), Ok(1));
    assert_eq!(plain.map(&[8, 128]).unwrap().location(&[8, 0]), None);
    assert_eq!(plain.map(&[8, 128]).unwrap().element(Location { register: 2, sublane: 0, lane: 0, part: 0 }), None);
    assert_eq!(plain.map(&[8, 128]).unwrap().element(Location { register: 0, sublane: 8, lane: 0, part: 0 }), None);
}

/// Sizes of vectors with one to three dimensions that end inside a register, at its end, and after it.
const SIZES: [&[u64]; 8] = [&[1], &[5], &[300], &[1, 1], &[3, 130], &[17, 128], &[2, 2, 129], &[2, 1, 256]];

/// All indices of an array of these sizes.
fn indices(sizes: &[u64]) -> Vec<Vec<u64>> {
    sizes.iter().fold(vec![Vec::new()], |indices, &size| {
        indices.iter().flat_map(|index| (0..size).map(move |entry| [&index[..], &[entry]].concat())).collect()
    })
}

#[test]
fn each_element_has_a_place_and_is_found_there() {
    let step = if is_thorough() { 13 } else { 41 };
    for layout in small_world().into_iter().step_by(step) {
        for sizes in SIZES {
            let Ok(map) = layout.map(sizes) else { continue };
            let registers = layout.registers(sizes).unwrap();
            assert_eq!(map.grid().iter().product::<u64>(), registers, "{layout} {sizes:?}");
            let mut places = BTreeSet::new();
            let replicated = layout.offsets().map(|offset| offset == Offset::Replicated);
            for index in indices(sizes) {
                let place = map.location(&index).unwrap();
                assert!(
                    place.register < registers && place.sublane < SUBLANES && place.lane < LANES,
                    "{layout} {place:?}"
                );
                let Some(Slot::Element(found)) = map.element(place) else { panic!("{layout} {sizes:?} {index:?}") };
                assert_eq!(map.location(&found), Some(place), "{layout} {sizes:?} {index:?}");
                if replicated == [false; 2] {
                    assert_eq!(found, index, "{layout} {sizes:?}");
                    assert!(places.insert((place.register, place.sublane, place.lane, place.part)));
                }
            }
        }
    }
}

/// Every place at which a layout stores an element: the register along rows and along columns (`None` if one register stands for all), then sublane,
/// lane and part.
fn places(layout: &VectorLayout, sizes: &[u64]) -> BTreeMap<Vec<u64>, BTreeSet<[Option<u64>; 5]>> {
    let [rows, columns] = layout.offsets().map(|offset| offset == Offset::Replicated);
    let map = layout.map(sizes).unwrap();
    // The content of a register with the same tiles, for each row and column.
    let [slice_rows, slice_columns] = layout.slice();
    let whole =
        VectorLayout::new(layout.bits(), [Offset::Fixed(0); 2], layout.tile(), ImplicitDimensions::None).unwrap();
    let within = whole.map(&[slice_rows, slice_columns]).unwrap();
    let own = match layout.implicit_dimensions() {
        ImplicitDimensions::None => 2,
        ImplicitDimensions::Both => 0,
        _ => 1,
    };
    let mut places = BTreeMap::new();
    for index in indices(sizes) {
        let (leading, cut) = index.split_at(index.len() - own);
        let [row, column] = match (layout.implicit_dimensions(), cut) {
            (ImplicitDimensions::None, [row, column]) => [*row, *column],
            (ImplicitDimensions::MostMinor, [row]) => [*row, 0],
            (ImplicitDimensions::SecondMostMinor, [column]) => [0, *column],
            _ => [0, 0],
        };
        let at = |offset, entry| match offset {
            Offset::Fixed(offset) => offset + entry,
            Offset::Replicated => 0,
        };
        let [row, column] = [at(layout.offsets()[0], row), at(layout.offsets()[1], column)];
        // Combine the leading dimensions and the rows of registers into one number, because a row of a layout with one row in a tile may be a
        // leading dimension in another layout.
        let outer = leading.iter().zip(sizes).fold(0, |outer, (entry, size)| outer * size + entry);
        let grid_rows = map.grid()[map.grid().len() - 2];
        let has_rows = layout.rows_and_columns(sizes).unwrap()[0] > 1;
        let outer = (!(rows && has_rows)).then_some(outer * grid_rows + row / slice_rows);
        let has_columns = layout.rows_and_columns(sizes).unwrap()[1] > 1;
        let across = (!(columns && has_columns)).then_some(column / slice_columns);
        let all = |replicated: bool, entry: u64, slice: u64| {
            if replicated { 0..slice } else { entry % slice..entry % slice + 1 }
        };
        let mut stored = BTreeSet::new();
        for row in all(rows, row, slice_rows) {
            for column in all(columns, column, slice_columns) {
                let place = within.location(&[row, column]).unwrap();
                stored.insert([outer, across, Some(place.sublane), Some(place.lane), Some(place.part)]);
            }
        }
        places.insert(index, stored);
    }
    places
}

#[test]
fn what_generalizes_another_layout_stores_each_element_where_that_does() {
    // Use few sizes, and only offsets at the beginning, because the sets are large.
    let layouts: Vec<VectorLayout> = small_world()
        .into_iter()
        .filter(|layout| {
            layout.bits() >= 16
                && layout.tile()[1] <= 256
                && layout.offsets().iter().all(|o| *o == Offset::Fixed(0) || *o == Offset::Replicated)
        })
        .collect();
    let step = if is_thorough() { 1 } else { 2 };
    for sizes in [&[1, 3][..], &[2, 1]] {
        let layouts: Vec<_> = layouts.iter().step_by(step).filter(|layout| layout.registers(sizes).is_ok()).collect();
        let stored: Vec<_> = layouts.iter().map(|layout| places(layout, sizes)).collect();
        let mut free = 0;
        for (from, stored_from) in layouts.iter().zip(&stored) {
            for (to, stored_to) in layouts.iter().zip(&stored) {
                if from.generalizes(to, sizes).unwrap() {
                    free += 1;
                    for (index, wanted) in stored_to {
                        let have = &stored_from[index];
                        let has = |&[outer, across, at @ ..]: &[Option<u64>; 5]| {
                            let [sublane, lane, part] = at;
                            [[outer, across], [None, across], [outer, None], [None, None]]
                                .iter()
                                .any(|&[outer, across]| have.contains(&[outer, across, sublane, lane, part]))
                        };
                        assert!(wanted.iter().all(has), "{from} {to} {sizes:?} {index:?}");
                    }
                }
            }
            assert!(from.generalizes(from, sizes).unwrap());
        }
        assert!(free > layouts.len(), "some pairs are free: {free}");
    }
}

#[test]
fn a_relayout_names_what_must_move() {
    let steps = |from: &str, to: &str, sizes: &[u64]| layout(from).relayout(&layout(to), sizes).unwrap();
    assert_eq!(steps("32,{*,*},(8,128)", "32,{3,7},(8,128)", &[8, 128]), []);
    assert_eq!(steps("32,{3,0},(8,128)", "32,{0,5},(8,128)", &[8, 64]).len(), 2);
    assert_eq!(steps("32,{0,0},(8,128)", "32,{*,0},(8,128)", &[8, 128]), [RelayoutStep::ReplicateRows]);
    assert_eq!(steps("32,{0,0},(8,128)", "32,{0,*},(8,128)", &[8, 128]), [RelayoutStep::ReplicateColumns]);
    assert_eq!(
        steps("16,{0,0},(8,128)", "16,{0,0},(16,128)", &[16, 128]),
        [RelayoutStep::Tile { from: [8, 128], to: [16, 128] }]
    );
    assert_eq!(steps("16,{0,0},(8,128)", "16,{0,0},(16,128)", &[8, 128]), [], "one tile is enough");
    assert_eq!(steps("32,{0,0},(8,128),-1", "32,{0,0},(8,128),-2", &[128]), [RelayoutStep::ImplicitDimensions]);
    assert_eq!(steps("32,{0,0},(8,128),-1", "32,{0,0},(8,128),-2", &[1]), []);
    assert_eq!(steps("32,{0,0},(1,128),-2", "32,{*,0},(1,128)", &[4, 128])[0], RelayoutStep::ImplicitDimensions);
    assert_eq!(steps("32,{0,0},(1,128)", "32,{0,0},(1,128),-2", &[4, 128]), []);
    assert_eq!(
        steps("8,{0,0},(32,128)", "32,{0,0},(8,128)", &[32, 128])[0].to_string(),
        "packs elements of 8 bits as 32"
    );
}
