//! A fast path for the usual message of an array: decodes the bytes directly, without a
//! [`ShapeProto`](super::ShapeProto).

use super::wire::{Content, Field, Fields, varint};
use crate::layout::ArrayLayout;
use crate::layout::tile::{Tile, TileDimension};
use crate::list::List;
use crate::{ArrayShape, Dimension, ElementType, Layout};

/// Decodes the message of an array. `None` for anything unusual or wrong: the general decoder reads it then, or reports
/// the error.
pub(super) fn array(bytes: &[u8]) -> Option<ArrayShape> {
    let (mut element_type, mut sizes, mut dynamic, mut layout_bytes) = (None, None, &[][..], None);
    for field in Fields::new(bytes) {
        let Field { number, content } = field.ok()?;
        match (number, content) {
            (2, Content::Number(value)) => element_type = Some(i32::try_from(value).ok()?),
            (3, Content::Bytes(bytes)) if sizes.is_none() => sizes = Some(bytes),
            (5, Content::Bytes(bytes)) if layout_bytes.is_none() => layout_bytes = Some(bytes),
            (6, Content::Bytes(bytes)) if dynamic.is_empty() => dynamic = bytes,
            _ => return None,
        }
    }
    let element_type = ElementType::from_proto_number(element_type?)?;
    let mut dimensions = List::EMPTY;
    let mut rest = sizes.unwrap_or(&[]);
    let mut flags = dynamic.iter();
    while !rest.is_empty() {
        let size = small(varint(&mut rest)?)?;
        dimensions.push(match flags.next() {
            // The message may leave out all flags, but not some of them.
            None if dynamic.is_empty() => Dimension::Static(size),
            Some(0) => Dimension::Static(size),
            Some(1) => Dimension::Bounded(size),
            _ => return None,
        });
    }
    if flags.next().is_some() {
        return None;
    }
    let count = dimensions.as_slice().len();
    let layout = match layout_bytes {
        Some(bytes) => layout(bytes)?.into(),
        None => ArrayLayout::descending(count),
    };
    let shape = ArrayShape::unchecked(element_type, dimensions, layout);
    shape.check().ok().map(|()| shape)
}

/// Decodes a layout. The caller checks it together with the array.
fn layout(bytes: &[u8]) -> Option<Layout> {
    let mut layout = Layout::unchecked(List::EMPTY);
    for field in Fields::new(bytes) {
        let Field { number, content } = field.ok()?;
        match (number, content) {
            (1, Content::Bytes(mut rest)) if layout.minor_to_major.as_slice().is_empty() => {
                while !rest.is_empty() {
                    layout.minor_to_major.push(usize::try_from(varint(&mut rest)?).ok()?);
                }
            }
            (6, Content::Bytes(bytes)) => layout.tiles.push(tile(bytes)?),
            (7, Content::Number(bits)) => layout.element_size_in_bits = small(bits)?,
            (8, Content::Number(space)) => layout.memory_space = u8::try_from(space).ok()?,
            (16, Content::Number(elements @ 1..)) => layout.tail_padding_alignment_in_elements = small(elements)?,
            _ => return None,
        }
    }
    Some(layout)
}

fn tile(bytes: &[u8]) -> Option<Tile> {
    let mut tile = Tile::EMPTY;
    for field in Fields::new(bytes) {
        let Field { number: 1, content: Content::Bytes(mut rest) } = field.ok()? else { return None };
        while !rest.is_empty() {
            tile.push(TileDimension::Size(small(varint(&mut rest)?)?));
        }
    }
    Some(tile)
}

/// A number that fits in 63 bits; negative numbers do not.
fn small(value: u64) -> Option<u64> {
    (value <= i64::MAX as u64).then_some(value)
}
