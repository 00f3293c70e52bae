//! Iterating over packed elements.

use xla_shape::{Buffer, shape};

fn main() {
    let mut x = Buffer::<shape!(s4[64,256]{1,0:T(8,128)E(4)})>::zeroed();
    x.apply(|x| x);
}
