//! Operands that are too many, of other element types, or no scalars.

use xla_shape::infer::{Operation, assert_result};
use xla_shape::shape;

type X = shape!(f32[8,128]);

const _: () = assert_result::<(X, X), X>(Operation::Convert);
const _: () = assert_result::<(), X>(Operation::Concatenate { dimension: 0 });
const _: () = assert_result::<(X, shape!(s32[8,128])), X>(Operation::Elementwise);
const _: () = assert_result::<(X, X, X), X>(Operation::Select);
const _: () = assert_result::<(X, X), shape!(f32[8])>(Operation::Reduce { dimensions: &[1] });

fn main() {}
