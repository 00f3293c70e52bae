//! A kernel tries to keep a view after the call, or to give it to a thread that outlives the call.

use std::thread;
use xla_shape::{View, shape};

xla_shape_ffi::kernel! {
    fn keep(x: View<'static, shape!(f32[2])>) {
        drop(x);
    }

    fn send(x: View<'_, shape!(f32[2])>) {
        thread::spawn(move || x[[0]]);
    }
}

fn main() {}
