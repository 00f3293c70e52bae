//! Numbers that are not dimensions, and sizes that do not agree.

use xla_shape::infer::{Operation, assert_result};
use xla_shape::shape;

use xla_shape::infer::DotDimensions;

type X = shape!(f32[8,128]);

const _: () = assert_result::<(X, shape!(f32[8,130])), X>(Operation::Elementwise);
const _: () = assert_result::<(X, shape!(f32[8])), X>(Operation::Elementwise);
const _: () = assert_result::<(X,), X>(Operation::Reverse { dimensions: &[2] });
const _: () = assert_result::<(X,), X>(Operation::Transpose { dimensions: &[0, 0] });
const _: () = assert_result::<(X,), shape!(f32[1000])>(Operation::Reshape);
const _: () = assert_result::<(shape!(f32[9]),), X>(Operation::Broadcast { dimensions: &[0] });
const _: () = assert_result::<(), X>(Operation::Iota { dimension: 2 });
const _: () = assert_result::<(X, shape!(f32[64,8])), shape!(f32[8,8])>(Operation::Dot(DotDimensions::MATRICES));

fn main() {}
