//! Programs find kernels by name, so two kernels cannot have the same name.

mod other {
    xla_shape_ffi::kernel! {
        pub(crate) fn scale(_factor: f32) {}
    }
}

xla_shape_ffi::kernel! {
    fn scale(_factor: f64) {}
}

xla_shape_ffi::export![scale, other::scale];

fn main() {}
