//! Laws that hold for every shape.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use xla_shape_core::{ArrayShape, Shape, Slot};
use xla_shape_tests::strategy;

proptest! {
    #[test]
    fn text_there_and_back(shape in strategy::shape()) {
        let text = shape.to_string();
        prop_assert_eq!(text.parse::<Shape>(), Ok(shape));
    }

    #[test]
    fn the_size_is_the_number_of_positions(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        prop_assert_eq!(array.physical_elements(), Some(table.positions()));
        prop_assert_eq!(array.byte_size(), Some(table.positions() * array.element_type().storage_bytes()));
    }

    #[test]
    fn every_element_has_one_place(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        let mut elements = BTreeSet::new();
        for (position, slot) in table.iter().enumerate() {
            if let Slot::Element(index) = slot {
                prop_assert_eq!(table.checked_linear_index(&index), Some(position));
                prop_assert!(elements.insert(index), "an element lies in two places");
            }
        }
        prop_assert_eq!(Some(elements.len()), array.elements());
    }

    #[test]
    fn equal_shapes_hash_alike(shape in strategy::shape()) {
        // Read from text, a shape keeps its lists elsewhere than one that was put together.
        let again: Shape = shape.to_string().parse().unwrap();
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        prop_assert_eq!(hasher.hash_one(&shape), hasher.hash_one(&again));
    }

    #[test]
    fn unlike_texts_are_unlike_shapes(a in strategy::array_shape(), b in strategy::array_shape()) {
        prop_assert_eq!(a == b, a.to_string() == b.to_string());
    }
}

/// The random layouts are not all simple ones.
#[test]
fn the_strategies_reach_every_kind_of_layout() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let arrays: Vec<ArrayShape> = (0..400)
        .map(|_| strategy::array_shape().new_tree(&mut runner).expect("nothing is filtered").current())
        .collect();
    let ranks = arrays.iter().map(ArrayShape::num_dimensions).collect::<BTreeSet<_>>();
    let tiles = arrays.iter().map(|array| array.layout().tiles().len()).collect::<BTreeSet<_>>();
    assert_eq!(ranks.len(), strategy::MAX_DIMENSIONS + 1);
    assert_eq!(tiles.len(), 4);
    assert!(arrays.iter().any(|array| !array.layout().split_configs().is_empty()));
    assert!(arrays.iter().any(|array| array.elements() == Some(0)));
    assert!(arrays.iter().any(|array| array.elements().is_none()));
}
