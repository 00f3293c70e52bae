//! Names for shapes, in the forms of type aliases.

use xla_shape::types::ShapeType;
use xla_shape::{shape, shape_type};

const SEQ: usize = 256;

shape_type! {
    /// Documented.
    pub type Weights = bf16[100,200]{1,0:T(8,128)(2,1)};
    #[cfg(any())]
    type Unwanted = no shape;
    pub(crate) type Rows<const M: usize, const N: usize = { 64 * 2 }> = f32[M,N]<1,0:T(8,128)>;
    type Acts = bf16[SEQ,8 * 16];
    type Batch = f32[<=64,?,heads];
    type Both = (f32[8], token[])
}

shape_type!(type Brackets = u8[4];);
shape_type![];

macro_rules! named {
    ($name:ident, $size:expr) => {
        shape_type! { type $name = s32[$size,128]; }
    };
}
named!(Passed, 2 * SEQ);

#[test]
fn passes() {
    shape_type! { type Local = u8[3]; }
    fn same(
        x: (Weights, Rows<3>, Acts, Batch, Both, Brackets, Passed, Local),
    ) -> (
        shape!(bf16[100,200]{1,0:T(8,128)(2,1)}),
        shape!(f32[3,128]{1,0:T(8,128)}),
        shape!(bf16[256,128]),
        shape!(f32[<=64,?,heads]),
        shape!((f32[8], token[])),
        shape!(u8[4]),
        shape!(s32[512,128]),
        shape!(u8[3]),
    ) {
        x
    }
    let _ = same;
    assert_eq!(<Both as ShapeType>::TEXT, "(f32[8]{0}, token[])");
}
