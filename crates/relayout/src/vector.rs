//! Compiles a kernel for the vector instructions of several machines and runs the version for this one.
//!
//! By default, Rust compiles for the oldest machine of a target. [`run`] compiles a [`Kernel`] several times, without `-C target-cpu` and
//! without `unsafe`, and runs the version that suits the machine best.
//!
//! ```
//! use xla_shape_relayout::vector::{self, Kernel, Machine};
//!
//! struct Axpy<'a>(f32, &'a [f32], &'a mut [f32]);
//!
//! impl Kernel for Axpy<'_> {
//!     type Output = ();
//!
//!     #[inline(always)] // gives each version its own code
//!     fn run<M: Machine>(self) {
//!         let Self(a, x, y) = self;
//!         y.iter_mut().zip(x).for_each(|(y, &x)| *y = M::mul_add(a, x, *y));
//!     }
//! }
//!
//! let mut y = [1.0; 100];
//! vector::run(Axpy(2.0, &[3.0; 100], &mut y));
//! assert_eq!(y, [7.0; 100]);
//! ```

#[cfg(all(target_arch = "aarch64", not(miri)))]
use std::arch::is_aarch64_feature_detected as is_detected;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::is_x86_feature_detected as is_detected;
use std::sync::OnceLock;

/// Which vector instructions a machine has, the best last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Vectors {
    /// No vectors: plain Rust.
    None,
    /// 16 bytes (NEON); every AArch64 has them.
    Neon,
    /// 16 bytes (SSE2); every x86-64 has them.
    Sse2,
    /// 32 bytes (AVX2), with fused multiply-add and conversions of f16.
    Avx2,
    /// 64 bytes (AVX-512 F, BW, DQ and VL).
    Avx512Bw,
    /// 64 bytes with permutes of all bytes (AVX-512 F, BW, DQ, VL and VBMI).
    #[default]
    Avx512,
}

/// From one list of CPU features: [`Vectors::detect`], and `__features!`, which names them for `#[target_feature]`.
macro_rules! vectors {
    ($d:tt; $($vectors:ident of $machine:literal: [$($feature:tt)+];)+) => {
        impl Vectors {
            /// The best vectors that this machine has; detected once.
            ///
            /// ```
            /// use xla_shape_relayout::Vectors;
            ///
            /// if cfg!(target_arch = "x86_64") {
            ///     assert!(Vectors::detect() >= Vectors::Sse2 || cfg!(miri));
            /// }
            /// ```
            #[must_use]
            #[inline]
            pub fn detect() -> Self {
                static FOUND: OnceLock<Vectors> = OnceLock::new();
                *FOUND.get_or_init(|| {
                    // Miri has no non-temporal stores, and not all vectors.
                    let found: &[Option<Self>] = &[$(
                        #[cfg(all(target_arch = $machine, not(miri)))]
                        (true $(&& is_detected!($feature))+).then_some(Self::$vectors),
                    )+];
                    found.iter().flatten().max().copied().unwrap_or(Self::None)
                })
            }
        }

        /// Passes the CPU features of such vectors to a macro: `__features!(Avx2 => name!(…))` is `name!(["avx2" …] …)`.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __features {
            $(($vectors => $d($d name:ident)::+ ! ($d($d arguments:tt)*)) => {
                $d($d name)::+ ! { [$($feature)+] $d($d arguments)* }
            };)+
        }
    };
}

vectors! {
    $;
    Neon of "aarch64": ["neon"];
    Sse2 of "x86_64": ["sse2"];
    Avx2 of "x86_64": ["avx2" "fma" "f16c"];
    Avx512Bw of "x86_64": ["avx2" "fma" "f16c" "avx512f" "avx512bw" "avx512dq" "avx512vl"];
    Avx512 of "x86_64": ["avx2" "fma" "f16c" "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi"];
}

/// A function that is compiled with these CPU features.
#[doc(hidden)]
#[macro_export]
macro_rules! __compiled {
    ([$($feature:tt)+] $($function:tt)+) => {
        #[target_feature($(enable = $feature),+)]
        $($function)+
    };
}

/// Code that [`run`] compiles for several machines.
pub trait Kernel {
    /// The result.
    type Output;

    /// Does the work. Mark it `#[inline(always)]`, and the functions that it calls in its loops: a function that is not inlined is compiled
    /// once, for all machines.
    fn run<M: Machine>(self) -> Self::Output;
}

/// What differs between machines in the source code, beyond the instructions that the compiler selects.
pub trait Machine {
    /// Whether [`mul_add`](Self::mul_add) is one instruction, which rounds once.
    const FUSED: bool;

    /// `a · b + c`, in the fastest way: rounded once if [`FUSED`](Self::FUSED), otherwise twice.
    ///
    /// ```
    /// use xla_shape_relayout::vector::{self, Kernel, Machine};
    ///
    /// struct Dot<'a>(&'a [f32], &'a [f32]);
    ///
    /// impl Kernel for Dot<'_> {
    ///     type Output = f32;
    ///
    ///     #[inline(always)]
    ///     fn run<M: Machine>(self) -> f32 {
    ///         self.0.iter().zip(self.1).fold(0.0, |sum, (&x, &y)| M::mul_add(x, y, sum))
    ///     }
    /// }
    ///
    /// assert_eq!(vector::run(Dot(&[1.0, 2.0], &[3.0, 4.0])), 11.0);
    /// ```
    #[must_use]
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        if const { Self::FUSED } { a.mul_add(b, c) } else { a * b + c }
    }
}

/// A machine with a fused multiply-add instruction.
#[cfg(target_arch = "x86_64")]
struct Fused;

/// The target's machine: only the features of compile time are known.
struct Plain;

#[cfg(target_arch = "x86_64")]
impl Machine for Fused {
    const FUSED: bool = true;
}

impl Machine for Plain {
    const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));
}

/// Runs a kernel with the vector instructions that this machine has: AVX-512, AVX2 with FMA, or those of the target. See the [module](self)
/// for an example.
///
/// ```
/// use xla_shape_relayout::vector::{self, Kernel, Machine};
///
/// struct Sum<'a>(&'a [u32]);
///
/// impl Kernel for Sum<'_> {
///     type Output = u32;
///
///     #[inline(always)]
///     fn run<M: Machine>(self) -> u32 {
///         self.0.iter().sum()
///     }
/// }
///
/// assert_eq!(vector::run(Sum(&[1, 2, 3])), 6);
/// ```
#[inline]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    match Vectors::detect() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `detect` found all features that `with_avx512` is compiled with, those of `Avx512Bw`; `Avx512` has these and one more.
        Vectors::Avx512 | Vectors::Avx512Bw => unsafe { with_avx512(kernel) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `detect` found all features that `with_avx2` is compiled with.
        Vectors::Avx2 => unsafe { with_avx2(kernel) },
        _ => kernel.run::<Plain>(),
    }
}

#[cfg(target_arch = "x86_64")]
__features!(Avx512Bw => __compiled!(fn with_avx512<K: Kernel>(kernel: K) -> K::Output { kernel.run::<Fused>() }));

#[cfg(target_arch = "x86_64")]
__features!(Avx2 => __compiled!(fn with_avx2<K: Kernel>(kernel: K) -> K::Output { kernel.run::<Fused>() }));

#[cfg(test)]
mod tests {
    use super::{Kernel, Machine, Plain, Vectors};

    struct Sum<'a>(&'a [f32]);

    impl Kernel for Sum<'_> {
        type Output = f32;

        #[inline(always)]
        fn run<M: Machine>(self) -> f32 {
            self.0.iter().fold(0.0, |sum, &x| M::mul_add(x, 2.0, sum))
        }
    }

    #[test]
    fn every_version_gives_the_same() {
        let numbers = (0..100).map(|n| n as f32).collect::<Vec<_>>();
        // Small integers are exact.
        assert_eq!(super::run(Sum(&numbers)), 9900.0);
        assert_eq!(Sum(&numbers).run::<Plain>(), 9900.0);
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn vectors_are_those_that_the_processor_says() {
        use std::is_x86_feature_detected as is_detected;
        let found = Vectors::detect();
        assert!(found >= Vectors::Sse2);
        assert_eq!(found >= Vectors::Avx2, is_detected!("avx2") && is_detected!("fma") && is_detected!("f16c"));
        assert_eq!(
            found >= Vectors::Avx512Bw,
            is_detected!("avx512bw") && is_detected!("avx512vl") && is_detected!("avx512dq")
        );
        assert_eq!(found == Vectors::Avx512, found >= Vectors::Avx512Bw && is_detected!("avx512vbmi"));
    }
}
