//! Products of square matrices in TPU tiles, beside crates that multiply row-major ones, on one thread.
//!
//! ```text
//! taskset -c 0 cargo run --release -p benches --bin products
//! ```
//!
//! `taskset` binds all to one core, because `rten-gemm` otherwise takes several.
//!
//! Contenders take turns, and the shortest time of each counts. Ours adds to the result, so each of its runs begins with zeros.

use half::bf16;
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, QuantParams};
use rten_tensor::NdTensorView;
use std::hint::black_box;
use std::time::Instant;
use xla_shape::element::{Bf16, F32, S8, S32};
use xla_shape::types::{Array, Size};
use xla_shape::{Buffer, layout};

type Matrix<E, const N: usize, L> = Array<E, (Size<N>, Size<N>), L>;
type Tiled = layout!({1,0:T(8,128)});

/// Runs the contenders in turns, ours first, and prints their speeds.
fn compare(size: usize, contenders: &mut [(&str, &mut dyn FnMut())]) {
    let work = 2.0 * (size as f64).powi(3) / 1e9;
    let mut best = vec![f64::INFINITY; contenders.len()];
    for _ in 0..(200.0 / work) as usize + 5 {
        for ((_, run), best) in contenders.iter_mut().zip(&mut best) {
            let start = Instant::now();
            run();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    for ((name, _), time) in contenders.iter().zip(&best) {
        println!("{size:>5}³  {name:<32} {:>6.0} G operations/s   ours / this {:.2}", work / time, time / best[0]);
    }
}

fn bytes<const N: usize>() {
    type Operand<const N: usize> = Matrix<S8, N, layout!({1,0:T(32,128)(4,1)})>;
    let x = Buffer::<Operand<N>>::from_fn(|[i, j]| (i * 31 + j * 17) as u8 as i8);
    // Seven bits: without VNNI, their kernel adds two products in 16 bits with saturation, which 2 · 255 · 64 does not reach.
    let w = Buffer::<Operand<N>>::from_fn(|[i, j]| ((i * 13 + j * 7) as u8 as i8) >> 1);
    let mut y = Buffer::<Matrix<S32, N, Tiled>>::zeroed();
    // Their left operand has no sign; 128 is its zero.
    let rows = x.to_row_major().into_iter().map(|x| x.cast_unsigned() ^ 0x80).collect::<Vec<_>>();
    let (columns, zeros) = (w.to_row_major(), vec![128_u8; N]);
    let mut theirs = vec![0_i32; N * N];
    let gemm = GemmExecutor::<u8, i8, i32>::default();
    let peer = format!("rten-gemm, {} (u8·i8)", gemm.kernel_name());
    compare(
        N,
        &mut [
            ("s8 tiles", &mut || {
                y.fill(0);
                y.add_product(black_box(&x), black_box(&w));
            }),
            (&peer, &mut || {
                let a = GemmInputA::Unpacked(NdTensorView::from_data([N, N], black_box(&rows[..])));
                let b = GemmInputB::Unpacked(NdTensorView::from_data([N, N], black_box(&columns[..])));
                let a_quant = Some(QuantParams { zero_point: &zeros });
                gemm.gemm(&mut theirs, a, b, GemmOptions { a_quant, ..Default::default() }).expect("sizes fit");
            }),
        ],
    );
    assert!(y.to_row_major() == theirs, "the products are not the same");
}

fn floats<const N: usize>() {
    let value = |i: usize, j: usize| ((i * 31 + j * 17) % 15) as f32 - 7.0;
    let x = Buffer::<Matrix<F32, N, Tiled>>::from_fn(|[i, j]| value(i, j));
    let w = Buffer::<Matrix<F32, N, Tiled>>::from_fn(|[i, j]| value(j, i));
    let x16 = Buffer::<Matrix<Bf16, N, layout!({1,0:T(8,128)(2,1)})>>::from_fn(|[i, j]| bf16::from_f32(value(i, j)));
    let w16 = Buffer::<Matrix<Bf16, N, layout!({1,0:T(8,128)(2,1)})>>::from_fn(|[i, j]| bf16::from_f32(value(j, i)));
    let (mut y, mut y16) = (Buffer::<Matrix<F32, N, Tiled>>::zeroed(), Buffer::<Matrix<F32, N, Tiled>>::zeroed());
    let (rows, columns) = (x.to_row_major(), w.to_row_major());
    let (mut theirs, mut others) = (ndarray::Array2::<f32>::zeros((N, N)), vec![0.0_f32; N * N]);
    let [a, b] = [&rows, &columns].map(|x| ndarray::ArrayView2::from_shape((N, N), x).expect("as many"));
    let gemm = GemmExecutor::<f32, f32, f32>::default();
    compare(
        N,
        &mut [
            ("f32 tiles", &mut || {
                y.fill(0.0);
                y.add_product(black_box(&x), black_box(&w));
            }),
            ("bf16 tiles", &mut || {
                y16.fill(0.0);
                y16.add_product(black_box(&x16), black_box(&w16));
            }),
            ("matrixmultiply", &mut || ndarray::linalg::general_mat_mul(1.0, black_box(&a), &b, 0.0, &mut theirs)),
            ("rten-gemm", &mut || {
                let a = GemmInputA::Unpacked(NdTensorView::from_data([N, N], black_box(&rows[..])));
                let b = GemmInputB::Unpacked(NdTensorView::from_data([N, N], black_box(&columns[..])));
                gemm.gemm(&mut others, a, b, GemmOptions::default()).expect("sizes fit");
            }),
        ],
    );
    // Sums of small integers are exact.
    assert!(y.to_row_major() == others && y == y16 && theirs.iter().eq(&others), "the products are not the same");
}

fn main() {
    bytes::<512>();
    bytes::<1024>();
    bytes::<2048>();
    floats::<512>();
    floats::<1024>();
    floats::<2048>();
}
