//! The kernel, and the same computation written by hand.

use xla_shape::infer::{ConvolutionDimensions, ConvolutionGroups, Operation, WindowDimension, assert_result};
use xla_shape::{View, ViewMut, shape};

pub(crate) const BATCH: usize = 2;
pub(crate) const SIZE: usize = 14;
pub(crate) const GROUPS: usize = 4;
/// The input features of a group, and its output features.
pub(crate) const INPUTS: usize = 16;
pub(crate) const OUTPUTS: usize = 128;

pub(crate) type Image = shape!(f32[BATCH,SIZE,SIZE,GROUPS * INPUTS]{3,2,1,0:T(8,128)});
pub(crate) type Kernel = shape!(f32[3,3,INPUTS,GROUPS * OUTPUTS]{3,2,1,0:T(8,128)});
pub(crate) type Output = shape!(f32[BATCH,SIZE,SIZE,GROUPS * OUTPUTS]{3,2,1,0:T(8,128)});
/// The parts of the kernel and of the output that belong to one group.
type KernelGroup = shape!(f32[3,3,INPUTS,OUTPUTS]{3,2,1,0:T(8,128)});
type OutputGroup = shape!(f32[BATCH,SIZE,SIZE,OUTPUTS]{3,2,1,0:T(8,128)});

/// `window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=4`.
const CONVOLUTION: Operation<'_> = Operation::Convolution {
    dimensions: ConvolutionDimensions::IMAGES,
    window: &[WindowDimension { size: 3, padding_low: 1, padding_high: 1, ..WindowDimension::ONE }; 2],
    groups: ConvolutionGroups { feature: GROUPS as u64, batch: 1 },
};

// A kernel of 64 input features would not compile: each group sees 16.
const _: () = assert_result::<(Image, Kernel), Output>(CONVOLUTION);

/// The row or column of the image under tap `tap` of the kernel; `None` outside the image, where there are zeros.
pub(crate) fn place(output: usize, tap: usize) -> Option<usize> {
    (output + tap).checked_sub(1).filter(|&place| place < SIZE)
}

pub(crate) fn convolution(image: View<'_, Image>, kernel: View<'_, Kernel>, mut output: ViewMut<'_, Output>) {
    for (group, mut output) in output.blocks_mut::<OutputGroup>().enumerate() {
        let kernel = kernel.block::<KernelGroup>([0, 0, 0, group]);
        for [batch, row, column] in (0..BATCH * SIZE * SIZE).map(|i| [i / SIZE / SIZE, i / SIZE % SIZE, i % SIZE]) {
            let mut sums = output.line_mut::<-1>([batch, row, column, 0]).expect("a place of the output");
            sums.apply(|_| 0.0);
            for [u, v] in (0..9).map(|tap| [tap / 3, tap % 3]) {
                let Some((y, x)) = place(row, u).zip(place(column, v)) else { continue };
                let features = image.line::<-1>([batch, y, x, 0]).expect("a place of the image");
                for feature in 0..INPUTS {
                    let factor = features[group * INPUTS + feature];
                    let weights = kernel.line::<-1>([u, v, feature, 0]).expect("a tap of the kernel");
                    sums.apply_with(&weights, |sum, weight| sum + factor * weight);
                }
            }
        }
    }
}

/// The same computation over row-major slices.
pub(crate) fn by_hand(image: &[f32], kernel: &[f32], output: &mut [f32]) {
    for group in 0..GROUPS {
        for i in 0..BATCH * SIZE * SIZE {
            let [batch, row, column] = [i / SIZE / SIZE, i / SIZE % SIZE, i % SIZE];
            let mut sums = [0.0; OUTPUTS];
            for [u, v] in (0..9).map(|tap| [tap / 3, tap % 3]) {
                let Some((y, x)) = place(row, u).zip(place(column, v)) else { continue };
                let features = &image[((batch * SIZE + y) * SIZE + x) * GROUPS * INPUTS + group * INPUTS..][..INPUTS];
                for (feature, factor) in features.iter().enumerate() {
                    let start = ((u * 3 + v) * INPUTS + feature) * GROUPS * OUTPUTS + group * OUTPUTS;
                    let weights = &kernel[start..][..OUTPUTS];
                    sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += factor * weight);
                }
            }
            output[(i * GROUPS + group) * OUTPUTS..][..OUTPUTS].copy_from_slice(&sums);
        }
    }
}
