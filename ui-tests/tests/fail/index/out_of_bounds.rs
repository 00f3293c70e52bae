//! Constant indices outside the array, each reported at its place. If two dimensions are wrong, the first is reported.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(bf16[8,128]{1,0:T(8,128)(2,1)})>::zeroed();
    let _ = x.at(index![7, 127]);
    let _ = x.at(index![3, 200]);
    let _ = x.at(index![8, 128]);
}
