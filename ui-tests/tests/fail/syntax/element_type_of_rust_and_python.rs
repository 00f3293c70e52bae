//! Names that other languages have for element types.

use xla_shape::shape;

type Bool = shape!(bool[2]);
type I32 = shape!(i32[2]);
type Int8 = shape!(int8[2]);
type Float32 = shape!(float32[2]);
type Bfloat16 = shape!(bfloat16[2]);
type Half = shape!(half[2]);
type Complex64 = shape!(complex64[2]);

fn main() {}
