//! A bound is `<=` and a number.

use xla_shape::shape;

type Missing = shape!(f32[<=]);
type Apart = shape!(f32[< =2]);
type Less = shape!(f32[<2]);
type Equal = shape!(f32[=2]);
type Swapped = shape!(f32[=<2]);
type Twice = shape!(f32[<=<=2]);

fn main() {}
