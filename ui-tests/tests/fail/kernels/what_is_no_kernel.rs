//! A function that `kernel!` has not made.

fn scale(factor: f32) {
    drop(factor);
}

xla_shape_ffi::export![scale];

fn main() {}
