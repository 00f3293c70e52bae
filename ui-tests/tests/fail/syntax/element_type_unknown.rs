//! A name that is not an element type, and not similar to one.

use xla_shape::shape;

type Name = shape!(tensor[2,3]);
type Odd = shape!(f31[2]);
type RawIdentifier = shape!(r#f32[2]);

fn main() {}
