//! Shapes in constants, statics, array lengths and patterns.

use xla_shape::{ArrayShape, index, shape};

const BYTES: usize = <shape!(bf16[100,200]{1,0:T(8,128)(2,1)})>::BYTES;
static SHAPE: &ArrayShape = <shape!(f32[2,3])>::SHAPE;
const LAST: usize = <shape!(f32[3,5]{1,0:T(2,2)})>::linear_index_at(index![2, 3]);
static SCRATCH: [u8; <shape!(f32[8,128])>::BYTES] = [0; <shape!(f32[8,128])>::BYTES];

#[test]
fn passes() {
    assert_eq!(BYTES, 104 * 256 * 2);
    assert_eq!(SHAPE.to_string(), "f32[2,3]{1,0}");
    assert_eq!(LAST, 17);
    assert_eq!(SCRATCH.len(), 4096);
}
