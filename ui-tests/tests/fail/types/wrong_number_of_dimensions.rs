//! There is one dimension too many.

use xla_shape::{Buffer, shape};

fn kernel(_: &Buffer<shape!(bf16[8,128]{1,0:T(8,128)(2,1)})>) {}

fn main() {
    kernel(&Buffer::<shape!(bf16[1,8,128]{2,1,0:T(8,128)(2,1)})>::zeroed());
}
