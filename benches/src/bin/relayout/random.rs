//! Cases drawn at random.
//!
//! The payload is between 4 KiB and 256 MiB, log-uniformly distributed. Elements have 1, 2, 4, 8 or 16 bytes. There are 2 to 6 dimensions in
//! random order. Each size is a random power of the number of elements, rounded; the exponents add up to 1. So few sizes are round, and some
//! are 1. One destination in three is tiled, and one source in six, with the tiles that TPUs choose for elements of that size.

use crate::cases::Case;
use fastrand::Rng;
use xla_shape::relayout::Options;
use xla_shape::{ArrayShape, Dimension, Layout};

/// Element types, and the tiles that TPUs choose for them.
const ELEMENTS: [(&str, &[&str]); 5] = [
    ("u8", &["T(8,128)(4,1)", "T(32,128)(4,1)", "T(4,128)(4,1)"]),
    ("bf16", &["T(8,128)(2,1)", "T(4,128)(2,1)", "T(2,128)(2,1)", "T(16,128)(2,1)"]),
    ("f32", &["T(8,128)", "T(4,128)", "T(2,128)", "T(1,128)", "T(128)"]),
    ("f64", &[]),
    ("c128", &[]),
];

/// This many random cases, which the seed determines.
pub(crate) fn cases(count: usize, seed: u64, max_bytes: usize) -> Vec<Case> {
    let mut random = Rng::with_seed(seed);
    std::iter::repeat_with(|| case(&mut random, max_bytes)).flatten().take(count).collect()
}

/// A case; `None` if padding makes one side much larger than its elements.
fn case(random: &mut Rng, max_bytes: usize) -> Option<Case> {
    let (element, tilings) = ELEMENTS[random.usize(0..ELEMENTS.len())];
    let scalar: ArrayShape = format!("{element}[]").parse().ok()?;
    let (least, most) = (f64::log2(4096.0), f64::log2(max_bytes as f64));
    let payload = least + random.f64() * (most - least);
    let elements = payload - f64::log2(scalar.element_bits() as f64 / 8.0);
    let num_dimensions = random.usize(2..=6);
    let shares = (0..num_dimensions).map(|_| random.f64()).collect::<Vec<_>>();
    let sum = shares.iter().sum::<f64>();
    let sizes = shares.iter().map(|share| (elements * share / sum).exp2().round().max(1.0) as u64).collect::<Vec<_>>();
    let mut permutation = (0..num_dimensions).collect::<Vec<_>>();
    random.shuffle(&mut permutation);
    let (to_tiled, from_tiled) = (random.usize(0..3) == 0, random.usize(0..6) == 0);
    let mut array = |sizes: &[u64], tiled: bool| {
        let minor_to_major = (0..num_dimensions).rev().map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let tiles = match random.choice(tilings) {
            Some(tiles) if tiled => format!(":{tiles}"),
            _ => String::new(),
        };
        let layout: Layout = format!("{{{minor_to_major}{tiles}}}").parse().ok()?;
        let dimensions = sizes.iter().map(|&size| Dimension::from(size)).collect::<Vec<_>>();
        ArrayShape::new(scalar.element_type(), &dimensions, layout).ok()
    };
    let permuted = permutation.iter().map(|&dimension| sizes[dimension]).collect::<Vec<_>>();
    let (from, to) = (array(&sizes, from_tiled)?, array(&permuted, to_tiled)?);
    let (from_bytes, to_bytes) = (from.byte_size()? as f64, to.byte_size()? as f64);
    let case = Case {
        name: format!("r {from} -> {to}"),
        from,
        to,
        permutation: None,
        options: Options::new(),
        threads: false,
    };
    let most = 4.0 * case.payload() as f64;
    (from_bytes < most && to_bytes < most && case.payload() >= 4096).then(|| case.transposed(&permutation))
}
