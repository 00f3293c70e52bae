//! Kernels over any layout: rows, tiles, operands together.

use xla_shape::buffer::BytesMut;
use xla_shape::element::F32;
use xla_shape::types::ArrayType;
use xla_shape::{Buffer, shape};

fn subtract_mean_of_rows<S: ArrayType<Element = F32>, B: BytesMut>(x: &mut Buffer<S, B>, columns: f32) {
    x.for_each_band_mut::<-1>(|mut rows| {
        let sums = rows.fold_lanes([0.0; 16], |sum, x| sum + x, |a, b| a + b);
        rows.apply_lanes(sums, |x, sum| x - sum / columns);
    });
}

#[test]
fn passes() {
    let mut x = Buffer::<shape!(f32[10,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (i + j) as f32);
    let mut y = Buffer::<shape!(f32[10,200]{1,0:T(8,128)(2,1)})>::zeroed();
    y.apply_with(&x, |_, x| x);
    subtract_mean_of_rows(&mut x, 200.0);
    subtract_mean_of_rows(&mut y, 200.0);
    assert_eq!(x.to_row_major(), y.to_row_major());
    assert_eq!((x[[9, 0]], y.tiles::<[[[f32; 2]; 128]; 4]>().len()), (-99.5, 4));
}
