//! A shape is written as an `Array` type, with parts in the wrong places.

use xla_shape::element::F32;
use xla_shape::types::{Array, Minor, Layout, Size, StaticArray, Tile};

fn bytes<S: StaticArray>() -> usize {
    S::BYTES
}

fn main() {
    bytes::<Array<f32, (Size<8>,), Layout<(Minor<0>,)>>>();
    bytes::<Array<F32, Size<8>, Layout<(Minor<0>,)>>>();
    bytes::<Array<F32, (u8,), Layout<(Minor<0>,)>>>();
    bytes::<Array<F32, (Size<8>,), (Minor<0>,)>>();
    bytes::<Array<F32, (Size<8>,), Layout<Minor<0>>>>();
    bytes::<Array<F32, (Size<8>,), Layout<(Minor<0>,), Tile<(Size<8>,)>>>>();
    bytes::<Array<F32, (Size<8>,), Layout<(Minor<0>,), (Tile<Size<8>>,)>>>();
}
