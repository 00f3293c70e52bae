//! Why a type has no text in CuTe's notation.

use xla_shape::shape;

const PADDED: &str = <shape!(bf16[6,200]{1,0:T(8,128)(2,1)})>::CUTE;
const COMBINED: &str = <shape!(f32[7,2,5]{2,1,0:T(2,*,3)})>::CUTE;

fn main() {
    println!("{PADDED} {COMBINED}");
}
