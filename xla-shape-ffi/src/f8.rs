//! Rows of floats of eight bits.

#![allow(clippy::inline_always, reason = "so that they are compiled for the vectors of the function that calls them")]

use xla_shape::element::{
    F8E3M4, F8E4M3, F8E4M3B11Fnuz, F8E4M3Fn, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, F8E8M0Fnu, Plain, Stored,
};

/// A float of eight bits, such as [`F8E4M3Fn`].
pub trait F8: Plain + Stored<Value = Self, Bytes = [u8; 1]> {
    /// The number of each code.
    #[doc(hidden)]
    const NUMBERS: &'static [f32; 256];

    /// The nearest value.
    #[doc(hidden)]
    fn nearest(value: f32) -> Self;
}

macro_rules! floats {
    ($($name:ident)*) => { $(
        impl F8 for $name {
            const NUMBERS: &'static [f32; 256] = &{
                let (mut numbers, mut code) = ([0.0; 256], 0);
                while code < 256 {
                    numbers[code] = Self::from_bits(code as u8).to_f32();
                    code += 1;
                }
                numbers
            };

            #[inline(always)]
            fn nearest(value: f32) -> Self {
                Self::from_f32(value)
            }
        }
    )* };
}

floats! { F8E3M4 F8E4M3 F8E4M3B11Fnuz F8E4M3Fn F8E4M3Fnuz F8E5M2 F8E5M2Fnuz F8E8M0Fnu }

/// Converts a row of floats of eight bits, each of which is looked up in a table.
///
/// ```
/// use xla_shape::element::F8E4M3Fn;
/// use xla_shape_ffi::math;
///
/// let (mut codes, mut row) = ([F8E4M3Fn::default(); 3], [0.0; 3]);
/// math::f8_of_f32(&[1.0, -0.3, 1000.0], &mut codes);
/// math::f32_of_f8(&codes, &mut row);
/// assert_eq!(row[..2], [1.0, -0.3125]);
/// assert!(row[2].is_nan());
/// ```
///
/// # Panics
/// If the rows have different lengths.
#[inline(always)]
pub fn f32_of_f8<T: F8>(row: &[T], result: &mut [f32]) {
    assert_eq!(row.len(), result.len(), "the rows have different lengths");
    for (result, x) in result.iter_mut().zip(row) {
        let [code] = T::to_le_bytes(*x);
        *result = T::NUMBERS[usize::from(code)];
    }
}

/// Converts a row to floats of eight bits, to the nearest number, ties to even. What is too large becomes what the type has for it:
/// infinity or NaN.
///
/// # Panics
/// If the rows have different lengths.
#[inline(always)]
pub fn f8_of_f32<T: F8>(row: &[f32], result: &mut [T]) {
    assert_eq!(row.len(), result.len(), "the rows have different lengths");
    for (result, x) in result.iter_mut().zip(row) {
        *result = T::nearest(*x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_code_comes_back<T: F8>() {
        let codes: Vec<T> = (0..=255).map(|code| T::from_le_bytes([code])).collect();
        let (mut numbers, mut back) = ([0.0; 256], codes.clone());
        f32_of_f8(&codes, &mut numbers);
        f8_of_f32(&numbers, &mut back);
        for ((code, number), back) in codes.iter().zip(numbers).zip(back) {
            // A NaN may be another one.
            assert!(T::to_le_bytes(*code) == T::to_le_bytes(back) || number.is_nan(), "{number}");
        }
        assert!(numbers.contains(&1.0) && numbers.iter().any(|number| number.is_nan()));
    }

    #[test]
    fn all_codes_of_all_types_come_back() {
        every_code_comes_back::<F8E3M4>();
        every_code_comes_back::<F8E4M3>();
        every_code_comes_back::<F8E4M3B11Fnuz>();
        every_code_comes_back::<F8E4M3Fn>();
        every_code_comes_back::<F8E4M3Fnuz>();
        every_code_comes_back::<F8E5M2>();
        every_code_comes_back::<F8E5M2Fnuz>();
        every_code_comes_back::<F8E8M0Fnu>();
    }
}
