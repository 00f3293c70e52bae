//! The messages of shapes from 2017, when layouts had padded dimensions instead of tiles.

use super::decode::{dimension_numbers, element_type, sizes};
use super::encode::int;
use super::error::ProtoError;
use crate::{LegacyShape, PaddingValue};
use alloc::vec::Vec;

/// `LayoutProto` as it was in 2017.
///
/// ```
/// use xla_shape_core::LegacyShape;
/// use xla_shape_core::proto::{LegacyLayoutProto, LegacyShapeProto};
///
/// let layout = LegacyLayoutProto { minor_to_major: vec![1, 0], padded_dimensions: vec![8, 128], padding_value: 1 };
/// let message = LegacyShapeProto { element_type: 11, dimensions: vec![7, 100], layout: Some(layout) };
/// let shape = LegacyShape::try_from(&message)?;
/// assert_eq!(shape.padded_dimensions(), [8, 128]);
/// # Ok::<(), xla_shape_core::proto::ProtoError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct LegacyLayoutProto {
    /// The dimensions from minor to major.
    #[prost(int64, repeated, tag = "1")]
    pub minor_to_major: Vec<i64>,
    /// The padded size of each dimension, dimension 0 first, in elements; empty if there is no padding.
    #[prost(int64, repeated, tag = "2")]
    pub padded_dimensions: Vec<i64>,
    /// The value of the padding: 1 zero, 2 one, 3 the lowest, 4 the highest value; 0 and 5 any value.
    #[prost(int32, tag = "3")]
    pub padding_value: i32,
}

/// `ShapeProto` of an array as it was in 2017.
///
/// Tuples had no layout of their own: the elements of a tuple, in its field 4, are messages of this type.
///
/// ```
/// use xla_shape_core::proto::{LegacyLayoutProto, LegacyShapeProto};
/// use xla_shape_core::{ElementType, LegacyShape};
///
/// let layout = LegacyLayoutProto { minor_to_major: vec![0], ..LegacyLayoutProto::default() };
/// let message = LegacyShapeProto { element_type: 11, dimensions: vec![7], layout: Some(layout) };
/// assert_eq!(LegacyShape::try_from(&message)?.element_type(), ElementType::F32);
/// # Ok::<(), xla_shape_core::proto::ProtoError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct LegacyShapeProto {
    /// The number of the element type (`PrimitiveType`).
    #[prost(int32, tag = "2")]
    pub element_type: i32,
    /// The sizes, in elements.
    #[prost(int64, repeated, tag = "3")]
    pub dimensions: Vec<i64>,
    /// The layout of the array.
    #[prost(message, optional, tag = "5")]
    pub layout: Option<LegacyLayoutProto>,
}

impl From<&LegacyShape> for LegacyShapeProto {
    fn from(shape: &LegacyShape) -> Self {
        Self {
            element_type: shape.element_type().proto_number(),
            dimensions: shape.dimensions().iter().filter_map(|size| size.extent()).map(int).collect(),
            layout: Some(LegacyLayoutProto {
                minor_to_major: shape.minor_to_major().iter().copied().map(int).collect(),
                padded_dimensions: shape.padded_dimensions().iter().copied().map(int).collect(),
                padding_value: PaddingValue::proto_number(shape.padding_value()),
            }),
        }
    }
}

impl TryFrom<&LegacyShapeProto> for LegacyShape {
    type Error = ProtoError;

    /// # Errors
    /// If it is not the message of a valid array. Tuples, tokens and opaque values have other element types.
    fn try_from(shape: &LegacyShapeProto) -> Result<Self, ProtoError> {
        let element_type = element_type(shape.element_type)?;
        let dimensions = sizes(&shape.dimensions, "dimensions")?;
        let default;
        let layout = match &shape.layout {
            Some(layout) => layout,
            None => {
                let minor_to_major = (0..shape.dimensions.len()).rev().map(int).collect();
                default = LegacyLayoutProto { minor_to_major, ..LegacyLayoutProto::default() };
                &default
            }
        };
        let within = |error: ProtoError| error.within("layout");
        let minor_to_major = dimension_numbers(&layout.minor_to_major, "minor_to_major").map_err(within)?;
        let padded_dimensions = sizes(&layout.padded_dimensions, "padded_dimensions").map_err(within)?;
        let padding_value = PaddingValue::from_proto_number(layout.padding_value)?;
        Ok(Self::new(element_type, &dimensions, &minor_to_major, &padded_dimensions, padding_value)?)
    }
}
