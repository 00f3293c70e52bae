//! The index arithmetic of a type has at most 32 steps.

use xla_shape::shape;

type Steps = shape!(u8[8,8,8,8,8,8,8,8,8,8,8,8]{11,10,9,8,7,6,5,4,3,2,1,0:T(4,4,4,4,4,4,4,4,4,4,4,4)(2,2,2,2,2,2,2,2,2,2,2,2)});

fn main() {}
