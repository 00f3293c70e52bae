//! Conversions of lanes, in every version of the code, against definitions with wider numbers.

use super::lanes::{bf16_to_f32, f32_to_bf16, round_to_i8, saturate, unpack4, widen};
use super::{Kernel, Machine, Plain};

const LANES: usize = 37; // no multiple of a vector

/// All conversions, of the same words.
#[derive(Clone, Copy)]
struct All([u32; LANES]);

#[derive(PartialEq, Debug)]
struct Results {
    wide: ([i16; LANES], [i32; LANES], [i32; LANES], [i32; LANES]),
    narrow: ([i16; LANES], [[i8; LANES]; 2], [[u8; LANES]; 2]),
    floats: [u32; LANES],
    bf16: [u16; LANES],
    rounded: [i8; LANES],
    unpacked: [[[i8; 4]; LANES]; 2],
}

impl Kernel for All {
    type Output = Results;

    #[inline(always)]
    fn run<M: Machine>(self) -> Results {
        let words = self.0;
        let (bytes, halves) = (words.map(|word| word as u8), words.map(|word| word as u16));
        let (signed, integers) = (bytes.map(u8::cast_signed), halves.map(u16::cast_signed));
        let (all, floats) = (words.map(u32::cast_signed), words.map(f32::from_bits));
        Results {
            wide: (widen(&signed), widen(&signed), widen(&bytes), widen(&integers)),
            narrow: (saturate(&all), [saturate(&all), saturate(&integers)], [saturate(&all), saturate(&integers)]),
            floats: bf16_to_f32(&halves).map(f32::to_bits),
            bf16: f32_to_bf16(&floats),
            rounded: round_to_i8(&floats),
            unpacked: unpack4(&words),
        }
    }
}

impl All {
    /// Without any of the module's functions.
    fn expected(self) -> Results {
        let words = self.0;
        let wide = words.map(|word| i64::from(word.cast_signed()));
        let short = words.map(|word| i64::from((word as u16).cast_signed()));
        let byte = words.map(|word| i64::from((word as u8).cast_signed()));
        Results {
            wide: (
                byte.map(|x| x as i16),
                byte.map(|x| x as i32),
                words.map(|word| (word & 0xff) as i32),
                short.map(|x| x as i32),
            ),
            narrow: (
                wide.map(|x| x.clamp(-32_768, 32_767) as i16),
                [wide, short].map(|lanes| lanes.map(|x| x.clamp(-128, 127) as i8)),
                [wide, short].map(|lanes| lanes.map(|x| x.clamp(0, 255) as u8)),
            ),
            floats: words.map(|word| word << 16),
            bf16: words.map(nearest_bf16),
            // `as` saturates, and converts NaN to 0.
            rounded: words.map(|word| f64::from(f32::from_bits(word)).round_ties_even() as i8),
            unpacked: [0, 1].map(|half| {
                words.map(|word| {
                    std::array::from_fn(|k| ((word << (28 - 4 * (4 * half + k))).cast_signed() >> 28) as i8)
                })
            }),
        }
    }
}

/// Of the two bf16 numbers around an f32, the nearer one, by their distances.
fn nearest_bf16(bits: u32) -> u16 {
    let x = f32::from_bits(bits);
    if x.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    let (below, above) = ((bits >> 16) as u16, ((bits >> 16) + 1) as u16);
    // A value beyond the largest bf16 rounds as if the exponent went on.
    let value = |bits: u16| match bits & 0x7fff {
        0x7f80 => f64::from(f32::from_bits(0x7f00_0000)) * 2.0 * if bits >> 15 == 1 { -1.0 } else { 1.0 },
        _ => f64::from(f32::from_bits(u32::from(bits) << 16)),
    };
    if x.is_infinite() {
        return below;
    }
    let (down, up) = ((f64::from(x) - value(below)).abs(), (f64::from(x) - value(above)).abs());
    if down < up || (down == up && below % 2 == 0) { below } else { above }
}

fn check(words: [u32; LANES]) {
    let (all, expected) = (All(words), All(words).expected());
    assert_eq!(all.run::<Plain>(), expected);
    assert_eq!(super::run(all), expected);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if super::Vectors::detect() >= super::Vectors::Avx2 {
        // SAFETY: the machine has these vectors.
        assert_eq!(unsafe { super::with_avx2(all) }, expected);
    }
}

/// All upper halves (so all bf16 and all exponents), each with lower halves at a tie and next to it; and all lower halves.
#[test]
fn conversions_are_those_of_the_definition() {
    let step = if cfg!(miri) { 911 } else { 1 };
    let halves = (0..=0xffff).step_by(step);
    let words = halves.clone().flat_map(|high| [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff].map(|low| high << 16 | low));
    let words = words.chain(halves.flat_map(|low| [0x3f80, 0, 0x4b40, 0xffff].map(|high| high << 16 | low)));
    // Halves between integers are ties.
    let words = words.chain((-300..300).map(|n| (n as f32 / 2.0).to_bits())).collect::<Vec<u32>>();
    let (chunks, rest) = words.as_chunks::<LANES>();
    chunks.iter().for_each(|words| check(*words));
    check(std::array::from_fn(|i| rest.get(i).copied().unwrap_or_default()));
}

#[test]
#[cfg(feature = "half")]
fn bf16_are_those_of_half() {
    let words = (0..=0xffff_u32)
        .step_by(if cfg!(miri) { 257 } else { 1 })
        .map(|high| high << 16 | high.wrapping_mul(0x9e37) & 0xffff);
    for x in words.map(f32::from_bits) {
        let [ours] = f32_to_bf16::<half::bf16, 1>(&[x]);
        assert_eq!(ours.to_bits(), half::bf16::from_f32(x).to_bits(), "{x}");
        assert_eq!(bf16_to_f32(&[ours]).map(f32::to_bits), [ours.to_f32().to_bits()]);
    }
}
