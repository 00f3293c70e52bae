//! A kernel that is compiled for the layouts of a real TPU program.
//!
//! Reads an optimized HLO module, finds a matrix product in it, and multiplies matrices in exactly the layouts that the module
//! has: once with shapes as types, once with shapes as values. Compares the results with a row-major product, and prints the times.
//!
//! ```text
//! cargo run -p xla-shape-tiled-matmul [MODULE.hlo]
//! ```

#![forbid(unsafe_code)]

mod kernel;
mod product;

use half::bf16;
use product::Product;
use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};
use xla_shape::element::Bf16;
use xla_shape::hlo::Module;
use xla_shape::{ArrayShape, Buffer, Dimension, DynBuffer, hlo_types};

/// One step of a recurrent network, compiled by XLA for TPU v5e.
const DEFAULT_MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../hlo/v5e__rnn_scan.hlo");

/// The size limit of a matrix, in bytes.
const MAX_BYTES: u64 = 1 << 26;

hlo_types! {
    /// The shapes for which the typed kernel is compiled. For all other programs, the kernel with shapes as values is used.
    mod program = "../hlo/v5e__rnn_scan.hlo" {
        type Out = "convolution.3"(Lhs, Rhs);
    }
}
use program::{Lhs, Out, Rhs};

fn main() -> ExitCode {
    let path = env::args().nth(1).unwrap_or_else(|| DEFAULT_MODULE.to_owned());
    match run(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: &str) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let module = Module::parse(&text).map_err(|error| error.render(&text).to_string())?;
    let product = product::find(&module).ok_or("no product of two bf16 matrices in this module")?;
    let largest = [&product.lhs, &product.rhs, &product.out].into_iter().map(|shape| shape.byte_size()).max().flatten();
    if largest > Some(MAX_BYTES) {
        return Err(format!("the product {} is too large for a demonstration", product.name).into());
    }
    let name = module.name().unwrap_or("without a name");
    println!("The matrix product {} of the module {name}, in the layouts that XLA has chosen:", product.name);
    print_operands(&product);

    let (lhs, rhs) = (values(&product.lhs, 1), values(&product.rhs, 2));
    let sizes = sizes(&product);
    let mut expected = vec![0.0; sizes[0] * sizes[2]];
    let plain = time(|| kernel::plain(black_box(&lhs), black_box(&rhs), &mut expected, sizes));

    let (runtime, runtime_result) = run_dynamic(&product, &lhs, &rhs, sizes)?;
    let compiled_for = [Lhs::SHAPE, Rhs::SHAPE, Out::SHAPE];
    let typed = if compiled_for == [&product.lhs, &product.rhs, &product.out] {
        let (typed, result) = run_typed(&lhs, &rhs)?;
        if result != runtime_result {
            return Err("the typed and the run-time kernel disagree".into());
        }
        Some(typed)
    } else {
        println!("\nThe kernel with shapes as types is compiled for other shapes, so only shapes as values are used:");
        for (name, shape) in ["lhs", "rhs", "out"].into_iter().zip(compiled_for) {
            println!("  {name}  {shape}");
        }
        None
    };

    let error = largest_error(&expected, &runtime_result)?;
    println!("\nThe result is that of plain loops over row-major f32 arrays, up to the rounding of bf16 (3.9e-3):");
    println!("the largest relative error is {error:.1e}.");

    println!("\n{:<34}{:>12}{:>12}", "Time of one product", "µs", "of plain");
    for (name, time) in [
        ("plain loops, row-major", Some(plain)),
        ("these layouts, shapes as types", typed),
        ("these layouts, shapes as values", Some(runtime)),
    ] {
        if let Some(time) = time {
            let ratio = time.as_secs_f64() / plain.as_secs_f64();
            println!("{name:<34}{:>12.1}{ratio:>12.2}", time.as_secs_f64() * 1e6);
        }
    }
    println!("Without `--release`, the last line is slower: it calls the library, which is then not optimised.");
    Ok(())
}

fn print_operands(product: &Product) {
    println!("\n{:<5}{:<40}{:>10}{:>18}", "", "shape", "bytes", "of these padding");
    for (name, shape) in [("lhs", &product.lhs), ("rhs", &product.rhs), ("out", &product.out)] {
        let bytes = shape.byte_size().unwrap_or(0);
        let data = shape.elements().unwrap_or(0) * shape.element_type().storage_bytes();
        let percent = 100.0 * (bytes - data) as f64 / bytes.max(1) as f64;
        println!("{name:<5}{:<40}{bytes:>10}{:>10}{percent:>7.1}%", shape.to_string(), bytes - data);
    }
}

/// The sizes M, K and N of a product of M × K by K × N.
fn sizes(product: &Product) -> [usize; 3] {
    let size = |shape: &ArrayShape, dimension: usize| shape.dimensions()[dimension].extent().unwrap_or(0) as usize;
    [size(&product.lhs, 0), size(&product.lhs, 1), size(&product.out, 1)]
}

fn run_typed(lhs: &[bf16], rhs: &[bf16]) -> Result<(Duration, Vec<bf16>), Box<dyn Error>> {
    let lhs = Buffer::<Lhs>::from_row_major(lhs)?;
    let rhs = Buffer::<Rhs>::from_row_major(rhs)?;
    let mut out = Buffer::<Out>::zeroed();
    let time = time(|| kernel::typed(black_box(&lhs).view(), black_box(&rhs).view(), out.view_mut()));
    Ok((time, out.to_row_major()))
}

fn run_dynamic(
    product: &Product,
    lhs: &[bf16],
    rhs: &[bf16],
    sizes: [usize; 3],
) -> Result<(Duration, Vec<bf16>), Box<dyn Error>> {
    let lhs = pack(&product.lhs, lhs)?;
    let rhs = pack(&product.rhs, rhs)?;
    let mut out = DynBuffer::zeroed_with(product.out.clone())?;
    let mut result = Ok(());
    let time = time(|| result = kernel::dynamic(black_box(&lhs), black_box(&rhs), &mut out, sizes));
    result?;
    Ok((time, out.to_row_major::<Bf16>()?))
}

/// A buffer of these row-major values in the layout of `shape`.
fn pack(shape: &ArrayShape, values: &[bf16]) -> Result<DynBuffer, Box<dyn Error>> {
    let mut values = values.iter().copied();
    Ok(DynBuffer::from_fn_with::<Bf16>(shape.clone(), |_| values.next().unwrap_or_default())?)
}

/// Pseudorandom numbers between -1 and 1, the same in each run.
fn values(shape: &ArrayShape, seed: u32) -> Vec<bf16> {
    let mut state = seed;
    let count = shape.dimensions().iter().copied().filter_map(Dimension::extent).product::<u64>() as usize;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bf16::from_f32((state >> 8) as f32 / (1 << 23) as f32 - 1.0)
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn largest_error(expected: &[f32], found: &[bf16]) -> Result<f32, Box<dyn Error>> {
    let scale = expected.iter().fold(0.0_f32, |scale, value| scale.max(value.abs()));
    let errors = expected.iter().zip(found).map(|(expected, found)| (expected - found.to_f32()).abs());
    let error = errors.fold(0.0_f32, f32::max) / scale;
    // bf16 has 8 significant bits: rounding changes a number by at most 2^-8 of itself.
    let all_are_numbers = found.iter().all(|value| value.to_f32().is_finite());
    if error.is_nan() || error > 1.0 / 256.0 || expected.len() != found.len() || !all_are_numbers {
        return Err(format!("the product is wrong: its relative error is {error}").into());
    }
    Ok(error)
}

/// The median time of 21 runs.
fn time(mut f: impl FnMut()) -> Duration {
    let mut times: [Duration; 21] = std::array::from_fn(|_| {
        let start = Instant::now();
        f();
        start.elapsed()
    });
    times.sort();
    times[times.len() / 2]
}
