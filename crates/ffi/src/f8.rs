//! Conversions of rows of 8-bit floats.

#![allow(clippy::inline_always, reason = "so that they are compiled for the vectors of the function that calls them")]

use xla_shape::element::{Plain, Stored};

/// The 8-bit float types, such as [`F8E4M3Fn`](xla_shape::element::F8E4M3Fn).
///
/// ```
/// use xla_shape::element::{F8E4M3Fn, F8E5M2};
/// use xla_shape_ffi::math::{self, F8};
///
/// /// The nearest value of the type.
/// fn rounded<T: F8 + Default>(value: f32) -> f32 {
///     let (mut code, mut back) = ([T::default()], [0.0]);
///     math::f32_to_f8(&[value], &mut code);
///     math::f8_to_f32(&code, &mut back);
///     back[0]
/// }
///
/// assert_eq!((rounded::<F8E4M3Fn>(1.1), rounded::<F8E5M2>(1.1)), (1.125, 1.0));
/// ```
pub trait F8: Plain + Stored<Value = Self, Bytes = [u8; 1]> {
    /// The value of each of the 256 bit patterns.
    #[doc(hidden)]
    const NUMBERS: &'static [f32; 256];

    /// The nearest value of this type, ties to even.
    #[doc(hidden)]
    fn nearest(value: f32) -> Self;
}

macro_rules! floats {
    ($($variant:ident $name:ident $number:literal [$($value:tt)*] $literal:tt $description:literal $meaning:literal $cells:tt)*) => {
        $(floats! { @$($value)* $variant })*

        #[test]
        fn all_codes_of_all_types_come_back() {
            $(floats! { @test $($value)* $variant };)*
        }
    };
    (@test Float8 $name:ident) => { tests::every_code_comes_back::<xla_shape::element::$name>() };
    (@test $($row:tt)*) => { () };
    (@Float8 $name:ident) => {
        impl F8 for xla_shape::element::$name {
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
    };
    (@$($row:tt)*) => {};
}

xla_shape::element_types!(floats);

/// Converts a row of 8-bit floats to `f32`, through a table of 256 values.
///
/// ```
/// use xla_shape::element::F8E4M3Fn;
/// use xla_shape_ffi::math;
///
/// let (mut codes, mut row) = ([F8E4M3Fn::default(); 3], [0.0; 3]);
/// math::f32_to_f8(&[1.0, -0.3, 1000.0], &mut codes);
/// math::f8_to_f32(&codes, &mut row);
/// assert_eq!(row[..2], [1.0, -0.3125]);
/// assert!(row[2].is_nan());
/// ```
///
/// # Panics
/// If the rows have different lengths.
#[inline(always)]
pub fn f8_to_f32<T: F8>(row: &[T], result: &mut [f32]) {
    assert_eq!(row.len(), result.len(), "the rows have different lengths");
    for (result, x) in result.iter_mut().zip(row) {
        let [code] = T::to_le_bytes(*x);
        *result = T::NUMBERS[usize::from(code)];
    }
}

/// Converts a row of `f32` to 8-bit floats: the nearest value, ties to even. Values too large for the type become infinity, or NaN
/// if the type has no infinity.
///
/// ```
/// use xla_shape::element::F8E5M2;
/// use xla_shape_ffi::math;
///
/// let mut codes = [F8E5M2::default(); 3];
/// math::f32_to_f8(&[1.0, 1.1, 1e9], &mut codes);
/// assert_eq!(codes.map(F8E5M2::to_f32), [1.0, 1.0, f32::INFINITY]);
/// ```
///
/// # Panics
/// If the rows have different lengths.
#[inline(always)]
pub fn f32_to_f8<T: F8>(row: &[f32], result: &mut [T]) {
    assert_eq!(row.len(), result.len(), "the rows have different lengths");
    for (result, x) in result.iter_mut().zip(row) {
        *result = T::nearest(*x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn every_code_comes_back<T: F8>() {
        let codes: Vec<T> = (0..=255).map(|code| T::from_le_bytes([code])).collect();
        let (mut numbers, mut back) = ([0.0; 256], codes.clone());
        f8_to_f32(&codes, &mut numbers);
        f32_to_f8(&numbers, &mut back);
        for ((code, number), back) in codes.iter().zip(numbers).zip(back) {
            // A NaN may come back with other bits.
            assert!(T::to_le_bytes(*code) == T::to_le_bytes(back) || number.is_nan(), "{number}");
        }
        assert!(numbers.contains(&1.0) && numbers.iter().any(|number| number.is_nan()));
    }
}
