//! Sizes are expressions of type `usize`.

use xla_shape::shape;

type Byte = shape!(f32[b'8']);
type Boolean = shape!(f32[true]);
type Tuple = shape!(f32[8,128]{1,0:T((8,128))});

fn main() {}
