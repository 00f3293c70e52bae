//! One function compiled for several sets of vector instructions.

/// Compiles functions for AVX2 and AVX-512 too, and calls the version for the widest vectors that the machine has.
///
/// Functions that it calls are compiled for these vectors only if the compiler inlines them. It usually inlines small functions and
/// closures, and always functions with `#[inline(always)]`. A closure that runs on other threads (`ThreadPool::for_each`) is not
/// inlined: let it call a function made by this macro. For the function of a kernel, write `where multiversion` in
/// [`kernel!`](crate::kernel) instead. Programs that do not use this crate have `xla_shape::vector::run`.
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

/// A function; in several versions if `multiversion` is among the words in front of it.
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
            $crate::__private::__features!(Avx2 => $crate::__private::__compiled!(
                #[allow(clippy::type_complexity, reason = "as above")]
                fn avx2($($crate::__argument!($($parameter)+): $type),*) $($result)* {
                    body($($crate::__argument!($($parameter)+)),*)
                }
            ));

            #[cfg(target_arch = "x86_64")]
            $crate::__private::__features!(Avx512Bw => $crate::__private::__compiled!(
                #[allow(clippy::type_complexity, reason = "as above")]
                fn avx512($($crate::__argument!($($parameter)+): $type),*) $($result)* {
                    body($($crate::__argument!($($parameter)+)),*)
                }
            ));

            #[cfg(target_arch = "x86_64")]
            match $crate::__private::Vectors::detect() {
                $crate::__private::Vectors::Avx512 | $crate::__private::Vectors::Avx512Bw => {
                    // SAFETY: both levels include the features of `Avx512Bw`, for which `avx512` is compiled, and
                    // `of_this_machine` has detected one of them.
                    return unsafe { avx512($($crate::__argument!($($parameter)+)),*) };
                }
                // SAFETY: `of_this_machine` has detected the features of `Avx2`, for which `avx2` is compiled.
                $crate::__private::Vectors::Avx2 => return unsafe { avx2($($crate::__argument!($($parameter)+)),*) },
                _ => {}
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
    multiversion! {
        fn doubled(mut x: Vec<f32>, factor: f32) -> Vec<f32> {
            x.iter_mut().for_each(|x| *x *= factor);
            x
        }
    }

    #[test]
    fn every_version_gives_the_same() {
        assert_eq!(doubled(vec![1.5; 100], 2.0), [3.0; 100]);
    }
}
