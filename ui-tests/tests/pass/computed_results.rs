//! Results that are computed as types are those of the rules.

use typenum::{U3, U5};
use xla_shape::infer::{Operation, assert_result};
use xla_shape::types::{
    Array, Concatenated, DimensionAt, LayoutType, Nth, Permute, Reduced, Size, StaticShape, Transposed, WithElement,
};
use xla_shape::{element, layout, shape};

type X = shape!(bf16[2,3,4]{2,1,0:T(8,128)(2,1)});

const _: () = assert_result::<(X,), WithElement<X, element::F32>>(Operation::Convert);
const _: () = assert_result::<(X, X), WithElement<X, element::Pred>>(Operation::Compare);
const _: () = assert_result::<(X,), Transposed<X, (Nth<2>, Nth<0>, Nth<-2>), layout!({2,1,0})>>(Operation::Transpose {
    dimensions: &[2, 0, 1],
});
type Scalar = shape!(bf16[]);
const _: () =
    assert_result::<(X, Scalar), Reduced<X, 0, layout!({1,0})>>(Operation::Reduce { dimensions: &[0] });
const _: () =
    assert_result::<(X, Scalar), Reduced<X, 1, layout!({1,0})>>(Operation::Reduce { dimensions: &[1] });
const _: () =
    assert_result::<(X, Scalar), Reduced<X, -1, layout!({1,0})>>(Operation::Reduce { dimensions: &[2] });
type L = layout!({1,0});
type Of<N> = Array<element::S8, (Size<7>, N), L>;
const _: () = assert_result::<(Of<U3>, Of<U5>), Concatenated<Of<U3>, Of<U5>, -1, L>>(Operation::Concatenate {
    dimension: 1,
});

fn twice<S, P>()
where
    S: StaticShape<Dimensions: Permute<P>>,
{
}

fn without_the_last<S: StaticShape<Dimensions: DimensionAt<Nth<-1>>>, L: LayoutType>() -> usize {
    <Reduced<S, -1, L> as xla_shape::types::ArrayType>::SHAPE.num_dimensions()
}

fn main() {
    twice::<X, (Nth<0>, Nth<1>, Nth<2>)>();
    assert_eq!(without_the_last::<X, layout!({0,1})>(), 2);
}
