//! A comma stands between dimensions.

use xla_shape::shape;

type Space = shape!(f32[2 3]);
type Semicolon = shape!(f32[2; 3]);

fn main() {}
