//! A function that is not a kernel, because `kernel!` did not define it.

fn scale(factor: f32) {
    drop(factor);
}

xla_shape_ffi::export![scale];

fn main() {}
