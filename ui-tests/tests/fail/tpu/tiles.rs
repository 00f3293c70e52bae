//! Tiles that no TPU uses for the element type.

use xla_shape::shape;
use xla_shape::tpu::assert_tiles;

const _: () = assert_tiles::<shape!(f32[64,256]{1,0:T(8,128)(2,1)})>();
const _: () = assert_tiles::<shape!(bf16[64,256]{1,0:T(8,128)})>();

fn main() {}
