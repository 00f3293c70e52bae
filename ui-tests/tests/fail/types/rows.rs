//! Rows of another length or element type, rows of arrays that are not matrices, and row numbers that are not integers.

use xla_shape::{Buffer, shape};

fn main() {
    let table = Buffer::<shape!(f32[1000,200]{1,0:T(8,128)})>::zeroed();
    let mut x = Buffer::<shape!(f32[3,128])>::zeroed();
    x.gather_rows(&table, [7, 999, 7]);
    x.scatter_rows(&table, [7, 999, 7]);
    let mut integers = Buffer::<shape!(s32[3,200])>::zeroed();
    integers.gather_rows(&table, [7, 999, 7]);
    integers.scatter_rows(&table, [7, 999, 7]);
    let mut cube = Buffer::<shape!(f32[3,4,200])>::zeroed();
    cube.gather_rows(&table, [7, 999, 7]);
    let mut rows = Buffer::<shape!(f32[3,200])>::zeroed();
    rows.gather_rows(&cube, [1, 2, 0]);
    rows.scatter_rows(&cube, [1, 2, 0]);
    let tokens = Buffer::<shape!(f32[3])>::zeroed();
    rows.gather_rows(&table, &tokens);
    rows.scatter_rows(&table, [1.0, 2.0, 3.0]);
    let packed = Buffer::<shape!(s4[3,200]{1,0:E(4)})>::zeroed();
    Buffer::<shape!(s4[3,200])>::zeroed().gather_rows(&packed, [0]);
}
