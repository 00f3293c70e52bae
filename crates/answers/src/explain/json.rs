//! The JSON about each part of a shape.

use super::choices::{SharedChoice, choices_by_generation};
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Dimension, Shape, TileDimension};

/// An array, or the array in a buffer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Array {
    /// XLA's text of the shape, with its layout.
    shape: String,
    /// XLA's name of the element type, such as "bf16".
    element_type: &'static str,
    /// The sizes or bounds in elements, dimension 0 first; null for an unbounded dimension.
    dimensions: Vec<Option<u64>>,
    /// For each dimension, whether its size is known only when the program runs.
    dynamic: Vec<bool>,
    /// The dimensions in memory, the fastest varying first.
    minor_to_major: Vec<usize>,
    /// The tiles of the layout, in order: for each, its sizes in elements; "*" combines a dimension with the next more minor one.
    tiles: Vec<Vec<TileSize>>,
    /// The number of the memory space; 0 is the default memory, which is HBM on a TPU.
    memory_space: u8,
    /// The bits that an element takes in memory.
    element_bits: u64,
    /// How many dimensions are larger than 1.
    true_rank: usize,
    /// The number of elements, without padding; null if a dimension is unbounded or the number does not fit in 64 bits.
    elements: Option<u64>,
    /// The number of positions in memory, in elements, padding included; null if `elements` is null.
    physical_elements: Option<u64>,
    /// The bytes in memory, with padding and with the prefix for bounded dimensions; null if `elements` is null.
    bytes: Option<u64>,
    /// How many of `bytes` are padding.
    padding_bytes: Option<u64>,
    /// `bytes` divided by the bytes of the elements alone; null if `bytes` is null, and for an array without elements.
    expansion: Option<f64>,
    /// Without a layout, or with --for: what TPUs choose by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tpu: Vec<SharedChoice>,
}

/// The size of a tile along a dimension.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum TileSize {
    /// In elements.
    Size(u64),
    /// "*" combines the dimension with the next more minor one.
    Combine(Combine),
}

/// What a tile has in place of a size.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
enum Combine {
    /// The dimension is combined with the next more minor one.
    #[serde(rename = "*")]
    Combine,
}

/// A tuple.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Tuple {
    /// XLA's text of the shape, with its layout.
    shape: String,
    /// The values of the tuple, in order.
    tuple_shapes: Vec<Value>,
    /// The bytes of all values together, without the table of pointers to them; null if one has no size.
    bytes: Option<u64>,
    /// How many of `bytes` are padding.
    padding_bytes: Option<u64>,
}

/// A token or an opaque value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct WithoutData {
    /// XLA's text: `token[]` or `opaque[]`.
    shape: String,
    /// Always 0: a token or an opaque value takes no memory.
    bytes: u64,
    /// Always 0: a token or an opaque value has no padding.
    padding_bytes: u64,
}

/// A value of a shape.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Value {
    Array(Box<Array>),
    Tuple(Tuple),
    WithoutData(WithoutData),
}

/// `layouts` says for each leaf whether it was written with a layout. If `named` has generations, all arrays get the choices of these. Otherwise,
/// only arrays without a layout get choices, those of all generations.
pub(super) fn value(shape: &Shape, layouts: &mut impl Iterator<Item = bool>, named: &[Generation]) -> Value {
    match shape {
        Shape::Array(array) | Shape::Buffer(array) => {
            Value::Array(Box::new(array_object(shape, array, layouts.next().unwrap_or_default(), named)))
        }
        Shape::Token | Shape::Opaque => {
            layouts.next();
            Value::WithoutData(WithoutData { shape: shape.to_string(), bytes: 0, padding_bytes: 0 })
        }
        Shape::Tuple(elements) => Value::Tuple(Tuple {
            shape: shape.to_string(),
            tuple_shapes: elements.iter().map(|element| value(element, layouts, named)).collect(),
            bytes: shape.byte_size(),
            padding_bytes: shape.padding_byte_size(),
        }),
    }
}

fn array_object(shape: &Shape, array: &ArrayShape, has_layout: bool, named: &[Generation]) -> Array {
    let layout = array.layout();
    let tile_dimension = |dimension: &TileDimension| match dimension {
        TileDimension::Size(size) => TileSize::Size(*size),
        TileDimension::Combine => TileSize::Combine(Combine::Combine),
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
        tpu: if has_layout && named.is_empty() { Vec::new() } else { choices_by_generation(array, named) },
    }
}
