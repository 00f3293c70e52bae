//! Texts with the same meaning are the same type, however they are written.

use xla_shape::shape;

#[test]
fn passes() {
    let x: shape!(f32[8,128]) = Default::default();
    let x: shape!(f32[8,128]{1,0}) = x;
    let x: shape!(f32[8,128]<1,0>) = x;
    let x: shape!(f32[8,128]{1,0:}) = x;
    let x: shape!(f32[8,128]<1,0:>) = x;
    let x: shape!(f32[ 8 , 128 ] { 1 , 0 : L(1) E(0) S(0) M(0) }) = x;
    let _: shape!(f32[0008,0128]{01,-0:D(D,D)}) = x;

    let x: shape!(bf16[8,128]{1,0:T(8,128)(2,1)}) = Default::default();
    let _: shape!(bf16[8,128]<1,0:T(8,128)(2,1)>) = x;

    let x: shape!(f32[]) = Default::default();
    let _: shape!(f32[]{:}) = x;
}
