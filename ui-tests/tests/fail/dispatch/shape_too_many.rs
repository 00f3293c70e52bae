//! An arm has one shape for each buffer.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer) -> u8 {
    dispatch!(match &x {
        (shape!(f32[8,128]), shape!(f32[128])) => 0,
        _ => 1,
    })
}

fn main() {}
