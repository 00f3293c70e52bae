//! Functions that compilers vectorize: elementary functions without branches, sums and conversions.
//!
//! They are inlined, so each version of a function made by [`multiversion!`](crate::multiversion) uses its own vector instructions
//! for them. Results are the same in all versions. Sums are accumulated in lanes, so they are rounded differently than in a loop.
//!
//! These functions show that kernels on typed views are as fast as kernels on slices. There will not be more of them; see
//! [what computes](xla_shape::vector#what-computes).
//!
//! ```
//! use xla_shape_ffi::math;
//!
//! xla_shape_ffi::multiversion! {
//!     fn softmax(row: &[f32], result: &mut [f32]) {
//!         let largest = math::max(row);
//!         for (result, x) in result.iter_mut().zip(row) {
//!             *result = math::exp(x - largest);
//!         }
//!         let factor = 1.0 / math::sum(result);
//!         result.iter_mut().for_each(|x| *x *= factor);
//!     }
//! }
//! let mut y = [0.0; 3];
//! softmax(&[0.0, 1.0, f32::NEG_INFINITY], &mut y);
//! assert!((y[1] - 0.731_058_6).abs() < 1e-6 && y[2] == 0.0);
//! ```

#![allow(clippy::inline_always, reason = "so that they are compiled for the vectors of the function that calls them")]

pub use crate::f8::{F8, f8_to_f32, f32_to_f8};
use half::{bf16, f16};
use xla_shape::vector::Vectors;
pub use xla_shape::vector::exp;

/// Whether `f32::mul_add` is one instruction in functions made by [`multiversion!`](crate::multiversion); otherwise it is a slow call.
///
/// ```
/// use xla_shape_ffi::math;
///
/// let product = |x: f32, y: f32, sum: f32| if math::has_mul_add() { x.mul_add(y, sum) } else { x * y + sum };
/// assert_eq!(product(2.0, 3.0, 1.0), 7.0);
/// ```
#[must_use]
pub fn has_mul_add() -> bool {
    cfg!(target_arch = "aarch64") || Vectors::detect() >= Vectors::Avx2
}

/// The number of independent accumulators in a fold.
const LANES: usize = 32;

/// 1.5 × 2^23. A sum with it is rounded to an integer, whose value is in the low bits of the result.
const ROUND: f32 = 12_582_912.0;

/// The hyperbolic tangent of `x`. The error is at most 3 units in the last place.
///
/// ```
/// # use xla_shape_ffi::math;
/// assert_eq!((math::tanh(-100.0), math::tanh(0.0)), (-1.0, 0.0));
/// ```
#[inline(always)]
#[must_use]
pub fn tanh(x: f32) -> f32 {
    let z = x * x;
    let high = (-5.704_988_7e-3 * z + 2.063_908_8e-2) * z - 5.373_971_5e-2;
    let small = (((high * z) + 1.333_144_2e-1) * z - 3.333_328e-1) * z * x + x;
    let large = 1.0 - 2.0 / (exp(2.0 * x.abs()) + 1.0);
    // Also returns -0 for -0.
    (if x.abs() < 0.625 { small } else { large }).copysign(x)
}

/// The value of a polynomial by Horner's method; the coefficient of the highest power comes first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// The natural logarithm of `x`. The error is at most 1 unit in the last place. It is NaN for negative numbers, and minus infinity
/// for 0.
///
/// ```
/// # use xla_shape_ffi::math;
/// assert_eq!((math::log(1.0), math::log(0.0)), (0.0, f32::NEG_INFINITY));
/// ```
#[inline(always)]
#[must_use]
pub fn log(x: f32) -> f32 {
    /// The bits of the square root of 1/2. Numbers are split into a power of 2 and a factor from this number to twice this number.
    const START: u32 = 0x3f35_04f3;
    let is_subnormal = x < f32::MIN_POSITIVE;
    let normal = if is_subnormal { x * 33_554_432.0 } else { x };
    let bits = normal.to_bits().wrapping_sub(START);
    let power = (bits as i32 >> 23) as f32 - if is_subnormal { 25.0 } else { 0.0 };
    let factor = f32::from_bits((bits & 0x007f_ffff) + START) - 1.0;
    let square = factor * factor;
    let high = polynomial(
        factor,
        [
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_84e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_7e-1,
            2.000_071_4e-1,
            -2.499_999_4e-1,
            3.333_333e-1,
        ],
    );
    // ln 2 in two parts. The first one times `power` is exact.
    let small = high * factor * square - 2.121_944_4e-4 * power - 0.5 * square;
    let found = factor + small + 0.693_359_4 * power;
    let found = if x == f32::INFINITY { x } else { found };
    let found = if x == 0.0 { f32::NEG_INFINITY } else { found };
    // Also returns NaN for NaN.
    if x >= 0.0 { found } else { f32::NAN }
}

/// The logistic function, 1 / (1 + e^-x). The error is at most 4 units in the last place, except for subnormal results.
///
/// ```
/// # use xla_shape_ffi::math;
/// assert_eq!((math::sigmoid(0.0), math::sigmoid(f32::INFINITY)), (0.5, 1.0));
/// ```
#[inline(always)]
#[must_use]
pub fn sigmoid(x: f32) -> f32 {
    let small = exp(-x.abs());
    (if x < 0.0 { small } else { 1.0 }) / (1.0 + small)
}

/// The error function of `x`. The error is at most 8 units in the last place.
///
/// ```
/// # use xla_shape_ffi::math;
/// let gelu = |x: f32| 0.5 * x * (1.0 + math::erf(x * std::f32::consts::FRAC_1_SQRT_2));
/// assert!((gelu(1.0) - 0.841_344_7).abs() < 1e-6);
/// ```
#[inline(always)]
#[must_use]
pub fn erf(x: f32) -> f32 {
    // The comparisons leave NaN unchanged.
    let y = if x < -4.0 { -4.0 } else { x };
    let y = if y > 4.0 { 4.0 } else { y };
    let square = y * y;
    let above = polynomial(
        square,
        [-2.726_142_4e-10, 2.770_681_5e-8, -2.101_024e-6, -5.692_506_2e-5, -7.349_906e-4, -2.954_6e-3, -1.609_603_3e-2],
    );
    let below = polynomial(square, [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329_3e-3, -1.426_473_9e-2]);
    let found = y * above / below;
    // Beyond 3.92, 1 or -1 is the nearest float.
    if x.abs() >= 3.92 { 1.0_f32.copysign(x) } else { found }
}

/// Folds the numbers into `LANES` accumulators with `push`, and then those with `combine`, pairwise.
#[inline(always)]
fn fold(values: &[f32], start: f32, push: impl Fn(f32, f32) -> f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [start; LANES];
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = push(*lane, x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane = push(*lane, x);
    }
    let mut len = LANES;
    while len > 1 {
        len /= 2;
        for i in 0..len {
            lanes[i] = combine(lanes[i], lanes[i + len]);
        }
    }
    lanes[0]
}

/// The sum of the numbers; 0 for an empty slice.
///
/// ```
/// # use xla_shape_ffi::math;
/// assert_eq!(math::sum(&[1.0, 2.0, 3.5]), 6.5);
/// ```
#[inline(always)]
#[must_use]
pub fn sum(values: &[f32]) -> f32 {
    sum_by(values, |x| x)
}

/// The sum of `function(x)` over all numbers `x`.
///
/// ```
/// # use xla_shape_ffi::math;
/// assert_eq!(math::sum_by(&[3.0, 4.0], |x| x * x), 25.0);
/// ```
#[inline(always)]
#[must_use]
pub fn sum_by(values: &[f32], function: impl Fn(f32) -> f32) -> f32 {
    fold(values, 0.0, |sum, x| sum + function(x), |a, b| a + b)
}

/// The largest of the numbers; minus infinity for an empty slice. NaNs are ignored.
///
/// ```
/// # use xla_shape_ffi::math;
/// assert_eq!(math::max(&[1.0, f32::NAN, 3.0]), 3.0);
/// ```
#[inline(always)]
#[must_use]
pub fn max(values: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    fold(values, f32::NEG_INFINITY, larger, larger)
}

/// Converts a row of `bf16` to `f32`, exactly.
///
/// ```
/// use half::bf16;
/// # use xla_shape_ffi::math;
/// let mut row = [0.0; 2];
/// math::bf16_to_f32(&[bf16::ONE, bf16::from_f32(-0.5)], &mut row);
/// assert_eq!(row, [1.0, -0.5]);
/// ```
///
/// # Panics
/// If the rows have different lengths.
#[inline(always)]
pub fn bf16_to_f32(row: &[bf16], result: &mut [f32]) {
    assert_eq!(row.len(), result.len(), "the rows have different lengths");
    for (result, x) in result.iter_mut().zip(row) {
        *result = f32::from_bits(u32::from(x.to_bits()) << 16);
    }
}

/// Converts a row of `f32` to `bf16`: the nearest value, ties to even.
///
/// ```
/// use half::bf16;
/// # use xla_shape_ffi::math;
/// let mut row = [bf16::ZERO; 2];
/// math::f32_to_bf16(&[1.0, 1.001], &mut row);
/// assert_eq!(row, [bf16::ONE; 2]);
/// ```
///
/// # Panics
/// If the rows have different lengths.
#[inline(always)]
pub fn f32_to_bf16(row: &[f32], result: &mut [bf16]) {
    assert_eq!(row.len(), result.len(), "the rows have different lengths");
    for (result, x) in result.iter_mut().zip(row) {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        // Bit 6 is set so that a NaN stays a NaN when the lower half of its bits is dropped.
        let bits = if x.is_nan() { bits >> 16 | 0x40 } else { rounded };
        *result = bf16::from_bits(bits as u16);
    }
}

/// Converts a row of packed signed 4-bit integers to `f32`. Each byte holds two, the first in its lower half: the layout `E(4)` of
/// `s4`, as XLA's CPU backend passes it.
///
/// ```
/// # use xla_shape_ffi::math;
/// let mut row = [0.0; 3];
/// math::s4_to_f32(&[0x7f, 0x02], &mut row);
/// assert_eq!(row, [-1.0, 7.0, 2.0]);
/// ```
///
/// # Panics
/// If the number of bytes is not half the number of results, rounded up.
#[inline(always)]
pub fn s4_to_f32(bytes: &[u8], result: &mut [f32]) {
    assert_eq!(bytes.len(), result.len().div_ceil(2), "the bytes do not hold as many integers as there are results");
    let (pairs, last) = result.as_chunks_mut::<2>();
    for (pair, &byte) in pairs.iter_mut().zip(bytes) {
        let byte = byte as i8;
        *pair = [f32::from((byte << 4) >> 4), f32::from(byte >> 4)];
    }
    if let ([last], Some(&byte)) = (last, bytes.last()) {
        *last = f32::from(((byte as i8) << 4) >> 4);
    }
}

/// Converts a row of packed unsigned 4-bit integers to `f32`, as [`s4_to_f32`] does for signed ones.
///
/// ```
/// # use xla_shape_ffi::math;
/// let mut row = [0.0; 3];
/// math::u4_to_f32(&[0x7f, 0x02], &mut row);
/// assert_eq!(row, [15.0, 7.0, 2.0]);
/// ```
///
/// # Panics
/// If the number of bytes is not half the number of results, rounded up.
#[inline(always)]
pub fn u4_to_f32(bytes: &[u8], result: &mut [f32]) {
    assert_eq!(bytes.len(), result.len().div_ceil(2), "the bytes do not hold as many integers as there are results");
    let (pairs, last) = result.as_chunks_mut::<2>();
    for (pair, &byte) in pairs.iter_mut().zip(bytes) {
        *pair = [f32::from(byte & 15), f32::from(byte >> 4)];
    }
    if let ([last], Some(&byte)) = (last, bytes.last()) {
        *last = f32::from(byte & 15);
    }
}

/// The nearest integer, ties to even, clamped to `least` … `most`; 0 for NaN.
#[inline(always)]
fn nearest(x: f32, least: f32, most: f32) -> i32 {
    let x = if x < least { least } else { x };
    let x = if x > most { most } else { x };
    // The low bits of the sum are the integer; see `ROUND`.
    let rounded = (x + ROUND).to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    if x.is_nan() { 0 } else { rounded }
}

/// Packs two integers into each byte. If their number is odd, the upper half of the last byte is 0.
#[inline(always)]
fn pack(row: &[f32], bytes: &mut [u8], least: f32, most: f32) {
    assert_eq!(bytes.len(), row.len().div_ceil(2), "the bytes do not hold as many integers as there are numbers");
    let (pairs, last) = row.as_chunks::<2>();
    for (byte, &[low, high]) in bytes.iter_mut().zip(pairs) {
        *byte = (nearest(low, least, most) & 15 | nearest(high, least, most) << 4) as u8;
    }
    if let (&[last], Some(byte)) = (last, bytes.last_mut()) {
        *byte = (nearest(last, least, most) & 15) as u8;
    }
}

/// Converts a row of `f32` to packed signed 4-bit integers, as [`s4_to_f32`] reads them: the nearest integer, ties to even, clamped
/// to -8 … 7. NaN becomes 0. If their number is odd, the upper half of the last byte is 0.
///
/// ```
/// # use xla_shape_ffi::math;
/// let mut bytes = [0; 2];
/// math::f32_to_s4(&[-1.0, 100.0, 2.4], &mut bytes);
/// assert_eq!(bytes, [0x7f, 0x02]);
/// ```
///
/// # Panics
/// If the number of bytes is not half the number of values, rounded up.
#[inline(always)]
pub fn f32_to_s4(row: &[f32], bytes: &mut [u8]) {
    pack(row, bytes, -8.0, 7.0);
}

/// Converts a row of `f32` to packed unsigned 4-bit integers, as [`f32_to_s4`] does, clamped to 0 … 15.
///
/// ```
/// # use xla_shape_ffi::math;
/// let mut bytes = [0; 1];
/// math::f32_to_u4(&[-1.0, 9.0], &mut bytes);
/// assert_eq!(bytes, [0x90]);
/// ```
///
/// # Panics
/// As [`f32_to_s4`].
#[inline(always)]
pub fn f32_to_u4(row: &[f32], bytes: &mut [u8]) {
    pack(row, bytes, 0.0, 15.0);
}

/// Converts a row of `f16` to `f32`, exactly.
///
/// ```
/// use half::f16;
/// # use xla_shape_ffi::math;
/// let mut row = [0.0; 2];
/// math::f16_to_f32(&[f16::ONE, f16::INFINITY], &mut row);
/// assert_eq!(row, [1.0, f32::INFINITY]);
/// ```
///
/// # Panics
/// If the rows have different lengths.
#[inline(always)]
pub fn f16_to_f32(row: &[f16], result: &mut [f32]) {
    assert_eq!(row.len(), result.len(), "the rows have different lengths");
    for (result, x) in result.iter_mut().zip(row) {
        let bits = u32::from(x.to_bits());
        let (sign, rest) = ((bits & 0x8000) << 16, bits & 0x7fff);
        // The biases of the exponents differ by 112; for infinity and NaN, the exponent fields differ by 224. A subnormal number is
        // its bits times 2^-24.
        let offset = if rest < 0x7c00 { 112 << 23 } else { 224 << 23 };
        let normal = (rest << 13) + offset;
        let subnormal = (rest as f32 * 5.960_464_5e-8).to_bits();
        *result = f32::from_bits(sign | if rest < 0x400 { subnormal } else { normal });
    }
}

/// Converts a row of `f32` to `f16`: the nearest value, ties to even. Values too large for `f16` become infinite.
///
/// ```
/// use half::f16;
/// # use xla_shape_ffi::math;
/// let mut row = [f16::ZERO; 2];
/// math::f32_to_f16(&[1.0, 1e6], &mut row);
/// assert_eq!(row, [f16::ONE, f16::INFINITY]);
/// ```
///
/// # Panics
/// If the rows have different lengths.
#[inline(always)]
pub fn f32_to_f16(row: &[f32], result: &mut [f16]) {
    assert_eq!(row.len(), result.len(), "the rows have different lengths");
    for (result, x) in result.iter_mut().zip(row) {
        let bits = x.to_bits();
        let (sign, rest) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
        let normal = (rest.wrapping_sub(112 << 23).wrapping_add(0xfff + (rest >> 13 & 1))) >> 13;
        // The sum with 0.5 is rounded to a multiple of 2^-24, whose value is in the low bits.
        let subnormal = (f32::from_bits(rest) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
        let finite = if rest < 113 << 23 { subnormal } else { normal };
        let infinite = if rest > 255 << 23 { 0x7e00 | rest >> 13 & 0x3ff } else { 0x7c00 };
        *result = f16::from_bits((sign | if rest < 143 << 23 { finite } else { infinite }) as u16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 131,072 floats of all magnitudes and both signs.
    fn floats() -> impl Iterator<Item = f32> {
        (0..1_u32 << 17).map(|i| f32::from_bits(i.wrapping_mul(32_749)))
    }

    /// The largest error, in units in the last place of the exact result.
    fn largest_error(function: fn(f32) -> f32, exact: fn(f64) -> f64, inputs: impl Iterator<Item = f32>) -> f64 {
        let error = |x: f32| {
            let (found, exact) = (function(x), exact(f64::from(x)));
            let unit = f64::from((exact as f32).abs().next_up()) - f64::from((exact as f32).abs());
            if found == exact as f32 || found.is_nan() && exact.is_nan() {
                0.0
            } else {
                (f64::from(found) - exact).abs() / unit
            }
        };
        inputs.map(error).fold(0.0, f64::max)
    }

    #[test]
    fn error_of_tanh_is_within_its_bound() {
        let spread = (-50_000..50_000).map(|i| i as f32 * (10.0 / 50_000.0));
        assert!(largest_error(tanh, f64::tanh, floats().filter(|x| !x.is_nan()).chain(spread)) <= 3.0);
        assert_eq!([0.0, f32::INFINITY, f32::NEG_INFINITY].map(tanh), [0.0, 1.0, -1.0]);
        assert!(tanh(f32::NAN).is_nan());
        assert!(tanh(-0.0).is_sign_negative());
    }

    /// The error function, as a sum of positive terms.
    fn exact_erf(x: f64) -> f64 {
        let (mut term, mut sum) = (x, 0.0);
        for n in 0..200 {
            sum += term;
            term *= 2.0 * x * x / f64::from(2 * n + 3);
        }
        if x.abs() > 6.0 { x.signum() } else { sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI }
    }

    #[test]
    fn errors_of_log_sigmoid_and_erf_are_within_their_bounds() {
        let spread = |scale: f32| (-50_000..50_000).map(move |i| i as f32 * scale / 50_000.0);
        assert!(
            largest_error(log, f64::ln, floats().filter(|x| *x > 0.0).chain(spread(2.0).filter(|x| *x > 0.0))) <= 1.0
        );
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        assert!(largest_error(sigmoid, logistic, floats().filter(|x| *x > -87.0).chain(spread(87.0))) <= 4.0);
        assert!(largest_error(erf, exact_erf, floats().filter(|x| x.abs() > 1e-30).chain(spread(6.0))) <= 8.0);
        assert_eq!(
            (log(0.0), log(-0.0), log(1.0), log(f32::INFINITY)),
            (f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0, f32::INFINITY)
        );
        assert!(
            [log(-1.0), log(f32::NEG_INFINITY), log(f32::NAN), sigmoid(f32::NAN), erf(f32::NAN)]
                .iter()
                .all(|x| x.is_nan())
        );
        assert_eq!(
            (sigmoid(0.0), sigmoid(f32::INFINITY), sigmoid(f32::NEG_INFINITY), sigmoid(-1e30)),
            (0.5, 1.0, 0.0, 0.0)
        );
        assert_eq!((erf(0.0), erf(f32::INFINITY), erf(f32::NEG_INFINITY)), (0.0, 1.0, -1.0));
    }

    #[test]
    fn f16_rows_are_converted_like_single_values() {
        let all: Vec<_> = (0..=u16::MAX).map(f16::from_bits).collect();
        let mut wide = vec![0.0; all.len()];
        f16_to_f32(&all, &mut wide);
        for (x, wide) in all.iter().zip(&wide) {
            assert!(x.is_nan() && wide.is_nan() || x.to_f32().to_bits() == wide.to_bits(), "{x:?} {wide}");
        }
        // All kinds of floats, the midpoints between neighbouring f16 values, and the floats next to those.
        let between = wide.iter().filter(|x| x.is_finite()).flat_map(|x| {
            let middle = f32::from_bits(x.to_bits() + 0x1000);
            [*x, middle, middle.next_up(), middle.next_down()]
        });
        let values: Vec<_> = floats().chain(between).chain([65_519.996, 65_520.0, f32::INFINITY, f32::NAN]).collect();
        let mut narrow = vec![f16::ZERO; values.len()];
        f32_to_f16(&values, &mut narrow);
        for (x, narrow) in values.iter().zip(&narrow) {
            let expected = f16::from_f32(*x);
            assert!(
                x.is_nan() && narrow.is_nan() || expected.to_bits() == narrow.to_bits(),
                "{x:e} {narrow} {expected}"
            );
        }
    }

    #[test]
    fn four_bit_integers_are_packed_and_unpacked() {
        let values = [-9.0, -8.0, -7.5, -0.5, 0.5, 1.5, 2.4, 6.5, 7.4, 1e9, f32::NAN, f32::INFINITY, 3.0];
        let mut bytes = [0xff; 7];
        let mut back = [0.0; 13];
        f32_to_s4(&values, &mut bytes);
        s4_to_f32(&bytes, &mut back);
        assert_eq!(back, [-8.0, -8.0, -8.0, 0.0, 0.0, 2.0, 2.0, 6.0, 7.0, 7.0, 0.0, 7.0, 3.0]);
        assert_eq!(bytes[6], 3);
        f32_to_u4(&values, &mut bytes);
        u4_to_f32(&bytes, &mut back);
        assert_eq!(back, [0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 6.0, 7.0, 15.0, 0.0, 15.0, 3.0]);
        f32_to_s4(&[], &mut []);
    }

    #[test]
    fn sums_and_maxima_use_every_value_once() {
        for len in [0, 1, 31, 32, 33, 64, 100] {
            let values: Vec<_> = (0..len).map(|i| (i * 7 % 13) as f32 - 20.0).collect();
            assert_eq!(sum(&values), values.iter().sum::<f32>());
            assert_eq!(sum_by(&values, |x| 2.0 * x), 2.0 * values.iter().sum::<f32>());
            assert_eq!(max(&values), values.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        }
    }

    #[test]
    fn bf16_and_s4_rows_are_converted_like_single_values() {
        let values: Vec<_> = floats().collect();
        let mut narrow = vec![bf16::ZERO; values.len()];
        f32_to_bf16(&values, &mut narrow);
        let mut wide = vec![0.0; values.len()];
        bf16_to_f32(&narrow, &mut wide);
        for ((x, narrow), wide) in values.iter().zip(&narrow).zip(&wide) {
            assert_eq!((narrow.to_bits(), wide.to_bits()), (bf16::from_f32(*x).to_bits(), narrow.to_f32().to_bits()));
        }
        let mut numbers = [0.0; 5];
        s4_to_f32(&[0x10, 0x7f, 0xf8], &mut numbers);
        assert_eq!(numbers, [0.0, 1.0, -1.0, 7.0, -8.0]);
        s4_to_f32(&[], &mut []);
    }
}
