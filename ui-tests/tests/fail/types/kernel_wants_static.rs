//! A kernel over static shapes does not accept sizes at run time, and a kernel over one element type accepts no other.

use xla_shape::element::F32;
use xla_shape::types::{ArrayType, StaticArray};
use xla_shape::{View, shape};

fn mean<S: StaticArray>(_: View<S>) {}
fn maximum<S: ArrayType<Element = F32>>(_: View<S>) {}

fn f(rows: View<shape!(f32[?,128])>, halves: View<shape!(bf16[8,128])>) {
    mean(rows);
    maximum(halves);
}

fn main() {}
