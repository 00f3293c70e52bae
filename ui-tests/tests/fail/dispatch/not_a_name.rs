//! A buffer must be given by a name, because the arms use this name for the typed buffer.

use xla_shape::{DynBuffer, dispatch, shape};

struct Layer {
    weights: DynBuffer,
}

fn f(layer: &Layer) -> u8 {
    dispatch!(match &layer.weights { shape!(f32[128]) => 1, _ => 2 })
}

fn main() {}
