//! Numbers are plain decimal digits.

use xla_shape::shape;

type Separator = shape!(f32[1_000]);
type Hexadecimal = shape!(f32[8,0x10]);
type Suffix = shape!(f32[8usize]);
type Exponent = shape!(f32[1e3]);
type Fraction = shape!(f32[1.5]);
type Point = shape!(f32[8.]);
type Range = shape!(f32[0..8]);
type Times = shape!(f32[8x128]);

fn main() {}
