//! The vector instructions that this machine has, for kernels that are compiled for any machine.
//!
//! Rust compiles for the oldest machine of a target, unless `-C target-cpu` says otherwise. [`run`] compiles a [`Kernel`] several
//! times and runs the version that suits the machine best.
//!
//! ```
//! use xla_shape::vector::{self, Kernel, Machine};
//!
//! struct Axpy<'a>(f32, &'a [f32], &'a mut [f32]);
//!
//! impl Kernel for Axpy<'_> {
//!     type Output = ();
//!
//!     #[inline(always)] // so that each version has code of its own
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

/// What [`run`] compiles for each machine.
pub trait Kernel {
    /// What it gives.
    type Output;

    /// Does the work. Mark it `#[inline(always)]`, and the functions that it calls in its loops: code that is not inlined is the
    /// same for all machines.
    fn run<M: Machine>(self) -> Self::Output;
}

/// What differs between machines in the code itself, not only in the instructions that the compiler makes of it.
pub trait Machine {
    /// Whether [`mul_add`](Self::mul_add) is one instruction and rounds once.
    const FUSED: bool;

    /// `a · b + c`, as fast as it can be: rounded once or twice.
    #[must_use]
    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        if const { Self::FUSED } { a.mul_add(b, c) } else { a * b + c }
    }
}

/// A machine that multiplies and adds in one instruction.
#[cfg(target_arch = "x86_64")]
struct Fused;

/// A machine of which nothing is known.
struct Plain;

#[cfg(target_arch = "x86_64")]
impl Machine for Fused {
    const FUSED: bool = true;
}

impl Machine for Plain {
    const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));
}

/// Runs a kernel with the vector instructions that this machine has: AVX-512, AVX2 with FMA, or those of the target.
#[inline]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        if has_avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the machine has these instructions.
            return unsafe { with_avx512(kernel) };
        }
        if has_avx2 {
            // SAFETY: the machine has these instructions.
            return unsafe { with_avx2(kernel) };
        }
    }
    kernel.run::<Plain>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl")]
fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Fused>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Fused>()
}

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
        // Small whole numbers are not rounded.
        assert_eq!(super::run(Sum(&numbers)), 9900.0);
        assert_eq!(Sum(&numbers).run::<Plain>(), 9900.0);
    }
}
