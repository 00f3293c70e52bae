//! Results that no rule gives: of a dimension that is not there, a permutation of others, and sizes that cannot be added.

use xla_shape::types::{ArrayType, Concatenated, Nth, Reduced, Transposed};
use xla_shape::{layout, shape};

type X = shape!(f32[8,128]);
type L = layout!({1,0});

fn array<S: ArrayType>() {}

fn main() {
    array::<Reduced<X, 2, layout!({0})>>();
    array::<Transposed<X, (Nth<0>, Nth<1>, Nth<2>), L>>();
    array::<Concatenated<X, X, 0, L>>();
}
