//! Several tiles, some larger than the array, some that do not divide the one before.

use xla_shape::shape;

#[test]
fn passes() {
    assert_eq!(<shape!(s32[8,8]{1,0:T(2,4)(2,1,1,1)})>::linear_index([6, 5]), 51);
    assert_eq!(<shape!(f32[8]{0:T(2,2)})>::linear_index([5]), 9);
    assert_eq!(<shape!(bf16[]{:T(256)})>::PHYSICAL_ELEMENTS, 256);
    assert_eq!(<shape!(bf16[2048]{0:T(1024)(128)(2,1)})>::linear_index([128]), 1);
    assert_eq!(<shape!(f32[16,256]{1,0:T(8,128)(3,1)})>::PHYSICAL_ELEMENTS, 18 * 256);
}
