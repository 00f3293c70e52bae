//! Too many or too few operands, operands of wrong element types, and an initial value that is not a scalar.

use xla_shape::infer::{Operation, assert_result};
use xla_shape::shape;

type X = shape!(f32[8,128]);

const _: () = assert_result::<(X, X), X>(Operation::Convert);
const _: () = assert_result::<(), X>(Operation::Concatenate { dimension: 0 });
const _: () = assert_result::<(X, shape!(s32[8,128])), X>(Operation::Elementwise);
const _: () = assert_result::<(X, X, X), X>(Operation::Select);
const _: () = assert_result::<(X, X), shape!(f32[8])>(Operation::Reduce { dimensions: &[1] });

fn main() {}
