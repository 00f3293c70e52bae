//! In spite of a wrong shape, the compiler checks the rest of the program.

use xla_shape::shape;

type Wrong = shape!(f32[2,3]{1,1});
type Right = shape!(f32[2,3]{1,0});

fn bytes() -> u8 {
    Right::BYTES
}

fn main() {
    let x: Wrong = Default::default();
    println!("{x} {}", bytes());
    undefined();
}
