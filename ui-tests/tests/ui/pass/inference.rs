//! The results of operations, checked by the rules of XLA: a case for each operation.

use xla_shape::infer::{
    ConvolutionDimensions, ConvolutionGroups, DotDimensions, Operation, PaddingDimension, SliceDimension,
    WindowDimension, assert_result,
};
use xla_shape::shape;
use xla_shape::types::{Array, Dimensions, LayoutType, Size, StaticArray};

type X = shape!(f32[8,128]{1,0:T(8,128)});
type Scalar = shape!(f32[]);

// Any layouts are allowed.
const _: () = assert_result::<(X, shape!(f32[8,128]{0,1})), shape!(f32[8,128])>(Operation::Elementwise);
// If operands are floats of different precision, the program chooses the precision of the result.
const _: () = assert_result::<(X, shape!(bf16[8,128])), shape!(bf16[8,128])>(Operation::Elementwise);
const _: () = assert_result::<(X, X), shape!(pred[8,128])>(Operation::Compare);
const _: () = assert_result::<(X,), shape!(s4[8,128])>(Operation::Convert);
const _: () = assert_result::<(shape!(pred[]), X, X), X>(Operation::Select);
const _: () = assert_result::<(shape!(pred[8,128]), X, X), X>(Operation::Select);
const _: () = assert_result::<(Scalar, X, X), X>(Operation::Clamp);
const _: () = assert_result::<(shape!(f32[8]),), X>(Operation::Broadcast { dimensions: &[0] });
const _: () = assert_result::<(Scalar,), X>(Operation::Broadcast { dimensions: &[] });
const _: () = assert_result::<(), shape!(s32[8,128])>(Operation::Iota { dimension: 1 });
const _: () = assert_result::<(X,), shape!(f32[1024])>(Operation::Reshape);
const _: () = assert_result::<(X,), shape!(f32[128,8])>(Operation::Transpose { dimensions: &[1, 0] });
const _: () = assert_result::<(X,), X>(Operation::Reverse { dimensions: &[1] });
const SLICE: [SliceDimension; 2] =
    [SliceDimension { start: 0, limit: 8, stride: 2 }, SliceDimension { start: 64, limit: 128, stride: 1 }];
const _: () = assert_result::<(X,), shape!(f32[4,64])>(Operation::Slice(&SLICE));
const PAD: [PaddingDimension; 2] =
    [PaddingDimension { low: 1, high: -1, interior: 0 }, PaddingDimension { low: 0, high: 0, interior: 1 }];
const _: () = assert_result::<(X, Scalar), shape!(f32[8,255])>(Operation::Pad(&PAD));
const _: () = assert_result::<(X, X, shape!(f32[3,128])), shape!(f32[19,128])>(Operation::Concatenate { dimension: 0 });
const _: () = assert_result::<(X, Scalar), shape!(f32[8])>(Operation::Reduce { dimensions: &[1] });
const WINDOW: WindowDimension = WindowDimension { size: 2, stride: 2, ..WindowDimension::ONE };
const _: () = assert_result::<(X, Scalar), shape!(f32[4,64])>(Operation::ReduceWindow(&[WINDOW; 2]));
const _: () = assert_result::<(X, shape!(s32[]), shape!(s32[])), shape!(f32[2,128])>(Operation::DynamicSlice(&[2, 128]));
const _: () = assert_result::<(X, shape!(f32[1,128]), shape!(s32[]), shape!(s32[])), X>(Operation::DynamicUpdateSlice);
const ATTENTION: DotDimensions =
    DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[2] };
const _: () = assert_result::<(shape!(bf16[4,8,64]), shape!(bf16[4,16,64])), shape!(f32[4,8,16])>(Operation::Dot(ATTENTION));
const CONVOLUTION: Operation = Operation::Convolution {
    dimensions: ConvolutionDimensions::IMAGES,
    window: &[WindowDimension { size: 3, padding_low: 1, padding_high: 1, ..WindowDimension::ONE }; 2],
    groups: ConvolutionGroups::ONE,
};
const _: () = assert_result::<(shape!(f32[2,14,14,16]), shape!(f32[3,3,16,32])), shape!(f32[2,14,14,32])>(CONVOLUTION);

// Sizes that are known at run time agree as in XLA.
const _: () = assert_result::<(shape!(f32[?,128]), X), shape!(f32[<=8,128])>(Operation::Elementwise);

// In generic code, for shapes and for sizes.
fn transpose<S: StaticArray, R: StaticArray>() {
    const { assert_result::<(S,), R>(Operation::Transpose { dimensions: &[1, 0] }) };
}

type Matrix<E, const M: usize, const N: usize, L> = Array<E, (Size<M>, Size<N>), L>;

fn product<E: xla_shape::element::Element, const M: usize, const K: usize, const N: usize, L: LayoutType>()
where
    (Size<M>, Size<N>): Dimensions,
{
    const {
        assert_result::<(Matrix<E, M, K, L>, Matrix<E, K, N, L>), Matrix<E, M, N, L>>(Operation::Dot(
            DotDimensions::MATRICES,
        ));
    };
}

#[test]
fn passes() {
    transpose::<X, shape!(f32[128,8])>();
    product::<xla_shape::element::Bf16, 8, 16, 32, xla_shape::layout!({1,0})>();
}
