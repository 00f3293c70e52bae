//! A matrix product directly on tiled arrays, compared with the crate `matrixmultiply` on row-major copies.
//!
//! Fast kernels pack their operands into panels of a few rows; a tile of `T(8,128)` already is such a panel, of eight rows. The kernel takes 8
//! rows of the left operand and 32 columns of the right one at a time, both as f32, and keeps their 256 sums in registers. bf16 tiles, in
//! which pairs of rows alternate, are converted to f32 while they are packed: once, not for each use.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --features ndarray --bin matmul
//! ```
//!
//! `vector::run` compiles the product for several sets of vector instructions, and runs the version for the machine.

#![forbid(unsafe_code)]

use half::bf16;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};
use xla_shape::element::{Bf16, F32, Plain};
use xla_shape::iter::NestedArray;
use xla_shape::types::{Array, ArrayType, LayoutType, Size};
use xla_shape::vector::{self, Kernel, Machine};
use xla_shape::{Buffer, View, ViewMut, layout, shape};
use xla_shape_examples::Numbers;

/// The rows of a tile.
const ROWS: usize = 8;
/// The columns of a tile.
const LANES: usize = 128;
/// The columns that the kernel processes at a time.
const COLUMNS: usize = 32;

/// The tile types of operands, and the conversion of their elements to f32.
trait Operand: Plain {
    type Tile: NestedArray<Self::Value>;

    /// A row of the tile, beginning at this column, as f32.
    fn row(tile: &Self::Tile, row: usize, start: usize) -> [f32; COLUMNS];
}

impl Operand for F32 {
    type Tile = [[f32; LANES]; ROWS];

    #[inline(always)]
    fn row(tile: &Self::Tile, row: usize, start: usize) -> [f32; COLUMNS] {
        std::array::from_fn(|column| tile[row][start + column])
    }
}

impl Operand for Bf16 {
    /// `T(8,128)(2,1)`: the elements of two rows alternate.
    type Tile = [[[bf16; 2]; LANES]; ROWS / 2];

    #[inline(always)]
    fn row(tile: &Self::Tile, row: usize, start: usize) -> [f32; COLUMNS] {
        // A bf16 is the upper half of an f32.
        std::array::from_fn(|column| f32::from_bits(u32::from(tile[row / 2][start + column][row % 2].to_bits()) << 16))
    }
}

type Matrix<E, const M: usize, const N: usize, L> = Array<E, (Size<M>, Size<N>), L>;

type Tiled = layout!({1,0:T(8,128)});

/// `out = lhs · rhs`; the sizes are multiples of those of the tiles.
struct Product<'a, E, L, const M: usize, const K: usize, const N: usize> {
    lhs: View<'a, Matrix<E, M, K, L>>,
    rhs: View<'a, Matrix<E, K, N, L>>,
    out: ViewMut<'a, Matrix<F32, M, N, Tiled>>,
}

impl<E: Operand, L: LayoutType, const M: usize, const K: usize, const N: usize> Kernel for Product<'_, E, L, M, K, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Machine>(self) {
        matmul::<V, E, L, M, K, N>(self);
    }
}

#[inline(always)]
fn matmul<V: Machine, E: Operand, L: LayoutType, const M: usize, const K: usize, const N: usize>(
    Product { lhs, rhs, mut out }: Product<'_, E, L, M, K, N>,
) {
    const { assert!(M.is_multiple_of(ROWS) && K.is_multiple_of(LANES) && N.is_multiple_of(LANES), "whole tiles") };
    // The left operand, packed eight rows at a time: for each column, the values of the eight rows.
    let mut left = vec![[[0.0_f32; ROWS]; K]; M / ROWS];
    for tile in lhs.tiles::<E::Tile>() {
        let [i, k] = tile.origin;
        for row in 0..ROWS {
            for start in (0..LANES).step_by(COLUMNS) {
                let values = E::row(tile.elements, row, start);
                let columns = &mut left[i / ROWS][k + start..][..COLUMNS];
                columns.iter_mut().zip(values).for_each(|(column, value)| column[row] = value);
            }
        }
    }
    let rhs = rhs.as_tiles::<E::Tile>();
    let out = out.as_mut_tiles::<[[f32; LANES]; ROWS]>();
    let mut right = vec![[0.0_f32; COLUMNS]; K];
    for j in 0..N / LANES {
        for start in (0..LANES).step_by(COLUMNS) {
            for (tile, rows) in rhs[j..].iter().step_by(N / LANES).zip(right.as_chunks_mut::<ROWS>().0) {
                rows.iter_mut().enumerate().for_each(|(row, values)| *values = E::row(tile, row, start));
            }
            for (i, left) in left.iter().enumerate() {
                let sums = kernel::<V>(left, &right);
                for (row, sums) in out[i * (N / LANES) + j].iter_mut().zip(sums) {
                    row[start..start + COLUMNS].copy_from_slice(&sums);
                }
            }
        }
    }
}

/// The product of eight rows and `COLUMNS` columns.
///
/// Each row of sums is a separate variable, because the compiler would not keep an array of rows in registers.
#[inline(always)]
fn kernel<V: Machine>(left: &[[f32; ROWS]], right: &[[f32; COLUMNS]]) -> [[f32; COLUMNS]; ROWS] {
    let zeros = [0.0; COLUMNS];
    let [mut a, mut b, mut c, mut d] = [zeros; 4];
    let [mut e, mut f, mut g, mut h] = [zeros; 4];
    for (x, row) in left.iter().zip(right) {
        add::<V>(&mut a, x[0], row);
        add::<V>(&mut b, x[1], row);
        add::<V>(&mut c, x[2], row);
        add::<V>(&mut d, x[3], row);
        add::<V>(&mut e, x[4], row);
        add::<V>(&mut f, x[5], row);
        add::<V>(&mut g, x[6], row);
        add::<V>(&mut h, x[7], row);
    }
    [a, b, c, d, e, f, g, h]
}

#[inline(always)]
fn add<V: Machine>(sums: &mut [f32; COLUMNS], factor: f32, row: &[f32; COLUMNS]) {
    sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum = V::mul_add(factor, value, *sum));
}

const SIZE: usize = 512;

/// Runs both kernels alternately, and prints their speeds.
fn compare<E: Operand, L: LayoutType>(
    value: impl Fn(f32) -> E::Value,
    number: impl Fn(E::Value) -> f32,
) -> Result<(), Box<dyn Error>>
where
    Matrix<E, SIZE, SIZE, L>: ArrayType<Element = E, Index = [usize; 2]>,
{
    let mut numbers = Numbers::new(3);
    let mut random = || Buffer::<Matrix<E, SIZE, SIZE, L>>::from_fn(|_| value(numbers.number()));
    let [lhs, rhs] = [random(), random()];
    let mut out = Buffer::<shape!(f32[SIZE,SIZE]{1,0:T(8,128)})>::zeroed();
    let row_major =
        |x: &Buffer<Matrix<E, SIZE, SIZE, L>>| x.to_row_major().into_iter().map(&number).collect::<Vec<_>>();
    let lhs_row_major = row_major(&lhs);
    let rhs_row_major = ndarray::Array2::from_shape_vec((SIZE, SIZE), row_major(&rhs))?;
    let lhs_row_major = ndarray::Array2::from_shape_vec((SIZE, SIZE), lhs_row_major)?;
    let mut expected = ndarray::Array2::<f32>::zeros((SIZE, SIZE));

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..51 {
        let (lhs, rhs) = (black_box(&lhs).view(), black_box(&rhs).view());
        ours.push(time(|| vector::run(Product { lhs, rhs, out: out.view_mut() })));
        theirs.push(time(|| {
            // The crate `ndarray` multiplies with `matrixmultiply`.
            ndarray::linalg::general_mat_mul(
                1.0,
                black_box(&lhs_row_major),
                black_box(&rhs_row_major),
                0.0,
                &mut expected,
            );
        }));
    }
    let expected = expected.into_raw_vec_and_offset().0;
    let close = |(a, b): (f32, &f32)| (a - b).abs() <= 1e-3;
    if !out.iter().zip(&expected).all(close) {
        return Err("the products are not the same".into());
    }
    // Take the best time of each, because disturbances only make a run longer.
    let [ours, theirs] = [ours, theirs].map(|times: Vec<Duration>| {
        2.0 * (SIZE * SIZE * SIZE) as f64 / times.into_iter().min().unwrap_or_default().as_secs_f64() / 1e9
    });
    println!(
        "{ours:>8.0} GFLOP/s on {} tiles, {theirs:.0} by matrixmultiply on f32 rows: {:.2}",
        <E as xla_shape::element::Element>::TYPE,
        ours / theirs
    );
    Ok(())
}

fn time(f: impl FnOnce()) -> Duration {
    let start = Instant::now();
    f();
    start.elapsed()
}

fn main() -> Result<(), Box<dyn Error>> {
    compare::<F32, layout!({1,0:T(8,128)})>(|x| x, |x| x)?;
    compare::<Bf16, layout!({1,0:T(8,128)(2,1)})>(bf16::from_f32, bf16::to_f32)
}
