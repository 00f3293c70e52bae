//! An index has a number for each dimension.

use xla_shape::{Buffer, index, shape};

fn main() {
    let mut x = Buffer::<shape!(f32[8,128])>::zeroed();
    x.set_at(index![], 1.0);
}
