//! An array with tiles has no strides that a view of `ndarray` could have.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[16,256]{1,0:T(8,128)})>::zeroed();
    println!("{:?}", x.as_ndarray());
}
