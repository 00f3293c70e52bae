use xla_shape::shape;
use xla_shape::tpu::{BlockSpec, V2, V5e, Vmem, assert_fits};

type Lhs = BlockSpec<shape!(bf16[8192,8192]), shape!(bf16[4096,4096])>;
type Rhs = BlockSpec<shape!(bf16[8192,8192]), shape!(bf16[4096,4096])>;
type Sum = shape!(f32[4096,4096]);
const _: () = assert_fits::<Vmem<V5e>, (Lhs, Rhs, Sum)>();

// In the device's tiles, the array takes 128 times as many bytes as its elements.
type Column = shape!(f32[65536,1]);
const _: () = assert_fits::<Vmem<V2>, Column>();

type Small = shape!(f32[512,1024]);
const _: () = assert_fits::<Vmem<V5e, { 1 << 20 }>, Small>();

fn main() {}
