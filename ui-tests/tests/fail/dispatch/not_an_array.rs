//! Buffers hold arrays.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer) {
    dispatch!(match &x {
        shape!(token[]) => (),
        _ => (),
    })
}

fn main() {}
