//! Protocol buffers: shapes, layouts, program shapes and shardings as the messages of `xla/xla_data.proto`.
//!
//! [`encode_shape`] writes the same bytes as XLA. [`decode_shape`] checks every message; an error has the path of the
//! field that is wrong. Unknown fields are skipped, and so are fields that XLA no longer uses.
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
mod message;
mod nested;
mod sharding;
#[doc(hidden)]
pub mod wire;

pub use decode::decode_shape;
pub use encode::encode_shape;
pub use error::{ProtoError, ProtoErrorKind};
pub use message::{LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto};
// The messages of shardings are for xla-shape-hlo, which decodes them inside of larger messages.
#[doc(hidden)]
pub use sharding::{
    AxisRefProto, DimensionShardingProto, IotaProto, MeshAxisProto, MeshProto, NamedShardingProto, OpMetadataProto,
    OpShardingProto, PayloadProto, SubAxisProto,
};
pub use sharding::{decode_sharding, encode_sharding};

/// The number for an unknown size: an unbounded dimension (`Shape::kUnboundedSize` in `xla/shape.h`), or `*` in a tile
/// (`Tile::kCombineDimension` in `xla/layout.h`).
const UNKNOWN: i64 = i64::MIN;

/// The numbers in `PrimitiveType` of `xla/xla_data.proto` that stand for kinds of [`Shape`](crate::Shape), not for
/// element types.
mod kind {
    pub(super) const TUPLE: i32 = 13;
    pub(super) const OPAQUE: i32 = 14;
    pub(super) const TOKEN: i32 = 17;
    pub(super) const BUFFER: i32 = 34;
}
