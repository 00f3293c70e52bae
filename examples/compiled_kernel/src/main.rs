//! The product of arrays with the layouts that the compiler has chosen.

use compiled_kernel::{product_of_step, step};
use half::bf16;
use xla_shape::Buffer;

fn main() {
    let x = Buffer::<step::Parameter0>::from_fn(|[i, j]| (i + j) as f32 / 100.0);
    let w = Buffer::<step::Parameter1>::from_fn(|[i, j]| bf16::from_f32((i * j % 7) as f32));
    let mut out = Buffer::<step::Result>::zeroed();
    product_of_step(&x.view(), &w.view(), &mut out.view_mut());
    println!("x is {}", step::Parameter0::TEXT);
    println!("w is {}", step::Parameter1::TEXT);
    let expected: f32 = (0..200).map(|k| (3 + k) as f32 / 100.0 * (k * 150 % 7) as f32).sum();
    assert_eq!(out[[3, 150]], expected);
    println!("x·w at (3, 150) is {}", out[[3, 150]]);
}
