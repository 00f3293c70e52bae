//! Every decision about shapes whose steps are counted.

use super::beginning;
use xla_shape::compare::ShapeEqual;
use xla_shape::shard::Sharding;
use xla_shape::tpu::Generation;
use xla_shape::{ArrayShape, Shape};
use xla_shape_parity::{layout_util, shape_util};

/// Two shapes and two shardings, each on its own line: every question about them has an answer, or an error that says why there is none.
///
/// # Panics
/// If one of these checks fails.
pub fn decisions(bytes: &[u8]) {
    let mut lines = beginning(bytes).lines();
    let mut next = || lines.next().unwrap_or_default();
    let (Ok(a), Ok(b)) = (next().parse::<Shape>(), next().parse::<Shape>()) else { return };
    whole(&a, &b);
    let [from, to] = [next(), next()].map(|text| text.parse::<Sharding>().ok());
    for shape in [&a, &b] {
        let Some(array) = shape.array() else { continue };
        alone(array);
        for sharding in [&from, &to].into_iter().flatten() {
            let Ok(partition) = sharding.partition(array) else { continue };
            let _ = (partition.device_count(), partition.bytes_total(), partition.check_even(), partition.region(1));
        }
        if let (Some(from), Some(to)) = (&from, &to)
            && let Ok(change) = from.reshard(to, array)
        {
            let _ = (change.bytes(), change.kind());
        }
    }
    if let (Some(a), Some(b)) = (a.array(), b.array()) {
        together(a, b);
    }
}

fn whole(a: &Shape, b: &Shape) {
    let _ = (a.to_string(), a.byte_size(), a.padding_byte_size(), a.expansion());
    let _ = (a.compatible(b), a.equal_structure(b), a.dynamic_shape_is_compatible(b), ShapeEqual::new().compare(a, b));
}

fn alone(array: &ArrayShape) {
    let _ = (array.byte_size(), array.padding_byte_size(), array.padded_dimensions(), array.strides());
    let _ = (array.smallest_order(), array.strided_dimensions(), array.largest_free_size(0));
    if let Ok(table) = array.stride_table() {
        let _ = (table.as_ref().canonical(), table.as_ref().multi_index(table.as_ref().positions() / 2));
    }
    for generation in [Generation::V2, Generation::V5e, Generation::V7x] {
        let _ = array.clone().with_tpu_layout(generation);
    }
    let _ = (shape_util::drop_degenerate_dimensions(array), layout_util::get_with_default_layout(array));
    let _ = shape_util::make_shape_with_descending_layout_and_same_physical_layout(array);
}

fn together(a: &ArrayShape, b: &ArrayShape) {
    let _ = (a.layout_change_is_bitcast(b), a.reshape_is_bitcast(b), a.decompose_bitcast(b));
    let _ = (a.reshape_movement(b), a.deduce_transpose_dimensions_for_bitcast(b), a.align_layouts(b));
    let _ =
        (shape_util::dimensions_unmodified_by_reshape(a, b), shape_util::inserted_or_deleted_1_sized_dimensions(a, b));
    for permutation in a.permutations_to(b).into_iter().take(4) {
        let _ = (a.transpose_is_bitcast(b, &permutation), a.transpose_movement(b, &permutation));
    }
    if let (Ok(a), Ok(b)) = (a.stride_table(), b.stride_table()) {
        let _ = a.as_ref().first_moved(b.as_ref());
    }
}
