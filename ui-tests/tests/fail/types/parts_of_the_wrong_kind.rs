//! The parts of a shape are put together by hand, wrongly.

use xla_shape::element::F32;
use xla_shape::types::{Array, DimensionNumber, Layout, Size, StaticShape, Tile};

fn bytes<S: StaticShape>() -> usize {
    S::BYTES
}

fn main() {
    bytes::<Array<f32, (Size<8>,), Layout<(DimensionNumber<0>,)>>>();
    bytes::<Array<F32, Size<8>, Layout<(DimensionNumber<0>,)>>>();
    bytes::<Array<F32, (u8,), Layout<(DimensionNumber<0>,)>>>();
    bytes::<Array<F32, (Size<8>,), (DimensionNumber<0>,)>>();
    bytes::<Array<F32, (Size<8>,), Layout<DimensionNumber<0>>>>();
    bytes::<Array<F32, (Size<8>,), Layout<(DimensionNumber<0>,), Tile<(Size<8>,)>>>>();
    bytes::<Array<F32, (Size<8>,), Layout<(DimensionNumber<0>,), (Tile<Size<8>>,)>>>();
}
