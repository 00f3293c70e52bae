//! A kernel that returns its result, and one whose error cannot be converted into an error of XLA.

use xla_shape::{View, shape};

xla_shape_ffi::kernel! {
    fn first(x: View<'_, shape!(f32[2])>) -> f32 {
        x[[0]]
    }

    fn check(x: View<'_, shape!(f32[2])>) -> Result<(), String> {
        if x[[0]] > 0.0 { Ok(()) } else { Err("expected a positive number".to_owned()) }
    }
}

fn main() {}
