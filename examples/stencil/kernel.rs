//! The kernels, and the same computations written by hand.

use xla_shape::block::{Border, WindowError};
use xla_shape::iter::runs;
use xla_shape::{View, ViewMut, shape};

pub(crate) const Z: usize = 32;
pub(crate) const Y: usize = 64;
pub(crate) const X: usize = 256;

pub(crate) type RowMajor = shape!(f32[32,64,256]);
pub(crate) type Tiled = shape!(f32[32,64,256]{2,1,0:T(8,128)});
/// The block that is computed at a time, and the window that is read for it.
type Block = shape!(f32[8,16,256]{2,1,0:T(8,128)});
type Around = shape!(f32[10,18,258]);

/// By rows. The bounds of each row are checked only once.
pub(crate) fn by_rows(x: View<'_, RowMajor>, mut out: ViewMut<'_, RowMajor>) {
    let near = |i: usize, size: usize| [i.saturating_sub(1), i, (i + 1).min(size - 1)];
    for [z, y] in (0..Z).flat_map(|z| (0..Y).map(move |y| [z, y])) {
        let ([z0, z1, z2], [y0, y1, y2]) = (near(z, Z), near(y, Y));
        let rows = [[z0, y0], [z0, y1], [z0, y2], [z1, y0], [z1, y1], [z1, y2], [z2, y0], [z2, y1], [z2, y2]];
        let [a, b, c, d, e, f, g, h, i] = rows.map(|[z, y]| x.line::<-1>([z, y, 0]).expect("a row"));
        let sum = |x: usize| a[x] + b[x] + c[x] + d[x] + e[x] + f[x] + g[x] + h[x] + i[x];
        let mut out = out.line_mut::<-1>([z, y, 0]).expect("a row of the result");
        for x in 1..X - 1 {
            out[x] = sum(x - 1) + sum(x) + sum(x + 1);
        }
        out[0] = 2.0 * sum(0) + sum(1);
        out[X - 1] = sum(X - 2) + 2.0 * sum(X - 1);
    }
}

/// By windows, for arrays in any layout. The loops are over the rows of a window, and over the runs into which tiles cut a row of the block.
pub(crate) fn by_windows(x: View<'_, Tiled>, mut out: ViewMut<'_, Tiled>) -> Result<(), WindowError> {
    for (x, mut out) in x.windows::<Block, Around>(Border::Clamp)?.zip(out.blocks_mut::<Block>()) {
        for [z, y] in (0..8).flat_map(|z| (0..16).map(move |y| [z, y])) {
            let row = |k: usize| x.line::<-1>([z + k / 3, y + k % 3, 0]).expect("a row of the window");
            let [a, b, c, d, e, f, g, h, i] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(row);
            let mut out = out.line_mut::<-1>([z, y, 0]).expect("a row of the block");
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
pub(crate) fn by_hand(x: &[f32], out: &mut [f32]) {
    let near = |i: usize, size: usize| [i.saturating_sub(1), i, (i + 1).min(size - 1)];
    for [z, y] in (0..Z).flat_map(|z| (0..Y).map(move |y| [z, y])) {
        let ([z0, z1, z2], [y0, y1, y2]) = (near(z, Z), near(y, Y));
        let rows = [[z0, y0], [z0, y1], [z0, y2], [z1, y0], [z1, y1], [z1, y2], [z2, y0], [z2, y1], [z2, y2]];
        // The rows are arrays, because the compiler does not vectorize the loop over slices, which then takes several times as long.
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
