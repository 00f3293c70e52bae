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
    (@type Flags) => { Vec<bool> };
    (@type I32) => { Vec<i32> };
    (@type I64) => { Vec<i64> };
    (@type U32) => { Vec<u32> };
    (@type U64) => { Vec<u64> };
    (@type F32) => { Vec<f32> };
    (@type F64) => { Vec<f64> };
    (@type Bytes) => { Vec<u8> };
    ($($element:ident $tag:literal ($($kind:tt)*) $field:ident $elements:ident;)*) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub(crate) struct LiteralProto {
            #[prost(message, optional, tag = "1")]
            pub(crate) shape: Option<ShapeProto>,
            $(#[prost($($kind)*, tag = $tag)] pub(crate) $field: literal!(@type $elements),)*
            #[prost(message, repeated, tag = "10")]
            pub(crate) tuple_literals: Vec<LiteralProto>,
            #[prost(int64, repeated, tag = "14")]
            pub(crate) sparse_indices: Vec<i64>,
            #[prost(int32, repeated, tag = "34")]
            pub(crate) dynamic_sizes: Vec<i32>,
        }

        impl LiteralProto {
            /// The field with the elements of this type.
            pub(crate) const fn elements(&mut self, element_type: ElementType) -> Option<Elements<'_>> {
                match element_type {
                    $(ElementType::$element => Some(Elements::$elements(&mut self.$field)),)*
                    _ => None,
                }
            }
        }

        xla_shape_core::assert_every_element_type!(element_type => matches!(element_type, $(ElementType::$element)|*));
    };
}

literal! {
    Pred "2" (bool, repeated) preds Flags;
    S1 "30" (bytes = "vec") s1s Bytes;
    S2 "26" (bytes = "vec") s2s Bytes;
    S4 "21" (bytes = "vec") s4s Bytes;
    S8 "15" (bytes = "vec") s8s Bytes;
    U1 "31" (bytes = "vec") u1s Bytes;
    U2 "27" (bytes = "vec") u2s Bytes;
    U4 "22" (bytes = "vec") u4s Bytes;
    U8 "3" (bytes = "vec") u8s Bytes;
    S32 "4" (int32, repeated) s32s I32;
    S64 "5" (int64, repeated) s64s I64;
    U32 "6" (uint32, repeated) u32s U32;
    U64 "7" (uint64, repeated) u64s U64;
    F32 "8" (float, repeated) f32s F32;
    F64 "9" (double, repeated) f64s F64;
    C64 "12" (float, repeated) c64s F32;
    C128 "18" (double, repeated) c128s F64;
    F16 "11" (bytes = "vec") f16s Bytes;
    Bf16 "13" (bytes = "vec") bf16s Bytes;
    U16 "16" (bytes = "vec") u16s Bytes;
    S16 "17" (bytes = "vec") s16s Bytes;
    F4E2M1Fn "32" (bytes = "vec") f4e2m1fns Bytes;
    F8E3M4 "29" (bytes = "vec") f8e3m4s Bytes;
    F8E4M3B11Fnuz "23" (bytes = "vec") f8e4m3b11fnuzs Bytes;
    F8E4M3Fn "20" (bytes = "vec") f8e4m3fns Bytes;
    F8E4M3Fnuz "25" (bytes = "vec") f8e4m3fnuzs Bytes;
    F8E4M3 "28" (bytes = "vec") f8e4m3s Bytes;
    F8E5M2Fnuz "24" (bytes = "vec") f8e5m2fnuzs Bytes;
    F8E5M2 "19" (bytes = "vec") f8e5m2s Bytes;
    F8E8M0Fnu "33" (bytes = "vec") f8e8m0fnus Bytes;
    F6E3M2Fn "35" (bytes = "vec") f6e3m2fns Bytes;
    F6E2M3Fn "36" (bytes = "vec") f6e2m3fns Bytes;
}
