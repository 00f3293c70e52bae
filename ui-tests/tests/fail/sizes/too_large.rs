//! More elements than an i64 can count. This is found when the sizes are known.

use xla_shape::shape;

const SIZE: usize = 1 << 62;

fn main() {
    println!("{}", <shape!(f32[SIZE,8])>::BYTES);
}
