//! The table of element types: a row for each, with everything that differs by type.
//!
//! A new type needs only a row. The enumeration and its readers here, the types and values in `xla-shape`, the message of
//! literals in `xla-shape-hlo` and the tests are made from the rows. A row that lacks a cell does not compile.
//!
//! `scripts/data/floats.py` writes the values that `ml_dtypes` computes for a new float, which a test compares.

use super::ElementType;
use super::format::FloatFormat;
pub(super) use super::format::SpecialCodes::{Ieee, LargestIsNan, MinusZeroIsNan, None as NoSpecialCodes};

/// Gives all rows to a macro: `element_types!(callback arguments)` expands to `callback! { arguments rows }`.
///
/// A row is `Variant name number [value] (field storage) "description" "meaning" { cells }`:
///
/// - `Variant`: the variant of [`ElementType`](crate::ElementType), and the type in `xla_shape::element`;
/// - `name`: the name in shape text;
/// - `number`: the number in XLA's schema (`PrimitiveType` in `xla/xla_data.proto`) and in its FFI (`XLA_FFI_DataType`);
/// - `[value]`: how the library holds a value: `Bool`, `SmallSigned` and `SmallUnsigned` (less than a byte), `Primitive` with Rust's
///   type, `Half` with the type of the crate `half`, `Float8`, `FloatBelow8`, or `Complex` with the type of its parts;
/// - `(field storage)`: the number of the field in `LiteralProto`, and how that message stores elements;
/// - `"description"`: a short sentence for people;
/// - `"meaning"`: how the documentation of the type in `xla_shape::element` goes on after the name;
/// - `{ cells }`: the fields of `Row`, for this crate alone.
#[doc(hidden)]
#[macro_export]
macro_rules! element_types {
    ($callback:ident $($arguments:tt)*) => {
        $callback! {
            $($arguments)*
            Pred pred 1 [Bool] (2 Flags)
            "A truth value, stored in a byte." "; its values are `bool`." {
                schema: "PRED", bits: 1, tpu_bits: Some(8), numbers: Numbers::Predicate,
                npy: Some("b1"), dlpack: Some(6), safetensors: Some("BOOL"), pjrt: Some(1),
                numpy: Some("bool_"), torch: Some("bool"), mlir: "i1", onednn: Some("boolean"),
            }
            S1 s1 30 [SmallSigned] (30 Bytes)
            "Signed integer of 1 bit." ": -1 or 0." {
                schema: "S1", bits: 1, tpu_bits: None, numbers: Numbers::SignedInteger,
                npy: None, dlpack: None, safetensors: None, pjrt: Some(30),
                numpy: None, torch: None, mlir: "i1", onednn: None,
            }
            S2 s2 26 [SmallSigned] (26 Bytes)
            "Signed integer of 2 bits." ": -2 to 1." {
                schema: "S2", bits: 2, tpu_bits: Some(2), numbers: Numbers::SignedInteger,
                npy: None, dlpack: Some(0), safetensors: None, pjrt: Some(24),
                numpy: Some("int2"), torch: None, mlir: "i2", onednn: None,
            }
            S4 s4 21 [SmallSigned] (21 Bytes)
            "Signed integer of 4 bits." ": -8 to 7." {
                schema: "S4", bits: 4, tpu_bits: Some(4), numbers: Numbers::SignedInteger,
                npy: None, dlpack: Some(0), safetensors: None, pjrt: Some(21),
                numpy: Some("int4"), torch: None, mlir: "i4", onednn: Some("s4"),
            }
            S8 s8 2 [Primitive i8] (15 Bytes)
            "Signed integer of 8 bits." "; its values are `i8`." {
                schema: "S8", bits: 8, tpu_bits: Some(8), numbers: Numbers::SignedInteger,
                npy: Some("i1"), dlpack: Some(0), safetensors: Some("I8"), pjrt: Some(2),
                numpy: Some("int8"), torch: Some("int8"), mlir: "i8", onednn: Some("s8"),
            }
            S16 s16 3 [Primitive i16] (17 Bytes)
            "Signed integer of 16 bits." "; its values are `i16`." {
                schema: "S16", bits: 16, tpu_bits: Some(16), numbers: Numbers::SignedInteger,
                npy: Some("i2"), dlpack: Some(0), safetensors: Some("I16"), pjrt: Some(3),
                numpy: Some("int16"), torch: Some("int16"), mlir: "i16", onednn: None,
            }
            S32 s32 4 [Primitive i32] (4 I32)
            "Signed integer of 32 bits." "; its values are `i32`." {
                schema: "S32", bits: 32, tpu_bits: Some(32), numbers: Numbers::SignedInteger,
                npy: Some("i4"), dlpack: Some(0), safetensors: Some("I32"), pjrt: Some(4),
                numpy: Some("int32"), torch: Some("int32"), mlir: "i32", onednn: Some("s32"),
            }
            S64 s64 5 [Primitive i64] (5 I64)
            "Signed integer of 64 bits." "; its values are `i64`." {
                schema: "S64", bits: 64, tpu_bits: Some(64), numbers: Numbers::SignedInteger,
                npy: Some("i8"), dlpack: Some(0), safetensors: Some("I64"), pjrt: Some(5),
                numpy: Some("int64"), torch: Some("int64"), mlir: "i64", onednn: Some("s64"),
            }
            U1 u1 31 [SmallUnsigned] (31 Bytes)
            "Unsigned integer of 1 bit." ": 0 or 1." {
                schema: "U1", bits: 1, tpu_bits: None, numbers: Numbers::UnsignedInteger,
                npy: None, dlpack: None, safetensors: None, pjrt: Some(31),
                numpy: None, torch: None, mlir: "ui1", onednn: None,
            }
            U2 u2 27 [SmallUnsigned] (27 Bytes)
            "Unsigned integer of 2 bits." ": 0 to 3." {
                schema: "U2", bits: 2, tpu_bits: Some(2), numbers: Numbers::UnsignedInteger,
                npy: None, dlpack: Some(1), safetensors: None, pjrt: Some(25),
                numpy: Some("uint2"), torch: None, mlir: "ui2", onednn: None,
            }
            U4 u4 22 [SmallUnsigned] (22 Bytes)
            "Unsigned integer of 4 bits." ": 0 to 15." {
                schema: "U4", bits: 4, tpu_bits: Some(4), numbers: Numbers::UnsignedInteger,
                npy: None, dlpack: Some(1), safetensors: None, pjrt: Some(22),
                numpy: Some("uint4"), torch: None, mlir: "ui4", onednn: Some("u4"),
            }
            U8 u8 6 [Primitive u8] (3 Bytes)
            "Unsigned integer of 8 bits." "; its values are `u8`." {
                schema: "U8", bits: 8, tpu_bits: Some(8), numbers: Numbers::UnsignedInteger,
                npy: Some("u1"), dlpack: Some(1), safetensors: Some("U8"), pjrt: Some(6),
                numpy: Some("uint8"), torch: Some("uint8"), mlir: "ui8", onednn: Some("u8"),
            }
            U16 u16 7 [Primitive u16] (16 Bytes)
            "Unsigned integer of 16 bits." "; its values are `u16`." {
                schema: "U16", bits: 16, tpu_bits: Some(16), numbers: Numbers::UnsignedInteger,
                npy: Some("u2"), dlpack: Some(1), safetensors: Some("U16"), pjrt: Some(7),
                numpy: Some("uint16"), torch: Some("uint16"), mlir: "ui16", onednn: None,
            }
            U32 u32 8 [Primitive u32] (6 U32)
            "Unsigned integer of 32 bits." "; its values are `u32`." {
                schema: "U32", bits: 32, tpu_bits: Some(32), numbers: Numbers::UnsignedInteger,
                npy: Some("u4"), dlpack: Some(1), safetensors: Some("U32"), pjrt: Some(8),
                numpy: Some("uint32"), torch: Some("uint32"), mlir: "ui32", onednn: None,
            }
            U64 u64 9 [Primitive u64] (7 U64)
            "Unsigned integer of 64 bits." "; its values are `u64`." {
                schema: "U64", bits: 64, tpu_bits: Some(64), numbers: Numbers::UnsignedInteger,
                npy: Some("u8"), dlpack: Some(1), safetensors: Some("U64"), pjrt: Some(9),
                numpy: Some("uint64"), torch: Some("uint64"), mlir: "ui64", onednn: None,
            }
            F16 f16 10 [Half f16] (11 Bytes)
            "IEEE 754 half precision." "; its values are `half::f16` (feature `half`)." {
                schema: "F16", bits: 16, tpu_bits: Some(16), numbers: Numbers::Float(FloatFormat::new(5, 10, 15, Ieee)),
                npy: Some("f2"), dlpack: Some(2), safetensors: Some("F16"), pjrt: Some(10),
                numpy: Some("float16"), torch: Some("float16"), mlir: "f16", onednn: Some("f16"),
            }
            Bf16 bf16 16 [Half bf16] (13 Bytes)
            "bfloat16: the upper half of an `f32`." "; its values are `half::bf16` (feature `half`)." {
                schema: "BF16", bits: 16, tpu_bits: Some(16), numbers: Numbers::Float(FloatFormat::new(8, 7, 127, Ieee)),
                npy: None, dlpack: Some(4), safetensors: Some("BF16"), pjrt: Some(13),
                numpy: Some("bfloat16"), torch: Some("bfloat16"), mlir: "bf16", onednn: Some("bf16"),
            }
            F32 f32 11 [Primitive f32] (8 F32)
            "IEEE 754 single precision." "; its values are `f32`." {
                schema: "F32", bits: 32, tpu_bits: Some(32), numbers: Numbers::Float(FloatFormat::new(8, 23, 127, Ieee)),
                npy: Some("f4"), dlpack: Some(2), safetensors: Some("F32"), pjrt: Some(11),
                numpy: Some("float32"), torch: Some("float32"), mlir: "f32", onednn: Some("f32"),
            }
            F64 f64 12 [Primitive f64] (9 F64)
            "IEEE 754 double precision." "; its values are `f64`." {
                schema: "F64", bits: 64, tpu_bits: Some(64), numbers: Numbers::Float(FloatFormat::new(11, 52, 1023, Ieee)),
                npy: Some("f8"), dlpack: Some(2), safetensors: Some("F64"), pjrt: Some(12),
                numpy: Some("float64"), torch: Some("float64"), mlir: "f64", onednn: Some("f64"),
            }
            F8E5M2 f8e5m2 19 [Float8] (19 Bytes)
            "8-bit float, 5 exponent and 2 mantissa bits, IEEE-like." ": up to 57,344, infinities and NaN." {
                schema: "F8E5M2", bits: 8, tpu_bits: Some(8), numbers: Numbers::Float(FloatFormat::new(5, 2, 15, Ieee)),
                npy: None, dlpack: Some(12), safetensors: Some("F8_E5M2"), pjrt: Some(16),
                numpy: Some("float8_e5m2"), torch: Some("float8_e5m2"), mlir: "f8E5M2", onednn: Some("f8_e5m2"),
            }
            F8E4M3 f8e4m3 28 [Float8] (28 Bytes)
            "8-bit float, 4 exponent and 3 mantissa bits, IEEE-like." ": up to 240, infinities and NaN." {
                schema: "F8E4M3", bits: 8, tpu_bits: Some(8), numbers: Numbers::Float(FloatFormat::new(4, 3, 7, Ieee)),
                npy: None, dlpack: Some(8), safetensors: None, pjrt: Some(26),
                numpy: Some("float8_e4m3"), torch: None, mlir: "f8E4M3", onednn: None,
            }
            F8E4M3Fn f8e4m3fn 20 [Float8] (20 Bytes)
            "8-bit float, 4 exponent and 3 mantissa bits, finite and NaN only." ": up to 448, and NaN." {
                schema: "F8E4M3FN", bits: 8, tpu_bits: Some(8), numbers: Numbers::Float(FloatFormat::new(4, 3, 7, LargestIsNan)),
                npy: None, dlpack: Some(10), safetensors: Some("F8_E4M3"), pjrt: Some(17),
                numpy: Some("float8_e4m3fn"), torch: Some("float8_e4m3fn"), mlir: "f8E4M3FN", onednn: Some("f8_e4m3"),
            }
            F8E4M3B11Fnuz f8e4m3b11fnuz 23 [Float8] (23 Bytes)
            "8-bit float, 4 exponent and 3 mantissa bits, bias 11, finite and NaN only, unsigned zero." ": up to 30, and NaN; no minus zero." {
                schema: "F8E4M3B11FNUZ", bits: 8, tpu_bits: Some(8), numbers: Numbers::Float(FloatFormat::new(4, 3, 11, MinusZeroIsNan)),
                npy: None, dlpack: Some(9), safetensors: None, pjrt: Some(18),
                numpy: Some("float8_e4m3b11fnuz"), torch: None, mlir: "f8E4M3B11FNUZ", onednn: None,
            }
            F8E3M4 f8e3m4 29 [Float8] (29 Bytes)
            "8-bit float, 3 exponent and 4 mantissa bits, IEEE-like." ": up to 15.5, infinities and NaN." {
                schema: "F8E3M4", bits: 8, tpu_bits: Some(8), numbers: Numbers::Float(FloatFormat::new(3, 4, 3, Ieee)),
                npy: None, dlpack: Some(7), safetensors: None, pjrt: Some(27),
                numpy: Some("float8_e3m4"), torch: None, mlir: "f8E3M4", onednn: None,
            }
            F8E5M2Fnuz f8e5m2fnuz 24 [Float8] (24 Bytes)
            "8-bit float, 5 exponent and 2 mantissa bits, finite and NaN only, unsigned zero." ": up to 57,344, and NaN; no minus zero." {
                schema: "F8E5M2FNUZ", bits: 8, tpu_bits: Some(8), numbers: Numbers::Float(FloatFormat::new(5, 2, 16, MinusZeroIsNan)),
                npy: None, dlpack: Some(13), safetensors: Some("F8_E5M2FNUZ"), pjrt: Some(19),
                numpy: Some("float8_e5m2fnuz"), torch: Some("float8_e5m2fnuz"), mlir: "f8E5M2FNUZ", onednn: None,
            }
            F8E4M3Fnuz f8e4m3fnuz 25 [Float8] (25 Bytes)
            "8-bit float, 4 exponent and 3 mantissa bits, finite and NaN only, unsigned zero." ": up to 240, and NaN; no minus zero." {
                schema: "F8E4M3FNUZ", bits: 8, tpu_bits: Some(8), numbers: Numbers::Float(FloatFormat::new(4, 3, 8, MinusZeroIsNan)),
                npy: None, dlpack: Some(11), safetensors: Some("F8_E4M3FNUZ"), pjrt: Some(20),
                numpy: Some("float8_e4m3fnuz"), torch: Some("float8_e4m3fnuz"), mlir: "f8E4M3FNUZ", onednn: None,
            }
            F8E8M0Fnu f8e8m0fnu 33 [Float8] (33 Bytes)
            "8-bit power of two: exponent only, no sign." ": powers of two from 2<sup>-127</sup> to 2<sup>127</sup>, and NaN." {
                schema: "F8E8M0FNU", bits: 8, tpu_bits: Some(8), numbers: Numbers::Float(FloatFormat::POWERS_OF_TWO),
                npy: None, dlpack: Some(14), safetensors: Some("F8_E8M0"), pjrt: Some(28),
                numpy: Some("float8_e8m0fnu"), torch: Some("float8_e8m0fnu"), mlir: "f8E8M0FNU", onednn: Some("e8m0"),
            }
            F6E3M2Fn f6e3m2fn 35 [FloatBelow8] (35 Bytes)
            "6-bit float, 3 exponent and 2 mantissa bits, finite only." ": up to 28." {
                schema: "F6E3M2FN", bits: 6, tpu_bits: None, numbers: Numbers::Float(FloatFormat::new(3, 2, 3, NoSpecialCodes)),
                npy: None, dlpack: Some(16), safetensors: None, pjrt: Some(33),
                numpy: Some("float6_e3m2fn"), torch: None, mlir: "f6E3M2FN", onednn: None,
            }
            F6E2M3Fn f6e2m3fn 36 [FloatBelow8] (36 Bytes)
            "6-bit float, 2 exponent and 3 mantissa bits, finite only." ": up to 7.5." {
                schema: "F6E2M3FN", bits: 6, tpu_bits: None, numbers: Numbers::Float(FloatFormat::new(2, 3, 1, NoSpecialCodes)),
                npy: None, dlpack: Some(15), safetensors: None, pjrt: Some(32),
                numpy: Some("float6_e2m3fn"), torch: None, mlir: "f6E2M3FN", onednn: None,
            }
            F4E2M1Fn f4e2m1fn 32 [FloatBelow8] (32 Bytes)
            "4-bit float, 2 exponent bits and 1 mantissa bit, finite only." ": up to 6." {
                schema: "F4E2M1FN", bits: 4, tpu_bits: Some(4), numbers: Numbers::Float(FloatFormat::new(2, 1, 1, NoSpecialCodes)),
                npy: None, dlpack: Some(17), safetensors: None, pjrt: Some(29),
                numpy: Some("float4_e2m1fn"), torch: None, mlir: "f4E2M1FN", onednn: Some("f4_e2m1"),
            }
            C64 c64 15 [Complex f32] (12 F32)
            "Complex number of two `f32`." "; its values are `num_complex::Complex<f32>` (feature `num-complex`)." {
                schema: "C64", bits: 64, tpu_bits: Some(64), numbers: Numbers::Complex(ElementType::F32),
                npy: Some("c8"), dlpack: Some(5), safetensors: Some("C64"), pjrt: Some(14),
                numpy: Some("complex64"), torch: Some("complex64"), mlir: "complex<f32>", onednn: None,
            }
            C128 c128 18 [Complex f64] (18 F64)
            "Complex number of two `f64`." "; its values are `num_complex::Complex<f64>` (feature `num-complex`)." {
                schema: "C128", bits: 128, tpu_bits: Some(128), numbers: Numbers::Complex(ElementType::F64),
                npy: Some("c16"), dlpack: Some(5), safetensors: None, pjrt: Some(15),
                numpy: Some("complex128"), torch: Some("complex128"), mlir: "complex<f64>", onednn: None,
            }
        }
    };
}

/// What differs by type and is not part of the head of its row.
pub(super) struct Row {
    /// The name of the enumerator in XLA's schema.
    pub(super) schema: &'static str,
    /// The width of one value.
    pub(super) bits: u64,
    /// The bits of an element in the memory of a TPU, which determine its tiles; `None` if nobody has measured them.
    pub(super) tpu_bits: Option<u64>,
    /// What a value is.
    pub(super) numbers: Numbers,
    /// NumPy's code in the header of an `.npy` file, without the byte order; `None` if NumPy itself lacks the type.
    pub(super) npy: Option<&'static str>,
    /// DLPack's code (`DLDataTypeCode` in `dlpack.h`).
    pub(super) dlpack: Option<u8>,
    /// The name in the header of a `.safetensors` file.
    pub(super) safetensors: Option<&'static str>,
    /// The number in PJRT's interface (`PJRT_Buffer_Type` in `pjrt_c_api.h`).
    pub(super) pjrt: Option<i32>,
    /// The name in NumPy, or in the package `ml_dtypes` if NumPy itself lacks the type.
    pub(super) numpy: Option<&'static str>,
    /// The name in torch.
    pub(super) torch: Option<&'static str>,
    /// The name in MLIR, where signed integers have no sign.
    pub(super) mlir: &'static str,
    /// The name in oneDNN.
    pub(super) onednn: Option<&'static str>,
}

/// What a value is.
#[derive(Clone, Copy)]
pub(super) enum Numbers {
    Predicate,
    SignedInteger,
    UnsignedInteger,
    Float(FloatFormat),
    /// Two numbers of this type.
    Complex(ElementType),
}
