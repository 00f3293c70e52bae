//! One mistake in an item does not hide those in the others, and causes no further errors where the name is used.

use xla_shape::{View, shape_type};

shape_type! {
    pub type Twice = f32[8,128]{1,1};
    type 8 = f32[8];
    type Size: f32[8];
    struct Rows;
    type Missing = ;
    type Right = f32[8];
    type Last
}

fn twice(x: View<Twice>, y: View<Missing>) -> f32 {
    x[[0, 0]] + y[[0]]
}

fn main() {}
