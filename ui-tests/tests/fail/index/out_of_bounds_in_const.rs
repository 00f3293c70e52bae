//! In a constant, the index is checked before any code is generated.

use xla_shape::{index, shape};

const POSITION: usize = <shape!(f32[3,5]{1,0:T(2,2)})>::linear_index_at(index![0, 5]);

fn main() {
    println!("{POSITION}");
}
