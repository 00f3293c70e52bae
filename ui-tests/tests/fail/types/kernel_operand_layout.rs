//! A kernel over any sizes requires its own layout.

use xla_shape::{Buffer, View, shape};

fn kernel<const M: usize>(_: View<shape!(f32[M,128]{1,0:T(8,128)})>) {}

fn main() {
    kernel(Buffer::<shape!(f32[8,128])>::zeroed().view());
}
