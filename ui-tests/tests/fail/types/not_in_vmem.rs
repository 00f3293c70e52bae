//! A kernel requires that its operand is in VMEM, which is `S(1)`.

use xla_shape::types::{LayoutType, Space, StaticArray};
use xla_shape::{Buffer, shape};

fn kernel<S: StaticArray<Layout: LayoutType<Space = Space<1>>>>(_: &Buffer<S>) {}

fn main() {
    kernel(&Buffer::<shape!(f32[8,128]{1,0:T(8,128)S(1)})>::zeroed());
    kernel(&Buffer::<shape!(f32[8,128]{1,0:T(8,128)})>::zeroed());
}
