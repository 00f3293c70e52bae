//! Elements must be values of the Rust type of the element type.

use xla_shape::{Buffer, View, shape};

fn main() {
    let mut x = Buffer::<shape!(s32[8])>::zeroed();
    x.set([0], 1.5);
    x.set([0], 1_u32);
    let _: i64 = x.get([0]).unwrap();
    let _ = View::<shape!(s32[2])>::from_slice(&[1.0_f32, 2.0]);
}
