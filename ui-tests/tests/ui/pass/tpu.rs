//! Layouts that a TPU chooses, as types.

use xla_shape::tpu::{BlockSpec, V2, V5e, V7x, Vmem, assert_fits};
use xla_shape::types::{ArrayType, ShapeType};
use xla_shape::{View, shape, tpu_shape};

// If all sizes are numbers, the type is the same as with the layout written out.
fn same(x: tpu_shape!(v5e, bf16[100,200])) -> shape!(bf16[100,200]{0,1:T(8,128)(2,1)}) {
    x
}
fn same_on_ironwood(x: tpu_shape!(tpu7x, f32[3])) -> tpu_shape!(v7x, f32[3]) {
    x
}
type Results = tpu_shape!(v2, (s4[9,9], b(f32[]), token[]));
fn same_tuple(x: Results) -> shape!((s4[9,9]{1,0:T(8,128)(4,1)}, b(f32[]{:T(256)}), token[])) {
    x
}

// Sizes that are const parameters or expressions, also as the bound of a dimension.
fn rows<const M: usize, const N: usize>(_: View<'_, tpu_shape!(v5e, s4[M, N])>) -> &'static str {
    <tpu_shape!(v5e, s4[M, N]) as ArrayType>::TEXT
}
type Matrix<const M: usize, const N: usize> = tpu_shape!(v5e, s4[M, N]);
const ROWS: usize = 3;
type Bounded = tpu_shape!(v5e, f32[<=ROWS, 2 * 100]);

type Twelve<const N: usize> = tpu_shape!(v5e, f32[1,1,1,1,N,1,1,1,1,1,1,7]);

type Lhs = BlockSpec<shape!(bf16[4096,1024]), shape!(bf16[512,1024])>;
type Sum = shape!(f32[512,512]);
const _: () = assert_fits::<Vmem<V5e>, (Lhs, Sum)>();
// Exactly full: 2 x 1 MiB + 1 MiB.
const _: () = assert_fits::<Vmem<V5e, { 3 << 20 }>, (Lhs, Sum)>();
const _: () = assert_fits::<Vmem<V7x>, ()>();
const _: () = assert_fits::<Vmem<V2>, tpu_shape!(v2, f32[4000,1000])>();

#[test]
fn passes() {
    let _ = (same, same_on_ironwood, same_tuple);
    let x = xla_shape::Buffer::<Matrix<64, 200>>::zeroed();
    assert_eq!(rows(x.view()), "s4[64,200]{1,0:T(64,128)(8,1)E(4)}");
    assert_eq!(Bounded::TEXT, "f32[<=3,200]{1,0:T(4,128)}");
    assert_eq!(<Twelve<300>>::TEXT, "f32[1,1,1,1,300,1,1,1,1,1,1,7]{4,10,11,9,8,7,6,5,3,2,1,0:T(1,128)}");
    assert_eq!(<Results as ShapeType>::TEXT, "(s4[9,9]{1,0:T(8,128)(4,1)}, b(f32[]{:T(256)}), token[])");
}
