//! Even a single operand must be in a tuple of operands; and the shape of a tuple cannot be an operand.

use xla_shape::infer::{Operation, assert_result};
use xla_shape::shape;

type X = shape!(f32[8,128]);

const _: () = assert_result::<X, X>(Operation::Convert);
const _: () = assert_result::<(X, shape!((f32[8], f32[8]))), X>(Operation::Elementwise);

fn main() {}
