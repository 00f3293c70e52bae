//! A split after the end of a dimension. This is found when the size is known.

use xla_shape::shape;

const SIZE: usize = 4;

fn main() {
    println!("{}", <shape!(f32[SIZE]{0:SC(0:5)})>::BYTES);
}
