//! `LiteralProto`.

use alloc::vec::Vec;
use xla_shape_core::ElementType;
use xla_shape_core::proto::ShapeProto;

/// The elements of a literal as the message stores them: numbers, parts of complex numbers, or bytes for small types.
pub(crate) enum Elements<'l> {
    Flags(&'l mut Vec<bool>),
    I32(&'l mut Vec<i32>),
    I64(&'l mut Vec<i64>),
    U32(&'l mut Vec<u32>),
    U64(&'l mut Vec<u64>),
    F32(&'l mut Vec<f32>),
    F64(&'l mut Vec<f64>),
    Bytes(&'l mut Vec<u8>),
}

macro_rules! literal {
    ($($variant:ident $name:ident $number:literal $value:tt ($tag:literal $storage:ident)
        $description:literal $meaning:literal $cells:tt)*) => {
        literal! { @fields {} $($variant $tag $storage)* }

        impl LiteralProto {
            /// The field with the elements of this type.
            pub(crate) const fn elements(&mut self, element_type: ElementType) -> Option<Elements<'_>> {
                Some(match element_type {
                    $(ElementType::$variant => Elements::$storage(&mut self.$variant),)*
                    _ => return None,
                })
            }
        }
    };
    // The fields are written out one by one, because the derive macro needs the tokens of each type and attribute.
    (@fields { $($fields:tt)* } $variant:ident $tag:literal Flags $($rest:tt)*) => {
        literal! { @fields { $($fields)* #[prost(bool, repeated, tag = $tag)] pub(crate) $variant: Vec<bool>, } $($rest)* }
    };
    (@fields { $($fields:tt)* } $variant:ident $tag:literal I32 $($rest:tt)*) => {
        literal! { @fields { $($fields)* #[prost(int32, repeated, tag = $tag)] pub(crate) $variant: Vec<i32>, } $($rest)* }
    };
    (@fields { $($fields:tt)* } $variant:ident $tag:literal I64 $($rest:tt)*) => {
        literal! { @fields { $($fields)* #[prost(int64, repeated, tag = $tag)] pub(crate) $variant: Vec<i64>, } $($rest)* }
    };
    (@fields { $($fields:tt)* } $variant:ident $tag:literal U32 $($rest:tt)*) => {
        literal! { @fields { $($fields)* #[prost(uint32, repeated, tag = $tag)] pub(crate) $variant: Vec<u32>, } $($rest)* }
    };
    (@fields { $($fields:tt)* } $variant:ident $tag:literal U64 $($rest:tt)*) => {
        literal! { @fields { $($fields)* #[prost(uint64, repeated, tag = $tag)] pub(crate) $variant: Vec<u64>, } $($rest)* }
    };
    (@fields { $($fields:tt)* } $variant:ident $tag:literal F32 $($rest:tt)*) => {
        literal! { @fields { $($fields)* #[prost(float, repeated, tag = $tag)] pub(crate) $variant: Vec<f32>, } $($rest)* }
    };
    (@fields { $($fields:tt)* } $variant:ident $tag:literal F64 $($rest:tt)*) => {
        literal! { @fields { $($fields)* #[prost(double, repeated, tag = $tag)] pub(crate) $variant: Vec<f64>, } $($rest)* }
    };
    (@fields { $($fields:tt)* } $variant:ident $tag:literal Bytes $($rest:tt)*) => {
        literal! { @fields { $($fields)* #[prost(bytes = "vec", tag = $tag)] pub(crate) $variant: Vec<u8>, } $($rest)* }
    };
    (@fields { $($fields:tt)* }) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub(crate) struct LiteralProto {
            #[prost(message, optional, tag = "1")]
            pub(crate) shape: Option<ShapeProto>,
            $($fields)*
            #[prost(message, repeated, tag = "10")]
            pub(crate) tuple_literals: Vec<LiteralProto>,
            #[prost(int64, repeated, tag = "14")]
            pub(crate) sparse_indices: Vec<i64>,
            #[prost(int32, repeated, tag = "34")]
            pub(crate) dynamic_sizes: Vec<i32>,
        }
    };
}

xla_shape_core::element_types!(literal);
