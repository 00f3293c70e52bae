//! Encodes shapes as messages.

use super::message::{LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto};
use super::nested::element_head;
use super::{UNKNOWN, kind};
use crate::{ArrayShape, Dimension, Layout, ProgramShape, Shape, SplitConfig, Tile, TileDimension};
use alloc::vec;
use alloc::vec::Vec;
use prost::Message;

/// Encodes a shape as a `ShapeProto`, with the same bytes as XLA (`Shape::ToProto` in `xla/shape.cc`).
///
/// ```
/// use xla_shape_core::proto::{decode_shape, encode_shape};
///
/// let shape: xla_shape_core::Shape = "(f32[2,3], token[])".parse()?;
/// assert_eq!(decode_shape(&encode_shape(&shape))?, shape);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn encode_shape(shape: &Shape) -> Vec<u8> {
    // Write from back to front: the length of an element precedes its bytes, and is known only after they are written.
    let mut reversed = Vec::new();
    push_reversed(shape, &mut reversed);
    reversed.reverse();
    reversed
}

fn push_reversed(shape: &Shape, reversed: &mut Vec<u8>) {
    let Some(elements) = shape.tuple_shapes() else {
        return reversed.extend(ShapeProto::from(shape).encode_to_vec().iter().rev());
    };
    for element in elements.iter().rev() {
        let end = reversed.len();
        push_reversed(element, reversed);
        let head = element_head(reversed.len().saturating_sub(end));
        reversed.extend(head.iter().rev());
    }
    let head = ShapeProto { element_type: kind::TUPLE, ..ShapeProto::default() }.encode_to_vec();
    reversed.extend(head.iter().rev());
}

/// A size as a number of the message.
pub(super) fn int(size: impl TryInto<i64>) -> i64 {
    // Every number in a valid shape fits in an `i64`.
    size.try_into().unwrap_or(i64::MAX)
}

impl From<&Tile> for TileProto {
    fn from(tile: &Tile) -> Self {
        let entry = |entry: &TileDimension| match *entry {
            TileDimension::Size(size) => int(size),
            TileDimension::Combine => UNKNOWN,
        };
        Self { dimensions: tile.dimensions().iter().map(entry).collect() }
    }
}

impl From<&SplitConfig> for SplitConfigProto {
    fn from(split: &SplitConfig) -> Self {
        let split_indices = split.split_indices().iter().copied().map(int).collect();
        Self { dimension: int(split.dimension()), split_indices }
    }
}

impl From<&Layout> for LayoutProto {
    fn from(layout: &Layout) -> Self {
        Self {
            minor_to_major: layout.minor_to_major().iter().copied().map(int).collect(),
            tiles: layout.tiles().iter().map(TileProto::from).collect(),
            split_configs: layout.split_configs().iter().map(SplitConfigProto::from).collect(),
            ..Self::of_numbers(layout)
        }
    }
}

impl From<&ArrayShape> for ShapeProto {
    fn from(array: &ArrayShape) -> Self {
        let size = |dimension: &Dimension| dimension.extent().map_or(UNKNOWN, int);
        Self {
            element_type: array.element_type().proto_number(),
            dimensions: array.dimensions().iter().map(size).collect(),
            tuple_shapes: vec![],
            layout: Some(array.layout().into()),
            is_dynamic_dimension: array.dimensions().iter().map(|dimension| dimension.is_dynamic()).collect(),
        }
    }
}

impl From<&Shape> for ShapeProto {
    fn from(shape: &Shape) -> Self {
        let (element_type, tuple_shapes) = match shape {
            Shape::Array(array) => return array.into(),
            Shape::Buffer(array) => (kind::BUFFER, vec![array.into()]),
            Shape::Tuple(elements) => (kind::TUPLE, elements.iter().map(Self::from).collect()),
            Shape::Token => (kind::TOKEN, vec![]),
            Shape::Opaque => (kind::OPAQUE, vec![]),
        };
        Self { element_type, tuple_shapes, ..Self::default() }
    }
}

impl From<&ProgramShape> for ProgramShapeProto {
    fn from(program: &ProgramShape) -> Self {
        Self {
            parameters: program.parameters.iter().map(|parameter| (&parameter.shape).into()).collect(),
            result: Some((&program.result).into()),
            parameter_names: program.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        }
    }
}
