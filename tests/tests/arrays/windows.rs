//! Windows have the same elements as access by index, at any place and with every kind of border.

use crate::numbers::{assert_padding_is_zero, numbered, value, values};
use proptest::prelude::*;
use xla_shape::block::{Border, WindowError};
use xla_shape::element::S32;
use xla_shape::types::{ArrayType, MultiIndex, StaticArray};
use xla_shape::{Buffer, View, shape};

/// The value of element `index - halo + origin`, by the definition.
fn expected<S: ArrayType<Element = S32>>(
    x: &View<'_, S>,
    origin: S::Index,
    halo: S::Index,
    index: S::Index,
    border: Border<i32>,
) -> Option<i32> {
    let (mut nearest, mut inside) = (index, true);
    let sizes = x.sizes();
    for (dimension, entry) in nearest.as_mut().iter_mut().enumerate() {
        let [origin, halo, size] = [origin, halo, sizes].map(|list| list.as_ref()[dimension] as i128);
        let found = origin + *entry as i128 - halo;
        inside &= (0..size).contains(&found);
        *entry = if size == 0 { 0 } else { found.clamp(0, size - 1) as usize };
    }
    match border {
        _ if inside => Some(value(x, nearest)),
        Border::Value(value) => Some(value),
        Border::Clamp if !sizes.as_ref().contains(&0) => Some(value(x, nearest)),
        Border::Clamp | Border::None => None,
    }
}

fn check<S, W>(x: View<'_, S>, origin: S::Index, halo: S::Index)
where
    S: ArrayType<Element = S32>,
    W: StaticArray<Element = S32, Index = S::Index>,
{
    for border in [Border::Clamp, Border::Value(-7), Border::None] {
        let mut window = Buffer::<W>::filled(-1);
        let found = x.copy_window_to(&mut window, origin, halo, border);
        let expected = |index| expected(&x, origin, halo, index, border);
        let has_all = W::default().indices().all(|index| expected(index).is_some());
        assert_eq!(found.is_ok(), has_all, "{} {origin:?} {halo:?} {border:?} {found:?}", S::TEXT);
        for (index, found) in W::default().indices().zip(values(&window.view())) {
            let expected = if has_all { expected(index) } else { Some(-1) };
            assert_eq!(Some(found), expected, "{} {} {origin:?} {halo:?} {border:?}", S::TEXT, W::TEXT);
        }
        assert_padding_is_zero(&window);
    }
}

fn check_all<S: StaticArray<Element = S32, Index = [usize; 2]>>(origin: [usize; 2], halo: [usize; 2]) {
    let x = numbered::<S>();
    check::<S, shape!(s32[5,20])>(x.view(), origin, halo);
    check::<S, shape!(s32[9,18]{1,0:T(4,8)(2,1)})>(x.view(), origin, halo);
    #[cfg(feature = "laws")]
    {
        check::<S, shape!(s32[5,20]{0,1})>(x.view(), origin, halo);
        check::<S, shape!(s32[5,20]{1,0:T(4,8)})>(x.view(), origin, halo);
        check::<S, shape!(s32[1,40]{1,0:T(3,12)})>(x.view(), origin, halo);
        check::<S, shape!(s32[0,4])>(x.view(), origin, halo);
    }
}

fn place() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0_usize..50, 1 => Just(usize::MAX), 1 => Just(usize::MAX - 3), 1 => Just(isize::MAX as usize)]
}

proptest! {
    #[test]
    fn windows_hold_what_indices_give(origin in [place(), place()], halo in [place(), place()]) {
        check_all::<shape!(s32[13,40])>(origin, halo);
        check_all::<shape!(s32[13,40]{0,1})>(origin, halo);
        check_all::<shape!(s32[13,40]{1,0:T(8,16)})>(origin, halo);
        check_all::<shape!(s32[13,40]{1,0:T(8,16)(2,1)})>(origin, halo);
        check_all::<shape!(s32[13,40]{0,1:T(4,12)})>(origin, halo);
        check_all::<shape!(s32[13,40]{1,0:T(*,8)})>(origin, halo);
        check_all::<shape!(s32[0,40])>(origin, halo);
    }

    #[test]
    fn windows_of_blocks_see_nothing_else(origin in [place(), place()], halo in [place(), place()], i in 0_usize..2, j in 0_usize..3) {
        let x = numbered::<shape!(s32[13,40]{1,0:T(8,16)(2,1)})>();
        let block = x.block::<shape!(s32[8,16]{1,0:T(8,16)(2,1)})>([i, j]);
        check::<_, shape!(s32[5,20])>(block, origin, halo);
        let x = numbered::<shape!(s32[13,40])>();
        let block = x.block::<shape!(s32[8,16])>([i, j]);
        check::<_, shape!(s32[5,20]{0,1})>(block, origin, halo);
    }
}

/// Each block of `Y` is a window of `X`; all are copied before any is compared, to detect blocks that write into other blocks.
fn check_blocks<X, Y, B>()
where
    X: StaticArray<Element = S32, Index = [usize; 2]>,
    Y: StaticArray<Element = S32, Index = [usize; 2]>,
    B: StaticArray<Element = S32, Layout = Y::Layout, Index = [usize; 2]>,
{
    let x = numbered::<X>();
    let mut y = Buffer::<Y>::zeroed();
    for mut out in y.blocks_mut::<B>() {
        let origin = out.shape().origin();
        x.copy_window_to(&mut out, origin, [1, 2], Border::Value(-1)).unwrap();
    }
    let [rows, columns] = x.sizes();
    for [i, j] in Y::default().indices() {
        let expected = if (1..=rows).contains(&i) && (2..columns + 2).contains(&j) { x[[i - 1, j - 2]] } else { -1 };
        assert_eq!(y[[i, j]], expected, "{} {} {i} {j}", X::TEXT, Y::TEXT);
    }
}

#[test]
fn a_block_can_be_the_window() {
    type Rows = shape!(s32[13,40]);
    type Columns = shape!(s32[13,40]{0,1});
    check_blocks::<Rows, shape!(s32[16,32]{1,0:T(8,16)}), shape!(s32[8,16]{1,0:T(8,16)})>();
    // Here, the last blocks are partial, and the rows of a tile are interleaved.
    check_blocks::<Columns, shape!(s32[13,40]{1,0:T(8,16)(2,1)}), shape!(s32[8,16]{1,0:T(8,16)(2,1)})>();
    check_blocks::<Rows, Columns, shape!(s32[5,7]{0,1})>();
    check_blocks::<shape!(s32[13,40]{1,0:T(8,16)(2,1)}), Rows, shape!(s32[4,16])>();
}

#[test]
fn windows_of_three_dimensions() {
    let x = Buffer::<shape!(s32[4,9,20]{2,1,0:T(8,16)})>::from_fn(|[i, j, k]| (1000 * i + 100 * j + k) as i32);
    let mut window = Buffer::<shape!(s32[3,4,6]{0,2,1})>::zeroed();
    x.copy_window_to(&mut window, [3, 8, 15], [1, 1, 1], Border::Clamp).unwrap();
    for [i, j, k] in window.shape().indices() {
        assert_eq!(window[[i, j, k]], x[[(2 + i).min(3), (7 + j).min(8), (14 + k).min(19)]], "{i} {j} {k}");
    }
}

#[test]
fn a_window_without_elements_is_never_an_error() {
    let x = Buffer::<shape!(s32[8,40])>::zeroed();
    let mut window = Buffer::<shape!(s32[0,4])>::zeroed();
    assert_eq!(x.copy_window_to(&mut window, [99, usize::MAX], [0, 0], Border::None), Ok(()));
}

#[test]
fn sizes_at_run_time() {
    type Rows = shape!(s32[?,40]{1,0:T(8,16)});
    type Window = shape!(s32[<=8,40]);
    let mut x = Buffer::<Rows>::zeroed_with(Rows::with_sizes([21, 40]).unwrap()).unwrap();
    x.fill_with(|[i, j]| (100 * i + j) as i32);
    let mut window = Buffer::<Window>::zeroed_with(Window::with_sizes([5, 40]).unwrap()).unwrap();
    x.copy_window_to(&mut window, [13, 0], [0, 0], Border::None).unwrap();
    assert!(window.shape().indices().all(|[i, j]| window[[i, j]] == x[[13 + i, j]]));
    assert!(x.copy_window_to(&mut window, [17, 0], [0, 0], Border::None).is_err());
    let scalar = Buffer::<shape!(s32[])>::filled(3);
    let mut copy = Buffer::<shape!(s32[])>::zeroed();
    scalar.copy_window_to(&mut copy, [], [], Border::None).unwrap();
    assert_eq!(copy[[]], 3);
}

#[test]
fn errors_say_what_lies_where() {
    let x = Buffer::<shape!(s32[8,40])>::zeroed();
    let mut window = Buffer::<shape!(s32[4,42])>::zeroed();
    let error = x.copy_window_to(&mut window, [0, 0], [0, 1], Border::None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a window inside of dimension 1 (size 40) or a rule for the border, found indices -1 to 40"
    );
    let error = x.copy_window_to(&mut window, [usize::MAX, 0], [0, 0], Border::None).unwrap_err();
    assert!(error.to_string().ends_with("found indices 18446744073709551615 to 18446744073709551618"), "{error}");
    let empty = Buffer::<shape!(s32[8,0])>::zeroed();
    let error = empty.copy_window_to(&mut window, [0, 0], [0, 0], Border::Clamp).unwrap_err();
    assert_eq!(error, WindowError::Empty { dimension: 1 });
    assert_eq!(
        error.to_string(),
        "expected an array with elements to repeat at the border, found size 0 in dimension 1"
    );
}

/// Compares the windows around blocks `P`, in the order of the blocks, with those that `copy_window_to` copies.
fn check_windows<S, P, W>(halo: Option<S::Index>)
where
    S: StaticArray<Element = S32>,
    P: StaticArray<Index = S::Index>,
    W: StaticArray<Element = S32, Index = S::Index>,
{
    let x = numbered::<S>();
    for border in [Border::Clamp, Border::Value(-7), Border::None] {
        let mut before = S::Index::ORIGIN;
        for (d, entry) in before.as_mut().iter_mut().enumerate() {
            *entry = halo.map_or((W::SIZES[d] - P::SIZES[d]) / 2, |halo| halo.as_ref()[d]);
        }
        let windows = match halo {
            Some(halo) => x.windows_with_halo::<P, W>(halo, border),
            None => x.windows::<P, W>(border),
        };
        let starts = |d: usize| (0..S::SIZES[d]).step_by(P::SIZES[d]);
        let mut origins = vec![S::Index::ORIGIN];
        for d in 0..S::SIZES.len() {
            let longer = |origin: &S::Index| {
                starts(d)
                    .map(|start| {
                        let mut o = *origin;
                        o.as_mut()[d] = start;
                        o
                    })
                    .collect::<Vec<_>>()
            };
            origins = origins.iter().flat_map(longer).collect();
        }
        let mut expected = Vec::new();
        let mut window = Buffer::<W>::zeroed();
        for &origin in &origins {
            expected
                .push(x.copy_window_to(&mut window, origin, before, border).map(|()| (origin, window.to_row_major())));
        }
        match windows {
            Ok(windows) => {
                assert_eq!(windows.len(), expected.len());
                // Keep some windows, so that later ones need their own memory.
                let mut kept = Vec::new();
                for (window, expected) in windows.zip(expected) {
                    assert_eq!(
                        (window.origin(), window.to_row_major()),
                        expected.clone().unwrap(),
                        "{} {border:?}",
                        S::TEXT
                    );
                    if kept.len() < 2 {
                        kept.push((window, expected));
                    }
                }
                for (window, expected) in kept {
                    assert_eq!(window.to_row_major(), expected.unwrap().1);
                }
            }
            Err(found) => assert!(expected.iter().any(|expected| expected.as_ref().err() == Some(&found)), "{found}"),
        }
    }
}

#[test]
fn windows_around_blocks() {
    check_windows::<shape!(s32[6,8]), shape!(s32[2,4]), shape!(s32[4,6])>(None);
    check_windows::<shape!(s32[6,8]), shape!(s32[2,4]), shape!(s32[2,4]{0,1})>(None);
    check_windows::<shape!(s32[6,8]{1,0:T(2,4)}), shape!(s32[2,4]{1,0:T(2,4)}), shape!(s32[4,8])>(None);
    // The last blocks have fewer elements, and the halo is on one side.
    check_windows::<shape!(s32[5,7]{0,1:T(2,4)(2,1)}), shape!(s32[2,4]), shape!(s32[4,6]{0,1})>(Some([1, 0]));
    check_windows::<shape!(s32[5,8]{1,0:T(2,4)(2,1)}), shape!(s32[5,4]), shape!(s32[5,4]{0,1})>(Some([0, 0]));
    // Blocks and halos larger than the array.
    check_windows::<shape!(s32[3,2]), shape!(s32[4,4]), shape!(s32[14,24])>(None);
    check_windows::<shape!(s32[2,3,4]{2,0,1}), shape!(s32[1,2,3]{0,1,2}), shape!(s32[3,2,5])>(None);
    // An array without elements, and one without dimensions.
    check_windows::<shape!(s32[0,4]), shape!(s32[2,4]), shape!(s32[4,6])>(None);
    check_windows::<shape!(s32[]), shape!(s32[]{:T(4)}), shape!(s32[])>(None);
    let x = numbered::<shape!(s32[6])>();
    let error = x.windows_with_halo::<shape!(s32[2]), shape!(s32[4])>([3], Border::Clamp).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a window that holds the block in dimension 0, found one of 4 elements, 3 of them before a block of 2"
    );
    assert!(x.windows_with_halo::<shape!(s32[2]), shape!(s32[4])>([usize::MAX], Border::Clamp).is_err());
    let error = x.windows::<shape!(s32[2]), shape!(s32[4])>(Border::None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a window inside of dimension 0 (size 6) or a rule for the border, found indices -1 to 2"
    );
}

/// Threads read the windows of a block, and each writes the block of the same place in another array.
#[test]
fn windows_beside_blocks_at_once() {
    type Block = shape!(s32[4,4]{1,0:T(2,4)});
    let x = numbered::<shape!(s32[8,8]{1,0:T(2,4)(2,1)})>();
    let mut y = Buffer::<shape!(s32[6,8]{1,0:T(2,4)})>::zeroed();
    let part = x.block::<shape!(s32[6,8]{1,0:T(2,4)(2,1)})>([0, 0]);
    std::thread::scope(|threads| {
        let windows = part.windows::<Block, shape!(s32[6,4])>(Border::Value(0)).unwrap();
        for (x, mut y) in windows.zip(y.blocks_mut::<Block>()) {
            threads.spawn(move || y.fill_with(|[i, j]| x[[i, j]] + x[[i + 2, j]]));
        }
    });
    for [i, j] in y.shape().indices() {
        let near = [i.wrapping_sub(1), i + 1].map(|i| if i < 6 { x[[i, j]] } else { 0 });
        assert_eq!(y[[i, j]], near[0] + near[1], "{i} {j}");
    }
}

/// Rows that alternate in memory are copied together if a group begins at the same row in both arrays. Other rows are copied one by one.
#[test]
fn windows_of_packed_tiles() {
    macro_rules! check {
        ($X:ty, $W:ty, $value:expr) => {{
            let x = Buffer::<$X>::from_fn(|[i, j]| $value(i, j));
            for (origin, halo) in [0, 1, 4, 6, 7, 24].into_iter().zip([0, 0, 0, 1, 3, 4]) {
                for column in [0, 5, 128] {
                    let mut window = Buffer::<$W>::filled($value(0, 0));
                    x.copy_window_to(&mut window, [origin, column], [halo, 0], Border::Value($value(9, 9))).unwrap();
                    for [i, j] in window.shape().indices() {
                        let (row, column) = ((origin + i).wrapping_sub(halo), column + j);
                        let expected = if row < 40 && column < 300 { $value(row, column) } else { $value(9, 9) };
                        assert_eq!(window[[i, j]], expected, "[{origin} - {halo} + {i}, {column}]");
                    }
                }
            }
        }};
    }
    let short = |i: usize, j: usize| (301 * i + j) as i16;
    let byte = |i: usize, j: usize| (71 * i + j) as i8;
    check!(shape!(s16[40,300]{1,0:T(8,128)(2,1)}), shape!(s16[21,190]{1,0:T(8,128)(2,1)}), short);
    check!(shape!(s16[40,300]{1,0:T(8,128)(2,1)}), shape!(s16[21,190]{1,0:T(16,128)(2,1)}), short);
    check!(shape!(s16[40,300]{1,0:T(8,128)(2,1)}), shape!(s16[21,190]{0,1:T(8,128)(2,1)}), short);
    check!(shape!(s8[40,300]{1,0:T(32,128)(4,1)}), shape!(s8[22,190]{1,0:T(8,128)(4,1)}), byte);
}
