//! The kernel of an arm is for the shape of the arm.

use xla_shape::{DynBuffer, View, dispatch, shape};

fn kernel(_: View<shape!(f32[8,256])>) {}

fn f(x: &DynBuffer) {
    dispatch!(match &x {
        shape!(f32[8,128]) => kernel(x),
        _ => (),
    })
}

fn main() {}
