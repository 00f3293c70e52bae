//! An arm with a guard.

use xla_shape::{DynBuffer, dispatch, shape};

fn main() {
    let x = DynBuffer::zeroed_with("f32[8]".parse().unwrap()).unwrap();
    dispatch!(match &x {
        shape!(f32[8]) if true => 1,
        _ => 2,
    });
}
