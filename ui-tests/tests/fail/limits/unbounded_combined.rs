//! `*` cannot combine an unbounded dimension in a type.

use xla_shape::shape;

type Combined = shape!(f32[?,8,128]{2,1,0:T(*,8,128)});

fn main() {}
