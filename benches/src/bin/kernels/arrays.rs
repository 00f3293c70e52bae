//! Kernels over whole arrays: the library's kernels over tiled and row-major arrays, loops by hand, and `ndarray`.

use crate::numbers::{Number, larger};
use crate::turn::Turn;
use crate::walk::{self, Flat, LANES, Pairs, Rows, StridedRows, Tiled, Walk};
use crate::{Case, Ratio};
use ndarray::{Array2, Zip};
use std::hint::black_box;
use xla_shape::types::{StaticArray, ValueOf};
use xla_shape::vector::exp;
use xla_shape::{Buffer, shape};

/// The shapes for which the library's kernels are written: any layout.
pub(crate) trait Shape: StaticArray<Element: Number> {}
impl<S: StaticArray<Element: Number>> Shape for S {}

pub(crate) fn value(i: usize, j: usize) -> f32 {
    (i * 7 + j * 13) as f32 % 29.0 / 8.0
}

fn array<S: StaticArray<Element: Number, Index = [usize; 2]>>() -> Buffer<S> {
    Buffer::from_fn(|index: [usize; 2]| S::Element::of(value(index[0], index[1])))
}

pub(crate) fn to_f32<S: Shape>(x: &Buffer<S>) -> Vec<f32> {
    x.to_row_major().into_iter().map(S::Element::f32).collect()
}

#[inline(never)]
fn fill<S: Shape>(x: &mut Buffer<S>, value: ValueOf<S>) {
    x.fill(value);
}

#[inline(never)]
fn sum<S: Shape>(x: &Buffer<S>) -> f32 {
    x.fold_lanes([0.0; LANES], |sum, x| sum + S::Element::f32(x)).iter().sum()
}

#[inline(never)]
fn scale<S: Shape>(x: &mut Buffer<S>, factor: f32) {
    x.apply(|x| S::Element::of(factor * S::Element::f32(x)));
}

#[inline(never)]
fn axpy<S: Shape>(a: f32, x: &Buffer<S>, y: &mut Buffer<S>) {
    y.apply_with(x, |y, x| S::Element::of(a * S::Element::f32(x) + S::Element::f32(y)));
}

#[inline(never)]
fn softmax<S: Shape>(x: &mut Buffer<S>) {
    let (from, to) = (S::Element::f32, S::Element::of);
    x.for_each_band_mut::<-1>(|mut rows| {
        let max = rows.fold_lanes([f32::MIN; LANES], |max, x| larger(max, from(x)), larger);
        rows.apply_lanes(max, |x, max| to(exp(from(x) - max)));
        let sum = rows.fold_lanes([0.0; LANES], |sum, x| sum + from(x), |a, b| a + b);
        rows.apply_lanes(sum.map(|sum| 1.0 / sum), |x, factor| to(from(x) * factor));
    });
}

/// With these values, the numbers stay nearly the same, however often the kernels run.
const FACTOR: f32 = -1.0;
const A: f32 = 1e-6;

/// The library's five kernels over `S`.
fn library<S: StaticArray<Element: Number, Index = [usize; 2]>>(kernel: &str) -> crate::turn::Contender {
    let (mut x, mut y) = (array::<S>(), array::<S>());
    match kernel {
        "fill" => Box::new(move |turn: &mut Turn| {
            turn.time(|| fill(black_box(&mut x), black_box(S::Element::of(1.5))));
            turn.result(|| to_f32(&x))
        }),
        "sum" => Box::new(move |turn| {
            let mut total = 0.0;
            turn.time(|| total = black_box(sum(black_box(&x))));
            turn.result(|| vec![total])
        }),
        "scale" => Box::new(move |turn| {
            turn.time(|| scale(black_box(&mut x), black_box(FACTOR)));
            turn.result(|| to_f32(&x))
        }),
        "axpy" => Box::new(move |turn| {
            turn.time(|| axpy(black_box(A), black_box(&x), black_box(&mut y)));
            turn.result(|| to_f32(&y))
        }),
        _ => Box::new(move |turn| {
            turn.time(|| softmax(black_box(&mut x)));
            turn.result(|| to_f32(&x))
        }),
    }
}

/// The five kernels by hand over memory of shape `S`, in the order of `W`.
pub(crate) fn by_hand<S, W>(kernel: &str) -> crate::turn::Contender
where
    S: StaticArray<Element: Number, Index = [usize; 2]>,
    W: Walk + 'static,
{
    assert_eq!(W::GROUPS * W::RUNS * W::LEN, S::ELEMENTS, "all of the array");
    let (mut x, mut y) = (array::<S>(), array::<S>());
    match kernel {
        "fill" => Box::new(move |turn: &mut Turn| {
            let data = x.as_mut_slice().as_mut_ptr();
            // SAFETY: `data` points to `S::ELEMENTS` contiguous elements of `x`, which this closure owns. `W` has as many positions, as
            // asserted above, and each is below that number, as the comparison of results checks.
            turn.time(|| unsafe { walk::fill::<W, S::Element>(black_box(data), black_box(S::Element::of(1.5))) });
            turn.result(|| to_f32(&x))
        }),
        "sum" => Box::new(move |turn| {
            let mut total = 0.0;
            let data = x.as_mut_slice().as_mut_ptr();
            // SAFETY: as for "fill"; in "axpy", `x` and `y` are different arrays.
            turn.time(|| total = black_box(unsafe { walk::sum::<W, S::Element>(black_box(data)) }));
            turn.result(|| vec![total])
        }),
        "scale" => Box::new(move |turn| {
            let data = x.as_mut_slice().as_mut_ptr();
            // SAFETY: as for "fill"; in "axpy", `x` and `y` are different arrays.
            turn.time(|| unsafe { walk::scale::<W, S::Element>(black_box(data), black_box(FACTOR)) });
            turn.result(|| to_f32(&x))
        }),
        "axpy" => Box::new(move |turn| {
            let (from, to) = (x.as_mut_slice().as_mut_ptr(), y.as_mut_slice().as_mut_ptr());
            // SAFETY: as for "fill"; in "axpy", `x` and `y` are different arrays.
            turn.time(|| unsafe { walk::axpy::<W, S::Element>(black_box(A), black_box(from), black_box(to)) });
            turn.result(|| to_f32(&y))
        }),
        _ => Box::new(move |turn| {
            let data = x.as_mut_slice().as_mut_ptr();
            // SAFETY: as for "fill"; in "axpy", `x` and `y` are different arrays.
            turn.time(|| unsafe { walk::softmax::<W, S::Element>(black_box(data)) });
            turn.result(|| to_f32(&x))
        }),
    }
}

#[inline(never)]
fn ndarray_axpy(a: f32, x: &Array2<f32>, y: &mut Array2<f32>) {
    Zip::from(y).and(x).for_each(|y, &x| *y += a * x);
}

#[inline(never)]
fn ndarray_softmax(x: &mut Array2<f32>) {
    for mut row in x.rows_mut() {
        let max = row.fold(f32::MIN, |max, &x| larger(max, x));
        row.mapv_inplace(|x| exp(x - max));
        let factor = 1.0 / row.sum();
        row.mapv_inplace(|x| x * factor);
    }
}

/// The five kernels with `ndarray`.
fn with_ndarray(kernel: &str, sizes: [usize; 2]) -> crate::turn::Contender {
    let mut x = Array2::from_shape_fn(sizes, |(i, j)| value(i, j));
    let mut y = x.clone();
    let values = |x: &Array2<f32>| x.iter().copied().collect::<Vec<_>>();
    match kernel {
        "fill" => Box::new(move |turn: &mut Turn| {
            turn.time(|| black_box(&mut x).fill(black_box(1.5)));
            turn.result(|| values(&x))
        }),
        "sum" => Box::new(move |turn| {
            let mut total = 0.0;
            turn.time(|| total = black_box(black_box(&x).sum()));
            turn.result(|| vec![total])
        }),
        "scale" => Box::new(move |turn| {
            turn.time(|| {
                let factor = black_box(FACTOR);
                black_box(&mut x).mapv_inplace(|x| x * factor);
            });
            turn.result(|| values(&x))
        }),
        "axpy" => Box::new(move |turn| {
            turn.time(|| ndarray_axpy(black_box(A), black_box(&x), black_box(&mut y)));
            turn.result(|| values(&y))
        }),
        _ => Box::new(move |turn| {
            turn.time(|| ndarray_softmax(black_box(&mut x)));
            turn.result(|| values(&x))
        }),
    }
}

const KERNELS: [&str; 5] = ["fill", "sum", "scale", "axpy", "softmax"];

/// `kernel` over tiles. The library is compared with loops by hand in the order of `W`, and with loops over row-major memory. `row_major` is the
/// goal for the second ratio.
fn over_tiles<Tiles, Plain, W, const ROWS: usize, const COLUMNS: usize>(kernel: &str, row_major: f64) -> Case
where
    Tiles: StaticArray<Element: Number, Index = [usize; 2]>,
    Plain: StaticArray<Element: Number, Index = [usize; 2]>,
    W: Walk + 'static,
{
    // Softmax needs rows; the other kernels are one loop over all elements.
    let plain = match kernel {
        "softmax" => by_hand::<Plain, Rows<ROWS, COLUMNS>>(kernel),
        _ => by_hand::<Plain, Flat<ROWS, COLUMNS>>(kernel),
    };
    Case {
        name: format!("{kernel} {}", Tiles::TEXT),
        elements: Tiles::ELEMENTS,
        contenders: vec![
            ("library", library::<Tiles>(kernel)),
            ("by hand", by_hand::<Tiles, W>(kernel)),
            ("row-major", plain),
        ],
        ratios: vec![Ratio("library", "by hand", 1.02), Ratio("library", "row-major", row_major)],
    }
}

/// `kernel` over row-major memory: the library and `ndarray`.
fn over_rows<Plain: StaticArray<Element: Number, Index = [usize; 2]>>(kernel: &str, sizes: [usize; 2]) -> Case {
    Case {
        name: format!("{kernel} {}", Plain::TEXT),
        elements: Plain::ELEMENTS,
        contenders: vec![("library", library::<Plain>(kernel)), ("ndarray", with_ndarray(kernel, sizes))],
        ratios: vec![Ratio("library", "ndarray", 1.0)],
    }
}

macro_rules! cases {
    ($cases:ident, $rows:literal, $columns:literal) => {{
    type F32 = shape!(f32[$rows,$columns]);
    type TiledF32 = shape!(f32[$rows,$columns]{1,0:T(8,128)});
        for kernel in KERNELS {
            $cases.push(over_tiles::<TiledF32, F32, Tiled<$rows, $columns>, $rows, $columns>(kernel, 1.1));
            $cases.push(over_rows::<F32>(kernel, [$rows, $columns]));
        }
    type Bf16 = shape!(bf16[$rows,$columns]);
    type TiledBf16 = shape!(bf16[$rows,$columns]{1,0:T(8,128)(2,1)});
        for kernel in KERNELS {
            let mut case = over_tiles::<TiledBf16, Bf16, Pairs<$rows, $columns>, $rows, $columns>(kernel, 1.3);
            case.contenders.push(("as CuTe", by_hand::<TiledBf16, StridedRows<$rows, $columns>>(kernel)));
            case.ratios.push(Ratio("library", "as CuTe", 1.0));
            $cases.push(case);
        }
    }};
}

/// Arrays that fit into the L1 cache, and arrays that fit into the L2 cache.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases!(cases, 8, 512);
    cases!(cases, 128, 512);
    cases
}
