//! An arm never runs if an earlier one has the same shapes, even if they are written differently.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer, y: &DynBuffer) -> u8 {
    dispatch!(match &x, &y {
        (shape!(f32[8,128]), shape!(f32[8])) => 0,
        (shape!(f32[8,128]{1,0:T(8,128)}), shape!(f32[8])) => 1,
        (shape!(f32[8,128]{1,0}), shape!(f32[8])) => 2,
        _ => 3,
    })
}

fn main() {
    let x = DynBuffer::zeroed_with("f32[8]".parse().unwrap()).unwrap();
    f(&x, &x);
}
