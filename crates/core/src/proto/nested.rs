//! The wire format of [`ShapeProto`], written by hand, because tuples may be nested deeper than prost's recursion
//! limit.

use super::message::{LayoutProto, ShapeProto};
use crate::text::MAX_NESTING;
use alloc::vec::Vec;
use prost::bytes::{Buf, BufMut, Bytes};
use prost::encoding::{self, DecodeContext, WireType};
use prost::{DecodeError, Message};

const ELEMENT_TYPE: u32 = 2;
const DIMENSIONS: u32 = 3;
const TUPLE_SHAPES: u32 = 4;
const LAYOUT: u32 = 5;
const IS_DYNAMIC_DIMENSION: u32 = 6;

impl Message for ShapeProto {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        if self.element_type != 0 {
            encoding::int32::encode(ELEMENT_TYPE, &self.element_type, buf);
        }
        encoding::int64::encode_packed(DIMENSIONS, &self.dimensions, buf);
        for element in &self.tuple_shapes {
            encoding::message::encode(TUPLE_SHAPES, element, buf);
        }
        if let Some(layout) = &self.layout {
            encoding::message::encode(LAYOUT, layout, buf);
        }
        encoding::bool::encode_packed(IS_DYNAMIC_DIMENSION, &self.is_dynamic_dimension, buf);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        merge_field(self, tag, wire_type, buf, context, 0)
    }

    fn encoded_len(&self) -> usize {
        let element_type = match self.element_type {
            0 => 0,
            _ => encoding::int32::encoded_len(ELEMENT_TYPE, &self.element_type),
        };
        let layout = self.layout.as_ref().map_or(0, |layout| encoding::message::encoded_len(LAYOUT, layout));
        [
            element_type,
            encoding::int64::encoded_len_packed(DIMENSIONS, &self.dimensions),
            encoding::message::encoded_len_repeated(TUPLE_SHAPES, &self.tuple_shapes),
            layout,
            encoding::bool::encoded_len_packed(IS_DYNAMIC_DIMENSION, &self.is_dynamic_dimension),
        ]
        .into_iter()
        .sum()
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The key and the length that precede the bytes of a tuple's element.
pub(super) fn element_head(bytes: usize) -> Vec<u8> {
    let mut head = Vec::new();
    encoding::encode_key(TUPLE_SHAPES, WireType::LengthDelimited, &mut head);
    encoding::encode_varint(bytes as u64, &mut head);
    head
}

/// Decodes one field of a shape that is inside `depth` others.
fn merge_field(
    shape: &mut ShapeProto,
    tag: u32,
    wire_type: WireType,
    buf: &mut impl Buf,
    context: DecodeContext,
    depth: usize,
) -> Result<(), DecodeError> {
    match tag {
        ELEMENT_TYPE => {
            encoding::int32::merge(wire_type, &mut shape.element_type, buf, context).map_err(named("element_type"))
        }
        DIMENSIONS => {
            encoding::int64::merge_repeated(wire_type, &mut shape.dimensions, buf, context).map_err(named("dimensions"))
        }
        TUPLE_SHAPES => {
            let element = nested(wire_type, buf, context, depth).map_err(named("tuple_shapes"))?;
            shape.tuple_shapes.push(element);
            Ok(())
        }
        LAYOUT => {
            let layout = shape.layout.get_or_insert_with(LayoutProto::default);
            encoding::message::merge(wire_type, layout, buf, context).map_err(named("layout"))
        }
        IS_DYNAMIC_DIMENSION => {
            encoding::bool::merge_repeated(wire_type, &mut shape.is_dynamic_dimension, buf, context)
                .map_err(named("is_dynamic_dimension"))
        }
        _ => encoding::skip_field(wire_type, tag, buf, context),
    }
}

/// Iterates over the messages of a tuple's elements, each as undecoded bytes.
pub(super) struct Elements(Bytes);

impl Elements {
    pub(super) fn new(shape: Bytes) -> Self {
        Self(shape)
    }

    /// Decodes a message without the elements of a tuple, and returns their number.
    pub(super) fn split(bytes: &Bytes) -> Result<(ShapeProto, usize), DecodeError> {
        let (mut shape, mut count, mut rest) = (ShapeProto::default(), 0_usize, bytes.clone());
        while rest.has_remaining() {
            let (tag, wire_type) = encoding::decode_key(&mut rest)?;
            if tag == TUPLE_SHAPES {
                field(wire_type, &mut rest, DecodeContext::default()).map_err(named("tuple_shapes"))?;
                count += 1;
            } else {
                merge_field(&mut shape, tag, wire_type, &mut rest, DecodeContext::default(), 0)?;
            }
        }
        Ok((shape, count))
    }
}

impl Iterator for Elements {
    type Item = Result<Bytes, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.0.has_remaining() {
            let element = encoding::decode_key(&mut self.0).and_then(|(tag, wire_type)| match tag {
                TUPLE_SHAPES => field(wire_type, &mut self.0, DecodeContext::default()).map(Some),
                _ => encoding::skip_field(wire_type, tag, &mut self.0, DecodeContext::default()).map(|()| None),
            });
            if let Some(element) = element.transpose() {
                return Some(element);
            }
        }
        None
    }
}

/// Takes the bytes of a length-delimited field, so that decoding its contents cannot read past its end.
fn field(wire_type: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<Bytes, DecodeError> {
    let mut field = Bytes::new();
    encoding::bytes::merge(wire_type, &mut field, buf, context)?;
    Ok(field)
}

/// Adds the name of a field of `ShapeProto` to an error.
fn named(field: &'static str) -> impl FnOnce(DecodeError) -> DecodeError {
    move |mut error| {
        error.push("ShapeProto", field);
        error
    }
}

/// Decodes a tuple's element and the length before it.
fn nested(
    wire_type: WireType,
    buf: &mut impl Buf,
    context: DecodeContext,
    depth: usize,
) -> Result<ShapeProto, DecodeError> {
    if depth == MAX_NESTING {
        return Err(too_deep());
    }
    let mut field = field(wire_type, buf, context.clone())?;
    let mut shape = ShapeProto::default();
    while field.has_remaining() {
        let (tag, wire_type) = encoding::decode_key(&mut field)?;
        merge_field(&mut shape, tag, wire_type, &mut field, context.clone(), depth + 1)?;
    }
    Ok(shape)
}

/// prost's own recursion error. Only prost can construct it, so this decodes groups that are nested too deep.
#[cold]
fn too_deep() -> DecodeError {
    const START_OF_A_GROUP: u8 = 0x0b;
    <()>::decode([START_OF_A_GROUP; 256].as_slice()).expect_err("the groups have no end")
}

#[cfg(test)]
mod tests {
    use super::{ShapeProto, too_deep};
    use alloc::string::ToString;
    use alloc::vec;
    use alloc::vec::Vec;
    use prost::Message;

    fn nested(depth: usize) -> Vec<u8> {
        let mut shape = ShapeProto { element_type: 17, ..ShapeProto::default() };
        for _ in 0..depth {
            shape = ShapeProto { element_type: 13, tuple_shapes: vec![shape], ..ShapeProto::default() };
        }
        shape.encode_to_vec()
    }

    #[test]
    fn tuples_in_tuples_have_a_limit_of_their_own() {
        let deepest = nested(200);
        assert_eq!(ShapeProto::decode(&*deepest).unwrap().encode_to_vec(), deepest);
        let error = ShapeProto::decode(&*nested(201)).unwrap_err().to_string();
        assert!(error.ends_with("recursion limit reached"), "{error}");
    }

    #[test]
    fn hostile_nesting_is_an_error_too() {
        // A length of 100,000 levels, written from the inside out.
        let mut bytes = vec![];
        for _ in 0..100_000 {
            let mut outer = vec![0x22];
            prost::encoding::encode_varint(bytes.len() as u64, &mut outer);
            if bytes.len() < 1 << 16 {
                outer.extend_from_slice(&bytes);
                bytes = outer;
            }
        }
        assert!(ShapeProto::decode(&*bytes).is_err());
    }

    #[test]
    fn the_error_is_prosts_own() {
        assert!(too_deep().to_string().contains("recursion limit reached"));
    }
}
