//! The exponential function, in plain Rust without branches and calls.

use super::lanes::ROUND;

/// 2 to the power of an integer from -126 to 127.
#[inline(always)]
fn two_to(power: i32) -> f32 {
    f32::from_bits((power.wrapping_add(127) as u32) << 23)
}

/// e to the power of `x`. The error is at most 1.5 units in the last place, plus one more rounding for subnormal results. Unlike `f32::exp`, it
/// is inlined and has no branches, so loops with it are vectorized. The results are the same on all machines.
///
/// ```
/// use xla_shape_relayout::vector::exp;
///
/// assert!((exp(1.0) - 2.718_281_8).abs() < 1e-6);
/// assert_eq!((exp(f32::NEG_INFINITY), exp(0.0), exp(100.0)), (0.0, 1.0, f32::INFINITY));
/// ```
#[inline(always)]
#[must_use]
pub fn exp(x: f32) -> f32 {
    // Beyond these limits, the result is 0 or infinity anyway. The comparisons leave NaN unchanged.
    let x = if x < -104.0 { -104.0 } else { x };
    let x = if x > 89.0 { 89.0 } else { x };
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let power = rounded.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    let whole = rounded - ROUND;
    // ln 2 in two parts. The first one times `whole` is exact.
    let x = (x - whole * 0.693_359_4) - whole * -2.121_944_4e-4;
    let high = ((1.987_569_1e-4 * x + 1.398_199_9e-3) * x + 8.333_452e-3) * x;
    let low = (((high + 4.166_579_6e-2) * x + 1.666_666_5e-1) * x + 0.5) * (x * x);
    // Two factors, because 2 to the power may overflow where the result does not.
    let half = power >> 1;
    (low + x + 1.0) * two_to(half) * two_to(power.wrapping_sub(half))
}

#[cfg(test)]
mod tests {
    use super::exp;

    /// All magnitudes and both signs, and numbers whose results are neither 0 nor infinite.
    fn floats() -> impl Iterator<Item = f32> {
        let step = if cfg!(miri) { 1009 } else { 1 };
        let bits = (0..1_u32 << 17).map(|i| f32::from_bits(i.wrapping_mul(32_749)));
        let spread = (-50_000..50_000).map(|i| i as f32 * (104.0 / 50_000.0));
        bits.chain(spread).filter(|x| !x.is_nan()).step_by(step)
    }

    #[test]
    fn error_is_within_its_bound() {
        for x in floats() {
            let (found, exact) = (exp(x), f64::from(x).exp());
            let nearest = exact as f32;
            let unit = f64::from(nearest.next_up()) - f64::from(nearest);
            assert!(
                found == nearest || (f64::from(found) - exact).abs() <= 1.5 * unit,
                "exp({x}) is {exact}, found {found}"
            );
        }
        assert_eq!([f32::NEG_INFINITY, 0.0, f32::INFINITY].map(exp), [0.0, 1.0, f32::INFINITY]);
        assert!(exp(f32::NAN).is_nan());
    }
}
