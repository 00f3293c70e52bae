//! Results that are computed as types agree with the rules.

use typenum::{Sum, U2, U3, U5};
use xla_shape::infer::{DotDimensions, Operation, PaddingDimension, SliceDimension, assert_result};
use xla_shape::types::{
    Array, Broadcast, Concatenated, DimensionAt, LayoutType, Multiply, Nth, Permute, Product, Reduced, Size,
    StaticArray, Transposed, WithDimension, WithElement,
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

type L3 = layout!({2,1,0});
type Row = shape!(bf16[4]);
const _: () = assert_result::<(Row,), Broadcast<Row, 0, Size<3>, L>>(Operation::Broadcast { dimensions: &[1] });
const _: () = assert_result::<(Row,), Broadcast<Row, -1, Size<3>, L>>(Operation::Broadcast { dimensions: &[0] });
const _: () = assert_result::<(Row,), Broadcast<Broadcast<Row, 0, Size<3>, L>, 1, Size<2>, L3>>(Operation::Broadcast {
    dimensions: &[2],
});
const _: () = assert_result::<(Scalar,), Broadcast<Scalar, 0, Size<3>, layout!({0})>>(Operation::Broadcast {
    dimensions: &[],
});

const ALL: SliceDimension = SliceDimension { start: 0, limit: 2, stride: 1 };
const _: () = assert_result::<(X,), WithDimension<WithDimension<X, 1, Size<2>, L3>, -1, Size<2>, L3>>(
    Operation::Slice(&[ALL, ALL, SliceDimension { start: 0, limit: 4, stride: 2 }]),
);
const EDGES: PaddingDimension = PaddingDimension { low: 1, high: 1, interior: 0 };
const _: () = assert_result::<(Of<U3>, shape!(s8[])), WithDimension<Of<U3>, 1, Sum<U3, U2>, L>>(Operation::Pad(&[
    PaddingDimension::NONE,
    EDGES,
]));

const ROWS: DotDimensions =
    DotDimensions { lhs_batch: &[], rhs_batch: &[], lhs_contracting: &[1], rhs_contracting: &[0] };
type Wide = shape!(bf16[4,6]);
type Narrow = shape!(bf16[3,4]{0,1});
type V = layout!({0});
const _: () = assert_result::<(Narrow, Wide), Product<Narrow, Wide, L>>(Operation::Dot(ROWS));
const _: () = assert_result::<(Narrow, Wide), WithElement<Product<Narrow, Wide, L>, element::F32>>(Operation::Dot(ROWS));
const _: () = assert_result::<(Narrow, Row), Product<Narrow, Row, V>>(Operation::Dot(ROWS));
const VECTORS: DotDimensions = DotDimensions { lhs_contracting: &[0], ..ROWS };
const _: () = assert_result::<(Row, Row), Product<Row, Row, layout!({:})>>(Operation::Dot(VECTORS));

/// Generic code can use the result of a chain of products without naming its type.
fn chain<A, B, C, L>(_: A, _: B, _: C) -> Product<Product<A, B, L>, C, L>
where
    A: StaticArray<Dimensions: Multiply<B::Dimensions>>,
    B: StaticArray,
    C: StaticArray,
    <A::Dimensions as Multiply<B::Dimensions>>::Product: Multiply<C::Dimensions>,
    L: LayoutType,
    Product<Product<A, B, L>, C, L>: Default,
{
    Default::default()
}

fn twice<S, P>()
where
    S: StaticArray<Dimensions: Permute<P>>,
{
}

fn without_the_last<S: StaticArray<Dimensions: DimensionAt<Nth<-1>>>, L: LayoutType>() -> usize {
    <Reduced<S, -1, L> as xla_shape::types::ArrayType>::SHAPE.num_dimensions()
}

#[test]
fn passes() {
    let x: shape!(bf16[3,7]) =
        chain::<_, _, _, L>(Narrow::default(), Wide::default(), <shape!(bf16[6,7])>::default());
    assert_eq!(x, Default::default());
    twice::<X, (Nth<0>, Nth<1>, Nth<2>)>();
    assert_eq!(without_the_last::<X, layout!({0,1})>(), 2);
}
