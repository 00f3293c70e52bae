//! Runs of several arrays together have the same elements as access by index.

use crate::numbers::{assert_padding_is_zero, numbered, value, values, values_at};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use xla_shape::element::S32;
use xla_shape::iter::{Runs, Strided, runs};
use xla_shape::types::{ArrayType, StaticArray};
use xla_shape::{Buffer, View, ViewMut, layout, shape};

/// The index of element `number` of a run along a dimension that begins at `index`.
fn along<S: ArrayType>(mut index: S::Index, dimension: usize, number: usize) -> S::Index {
    index.as_mut().iter_mut().skip(dimension).take(1).for_each(|entry| *entry += number);
    index
}

// As in `numbers`, code that does not depend on pairs of layouts is in separate functions.

type Read<'a> = Strided<&'a [i32]>;
type Write<'a> = Strided<&'a mut [i32]>;

/// Checks two runs of equal length: iterators and indices give the same elements, and an index at the end panics.
fn check_run(a: &Read<'_>, b: &Read<'_>, text: &str) {
    assert!(a.len() == b.len() && !a.is_empty(), "{text}");
    assert_eq!(a.as_slice().is_some(), a.stride() == 1, "{text}");
    assert!(a.iter().zip(b).map(|(a, b)| (*a, *b)).eq((0..a.len()).map(|k| (a[k], b[k]))), "{text}");
    assert!(catch_unwind(|| a[a.len()]).is_err() && catch_unwind(|| b[usize::MAX]).is_err(), "{text}");
}

fn extend(pairs: &mut Vec<(i32, i32)>, a: Read<'_>, b: Read<'_>) {
    pairs.extend(a.into_iter().copied().zip(b.into_iter().copied()));
}

fn subtract_at_once(runs: Vec<(Write<'_>, Read<'_>)>) {
    thread::scope(|threads| {
        for (mut a, b) in runs {
            threads.spawn(move || a.iter_mut().zip(b).for_each(|(a, b)| *a -= b));
        }
    });
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list
}

/// The indices that are valid in both arrays.
fn common<S: ArrayType>(x: S, sizes: impl AsRef<[usize]>) -> Vec<S::Index> {
    let is_common = |index: &S::Index| index.as_ref().iter().zip(sizes.as_ref()).all(|(entry, size)| entry < size);
    x.indices().filter(is_common).collect()
}

/// Checks that every element is in one run, at its index.
fn check_indices<S, T>(x: &View<'_, S>, y: &View<'_, T>)
where
    S: ArrayType<Element = S32>,
    T: ArrayType<Element = S32, Dimensions = S::Dimensions, Index = S::Index>,
{
    let text = format!("{} {}", S::TEXT, T::TEXT);
    let dimension = Runs::<(&View<'_, S>, &View<'_, T>)>::DIMENSION;
    let walk = runs((x, y)).indexed();
    let (mut seen, mut count, len) = (Vec::new(), 0, walk.len());
    for (index, (a, b)) in walk {
        count += 1;
        check_run(&a, &b, &text);
        for k in 0..a.len() {
            let index = along::<S>(index, dimension, k);
            assert_eq!((a[k], b[k]), (value(x, index), value(y, index)), "{text} {index:?}");
            seen.push(index.as_ref().to_vec());
        }
    }
    let common = common(x.shape(), y.sizes()).iter().map(|index| index.as_ref().to_vec()).collect::<Vec<_>>();
    assert_eq!((count, sorted(seen)), (len, common), "{text}");
}

/// Checks that every way to iterate gives every element once.
fn check<S, T>(mut x: ViewMut<'_, S>, y: View<'_, T>)
where
    S: ArrayType<Element = S32>,
    T: ArrayType<Element = S32, Dimensions = S::Dimensions, Index = S::Index>,
{
    check_indices(&x.view(), &y);
    let text = format!("{} {}", S::TEXT, T::TEXT);
    let common = common(x.shape(), y.sizes());
    let before = values(&x.view());
    let pairs = values_at(&x.view(), &common).into_iter().zip(values_at(&y, &common)).collect::<Vec<_>>();

    // Use the iterator in several ways: a loop, `for_each`, and `next` followed by `for_each`.
    let (mut by_loop, mut by_fold, mut by_both) = (Vec::new(), Vec::new(), Vec::new());
    for (a, b) in runs((&x, &y)) {
        extend(&mut by_loop, a, b);
    }
    runs((&x, &y)).for_each(|(a, b)| extend(&mut by_fold, a, b));
    let mut walk = runs((&x, &y)).indexed();
    if let Some((_, (a, b))) = walk.next() {
        extend(&mut by_both, a, b);
    }
    walk.for_each(|(_, (a, b))| extend(&mut by_both, a, b));
    let pairs = sorted(pairs);
    assert_eq!([by_loop, by_fold, by_both].map(sorted), [(); 3].map(|()| pairs.clone()), "{text}");

    // The same for writing, also to all runs at once.
    for (mut a, b) in runs((&mut x, &y)) {
        a.apply_with(&b, |a, b| 3 * a + b);
    }
    subtract_at_once(runs((&mut x, &y)).collect());
    for run in runs(&mut x) {
        run.into_iter().for_each(|a| *a += 1);
    }
    for ((index, before), after) in x.shape().indices().zip(before).zip(values(&x.view())) {
        assert_eq!(after, if common.contains(&index) { 3 * before + 1 } else { before + 1 }, "{text} {index:?}");
    }
}

/// Three and four arrays at once.
#[test]
fn runs_of_several_arrays() {
    type Rows = shape!(s32[3,10]);
    type Columns = shape!(s32[3,10]{0,1});
    type Tiled = shape!(s32[3,10]{1,0:T(2,4)(2,1)});
    let (mut x, y) = (numbered::<Tiled>(), numbered::<Rows>());
    let (z, w) = (numbered::<Columns>(), numbered::<Tiled>());
    let before = x.clone();
    for (mut x, y, z) in runs((&mut x, &y, &z)) {
        x.apply_with_2(&y, &z, |x, y, z| 5 * x + y - z);
    }
    for (mut x, y, z, w) in runs((&mut x, &y, &z, &w)) {
        for i in 0..x.len() {
            x[i] += 7 * (y[i] - z[i]) + w[i];
        }
    }
    for index in x.shape().indices() {
        assert_eq!(x[index], 5 * before[index] + 8 * (y[index] - z[index]) + w[index], "{index:?}");
    }
}

fn check_arrays<S, T>()
where
    S: StaticArray<Element = S32>,
    T: StaticArray<Element = S32, Dimensions = S::Dimensions, Index = S::Index>,
{
    let mut x = numbered::<S>();
    check(x.view_mut(), numbered::<T>().view());
    // Padding is as before.
    assert_padding_is_zero(&x);
}

/// Checks every way to iterate, for each shape with the one before it. `scripts/laws.sh` also checks each shape with itself, and the indices of
/// every pair of these shapes.
macro_rules! every_two {
    ($($shape:ty;)*) => {
        #[cfg(feature = "laws")]
        every_two!(@each [$($shape;)*] [$($shape;)*]);
        every_two!(@before [$($shape;)*] $($shape;)*);
    };
    (@each [$($shape:ty;)*] $all:tt) => { $(every_two!(@with $shape; $all);)* };
    (@with $shape:ty; [$($other:ty;)*]) => {
        $(check_indices(&numbered::<$shape>().view(), &numbered::<$other>().view());)*
    };
    (@before [$first:ty; $($next:ty;)*] $($shape:ty;)*) => {
        #[cfg(any(feature = "laws", miri))]
        {
            $(check_arrays::<$shape, $shape>();)*
        }
        every_two!(@pairs $first; $($next;)* $first;);
    };
    (@pairs $before:ty; $shape:ty; $($next:ty;)*) => {
        check_arrays::<$shape, $before>();
        every_two!(@pairs $shape; $($next;)*);
    };
    (@pairs $last:ty;) => {};
}

// Miri gets smaller arrays of the same kinds: padding, tiles of tiles, runs of one element, of some elements and of all.

#[test]
fn runs_of_arrays() {
    #[cfg(miri)]
    every_two! {
        shape!(s32[2,3]);
        shape!(s32[2,3]{0,1:T(2,2)(2,1)});
        shape!(s32[2,3]{1,0:T(*,2)L(4)});
    }
    #[cfg(not(miri))]
    every_two! {
        shape!(s32[3,10]);
        shape!(s32[3,10]{0,1});
        shape!(s32[3,10]{1,0:T(2,4)});
        shape!(s32[3,10]{1,0:T(2,4)(2,1)});
        shape!(s32[3,10]{0,1:T(4,3)});
        shape!(s32[3,10]{1,0:T(4,4)(3,1)});
        shape!(s32[3,10]{1,0:T(*,4)L(64)});
    }
}

#[test]
fn runs_of_three_dimensions() {
    #[cfg(miri)]
    every_two! {
        shape!(s32[2,1,3]{1,0,2});
        shape!(s32[2,1,3]{2,0,1:T(2,2)(2,1)});
    }
    #[cfg(not(miri))]
    every_two! {
        shape!(s32[2,3,8]);
        shape!(s32[2,3,8]{1,0,2});
        shape!(s32[2,3,8]{2,1,0:T(2,4)});
        shape!(s32[2,3,8]{2,0,1:T(2,4)(2,1)});
    }
}

#[test]
fn runs_of_few_elements() {
    every_two! {
        shape!(s32[]);
        shape!(s32[]{:T(4)});
    }
    every_two! {
        shape!(s32[4,0]);
        shape!(s32[4,0]{0,1:T(2,2)});
    }
    every_two! {
        shape!(s32[1,1]);
        shape!(s32[1,1]{0,1:T(2,2)(2,1)});
    }
    every_two! {
        shape!(s32[1,5]);
        shape!(s32[1,5]{0,1});
    }
}

/// An array whose elements are one range of memory is a single run.
#[test]
fn runs_are_as_long_as_the_layouts_allow() {
    fn lengths<
        S: StaticArray<Element = S32, Dimensions = T::Dimensions, Index = T::Index>,
        T: StaticArray<Element = S32>,
    >() -> Vec<usize> {
        runs((&numbered::<S>(), &numbered::<T>())).map(|(x, _)| x.len()).collect()
    }
    type Rows = shape!(s32[4,12]);
    type Tiled = shape!(s32[4,12]{1,0:T(2,4)});
    assert_eq!(lengths::<Rows, Rows>(), [48]);
    assert_eq!(lengths::<Tiled, Tiled>(), [48]);
    assert_eq!(lengths::<Rows, Tiled>(), [4; 12]);
    assert_eq!(lengths::<Tiled, shape!(s32[4,12]{1,0:T(2,6)})>(), [2; 24]);
    assert_eq!(lengths::<Rows, shape!(s32[4,12]{0,1})>(), [12; 4]);
    assert_eq!(lengths::<shape!(s32[3,10]{1,0:T(2,4)}), shape!(s32[3,10])>(), [4, 4, 2].repeat(3));
}

#[test]
fn runs_of_blocks_and_sections() {
    type Whole = shape!(s32[5,10]{1,0:T(2,4)});
    type Block = shape!(s32[4,4]{1,0:T(2,4)});
    type Other = shape!(s32[4,4]{0,1});
    let mut x = numbered::<Whole>();
    let y = numbered::<Other>();
    for place in [[0, 0], [1, 0], [0, 2], [1, 2]] {
        check(x.block_mut::<Block>(place), y.view());
        check(y.clone().view_mut(), x.block::<Block>(place));
        let other = numbered::<Whole>();
        check(x.block_mut::<Block>([1, 2]), other.block::<Block>(place));
    }
    let mut cube = numbered::<shape!(s32[3,4,8]{2,1,0:T(2,4)})>();
    let matrix = numbered::<shape!(s32[4,8]{0,1})>();
    check(cube.index_axis_mut::<0, layout!({1,0:T(2,4)})>(1), matrix.view());
    check(matrix.clone().view_mut(), cube.index_axis::<0, layout!({1,0:T(2,4)})>(2));
    let mut plain = numbered::<shape!(s32[4,3,8])>();
    check(plain.index_axis_mut::<1, layout!({1,0})>(2), matrix.view());
}

/// Blocks side by side are changed at once, each by its runs. In row-major order, the runs of one block lie between those of the other.
#[test]
fn runs_of_blocks_at_once() {
    type Whole = shape!(s32[4,8]);
    let mut x = numbered::<Whole>();
    let y = numbered::<shape!(s32[4,4]{0,1})>();
    thread::scope(|threads| {
        for mut block in x.blocks_mut::<shape!(s32[4,4])>() {
            let y = y.view();
            threads.spawn(move || {
                for (y, mut x) in runs((&y, &mut block)) {
                    (0..x.len()).for_each(|i| x[i] = y[i]);
                }
            });
        }
    });
    assert!(x.shape().indices().all(|[i, j]| x[[i, j]] == y[[i, j % 4]]));
}

#[test]
fn runs_of_lines() {
    fn check<S, T>()
    where
        S: StaticArray<Element = S32, Index = [usize; 2]>,
        T: StaticArray<Element = S32, Index = [usize; 2]>,
    {
        let (mut x, y) = (numbered::<S>(), numbered::<T>());
        let before = x.clone();
        let (mut row, column) = (x.line_mut::<1>([2, 0]).unwrap(), y.line::<0>([0, 3]).unwrap());
        let mut seen = Vec::new();
        for ([start], (mut a, b)) in runs((&mut row, &column)).indexed() {
            for k in 0..a.len() {
                let expected = (value(&before.view(), [2, start + k]), value(&y.view(), [start + k, 3]));
                assert_eq!((a[k], b[k]), expected, "{} {}", S::TEXT, T::TEXT);
                a[k] -= b[k];
                seen.push(start + k);
            }
        }
        assert!(seen.into_iter().eq(0..row.len()), "{} {}", S::TEXT, T::TEXT);
        for ([i, j], found) in S::default().indices().zip(values(&x.view())) {
            let before = value(&before.view(), [i, j]);
            let expected = if i == 2 { before - value(&y.view(), [j, 3]) } else { before };
            assert_eq!(found, expected, "{} {}", S::TEXT, T::TEXT);
        }
    }
    check::<shape!(s32[4,10]), shape!(s32[10,5])>();
    check::<shape!(s32[4,10]{1,0:T(2,4)}), shape!(s32[10,5]{1,0:T(2,4)})>();
    check::<shape!(s32[4,10]{1,0:T(2,4)(2,1)}), shape!(s32[10,5]{0,1:T(2,4)})>();
    check::<shape!(s32[4,10]{0,1}), shape!(s32[10,5]{0,1:T(3,6)})>();
}

#[test]
fn sizes_at_run_time_are_compared() {
    type Open = shape!(s32[?,?]);
    type Bounded = shape!(s32[?,<=10]{1,0:T(2,4)});
    let open = |sizes| Buffer::<Open>::zeroed_with(Open::with_sizes(sizes).unwrap()).unwrap();
    let mut x = open([3, 7]);
    x.fill_with(|[i, j]| (10 * i + j) as i32);
    let mut y = open([3, 7]);
    let lengths: Vec<_> = runs((&x, &y)).map(|(x, _)| x.len()).collect();
    assert_eq!(lengths, [7; 3]);
    check(y.view_mut(), x.view());
    let mut bounded = Buffer::<Bounded>::zeroed_with(Bounded::with_sizes([3, 7]).unwrap()).unwrap();
    let same = bounded.clone();
    check(bounded.view_mut(), same.view());
    for sizes in [[3, 8], [4, 7], [0, 7], [usize::MAX >> 1, 0]] {
        let other = open(sizes);
        assert!(catch_unwind(AssertUnwindSafe(|| runs((&mut x, &other)).len())).is_err(), "{sizes:?}");
    }
    // An array without elements may have more lines than a `usize` counts.
    assert_eq!(runs(&open([usize::MAX >> 1, 0])).len(), 0);
    let long = numbered::<shape!(s32[8,9])>();
    let lines = (long.line::<0>([0, 0]).unwrap(), long.line::<1>([0, 0]).unwrap());
    assert!(catch_unwind(AssertUnwindSafe(|| runs((&lines.0, &lines.1)).len())).is_err());
}

/// Up to four of whole arrays, whole blocks and last blocks, in every order. Iteration covers the indices that all of them have.
#[test]
fn last_blocks_among_whole_arrays() {
    type P = shape!(s32[2,3]{0,1});
    let blocked = numbered::<shape!(s32[3,5]{0,1})>();
    let whole = numbered::<P>();
    let other = numbered::<shape!(s32[2,3])>();
    let blocks = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|block| blocked.block::<P>(block));

    // `check!` tests these operands. `with_every!` appends each of the arrays in turn as the next operand.
    macro_rules! check {
        ($($x:ident)+) => {{
            let sizes = [$($x.sizes()),+].into_iter().reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1])]).unwrap();
            let operands = ($($x,)+);
            let mut elements = 0;
            for ([i, j], ($($x,)+)) in runs(operands).indexed() {
                let runs = [$($x),+];
                for k in 0..runs[0].len() {
                    let index = along::<P>([i, j], DIMENSION, k);
                    let ($($x,)+) = operands;
                    assert_eq!(runs.map(|run| run[k]), [$(value(&$x.view(), index)),+]);
                    assert!(index[0] < sizes[0] && index[1] < sizes[1]);
                    elements += 1;
                }
            }
            assert_eq!(elements, sizes[0] * sizes[1]);
        }};
    }
    macro_rules! with_every {
        ([] $($x:ident)+) => { check!($($x)+) };
        ([$next:ident $($rest:ident)*] $($x:ident)*) => {
            let $next = &whole;
            with_every!([$($rest)*] $($x)* $next);
            for $next in &blocks {
                with_every!([$($rest)*] $($x)* $next);
            }
        };
    }
    const DIMENSION: usize = 0;
    with_every!([a b]);
    with_every!([a b c]);
    with_every!([a b c d]);

    // With an operand in another layout.
    let last = &blocks[3];
    assert_eq!(runs((last, &other, &whole)).map(|(x, y, z)| x.len() * (y.len() == z.len()) as usize).sum::<usize>(), 2);
    let mut sum = numbered::<P>();
    for (mut y, x, z) in runs((&mut sum, last, &other)) {
        y.iter_mut().zip(x.iter().zip(&z)).for_each(|(y, (x, z))| *y += x + z);
    }
    assert_eq!(sum.to_row_major(), [1 + 14 + 1, 2 + 15 + 2, 3, 4, 5, 6]);
}
