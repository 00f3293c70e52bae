//! Bitcasts: each bitcast that the XLA:TPU compiler made in the corpus is classified as in XLA's data, and explained; the answers agree with
//! enumeration.

use proptest::collection::vec;
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_core::bitcast::{
    Answer, Cause, Decomposition, DecompositionKind, Reason, reshape_obstacle, section_obstacle, transpose_obstacle,
};
use xla_shape_core::map::{StaticStrideTable, StrideTableRef};
use xla_shape_core::{ArrayShape, Dimension, ElementType, Layout};
use xla_shape_tests::{corpus, strategy};

#[derive(Deserialize)]
struct Row {
    op: String,
    operand: String,
    result: String,
    bytes: u64,
    same_padding_mask: Option<bool>,
    same_row_major_order: Option<bool>,
}

/// At most this many elements of a large array are checked.
const SAMPLE: u64 = 2_000;

#[test]
fn bitcasts_of_real_programs() {
    let rows: Vec<Row> = corpus("bitcasts.jsonl");
    let mut counts = BTreeMap::<String, u64>::new();
    for row in &rows {
        let what = format!("{} {} -> {}", row.op, row.operand, row.result);
        let class = classify(row).unwrap_or_else(|error| panic!("{what}: {error}"));
        *counts.entry(class).or_default() += 1;
    }
    for (class, count) in &counts {
        println!("{count:>4} {class}");
    }
    println!("{:>4} in all", rows.len());
    assert_eq!(rows.len(), 343);
    assert_eq!(counts.values().sum::<u64>(), rows.len() as u64);
}

fn classify(row: &Row) -> Result<String, Box<dyn std::error::Error>> {
    let (operand, result): (ArrayShape, ArrayShape) = (row.operand.parse()?, row.result.parse()?);
    if operand.byte_size() != Some(row.bytes) || result.byte_size() != Some(row.bytes) {
        return Err("another number of bytes".into());
    }
    let keeps_order = operand.reshape_is_bitcast(&result)?.is_yes();
    if row.same_row_major_order.is_some_and(|expected| expected != keeps_order) {
        return Err(format!("the row-major order is the same: {keeps_order}").into());
    }
    let explained = operand.decompose_bitcast(&result)?;
    if row.same_padding_mask.is_some_and(|expected| expected == explained.other_padding) {
        return Err(format!("padding in other places: {}", explained.other_padding).into());
    }
    let kind = explained.kind();
    if keeps_order
        != (matches!(kind, DecompositionKind::Identity | DecompositionKind::Reshape) && !explained.other_padding)
    {
        return Err(format!("explained as {explained}").into());
    }
    if row.op == "bitcast-convert" && kind != DecompositionKind::Identity {
        return Err(format!("converts and moves: {explained}").into());
    }
    check(&operand, &result, &explained)?;
    let padding = if explained.other_padding { ", other padding" } else { "" };
    let parts = if explained.operand_parts != explained.result_parts { ", other element size" } else { "" };
    Ok(format!("{}: {kind:?}{padding}{parts}", row.op))
}

/// Compares an explanation with the positions of all elements, or of a sample if there are many.
fn check(
    operand: &ArrayShape,
    result: &ArrayShape,
    explained: &Decomposition,
) -> Result<(), Box<dyn std::error::Error>> {
    let (operand_table, result_table) = (operand.stride_table()?, result.stride_table()?);
    let elements: u64 = explained.operand_sizes.iter().product();
    let step = if elements > SAMPLE { (elements / SAMPLE) | 1 } else { 1 };
    let mut compared = 0;
    for number in (0..elements).step_by(step as usize) {
        let index = unravel(number, &explained.operand_sizes);
        let split = unravel(number, &explained.transpose_sizes);
        let permuted = explained.permutation.iter().map(|&i| split[i]).collect::<Vec<_>>();
        let mapped = unravel(ravel(&permuted, &explained.transposed_sizes()), &explained.result_sizes);
        let (index, part) = without_part(&index, explained.operand_parts);
        let (mapped, mapped_part) = without_part(&mapped, explained.result_parts);
        // Padding that is read as an element has no index in the array itself, so there is no position to compare.
        let here =
            operand_table.as_ref().checked_linear_index(index).map(|place| place * explained.operand_parts + part);
        let there = result_table
            .as_ref()
            .checked_linear_index(mapped)
            .map(|place| place * explained.result_parts + mapped_part);
        if let (Some(here), Some(there)) = (here, there) {
            compared += 1;
            if here != there {
                return Err(format!("{explained}: {index:?} lies at {here}, {mapped:?} at {there}").into());
            }
        }
    }
    if compared == 0 { Err("no element was compared".into()) } else { Ok(()) }
}

fn without_part(index: &[u64], parts: u64) -> (&[u64], u64) {
    match index {
        [index @ .., part] if parts > 1 => (index, *part),
        _ => (index, 0),
    }
}

fn unravel(mut number: u64, sizes: &[u64]) -> Vec<u64> {
    let mut index = vec![0; sizes.len()];
    for (entry, &size) in index.iter_mut().zip(sizes).rev() {
        *entry = number % size;
        number /= size;
    }
    index
}

fn ravel(index: &[u64], sizes: &[u64]) -> u64 {
    index.iter().zip(sizes).fold(0, |number, (i, size)| number * size + i)
}

fn array(sizes: &[u64], layout: Layout) -> Option<ArrayShape> {
    let dimensions = sizes.iter().copied().map(Dimension::Static).collect::<Vec<_>>();
    ArrayShape::new(ElementType::F32, &dimensions, layout)
        .ok()
        .filter(|array| array.physical_elements() < Some(1 << 16))
}

/// `*` combines the dimensions of sizes 5 and 2. The more major one can grow into the padding; the other one cannot.
#[test]
fn padding_of_combined_dimensions_is_the_major_ones() {
    let operand: ArrayShape = "f32[3,2,5,3,5]{0,1,2,3,4:T(*,9,4)}".parse().unwrap();
    let result: ArrayShape = "f32[3,30,5]{2,1,0:T(3,4)(3,3,4)}".parse().unwrap();
    if let Ok(explained) = operand.decompose_bitcast(&result) {
        check(&operand, &result, &explained).unwrap();
    }
    let result: ArrayShape = "f32[5,3,18,4]".parse().unwrap();
    let explained = operand.decompose_bitcast(&result).unwrap();
    assert_eq!(explained.operand_sizes, [4, 2, 9, 3, 5]);
    check(&operand, &result, &explained).unwrap();
}

fn permuted(list: &[u64], permutation: &[usize]) -> Vec<u64> {
    permutation.iter().map(|&i| list[i]).collect()
}

/// The sizes of two arrays with the same number of elements: both are groups of the same factors.
fn factors() -> impl Strategy<Value = (Vec<u64>, Vec<bool>, Vec<bool>)> {
    vec(prop::sample::select(vec![1_u64, 2, 2, 3, 4, 5]), 1..=5).prop_flat_map(|factors| {
        (Just(factors.clone()), vec(any::<bool>(), factors.len()), vec(any::<bool>(), factors.len()))
    })
}

fn grouped(factors: &[u64], joins: &[bool]) -> Vec<u64> {
    let mut sizes: Vec<u64> = vec![];
    for (&factor, &joins) in factors.iter().zip(joins) {
        match sizes.last_mut() {
            Some(last) if joins => *last *= factor,
            _ => sizes.push(factor),
        }
    }
    sizes
}

/// The expected answer, from the enumerated positions of the elements.
fn enumerated(operand: &ArrayShape, result: &ArrayShape, map: impl Fn(&[u64]) -> Vec<u64>) -> Option<Reason> {
    let (operand_table, result_table) = (operand.stride_table().unwrap(), result.stride_table().unwrap());
    let sizes = operand_table.as_ref().extents();
    (0..sizes.iter().product()).find_map(|number| {
        let element = unravel(number, sizes);
        let operand_position = operand_table.as_ref().linear_index(&element);
        let result_position = result_table.as_ref().linear_index(&map(&element));
        let moved = Reason::Moves { element, operand_position, result_position, cause: None };
        (operand_position != result_position).then_some(moved)
    })
}

/// Whether the answer agrees with enumeration.
fn agrees(answer: &Answer, moved: Option<Reason>, operand: &ArrayShape, result: &ArrayShape) -> bool {
    match (answer, moved) {
        (Answer::Yes, None) => operand.byte_size() == result.byte_size(),
        (Answer::OtherPadding { operand_bytes, result_bytes }, None) => {
            operand_bytes != result_bytes
                && operand.byte_size() == Some(*operand_bytes)
                && result.byte_size() == Some(*result_bytes)
        }
        (Answer::No(found), Some(expected)) => {
            let mut found = found.clone();
            if let Reason::Moves { cause, .. } = &mut found {
                *cause = None;
            }
            found == expected
        }
        _ => false,
    }
}

/// Calls `f` with the stride tables as they would be in a `const`.
fn in_const<R>(arrays: [&ArrayShape; 2], f: impl FnOnce([&ArrayShape; 2], [StrideTableRef<'_>; 2]) -> R) -> R {
    let extents =
        arrays.map(|array| array.dimensions().iter().filter_map(|dimension| dimension.extent()).collect::<Vec<_>>());
    let [operand, result] = [0, 1].map(|i: usize| StaticStrideTable::new(&extents[i], arrays[i].layout()).unwrap());
    f(arrays, [operand.with_extents(&extents[0]), result.with_extents(&extents[1])])
}

proptest! {
    #[test]
    fn transposes_are_decided_as_enumerated(
        (sizes, permutation, layouts) in vec(1..=9_u64, 0..=4).prop_flat_map(|sizes| {
            let n = sizes.len();
            (Just(sizes), strategy::permutation(n), (strategy::layout(n), strategy::layout(n)))
        }),
        same_layout in any::<bool>(),
    ) {
        let (Some(operand), Some(result)) = (array(&sizes, layouts.0), array(&permuted(&sizes, &permutation), layouts.1)) else {
            return Ok(());
        };
        let result = if same_layout { operand.permute_dimensions(permutation.clone()).unwrap() } else { result };
        let answer = operand.transpose_is_bitcast(&result, &permutation).unwrap();
        let moved = enumerated(&operand, &result, |index| permuted(index, &permutation));
        prop_assert!(agrees(&answer, moved, &operand, &result), "{} {} {:?}: {}", operand, result, permutation, answer);
        prop_assert!(!same_layout || answer.is_yes());
        let in_const = in_const([&operand, &result], |shapes, tables| transpose_obstacle(shapes, tables, &permutation));
        prop_assert_eq!(in_const.is_none(), answer.is_yes());
        if answer.is_yes() {
            let deduced = operand.deduce_transpose_dimensions_for_bitcast(&result).unwrap();
            let found = deduced.as_ref().is_some_and(|p| operand.transpose_is_bitcast(&result, p).unwrap().is_yes());
            prop_assert!(found, "{operand} {result}: {deduced:?}");
        }
    }

    #[test]
    fn reshapes_are_decided_as_enumerated(
        (operand, result) in factors().prop_flat_map(|(factors, joins, other_joins)| {
            let (sizes, other_sizes) = (grouped(&factors, &joins), grouped(&factors, &other_joins));
            let layouts = (strategy::layout(sizes.len()), strategy::layout(other_sizes.len()));
            layouts.prop_map(move |layouts| (array(&sizes, layouts.0), array(&other_sizes, layouts.1)))
        }),
    ) {
        let (Some(operand), Some(result)) = (operand, result) else { return Ok(()) };
        let answer = operand.reshape_is_bitcast(&result).unwrap();
        let (from, to) = (operand.stride_table().unwrap(), result.stride_table().unwrap());
        let reshape = |index: &[u64]| {
            unravel(ravel(index, from.as_ref().extents()), to.as_ref().extents())
        };
        prop_assert!(agrees(&answer, enumerated(&operand, &result, reshape), &operand, &result), "{operand} {result}: {answer}");
        let in_const = in_const([&operand, &result], reshape_obstacle);
        prop_assert_eq!(in_const.is_none(), answer.is_yes());
        if operand.byte_size() == result.byte_size() {
            match operand.decompose_bitcast(&result) {
                Ok(explained) => prop_assert!(check(&operand, &result, &explained).is_ok(), "{explained}"),
                Err(error) => prop_assert!(!answer.is_yes(), "{error}"),
            }
        }
    }

    #[test]
    fn causes_are_true(
        (sizes, permutation, layouts) in vec(prop::sample::select(vec![1_u64, 1, 2, 3, 9]), 1..=4).prop_flat_map(|sizes| {
            let n = sizes.len();
            (Just(sizes), strategy::permutation(n), (strategy::layout(n), strategy::layout(n)))
        }),
        same_tiles in any::<bool>(),
    ) {
        let tiles = if same_tiles { layouts.0.tiles() } else { layouts.1.tiles() };
        let other = layouts.1.clone().with_tiles(tiles).unwrap();
        let (Some(operand), Some(result)) = (array(&sizes, layouts.0), array(&permuted(&sizes, &permutation), other)) else {
            return Ok(());
        };
        let Answer::No(Reason::Moves { cause, .. }) = operand.transpose_is_bitcast(&result, &permutation).unwrap()
        else {
            return Ok(());
        };
        // Another order of dimensions moves elements even without tiles.
        let untiled = |array: &ArrayShape| array.clone().with_layout(array.layout().clone().with_tiles(&[]).unwrap()).unwrap();
        let moves_untiled = enumerated(&untiled(&operand), &untiled(&result), |index| permuted(index, &permutation)).is_some();
        let (tiles, other_tiles) = (operand.layout().tiles(), result.layout().tiles());
        let is_true = match cause.unwrap() {
            Cause::Order => moves_untiled,
            Cause::Tile(n) => !moves_untiled && tiles[..n] == other_tiles[..n] && tiles.get(n) != other_tiles.get(n),
            Cause::SizeOne => !moves_untiled && tiles == other_tiles && sizes.contains(&1),
            _ => false,
        };
        prop_assert!(is_true, "{} {} {:?}: {:?}", operand, result, permutation, cause);
    }

    #[test]
    fn a_reshape_and_a_transpose_are_found_again(
        (factors, joins, permutation) in factors().prop_flat_map(|(factors, joins, _)| {
            let n = factors.len();
            (Just(factors), Just(joins), strategy::permutation(n))
        }),
    ) {
        let sizes = grouped(&factors, &joins);
        let operand = array(&sizes, Layout::descending(sizes.len())).unwrap();
        let split = array(&factors, Layout::descending(factors.len())).unwrap();
        let result = split.permute_dimensions(permutation).unwrap();
        for (from, to) in [(&operand, &result), (&result, &operand)] {
            let explained = from.decompose_bitcast(to).unwrap();
            prop_assert!(!explained.other_padding && check(from, to, &explained).is_ok(), "{from} {to}: {explained}");
        }
    }
}

/// Why an array is not a section of another one: because of the tiles, the order or the attributes.
#[test]
fn sections_need_whole_tiles_in_the_same_order() {
    let answer = |array: &str, section: &str, is_fixed: &[bool]| {
        let (array, section): (ArrayShape, ArrayShape) = (array.parse().unwrap(), section.parse().unwrap());
        section_obstacle(&array, &section, is_fixed).map(|text| {
            let begin = format!("{section} is not a section of {array}: ");
            text.as_str().strip_prefix(begin.as_str()).unwrap().to_owned()
        })
    };
    assert_eq!(answer("f32[4,64,256]{2,1,0:T(8,128)}", "f32[64,256]{1,0:T(8,128)}", &[true, false, false]), None);
    assert_eq!(answer("f32[4,3,5]{1,0,2}", "f32[4,5]{0,1}", &[false, true, false]), None);
    assert_eq!(answer("f32[4]", "f32[]", &[true]), None);
    assert_eq!(answer("f32[]", "f32[]", &[]), None);
    assert_eq!(
        answer("f32[4,3,5]{1,0,2}", "f32[4,5]{1,0}", &[false, true, false]).unwrap(),
        "expected the order {0,1} of the dimensions that are left"
    );
    assert_eq!(
        answer("f32[4,64,256]{2,1,0:T(8,128)}", "f32[4,64]{1,0:T(8,128)}", &[false, false, true]).unwrap(),
        "dimension 2 is in the tiles; expected an index only in dimensions that are not"
    );
    for section in ["f32[64,256]{1,0}", "f32[64,256]{1,0:T(8,128)S(1)}", "f32[64,256]{1,0:T(8,128)L(1024)}"] {
        assert_eq!(
            answer("f32[4,64,256]{2,1,0:T(8,128)}", section, &[true, false, false]).unwrap(),
            "expected the same tiles, memory space and other attributes of the layout",
            "{section}"
        );
    }
    // The second tile covers more dimensions than the first, so a tile is not one block of memory.
    assert_eq!(
        answer("f32[4,6,256]{2,1,0:T(128)(2,1,128)}", "f32[6,256]{1,0:T(128)(2,1,128)}", &[true, false, false])
            .unwrap(),
        "a tile of this layout is not one block of memory"
    );
}

#[test]
fn answers_say_what_differs() {
    let shape = |text: &str| text.parse::<ArrayShape>().unwrap();
    let layouts = |a: &str, b: &str| shape(a).layout_change_is_bitcast(&shape(b)).unwrap().to_string();
    assert_eq!(
        layouts("f32[16,256]{1,0:T(8,128)}", "f32[16,256]{1,0:T(8,128)L(8192)}"),
        "every element stays where it is, but the arrays take 16384 and 32768 bytes"
    );
    assert_eq!(
        layouts("f32[16,256]{1,0:T(8,128)}", "f32[16,256]{1,0}"),
        "element (0,128) moves from position 1024 to 128; the first tile differs"
    );
    // Without tiles, the place of a dimension of size 1 in the order does not matter. With tiles, it decides which dimensions the tiles cut.
    assert_eq!(layouts("f32[1,16,256]{2,1,0}", "f32[1,16,256]{0,2,1}"), "every byte stays where it is");
    assert_eq!(
        layouts("f32[1,16,256]{2,1,0:T(8,128)}", "f32[1,16,256]{0,2,1:T(8,128)}"),
        "element (0,0,1) moves from position 1 to 128; the tiles are equal but cover different dimensions: a dimension of size 1 is elsewhere in minor_to_major"
    );
    assert_eq!(
        layouts("f32[1,16,256]{2,1,0:T(8,128)}", "f32[1,16,256]{0,2,1}"),
        "element (0,0,128) moves from position 1024 to 128; the first tile differs"
    );
    assert_eq!(
        layouts("f32[1,16,256]{2,1,0:T(8,128)}", "f32[1,16,256]{1,0,2:T(8,128)}"),
        "element (0,0,1) moves from position 1 to 1024; the order of the dimensions differs"
    );
    assert_eq!(layouts("s4[8]{0:E(4)}", "s4[8]"), "an element takes 4 bits in the operand and 8 in the result");
    assert_eq!(layouts("f32[8]", "f32[4,2]"), "the result should have the sizes (8), not (4,2)");
    assert_eq!(
        layouts("f32[<=8]{0:M(64)}", "f32[<=8]"),
        "the elements begin after 64 bytes in the operand and after 0 in the result"
    );
    assert_eq!(layouts("f32[8]{0:SC(0:4)}", "f32[8]"), "the arrays are split at different indices");
    assert_eq!(layouts("f32[0,8]{1,0}", "f32[0,8]{0,1}"), "every byte stays where it is");
    assert_eq!(
        shape("f32[8,2]").transpose_is_bitcast(&shape("f32[2,8]"), &[1, 1]).unwrap_err().to_string(),
        "expected a permutation: dimension 1 is named twice"
    );
    assert_eq!(
        shape("f32[?]").reshape_is_bitcast(&shape("f32[?]")).unwrap_err().to_string(),
        "dimension 0 is unbounded: positions are unknown until its size is known"
    );
    assert_eq!(
        shape("f32[8]").decompose_bitcast(&shape("f32[9]")).unwrap_err().to_string(),
        "a bitcast keeps the number of bytes, but the arrays take 32 and 36"
    );
    assert_eq!(
        shape("f32[100]{0:T(128)}").decompose_bitcast(&shape("f32[1]{0:T(128)}")).unwrap().to_string(),
        "[128] stays; padding is read as elements, or elements as padding"
    );
    assert_eq!(
        shape("bf16[8,128]{1,0:T(8,128)(2,1)}").decompose_bitcast(&shape("s32[4,128]")).unwrap().to_string(),
        "cut each element into 1, put 2 together to one; in parts, reshape [8,128] to [4,2,128], transpose by [0,2,1], \
         reshape to [4,128,2]"
    );
}
