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
//!
//! A [`Machine`] also has dot products of short lanes, which compilers do not select by themselves: [`dot4`](Machine::dot4) of bytes and
//! [`dot2`](Machine::dot2) of bf16. Their operands are those of the machines' instructions (Intel's Software Developer's Manual: VPDPBUSD,
//! VDPBF16PS, VPDPWSSD), in the order of XLA's tiles `T(32,128)(4,1)` and `T(8,128)(2,1)`. [`dot2_i16`](Machine::dot2_i16) takes pairs of
//! i16. [`lanes`] has conversions: widening, saturation, bf16, four bits. [`exp`] is inlined, so loops with it are vectorized.
//!
//! | machine | `dot4` | `dot2` | `dot2_i16` |
//! |---|---|---|---|
//! | AVX-512 with VNNI | `vpdpbusd` | fused multiply-add | `vpdpwssd` |
//! | AVX-512 with VNNI and BF16 | `vpdpbusd` | `vdpbf16ps` | `vpdpwssd` |
//! | AVX2, AVX-512 without VNNI | `vpmaddwd` | fused multiply-add | `vpmaddwd` |
//! | AArch64 | `smull`, `saddlp`; Rust has no stable intrinsic for `sdot` | fused multiply-add | `smull`, `addp` |
//! | others | plain Rust | plain Rust | plain Rust |
//!
//! # What computes
//!
//! This project moves data and does not compute, with three exceptions: the functions of this module, the product of tiles of `xla-shape`, and the
//! functions of `xla_shape_ffi::math`. They are there to show that layouts in types cost nothing: loops over tiles are as fast as loops over slices.
//! No more functions are added: others belong in crates that are made for them, or in the kernels that need them.

mod dot;
mod exp;
pub mod lanes;

pub use exp::exp;
use lanes::Bf16Bits;
#[cfg(all(target_arch = "aarch64", not(miri)))]
use std::arch::is_aarch64_feature_detected as is_detected;
#[cfg(target_arch = "x86_64")]
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

/// Makes two things from one list of CPU features: [`Vectors::detect`], and `__features!`, which names them for `#[target_feature]`.
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
///
/// ```
/// use xla_shape_relayout::vector::{self, Kernel, Machine};
///
/// struct Largest<'a>(&'a [f32]);
///
/// impl Kernel for Largest<'_> {
///     type Output = f32;
///
///     #[inline(always)]
///     fn run<M: Machine>(self) -> f32 {
///         self.0.iter().copied().fold(f32::NEG_INFINITY, f32::max)
///     }
/// }
///
/// assert_eq!(vector::run(Largest(&[1.0, 7.0, 3.0])), 7.0);
/// ```
pub trait Kernel {
    /// The result.
    type Output;

    /// Whether the kernel calls [`dot4`](Machine::dot4), [`dot4_unsigned`](Machine::dot4_unsigned), [`dot2`](Machine::dot2) or
    /// [`dot2_i16`](Machine::dot2_i16). If so, the kernel is compiled for AVX-512 VNNI and BF16, too. Otherwise these functions work as
    /// well, but do not use those instructions.
    const DOT_PRODUCTS: bool = false;

    /// Does the work. Mark it `#[inline(always)]`, and the functions that it calls in its loops: a function that is not inlined is compiled
    /// once, for all machines.
    fn run<M: Machine>(self) -> Self::Output;
}

/// The differences between machines that source code must handle. Everything else is left to the compiler, which selects the instructions.
pub trait Machine {
    /// Whether [`mul_add`](Self::mul_add) is one instruction, which rounds once.
    const FUSED: bool;
    /// How many f32 a vector has.
    const LANES: usize;
    /// How many vectors the registers hold. A product keeps its sums in about half of them.
    const REGISTERS: usize;
    /// Whether [`dot2`](Self::dot2) is one instruction. Otherwise it converts its factors to f32. A kernel that uses the same factors often
    /// should then convert them once and call [`mul_add`](Self::mul_add).
    const DOT2: bool = false;

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

    /// `sum + a[0]·b[0] + a[1]·b[1] + a[2]·b[2] + a[3]·b[3]` in each lane, modulo 2<sup>32</sup>: exact, and the same on all machines.
    ///
    /// ```
    /// use xla_shape_relayout::vector::{self, Kernel, Machine};
    ///
    /// struct Dot<'a>(&'a [[i8; 4]; 16], &'a [[i8; 4]; 16]);
    ///
    /// impl Kernel for Dot<'_> {
    ///     type Output = [i32; 16];
    ///     const DOT_PRODUCTS: bool = true;
    ///
    ///     #[inline(always)]
    ///     fn run<M: Machine>(self) -> [i32; 16] {
    ///         let mut sums = [1; 16];
    ///         M::dot4(&mut sums, self.0, self.1);
    ///         sums
    ///     }
    /// }
    ///
    /// assert_eq!(vector::run(Dot(&[[1, 2, 3, -128]; 16], &[[1, 1, 1, -128]; 16])), [1 + 6 + 16_384; 16]);
    /// ```
    #[inline(always)]
    fn dot4<const N: usize>(sums: &mut [i32; N], a: &[[i8; 4]; N], b: &[[i8; 4]; N]) {
        dot::dot4(sums, a, b);
    }

    /// [`dot4`](Self::dot4) where the first factors have no sign. With AVX-512 VNNI, it takes one instruction, and `dot4` takes three.
    ///
    /// ```
    /// use xla_shape_relayout::vector::{self, Kernel, Machine};
    ///
    /// struct Dot([[u8; 4]; 8], [[i8; 4]; 8]);
    ///
    /// impl Kernel for Dot {
    ///     type Output = [i32; 8];
    ///     const DOT_PRODUCTS: bool = true;
    ///
    ///     #[inline(always)]
    ///     fn run<M: Machine>(self) -> [i32; 8] {
    ///         let mut sums = [0; 8];
    ///         M::dot4_unsigned(&mut sums, &self.0, &self.1);
    ///         sums
    ///     }
    /// }
    ///
    /// assert_eq!(vector::run(Dot([[255; 4]; 8], [[127; 4]; 8])), [4 * 255 * 127; 8]); // nothing saturates
    /// ```
    #[inline(always)]
    fn dot4_unsigned<const N: usize>(sums: &mut [i32; N], a: &[[u8; 4]; N], b: &[[i8; 4]; N]) {
        dot::dot4(sums, a, b);
    }

    /// `sum + a[0]·b[0] + a[1]·b[1]` in each lane, modulo 2<sup>32</sup>: exact, and the same on all machines.
    ///
    /// ```
    /// use xla_shape_relayout::vector::{self, Kernel, Machine};
    ///
    /// struct Dot([[i16; 2]; 8], [[i16; 2]; 8]);
    ///
    /// impl Kernel for Dot {
    ///     type Output = [i32; 8];
    ///     const DOT_PRODUCTS: bool = true;
    ///
    ///     #[inline(always)]
    ///     fn run<M: Machine>(self) -> [i32; 8] {
    ///         let mut sums = [5; 8];
    ///         M::dot2_i16(&mut sums, &self.0, &self.1);
    ///         sums
    ///     }
    /// }
    ///
    /// assert_eq!(vector::run(Dot([[300, -2]; 8], [[400, 1]; 8])), [5 + 120_000 - 2; 8]);
    /// ```
    #[inline(always)]
    fn dot2_i16<const N: usize>(sums: &mut [i32; N], a: &[[i16; 2]; N], b: &[[i16; 2]; N]) {
        dot::dot2_i16(sums, a, b);
    }

    /// `(sum + a[1]·b[1]) + a[0]·b[0]` in each lane. The factors are bf16: their bits as `u16`, or `half::bf16` with the feature `half`. A
    /// product of two bf16 is exact as an f32, unless it is too large or too small; each sum is rounded to nearest, ties to even.
    ///
    /// The results are the same on all machines, with three exceptions:
    /// - AVX-512 BF16 takes subnormal factors, products and sums as 0.
    /// - Machines with fused multiply-add do not round products, which matters if one is subnormal or larger than the largest f32.
    /// - Bits of NaN may differ.
    ///
    /// ```
    /// use xla_shape_relayout::vector::{self, Kernel, Machine};
    ///
    /// struct Dot([[u16; 2]; 16], [[u16; 2]; 16]);
    ///
    /// impl Kernel for Dot {
    ///     type Output = [f32; 16];
    ///     const DOT_PRODUCTS: bool = true;
    ///
    ///     #[inline(always)]
    ///     fn run<M: Machine>(self) -> [f32; 16] {
    ///         let mut sums = [1.0; 16];
    ///         M::dot2(&mut sums, &self.0, &self.1);
    ///         sums
    ///     }
    /// }
    ///
    /// let [two, three] = [0x4000, 0x4040]; // the bits of bf16
    /// assert_eq!(vector::run(Dot([[two, three]; 16], [[two, two]; 16])), [1.0 + 4.0 + 6.0; 16]);
    /// ```
    #[inline(always)]
    fn dot2<B: Bf16Bits, const N: usize>(sums: &mut [f32; N], a: &[[B; 2]; N], b: &[[B; 2]; N]) {
        dot::dot2(sums, a, b, Self::mul_add);
    }
}

/// A machine with AVX2 and a fused multiply-add instruction and, if `WIDE`, AVX-512. This type and the next one are private. Apart from
/// tests, only `run` names them, after `detect` or `Dot::detect` found their features. So code for one of these types runs only on such a
/// machine.
#[cfg(target_arch = "x86_64")]
struct Fused<const WIDE: bool>;

/// A machine with AVX-512 and VNNI, and perhaps BF16.
#[cfg(target_arch = "x86_64")]
struct Vnni<const BF16: bool>;

/// The machine that Rust compiles for by default: code for it uses only the features that the compiler was told of.
struct Plain;

#[cfg(target_arch = "x86_64")]
impl<const WIDE: bool> Machine for Fused<WIDE> {
    const FUSED: bool = true;
    const LANES: usize = if WIDE { 16 } else { 8 };
    const REGISTERS: usize = if WIDE { 32 } else { 16 };

    #[inline(always)]
    fn dot4<const N: usize>(sums: &mut [i32; N], a: &[[i8; 4]; N], b: &[[i8; 4]; N]) {
        // SAFETY: only `run` names `Fused`, on machines with AVX2.
        unsafe { dot::dot4_avx2(sums, a, b) };
    }

    #[inline(always)]
    fn dot4_unsigned<const N: usize>(sums: &mut [i32; N], a: &[[u8; 4]; N], b: &[[i8; 4]; N]) {
        // SAFETY: only `run` names `Fused`, on machines with AVX2.
        unsafe { dot::dot4_unsigned_avx2(sums, a, b) };
    }

    #[inline(always)]
    fn dot2_i16<const N: usize>(sums: &mut [i32; N], a: &[[i16; 2]; N], b: &[[i16; 2]; N]) {
        // SAFETY: only `run` names `Fused`, on machines with AVX2.
        unsafe { dot::dot2_i16_avx2(sums, a, b) };
    }

    #[inline(always)]
    fn dot2<B: Bf16Bits, const N: usize>(sums: &mut [f32; N], a: &[[B; 2]; N], b: &[[B; 2]; N]) {
        if const { WIDE } {
            // SAFETY: only `run` names `Fused<true>`, on machines with AVX-512.
            unsafe { dot::dot2_avx512(sums, a, b) };
        } else {
            // SAFETY: only `run` names `Fused<false>`, on machines with AVX2 and fused multiply-add.
            unsafe { dot::dot2_avx2(sums, a, b) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl<const BF16: bool> Machine for Vnni<BF16> {
    const FUSED: bool = true;
    const LANES: usize = 16;
    const REGISTERS: usize = 32;
    const DOT2: bool = BF16;

    #[inline(always)]
    fn dot4<const N: usize>(sums: &mut [i32; N], a: &[[i8; 4]; N], b: &[[i8; 4]; N]) {
        // SAFETY: only `run` names `Vnni`, on machines with AVX-512 VNNI.
        unsafe { dot::dot4_vnni(sums, a, b) };
    }

    #[inline(always)]
    fn dot4_unsigned<const N: usize>(sums: &mut [i32; N], a: &[[u8; 4]; N], b: &[[i8; 4]; N]) {
        // SAFETY: only `run` names `Vnni`, on machines with AVX-512 VNNI.
        unsafe { dot::dot4_unsigned_vnni(sums, a, b) };
    }

    #[inline(always)]
    fn dot2_i16<const N: usize>(sums: &mut [i32; N], a: &[[i16; 2]; N], b: &[[i16; 2]; N]) {
        // SAFETY: only `run` names `Vnni`, on machines with AVX-512 VNNI.
        unsafe { dot::dot2_i16_vnni(sums, a, b) };
    }

    #[inline(always)]
    fn dot2<B: Bf16Bits, const N: usize>(sums: &mut [f32; N], a: &[[B; 2]; N], b: &[[B; 2]; N]) {
        if const { BF16 } {
            // SAFETY: only `run` names `Vnni<true>`, on machines with AVX-512 BF16.
            unsafe { dot::dot2_bf16(sums, a, b) };
        } else {
            // SAFETY: only `run` names `Vnni`, on machines with AVX-512.
            unsafe { dot::dot2_avx512(sums, a, b) };
        }
    }
}

impl Machine for Plain {
    const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));
    const LANES: usize = if cfg!(target_feature = "avx512f") {
        16
    } else if cfg!(target_feature = "avx") {
        8
    } else {
        4
    };
    const REGISTERS: usize = if cfg!(any(target_feature = "avx512f", target_arch = "aarch64")) { 32 } else { 16 };

    #[cfg(all(target_arch = "aarch64", not(miri)))]
    #[inline(always)]
    fn dot4<const N: usize>(sums: &mut [i32; N], a: &[[i8; 4]; N], b: &[[i8; 4]; N]) {
        // SAFETY: every AArch64 has NEON.
        unsafe { dot::dot4_neon(sums, a, b) };
    }

    #[cfg(all(target_arch = "aarch64", not(miri)))]
    #[inline(always)]
    fn dot4_unsigned<const N: usize>(sums: &mut [i32; N], a: &[[u8; 4]; N], b: &[[i8; 4]; N]) {
        // SAFETY: every AArch64 has NEON.
        unsafe { dot::dot4_unsigned_neon(sums, a, b) };
    }

    #[cfg(all(target_arch = "aarch64", not(miri)))]
    #[inline(always)]
    fn dot2_i16<const N: usize>(sums: &mut [i32; N], a: &[[i16; 2]; N], b: &[[i16; 2]; N]) {
        // SAFETY: every AArch64 has NEON.
        unsafe { dot::dot2_i16_neon(sums, a, b) };
    }
}

/// Which dot products a machine has in addition to AVX-512, the best last.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Dot {
    None,
    Vnni,
    Bf16,
}

#[cfg(target_arch = "x86_64")]
impl Dot {
    fn detect() -> Self {
        // Miri has neither vectors nor these instructions.
        if Vectors::detect() < Vectors::Avx512Bw || !is_detected!("avx512vnni") {
            Self::None
        } else if is_detected!("avx512bf16") {
            Self::Bf16
        } else {
            Self::Vnni
        }
    }
}

/// Runs a kernel with the vector instructions that this machine has: AVX-512 (with VNNI and BF16 if the kernel has
/// [dot products](Kernel::DOT_PRODUCTS)), AVX2 with FMA, or otherwise those for which the crate is compiled. See the [module](self) for an
/// example.
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
    #[cfg(target_arch = "x86_64")]
    if const { K::DOT_PRODUCTS } {
        match Dot::detect() {
            // SAFETY: `Dot::detect` found all features that `with_bf16` is compiled with: those of `Avx512Bw`, VNNI and BF16.
            Dot::Bf16 => return unsafe { with_bf16(kernel) },
            // SAFETY: `Dot::detect` found all features that `with_vnni` is compiled with: those of `Avx512Bw` and VNNI.
            Dot::Vnni => return unsafe { with_vnni(kernel) },
            Dot::None => {}
        }
    }
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

/// Asks the machine to bring the cache line where `place` begins into the L1 cache, and does not wait for it. This is worthwhile for memory
/// that is needed a few hundred instructions later, if the hardware does not prefetch it by itself.
///
/// ```
/// let next = [1.0_f32; 128];
/// next.chunks(16).for_each(|line| xla_shape_relayout::vector::prefetch(&line[0])); // 64 bytes
/// ```
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    crate::prefetch::prefetch(std::ptr::from_ref(place).cast());
    let _ = place; // other machines, and Miri, have none
}

#[cfg(target_arch = "x86_64")]
__features!(Avx512Bw => __compiled!(fn with_avx512<K: Kernel>(kernel: K) -> K::Output { kernel.run::<Fused<true>>() }));

#[cfg(target_arch = "x86_64")]
__features!(Avx512Bw => __compiled!(
    #[target_feature(enable = "avx512vnni")]
    fn with_vnni<K: Kernel>(kernel: K) -> K::Output { kernel.run::<Vnni<false>>() }
));

#[cfg(target_arch = "x86_64")]
__features!(Avx512Bw => __compiled!(
    #[target_feature(enable = "avx512vnni,avx512bf16")]
    fn with_bf16<K: Kernel>(kernel: K) -> K::Output { kernel.run::<Vnni<true>>() }
));

#[cfg(target_arch = "x86_64")]
__features!(Avx2 => __compiled!(fn with_avx2<K: Kernel>(kernel: K) -> K::Output { kernel.run::<Fused<false>>() }));

#[cfg(test)]
mod dot_tests;
#[cfg(test)]
mod lanes_tests;

#[cfg(test)]
mod tests {
    use super::{Kernel, Machine, Plain};

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
        use super::Vectors;
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
