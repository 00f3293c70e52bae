//! An index must fit in a usize.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = x.at(index![0, 18446744073709551616]);
}
