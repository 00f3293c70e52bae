//! Kernels over whole arrays: the library's iteration, and loops written by hand over the same memory.

use half::bf16;
use xla_shape::iter::runs;
use xla_shape::vector::exp;
use xla_shape::{View, ViewMut, shape};

macro_rules! kernel {
    ($name:ident($($x:ident: $Library:ty | $Hand:ty),*) $(-> $Result:ty)?; $library:block, $by_hand:block) => {
        pub mod $name {
            use super::*;

            /// With the library.
            #[inline(never)]
            pub fn library($($x: $Library),*) $(-> $Result)? $library

            /// Written by hand.
            #[inline(never)]
            pub fn by_hand($($x: $Hand),*) $(-> $Result)? $by_hand
        }
    };
}

type F32 = shape!(f32[64,512]{1,0:T(8,128)});
type RowMajor = shape!(f32[64,512]);
type Bf16 = shape!(bf16[64,512]{1,0:T(8,128)(2,1)});
const LEN: usize = 64 * 512;

kernel!(fill_f32(x: ViewMut<'_, F32> | &mut [f32; LEN], value: f32 | f32); {
    let mut x = x;
    x.fill(value);
}, {
    for x in x {
        *x = value;
    }
});

kernel!(fill_bf16(x: ViewMut<'_, Bf16> | &mut [bf16; LEN], value: bf16 | bf16); {
    let mut x = x;
    x.fill(value);
}, {
    for x in x {
        *x = value;
    }
});

kernel!(sum_f32(x: View<'_, F32> | &[f32; LEN]) -> f32; {
    x.fold_lanes([0.0; 16], |sum, x| sum + x).iter().sum()
}, {
    let mut sums = [0.0; 16];
    for four in x.as_chunks::<16>().0.as_chunks::<4>().0 {
        for x in four {
            for i in 0..16 {
                sums[i] += x[i];
            }
        }
    }
    sums.iter().sum()
});

kernel!(sum_bf16(x: View<'_, Bf16> | &[bf16; LEN]) -> f32; {
    x.fold_lanes([0.0; 16], |sum, x| sum + f32_of(x)).iter().sum()
}, {
    let mut sums = [0.0; 16];
    for four in x.as_chunks::<16>().0.as_chunks::<4>().0 {
        for x in four {
            for i in 0..16 {
                sums[i] += f32_of(x[i]);
            }
        }
    }
    sums.iter().sum()
});

kernel!(scale_f32(x: ViewMut<'_, F32> | &mut [f32; LEN], factor: f32 | f32); {
    let mut x = x;
    x.apply(|x| factor * x);
}, {
    for x in x.as_chunks_mut::<64>().0 {
        for x in x {
            *x *= factor;
        }
    }
});

kernel!(scale_bf16(x: ViewMut<'_, Bf16> | &mut [bf16; LEN], factor: f32 | f32); {
    let mut x = x;
    x.apply(|x| bf16_of(factor * f32_of(x)));
}, {
    for x in x.as_chunks_mut::<64>().0 {
        for x in x {
            *x = bf16_of(factor * f32_of(*x));
        }
    }
});

/// An array with padding, so the lengths of slices are known only at run time.
type Padded = shape!(f32[60,500]{1,0:T(8,128)});

kernel!(scale_padded(x: ViewMut<'_, Padded> | &mut [f32; LEN], factor: f32 | f32); {
    let mut x = x;
    x.apply(|x| factor * x);
}, {
    for i in 0..60 {
        for tile in 0..4 {
            let len = if tile == 3 { 500 - 384 } else { 128 };
            for x in &mut x[(i / 8) << 12 | tile << 10 | (i % 8) << 7..][..len] {
                *x *= factor;
            }
        }
    }
});

kernel!(axpy_f32(a: f32 | f32, x: View<'_, F32> | &[f32; LEN], y: ViewMut<'_, F32> | &mut [f32; LEN]); {
    let mut y = y;
    y.apply_with(&x, |y, x| a * x + y);
}, {
    for i in 0..LEN {
        y[i] += a * x[i];
    }
});

kernel!(axpy_bf16(a: f32 | f32, x: View<'_, Bf16> | &[bf16; LEN], y: ViewMut<'_, Bf16> | &mut [bf16; LEN]); {
    let mut y = y;
    y.apply_with(&x, |y, x| bf16_of(a * f32_of(x) + f32_of(y)));
}, {
    for i in 0..LEN {
        y[i] = bf16_of(a * f32_of(x[i]) + f32_of(y[i]));
    }
});

kernel!(axpy_from_row_major(
    a: f32 | f32, x: View<'_, RowMajor> | &[f32; LEN], y: ViewMut<'_, F32> | &mut [f32; LEN]
); {
    let mut y = y;
    y.apply_with(&x, |y, x| a * x + y);
}, {
    for i in 0..64 {
        for tile in 0..4 {
            let row = &mut y[(i / 8) << 12 | tile << 10 | (i % 8) << 7..][..128];
            let x = &x[i << 9 | tile << 7..][..128];
            for j in 0..128 {
                row[j] += a * x[j];
            }
        }
    }
});

kernel!(axpy_by_runs(
    a: f32 | f32, x: View<'_, RowMajor> | &[f32; LEN], y: ViewMut<'_, F32> | &mut [f32; LEN]
); {
    let mut y = y;
    for (mut y, x) in runs((&mut y, &x)) {
        for i in 0..y.len() {
            y[i] += a * x[i];
        }
    }
}, {
    // Use slices that span a whole row of a tile.
    for i in 0..64 {
        let rows = x[i << 9..][..512].as_chunks::<128>().0;
        for (tile, x) in rows.iter().enumerate() {
            let row = &mut y[(i / 8) << 12 | tile << 10 | (i % 8) << 7..][..128];
            row.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
        }
    }
});

kernel!(softmax_f32(x: ViewMut<'_, F32> | &mut [f32; LEN]); {
    let mut x = x;
    x.for_each_band_mut::<-1>(|mut row| {
        let max = row.fold_lanes([f32::MIN; 16], larger, larger);
        row.apply_lanes(max, |x, max| exp(x - max));
        let sum = row.fold_lanes([0.0; 16], |sum, x| sum + x, |a, b| a + b);
        row.apply_lanes(sum.map(|sum| 1.0 / sum), |x, factor| x * factor);
    });
}, {
    #[inline(always)]
    fn row(x: &mut [f32; LEN], i: usize, f: impl FnMut(&mut [f32; 16])) {
        let mut f = f;
        for tile in 0..4 {
            let run = &mut x[(i / 8) << 12 | tile << 10 | (i % 8) << 7..][..128];
            run.as_chunks_mut::<16>().0.iter_mut().for_each(&mut f);
        }
    }
    for i in 0..64 {
        let mut max = [f32::MIN; 16];
        row(x, i, |x| (0..16).for_each(|k| max[k] = larger(max[k], x[k])));
        let max = max.into_iter().fold(f32::MIN, larger);
        row(x, i, |x| (0..16).for_each(|k| x[k] = exp(x[k] - max)));
        let mut sum = [0.0; 16];
        row(x, i, |x| (0..16).for_each(|k| sum[k] += x[k]));
        let factor = 1.0 / sum.into_iter().sum::<f32>();
        row(x, i, |x| (0..16).for_each(|k| x[k] *= factor));
    }
});

kernel!(softmax_bf16(x: ViewMut<'_, Bf16> | &mut [bf16; LEN]); {
    let mut x = x;
    x.for_each_band_mut::<-1>(|mut rows| {
        let max = rows.fold_lanes([f32::MIN; 16], |max, x| larger(max, f32_of(x)), larger);
        rows.apply_lanes(max, |x, max| bf16_of(exp(f32_of(x) - max)));
        let sum = rows.fold_lanes([0.0; 16], |sum, x| sum + f32_of(x), |a, b| a + b);
        rows.apply_lanes(sum.map(|sum| 1.0 / sum), |x, factor| bf16_of(f32_of(x) * factor));
    });
}, {
    #[inline(always)]
    fn rows(x: &mut [bf16; LEN], i: usize, f: impl FnMut(&mut [bf16; 16])) {
        let mut f = f;
        for tile in 0..4 {
            let run = &mut x[(i / 4) << 12 | tile << 10 | (i % 4) << 8..][..256];
            run.as_chunks_mut::<16>().0.iter_mut().for_each(&mut f);
        }
    }
    for i in 0..32 {
        let mut max = [f32::MIN; 16];
        rows(x, i, |x| (0..16).for_each(|k| max[k] = larger(max[k], f32_of(x[k]))));
        let max = [0, 1].map(|row| max.iter().skip(row).step_by(2).copied().fold(f32::MIN, larger));
        rows(x, i, |x| (0..16).for_each(|k| x[k] = bf16_of(exp(f32_of(x[k]) - max[k % 2]))));
        let mut sum = [0.0; 16];
        rows(x, i, |x| (0..16).for_each(|k| sum[k] += f32_of(x[k])));
        let factor = [0, 1].map(|row| 1.0 / sum.iter().skip(row).step_by(2).sum::<f32>());
        rows(x, i, |x| (0..16).for_each(|k| x[k] = bf16_of(f32_of(x[k]) * factor[k % 2])));
    }
});

type Cube = shape!(f32[16,16,130]);
const CUBE: usize = 16 * 16 * 130;

kernel!(stencil_27(x: View<'_, Cube> | &[f32; CUBE], y: ViewMut<'_, Cube> | &mut [f32; CUBE]); {
    let mut y = y;
    for z in 1..15 {
        for i in 1..15 {
            let line = |k: usize| x.line::<-1>([z + k / 3 - 1, i + k % 3 - 1, 0]);
            let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g), Some(h), Some(l)] =
                [0, 1, 2, 3, 4, 5, 6, 7, 8].map(line)
            else {
                return;
            };
            let Some(mut out) = y.line_mut::<-1>([z, i, 0]) else { return };
            for j in 1..129 {
                let sum = |shift: usize| {
                    let j = j + shift - 1;
                    a[j] + b[j] + c[j] + d[j] + e[j] + f[j] + g[j] + h[j] + l[j]
                };
                out[j] = sum(0) + sum(1) + sum(2);
            }
        }
    }
}, {
    for z in 1..15 {
        for i in 1..15 {
            let row = |k: usize| x[((z + k / 3 - 1) * 16 + i + k % 3 - 1) * 130..].first_chunk::<130>();
            let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g), Some(h), Some(l)] =
                [0, 1, 2, 3, 4, 5, 6, 7, 8].map(row)
            else {
                return;
            };
            let out = &mut y[(z * 16 + i) * 130..][..130];
            (1..129).for_each(|j| {
                let sum = |shift: usize| {
                    let j = j + shift - 1;
                    a[j] + b[j] + c[j] + d[j] + e[j] + f[j] + g[j] + h[j] + l[j]
                };
                out[j] = sum(0) + sum(1) + sum(2);
            });
        }
    }
});

type Matrix = shape!(f32[256,256]{1,0:T(8,128)});

kernel!(product(
    a: View<'_, Matrix> | &[f32; 65_536], b: View<'_, Matrix> | &[f32; 65_536],
    c: ViewMut<'_, Matrix> | &mut [f32; 65_536]
); {
    let mut c = c;
    for i in 0..256 {
        let (Some(mut sums), Some(factors)) = (c.line_mut::<-1>([i, 0]), a.line::<-1>([i, 0])) else { return };
        for k in 0..256 {
            let (factor, Some(row)) = (factors[k], b.line::<-1>([k, 0])) else { return };
            sums.apply_with(&row, |sum, b| sum + factor * b);
        }
    }
}, {
    let row = |i: usize, tile: usize| (i / 8) << 11 | tile << 10 | (i % 8) << 7;
    for i in 0..256 {
        for k in 0..256 {
            let factor = a[row(i, k / 128) + k % 128];
            for tile in 0..2 {
                let sums = &mut c[row(i, tile)..][..128];
                sums.iter_mut().zip(&b[row(k, tile)..][..128]).for_each(|(sum, b)| *sum += factor * b);
            }
        }
    }
});

kernel!(product_by_runs(
    a: View<'_, Matrix> | &[f32; 65_536], b: View<'_, Matrix> | &[f32; 65_536],
    c: ViewMut<'_, Matrix> | &mut [f32; 65_536]
); {
    let mut c = c;
    for i in 0..256 {
        let (Some(mut sums), Some(factors)) = (c.line_mut::<-1>([i, 0]), a.line::<-1>([i, 0])) else { return };
        for k in 0..256 {
            let (factor, Some(row)) = (factors[k], b.line::<-1>([k, 0])) else { return };
            for (sums, row) in runs((&mut sums, &row)) {
                sums.into_iter().zip(row).for_each(|(sum, b)| *sum += factor * b);
            }
        }
    }
}, {
    let row = |i: usize, tile: usize| (i / 8) << 11 | tile << 10 | (i % 8) << 7;
    for i in 0..256 {
        for k in 0..256 {
            let factor = a[row(i, k / 128) + k % 128];
            for tile in 0..2 {
                let (sums, b) = (&mut c[row(i, tile)..][..128], &b[row(k, tile)..][..128]);
                for j in 0..128 {
                    sums[j] += factor * b[j];
                }
            }
        }
    }
});

type Left = shape!(s8[64,512]{1,0:T(32,128)(4,1)});
type Right = shape!(s8[512,256]{1,0:T(32,128)(4,1)});
type Sums = shape!(s32[64,256]{1,0:T(8,128)});

/// A product of bytes, whose innermost loop `tests/tests/workspace/codegen.rs` checks.
#[inline(never)]
pub fn add_product(x: View<'_, Left>, w: View<'_, Right>, mut y: ViewMut<'_, Sums>) {
    y.add_product(&x, &w);
}

/// The larger of two numbers that are not NaN. This is one instruction.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
fn f32_of(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// The nearest bf16 of a number that is not NaN, ties to even.
#[inline(always)]
fn bf16_of(x: f32) -> bf16 {
    let bits = x.to_bits();
    bf16::from_bits((bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16)
}
