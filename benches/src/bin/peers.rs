//! The kernels of the examples, each compared with the same kernel written by hand, and with the best one that uses another crate, on one thread.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release --manifest-path benches/Cargo.toml --bin peers -- [FILTER]
//! ```
//!
//! Without `RAYON_NUM_THREADS`, `rten-gemm` uses several threads. Contenders take turns, and the shortest time of each counts. Their results are
//! compared. The attention and the products of bytes are in `products`.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayView3, ArrayView4, ArrayViewMut2, ArrayViewMut3, Axis, Zip, s};
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;
use std::hint::black_box;
use std::time::Instant;
use xla_shape::element::{F32, S4};
use xla_shape::types::{Array, Size};
use xla_shape::{Buffer, DynBuffer, View, layout, shape};

#[path = "../../../examples/dispatch/kernel.rs"]
mod dispatch;
#[path = "../../../examples/grouped_convolution/kernel.rs"]
mod grouped_convolution;
#[path = "../../../examples/int4_product/kernel.rs"]
mod int4_product;
#[path = "../../../examples/middle_sum/kernel.rs"]
mod middle_sum;
#[path = "../../../examples/ring_buffer/kernel.rs"]
mod ring_buffer;
#[path = "../../../examples/stencil/kernel.rs"]
mod stencil;

/// A contender: its name, and what it does.
type Contender<'a> = (&'a str, &'a mut dyn FnMut());

/// Prints the shortest time of each contender, and the first one's time relative to it.
fn compare(contenders: &mut [Contender<'_>]) {
    let mut best = vec![f64::INFINITY; contenders.len()];
    for _ in 0..300 {
        for ((_, run), best) in contenders.iter_mut().zip(&mut best) {
            let start = Instant::now();
            run();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    for ((name, _), time) in contenders.iter().zip(&best) {
        println!("  {name:<56} {:9.2} µs   ours / this {:.2}", 1e6 * time, best[0] / time);
    }
}

fn assert_close(name: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let scale = expected.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
    let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * scale;
    assert!(found.iter().zip(expected).all(is_close), "{name}: other results");
}

fn numbers() -> impl FnMut() -> f32 {
    let mut random = fastrand::Rng::with_seed(7);
    move || 2.0 * random.f32() - 1.0
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let cases: [(&str, fn()); 6] = [
        ("stencil of 27 points", stencil),
        ("sum over the middle dimension", middle_sum),
        ("attention over a ring of pages", ring_buffer),
        ("grouped convolution", grouped_convolution),
        ("product with weights of four bits", int4_product),
        ("dispatch", dispatch),
    ];
    for (name, run) in cases.iter().filter(|(name, _)| name.contains(&filter)) {
        println!("{name}");
        run();
    }
}

/// `ndarray` with the border copied around the array: the sums of nine rows, then of three neighbours.
fn stencil_by_ndarray(x: ArrayView3<'_, f32>, mut out: ArrayViewMut3<'_, f32>) {
    let (depth, height, width) = x.dim();
    let near = |i: usize, size: usize| [i.saturating_sub(1), i, (i + 1).min(size - 1)];
    let mut sums = ndarray::Array1::zeros(width + 2);
    for [z, y] in (0..depth).flat_map(|z| (0..height).map(move |y| [z, y])) {
        let mut inner = sums.slice_mut(s![1..=width]);
        inner.fill(0.0);
        for [z, y] in near(z, depth).into_iter().flat_map(|z| near(y, height).map(|y| [z, y])) {
            inner += &x.slice(s![z, y, ..]);
        }
        (sums[0], sums[width + 1]) = (sums[1], sums[width]);
        let [before, at, after] = [0, 1, 2].map(|i| sums.slice(s![i..i + width]));
        Zip::from(out.slice_mut(s![z, y, ..])).and(before).and(at).and(after).for_each(|out, a, b, c| *out = a + b + c);
    }
}

fn stencil() {
    use stencil::{RowMajor, Tiled, X, Y, Z, by_hand, by_rows, by_windows};
    let mut number = numbers();
    let x = Buffer::<RowMajor>::from_fn(|_| number());
    let tiled = x.map::<Tiled>(|x| x);
    let (mut rows, mut windows) = (Buffer::<RowMajor>::zeroed(), Buffer::<Tiled>::zeroed());
    let [mut hand, mut peer] = [(); 2].map(|()| vec![0.0; Z * Y * X]);
    let view = ArrayView3::from_shape((Z, Y, X), x.as_slice()).expect("the sizes");
    let mut contenders: [Contender<'_>; 4] = [
        ("rows, row-major", &mut || by_rows(black_box(x.view()), black_box(rows.view_mut()))),
        ("windows, tiles", &mut || {
            by_windows(black_box(tiled.view()), black_box(windows.view_mut())).expect("a border");
        }),
        ("by hand", &mut || by_hand(black_box(x.as_slice()), black_box(&mut hand))),
        ("ndarray", &mut || {
            let out = ArrayViewMut3::from_shape((Z, Y, X), black_box(&mut peer[..])).expect("the sizes");
            stencil_by_ndarray(black_box(view), out);
        }),
    ];
    compare(&mut contenders);
    assert_close("windows", &windows.to_row_major(), rows.as_slice());
    assert_close("by hand", &hand, rows.as_slice());
    assert_close("ndarray", &peer, rows.as_slice());
}

fn middle_sum() {
    use middle_sum::{by_hand, sum};
    type Sums<L> = Array<F32, (Size<16>, Size<512>), L>;
    let mut number = numbers();
    let x = Buffer::<shape!(f32[16,100,512])>::from_fn(|_| number());
    let tiled = x.map::<shape!(f32[16,100,512]{2,1,0:T(8,128)})>(|x| x);
    let mut plain = Buffer::<Sums<layout!({1,0})>>::zeroed();
    let mut tiles = Buffer::<Sums<layout!({1,0:T(8,128)})>>::zeroed();
    let mut hand = vec![0.0; 16 * 512];
    let view = ArrayView3::from_shape((16, 100, 512), x.as_slice()).expect("the sizes");
    let mut peer = ndarray::Array2::zeros((16, 512));
    let mut contenders: [Contender<'_>; 4] = [
        ("row-major", &mut || sum(black_box(x.view()), black_box(plain.view_mut()))),
        ("tiles", &mut || sum(black_box(tiled.view()), black_box(tiles.view_mut()))),
        ("by hand", &mut || by_hand(black_box(x.as_slice()), black_box(&mut hand), black_box([100, 512]))),
        ("ndarray, sum_axis", &mut || peer = black_box(view).sum_axis(Axis(1))),
    ];
    compare(&mut contenders);
    assert_close("tiles", &tiles.to_row_major(), plain.as_slice());
    assert_close("by hand", &hand, plain.as_slice());
    assert_close("ndarray", peer.as_slice().expect("row-major"), plain.as_slice());
}

fn ring_buffer() {
    use ring_buffer::{CAPACITY, D, PAGE, PAGES, Ring, by_hand, pages, weigh};
    let mut number = numbers();
    let mut ring = Ring { keys: Buffer::zeroed(), values: Buffer::zeroed(), end: 0 };
    for _ in 0..2 * CAPACITY + 300 {
        let [key, value] = [(); 2].map(|()| [(); D].map(|()| number()));
        ring.push(&key, &value);
    }
    let query = [(); D].map(|()| number());
    let (plain_keys, plain_values) = (ring.keys.to_row_major(), ring.values.to_row_major());
    let keys = ArrayView3::from_shape((PAGES, D, PAGE), &plain_keys).expect("the sizes");
    let values = ArrayView3::from_shape((PAGES, PAGE, D), &plain_values).expect("the sizes");
    let by_ndarray = |window: usize| {
        let (mut out, mut total, mut max) = (ndarray::Array1::<f32>::zeros(D), 0.0, f32::MIN);
        for (page, rows) in pages(ring.end - window..ring.end) {
            let mut scores = ndarray::Array1::zeros(rows.len());
            let keys = keys.slice(s![page, .., rows.clone()]);
            query.iter().zip(keys.outer_iter()).for_each(|(factor, keys)| scores.scaled_add(*factor, &keys));
            let shrink = weigh(scores.as_slice_mut().expect("contiguous"), &mut max);
            total = total * shrink + scores.sum();
            out *= shrink;
            let values = values.slice(s![page, rows, ..]);
            scores.iter().zip(values.outer_iter()).for_each(|(weight, values)| out.scaled_add(*weight, &values));
        }
        out / total
    };
    let [mut ours, mut hand, mut peer] = [[0.0; D]; 3];
    let mut contenders: [Contender<'_>; 3] = [
        ("tiles", &mut || ours = black_box(&ring).attend(&query, black_box(1000))),
        ("by hand", &mut || {
            hand = by_hand(black_box(&plain_keys), black_box(&plain_values), ring.end, &query, black_box(1000));
        }),
        ("ndarray, slices of pages", &mut || {
            peer.copy_from_slice(by_ndarray(black_box(1000)).as_slice().expect("contiguous"));
        }),
    ];
    compare(&mut contenders);
    assert_close("by hand", &hand, &ours);
    assert_close("ndarray", &peer, &ours);
}

fn grouped_convolution() {
    use grouped_convolution::{
        BATCH, GROUPS, INPUTS, Image, Kernel, OUTPUTS, Output, SIZE, by_hand, convolution, place,
    };
    const TERMS: usize = 9 * INPUTS;
    let mut number = numbers();
    let image = Buffer::<Image>::from_fn(|_| number());
    let kernel = Buffer::<Kernel>::from_fn(|_| number());
    let mut ours = Buffer::<Output>::zeroed();
    let (plain_image, plain_kernel) = (image.to_row_major(), kernel.to_row_major());
    let [mut hand, mut peer] = [(); 2].map(|()| vec![0.0; BATCH * SIZE * SIZE * GROUPS * OUTPUTS]);
    let view = ArrayView4::from_shape((BATCH, SIZE, SIZE, GROUPS * INPUTS), &plain_image).expect("the sizes");
    let weights = ArrayView2::from_shape((TERMS, GROUPS * OUTPUTS), &plain_kernel).expect("the sizes");
    let mut columns = ndarray::Array2::zeros((BATCH * SIZE * SIZE, TERMS));
    // The elements that a group reads for a place of the output form a row of a matrix (im2col), which is multiplied by the group's weights.
    let mut by_ndarray = |peer: &mut [f32]| {
        let mut out = ArrayViewMut2::from_shape((BATCH * SIZE * SIZE, GROUPS * OUTPUTS), peer).expect("the sizes");
        for group in 0..GROUPS {
            let inputs = group * INPUTS..(group + 1) * INPUTS;
            for (i, mut terms) in columns.outer_iter_mut().enumerate() {
                let [batch, row, column] = [i / SIZE / SIZE, i / SIZE % SIZE, i % SIZE];
                for (tap, mut terms) in terms.exact_chunks_mut(INPUTS).into_iter().enumerate() {
                    match place(row, tap / 3).zip(place(column, tap % 3)) {
                        Some((y, x)) => terms.assign(&view.slice(s![batch, y, x, inputs.clone()])),
                        None => terms.fill(0.0),
                    }
                }
            }
            let outputs = s![.., group * OUTPUTS..(group + 1) * OUTPUTS];
            general_mat_mul(1.0, &columns, &weights.slice(outputs), 0.0, &mut out.slice_mut(outputs));
        }
    };
    let mut contenders: [Contender<'_>; 3] = [
        ("blocks of tiles", &mut || {
            convolution(black_box(image.view()), black_box(kernel.view()), black_box(ours.view_mut()));
        }),
        ("by hand", &mut || by_hand(black_box(&plain_image), black_box(&plain_kernel), black_box(&mut hand))),
        ("ndarray and matrixmultiply, im2col", &mut || by_ndarray(black_box(&mut peer))),
    ];
    compare(&mut contenders);
    assert_close("by hand", &hand, &ours.to_row_major());
    assert_close("ndarray", &peer, &ours.to_row_major());
}

fn int4_product() {
    use int4_product::{GROUP, K, M, N, Scales, Weights, Words, X, Y, by_hand, product};
    let mut number = numbers();
    let x = Buffer::<X>::from_fn(|_| number());
    let scales = Buffer::<Scales>::from_fn(|_| 0.1 + number().abs());
    let weights = Buffer::<Weights>::from_fn(|_| S4::new((7.9 * number()).round() as i8).unwrap_or_default());
    let q = weights.to_row_major();
    let packed = Buffer::<shape!(s4[K,N]{1,0:E(4)})>::from_fn(|[k, n]| q[k * N + n]);
    let (packed, words) = (packed.as_bytes(), View::<Words>::from_bytes(weights.as_bytes()).expect("words"));
    let (plain_x, plain_scales) = (x.to_row_major(), scales.to_row_major());
    let mut ours = Buffer::<Y>::zeroed();
    let [mut hand, mut unpacked, mut peer] = [vec![0.0; M * N], vec![0.0; K * N], vec![0.0; M * N]];
    let gemm = GemmExecutor::<f32, f32, f32>::default();
    let mut contenders: [Contender<'_>; 3] = [
        ("words of eight weights", &mut || {
            product(black_box(x.view()), black_box(words), black_box(scales.view()), black_box(ours.view_mut()));
        }),
        ("by hand", &mut || {
            by_hand(black_box(&plain_x), black_box(packed), black_box(&plain_scales), black_box(&mut hand));
        }),
        ("unpacked to f32, then rten-gemm", &mut || {
            let rows = unpacked.chunks_exact_mut(N).zip(black_box(packed).chunks_exact(N / 2)).enumerate();
            for (k, (row, bytes)) in rows {
                let scales = plain_scales[k / GROUP * N..][..N].chunks_exact(2);
                for ((w, byte), scale) in row.chunks_exact_mut(2).zip(bytes).zip(scales) {
                    w[0] = f32::from((byte << 4).cast_signed() >> 4) * scale[0];
                    w[1] = f32::from(byte.cast_signed() >> 4) * scale[1];
                }
            }
            let a = GemmInputA::Unpacked(NdTensorView::from_data([M, K], black_box(&plain_x[..])));
            let b = GemmInputB::Unpacked(NdTensorView::from_data([K, N], &unpacked[..]));
            gemm.gemm(black_box(&mut peer), a, b, GemmOptions::default()).expect("the sizes");
        }),
    ];
    compare(&mut contenders);
    assert_close("by hand", &hand, &ours.to_row_major());
    assert_close("rten-gemm", &peer, &ours.to_row_major());
}

fn dispatch() {
    use dispatch::{Factors, Usual, scale};
    let usual = || Buffer::<Usual>::filled(1.0);
    let factors = Buffer::<Factors>::from_fn(|[j]| 1.0 + j as f32 / 1e9);
    let (mut typed, mut ours) = (usual(), usual().into_dyn());
    let dynamic: DynBuffer = factors.clone().into_dyn();
    let mut contenders: [Contender<'_>; 2] = [
        ("dispatched", &mut || {
            scale(black_box(&mut ours), black_box(&dynamic)).expect("a kernel");
        }),
        ("the kernel alone", &mut || {
            black_box(&mut typed).apply_along::<-1, _, _>(black_box(&factors), |x, factor| x * factor);
        }),
    ];
    compare(&mut contenders);
}
