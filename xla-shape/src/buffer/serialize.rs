//! Arrays in the formats of `serde`: a shape, and the bytes as they are in memory.

use super::bytes::{AlignedBytes, Bytes};
use super::storage::{Buffer, WholeShape};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use xla_shape_core::ArrayShape;

/// What is written of an array.
#[derive(serde::Serialize)]
#[serde(rename = "Buffer")]
struct Written<'a> {
    shape: ArrayShape,
    bytes: Raw<'a>,
}

/// What is read.
#[derive(serde::Deserialize)]
#[serde(rename = "Buffer")]
struct Read {
    shape: ArrayShape,
    bytes: Owned,
}

/// Bytes, not a list of numbers, where the format has such.
struct Raw<'a>(&'a [u8]);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

struct Owned(AlignedBytes);

impl<'de> Deserialize<'de> for Owned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Owned;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of an array")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Owned, E> {
        let mut memory = AlignedBytes::zeroed(bytes.len()).map_err(E::custom)?;
        memory.as_mut().copy_from_slice(bytes);
        Ok(Owned(memory))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Owned, A::Error> {
        // What the input says of its length is not trusted.
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

/// A field `shape`, and a field `bytes`: the elements and the padding, in the order of memory.
impl<S: WholeShape, B: Bytes> Serialize for Buffer<S, B> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let view = self.view();
        Written { shape: self.shape.array(), bytes: Raw(view.as_bytes()) }.serialize(serializer)
    }
}

/// The same; an array of another shape than the type's, or with more or fewer bytes than it takes, is an error.
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
        let Read { shape, bytes } = Read::deserialize(deserializer)?;
        let shape = S::of(&shape).map_err(D::Error::custom)?;
        shape.buffer(bytes.0).map_err(D::Error::custom)
    }
}
