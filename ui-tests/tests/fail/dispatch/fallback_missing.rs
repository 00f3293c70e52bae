//! A run-time buffer may have any shape.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer) -> u8 {
    dispatch!(match &x {
        shape!(f32[8,128]) => 0,
        shape!(f32[128]) => 1,
    })
}

fn main() {}
