//! A layout must be in braces or angle brackets.

use xla_shape::shape;

type Parentheses = shape!(f32[2,3](1,0));
type Brackets = shape!(f32[2,3][1,0]);
type Open = shape!(f32[2,3]<1,0);
type OpenAttributes = shape!(f32[8,128]<1,0:T(8,128));
type Mixed = shape!(f32[2,3]{<1,0>});
type Arrow = shape!(f32[2]->f32[2]);

fn main() {}
