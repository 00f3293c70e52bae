//! Arrays in the formats of `serde`: the shape, and the bytes as they are in memory.

use super::AlignedBytes;
use super::bytes::Bytes;
use super::storage::{Buffer, WholeShape};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use xla_shape_core::ArrayShape;

/// The serialized form of an array.
#[derive(serde::Serialize)]
#[serde(rename = "Buffer")]
struct SerializedBuffer<'a> {
    shape: ArrayShape,
    bytes: BorrowedBytes<'a>,
}

/// The deserialized form of an array.
#[derive(serde::Deserialize)]
#[serde(rename = "Buffer")]
struct DeserializedBuffer {
    shape: ArrayShape,
    bytes: OwnedBytes,
}

/// Serializes as bytes, not as a list of numbers, where the format distinguishes the two.
struct BorrowedBytes<'a>(&'a [u8]);

impl Serialize for BorrowedBytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

struct OwnedBytes(AlignedBytes);

impl<'de> Deserialize<'de> for OwnedBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = OwnedBytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of an array")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<OwnedBytes, E> {
        let mut memory = AlignedBytes::zeroed(bytes.len()).map_err(E::custom)?;
        memory.as_mut().copy_from_slice(bytes);
        Ok(OwnedBytes(memory))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<OwnedBytes, A::Error> {
        // The length that the input claims is not trusted.
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

/// Writes a field `shape` and a field `bytes`: the elements and the padding, in the order of memory.
impl<S: WholeShape, B: Bytes> Serialize for Buffer<S, B> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let view = self.view();
        SerializedBuffer { shape: self.shape.array(), bytes: BorrowedBytes(view.as_bytes()) }.serialize(serializer)
    }
}

/// Reads what `Serialize` writes. An array whose shape is not the type's, or with the wrong number of bytes, is an error.
///
/// ```
/// use xla_shape::{Buffer, shape};
///
/// type X = shape!(f32[2,3]{1,0:T(2,4)});
/// let x = Buffer::<X>::filled(1.5);
/// let text = serde_json::to_string(&x)?;
/// assert!(text.starts_with("{\"shape\":\"f32[2,3]{1,0:T(2,4)}\",\"bytes\":[0,0,192,63,"));
/// assert_eq!(serde_json::from_str::<Buffer<X>>(&text)?, x);
/// assert!(serde_json::from_str::<Buffer<shape!(f32[2,3])>>(&text).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<'de, S: WholeShape> Deserialize<'de> for Buffer<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let DeserializedBuffer { shape, bytes } = DeserializedBuffer::deserialize(deserializer)?;
        let shape = S::try_from_shape(&shape).map_err(D::Error::custom)?;
        shape.buffer(bytes.0).map_err(D::Error::custom)
    }
}
