//! Laws that hold for every shape.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ops::ControlFlow;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_core::{ArrayShape, ElementType, Shape, Slot};
use xla_shape_parity::{layout_util, shape_util};
use xla_shape_tests::strategy;

proptest! {
    #[test]
    fn text_there_and_back(shape in strategy::shape()) {
        let text = shape.to_string();
        prop_assert_eq!(text.parse::<Shape>(), Ok(shape));
    }

    #[test]
    fn layouts_there_and_back(array in strategy::array_shape()) {
        prop_assert_eq!(array.layout().to_string().parse(), Ok(array.layout().clone()));
    }

    #[test]
    fn the_size_is_the_number_of_positions(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        prop_assert_eq!(array.physical_elements(), Some(table.as_ref().positions()));
        prop_assert_eq!(array.byte_size(), Some(table.as_ref().positions() * array.element_type().storage_bytes()));
    }

    #[test]
    fn every_element_has_one_place(array in strategy::small_array_shape()) {
        let table = array.stride_table().unwrap();
        let mut elements = BTreeSet::new();
        for (position, slot) in (0..).zip(table.as_ref().iter()) {
            if let Slot::Element(index) = slot {
                prop_assert_eq!(table.as_ref().checked_linear_index(&index), Some(position));
                prop_assert!(elements.insert(index), "an element lies in two places");
            }
        }
        prop_assert_eq!(Some(elements.len() as u64), array.elements());
    }

    #[test]
    fn equal_shapes_hash_alike(shape in strategy::shape()) {
        // A shape that is read from text stores its lists in another way than one that is built.
        let again: Shape = shape.to_string().parse().unwrap();
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        prop_assert_eq!(hasher.hash_one(&shape), hasher.hash_one(&again));
    }

    #[test]
    fn permuted_there_and_back_is_the_same(
        (array, permutation) in strategy::array_shape()
            .prop_flat_map(|array| { let n = array.num_dimensions(); (Just(array), strategy::permutation(n)) })
    ) {
        let permuted = array.permute_dimensions(permutation.iter().copied()).unwrap();
        let inverse = (0..permutation.len()).map(|old| permutation.iter().position(|&new| new == old).unwrap());
        prop_assert_eq!(permuted.permute_dimensions(inverse), Ok(array));
    }

    #[test]
    fn a_permutation_moves_no_element(
        (array, permutation) in strategy::small_array_shape()
            .prop_flat_map(|array| { let n = array.num_dimensions(); (Just(array), strategy::permutation(n)) })
    ) {
        let permuted = array.permute_dimensions(permutation.iter().copied()).unwrap().stride_table().unwrap();
        for (position, slot) in (0..).zip(array.stride_table().unwrap().as_ref().iter()) {
            let expected = slot.map(|index| permutation.iter().map(|&old| index[old]).collect::<Vec<_>>());
            prop_assert_eq!(permuted.as_ref().multi_index(position), expected);
        }
    }

    #[test]
    fn what_is_inserted_can_be_deleted(
        array in strategy::array_shape(), number in 0..=8_usize, place in 0..=8_usize, size in 0..=5_u64
    ) {
        let (number, place) = (number.min(array.num_dimensions()), place.min(array.num_dimensions()));
        let larger = array.insert_dimension(number, size.into(), place).unwrap();
        prop_assert_eq!(shape_util::get_dimension(&larger, number), Ok(size.into()));
        prop_assert_eq!(shape_util::delete_dimension(&larger, number), Ok(array));
    }

    #[test]
    fn byte_strides_are_where_the_elements_lie(array in strategy::small_array_shape()) {
        let Some(strides) = shape_util::byte_strides(&array) else { return Ok(()) };
        let table = array.stride_table().unwrap();
        for slot in table.as_ref().iter() {
            let index = slot.element().unwrap();
            let bytes: u64 = index.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
            prop_assert_eq!(bytes, table.as_ref().linear_index(&index) * array.element_type().storage_bytes());
        }
    }

    #[test]
    fn every_index_is_visited_once_in_the_order_of_the_layout(array in strategy::small_array_shape()) {
        let untiled = layout_util::clear_tiles(&array).unwrap();
        let mut visited = Vec::new();
        let ended = shape_util::for_each_index::<()>(&array, |index| { visited.push(index.to_vec()); ControlFlow::Continue(()) });
        prop_assert_eq!(ended, Ok(ControlFlow::Continue(())));
        let expected = untiled.stride_table().unwrap().as_ref().iter().filter_map(Slot::element).collect::<Vec<_>>();
        prop_assert_eq!(visited, expected);
    }

    #[test]
    fn a_reshape_does_not_touch_the_unmodified_dimensions(
        sizes in strategy::sizes(), cuts in proptest::collection::vec(1..=8_usize, 1..=8)
    ) {
        // The other shape merges adjacent dimensions of the first one: its sizes are their products.
        let mut merged = Vec::new();
        let mut rest = sizes.as_slice();
        for cut in cuts {
            let (group, others) = rest.split_at(cut.min(rest.len()));
            merged.push(group.iter().product());
            rest = others;
        }
        merged.extend(rest);
        let array = |sizes: &[u64]| ArrayShape::with_default_layout(ElementType::F32, sizes).unwrap();
        let (a, b) = (array(&sizes), array(&merged));
        let unmodified = shape_util::dimensions_unmodified_by_reshape(&a, &b).unwrap();
        prop_assert!(unmodified.is_sorted_by(|x, y| x.0 < y.0 && x.1 < y.1));
        let (table_a, table_b) = (a.stride_table().unwrap(), b.stride_table().unwrap());
        for position in 0..table_a.as_ref().positions() {
            let (x, y) = (table_a.as_ref().multi_index(position).element().unwrap(), table_b.as_ref().multi_index(position).element().unwrap());
            for &(i, o) in &unmodified {
                prop_assert_eq!(x[i], y[o]);
            }
        }
        let aligned = a.align_layouts(&b).unwrap();
        prop_assert!(a.reshape_is_bitcast(&aligned).unwrap().is_yes());
        if let Some(change) = shape_util::inserted_or_deleted_1_sized_dimensions(&a, &b) {
            let ours = shape_util::delete_dimensions(&a, change.deleted_dimensions).unwrap();
            let theirs = shape_util::delete_dimensions(&b, change.inserted_dimensions).unwrap();
            prop_assert!(a.is_zero_element_array() || ours == theirs);
        }
    }

    #[test]
    fn the_host_shape_is_compatible(shape in strategy::shape()) {
        let host = shape_util::device_shape_to_host_shape(&shape).unwrap();
        prop_assert!(shape.compatible(&host) && shape.equal_structure(&host) && shape_util::compatible_kind(&shape, &host));
        let restored = { let mut host = host; layout_util::copy_layout_between_shapes(&shape, &mut host).unwrap(); host };
        prop_assert_eq!(restored, shape);
    }

    #[test]
    fn ignoring_nothing_is_equality(a in strategy::shape(), b in strategy::shape()) {
        prop_assert!(ShapeEqual::new().compare(&a, &a));
        prop_assert_eq!(ShapeEqual::new().compare(&a, &b), a == b);
    }

    #[test]
    fn every_subshape_is_found_by_its_index(shape in strategy::shape()) {
        let mut leaves = 0;
        for (index, part) in shape.subshapes() {
            prop_assert_eq!(shape.get_subshape(&index), Some(part));
            leaves += usize::from(shape_util::is_leaf_index(&shape, &index));
        }
        prop_assert_eq!(shape.subshapes().count(), shape.subshape_count());
        prop_assert_eq!(leaves, shape_util::get_leaf_count(&shape));
    }

    #[test]
    fn unlike_texts_are_unlike_shapes(a in strategy::array_shape(), b in strategy::array_shape()) {
        prop_assert_eq!(a == b, a.to_string() == b.to_string());
    }
}

/// Checks that the random layouts include every kind.
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
