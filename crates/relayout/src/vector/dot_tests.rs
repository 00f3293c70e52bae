//! Dot products with all instructions that this machine has for them, against the definition of each operation.

use super::{Kernel, Machine, Plain};

const LANES: usize = 37; // no multiple of a vector: the rest has code of its own

/// Pseudorandom bytes in which the extreme ones are frequent.
fn bytes(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let byte = (state >> 56) as u8;
        if state >> 40 & 3 == 0 { [0, 127, 128, 255][usize::from(byte % 4)] } else { byte }
    })
}

fn lanes<const P: usize>(bytes: &mut impl Iterator<Item = u8>) -> [[u8; P]; LANES] {
    std::array::from_fn(|_| std::array::from_fn(|_| bytes.next().expect("bytes do not end")))
}

/// The four results: `dot4`, `dot4_unsigned`, `dot2_i16` (of the same bytes, in pairs of pairs), `dot2`.
#[derive(Clone, Copy)]
struct Dots {
    sums: [i32; LANES],
    a: [[u8; 4]; LANES],
    b: [[u8; 4]; LANES],
    floats: ([f32; LANES], [[u16; 2]; LANES], [[u16; 2]; LANES]),
}

type Results = ([i32; LANES], [i32; LANES], [i32; LANES], [f32; LANES]);

/// Four bytes as two i16.
fn words([a, b, c, d]: [u8; 4]) -> [i16; 2] {
    [i16::from_le_bytes([a, b]), i16::from_le_bytes([c, d])]
}

impl Kernel for Dots {
    type Output = Results;
    const DOT_PRODUCTS: bool = true;

    #[inline(always)]
    fn run<M: Machine>(self) -> Results {
        let (mut signed, mut unsigned, mut pairs, (mut floats, x, y)) = (self.sums, self.sums, self.sums, self.floats);
        let b = self.b.map(|lane| lane.map(u8::cast_signed));
        M::dot4(&mut signed, &self.a.map(|lane| lane.map(u8::cast_signed)), &b);
        M::dot4_unsigned(&mut unsigned, &self.a, &b);
        M::dot2_i16(&mut pairs, &self.a.map(words), &self.b.map(words));
        M::dot2(&mut floats, &x, &y);
        (signed, unsigned, pairs, floats)
    }
}

impl Dots {
    fn new(seed: u64) -> Self {
        let mut bytes = bytes(seed);
        let sums = lanes::<4>(&mut bytes).map(i32::from_le_bytes);
        let (a, b) = (lanes(&mut bytes), lanes(&mut bytes));
        // bf16 of either sign from 2^-31 to 2^33: no sum of products is subnormal or too large, unless it is zero.
        let bf16 = |[low, high]: [u8; 2]| {
            (u16::from(high & 0x80) << 8) | (((u16::from(high) & 0x3f) + 0x60) << 7) | (u16::from(low) & 0x7f)
        };
        let mut pairs = || lanes::<4>(&mut bytes).map(|[a, b, c, d]| [bf16([a, b]), bf16([c, d])]);
        let (x, y, first) = (pairs(), pairs(), pairs());
        Self { sums, a, b, floats: (first.map(|[sum, _]| super::dot::f32_of(sum)), x, y) }
    }

    /// Integers in 64 bits, floats by one fused multiply-add for each product, without any of the module's functions.
    fn expected(&self) -> Results {
        let exact = |i: usize, a: &dyn Fn(u8) -> i64| {
            let products = (0..4).map(|k| a(self.a[i][k]) * i64::from(self.b[i][k].cast_signed())).sum::<i64>();
            (i64::from(self.sums[i]) + products) as i32
        };
        let number = |bits: u16| f32::from_bits(u32::from(bits) << 16);
        let (sums, x, y) = &self.floats;
        let rounded = |i: usize| {
            let first = number(x[i][1]).mul_add(number(y[i][1]), sums[i]);
            number(x[i][0]).mul_add(number(y[i][0]), first)
        };
        (
            std::array::from_fn(|i| exact(i, &|a| i64::from(a.cast_signed()))),
            std::array::from_fn(|i| exact(i, &i64::from)),
            std::array::from_fn(|i| {
                let ([a, c], [b, d]) = (words(self.a[i]).map(i64::from), words(self.b[i]).map(i64::from));
                (i64::from(self.sums[i]) + a * b + c * d) as i32
            }),
            std::array::from_fn(rounded),
        )
    }
}

#[test]
fn dot_products_are_those_of_the_definition() {
    for seed in 0..if cfg!(miri) { 3 } else { 500 } {
        let dots = Dots::new(seed);
        let expected = dots.expected();
        assert_eq!(dots.run::<Plain>(), expected, "{seed}");
        assert_eq!(super::run(dots), expected, "{seed}");
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use super::{Dot, Fused, Vectors, Vnni};
            if Vectors::detect() >= Vectors::Avx2 {
                assert_eq!(dots.run::<Fused<false>>(), expected, "{seed}");
            }
            if Dot::detect() >= Dot::Vnni {
                assert_eq!(dots.run::<Vnni<false>>(), expected, "{seed}");
            }
            if Dot::detect() >= Dot::Bf16 {
                assert_eq!(dots.run::<Vnni<true>>(), expected, "{seed}");
            }
        }
    }
}

/// All bytes with each other: nothing saturates, in any lane.
#[test]
#[cfg_attr(miri, ignore = "65,536 pairs take minutes")]
fn dot_products_of_all_bytes_are_exact() {
    let first = Dots::new(0);
    for (a, b) in (0..=255).flat_map(|a| (0..=255).map(move |b| (a, b))) {
        let dots = Dots { a: [[a; 4]; LANES], b: [[b; 4]; LANES], sums: [i32::MAX; LANES], ..first };
        let (signed, unsigned, pairs, _) = super::run(dots);
        let [x, y] = [a, b].map(|byte| i32::from(i16::from_le_bytes([byte; 2])));
        assert_eq!(pairs, [i32::MAX.wrapping_add((x * y).wrapping_mul(2)); LANES]);
        let b = i32::from(b.cast_signed());
        assert_eq!(signed, [i32::MAX.wrapping_add(4 * i32::from(a.cast_signed()) * b); LANES]);
        assert_eq!(unsigned, [i32::MAX.wrapping_add(4 * i32::from(a) * b); LANES]);
    }
}
