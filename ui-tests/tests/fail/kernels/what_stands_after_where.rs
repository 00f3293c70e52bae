//! Mistakes after `where` in a kernel, and defaults for parameters that cannot have one.

use xla_shape::{View, shape};

xla_shape_ffi::kernel! {
    fn fast(x: View<'_, shape!(f32[2])>)
    where vectors
    {
        drop(x);
    }
}

xla_shape_ffi::kernel! {
    fn defaults(x: View<'_, shape!(f32[2])> = View::from_slice(&[1.0, 2.0]).unwrap()) {
        drop(x);
    }
}

xla_shape_ffi::kernel! {
    fn two_lists(x: Vec<View<'_, shape!(f32[2])>>, y: Vec<View<'_, shape!(f32[2])>>) {
        drop((x, y));
    }
}

xla_shape_ffi::kernel! {
    fn misnamed(x: View<'_, shape!(f32[rows,d])>)
    where batch(row)
    {
        drop(x);
    }
}

fn main() {}
