//! The inner of two nested blocks is larger than the outer one.

use xla_shape::{Buffer, shape};

type Whole = shape!(f32[4,18]);
type Outer = shape!(f32[4,16]);
type Inner = shape!(f32[4,20]);

fn main() {
    let mut x = Buffer::<Whole>::zeroed();
    let mut block = x.block_mut::<Outer>([0, 0]);
    block.block_mut::<Inner>([0, 0]).fill(1.0);
}
