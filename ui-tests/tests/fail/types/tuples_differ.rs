//! The elements of tuples are compared one by one.

use xla_shape::shape;
use xla_shape::types::ShapeType;

fn run(_: shape!((f32[8,128]{1,0:T(8,128)}, s32[]))) {}

fn is_shape<S: ShapeType>() {}

fn main() {
    run(<shape!((f32[8,128]{1,0:T(8,256)}, s32[]))>::default());
    run(<shape!((f32[8,128]{1,0:T(8,128)}, token[]))>::default());
    is_shape::<(f32, shape!(s32[]))>();
}
