//! A function over buffers with any storage borrows a part of its argument.

use xla_shape::buffer::Bytes;
use xla_shape::{Buffer, layout, shape};

type X = shape!(f32[4,16,256]{2,1,0:T(8,128)});

fn first<B: Bytes>(x: &Buffer<X, B>) -> f32 {
    x.index_axis::<0, layout!({1,0:T(8,128)})>(0)[[0, 0]]
}

fn main() {
    first(&Buffer::<X>::zeroed());
}
