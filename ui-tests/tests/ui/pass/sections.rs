//! Sections with one index, and by a slice of each dimension.

use xla_shape::{Buffer, View, layout, shape};

type Head = shape!(f32[64,128]{1,0:T(8,128)});

#[test]
fn passes() {
    let x = Buffer::<shape!(f32[4,64,128]{2,1,0:T(8,128)})>::filled(1.0);
    let head: View<Head> = x.index_axis::<0, layout!({1,0:T(8,128)})>(3).as_array().unwrap();
    assert_eq!(head[[63, 127]], 1.0);
    assert_eq!(x.section::<shape!(f32[2,16,128]{2,1,0:T(8,128)}), _>((1..3, 32..48, ..))[[1, 15, 127]], 1.0);
}
