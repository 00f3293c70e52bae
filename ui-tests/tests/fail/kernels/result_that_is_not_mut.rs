//! A result is written, so its parameter must be `mut`. The error points at the parameter.

use xla_shape::{View, ViewMut, shape};

xla_shape_ffi::kernel! {
    fn scale(x: View<'_, shape!(f32[2])>, y: ViewMut<'_, shape!(f32[2])>, factor: f32) {
        y.fill_with(|index| x[index] * factor);
    }
}

fn main() {}
