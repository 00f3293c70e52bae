//! A constant index into an array with a size that is known only at run time.

use xla_shape::{View, index, shape};

fn first(rows: View<'_, shape!(f32[rows,128])>) -> f32 {
    rows.at(index![0, 0])
}

fn main() {
    let _ = first;
}
