//! Comments and white space are allowed between tokens.

use xla_shape::shape;

type X = shape! {
    bf16 /* brain float */ [
        8,   // sublanes
        128, /*index=1*/
        2
    ] {
        2, 1, 0 :
        T(8, 128) (2, 1)
        S(1) // VMEM
    }
};

#[test]
fn passes() {
    assert_eq!(X::TEXT, "bf16[8,128,2]{2,1,0:T(8,128)(2,1)S(1)}");
}
