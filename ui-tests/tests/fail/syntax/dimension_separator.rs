//! Dimensions are separated by commas.

use xla_shape::shape;

type Space = shape!(f32[2 3]);
type Semicolon = shape!(f32[2; 3]);

fn main() {}
