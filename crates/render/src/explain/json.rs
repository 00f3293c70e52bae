//! The explanation as JSON.

use crate::tpu;
use serde::Serialize;
use serde_json::{Value, json};
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Dimension, Shape, TileDimension};

#[derive(Serialize)]
struct Array {
    shape: String,
    element_type: &'static str,
    dimensions: Vec<Option<u64>>,
    dynamic: Vec<bool>,
    minor_to_major: Vec<usize>,
    tiles: Vec<Vec<Value>>,
    memory_space: u8,
    element_bits: u64,
    true_rank: usize,
    elements: Option<u64>,
    physical_elements: Option<u64>,
    bytes: Option<u64>,
    padding_bytes: Option<u64>,
    expansion: Option<f64>,
    /// The layouts that TPUs choose, if it was written without one, or if generations are named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tpu: Vec<tpu::SharedChoice>,
}

/// One JSON object. `layouts` says for each leaf whether it was written with a layout; `named` are the
/// generations whose choices are given for all arrays; if there are none, those of all generations are given for arrays without a layout.
pub(super) fn value(shape: &Shape, layouts: &mut impl Iterator<Item = bool>, named: &[Generation]) -> Value {
    match shape {
        Shape::Array(array) | Shape::Buffer(array) => {
            json!(array_object(shape, array, layouts.next().unwrap_or_default(), named))
        }
        Shape::Token | Shape::Opaque => {
            layouts.next();
            json!({ "shape": shape.to_string(), "bytes": 0, "padding_bytes": 0 })
        }
        Shape::Tuple(elements) => json!({
            "shape": shape.to_string(),
            "tuple_shapes": elements.iter().map(|element| value(element, layouts, named)).collect::<Vec<_>>(),
            "bytes": shape.byte_size(),
            "padding_bytes": shape.padding_byte_size(),
        }),
    }
}

fn array_object(shape: &Shape, array: &ArrayShape, has_layout: bool, named: &[Generation]) -> Array {
    let layout = array.layout();
    let tile_dimension = |dimension: &TileDimension| match dimension {
        TileDimension::Size(size) => json!(size),
        TileDimension::Combine => json!("*"),
    };
    Array {
        shape: shape.to_string(),
        element_type: array.element_type().name(),
        dimensions: array.dimensions().iter().map(|dimension| dimension.extent()).collect(),
        dynamic: array.dimensions().iter().copied().map(Dimension::is_dynamic).collect(),
        minor_to_major: layout.minor_to_major().to_vec(),
        tiles: layout.tiles().iter().map(|tile| tile.dimensions().iter().map(tile_dimension).collect()).collect(),
        memory_space: layout.memory_space(),
        element_bits: array.element_bits(),
        true_rank: array.true_num_dimensions(),
        elements: array.elements(),
        physical_elements: array.physical_elements(),
        bytes: array.byte_size(),
        padding_bytes: array.padding_byte_size(),
        expansion: array.expansion(),
        tpu: if has_layout && named.is_empty() { Vec::new() } else { tpu::choices_by_generation(array, named) },
    }
}
