//! Sizes with names: a single lower-case word, where constants of Rust have upper-case ones.

use xla_shape::types::{Array, ArrayType, Dim, Named, Size, Unbounded};
use xla_shape::{Buffer, View, layout, shape};

#[expect(non_upper_case_globals, reason = "a constant that looks like a name")]
const rows: usize = 3;
const D: usize = 4;

type Open = shape!(f32[rows,D]);
type Constant = shape!(f32[{ rows },D]);
type Longest = shape!(f32[abcdefghijklmnop]);
type Square = shape!((s8[n,n]{0,1}, s8[n2,?]));

fn is_same<T>(_: Option<T>, _: Option<T>) {}

fn generic<const M: usize>(x: View<shape!(f32[batch,M])>) -> usize {
    let [batch, _] = x.sizes();
    batch * M
}

#[test]
fn passes() {
    is_same(None::<Open>, None::<Array<xla_shape::element::F32, (Named<'r', 'o', 'w', 's'>, Size<4>), layout!({1,0})>>);
    is_same(None::<Constant>, None::<shape!(f32[3,4])>);
    is_same(None::<<Open as ArrayType>::Element>, None);
    assert_eq!((Open::TEXT, Constant::TEXT), ("f32[?,4]{1,0}", "f32[3,4]{1,0}"));
    assert_eq!(Longest::SHAPE.num_dimensions(), 1);
    assert_eq!(<Named<'n', '2'> as Dim>::NAME, Some("n2"));
    assert_eq!(<Unbounded as Dim>::NAME, None);
    let _: Option<Square> = None;
    type Rows = shape!(f32[batch,4]);
    let x = Buffer::<Rows>::zeroed_with(Rows::with_sizes([2, 4]).unwrap()).unwrap();
    assert_eq!(generic::<4>(x.view()), 8);
}
