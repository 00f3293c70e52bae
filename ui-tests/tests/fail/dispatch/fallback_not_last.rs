//! Arms after the fallback never run.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer) -> u8 {
    dispatch!(match &x {
        _ => 0,
        shape!(f32[128]) => 1,
    })
}

fn main() {}
