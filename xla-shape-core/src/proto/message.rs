//! The messages.

use alloc::string::String;
use alloc::vec::Vec;

/// One tile.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct TileProto {
    /// The entries from major to minor, in elements; `i64::MIN` stands for `*`.
    #[prost(int64, repeated, tag = "1")]
    pub dimensions: Vec<i64>,
}

/// Where one physical dimension is cut into pieces.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct SplitConfigProto {
    /// The physical dimension; 0 is the most major.
    #[prost(int64, tag = "1")]
    pub dimension: i64,
    /// The indices at which a new piece begins, in elements.
    #[prost(int64, repeated, tag = "2")]
    pub split_indices: Vec<i64>,
}

/// How an array lies in memory.
///
/// The fields 2 and 3 are those of 2017 ([`LegacyLayoutProto`](super::LegacyLayoutProto)), 4 and 5 those of sparse arrays
/// before they had levels; all four are skipped.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct LayoutProto {
    /// The dimensions from the fastest varying one to the slowest.
    #[prost(int64, repeated, tag = "1")]
    pub minor_to_major: Vec<i64>,
    /// The tiles, in the order in which they are applied.
    #[prost(message, repeated, tag = "6")]
    pub tiles: Vec<TileProto>,
    /// The bits that one element takes; 0 stands for the element type's own storage size.
    #[prost(int64, tag = "7")]
    pub element_size_in_bits: i64,
    /// Where the array lies.
    #[prost(int64, tag = "8")]
    pub memory_space: i64,
    /// The levels of the former sparse arrays; read and dropped.
    #[prost(int32, repeated, tag = "9")]
    pub dim_level_types: Vec<i32>,
    /// The shape of a former sparse array's data, in bytes that are not looked into.
    #[prost(bytes = "vec", optional, tag = "10")]
    pub physical_shape: Option<Vec<u8>>,
    /// The type of a former sparse array's indices.
    #[prost(int32, tag = "11")]
    pub index_primitive_type: i32,
    /// The type of a former sparse array's pointers.
    #[prost(int32, tag = "12")]
    pub pointer_primitive_type: i32,
    /// Whether the levels of a former sparse array hold an index only once; read and dropped.
    #[prost(bool, repeated, tag = "13")]
    pub dim_unique: Vec<bool>,
    /// Whether the levels of a former sparse array are sorted; read and dropped.
    #[prost(bool, repeated, tag = "14")]
    pub dim_ordered: Vec<bool>,
    /// The bytes before the data that hold the sizes of bounded dimensions.
    #[prost(int64, tag = "15")]
    pub dynamic_shape_metadata_prefix_bytes: i64,
    /// The physical elements are rounded up to a multiple of this; 0 reads as 1.
    #[prost(int64, tag = "16")]
    pub tail_padding_alignment_in_elements: i64,
    /// The physical dimensions that are cut into pieces.
    #[prost(message, repeated, tag = "17")]
    pub split_configs: Vec<SplitConfigProto>,
}

/// The shape of any value.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShapeProto {
    /// Field 2: the number of the element type, or of the kind of shape (`PrimitiveType`).
    pub element_type: i32,
    /// Field 3: the sizes or bounds, in elements; `i64::MIN` for an unbounded dimension.
    pub dimensions: Vec<i64>,
    /// Field 4: the elements of a tuple, or the array that a buffer refers to.
    pub tuple_shapes: Vec<Self>,
    /// Field 5: how an array lies in memory.
    pub layout: Option<LayoutProto>,
    /// Field 6: for each dimension, whether its size is known only when the program runs.
    pub is_dynamic_dimension: Vec<bool>,
}

/// The shapes of a computation's parameters and of its result.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct ProgramShapeProto {
    /// The parameters' shapes.
    #[prost(message, repeated, tag = "1")]
    pub parameters: Vec<ShapeProto>,
    /// The result's shape.
    #[prost(message, optional, tag = "2")]
    pub result: Option<ShapeProto>,
    /// The parameters' names: as many as parameters, or XLA refuses the message; an empty one for a parameter without a name.
    #[prost(string, repeated, tag = "3")]
    pub parameter_names: Vec<String>,
}
