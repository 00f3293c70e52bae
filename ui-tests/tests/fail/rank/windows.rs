//! Windows of another number of dimensions than the array: one error for each shape that is wrong.

use xla_shape::block::Border;
use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,128])>::zeroed();
    for window in x.windows::<shape!(f32[8]), shape!(f32[8,128])>(Border::Clamp).unwrap() {
        let _ = window[[0, 0]];
    }
    for window in x.windows_with_halo::<shape!(f32[8,128]), shape!(f32[8])>([0, 0], Border::Clamp).unwrap() {
        let _ = window[[0]];
    }
    let mut row = Buffer::<shape!(f32[128])>::zeroed();
    x.copy_window_to(&mut row, [3, 0], [0, 0], Border::None).unwrap();
}
