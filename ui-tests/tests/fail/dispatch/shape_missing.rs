//! An arm has a shape for each buffer.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer, y: &DynBuffer) -> u8 {
    dispatch!(match &x, &y {
        (shape!(f32[8,128]), shape!(f32[128])) => 0,
        shape!(f32[128]) => 1,
        _ => 2,
    })
}

fn main() {}
