//! A type is the shape of an array.

use xla_shape::shape;

type Tuple = shape!((f32[2], s32[]));
type Empty = shape!(());
type Token = shape!(token[]);
type Opaque = shape!(opaque[]);
type Buffer = shape!(b(f32[2]{0}));

fn main() {}
