//! Padding cannot have a value that the element type lacks.

use xla_shape::shape;

fn main() {
    let _ = <shape!(c64[2,3]{0,1:PAD(3,5)V(lowest)})>::buffer();
}
