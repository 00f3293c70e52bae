//! A two-dimensional convolution of images with rows, columns and features, where the features are the columns of tiles.
//!
//! XLA's rule for convolutions checks the output's shape at compile time.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin convolution
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use xla_shape::infer::{ConvolutionDimensions, ConvolutionGroups, Operation, WindowDimension, assert_result};
use xla_shape::types::{ArrayType, StaticArray};
use xla_shape::{Buffer, View, ViewMut, shape};
use xla_shape_examples::{Numbers, check};

type Image = shape!(f32[2,12,10,16]{3,2,1,0:T(8,128)});
type Kernel = shape!(f32[3,3,16,128]{3,2,1,0:T(8,128)});
type Output = shape!(f32[2,6,5,128]{3,2,1,0:T(8,128)});

const STRIDE: usize = 2;
const PADDING: usize = 1;

/// `window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f`.
const CONVOLUTION: Operation<'_> = Operation::Convolution {
    dimensions: ConvolutionDimensions::IMAGES,
    window: &[WindowDimension {
        size: 3,
        stride: STRIDE as u64,
        padding_low: PADDING as i64,
        padding_high: PADDING as i64,
        ..WindowDimension::ONE
    }; 2],
    groups: ConvolutionGroups::ONE,
};

// An output of f32[2,12,10,128] would not compile: expected f32[2,6,5,128].
const _: () = assert_result::<(Image, Kernel), Output>(CONVOLUTION);

fn convolution(image: View<'_, Image>, kernel: View<'_, Kernel>, mut output: ViewMut<'_, Output>) {
    for index @ [batch, row, column, _] in output.shape().indices().step_by(128) {
        // Compute all output features at once, because they are contiguous in the kernel and in the output.
        let mut sums = [0.0; 128];
        for [u, v, feature, _] in kernel.shape().indices().step_by(128) {
            // Outside the image, there are zeros.
            let place = (row * STRIDE + u).checked_sub(PADDING).zip((column * STRIDE + v).checked_sub(PADDING));
            let Some(factor) = place.and_then(|(y, x)| image.get([batch, y, x, feature]).ok()) else { continue };
            let Some(features) = kernel.line::<-1>([u, v, feature, 0]) else { continue };
            features.for_each_run(|_, run| {
                sums.iter_mut().zip(run.iter()).for_each(|(sum, value)| *sum += factor * value);
            });
        }
        if let Some(mut line) = output.line_mut::<-1>(index) {
            line.copy_from_slice(&sums);
        }
    }
}

/// The definition, on row-major arrays that include the zeros around the image.
fn expected(image: &[f32], kernel: &[f32]) -> Vec<f32> {
    let &[_, height, width, features] = Image::SIZES else { unreachable!("an image has four dimensions") };
    let &[batches, rows, columns, outputs] = Output::SIZES else { unreachable!("an output has four dimensions") };
    let at = |batch: usize, y: usize, x: usize, feature: usize| match (y.checked_sub(PADDING), x.checked_sub(PADDING)) {
        (Some(y), Some(x)) if y < height && x < width => image[((batch * height + y) * width + x) * features + feature],
        _ => 0.0,
    };
    let element = |i: usize| {
        let (batch, row) = (i / outputs / columns / rows, i / outputs / columns % rows);
        let (column, output) = (i / outputs % columns, i % outputs);
        let term = |tap: usize| {
            let (u, v, feature) = (tap / features / 3, tap / features % 3, tap % features);
            at(batch, row * STRIDE + u, column * STRIDE + v, feature) * kernel[tap * outputs + output]
        };
        (0..9 * features).map(term).sum()
    };
    (0..batches * rows * columns * outputs).map(element).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(4);
    let image = Buffer::<Image>::from_fn(|_| numbers.number());
    let kernel = Buffer::<Kernel>::from_fn(|_| numbers.number());
    let mut output = Buffer::<Output>::zeroed();
    convolution(image.view(), kernel.view(), output.view_mut());
    let expected = expected(&image.to_row_major(), &kernel.to_row_major());
    check(Output::TEXT, &output.to_row_major(), &expected, 1e-5)
}
