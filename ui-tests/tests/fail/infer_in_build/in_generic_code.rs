//! Generic code is checked when it is compiled for specific types.

use xla_shape::infer::{Operation, assert_result};
use xla_shape::shape;

use xla_shape::types::StaticArray;

fn transpose<S: StaticArray, R: StaticArray>() {
    const { assert_result::<(S,), R>(Operation::Transpose { dimensions: &[1, 0] }) };
}

fn main() {
    transpose::<shape!(f32[8,128]), shape!(f32[128,8])>();
    transpose::<shape!(f32[8,128]), shape!(f32[128,9])>();
}
