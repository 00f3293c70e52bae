//! Products of tiles, and conversions of lanes, for the vector instructions of several machines.

use half::bf16;
use xla_shape::element::{Bf16, F32};
use xla_shape::types::{Array, Size};
use xla_shape::vector::{self, Kernel, Machine, lanes};
use xla_shape::{View, ViewMut, layout};

type FloatTiles<const M: usize, const N: usize> = Array<F32, (Size<M>, Size<N>), layout!({1,0:T(8,128)})>;
type PairTiles<const M: usize, const N: usize> = Array<Bf16, (Size<M>, Size<N>), layout!({1,0:T(8,128)(2,1)})>;

/// Products of floats of many rows, and of few.
#[inline(never)]
pub fn add_product_of_floats(
    (x, few): (View<'_, FloatTiles<64, 512>>, View<'_, FloatTiles<9, 512>>),
    w: View<'_, FloatTiles<512, 256>>,
    (mut y, mut small): (ViewMut<'_, FloatTiles<64, 256>>, ViewMut<'_, FloatTiles<9, 256>>),
) {
    y.add_product(&x, &w);
    small.add_product(&few, &w);
}

/// A product of pairs of bf16.
#[inline(never)]
pub fn add_product_of_pairs(
    x: View<'_, PairTiles<64, 512>>,
    w: View<'_, PairTiles<512, 256>>,
    mut y: ViewMut<'_, FloatTiles<64, 256>>,
) {
    y.add_product(&x, &w);
}

/// All conversions of lanes, whose instructions `tests/tests/workspace/codegen.rs` checks.
pub struct Conversions<'a> {
    pub bytes: &'a [i8; 64],
    pub words: &'a [i32; 64],
    pub floats: &'a [f32; 64],
    pub wide: &'a mut [i32; 64],
    pub narrow: &'a mut [i8; 64],
    pub rounded: &'a mut [i8; 64],
    pub halves: &'a mut [bf16; 64],
    pub back: &'a mut [f32; 64],
    pub weights: &'a mut [[[i8; 4]; 64]; 2],
}

impl Kernel for Conversions<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self) {
        *self.wide = lanes::widen(self.bytes);
        *self.narrow = lanes::saturate(self.words);
        *self.rounded = lanes::round_to_i8(self.floats);
        *self.back = lanes::bf16_to_f32(self.halves);
        *self.halves = lanes::f32_to_bf16(self.floats);
        *self.weights = lanes::unpack4(&self.words.map(i32::cast_unsigned));
    }
}

/// The softmax of rows in tiles.
pub struct Softmax<'a>(pub ViewMut<'a, FloatTiles<64, 256>>);

impl Kernel for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(mut self) {
        let larger = |a: f32, b: f32| if a > b { a } else { b };
        self.0.for_each_band_mut::<-1>(|mut row| {
            let max = row.fold(f32::MIN, larger, larger);
            row.apply(&max, |x, max| vector::exp(x - max));
            let factor = row.fold(0.0, |sum, x| sum + x, |a, b| a + b).map(|sum| 1.0 / sum);
            row.apply(&factor, |x, factor| x * factor);
        });
    }
}

#[inline(never)]
pub fn softmax(x: ViewMut<'_, FloatTiles<64, 256>>) {
    vector::run(Softmax(x));
}

/// A product by lines.
pub struct Rows<'a>(View<'a, FloatTiles<64, 64>>, View<'a, FloatTiles<64, 256>>, ViewMut<'a, FloatTiles<64, 256>>);

impl Kernel for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self) {
        let Self(a, b, mut c) = self;
        for i in 0..64 {
            let (Some(mut sums), Some(factors)) = (c.line_mut::<-1>([i, 0]), a.line::<-1>([i, 0])) else { return };
            for k in 0..64 {
                let (factor, Some(row)) = (factors[k], b.line::<-1>([k, 0])) else { return };
                sums.apply_with(&row, |sum, b| sum + factor * b);
            }
        }
    }
}

#[inline(never)]
pub fn product_by_lines(
    a: View<'_, FloatTiles<64, 64>>,
    b: View<'_, FloatTiles<64, 256>>,
    c: ViewMut<'_, FloatTiles<64, 256>>,
) {
    vector::run(Rows(a, b, c));
}

#[inline(never)]
pub fn convert(conversions: Conversions<'_>) {
    vector::run(conversions);
}
