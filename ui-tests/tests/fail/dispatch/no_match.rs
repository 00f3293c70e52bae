//! The input of the macro is not a `match`.

use xla_shape::{DynBuffer, dispatch, shape};

fn f(x: &DynBuffer) -> u8 {
    dispatch!(&x, { shape!(f32[128]) => 1, _ => 2 })
}

fn main() {}
