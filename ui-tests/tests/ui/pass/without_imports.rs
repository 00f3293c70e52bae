//! Full paths, without any `use`; and a glob import of everything.

mod glob {
    use xla_shape::types::*;
    use xla_shape::{Buffer, index, shape};

    pub fn run() -> f32 {
        Buffer::<shape!(f32[2])>::zeroed().at(index![1]) + <shape!(f32[2])>::SIZES_SUM
    }

    trait SizesSum {
        const SIZES_SUM: f32;
    }

    impl<S: StaticArray> SizesSum for S {
        const SIZES_SUM: f32 = S::BYTES as f32;
    }
}

#[test]
fn passes() {
    let x: xla_shape::Buffer<xla_shape::shape!(f32[2])> = xla_shape::Buffer::zeroed();
    assert_eq!(x.at(xla_shape::index![1]), 0.0);
    assert_eq!(glob::run(), 8.0);
}
