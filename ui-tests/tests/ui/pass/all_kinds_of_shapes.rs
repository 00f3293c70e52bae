//! Tuples, tokens, opaque values, buffers, sizes at run time, layouts and values.

use xla_shape::element::F32;
use xla_shape::types::{Array, BufferOf, Opaque, ShapeType, Size, Token};
use xla_shape::{Buffer, Shape, View, layout, shape, shape_value};

const RESULTS: Shape = shape_value!((f32[2,<=3]<0,1:T(2,2)>, (token[], opaque[]), b(s32[?]), ()));

fn same(
    (array, _, (), ()): shape!((f32[2]{0}, token[], (), ())),
) -> (shape!(f32[2]), Token, ()) {
    (array, Token, ())
}

fn kinds(_: shape!(opaque[]), _: shape!(b(f32[2]))) -> (Opaque, BufferOf<shape!(f32[2])>) {
    Default::default()
}

fn sum(rows: View<'_, shape!(f32[?,128]{1,0:T(8,128)})>) -> f32 {
    rows.indexed_iter().map(|(_, value)| value).sum()
}

#[test]
fn passes() {
    assert_eq!(RESULTS.to_string(), "(f32[2,<=3]{0,1:T(2,2)}, (token[], opaque[]), b(s32[?]{0}), ())");
    let _ = same(Default::default());
    let _ = kinds(Default::default(), Default::default());
    let rows = <shape!(f32[?,128]{1,0:T(8,128)})>::with_sizes([3, 128]).unwrap();
    assert_eq!(sum(Buffer::<shape!(f32[?,128]{1,0:T(8,128)})>::zeroed_with(rows).unwrap().view()), 0.0);
    assert_eq!(<Array<F32, (Size<2>,), layout!({0:T(128)})>>::TEXT, "f32[2]{0:T(128)}");
    assert_eq!(<() as ShapeType>::VALUE.to_string(), "()");
}
