//! A stencil of 27 points, `out[z,y,x] = Σ in[z±1,y±1,x±1]`, where the nearest element stands for those beyond the array: by rows over a
//! row-major array, by windows over an array in tiles, and by hand over rows of fixed size.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --example stencil
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use std::hint::black_box;
use xla_shape::block::{Border, WindowError};
use xla_shape::iter::runs;
use xla_shape::{Buffer, View, ViewMut, shape};
use xla_shape_examples::{Numbers, check, shortest_times};

const Z: usize = 32;
const Y: usize = 64;
const X: usize = 256;

type RowMajor = shape!(f32[32,64,256]);
type Tiled = shape!(f32[32,64,256]{2,1,0:T(8,128)});
/// What is computed at a time, and what is read for it.
type Block = shape!(f32[8,16,256]{2,1,0:T(8,128)});
type Around = shape!(f32[10,18,258]);

/// By rows: each row is checked once.
fn by_rows(x: View<'_, RowMajor>, mut out: ViewMut<'_, RowMajor>) {
    let near = |i: usize, size: usize| [i.saturating_sub(1), i, (i + 1).min(size - 1)];
    for [z, y] in (0..Z).flat_map(|z| (0..Y).map(move |y| [z, y])) {
        let ([z0, z1, z2], [y0, y1, y2]) = (near(z, Z), near(y, Y));
        let rows = [[z0, y0], [z0, y1], [z0, y2], [z1, y0], [z1, y1], [z1, y2], [z2, y0], [z2, y1], [z2, y2]];
        let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g), Some(h), Some(i)] =
            rows.map(|[z, y]| x.line::<-1>([z, y, 0]))
        else {
            continue;
        };
        let sum = |x: usize| a[x] + b[x] + c[x] + d[x] + e[x] + f[x] + g[x] + h[x] + i[x];
        let Some(mut out) = out.line_mut::<-1>([z, y, 0]) else { continue };
        for x in 1..X - 1 {
            out[x] = sum(x - 1) + sum(x) + sum(x + 1);
        }
        out[0] = 2.0 * sum(0) + sum(1);
        out[X - 1] = sum(X - 2) + 2.0 * sum(X - 1);
    }
}

/// By windows: any layout of the arrays; the loops are over rows of a window, and over the runs that tiles cut a row of the block into.
fn by_windows(x: View<'_, Tiled>, mut out: ViewMut<'_, Tiled>) -> Result<(), WindowError> {
    for (x, mut out) in x.windows::<Block, Around>(Border::Clamp)?.zip(out.blocks_mut::<Block>()) {
        for [z, y] in (0..8).flat_map(|z| (0..16).map(move |y| [z, y])) {
            let rows = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|k| x.line::<-1>([z + k / 3, y + k % 3, 0]));
            let ([Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g), Some(h), Some(i)], Some(mut out)) =
                (rows, out.line_mut::<-1>([z, y, 0]))
            else {
                continue;
            };
            let sum = |x: usize| a[x] + b[x] + c[x] + d[x] + e[x] + f[x] + g[x] + h[x] + i[x];
            for ([start], mut out) in runs(&mut out).indexed() {
                for x in 0..out.len() {
                    out[x] = sum(start + x) + sum(start + x + 1) + sum(start + x + 2);
                }
            }
        }
    }
    Ok(())
}

/// The same as `by_rows`, over arrays.
#[expect(clippy::needless_range_loop, reason = "the same loop as in `by_rows`")]
fn by_hand(x: &[f32], out: &mut [f32]) {
    let near = |i: usize, size: usize| [i.saturating_sub(1), i, (i + 1).min(size - 1)];
    for [z, y] in (0..Z).flat_map(|z| (0..Y).map(move |y| [z, y])) {
        let ([z0, z1, z2], [y0, y1, y2]) = (near(z, Z), near(y, Y));
        let rows = [[z0, y0], [z0, y1], [z0, y2], [z1, y0], [z1, y1], [z1, y2], [z2, y0], [z2, y1], [z2, y2]];
        // As arrays: with slices, the compiler does not vectorize the loop, and it takes several times as long.
        let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g), Some(h), Some(i)] =
            rows.map(|[z, y]| x[(z * Y + y) * X..].first_chunk::<X>())
        else {
            continue;
        };
        let sum = |x: usize| a[x] + b[x] + c[x] + d[x] + e[x] + f[x] + g[x] + h[x] + i[x];
        let out = &mut out[(z * Y + y) * X..][..X];
        for x in 1..X - 1 {
            out[x] = sum(x - 1) + sum(x) + sum(x + 1);
        }
        out[0] = 2.0 * sum(0) + sum(1);
        out[X - 1] = sum(X - 2) + 2.0 * sum(X - 1);
    }
}

/// The definition, in f64.
fn expected(x: &Buffer<RowMajor>) -> Vec<f32> {
    let near = |i: usize, shift: usize, size: usize| (i + shift).saturating_sub(1).min(size - 1);
    let element = |[z, y, x_]: [usize; 3]| {
        let term = |k: usize| f64::from(x[[near(z, k / 9, Z), near(y, k / 3 % 3, Y), near(x_, k % 3, X)]]);
        (0..27).map(term).sum::<f64>() as f32
    };
    x.indexed_iter().map(|(index, _)| element(index)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(6);
    let x = Buffer::<RowMajor>::from_fn(|_| numbers.number());
    let tiled = x.map::<Tiled>(|x| x);
    let expected = expected(&x);
    let (mut rows, mut windows) = (Buffer::<RowMajor>::zeroed(), Buffer::<Tiled>::zeroed());
    let mut slices = vec![0.0; Z * Y * X];
    let mut done = Ok(());
    let [hand, by_rows, by_windows] = shortest_times(
        60,
        [
            &mut || by_hand(black_box(x.as_slice()), black_box(&mut slices)),
            &mut || by_rows(black_box(x.view()), black_box(rows.view_mut())),
            &mut || {
                let result = by_windows(black_box(tiled.view()), black_box(windows.view_mut()));
                done = done.and(result);
            },
        ],
    );
    done?;
    check("arrays, by hand", &slices, &expected, 1e-6)?;
    check("rows of a row-major array", &rows.to_row_major(), &expected, 1e-6)?;
    check("windows of an array in tiles", &windows.to_row_major(), &expected, 1e-6)?;
    println!("{:.2} ns per element by hand", 1e9 * hand / (Z * Y * X) as f64);
    println!("rows take {:.2} of the time by hand, windows {:.2}", by_rows / hand, by_windows / hand);
    Ok(())
}
