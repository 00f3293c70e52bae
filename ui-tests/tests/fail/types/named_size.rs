//! A lower-case word in `shape!` is a size at run time, not the constant of that name.

#![allow(non_upper_case_globals)]

use xla_shape::{Buffer, shape};

const n: usize = 8;

fn main() {
    let _ = Buffer::<shape!(f32[{n},128])>::zeroed();
    let _ = Buffer::<shape!(f32[n,128])>::zeroed();
}
