//! Products of matrices in TPU tiles, compared with crates that multiply row-major ones; and attention. All on one thread.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release --manifest-path benches/Cargo.toml --bin products -- [FILTER]
//! ```
//!
//! Without `RAYON_NUM_THREADS`, `rten-gemm` uses several threads. Cases whose name does not contain the filter are skipped.
//!
//! Contenders take turns, and the shortest time of each counts: the processor time of all threads, which other programs disturb less than wall-clock
//! time. Our product adds to the result, so each of its runs begins with zeros.

use half::bf16;
use ndarray::linalg::general_mat_mul;
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, QuantParams};
use rten_tensor::NdTensorView;
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use xla_shape::element::{Bf16, F32, S8, S32};
use xla_shape::relayout::Vectors;
use xla_shape::types::{Array, Size};
use xla_shape::{Buffer, layout};

#[path = "../../../examples/attention/kernel.rs"]
mod attention;

type Matrix<E, const M: usize, const N: usize, L> = Array<E, (Size<M>, Size<N>), L>;
type Tiled = layout!({1,0:T(8,128)});
type Pairs = layout!({1,0:T(8,128)(2,1)});
type Groups = layout!({1,0:T(32,128)(4,1)});

/// The processor time of this process, in seconds.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The shortest times, and how many operations a contender does.
fn compare(what: &str, operations: usize, contenders: &mut [(&str, &mut dyn FnMut())]) {
    if std::env::args().nth(1).is_some_and(|filter| !what.contains(&filter)) {
        return;
    }
    let work = operations as f64 / 1e9;
    let mut best = vec![f64::INFINITY; contenders.len()];
    for _ in 0..((40.0 / work) as usize).min(2000) + 4 {
        for ((_, run), best) in contenders.iter_mut().zip(&mut best) {
            let start = processor_time();
            run();
            *best = best.min(processor_time() - start);
        }
    }
    println!("{what}");
    let own = contenders.iter().zip(&best).filter(|((name, _), _)| name.starts_with("tiles"));
    let own = own.map(|(_, time)| *time).collect::<Vec<_>>();
    for ((name, _), time) in contenders.iter().zip(&best) {
        let ratios = own.iter().map(|own| format!("{:>6.2}", time / own)).collect::<String>();
        println!("  {name:<44} {:>6.0} G operations/s   tiles / this{ratios}", work / time);
    }
}

fn bytes<const M: usize, const K: usize, const N: usize>() {
    let x = Buffer::<Matrix<S8, M, K, Groups>>::from_fn(|[i, j]| (i * 31 + j * 17) as u8 as i8);
    // Values have seven bits. Without VNNI, rten-gemm's kernel adds two products in 16 bits with saturation; 2 · 255 · 64 is still below the limit.
    let w = Buffer::<Matrix<S8, K, N, Groups>>::from_fn(|[i, j]| ((i * 13 + j * 7) as u8 as i8) >> 1);
    let mut y = Buffer::<Matrix<S32, M, N, Tiled>>::zeroed();
    // The left operand of rten-gemm is unsigned, and 128 stands for zero.
    let rows = x.to_row_major().into_iter().map(|x| x.cast_unsigned() ^ 0x80).collect::<Vec<_>>();
    let (columns, zeros) = (w.to_row_major(), vec![128_u8; M]);
    let mut theirs = vec![0_i32; M * N];
    let gemm = GemmExecutor::<u8, i8, i32>::default();
    let peer = format!("rten-gemm, {} (u8·i8)", gemm.kernel_name());
    compare(
        &format!("{M} × {K} × {N}, bytes"),
        2 * M * K * N,
        &mut [
            ("tiles of s8", &mut || {
                y.fill(0);
                y.add_product(black_box(&x), black_box(&w));
            }),
            (&peer, &mut || {
                let a = GemmInputA::Unpacked(NdTensorView::from_data([M, K], black_box(&rows[..])));
                let b = GemmInputB::Unpacked(NdTensorView::from_data([K, N], black_box(&columns[..])));
                let a_quant = Some(QuantParams { zero_point: &zeros });
                gemm.gemm(&mut theirs, a, b, GemmOptions { a_quant, ..Default::default() }).expect("sizes fit");
            }),
        ],
    );
    assert!(y.to_row_major() == theirs, "the products are not the same");
}

/// Computes one row of the result after the other.
fn loops([k, n]: [usize; 2], a: &[f32], b: &[f32], c: &mut [f32]) {
    c.fill(0.0);
    for (a, c) in a.chunks_exact(k).zip(c.chunks_exact_mut(n)) {
        for (a, b) in a.iter().zip(b.chunks_exact(n)) {
            c.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
    }
}

fn floats<const M: usize, const K: usize, const N: usize>() {
    let value = |i: usize, j: usize| ((i * 31 + j * 17) % 15) as f32 - 7.0;
    let x = Buffer::<Matrix<F32, M, K, Tiled>>::from_fn(|[i, j]| value(i, j));
    let w = Buffer::<Matrix<F32, K, N, Tiled>>::from_fn(|[i, j]| value(j, i));
    let x16 = Buffer::<Matrix<Bf16, M, K, Pairs>>::from_fn(|[i, j]| bf16::from_f32(value(i, j)));
    let w16 = Buffer::<Matrix<Bf16, K, N, Pairs>>::from_fn(|[i, j]| bf16::from_f32(value(j, i)));
    let [mut y, mut y16] = [(); 2].map(|()| Buffer::<Matrix<F32, M, N, Tiled>>::zeroed());
    let (rows, columns) = (x.to_row_major(), w.to_row_major());
    let [mut by_rten, mut by_loops] = [(); 2].map(|()| vec![0.0_f32; M * N]);
    let mut theirs = ndarray::Array2::<f32>::zeros((M, N));
    let a = ndarray::ArrayView2::from_shape((M, K), &rows).expect("as many");
    let b = ndarray::ArrayView2::from_shape((K, N), &columns).expect("as many");
    let rten = GemmExecutor::<f32, f32, f32>::default();
    let small = M <= 64;
    let mut contenders: Vec<(&str, &mut dyn FnMut())> = Vec::new();
    let mut tiles = || {
        y.fill(0.0);
        y.add_product(black_box(&x), black_box(&w));
    };
    let mut tiles16 = || {
        y16.fill(0.0);
        y16.add_product(black_box(&x16), black_box(&w16));
    };
    let mut matrixmultiply = || general_mat_mul(1.0, black_box(&a), &b, 0.0, &mut theirs);
    let mut rten = || {
        let a = GemmInputA::Unpacked(NdTensorView::from_data([M, K], black_box(&rows[..])));
        let b = GemmInputB::Unpacked(NdTensorView::from_data([K, N], black_box(&columns[..])));
        rten.gemm(&mut by_rten, a, b, GemmOptions::default()).expect("sizes fit");
    };
    let mut loops = || loops([K, N], black_box(&rows), &columns, &mut by_loops);
    contenders.push(("tiles of f32", &mut tiles));
    contenders.push(("tiles of bf16", &mut tiles16));
    contenders.push(("matrixmultiply, f32", &mut matrixmultiply));
    contenders.push(("rten-gemm, f32", &mut rten));
    if small {
        contenders.push(("plain loops, f32", &mut loops));
    }
    compare(&format!("{M} × {K} × {N}, floats (ratios: f32, bf16)"), 2 * M * K * N, &mut contenders);
    // Sums of small integers are exact.
    assert!(y == y16 && theirs.iter().eq(&by_rten), "the products are not the same");
    assert!(y.to_row_major() == by_rten, "the products are not the same");
    assert!(!small || by_loops == by_rten, "the products are not the same");
}

/// Attention of one head, compared with products of whole matrices alone. The first are the two products of attention, one in bf16 and one in
/// f32. The second are two products in f32, which is the faster one of the two.
fn attend<const N: usize, const D: usize>() {
    use attention::Heads;
    let value = |i: usize, j: usize| bf16::from_f32(((i * 31 + j * 17) % 15) as f32 / 7.0 - 1.0);
    let [q, k, v] = [1, 2, 3].map(|seed| Buffer::<Heads<1, N, D>>::from_fn(|[_, i, j]| value(i + seed, seed * j)));
    let mut out = Buffer::<Heads<1, N, D>>::zeroed();
    let queries = Buffer::<Matrix<Bf16, N, D, Pairs>>::from_fn(|[i, j]| value(i, j));
    let keys = Buffer::<Matrix<Bf16, D, N, Pairs>>::from_fn(|[i, j]| value(i, j));
    let mut scores = Buffer::<Matrix<F32, N, N, Tiled>>::zeroed();
    let weights = Buffer::<Matrix<F32, N, N, Tiled>>::from_fn(|[i, j]| value(i, j).to_f32());
    let values = Buffer::<Matrix<F32, N, D, Tiled>>::from_fn(|[i, j]| value(i, j).to_f32());
    let [mut sums, mut twice] = [(); 2].map(|()| Buffer::<Matrix<F32, N, D, Tiled>>::zeroed());
    compare(
        &format!("attention of {N} positions, {D} numbers each"),
        4 * N * N * D,
        &mut [
            ("tiles: softmax(q · kᵀ) · v", &mut || {
                attention::attention(black_box(&q).view(), k.view(), v.view(), out.view_mut());
            }),
            ("only its products", &mut || {
                scores.add_product(black_box(&queries), &keys);
                sums.add_product(black_box(&weights), &values);
            }),
            ("twice the second one, of f32", &mut || {
                twice.add_product(black_box(&weights), &values);
                twice.add_product(black_box(&weights), &values);
            }),
        ],
    );
}

/// The processor, as Linux names it.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    format!("{}, {:?}", name.trim_start_matches([' ', '\t', ':']), Vectors::detect())
}

fn main() {
    println!("{}", machine());
    bytes::<10, 512, 256>();
    bytes::<512, 512, 512>();
    bytes::<1024, 1024, 1024>();
    bytes::<2048, 2048, 2048>();
    floats::<1, 512, 256>();
    floats::<10, 512, 256>();
    floats::<512, 512, 512>();
    floats::<1024, 1024, 1024>();
    floats::<2048, 2048, 2048>();
    attend::<17, 128>();
    attend::<256, 128>();
    attend::<512, 128>();
    attend::<1024, 128>();
    attend::<4096, 128>();
    attend::<512, 64>();
    attend::<1024, 64>();
    attend::<4096, 64>();
}
