//! An array whose size is the bound goes to the arm with the bound, so the later arm never runs.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer) -> u8 {
    dispatch!(match &x {
        shape!(f32[<=8,128]) => 0,
        shape!(f32[8,128]) => 1,
        shape!(f32[5,128]) => 2,
        _ => 3,
    })
}

fn main() {
    f(&DynBuffer::zeroed_with("f32[]".parse().unwrap()).unwrap());
}
