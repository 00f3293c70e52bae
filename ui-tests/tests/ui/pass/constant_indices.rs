//! Constant indices: literals, constants, expressions, parameters of generic functions.

use xla_shape::types::StaticArray;
use xla_shape::{Buffer, index, shape};

const LAST: usize = 127;

type X = shape!(f32[8,128]{1,0:T(8,128)});

fn column<const J: usize>(x: &Buffer<X>) -> f32 {
    x.at(index![0, J]) + x.at(index![7, J])
}

fn corner<S: StaticArray>() -> usize
where
    (xla_shape::types::At<0>,): xla_shape::types::StaticIndex<S::Dimensions>,
{
    S::linear_index_at(index![0])
}

#[test]
fn passes() {
    let mut x = Buffer::<X>::from_fn(|[i, j]| (128 * i + j) as f32);
    assert_eq!(x.at(index![7, LAST]), 1023.0);
    assert_eq!(x.at(index![2 + 3, LAST / 2,]), 703.0);
    assert_eq!(x.at(index![0x7, size_of::<u64>()]), 904.0);
    assert_eq!(column::<5>(&x), 5.0 + 901.0);
    x.set_at(index![0, 0], -1.0);
    assert_eq!(x[[0, 0]], -1.0);
    assert_eq!(corner::<shape!(f32[2])>(), 0);
    assert_eq!(Buffer::<shape!(f32[])>::zeroed().at(index![]), 0.0);
}
