//! Slices, paddings and windows that do not fit.

use xla_shape::infer::{
    ConvolutionDimensions, ConvolutionGroups, Operation, PaddingDimension, SliceDimension, WindowDimension,
    assert_result,
};
use xla_shape::shape;

type X = shape!(f32[8]);
type Scalar = shape!(f32[]);

const _: () = assert_result::<(X,), X>(Operation::Slice(&[SliceDimension { start: 4, limit: 9, stride: 1 }]));
const _: () = assert_result::<(X,), X>(Operation::Slice(&[SliceDimension { start: 0, limit: 8, stride: 0 }]));
const _: () = assert_result::<(X, Scalar), X>(Operation::Pad(&[PaddingDimension { low: -9, high: 0, interior: 0 }]));
const _: () =
    assert_result::<(X, Scalar), X>(Operation::Pad(&[PaddingDimension { low: i64::MAX, high: 0, interior: 0 }]));
const _: () =
    assert_result::<(X, Scalar), X>(Operation::ReduceWindow(&[WindowDimension { size: 0, ..WindowDimension::ONE }]));
const CONVOLUTION: Operation = Operation::Convolution {
    dimensions: ConvolutionDimensions {
        input_batch: 0,
        input_feature: 1,
        input_spatial: &[],
        kernel_input_feature: 0,
        kernel_output_feature: 1,
        kernel_spatial: &[],
        output_batch: 0,
        output_feature: 1,
        output_spatial: &[],
    },
    window: &[],
    groups: ConvolutionGroups { feature: 3, batch: 1 },
};
const _: () = assert_result::<(shape!(f32[2,16]), shape!(f32[16,32])), shape!(f32[2,32])>(CONVOLUTION);

fn main() {}
