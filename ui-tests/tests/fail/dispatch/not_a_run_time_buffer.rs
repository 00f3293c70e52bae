//! A typed buffer has its shape already.

use xla_shape::{Buffer, dispatch, shape};

fn f(x: &Buffer<shape!(f32[128])>) -> u8 {
    dispatch!(match &x { shape!(f32[128]) => 1, _ => 2 })
}

fn main() {}
