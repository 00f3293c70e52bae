//! Laws of padding: the answers about parts agree with the answer about the whole.

use proptest::prelude::*;

use xla_shape_tests::strategy::array_shape;

proptest! {
    #[test]
    fn padded_dimensions_multiply_to_the_positions(array in array_shape()) {
        let padded = array.padded_dimensions();
        prop_assert_eq!(padded.is_some(), array.byte_size().is_some());
        if let (Some(padded), Some(physical)) = (padded, array.physical_elements()) {
            let alignment = array.layout().tail_padding_alignment_in_elements();
            let positions = padded.iter().map(|dimension| dimension.padded_size).product::<u64>();
            prop_assert_eq!(positions.next_multiple_of(alignment), physical);
            let stored = padded.iter().map(|dimension| dimension.size).product::<u64>();
            prop_assert_eq!(Some(stored), array.max_elements_in_per_split());
            let mut named = padded.into_iter().flat_map(|dimension| dimension.dimensions).collect::<Vec<_>>();
            named.sort_unstable();
            prop_assert_eq!(named, (0..array.num_dimensions()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn elements_padding_and_prefix_are_all_there_is(array in array_shape()) {
        if let Some(bytes) = array.byte_size() {
            let prefix = array.layout().dynamic_shape_metadata_prefix_bytes();
            let parts = array.unpadded_byte_size().unwrap() + array.padding_byte_size().unwrap() + prefix;
            prop_assert_eq!(parts, bytes);
            prop_assert!(array.expansion().unwrap() >= 1.0);
        }
    }

    #[test]
    fn after_all_tiles_the_table_is_the_whole_one(array in array_shape()) {
        let Ok(whole) = array.stride_table() else { return Ok(()) };
        let last = array.stride_table_after_tiles(array.layout().tiles().len()).unwrap();
        prop_assert_eq!(last.as_ref().positions(), whole.as_ref().positions());
        for position in 0..last.as_ref().positions() {
            prop_assert_eq!(last.as_ref().multi_index(position), whole.as_ref().multi_index(position));
        }
    }

    #[test]
    fn a_free_size_is_free_and_the_next_one_is_not(array in array_shape()) {
        for dimension in 0..array.num_dimensions() {
            let Some(free) = array.largest_free_size(dimension) else { continue };
            let resized = |size| {
                let mut dimensions = array.dimensions().to_vec();
                dimensions[dimension] = size;
                let other = xla_shape_core::ArrayShape::new(array.element_type(), &dimensions, array.layout().clone());
                other.ok()?.byte_size()
            };
            prop_assert_eq!(resized(free.into()), array.byte_size());
            // If another dimension has size 0, a dimension may grow without limit.
            if array.elements() > Some(0) {
                prop_assert_ne!(resized((free + 1).into()), array.byte_size());
            }
        }
    }

    #[test]
    fn no_order_is_smaller_than_the_smallest(array in array_shape()) {
        // With more dimensions, trying all orders takes long without optimisation.
        if array.num_dimensions() <= 4
            && let Some(best) = array.smallest_order() {
            prop_assert!(best.byte_size() <= array.byte_size());
            prop_assert_eq!(best.smallest_order().and_then(|again| again.byte_size()), best.byte_size());
            prop_assert_eq!(best.dimensions(), array.dimensions());
        }
    }
}

/// Ten elements of 5 bits take seven bytes, and so do eleven.
#[test]
fn the_bits_to_spare_of_the_last_byte_are_free() {
    let array: xla_shape_core::ArrayShape = "s8[10]{0:E(5)}".parse().unwrap();
    assert_eq!(array.largest_free_size(0), Some(11));
}

/// An array may have more bits than a `u64` can count: the sizes to which it can grow are found, too.
#[test]
fn an_array_of_almost_all_bytes_has_free_sizes() {
    let array: xla_shape_core::ArrayShape = "s8[4611686018427387904,1]{1,0:T(8,1)}".parse().unwrap();
    assert_eq!(array.largest_free_size(0), Some(1 << 62));
    assert_eq!(array.largest_free_size(1), Some(1));
}
