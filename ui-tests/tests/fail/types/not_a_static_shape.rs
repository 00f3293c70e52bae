//! What is no shape is not taken for one.

use xla_shape::types::StaticShape;

fn bytes<S: StaticShape>() -> usize {
    S::BYTES
}

fn main() {
    bytes::<f32>();
    bytes::<[f32; 8]>();
}
