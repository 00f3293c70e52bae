//! Blocks of packed elements may share a byte.

use xla_shape::{Buffer, shape};

fn main() {
    let mut x = Buffer::<shape!(s4[6,4]{1,0:E(4)})>::zeroed();
    let _ = x.blocks_mut::<shape!(s4[1,4]{1,0:E(4)})>();
}
