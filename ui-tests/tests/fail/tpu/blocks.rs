use xla_shape::shape;
use xla_shape::tpu::{BlockSpec, V5e, V8i, Vmem, assert_fits};

type Array = shape!(f32[4096,1000]);
const _: () = assert_fits::<Vmem<V5e>, BlockSpec<Array, shape!(f32[8,100])>>();
const _: () = assert_fits::<Vmem<V5e>, BlockSpec<Array, shape!(f32[100,128])>>();
const _: () = assert_fits::<Vmem<V5e>, BlockSpec<Array, shape!(f32[8])>>();
const _: () = assert_fits::<Vmem<V5e>, BlockSpec<Array, shape!(f32[0,128])>>();
const _: () = assert_fits::<Vmem<V5e>, BlockSpec<Array, shape!(s32[8,128])>>();
const _: () = assert_fits::<Vmem<V5e>, BlockSpec<shape!(bf16[5000]), shape!(bf16[128])>>();
const _: () = assert_fits::<Vmem<V5e>, BlockSpec<shape!(f32[]), shape!(f32[])>>();
const _: () = assert_fits::<Vmem<V8i>, Array>();
const _: () = assert_fits::<Vmem<V5e>, u8>();

fn main() {}
