//! In a closure, the error shows the line that accesses the element.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,100])>::zeroed();
    let sum: f32 = (0..3).map(|_| x.at(index![4, 0])).sum();
    println!("{sum}");
}
