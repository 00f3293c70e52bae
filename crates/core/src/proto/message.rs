//! The messages of shapes, layouts and program shapes.

use crate::layout::Layout;
use crate::validate::LayoutAttribute;
use alloc::string::String;
use alloc::vec::Vec;

/// A tile: `TileProto` in `xla/xla_data.proto`.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::proto::ShapeProto;
///
/// let message = ShapeProto::from(&"f32[7,2,5]{2,1,0:T(2,*,3)}".parse::<Shape>()?);
/// assert_eq!(message.layout.unwrap().tiles[0].dimensions, [2, i64::MIN, 3]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct TileProto {
    /// The entries from major to minor, in elements; `i64::MIN` stands for `*`.
    #[prost(int64, repeated, tag = "1")]
    pub dimensions: Vec<i64>,
}

/// The split of one physical dimension across memories: `SplitConfigProto` in `xla/xla_data.proto`.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::proto::ShapeProto;
///
/// let message = ShapeProto::from(&"f32[8,128]{1,0:SC(0:4)}".parse::<Shape>()?);
/// let split = &message.layout.unwrap().split_configs[0];
/// assert_eq!((split.dimension, split.split_indices.as_slice()), (0, &[4][..]));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct SplitConfigProto {
    /// The physical dimension; 0 is the most major.
    #[prost(int64, tag = "1")]
    pub dimension: i64,
    /// The indices, in elements, at which a new part begins.
    #[prost(int64, repeated, tag = "2")]
    pub split_indices: Vec<i64>,
}

macro_rules! layout_proto {
    ($($variant:ident $symbol:literal $field:ident $type:ident $default:literal ($tag:literal) $with:ident $ignore:ident
        [$($parameter:ident)?] $doc:literal $cells:tt)*) => {
        /// The layout of an array: `LayoutProto` in `xla/xla_data.proto`.
        ///
        /// Fields 2 to 5 are skipped: 2 and 3 are from 2017 (`LegacyLayoutProto` of `xla-shape-parity`), 4 and 5 from
        /// early sparse arrays.
        ///
        /// ```
        /// use xla_shape_core::Shape;
        /// use xla_shape_core::proto::ShapeProto;
        ///
        /// let message = ShapeProto::from(&"bf16[8,128]{1,0:T(8,128)(2,1)S(1)}".parse::<Shape>()?);
        /// let layout = message.layout.unwrap();
        /// assert_eq!((layout.minor_to_major.as_slice(), layout.tiles.len(), layout.memory_space), (&[1, 0][..], 2, 1));
        /// # Ok::<(), xla_shape_core::ParseError>(())
        /// ```
        #[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
        pub struct LayoutProto {
            /// The dimensions from minor to major.
            #[prost(int64, repeated, tag = "1")]
            pub minor_to_major: Vec<i64>,
            /// The tiles, in the order in which they are applied.
            #[prost(message, repeated, tag = "6")]
            pub tiles: Vec<TileProto>,
            /// The level types of a former sparse array; ignored.
            #[prost(int32, repeated, tag = "9")]
            pub dim_level_types: Vec<i32>,
            /// The physical shape of a former sparse array, as undecoded bytes.
            #[prost(bytes = "vec", optional, tag = "10")]
            pub physical_shape: Option<Vec<u8>>,
            /// The type of the indices of a former sparse array.
            #[prost(int32, tag = "11")]
            pub index_primitive_type: i32,
            /// The type of the pointers of a former sparse array.
            #[prost(int32, tag = "12")]
            pub pointer_primitive_type: i32,
            /// Whether each level of a former sparse array has unique indices; ignored.
            #[prost(bool, repeated, tag = "13")]
            pub dim_unique: Vec<bool>,
            /// Whether each level of a former sparse array is sorted; ignored.
            #[prost(bool, repeated, tag = "14")]
            pub dim_ordered: Vec<bool>,
            /// The physical dimensions that are split across memories.
            #[prost(message, repeated, tag = "17")]
            pub split_configs: Vec<SplitConfigProto>,
            $(
                #[doc = concat!("`", $symbol, "(n)`: ", $doc)]
                ///
                /// 0 means the default.
                #[prost(int64, tag = $tag)]
                pub $field: i64,
            )*
        }

        impl LayoutProto {
            /// The attributes that are numbers.
            pub(super) fn numbers(&self) -> impl Iterator<Item = (LayoutAttribute, i64)> {
                [$((LayoutAttribute::$variant, self.$field)),*].into_iter()
            }

            /// Without tiles and splits.
            pub(super) fn of_numbers(layout: &Layout) -> Self {
                Self { $($field: super::encode::int(layout.$field()),)* ..Self::default() }
            }
        }
    };
}

crate::layout_numbers!(layout_proto);

/// The shape of any value: `ShapeProto` in `xla/xla_data.proto`.
///
/// ```
/// use xla_shape_core::proto::ShapeProto;
/// use xla_shape_core::{ElementType, Shape};
///
/// let number = ElementType::F32.proto_number();
/// let message = ShapeProto { element_type: number, dimensions: vec![2, 3], ..ShapeProto::default() };
/// assert_eq!(Shape::try_from(&message)?.to_string(), "f32[2,3]{1,0}", "without a layout, row-major");
/// # Ok::<(), xla_shape_core::proto::ProtoError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShapeProto {
    /// Field 2: the number of the element type or of the kind of shape (`PrimitiveType`).
    pub element_type: i32,
    /// Field 3: the sizes or bounds, in elements; `i64::MIN` for an unbounded dimension.
    pub dimensions: Vec<i64>,
    /// Field 4: the elements of a tuple, or the array of a buffer.
    pub tuple_shapes: Vec<Self>,
    /// Field 5: the layout of an array.
    pub layout: Option<LayoutProto>,
    /// Field 6: for each dimension, whether its size is dynamic.
    pub is_dynamic_dimension: Vec<bool>,
}

/// The shapes of a computation's parameters and result: `ProgramShapeProto` in `xla/xla_data.proto`.
///
/// ```
/// use xla_shape_core::ProgramShape;
/// use xla_shape_core::proto::ProgramShapeProto;
///
/// let program = ProgramShape { parameters: vec![], result: "f32[2]".parse()? };
/// let message = ProgramShapeProto::from(&program);
/// assert_eq!(message.result.as_ref().unwrap().dimensions, [2]);
/// assert_eq!(ProgramShape::try_from(&message)?, program);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct ProgramShapeProto {
    /// The shapes of the parameters.
    #[prost(message, repeated, tag = "1")]
    pub parameters: Vec<ShapeProto>,
    /// The shape of the result.
    #[prost(message, optional, tag = "2")]
    pub result: Option<ShapeProto>,
    /// The names of the parameters. XLA refuses a message that does not have one for each parameter; a name may be empty.
    #[prost(string, repeated, tag = "3")]
    pub parameter_names: Vec<String>,
}
