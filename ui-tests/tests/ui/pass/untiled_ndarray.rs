//! Arrays without tiles are views of `ndarray`, in any order of dimensions.

use xla_shape::{Buffer, View, shape};

#[test]
fn passes() {
    let x = Buffer::<shape!(f32[16,256]{0,1})>::filled(1.5);
    let sum = x.as_ndarray().sum();
    assert_eq!(sum, 1.5 * 16.0 * 256.0);
    let transposed = View::<shape!(f32[256,16])>::from_ndarray(x.as_ndarray().reversed_axes()).unwrap();
    assert_eq!(transposed[[255, 15]], 1.5);
}
