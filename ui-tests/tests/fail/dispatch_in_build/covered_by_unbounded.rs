//! An arm that an earlier one with `?` covers never runs.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer) -> u8 {
    dispatch!(match &x {
        shape!(f32[?,128]{1,0:T(8,128)}) => 0,
        shape!(f32[8,128]{1,0:T(8,128)}) => 1,
        _ => 2,
    })
}

fn main() {
    f(&DynBuffer::zeroed_with("f32[8]".parse().unwrap()).unwrap());
}
