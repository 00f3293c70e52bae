//! Sizes that types compute: `typenum`'s numbers can be sizes, too.

use std::ops::Mul;
use typenum::{Prod, U2, U4, U8, U128};
use xla_shape::element::F32;
use xla_shape::types::{Array, ArrayType, Minor, Layout, StaticDim};

type Order = Layout<(Minor<1>, Minor<0>)>;
type Flat<M, N> = Array<F32, (Prod<M, N>,), Layout<(Minor<0>,)>>;

fn flat_bytes<M: Mul<N, Output: StaticDim>, N>(_: Array<F32, (M, N), Order>) -> usize {
    Flat::<M, N>::BYTES
}

#[test]
fn passes() {
    assert_eq!(<Array<F32, (Prod<U2, U4>, U128), Order> as ArrayType>::TEXT, "f32[8,128]{1,0}");
    assert_eq!(flat_bytes(Array::<F32, (U8, U128), Order>::default()), 4096);
}
