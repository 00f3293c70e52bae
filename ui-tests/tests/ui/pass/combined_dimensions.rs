//! `*` in a tile combines a dimension with the next one.

use xla_shape::shape;

type X = shape!(f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)});
type AsMatrix = shape!(f32[112,110]{1,0:T(2,3)});

#[test]
fn passes() {
    assert_eq!(X::TEXT, "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}");
    assert_eq!(X::BYTES, AsMatrix::BYTES);
    assert_eq!(X::linear_index([1, 6, 7, 10, 9]), AsMatrix::linear_index([111, 109]));
}
