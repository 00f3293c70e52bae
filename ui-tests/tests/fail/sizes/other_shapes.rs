//! Types of other shapes, and vectors of other lengths.

use xla_shape::{Buffer, View, shape};

fn another_shape(x: View<'_, shape!(f32[8,128])>) -> View<'_, shape!(f32[8,64])> {
    x.retype()
}

fn another_length() {
    let mut x = Buffer::<shape!(f32[8,128])>::zeroed();
    x.apply_along::<-1, _, _>(&Buffer::<shape!(f32[8])>::zeroed(), |x, _| x);
}

fn main() {
    let _ = another_shape(Buffer::zeroed().view());
    another_length();
}
