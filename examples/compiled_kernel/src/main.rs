//! A kernel whose shapes are what the compiler says while the crate is built.
//!
//! `cargo run` in this folder compiles `program.mlir` for TPU v5e with libtpu, if there is one (`pip install libtpu`), and takes
//! `hlo/program.hlo` otherwise. Should the compiler choose another layout some day, `product` below no longer compiles; and the
//! build warns that the module which is checked in is out of date.

use half::bf16;
use xla_shape::{Buffer, View, ViewMut, hlo_types, shape};

hlo_types! {
    /// The program, as it is compiled.
    mod step = "$OUT_DIR/program.hlo";
}

/// `x · w`, for the layouts that the compiler chose: the columns of `x` are contiguous, the rows of `w`.
fn product(
    x: &View<'_, shape!(f32[100,200]{0,1:T(8,128)})>,
    w: &View<'_, shape!(bf16[200,300]{1,0:T(8,128)(2,1)})>,
    out: &mut ViewMut<'_, shape!(f32[100,300]{0,1:T(8,128)})>,
) {
    for column in 0..300 {
        for row in 0..100 {
            out[[row, column]] = (0..200).map(|k| x[[row, k]] * w[[k, column]].to_f32()).sum();
        }
    }
}

fn main() {
    let x = Buffer::<step::Parameter0>::from_fn(|[i, j]| (i + j) as f32 / 100.0);
    let w = Buffer::<step::Parameter1>::from_fn(|[i, j]| bf16::from_f32((i * j % 7) as f32));
    let mut out = Buffer::<step::Result>::zeroed();
    product(&x.view(), &w.view(), &mut out.view_mut());
    println!("x is {}", step::Parameter0::TEXT);
    println!("w is {}", step::Parameter1::TEXT);
    let expected: f32 = (0..200).map(|k| (3 + k) as f32 / 100.0 * (k * 150 % 7) as f32).sum();
    assert_eq!(out[[3, 150]], expected);
    println!("x·w at (3, 150) is {}", out[[3, 150]]);
}
