//! A parameter of a type that no call can pass.

use xla_shape::{ViewMut, shape};

xla_shape_ffi::kernel! {
    fn fill(mut y: ViewMut<'_, shape!(f32[2])>, value: String) {
        y.fill_with(|_| value.len() as f32);
    }
}

fn main() {}
