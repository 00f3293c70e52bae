//! A type that is not a shape is not accepted as one.

use xla_shape::types::StaticArray;

fn bytes<S: StaticArray>() -> usize {
    S::BYTES
}

fn main() {
    bytes::<f32>();
    bytes::<[f32; 8]>();
}
