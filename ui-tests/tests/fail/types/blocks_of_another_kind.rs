//! Blocks, parts and windows in another layout, or of other elements, than the array: one error for each call, also if methods follow.

use xla_shape::block::Border;
use xla_shape::{Buffer, View, ViewMut, shape};

type Whole = shape!(f32[64,256]{1,0:T(8,128)});
type RowMajor = shape!(f32[8,128]);
type Bf16 = shape!(bf16[8,128]{1,0:T(8,128)});

fn count(x: View<Whole>) -> usize {
    x.blocks::<RowMajor>().count()
}

fn count_of_bf16(x: View<Whole>) -> usize {
    x.blocks::<Bf16>().count()
}

fn sum(x: View<Whole>) -> f32 {
    x.block::<RowMajor>([0, 0]).fold(0.0, |sum, x| sum + x)
}

fn fill(mut x: ViewMut<Whole>) {
    for mut block in x.blocks_mut::<RowMajor>() {
        block.fill(1.0);
    }
}

fn fill_bf16(mut x: ViewMut<Whole>) {
    x.block_mut::<Bf16>([0, 0]).fill(1.0);
}

fn part(x: View<Whole>) -> f32 {
    x.part::<Bf16>([0, 0], [8, 128]).fold(0.0, |sum, x| sum + x)
}

fn section(x: View<Whole>) -> f32 {
    x.section::<Bf16, _>((0..8, 0..128)).fold(0.0, |sum, x| sum + x)
}

fn windows(x: View<Whole>) {
    for window in x.windows::<RowMajor, Bf16>(Border::Clamp).unwrap() {
        let _ = window.sizes();
    }
}

fn main() {
    let mut x = Buffer::<Whole>::zeroed();
    fill(x.view_mut());
    fill_bf16(x.view_mut());
    let _ = (count(x.view()), count_of_bf16(x.view()), sum(x.view()), part(x.view()), section(x.view()));
    windows(x.view());
}
