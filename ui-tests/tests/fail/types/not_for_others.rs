//! The traits that memory accesses rely on are not for other crates to implement.

use xla_shape::Dimension;
use xla_shape::types::Dim;

#[derive(Clone, Copy, Debug)]
struct Liar;

impl Dim for Liar {
    const DIMENSION: Dimension = Dimension::Static(8);

    fn size(self) -> usize {
        1 << 40
    }

    fn with_size(_: usize) -> Option<Self> {
        Some(Self)
    }
}

fn main() {}
