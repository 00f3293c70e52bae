//! A convolution in four groups of features: each group of 128 output features sees 16 input features. A group of the output and of the kernel is
//! a block, so each group has the loops of a convolution without groups. Compared with the same loops over slices.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin grouped_convolution
//! ```

#![forbid(unsafe_code)]

mod kernel;

use kernel::{BATCH, GROUPS, INPUTS, Image, Kernel, OUTPUTS, Output, SIZE, by_hand, convolution, place};
use std::error::Error;
use std::hint::black_box;
use xla_shape::Buffer;
use xla_shape_examples::{Numbers, check, shortest_times};

/// The definition, in f64.
fn expected(image: &Buffer<Image>, kernel: &Buffer<Kernel>) -> Vec<f32> {
    let element = |i: usize| {
        let (output, i) = (i % (GROUPS * OUTPUTS), i / (GROUPS * OUTPUTS));
        let [batch, row, column] = [i / SIZE / SIZE, i / SIZE % SIZE, i % SIZE];
        let term = |k: usize| {
            let [u, v, feature] = [k / INPUTS / 3, k / INPUTS % 3, k % INPUTS];
            place(row, u).zip(place(column, v)).map_or(0.0, |(y, x)| {
                let factor = image[[batch, y, x, output / OUTPUTS * INPUTS + feature]];
                f64::from(factor) * f64::from(kernel[[u, v, feature, output]])
            })
        };
        (0..9 * INPUTS).map(term).sum::<f64>() as f32
    };
    (0..BATCH * SIZE * SIZE * GROUPS * OUTPUTS).map(element).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(9);
    let image = Buffer::<Image>::from_fn(|_| numbers.number());
    let kernel = Buffer::<Kernel>::from_fn(|_| numbers.number());
    let mut output = Buffer::<Output>::zeroed();
    let (plain_image, plain_kernel) = (image.to_row_major(), kernel.to_row_major());
    let mut slices = vec![0.0; output.to_row_major().len()];
    let mut by_slices = || by_hand(black_box(&plain_image), black_box(&plain_kernel), black_box(&mut slices));
    let mut by_blocks = || convolution(black_box(image.view()), black_box(kernel.view()), black_box(output.view_mut()));
    let [hand, blocks] = shortest_times(60, [&mut by_slices, &mut by_blocks]);
    let expected = expected(&image, &kernel);
    check("slices, by hand", &slices, &expected, 1e-5)?;
    check(Output::TEXT, &output.to_row_major(), &expected, 1e-5)?;
    println!("{:.2} ms by hand; blocks take {:.2} of that", 1e3 * hand, blocks / hand);
    Ok(())
}
