//! The shapes of arms are checked like any other shape.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer) -> u8 {
    dispatch!(match &x {
        shape!(f32[8,128]{1,1}) => 0,
        _ => 1,
    })
}

fn main() {}
