//! Conversions of lanes: integers to wider and narrower ones, bf16 to f32 and back, and words to the eight 4-bit weights that they hold.
//!
//! Each conversion has one definition, in plain Rust without branches and calls, which compilers vectorize. Inside of a
//! [`Kernel`](super::Kernel), it is compiled for each machine. The results are the same on all machines, bit by bit. Call the conversions
//! with a constant number of lanes, such as 16 or 32.
//!
//! For example, the product of activations, which are quantized first, and 4-bit weights:
//!
//! ```
//! use xla_shape_relayout::vector::{self, Kernel, Machine, lanes};
//!
//! /// Four activations, two groups of which meet the eight weights of a word, in 16 columns.
//! struct Quantized<'a> {
//!     x: [[f32; 4]; 2],
//!     scale: f32,
//!     weights: &'a [u32; 16],
//! }
//!
//! impl Kernel for Quantized<'_> {
//!     type Output = [f32; 16];
//!     const DOT_PRODUCTS: bool = true;
//!
//!     #[inline(always)]
//!     fn run<M: Machine>(self) -> [f32; 16] {
//!         let mut sums = [0; 16];
//!         for (x, weights) in self.x.iter().zip(lanes::unpack4(self.weights)) {
//!             let x = lanes::round_to_i8(&x.map(|x| x / self.scale));
//!             M::dot4(&mut sums, &[x; 16], &weights);
//!         }
//!         sums.map(|sum| sum as f32 * self.scale)
//!     }
//! }
//!
//! let weights = [0x8765_4321; 16]; // 1, 2, … 7, -8
//! let x = [[0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.0, 1.0]];
//! assert_eq!(vector::run(Quantized { x, scale: 0.5, weights: &weights }), [0.5 * (1.0 + 2.0 + 3.0 + 4.0 - 16.0); 16]);
//! ```

mod sealed {
    /// Types that `dot` knows to be a `u16` in memory.
    pub trait Sealed {}
    impl Sealed for u16 {}
    #[cfg(feature = "half")]
    impl Sealed for half::bf16 {}
}

/// 1.5 · 2<sup>23</sup>. Numbers of this size have no fraction bits, so a sum with it is rounded to an integer, whose value is in the
/// low bits of the result.
pub(super) const ROUND: f32 = 12_582_912.0;

/// Numbers of two bytes that are bf16: their bits, or `half::bf16` with the feature `half`.
///
/// ```
/// use xla_shape_relayout::vector::lanes::Bf16Bits;
///
/// assert_eq!(0x3f80_u16.bits(), 0x3f80); // 1.0
/// ```
pub trait Bf16Bits: Copy + sealed::Sealed {
    /// The bits, which are the upper half of the same number as an f32.
    #[must_use]
    fn bits(self) -> u16;

    /// The number with these bits.
    #[must_use]
    fn with_bits(bits: u16) -> Self;
}

impl Bf16Bits for u16 {
    #[inline(always)]
    fn bits(self) -> u16 {
        self
    }

    #[inline(always)]
    fn with_bits(bits: u16) -> Self {
        bits
    }
}

#[cfg(feature = "half")]
impl Bf16Bits for half::bf16 {
    #[inline(always)]
    fn bits(self) -> u16 {
        self.to_bits()
    }

    #[inline(always)]
    fn with_bits(bits: u16) -> Self {
        Self::from_bits(bits)
    }
}

/// The same integers with more bits: i8 or u8 as i16 or i32, i16 as i32, or any others that [`From`] converts.
///
/// ```
/// use xla_shape_relayout::vector::lanes;
///
/// let wide: [i32; 3] = lanes::widen(&[-128_i8, 0, 127]);
/// assert_eq!(wide, [-128, 0, 127]);
/// ```
#[must_use]
#[inline(always)]
pub fn widen<T: Copy, W: From<T>, const N: usize>(lanes: &[T; N]) -> [W; N] {
    lanes.map(W::from)
}

/// Integers that [`saturate`] converts to integers with fewer bits.
///
/// ```
/// use xla_shape_relayout::vector::lanes::Saturate;
///
/// fn narrow<W: Saturate<u8>>(lanes: [W; 2]) -> [u8; 2] {
///     lanes.map(W::nearest)
/// }
///
/// assert_eq!(narrow([-5_i32, 300]), [0, 255]);
/// assert_eq!(narrow([7_i16, 256]), [7, 255]);
/// ```
pub trait Saturate<T>: Copy {
    /// The nearest value of type `T`.
    #[must_use]
    fn nearest(self) -> T;
}

macro_rules! saturate {
    ($($wide:ty => $narrow:ty),+) => { $(
        impl Saturate<$narrow> for $wide {
            #[inline(always)]
            fn nearest(self) -> $narrow {
                self.clamp(<$narrow>::MIN.into(), <$narrow>::MAX.into()) as $narrow
            }
        }
    )+ };
}

saturate!(i32 => i16, i32 => i8, i32 => u8, i16 => i8, i16 => u8);

/// Converts to integers with fewer bits: i32 to i16, i8 or u8, and i16 to i8 or u8. A number outside of their range becomes the smallest or
/// the largest one.
///
/// ```
/// use xla_shape_relayout::vector::lanes;
///
/// let narrow: [i8; 4] = lanes::saturate(&[-1000_i32, -128, 5, 128]);
/// assert_eq!(narrow, [-128, -128, 5, 127]);
/// ```
#[must_use]
#[inline(always)]
pub fn saturate<W: Saturate<T>, T, const N: usize>(lanes: &[W; N]) -> [T; N] {
    lanes.map(W::nearest)
}

/// bf16 numbers as f32, which is exact. A NaN keeps its bits.
///
/// ```
/// use xla_shape_relayout::vector::lanes;
///
/// assert_eq!(lanes::bf16_to_f32(&[0x3f80_u16, 0xc000]), [1.0, -2.0]);
/// ```
#[must_use]
#[inline(always)]
pub fn bf16_to_f32<B: Bf16Bits, const N: usize>(lanes: &[B; N]) -> [f32; N] {
    lanes.map(|lane| super::dot::f32_of(lane.bits()))
}

/// The nearest bf16, ties to even, subnormal numbers too. A NaN stays one, and becomes quiet.
///
/// ```
/// use xla_shape_relayout::vector::lanes;
///
/// let [one, tie, large, small]: [u16; 4] = lanes::f32_to_bf16(&[1.0, 1.0 + 1.0 / 256.0, f32::MAX, -1e-40]);
/// assert_eq!([one, tie, large, small], [0x3f80, 0x3f80, 0x7f80, 0x8001]);
/// ```
#[must_use]
#[inline(always)]
pub fn f32_to_bf16<B: Bf16Bits, const N: usize>(lanes: &[f32; N]) -> [B; N] {
    lanes.map(|lane| {
        let bits = lane.to_bits();
        // Half a unit of the last bit that stays is 0x8000. One less than this is added, and 1 more if that bit is set. So a tie is rounded
        // up only if this clears the bit.
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        let quiet = bits >> 16 | 0x40;
        B::with_bits(if lane.is_nan() { quiet as u16 } else { rounded as u16 })
    })
}

/// The nearest i8, ties to even: -128 or 127 if the number is outside, and 0 for NaN. This is how activations are quantized, after a division
/// by their scale.
///
/// ```
/// use xla_shape_relayout::vector::lanes;
///
/// assert_eq!(lanes::round_to_i8(&[0.5, 1.5, -2.6, 1e9, f32::NEG_INFINITY, f32::NAN]), [0, 2, -3, 127, -128, 0]);
/// ```
#[must_use]
#[inline(always)]
pub fn round_to_i8<const N: usize>(lanes: &[f32; N]) -> [i8; N] {
    lanes.map(|lane| {
        let inside = if lane.is_nan() { 0.0 } else { lane.clamp(-128.0, 127.0) };
        // The lowest byte of the sum.
        (inside + ROUND).to_bits() as u8 as i8
    })
}

/// Unpacks signed 4-bit integers. Each word holds eight, the first one in the lowest bits. The first result has the first four of each
/// word, the second one has the others. Both are operands of [`dot4`](super::Machine::dot4).
///
/// XLA's tiles `T(8,128)(8,1)E(4)` have eight rows of a column in a word.
///
/// ```
/// use xla_shape_relayout::vector::lanes;
///
/// assert_eq!(lanes::unpack4(&[0xf765_8321]), [[[1, 2, 3, -8]], [[5, 6, 7, -1]]]);
/// ```
#[must_use]
#[inline(always)]
pub fn unpack4<const N: usize>(words: &[u32; N]) -> [[[i8; 4]; N]; 2] {
    [0, 16].map(|shift| {
        words.map(|word| {
            let half = word >> shift & 0xffff;
            let bytes = (half | half << 8) & 0x00ff_00ff;
            let bytes = (bytes | bytes << 4) & 0x0f0f_0f0f;
            // From 0 … 15 to -8 … 7 in each byte: the sum does not carry into the next one.
            let signed = ((bytes ^ 0x0808_0808) + 0x7878_7878) ^ 0x8080_8080;
            signed.to_le_bytes().map(u8::cast_signed)
        })
    })
}
