//! The messages of XLA's schema (package `xla`), to and from shapes.
//!
//! Encoded, a shape is the bytes that XLA writes for it; decoded, every message is checked, and an error says in which field
//! of which part it is. Fields that XLA has given up, and fields that it may get, are skipped.
//!
//! ```
//! use xla_shape_core::Shape;
//! use xla_shape_core::proto::{ShapeProto, decode_shape, encode_shape};
//!
//! let shape: Shape = "(f32[2,3]{1,0:T(8,128)}, token[])".parse()?;
//! let bytes = encode_shape(&shape);
//! assert_eq!(decode_shape(&bytes)?, shape);
//!
//! let mut message = ShapeProto::from(&shape);
//! message.tuple_shapes[0].layout.as_mut().unwrap().minor_to_major = vec![1, 1];
//! let error = Shape::try_from(&message).unwrap_err();
//! assert_eq!(error.path(), "tuple_shapes[0].layout.minor_to_major[1]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array;
mod decode;
mod encode;
mod error;
mod legacy;
mod message;
mod nested;
mod sharding;
#[doc(hidden)]
pub mod wire;

pub use decode::decode_shape;
pub use encode::encode_shape;
pub use error::{ProtoError, ProtoErrorKind};
pub use legacy::{LegacyLayoutProto, LegacyShapeProto};
pub use message::{LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto};
pub use sharding::{
    AxisRefProto, DimensionShardingProto, IotaProto, MeshAxisProto, MeshProto, NamedShardingProto, OpMetadataProto,
    OpShardingProto, PayloadProto, SubAxisProto, decode_sharding, encode_sharding,
};

/// What the schema writes for a size that is not known: of an unbounded dimension, and of `*` in a tile.
const UNKNOWN: i64 = i64::MIN;

/// The numbers of those element types that are kinds of [`Shape`](crate::Shape) here.
mod kind {
    pub(super) const TUPLE: i32 = 13;
    pub(super) const OPAQUE: i32 = 14;
    pub(super) const TOKEN: i32 = 17;
    pub(super) const BUFFER: i32 = 34;
}
