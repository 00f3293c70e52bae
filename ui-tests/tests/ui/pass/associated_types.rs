//! Shapes as type aliases, associated types, and fields.

use xla_shape::types::{ArrayType, StaticArray};
use xla_shape::{Buffer, shape};

type Weights = shape!(bf16[8,128]{1,0:T(8,128)(2,1)});
type Batch<S> = (S, shape!(s32[16]));

trait Layer {
    type Input: StaticArray;
    type Output: StaticArray;
    const BYTES: usize = Self::Input::BYTES + Self::Output::BYTES;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Dense {
    weights: Weights,
    bias: shape!(f32[128]),
}

impl Layer for Dense {
    type Input = shape!(bf16[1,8]);
    type Output = shape!(f32[1,128]);
}

struct Memory<L: Layer>
where
    <L::Input as ArrayType>::Element: xla_shape::element::Stored,
{
    input: Buffer<L::Input>,
}

#[test]
fn passes() {
    assert_eq!(Dense::BYTES, 16 + 512);
    assert_eq!(size_of::<Dense>() + size_of::<Batch<Dense>>(), 0);
    assert_eq!(Memory::<Dense> { input: Buffer::zeroed() }.input.as_bytes().len(), 16);
    assert_eq!(
        format!("{:?}", Dense::default()),
        "Dense { weights: bf16[8,128]{1,0:T(8,128)(2,1)}, bias: f32[128]{0} }"
    );
}
