//! The codes of the builtin dialect's attributes and types.

pub(super) const ARRAY: u64 = 0;
pub(super) const DICTIONARY: u64 = 1;
pub(super) const STRING: u64 = 2;
pub(super) const SYMBOL: u64 = 4;
pub(super) const TYPE: u64 = 6;
pub(super) const UNIT: u64 = 7;
pub(super) const INTEGER: u64 = 8;
pub(super) const NAMED_LOCATION: u64 = 14;
pub(super) const DENSE_ARRAY: u64 = 17;
pub(super) const AFFINE_MAP: u64 = 23;

pub(super) const INTEGER_TYPE: u64 = 0;
pub(super) const INDEX: u64 = 1;
pub(super) const FLOATS: u64 = 3;
pub(super) const MEMREF: u64 = 10;
pub(super) const MEMREF_IN_SPACE: u64 = 11;
pub(super) const TENSOR: u64 = 13;
pub(super) const VECTOR: u64 = 19;
pub(super) const SHORT_FLOATS: u64 = 21;

/// The types of floating-point numbers, in the order of their codes: those from [`FLOATS`] on, and the newer ones from
/// [`SHORT_FLOATS`] on.
pub(super) const FLOAT_NAMES: [&str; 6] = ["bf16", "f16", "f32", "f64", "f80", "f128"];
pub(super) const SHORT_FLOAT_NAMES: [&str; 12] = [
    "tf32",
    "f8E5M2",
    "f8E4M3",
    "f8E4M3FN",
    "f8E5M2FNUZ",
    "f8E4M3FNUZ",
    "f8E4M3B11FNUZ",
    "f8E3M4",
    "f4E2M1FN",
    "f6E2M3FN",
    "f6E3M2FN",
    "f8E8M0FNU",
];
