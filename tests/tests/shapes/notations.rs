//! Layouts in other notations: a written text expresses the map, reading it gives the same map, and every refusal has a true reason.
//!
//! `PROPTEST_CASES=100000 cargo test -p xla-shape-tests --test shapes notations` runs more cases than by default, as `scripts/notations.py` does.

use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashMap;
use xla_shape::map::{increment, row_major_number};
use xla_shape::notations::{AnyLayout, Map, Modes, Notation, Obstacle, Sharing, Step, tile_steps};
use xla_shape::{ArrayShape, Slot, TileDimension};
use xla_shape_tests::strategy::{array_shape, small_array_shape};

/// All indices below these sizes, in row-major order.
fn indices(extents: &[u64]) -> Vec<Vec<u64>> {
    let mut all = Vec::new();
    let mut index = vec![0; extents.len()];
    if extents.contains(&0) {
        return all;
    }
    loop {
        all.push(index.clone());
        if !increment(&mut index, extents) {
            return all;
        }
    }
}

/// The number of the element at each position of a tiled array, found by applying the steps to the row-major numbers; 0 is padding.
fn tiled(extents: &[u64], steps: &[Step]) -> Vec<u64> {
    let mut sizes = extents.to_vec();
    let mut values: Vec<u64> = (1..=extents.iter().product()).collect();
    for step in steps {
        let (old, new): (Vec<u64>, Vec<u64>) = match step {
            Step::Reshape { from, to } => {
                assert_eq!(from, &sizes);
                sizes.clone_from(to);
                continue;
            }
            Step::Pad { from, to } => (from.clone(), to.clone()),
            Step::Transpose { permutation } => {
                (sizes.clone(), permutation.iter().map(|&dimension| sizes[dimension]).collect())
            }
            _ => unreachable!(),
        };
        assert_eq!(old, sizes);
        let at = |index: &[u64]| row_major_number(index, &old).map(|number| values[usize::try_from(number).unwrap()]);
        values = indices(&new)
            .into_iter()
            .map(|index| match step {
                Step::Transpose { permutation } => {
                    let mut source = vec![0; index.len()];
                    permutation.iter().zip(&index).for_each(|(&from, &entry)| source[from] = entry);
                    at(&source).unwrap()
                }
                _ => at(&index).unwrap_or(0),
            })
            .collect();
        sizes = new;
    }
    assert_eq!(sizes.len(), 1);
    values
}

/// Whether this is a known case in which no tiles are found: a part of an index is not full, so its room is larger, or a tile combines dimensions.
fn is_known_gap(obstacle: &Obstacle, array: &ArrayShape, map: &Modes) -> bool {
    let is_partial = |mode: &xla_shape::notations::Mode| mode.divisor * mode.size > map.extents()[mode.dimension];
    let combines = |tile: &xla_shape::Tile| tile.dimensions().contains(&TileDimension::Combine);
    matches!(obstacle, Obstacle::Uneven { .. } | Obstacle::Intricate { .. })
        && (map.modes().iter().any(is_partial) || array.layout().tiles().iter().any(combines))
}

/// Checks that the element or position in a refusal proves the reason.
fn is_true(obstacle: &Obstacle, array: &ArrayShape, layout: &AnyLayout, table: xla_shape::map::StrideTableRef<'_>) {
    match obstacle {
        Obstacle::Padding { position, size, tile, .. } => {
            assert!(!size.is_multiple_of(*tile), "{obstacle}");
            assert!(!matches!(table.multi_index(*position), Slot::Element(_)), "{obstacle}");
        }
        Obstacle::Hole { position, .. } | Obstacle::NotPowerOfTwo { position, .. } => {
            assert!(!matches!(table.multi_index(*position), Slot::Element(_)), "{obstacle}");
        }
        Obstacle::Cut { index, .. } | Obstacle::Combined { index } => {
            let unit = |dimension: usize| {
                let mut unit = vec![0; index.len()];
                unit[dimension] = 1;
                layout.position(&unit).unwrap_or(0)
            };
            let linear: i64 = index.iter().enumerate().map(|(d, &i)| i64::try_from(i).unwrap() * unit(d)).sum();
            assert_ne!(layout.position(index), Some(linear), "{obstacle}");
        }
        Obstacle::Uneven { .. } => assert!(is_known_gap(obstacle, array, layout.modes().unwrap()), "{obstacle}"),
        Obstacle::Bits { index, .. } => assert!(index.iter().all(|&entry| entry == 0)),
        Obstacle::Intricate { index } => assert!(index.as_ref().is_none_or(|index| layout.position(index).is_some())),
        // No element proves these obstacles: the notation has no name for the type, or for so many dimensions.
        Obstacle::ElementType { .. } | Obstacle::Dimensions { .. } => {}
        other => panic!("{other:?}"),
    }
    assert!(!obstacle.to_string().is_empty());
}

proptest! {
    #[test]
    fn every_notation_says_the_map_of_an_array(array in small_array_shape()) {
        let table = array.stride_table().unwrap();
        let layout = AnyLayout::of_array(&array).unwrap();
        for index in indices(layout.extents()) {
            prop_assert_eq!(layout.position(&index), i64::try_from(table.as_ref().linear_index(&index)).ok());
        }
        for &notation in Notation::ALL {
            let text = match layout.write(notation) {
                Ok(text) => text,
                Err(obstacle) => {
                    is_true(&obstacle, &array, &layout, table.as_ref());
                    continue;
                }
            };
            let back = AnyLayout::read(notation, &text).unwrap_or_else(|error| panic!("{notation}: {error}\n{text}"));
            prop_assert_eq!(back.first_moved(&layout), Ok(None), "{} {}", notation, text);
            for index in indices(layout.extents()) {
                prop_assert_eq!(back.position(&index), layout.position(&index), "{} {}", notation, text);
            }
            // A text that is read and written again stays the same.
            prop_assert_eq!(back.write(notation), Ok(text));
        }
    }

    #[test]
    fn a_map_of_an_array_has_an_array(array in small_array_shape()) {
        let Ok(modes) = Modes::of_array(&array) else { return Ok(()) };
        match modes.to_array(array.element_type()) {
            Ok(again) => prop_assert_eq!(Modes::of_array(&again).unwrap().first_moved(&modes), Ok(None)),
            Err(obstacle) => prop_assert!(is_known_gap(&obstacle, &array, &modes), "{}: {}", array, obstacle),
        }
        prop_assert_eq!(modes.sharing(), Sharing::Unique);
    }

    #[test]
    fn any_array_is_answered(array in array_shape()) {
        let Ok(layout) = AnyLayout::of_array(&array) else { return Ok(()) };
        for &notation in Notation::ALL {
            match layout.write(notation) {
                Ok(text) => {
                    let back = AnyLayout::read(notation, &text).unwrap_or_else(|error| panic!("{notation}: {error}\n{text}"));
                    prop_assert_eq!(back.first_moved(&layout), Ok(None), "{} {}", notation, text);
                }
                Err(_) => {
                    if let Some(nearest) = layout.nearest(notation) {
                        prop_assert!(AnyLayout::read(notation, &nearest.text).is_ok(), "{} {}", notation, nearest.text);
                    }
                }
            }
        }
    }

    #[test]
    fn the_steps_make_the_positions(array in small_array_shape()) {
        let steps = tile_steps(&array).unwrap();
        let placement = array.placement().unwrap();
        let values = tiled(placement.table().extents(), &steps);
        prop_assert_eq!(values.len() as u64, placement.padded_positions());
        for (position, value) in values.into_iter().enumerate() {
            let expected = match placement.slot(position as u64) {
                Slot::Element(index) => row_major_number(&index, placement.table().extents()).unwrap() + 1,
                _ => 0,
            };
            prop_assert_eq!(value, expected, "position {} of {}", position, array);
        }
    }

    #[test]
    fn nested_strides_are_compared_as_their_maps_are(one in nested(), other in nested(), seed in any::<bool>()) {
        let (extents, mut maps) = (extents_of(&one), vec![]);
        for dimensions in [&one, &other] {
            if let Ok(map) = Modes::nested(&extents, dimensions, i64::from(seed)) {
                maps.push(map);
            }
        }
        for map in &maps {
            let expected = indices(&extents).into_iter().find(|index| map.position(index) != maps[0].position(index));
            prop_assert_eq!(maps[0].first_moved(map), Ok(expected));
            prop_assert_eq!(maps[0] == *map, maps[0].first_moved(map) == Ok(None));
        }
    }

    #[test]
    fn shared_positions_are_found(dimensions in nested()) {
        let extents = extents_of(&dimensions);
        let map = Modes::nested(&extents, &dimensions, 0).unwrap();
        let mut seen = HashMap::new();
        let shared = indices(&extents).into_iter().any(|index| seen.insert(map.position(&index), index).is_some());
        match map.sharing() {
            Sharing::Unique => prop_assert!(!shared),
            Sharing::Repeats { index, .. } => prop_assert!(shared && map.position(&index).is_some()),
            Sharing::Overlaps { index, with, position } => {
                prop_assert!(with < index);
                prop_assert_eq!((map.position(&index), map.position(&with)), (Some(position), Some(position)));
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn nested_strides_are_written_and_read(dimensions in nested(), offset in -3..3_i64) {
        let extents = extents_of(&dimensions);
        let layout = AnyLayout::of_modes(Modes::nested(&extents, &dimensions, offset).unwrap(), None);
        for &notation in Notation::ALL {
            if let Ok(text) = layout.write(notation) {
                let back = AnyLayout::read(notation, &text).unwrap_or_else(|error| panic!("{notation}: {error}\n{text}"));
                prop_assert_eq!(back.first_moved(&layout), Ok(None), "{} {}", notation, text);
            }
        }
        // MLIR can express all maps, CuTe only those without an offset.
        prop_assert_eq!(layout.write(Notation::Cute).is_ok(), offset == 0);
    }

    #[test]
    fn linear_layouts_are_exclusive_ors(bases in vec(0..64_u64, 6), cut in 0..=6_usize) {
        let lines = |name: &str, bases: &[u64]| {
            if bases.is_empty() {
                return format!("- {name} is a size 1 dimension\n");
            }
            let line = |(bit, basis): (usize, &u64)| format!("{name}={} -> ({}, {})", 1 << bit, basis / 8, basis % 8);
            format!("- {}\n", bases.iter().enumerate().map(line).collect::<Vec<_>>().join("\n  "))
        };
        let (register, lane) = bases.split_at(cut);
        let text = lines("register", register) + &lines("lane", lane) + "where out dims are: [dim0 (size 8), dim1 (size 8)]";
        let layout = AnyLayout::read(Notation::Linear, &text).unwrap();
        let at = |position: u64| bases.iter().enumerate().filter(|(bit, _)| position >> bit & 1 == 1).fold(0, |n, (_, b)| n ^ b);
        let places: HashMap<u64, u64> = (0..64).map(|position| (at(position), position)).collect();
        for number in 0..64 {
            let expected = places.get(&number).filter(|_| places.len() == 64).map(|&position| i64::try_from(position).unwrap());
            prop_assert_eq!(layout.position(&[number / 8, number % 8]), expected);
        }
        if let Map::Linear(linear) = layout.map() {
            prop_assert_eq!(linear.to_string(), text);
            let obstacle = layout.write(Notation::Cute).unwrap_err();
            prop_assert_eq!(matches!(obstacle, Obstacle::Swizzle { .. }), places.len() == 64, "{}", obstacle);
        }
    }

    #[test]
    fn affine_maps_are_what_they_say(expression in expression()) {
        let text = format!("memref<6x8xf32, affine_map<(d0, d1) -> ({})>>", expression.text);
        let layout = match AnyLayout::read(Notation::Memref, &text) {
            Ok(layout) => layout,
            Err(error) => {
                prop_assert!(error.to_string().contains("negative"), "{} {}", text, error);
                return Ok(());
            }
        };
        for index in indices(&[6, 8]) {
            let expected = (expression.value)(i64::try_from(index[0]).unwrap(), i64::try_from(index[1]).unwrap());
            prop_assert_eq!(layout.position(&index), Some(expected), "{}", text);
        }
        let again = layout.write(Notation::Memref).unwrap();
        prop_assert_eq!(AnyLayout::read(Notation::Memref, &again).unwrap().first_moved(&layout), Ok(None), "{} {}", text, again);
    }
}

/// One to three dimensions, each of up to three modes.
fn nested() -> impl Strategy<Value = Vec<Vec<(u64, i64)>>> {
    vec(vec((1..5_u64, -9..20_i64), 1..=3), 1..=3)
}

fn extents_of(dimensions: &[Vec<(u64, i64)>]) -> Vec<u64> {
    dimensions.iter().map(|parts| parts.iter().map(|(size, _)| size).product()).collect()
}

/// An affine expression, as text and as a function.
#[derive(Clone)]
struct Expression {
    text: String,
    value: std::sync::Arc<dyn Fn(i64, i64) -> i64 + Send + Sync>,
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn expression() -> impl Strategy<Value = Expression> {
    let new =
        |text: &str, value: fn(i64, i64) -> i64| Expression { text: text.into(), value: std::sync::Arc::new(value) };
    let leaf = prop_oneof![Just(new("d0", |a, _| a)), Just(new("d1", |_, b| b))];
    leaf.prop_recursive(4, 16, 2, |inner| {
        let with = |operation: &'static str, value: fn(i64, i64) -> i64| {
            (inner.clone(), 1..9_i64).prop_map(move |(e, by)| {
                let of = e.value.clone();
                Expression {
                    text: format!("({} {operation} {by})", e.text),
                    value: std::sync::Arc::new(move |a, b| value(of(a, b), by)),
                }
            })
        };
        let sum = (inner.clone(), inner.clone()).prop_map(|(one, other)| Expression {
            text: format!("({} + {})", one.text, other.text),
            value: std::sync::Arc::new(move |a, b| (one.value)(a, b) + (other.value)(a, b)),
        });
        prop_oneof![
            with("*", |value, by| value * by),
            with("floordiv", i64::div_euclid),
            with("mod", i64::rem_euclid),
            sum
        ]
    })
}

#[test]
fn effort_is_bounded() {
    // Large strides: whether two sums of them are equal is a subset sum problem.
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(state >> 12).unwrap()
    };
    let strides: Vec<i64> = (0..40).map(|_| next()).collect();
    let map = Modes::strided(&[2; 40], &strides, 0).unwrap();
    assert_eq!(map.sharing(), Sharing::Unknown);
    // A layout with many dimensions.
    let list = |entry: &str| format!("({})", vec![entry; 20_000].join(","));
    for stride in ["0", "1", "3"] {
        let layout = AnyLayout::read(Notation::Cute, &format!("{}:{}", list("2"), list(stride))).unwrap();
        assert_ne!(layout.sharing(), Sharing::Unique);
        for &notation in Notation::ALL {
            let _ = (layout.write(notation), layout.nearest(notation));
        }
    }
    let one = AnyLayout::read(Notation::Cute, &format!("{}:{}", list("1"), list("5"))).unwrap();
    assert!(one.write(Notation::Xla).is_ok());
    // A text with many parts.
    let sum = (1..=300).map(|by| format!("d0 floordiv {by}")).collect::<Vec<_>>().join(" + ");
    let error = AnyLayout::read(Notation::Memref, &format!("memref<9xf32, affine_map<(d0) -> ({sum})>>")).unwrap_err();
    assert_eq!(error.to_string(), "expected at most 256 parts, found more");
    let parts = (0..63).map(|part| format!("- p{part} is a size 1 dimension\n")).collect::<String>();
    let error = AnyLayout::read(Notation::Linear, &(parts + "where out dims are: []")).unwrap_err();
    assert_eq!(error.to_string(), "expected at most 62 parts, found more");
}
