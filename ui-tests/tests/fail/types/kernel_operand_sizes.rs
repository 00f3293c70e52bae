//! A kernel over any layouts requires its own sizes.

use xla_shape::element::F32;
use xla_shape::types::{Array, LayoutType, Size};
use xla_shape::{Buffer, View, shape};

fn trace<const N: usize, L: LayoutType>(_: View<Array<F32, (Size<N>, Size<N>), L>>) {}

fn main() {
    trace(Buffer::<shape!(f32[8,128]{0,1})>::zeroed().view());
}
