//! A kernel over a tiled layout, which custom calls on CPU cannot carry, so it is refused when it is registered.

use xla_shape::{View, ViewMut, shape};
use xla_shape_ffi::{export, kernel};

kernel! {
    /// The first element.
    fn first(x: View<'_, shape!(f32[8,128]{1,0:T(8,128)})>, mut y: ViewMut<'_, shape!(f32[])>) {
        y[[]] = x[[0, 0]];
    }
}

export![first];
