//! Decodes messages to shapes.

use super::array::array;
use super::error::{ProtoError, ProtoErrorKind};
use super::message::{LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto};
use super::nested::Elements;
use super::{UNKNOWN, kind};
use crate::text::MAX_NESTING;
use crate::validate::LayoutAttribute;
use crate::{
    ArrayShape, Dimension, ElementType, Layout, ProgramParameter, ProgramShape, Shape, SplitConfig, Tile,
    TileDimension, ValidationError,
};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use prost::bytes::Bytes;

type Result<T> = core::result::Result<T, ProtoError>;

/// Decodes the bytes of a `ShapeProto`. The rules are those of `Shape::FromProto` in `xla/shape.cc` and of shapes in
/// general.
///
/// ```
/// use xla_shape_core::proto::{decode_shape, encode_shape};
///
/// let shape: xla_shape_core::Shape = "bf16[8,128]{1,0:T(8,128)(2,1)}".parse()?;
/// assert_eq!(decode_shape(&encode_shape(&shape))?, shape);
/// assert!(decode_shape(b"not a message").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the bytes are not a message, or the shape is not valid.
pub fn decode_shape(bytes: &[u8]) -> Result<Shape> {
    if let Some(array) = array(bytes) {
        return Ok(Shape::Array(array));
    }
    let mut open = Vec::new();
    let shape = decode_tuples(Bytes::copy_from_slice(bytes), &mut open);
    shape.map_err(|error| open.iter().rev().fold(error, |error, tuple| in_tuple(error, tuple.elements.len())))
}

/// A tuple whose elements have not all been read.
struct OpenTuple {
    rest: Elements,
    elements: Vec<Shape>,
}

/// Decodes a message without recursion, so that deep nesting takes no stack. Elements of a tuple are decoded one at a
/// time, because all messages together would take many times the memory of their bytes. On an error, `open` holds the
/// tuples that contain it; the error is in the element after those already read.
fn decode_tuples(mut bytes: Bytes, open: &mut Vec<OpenTuple>) -> Result<Shape> {
    loop {
        let (message, count) = Elements::split(&bytes)?;
        let mut shape = None;
        if message.element_type == kind::TUPLE {
            reject_array_fields(&message)?;
            if open.len() == MAX_NESTING {
                return Err(ValidationError::NestedTooDeep { limit: MAX_NESTING }.into());
            }
            // The smallest element takes four bytes, so a wrong count cannot reserve more memory than the message has.
            let elements = Vec::with_capacity(count.min(bytes.len() / 4));
            open.push(OpenTuple { rest: Elements::new(bytes), elements });
        } else {
            shape = Some(decode_leaf(message, count, bytes)?);
        }
        loop {
            let Some(tuple) = open.last_mut() else { return shape.ok_or_else(|| not_one_array(0)) };
            tuple.elements.extend(shape);
            if let Some(element) = tuple.rest.next() {
                bytes = element?;
                break;
            }
            let elements = open.pop().map(|tuple| tuple.elements).unwrap_or_default();
            shape = Some(Shape::tuple(elements)?);
        }
    }
}

/// Decodes the message of a shape that is not a tuple. `count` is the number of its `tuple_shapes`.
fn decode_leaf(mut message: ShapeProto, count: usize, bytes: Bytes) -> Result<Shape> {
    if message.element_type == kind::BUFFER && count != 1 {
        reject_array_fields(&message)?;
        return Err(not_one_array(count));
    }
    for element in Elements::new(bytes).take(1) {
        let (mut element, count) = Elements::split(&element?).map_err(|error| in_tuple(error.into(), 0))?;
        // The array of a buffer must have no elements, so one is enough for the error.
        element.tuple_shapes.resize(count.min(1), ShapeProto::default());
        message.tuple_shapes.push(element);
    }
    leaf(&message)
}

/// The number as a size; an error with this field if it is negative.
pub(super) fn size(value: i64, field: impl FnOnce() -> String) -> Result<u64> {
    u64::try_from(value).map_err(|_| ProtoError::new(field(), ProtoErrorKind::Negative { value }))
}

pub(super) fn sizes(values: &[i64], field: &str) -> Result<Vec<u64>> {
    values.iter().enumerate().map(|(i, &value)| size(value, || format!("{field}[{i}]"))).collect()
}

/// Dimension numbers. One that does not fit in a `usize` becomes `usize::MAX`, which no array has.
pub(super) fn dimension_numbers(values: &[i64], field: &str) -> Result<Vec<usize>> {
    sizes(values, field).map(|numbers| numbers.into_iter().map(dimension_number).collect())
}

fn dimension_number(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The element type with this number.
pub(super) fn element_type(number: i32) -> Result<ElementType> {
    let error = || ProtoError::new("element_type", ProtoErrorKind::UnknownElementType { number });
    ElementType::from_proto_number(number).ok_or_else(error)
}

impl TryFrom<&TileProto> for Tile {
    type Error = ProtoError;

    /// # Errors
    /// If a size is negative and not the number for `*`.
    fn try_from(tile: &TileProto) -> Result<Self> {
        let entry = |(i, &value)| match value {
            UNKNOWN => Ok(TileDimension::Combine),
            value => size(value, || format!("dimensions[{i}]")).map(TileDimension::Size),
        };
        Ok(Self::new(&tile.dimensions.iter().enumerate().map(entry).collect::<Result<Vec<_>>>()?))
    }
}

impl TryFrom<&SplitConfigProto> for SplitConfig {
    type Error = ProtoError;

    /// # Errors
    /// If a number is negative.
    fn try_from(split: &SplitConfigProto) -> Result<Self> {
        let dimension = dimension_number(size(split.dimension, || "dimension".to_owned())?);
        Ok(Self::new(dimension, &sizes(&split.split_indices, "split_indices")?))
    }
}

impl TryFrom<&LayoutProto> for Layout {
    type Error = ProtoError;

    /// # Errors
    /// If a number is negative, the layout is not valid, or it is a layout of the former sparse arrays. The path of the
    /// error begins inside the layout.
    fn try_from(layout: &LayoutProto) -> Result<Self> {
        self::layout(layout).map_err(|error| {
            // The paths of validation errors begin at the array.
            let path = error.path().strip_prefix("layout.").unwrap_or(error.path());
            ProtoError::new(path, error.kind().clone())
        })
    }
}

/// Decodes a layout. The paths of errors begin at the shape that contains it.
fn layout(layout: &LayoutProto) -> Result<Layout> {
    let within = |error: ProtoError| error.within("layout");
    for (attribute, present) in [
        (LayoutAttribute::IndexPrimitiveType, layout.index_primitive_type != 0),
        (LayoutAttribute::PointerPrimitiveType, layout.pointer_primitive_type != 0),
        (LayoutAttribute::PhysicalShape, layout.physical_shape.is_some()),
    ] {
        if present {
            return Err(ValidationError::SparseAttribute { attribute }.into());
        }
    }
    let number = |value, attribute: LayoutAttribute| size(value, || format!("layout.{}", attribute.name()));
    let minor_to_major = dimension_numbers(&layout.minor_to_major, "minor_to_major").map_err(within)?;
    let tiles = layout.tiles.iter().enumerate();
    let tiles =
        tiles.map(|(i, tile)| Tile::try_from(tile).map_err(|error| within(error.within(format_args!("tiles[{i}]")))));
    let splits = layout.split_configs.iter().enumerate().map(|(i, split)| {
        SplitConfig::try_from(split).map_err(|error| within(error.within(format_args!("split_configs[{i}]"))))
    });
    let mut decoded = Layout::new(&minor_to_major)?
        .with_tiles(&tiles.collect::<Result<Vec<_>>>()?)?
        .with_split_configs(&splits.collect::<Result<Vec<_>>>()?)?;
    for (attribute, value) in layout.numbers() {
        let value = number(value, attribute)?;
        // A message without the attribute has 0.
        if value != 0 {
            decoded = decoded.with_number(attribute, value)?;
        }
    }
    Ok(decoded)
}

impl TryFrom<&ShapeProto> for ArrayShape {
    type Error = ProtoError;

    /// # Errors
    /// If it is not the message of a valid array.
    fn try_from(shape: &ShapeProto) -> Result<Self> {
        let element_type = element_type(shape.element_type)?;
        reject("tuple_shapes", !shape.tuple_shapes.is_empty())?;
        let dynamic = &shape.is_dynamic_dimension;
        let (expected, found) = (shape.dimensions.len(), dynamic.len());
        // Messages from before XLA had dynamic dimensions lack the list.
        if found != 0 && found != expected {
            let kind = ProtoErrorKind::CountMismatch { expected, found };
            return Err(ProtoError::new("is_dynamic_dimension", kind));
        }
        let dimension = |(i, &value): (usize, &i64)| match (value, dynamic.get(i).copied().unwrap_or(false)) {
            (UNKNOWN, true) => Ok(Dimension::Unbounded),
            (value, dynamic) => {
                let size = size(value, || format!("dimensions[{i}]"))?;
                Ok(if dynamic { Dimension::Bounded(size) } else { Dimension::Static(size) })
            }
        };
        let dimensions = shape.dimensions.iter().enumerate().map(dimension).collect::<Result<Vec<_>>>()?;
        let layout = match &shape.layout {
            Some(layout) => self::layout(layout)?,
            None => Layout::descending(dimensions.len()),
        };
        Ok(Self::new(element_type, &dimensions, layout)?)
    }
}

impl TryFrom<&ShapeProto> for Shape {
    type Error = ProtoError;

    /// # Errors
    /// If it is not the message of a valid shape.
    fn try_from(shape: &ShapeProto) -> Result<Self> {
        nested(shape, 0)
    }
}

/// Decodes a shape that is inside `depth` tuples.
fn nested(shape: &ShapeProto, depth: usize) -> Result<Shape> {
    if shape.element_type != kind::TUPLE {
        return leaf(shape);
    }
    reject_array_fields(shape)?;
    if depth == MAX_NESTING {
        return Err(ValidationError::NestedTooDeep { limit: MAX_NESTING }.into());
    }
    // A plain loop, because closures would add stack frames to each level of the recursion.
    let mut elements = Vec::new();
    for (i, element) in shape.tuple_shapes.iter().enumerate() {
        match nested(element, depth + 1) {
            Ok(element) => elements.push(element),
            Err(error) => return Err(in_tuple(error, i)),
        }
    }
    Ok(Shape::tuple(elements)?)
}

#[cold]
fn not_one_array(found: usize) -> ProtoError {
    ProtoError::new("tuple_shapes", ProtoErrorKind::CountMismatch { expected: 1, found })
}

#[cold]
fn in_tuple(error: ProtoError, element: usize) -> ProtoError {
    error.within(format_args!("tuple_shapes[{element}]"))
}

/// Decodes a shape that is not a tuple.
#[inline(never)]
fn leaf(shape: &ShapeProto) -> Result<Shape> {
    match shape.element_type {
        kind::BUFFER => {
            reject_array_fields(shape)?;
            let [array] = shape.tuple_shapes.as_slice() else {
                return Err(not_one_array(shape.tuple_shapes.len()));
            };
            if matches!(array.element_type, kind::TUPLE | kind::OPAQUE | kind::TOKEN | kind::BUFFER) {
                return Err(ProtoError::new("tuple_shapes[0]", ProtoErrorKind::NotAnArray));
            }
            ArrayShape::try_from(array).map(Shape::Buffer).map_err(|error| in_tuple(error, 0))
        }
        number @ (kind::TOKEN | kind::OPAQUE) => {
            reject_array_fields(shape)?;
            reject("tuple_shapes", !shape.tuple_shapes.is_empty())?;
            Ok(if number == kind::TOKEN { Shape::Token } else { Shape::Opaque })
        }
        _ => ArrayShape::try_from(shape).map(Shape::Array),
    }
}

/// Checks that no field is set that only an array has.
fn reject_array_fields(shape: &ShapeProto) -> Result<()> {
    reject("dimensions", !shape.dimensions.is_empty())?;
    reject("layout", shape.layout.is_some())?;
    reject("is_dynamic_dimension", !shape.is_dynamic_dimension.is_empty())
}

fn reject(field: &str, present: bool) -> Result<()> {
    if present { Err(ProtoError::new(field, ProtoErrorKind::UnexpectedField)) } else { Ok(()) }
}

impl TryFrom<&ProgramShapeProto> for ProgramShape {
    type Error = ProtoError;

    /// There must be a name for every parameter, as `ProgramShape::FromProto` in `xla/shape.cc` requires; it may be
    /// empty.
    ///
    /// # Errors
    /// If a shape is not valid, the result is missing, or the numbers of names and parameters differ.
    fn try_from(program: &ProgramShapeProto) -> Result<Self> {
        let (expected, found) = (program.parameters.len(), program.parameter_names.len());
        if expected != found {
            return Err(ProtoError::new("parameter_names", ProtoErrorKind::CountMismatch { expected, found }));
        }
        let parameters = program.parameters.iter().zip(&program.parameter_names).enumerate();
        let parameters = parameters.map(|(i, (shape, name))| {
            let shape = Shape::try_from(shape).map_err(|error| error.within(format_args!("parameters[{i}]")))?;
            Ok(ProgramParameter { name: name.clone(), shape })
        });
        let parameters = parameters.collect::<Result<_>>()?;
        let result = program.result.as_ref().ok_or_else(|| ProtoError::new("result", ProtoErrorKind::Missing))?;
        Ok(Self { parameters, result: Shape::try_from(result).map_err(|error| error.within("result"))? })
    }
}
