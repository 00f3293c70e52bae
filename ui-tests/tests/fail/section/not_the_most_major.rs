//! An index in an unbounded dimension that is not the most major one.

use xla_shape::{Buffer, layout, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,?,8])>::zeroed_with(<shape!(f32[4,?,8])>::with_sizes([4, 3, 8]).unwrap()).unwrap();
    let _ = x.index_axis::<1, layout!({1,0})>(2);
}
