//! A tile of size 0. This is found when the size is known.

use xla_shape::shape;

const TILE: usize = 0;

fn main() {
    println!("{}", <shape!(f32[8,128]{1,0:T(TILE,128)})>::BYTES);
}
