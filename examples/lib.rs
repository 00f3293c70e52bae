//! Functions that the examples of `xla-shape` share. Run one with `cargo run --release -p xla-shape-examples --bin NAME` (`matmul` with `--features
//! ndarray`).

#![forbid(unsafe_code)]

use std::error::Error;
use std::time::{Duration, Instant};

/// Compiles the code of the book's chapters, with paths relative to this package.
#[doc = include_str!("../docs/checked-kernel.md")]
#[cfg(doctest)]
struct CheckedKernel;

#[doc = include_str!("../docs/kernels.md")]
#[cfg(doctest)]
struct Kernels;

#[doc = include_str!("../docs/editor.md")]
#[cfg(doctest)]
struct Editor;

#[doc = include_str!("../docs/sharding.md")]
#[cfg(doctest)]
struct Shardings;

#[doc = include_str!("../docs/notations.md")]
#[cfg(doctest)]
struct Notations;

#[doc = include_str!("../docs/tpu-formats.md")]
#[cfg(doctest)]
struct TpuFormats;

/// Pseudorandom numbers between -1 and 1, the same in each run.
#[derive(Clone, Debug)]
pub struct Numbers(u32);

impl Numbers {
    /// The sequence that begins with this seed.
    #[must_use]
    pub const fn new(seed: u32) -> Self {
        Self(seed)
    }

    /// The next number.
    #[must_use]
    pub fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Compares a result with the expected numbers and prints the largest error, relative to the largest expected number.
///
/// # Errors
/// If the error is larger than `tolerance`, the lists have different lengths, a number in them is infinite or NaN, or all expected numbers are 0.
pub fn check(name: &str, found: &[f32], expected: &[f32], tolerance: f32) -> Result<(), Box<dyn Error>> {
    let largest =
        |numbers: &mut dyn Iterator<Item = f32>| numbers.fold(0.0, |a: f32, b| if b.abs() > a { b.abs() } else { a });
    let scale = largest(&mut expected.iter().copied());
    let error = largest(&mut expected.iter().zip(found).map(|(a, b)| a - b)) / scale;
    let all_are_numbers = found.iter().chain(expected).all(|number| number.is_finite());
    // If all expected numbers are 0, or there are none, the error is NaN: such a comparison would prove little.
    if found.len() != expected.len() || !all_are_numbers || error.is_nan() || error > tolerance {
        return Err(format!("{name}: the largest relative error is {error:.1e}, more than {tolerance:.1e}").into());
    }
    println!("{name:<64} largest relative error {error:.1e}");
    Ok(())
}

/// The shortest time of each contender, in seconds. They run in turns, `rounds` times each, so that a busy machine disturbs all of them.
pub fn shortest_times<const N: usize>(rounds: usize, mut contenders: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..rounds {
        for (best, run) in best.iter_mut().zip(&mut contenders) {
            let start = Instant::now();
            run();
            *best = start.elapsed().min(*best);
        }
    }
    best.map(|time| time.as_secs_f64())
}
