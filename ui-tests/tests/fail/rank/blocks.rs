//! Blocks of another number of dimensions than the array: one error for each call.

use xla_shape::{Buffer, View, ViewMut, shape};

type Whole = shape!(f32[64,128]);
type Row = shape!(f32[128]);

fn all(x: View<Whole>) -> usize {
    x.blocks::<Row>().count()
}

fn one(x: View<Whole>) -> f32 {
    x.block::<Row>([0, 0]).fold(0.0, |sum, x| sum + x)
}

fn grid(x: View<Whole>) -> [usize; 2] {
    x.block_grid::<Row>()
}

fn all_to_write(mut x: ViewMut<Whole>) {
    for mut block in x.blocks_mut::<Row>() {
        block.fill(1.0);
    }
}

fn one_to_write(mut x: ViewMut<Whole>) {
    x.block_mut::<Row>([0, 0]).fill(1.0);
}

fn part(x: View<Whole>) {
    let _ = x.part::<shape!(f32[<=64])>([0, 0], [8, 128]);
}

fn main() {
    let mut x = Buffer::<Whole>::zeroed();
    all_to_write(x.view_mut());
    one_to_write(x.view_mut());
    let _ = (all(x.view()), one(x.view()), grid(x.view()), part(x.view()));
}
