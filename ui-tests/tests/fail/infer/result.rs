//! The named result is not the one that the rule gives.

use xla_shape::infer::{Operation, assert_result};
use xla_shape::shape;

type X = shape!(f32[8,128]);

const _: () = assert_result::<(X, X), shape!(f32[128,8])>(Operation::Elementwise);
const _: () = assert_result::<(X,), X>(Operation::Transpose { dimensions: &[1, 0] });
const _: () = assert_result::<(X, X), X>(Operation::Compare);
const _: () = assert_result::<(X, X), shape!(f32[8,256])>(Operation::Concatenate { dimension: 0 });
const _: () = assert_result::<(X, shape!(f32[])), shape!(f32[128])>(Operation::Reduce { dimensions: &[1] });
const _: () = assert_result::<(X,), shape!(f32[8])>(Operation::Reverse { dimensions: &[1] });

fn main() {}
