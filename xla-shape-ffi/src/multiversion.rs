//! One function compiled for several sets of vector instructions.

use std::sync::OnceLock;

/// Which version of a function to call.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Vectors {
    /// What the compiler was told of the machine.
    Baseline,
    /// AVX2 and fused multiply-add.
    Avx2,
    /// AVX-512 with its extensions for bytes, words and shorter vectors.
    Avx512,
}

/// What this machine has; found out once.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn vectors() -> Vectors {
    static FOUND: OnceLock<Vectors> = OnceLock::new();
    *FOUND.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Vectors {
    let has_avx2 =
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
    let has_avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (has_avx2, has_avx512) {
        (true, true) => Vectors::Avx512,
        (true, false) => Vectors::Avx2,
        (false, _) => Vectors::Baseline,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Vectors {
    Vectors::Baseline
}

/// Compiles functions for AVX2 and AVX-512 too, and calls the version for the best vectors that the machine has.
///
/// What the function calls takes part where the compiler inlines it: small functions and closures do, functions with
/// `#[inline(always)]` always. A closure that runs on other threads (`ThreadPool::for_each`) is a function of its own: let it call a
/// function made by this macro. A function of a kernel gets the same from `where multiversion` in [`kernel!`](crate::kernel).
/// `xla_shape::vector::run` does the same for programs that do not use this crate.
///
/// ```
/// xla_shape_ffi::multiversion! {
///     /// The sum of the products.
///     pub fn dot(x: &[f32], y: &[f32]) -> f32 {
///         let mut sums = [0.0; 16];
///         for (x, y) in x.chunks_exact(16).zip(y.chunks_exact(16)) {
///             for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
///                 *sum += x * y;
///             }
///         }
///         sums.iter().sum()
///     }
/// }
/// assert_eq!(dot(&[1.0; 32], &[2.0; 32]), 64.0);
/// ```
#[macro_export]
macro_rules! multiversion {
    ($(
        $(#[$($attribute:tt)*])*
        $visibility:vis fn $name:ident($($parameter:tt $($name_if_mut:ident)? : $type:ty),* $(,)?) $(-> $result:ty)? $body:block
    )+) => { $(
        $crate::__function! {
            [multiversion]
            $(#[$($attribute)*])*
            $visibility fn $name($([$parameter $($name_if_mut)?]: $type),*) [$(-> $result)?] $body
        }
    )+ };
}

/// A function, in several versions if one of the words says so.
#[doc(hidden)]
#[macro_export]
macro_rules! __function {
    ([multiversion $($words:ident)*] $($function:tt)*) => { $crate::__versions! { $($function)* } };
    ([$word:ident $($words:ident)*] $($function:tt)*) => { $crate::__function! { [$($words)*] $($function)* } };
    ([]
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($([$($parameter:tt)+]: $type:ty),*) [$($result:tt)*] $body:block
    ) => {
        $(#[$attribute])*
        $visibility fn $name($($($parameter)+: $type),*) $($result)* $body
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __versions {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($([$($parameter:tt)+]: $type:ty),*) [$($result:tt)*] $body:block
    ) => {
        $(#[$attribute])*
        $visibility fn $name($($crate::__argument!($($parameter)+): $type),*) $($result)* {
            #[inline(always)]
            #[allow(clippy::type_complexity, clippy::inline_always, reason = "as above; each version is compiled for its vectors")]
            fn body($($($parameter)+: $type),*) $($result)* $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c")]
            #[allow(clippy::type_complexity, reason = "as above")]
            fn avx2($($crate::__argument!($($parameter)+): $type),*) $($result)* {
                body($($crate::__argument!($($parameter)+)),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
            #[allow(clippy::type_complexity, reason = "as above")]
            fn avx512($($crate::__argument!($($parameter)+): $type),*) $($result)* {
                body($($crate::__argument!($($parameter)+)),*)
            }

            #[cfg(target_arch = "x86_64")]
            match $crate::__private::vectors() {
                // SAFETY: the machine has what this version wants.
                $crate::__private::Vectors::Avx512 => return unsafe { avx512($($crate::__argument!($($parameter)+)),*) },
                // SAFETY: as above.
                $crate::__private::Vectors::Avx2 => return unsafe { avx2($($crate::__argument!($($parameter)+)),*) },
                $crate::__private::Vectors::Baseline => {}
            }
            body($($crate::__argument!($($parameter)+)),*)
        }
    };
}

/// The name of a parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! __argument {
    (mut $name:ident) => {
        $name
    };
    ($name:ident) => {
        $name
    };
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "x86_64")]
    use super::Vectors;
    use super::vectors;

    multiversion! {
        fn doubled(mut x: Vec<f32>, factor: f32) -> Vec<f32> {
            x.iter_mut().for_each(|x| *x *= factor);
            x
        }
    }

    #[test]
    fn the_version_for_this_machine_is_called() {
        assert_eq!(doubled(vec![1.5; 100], 2.0), [3.0; 100]);
        assert_eq!(vectors(), vectors());
        #[cfg(target_arch = "x86_64")]
        assert_eq!(vectors() >= Vectors::Avx2, is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"));
    }
}
