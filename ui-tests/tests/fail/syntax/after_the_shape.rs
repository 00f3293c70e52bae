//! Nothing follows the shape.

use xla_shape::shape;

type Twice = shape!(f32[2] f32[2]);
type TwoLayouts = shape!(f32[2]{0}{0});
type Comma = shape!(f32[2],);
type Semicolon = shape!(f32[2]{0};);
type Word = shape!(f32[2]{0} parameter);

fn main() {}
