//! Functions that need sizes at compile time do not accept types without them.

use xla_shape::{Buffer, index, shape};

fn main() {
    let _ = Buffer::<shape!(f32[8,?])>::zeroed();
    let _ = <shape!(f32[8,?])>::BYTES;
    let _ = <shape!(f32[8,?])>::linear_index([1, 2]);
    let _ = <shape!(f32[8,<=128])>::linear_index_at(index![1, 2]);
}
