//! The macro may be called with any delimiter.

use xla_shape::{index, shape};

type Parentheses = shape!(f32[2,3]);
type Brackets = shape![f32[2,3]];
type Braces = shape! { f32[2,3] };

fn same(x: Parentheses) -> Braces {
    let x: Brackets = x;
    x
}

#[test]
fn passes() {
    assert_eq!(same(Parentheses::default()).to_string(), "f32[2,3]{1,0}");
    assert_eq!(Brackets::linear_index_at(index!(1, 2)), Brackets::linear_index_at(index! { 1, 2 }));
}
