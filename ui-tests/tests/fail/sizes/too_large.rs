//! More elements than an i64 counts, which shows when the sizes are known.

use xla_shape::shape;

const SIZE: usize = 1 << 62;

fn main() {
    println!("{}", <shape!(f32[SIZE,8])>::BYTES);
}
