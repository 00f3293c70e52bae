//! The messages of shapes from 2017, when layouts had padded dimensions instead of tiles.

use super::{LegacyError, LegacyShape, PaddingValue};
use alloc::format;
use alloc::vec::Vec;
use xla_shape_core::Shape;
use xla_shape_core::proto::{LayoutProto, ProtoError, ProtoErrorKind, ShapeProto};
use xla_shape_core::text::OtherError;

/// `LayoutProto` as it was in 2017.
///
/// ```
/// use xla_shape_parity::legacy::{LegacyLayoutProto, LegacyShape, LegacyShapeProto};
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
/// use xla_shape_core::ElementType;
/// use xla_shape_parity::legacy::{LegacyLayoutProto, LegacyShape, LegacyShapeProto};
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
        // Without the fields about padding, the message is the same as today's, which the core reads.
        let layout = shape.layout.as_ref();
        let message = ShapeProto {
            element_type: shape.element_type,
            dimensions: shape.dimensions.clone(),
            layout: layout
                .map(|layout| LayoutProto { minor_to_major: layout.minor_to_major.clone(), ..LayoutProto::default() }),
            ..ShapeProto::default()
        };
        let Shape::Array(array) = Shape::try_from(&message)? else {
            let number = shape.element_type;
            return Err(ProtoError::new("element_type", ProtoErrorKind::UnknownElementType { number }));
        };
        let widths = layout.map_or(&[][..], |layout| &layout.padded_dimensions);
        let width = |(i, &value): (usize, &i64)| {
            let negative = |_| ProtoError::new(format!("{WIDTHS}[{i}]"), ProtoErrorKind::Negative { value });
            u64::try_from(value).map_err(negative)
        };
        let widths = widths.iter().enumerate().map(width).collect::<Result<Vec<_>, _>>()?;
        let value =
            PaddingValue::from_proto_number(layout.map_or(0, |layout| layout.padding_value)).map_err(of_field)?;
        let sizes = array.dimensions().iter().filter_map(|size| size.extent()).collect::<Vec<_>>();
        Self::padded(array, &sizes, &widths, value).map_err(of_field)
    }
}

const WIDTHS: &str = "layout.padded_dimensions";

/// The error of the field that is wrong.
fn of_field(error: LegacyError) -> ProtoError {
    let kind = ProtoErrorKind::Other(OtherError::new(error));
    match error {
        LegacyError::Invalid(error) => error.into(),
        LegacyError::WidthCount { .. } => ProtoError::new(WIDTHS, kind),
        LegacyError::WidthTooSmall { dimension, .. } | LegacyError::WidthTooLarge { dimension, .. } => {
            ProtoError::new(format!("{WIDTHS}[{dimension}]"), kind)
        }
        LegacyError::UnknownPaddingValue { .. } => ProtoError::new("layout.padding_value", kind),
    }
}

/// A number as the schema's type; the numbers of a valid array fit.
fn int(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
