//! A missing layout means the default one, without tiles.

use xla_shape::{Buffer, shape};

fn kernel(_: &Buffer<shape!(bf16[8,128]{1,0:T(8,128)(2,1)})>) {}

fn main() {
    kernel(&Buffer::<shape!(bf16[8,128])>::zeroed());
}
