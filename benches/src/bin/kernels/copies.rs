//! Copies and conversions between packed tiles: whole arrays, blocks, sections, windows, pages of a cache.

use crate::arrays::value;
use crate::numbers::Number;
use crate::turn::{Contender, Turn};
use crate::{Case, Ratio};
use std::hint::black_box;
use xla_shape::block::Border;
use xla_shape::buffer::{AlignedBytes, BytesMut};
use xla_shape::types::{ArrayType, StaticArray, ValueOf};
use xla_shape::{Buffer, View, layout, shape};

/// The sizes of the copied arrays.
const ROWS: usize = 256;
const COLUMNS: usize = 512;
/// The place of a window. Tiles of both sides begin there.
const PLACE: [usize; 2] = [64, 128];

/// An element of an array of shape `S`.
fn number<S: ArrayType<Element: Number>>(i: usize, j: usize) -> ValueOf<S> {
    S::Element::of(value(i, j))
}

fn array<S: StaticArray<Element: Number, Index = [usize; 2]>>() -> Buffer<S> {
    Buffer::from_fn(|[i, j]: [usize; 2]| number::<S>(i, j))
}

fn values<S>(x: &View<'_, S>) -> Vec<f32>
where
    S: ArrayType<Element: Number>,
{
    x.to_row_major().into_iter().map(S::Element::f32).collect()
}

#[inline(never)]
fn copy<S, T, B>(x: View<'_, S>, y: &mut Buffer<T, B>)
where
    S: ArrayType<Element: Number>,
    T: ArrayType<Element = S::Element, Dimensions = S::Dimensions>,
    B: BytesMut,
{
    x.copy_to(y);
}

#[inline(never)]
fn convert<S, T, B>(x: View<'_, S>, y: &mut Buffer<T, B>)
where
    S: ArrayType<Element: Number>,
    T: ArrayType<Element: Number, Dimensions = S::Dimensions>,
    B: BytesMut,
{
    y.apply_with(&x, |_, x| T::Element::of(S::Element::f32(x)));
}

#[inline(never)]
fn copy_window<S, T>(x: &Buffer<S>, y: &mut Buffer<T>, origin: [usize; 2])
where
    S: StaticArray<Element: Number, Index = [usize; 2]>,
    T: StaticArray<Element = S::Element, Index = [usize; 2]>,
{
    x.copy_window_to(y, origin, [0, 0], Border::None).expect("a window inside");
}

/// `memcpy` between buffers of this many bytes. Its result is not compared with other contenders.
fn memcpy(bytes: usize, expected: Vec<f32>) -> Contender {
    let from = AlignedBytes::zeroed(bytes).expect("memory");
    let mut to = AlignedBytes::zeroed(bytes).expect("memory");
    Box::new(move |turn: &mut Turn| {
        turn.time(|| black_box(to.as_mut()).copy_from_slice(black_box(from.as_ref())));
        turn.result(|| expected.clone())
    })
}

/// A case. It is compared with `memcpy` that reads and writes as many bytes in total, and, if there is one, with the same function over row-major
/// arrays.
fn case<S: StaticArray, T: StaticArray>(
    what: &str,
    goal: f64,
    library: Contender,
    row_major: Option<Contender>,
    expected: Vec<f32>,
) -> Case {
    let elements = expected.len();
    let bytes = elements * (S::BYTES / S::PHYSICAL_ELEMENTS + T::BYTES / T::PHYSICAL_ELEMENTS) / 2;
    let mut contenders = vec![("library", library), ("memcpy", memcpy(bytes, expected))];
    let mut ratios = vec![Ratio("library", "memcpy", goal)];
    if let Some(row_major) = row_major {
        contenders.push(("row-major", row_major));
        ratios.push(Ratio("library", "row-major", goal));
    }
    Case { name: format!("copies: {what} {} to {}", S::TEXT, T::TEXT), elements, contenders, ratios }
}

/// Copies between arrays of these elements and layouts.
macro_rules! copies {
    ($cases:ident, $goal:expr, $element:ident, $from:tt, $to:tt) => {{
    type From = shape!($element[ROWS,COLUMNS] $from);
    type To = shape!($element[ROWS,COLUMNS] $to);
    type Large = shape!($element[{ 2 * ROWS },{ 2 * COLUMNS }] $from);
        let (x, mut y) = (array::<From>(), Buffer::<To>::zeroed());
        let expected = values(&x.view());
        let library: Contender = Box::new(move |turn: &mut Turn| {
            turn.time(|| copy(black_box(x.view()), black_box(&mut y)));
            turn.result(|| values(&y.view()))
        });
        $cases.push(case::<From, To>("whole", $goal, library, None, expected));
        let (x, mut y) = (array::<Large>(), Buffer::<To>::zeroed());
        let expected = values(&x.block::<From>([1, 1]));
        let library: Contender = Box::new(move |turn: &mut Turn| {
            turn.time(|| copy(black_box(x.block::<From>([1, 1])), black_box(&mut y)));
            turn.result(|| values(&y.view()))
        });
        $cases.push(case::<From, To>("block of", $goal, library, None, expected));
        let (x, mut y) = (array::<Large>(), Buffer::<To>::zeroed());
        let mut expected = Buffer::<To>::zeroed();
        copy_window(&x, &mut expected, PLACE);
        let expected = values(&expected.view());
        let library: Contender = Box::new(move |turn: &mut Turn| {
            turn.time(|| copy_window(black_box(&x), black_box(&mut y), black_box(PLACE)));
            turn.result(|| values(&y.view()))
        });
        $cases.push(case::<From, To>("window of", $goal, library, None, expected));
    }};
}

/// Copies of sections between equal tiles of these elements.
macro_rules! sections {
    ($cases:ident, $goal:expr, $element:ident, [$($tiles:tt)*]) => {{
        type Whole = shape!($element[2,ROWS,COLUMNS] {2,1,0:$($tiles)*});
        type To = shape!($element[ROWS,COLUMNS] {1,0:$($tiles)*});
        let x = Buffer::<Whole>::from_fn(|[_, i, j]| number::<Whole>(i, j));
        let mut y = Buffer::<To>::zeroed();
        let expected = values(&array::<To>().view());
        let library: Contender = Box::new(move |turn: &mut Turn| {
            turn.time(|| copy(black_box(x.index_axis::<0, layout!({1,0:$($tiles)*})>(1)), black_box(&mut y)));
            turn.result(|| values(&y.view()))
        });
        $cases.push(case::<To, To>("section of", $goal, library, None, expected));
    }};
}

/// Conversions between arrays of these elements and layouts.
macro_rules! conversions {
    ($cases:ident, $goal:expr, $from_element:ident $from:tt, $to_element:ident $to:tt) => {{
        type From = shape!($from_element[ROWS,COLUMNS] $from);
        type To = shape!($to_element[ROWS,COLUMNS] $to);
        type Large = shape!($from_element[{ 2 * ROWS },{ 2 * COLUMNS }] $from);
        let row_major = || -> Contender {
            let x = array::<shape!($from_element[ROWS,COLUMNS])>();
            let mut y = Buffer::<shape!($to_element[ROWS,COLUMNS])>::zeroed();
            Box::new(move |turn: &mut Turn| {
                turn.time(|| convert(black_box(x.view()), black_box(&mut y)));
                turn.result(|| values(&y.view()))
            })
        };
        let (x, mut y) = (array::<From>(), Buffer::<To>::zeroed());
        convert(x.view(), &mut y);
        let expected = values(&y.view());
        let library: Contender = Box::new(move |turn: &mut Turn| {
            turn.time(|| convert(black_box(x.view()), black_box(&mut y)));
            turn.result(|| values(&y.view()))
        });
        $cases.push(case::<From, To>("whole", $goal, library, Some(row_major()), expected.clone()));
        let (mut x, mut y) = (Buffer::<Large>::zeroed(), Buffer::<To>::zeroed());
        array::<From>().copy_to(&mut x.block_mut::<From>([1, 1]));
        let library: Contender = Box::new(move |turn: &mut Turn| {
            turn.time(|| convert(black_box(x.block::<From>([1, 1])), black_box(&mut y)));
            turn.result(|| values(&y.view()))
        });
        $cases.push(case::<From, To>("block of", $goal, library, Some(row_major()), expected));
    }};
}

/// Copies the pages of a cache as sections, in the order of a table.
fn pages() -> Case {
    const PAGES: usize = 64;
    const WANTED: usize = 32;
    type Pool = shape!(bf16[PAGES,16,128]{2,1,0:T(8,128)(2,1)});
    type Gathered = shape!(bf16[WANTED,16,128]{2,1,0:T(8,128)(2,1)});
    type Page = layout!({1,0:T(8,128)(2,1)});
    const BYTES: usize = 2 * 16 * 128;
    #[inline(never)]
    fn by_sections(pool: &Buffer<Pool>, table: &[usize], pages: &mut Buffer<Gathered>) {
        for (i, &page) in table.iter().enumerate() {
            pool.index_axis::<0, Page>(page).copy_to(&mut pages.index_axis_mut::<0, Page>(i));
        }
    }
    #[inline(never)]
    fn by_slices(pool: &[u8], table: &[usize], pages: &mut [u8]) {
        for (&page, out) in table.iter().zip(pages.chunks_exact_mut(BYTES)) {
            out.copy_from_slice(&pool[page * BYTES..][..BYTES]);
        }
    }
    let table: [usize; WANTED] = std::array::from_fn(|i| i * 29 % PAGES);
    let pool = Buffer::<Pool>::from_fn(|[page, i, j]| number::<Pool>(16 * page + i, j));
    let from = pool.clone();
    let mut pages = Buffer::<Gathered>::zeroed();
    let mut to = pages.clone();
    let library: Contender = Box::new(move |turn: &mut Turn| {
        turn.time(|| by_sections(black_box(&pool), black_box(&table), black_box(&mut pages)));
        turn.result(|| values(&pages.view()))
    });
    let slices: Contender = Box::new(move |turn: &mut Turn| {
        turn.time(|| by_slices(black_box(from.as_bytes()), black_box(&table), black_box(to.as_bytes_mut())));
        turn.result(|| values(&to.view()))
    });
    Case {
        name: format!("copies: pages of {}", Pool::TEXT),
        elements: Gathered::ELEMENTS,
        contenders: vec![("library", library), ("slices", slices)],
        ratios: vec![Ratio("library", "slices", 1.2)],
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    copies!(cases, 1.2, f32, {1,0:T(8,128)}, {1,0:T(8,128)});
    copies!(cases, 1.2, bf16, {1,0:T(8,128)(2,1)}, {1,0:T(8,128)(2,1)});
    copies!(cases, 1.2, s8, {1,0:T(32,128)(4,1)}, {1,0:T(32,128)(4,1)});
    sections!(cases, 1.2, bf16, [T(8, 128)(2, 1)]);
    sections!(cases, 1.2, s8, [T(32, 128)(4, 1)]);
    cases.push(pages());
    copies!(cases, 1.5, bf16, {1,0}, {1,0:T(8,128)(2,1)});
    copies!(cases, 1.5, bf16, {1,0:T(8,128)(2,1)}, {1,0});
    copies!(cases, 1.5, s8, {1,0}, {1,0:T(32,128)(4,1)});
    copies!(cases, 1.5, s8, {1,0:T(32,128)(4,1)}, {1,0});
    conversions!(cases, 1.5, f32 {1,0:T(8,128)}, bf16 {1,0:T(8,128)(2,1)});
    conversions!(cases, 1.5, bf16 {1,0:T(8,128)(2,1)}, f32 {1,0:T(8,128)});
    conversions!(cases, 1.5, f32 {1,0:T(8,128)}, s8 {1,0:T(32,128)(4,1)});
    conversions!(cases, 1.5, s8 {1,0:T(32,128)(4,1)}, f32 {1,0:T(8,128)});
    conversions!(cases, 1.5, s8 {1,0:T(32,128)(4,1)}, bf16 {1,0:T(8,128)(2,1)});
    cases
}
