//! Twelve dimensions, and sizes of nearly an i64.

use xla_shape::shape;

type Deep = shape!(u8[2,1,2,1,2,1,2,1,2,1,2,3]{0,1,2,3,4,5,6,7,8,9,10,11});
type Long = shape!(u8[9223372036854775807]);

#[test]
fn passes() {
    assert_eq!(Deep::NUM_DIMENSIONS, 12);
    assert_eq!(Deep::TRUE_NUM_DIMENSIONS, 7);
    assert_eq!(Deep::linear_index([1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2]), 191);
    assert_eq!(Long::BYTES, i64::MAX as usize);
}
