//! The position of a constant index lies in the array, too.

use xla_shape::{index, shape};

type X = shape!(f32[3,5]{1,0:T(2,2)});

fn main() {
    println!("{}", X::linear_index_at(index![3, 0]));
}
