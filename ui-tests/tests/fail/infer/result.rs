//! The named result is not the one that the rule gives: a case for each operation.

use xla_shape::infer::{
    ConvolutionDimensions, ConvolutionGroups, DotDimensions, Operation, PaddingDimension, SliceDimension,
    WindowDimension, assert_result,
};
use xla_shape::shape;

type X = shape!(f32[8,128]);
type Scalar = shape!(f32[]);
type Mask = shape!(pred[8,128]);
type Start = shape!(s32[]);

const _: () = assert_result::<(X, X), shape!(f32[128,8])>(Operation::Elementwise);
const _: () = assert_result::<(X, X), X>(Operation::Compare);
const _: () = assert_result::<(X,), shape!(s4[8,64])>(Operation::Convert);
const _: () = assert_result::<(Mask, X, X), Mask>(Operation::Select);
const _: () = assert_result::<(Scalar, X, Scalar), Scalar>(Operation::Clamp);
const _: () = assert_result::<(shape!(f32[128]),), shape!(f32[128,8])>(Operation::Broadcast { dimensions: &[1] });
const _: () = assert_result::<(), shape!(s32[])>(Operation::Iota { dimension: 0 });
const _: () = assert_result::<(X,), shape!(f32[8,64,4])>(Operation::Reshape);
const _: () = assert_result::<(X,), X>(Operation::Transpose { dimensions: &[1, 0] });
const _: () = assert_result::<(X,), shape!(f32[8])>(Operation::Reverse { dimensions: &[1] });
const SLICE: [SliceDimension; 2] =
    [SliceDimension { start: 0, limit: 8, stride: 3 }, SliceDimension { start: 64, limit: 128, stride: 1 }];
const _: () = assert_result::<(X,), shape!(f32[2,64])>(Operation::Slice(&SLICE));
const EDGE: PaddingDimension = PaddingDimension { low: 1, high: 1, interior: 0 };
const _: () = assert_result::<(X, Scalar), shape!(f32[9,128])>(Operation::Pad(&[EDGE, PaddingDimension::NONE]));
const _: () = assert_result::<(X, X), shape!(f32[8,256])>(Operation::Concatenate { dimension: 0 });
const _: () = assert_result::<(X, Scalar), shape!(f32[128])>(Operation::Reduce { dimensions: &[1] });
const WINDOW: WindowDimension = WindowDimension { size: 3, stride: 2, ..WindowDimension::ONE };
const _: () = assert_result::<(X, Scalar), shape!(f32[4,64])>(Operation::ReduceWindow(&[WINDOW; 2]));
const _: () = assert_result::<(X, Start, Start), shape!(f32[2,128])>(Operation::DynamicSlice(&[1, 128]));
const _: () = assert_result::<(X, shape!(f32[1,128]), Start, Start), shape!(f32[1,128])>(Operation::DynamicUpdateSlice);
const _: () = assert_result::<(X, shape!(f32[128,256])), shape!(f32[256,8])>(Operation::Dot(DotDimensions::MATRICES));
const ATTENTION: DotDimensions =
    DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[2] };
type Heads = shape!(bf16[4,16,64]);
const _: () = assert_result::<(Heads, Heads), shape!(f32[4,16,64])>(Operation::Dot(ATTENTION));
const CONVOLUTION: Operation = Operation::Convolution {
    dimensions: ConvolutionDimensions::IMAGES,
    window: &[WindowDimension { size: 3, ..WindowDimension::ONE }; 2],
    groups: ConvolutionGroups::ONE,
};
const _: () = assert_result::<(shape!(f32[2,14,14,16]), shape!(f32[3,3,16,32])), shape!(f32[2,14,14,32])>(CONVOLUTION);

fn main() {}
