//! Results without a rule: for a dimension that does not exist, a permutation of other dimensions, sizes that cannot be added, and matrices that
//! cannot be multiplied.

use xla_shape::types::{ArrayType, Broadcast, Concatenated, Nth, Product, Reduced, Size, Transposed, WithDimension};
use xla_shape::{layout, shape};

type X = shape!(f32[8,128]);
type L = layout!({1,0});

fn array<S: ArrayType>() {}

fn main() {
    array::<Reduced<X, 2, layout!({0})>>();
    array::<Transposed<X, (Nth<0>, Nth<1>, Nth<2>), L>>();
    array::<Concatenated<X, X, 0, L>>();
    array::<Broadcast<X, 3, Size<2>, layout!({2,1,0})>>();
    array::<WithDimension<X, -3, Size<2>, L>>();
    array::<Product<X, X, L>>();
}
