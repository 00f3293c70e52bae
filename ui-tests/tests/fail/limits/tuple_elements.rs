//! A tuple in a type has a limited number of elements.

use xla_shape::shape;

type Tuple = shape!((s8[], s8[], s8[], s8[], s8[], s8[], s8[], s8[], s8[], s8[], s8[], s8[], s8[8]{0}));
type Inner = shape!((f32[2], (f32[1,1,1,1,1,1,1,1,1,1,1,1,13])));

fn main() {}
