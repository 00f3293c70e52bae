//! Layouts that a slice cannot keep: with `*`, with tail padding, and with elements inside a byte.

use xla_shape::{Buffer, View, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,8]{1,0:T(*,8)})>::zeroed();
    let _: View<'_, shape!(f32[2,8]{1,0:T(*,8)})> = x.slice(index![2, 0]);
    let x = Buffer::<shape!(f32[4,8]{1,0:L(64)})>::zeroed();
    let _: View<'_, shape!(f32[2,8]{1,0:L(64)})> = x.slice(index![2, 0]);
    let x = Buffer::<shape!(s4[4,3]{1,0:E(4)})>::zeroed();
    let _: View<'_, shape!(s4[2,3]{1,0:E(4)})> = x.slice(index![1, 0]);
}
