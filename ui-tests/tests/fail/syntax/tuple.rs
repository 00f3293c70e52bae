//! Mistakes in tuples, and in other shapes that are not arrays.

use xla_shape::shape;

type NoComma = shape!((f32[2] s32[]));
type TrailingComma = shape!((f32[2],));
type TokenWithSize = shape!(token[2]);
type OpaqueBare = shape!(opaque);
type OpaqueWithLayout = shape!(opaque[]{0});
type BufferOfNothing = shape!(b());
type BufferOfNumber = shape!(b(5));
type BufferBare = shape!(b f32[2]);
type BufferOfTuple = shape!(b((f32[2])));

fn main() {}
