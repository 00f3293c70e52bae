//! Blocks: each has the right part of the array, all together are the array, and no two overlap.

use crate::numbers::{numbered_with_padding as numbered, value, values};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::thread;
use xla_shape::block::Part;
use xla_shape::element::S32;
use xla_shape::types::{ArrayType, StaticArray, ValueOf, WholeArray};
use xla_shape::{Buffer, Slot, View, ViewMut, shape};
use xla_shape_tests::strategy::small_array_shape;

/// The values that a kernel over any array sees, in the order of indices.
fn by_kernel<S: ArrayType<Element = S32>>(x: View<'_, S>) -> Vec<i32> {
    let mut seen = BTreeSet::new();
    let mut segments = 0;
    x.for_each_segment(|segment| {
        segments += segment.len();
        seen.extend(segment.iter().copied());
    });
    assert_eq!(segments, seen.len(), "every element once");
    seen.into_iter().collect()
}

/// Adds a number to each element, once by each method that writes.
fn add_everywhere<S: ArrayType<Element = S32>, Z>(mut x: ViewMut<'_, S>, zeros: &Buffer<Z>)
where
    Z: StaticArray<Element = S32, Dimensions = S::Dimensions, Index = S::Index>,
{
    x.apply(|value| value + 1000);
    for index in x.shape().indices() {
        x[index] += 1000;
    }
    x.for_each_band_mut::<-1>(|mut rows| rows.for_each_block_mut(|_, block| block.iter_mut().for_each(|v| *v += 1000)));
    x.for_each_band_mut::<0>(|mut rows| rows.for_each_block_mut(|_, block| block.iter_mut().for_each(|v| *v += 1000)));
    add_to_lines(&mut x);
    if zeros.sizes() == x.sizes() {
        x.apply_with(zeros, |value, zero| value + zero + 1000);
    } else {
        x.apply(|value| value + 1000);
    }
}

/// Adds 2000 to each element: 1000 through the runs of its row, and 1000 through its column by number.
fn add_to_lines<S: ArrayType<Element = S32>>(x: &mut ViewMut<'_, S>) {
    for index in x.shape().indices() {
        if index.as_ref().last() == Some(&0) {
            let mut row = x.line_mut::<-1>(index).unwrap();
            row.for_each_run_mut(|_, mut run| run.iter_mut().for_each(|value| *value += 1000));
        }
        if index.as_ref().first() == Some(&0) {
            let mut column = x.line_mut::<0>(index).unwrap();
            (0..column.len()).for_each(|i| column[i] += 1000);
        }
    }
}

fn check<S, P, Z>(shape: S)
where
    S: WholeArray<Element = S32>,
    P: StaticArray<Element = S32, Layout = S::Layout, Index = S::Index>,
    Z: StaticArray<Element = S32, Dimensions = P::Dimensions, Index = S::Index>,
{
    let x = numbered(shape);
    let mut seen = BTreeSet::new();
    let grid = x.block_grid::<P>();
    assert_eq!(x.blocks::<P>().len(), grid.as_ref().iter().product::<usize>());
    for block in x.blocks::<P>() {
        let origin = block.shape().origin();
        let mut place = origin;
        place.as_mut().iter_mut().zip(P::SIZES).for_each(|(entry, size)| *entry /= size);
        assert_eq!(x.block::<P>(place).to_row_major(), block.to_row_major());
        let mut expected = Vec::new();
        for index in block.shape().indices() {
            let mut whole = origin;
            whole.as_mut().iter_mut().zip(index.as_ref()).for_each(|(entry, i)| *entry += i);
            assert_eq!(block.get(index), x.get(whole), "{index:?} of {block:?}");
            let number = value(&x.view(), whole);
            assert_eq!(value(&block, index), number);
            expected.push(number);
            assert!(seen.insert(number));
        }
        assert!(block.get(block.sizes()).is_err());
        let mut by_rows = Vec::new();
        block.lines::<-1>().for_each(|row| row.for_each(|value| by_rows.push(value)));
        assert_eq!(by_rows, expected);
        expected.sort_unstable();
        assert_eq!(by_kernel(block), expected);

        let copy: Buffer<Z> = block.to_buffer();
        for (index, found) in copy.shape().indices().zip(values(&copy.view())) {
            assert_eq!(found, block.get(index).unwrap_or(0));
        }
    }
    assert_eq!(seen.len(), x.shape().indices().len());
    if grid.as_ref().contains(&0) {
        return;
    }

    // All blocks at once, each in a thread of its own.
    let mut y = x.clone();
    let zeros = Buffer::<Z>::zeroed();
    thread::scope(|threads| {
        for block in y.blocks_mut::<P>() {
            threads.spawn(|| add_everywhere(block, &zeros));
        }
    });
    // A kernel that writes all lanes of a band may change padding, but no element outside the block.
    let expected = values(&x.view()).iter().map(|value| value + 7000).collect::<Vec<_>>();
    assert_eq!(values(&y.view()), expected);

    // Copy to other memory and back.
    let mut z = Buffer::<S>::zeroed_with(shape).unwrap();
    let mut copy = Buffer::<Z>::zeroed();
    for (from, mut to) in x.blocks::<P>().zip(z.blocks_mut::<P>()) {
        from.copy_to_padded(&mut copy, -1);
        copy.copy_to(&mut to);
    }
    assert_eq!(z.to_row_major(), x.to_row_major());
}

macro_rules! blocks {
    ($($shape:tt / $block:tt / $other:tt;)*) => {
        $(check::<shape! $shape, shape! $block, shape! $other>(Default::default());)*
    };
}

#[test]
fn blocks_are_parts_of_the_array() {
    blocks! {
        (s32[64,256]{1,0:T(8,128)}) / (s32[16,128]{1,0:T(8,128)}) / (s32[16,128]);
        (s32[20,200]{1,0:T(8,128)}) / (s32[8,128]{1,0:T(8,128)}) / (s32[8,128]{0,1});
        (s32[20,200]{1,0:T(8,128)}) / (s32[16,256]{1,0:T(8,128)}) / (s32[16,256]);
        (s32[20,200]{0,1:T(8,128)}) / (s32[128,8]{0,1:T(8,128)}) / (s32[128,8]);
        (s32[9,20]{1,0:T(4,8)(2,1)}) / (s32[4,8]{1,0:T(4,8)(2,1)}) / (s32[4,8]{1,0:T(2,8)});
        (s32[21,40]{1,0:T(8,16)(2,1)}) / (s32[8,16]{1,0:T(8,16)(2,1)}) / (s32[8,16]{1,0:T(8,16)(2,1)});
        (s32[2,13,40]{2,1,0:T(8,16)(4,1)}) / (s32[1,8,32]{2,1,0:T(8,16)(4,1)}) / (s32[1,8,32]{2,1,0:T(8,32)(4,1)});
        (s32[2,16]{1,0:T(2,8)(2,1)}) / (s32[2,8]{1,0:T(2,8)(2,1)}) / (s32[2,8]);
        (s32[10,12]) / (s32[3,5]) / (s32[3,5]{0,1});
        (s32[10,12]{0,1}) / (s32[3,5]{0,1}) / (s32[3,5]);
        (s32[3,9,10]{1,2,0:T(2,4)}) / (s32[1,8,4]{1,2,0:T(2,4)}) / (s32[1,8,4]);
        (s32[3,4,6]{2,1,0:T(*,4)}) / (s32[3,4,6]{2,1,0:T(*,4)}) / (s32[3,4,6]);
        (s32[20]{0:T(8)}) / (s32[8]{0:T(8)}) / (s32[8]);
        (s32[5,7]{1,0:L(64)M(8)}) / (s32[2,3]{1,0:L(64)M(8)}) / (s32[2,3]);
        (s32[0,7]) / (s32[2,3]) / (s32[2,3]);
    }
}

/// More blocks, of the same kinds as above.
#[cfg(feature = "laws")]
#[test]
fn more_blocks_are_parts_of_the_array() {
    blocks! {
        (s32[20,200]{1,0:T(8,128)}) / (s32[20,128]{1,0:T(8,128)}) / (s32[20,128]);
        (s32[20,100]{1,0:T(8,128)}) / (s32[3,100]{1,0:T(8,128)}) / (s32[3,100]);
        (s32[9,20]{1,0:T(4,8)(2,1)}) / (s32[8,16]{1,0:T(4,8)(2,1)}) / (s32[8,16]);
        (s32[21,40]{0,1:T(8,16)(4,1)}) / (s32[16,8]{0,1:T(8,16)(4,1)}) / (s32[16,8]{0,1:T(4,8)(4,1)});
        (s32[13,40]{1,0:T(8,16)(4,1)}) / (s32[8,16]{1,0:T(8,16)(4,1)}) / (s32[8,16]{1,0:T(8,16)(2,1)});
        (s32[2,16]{1,0:T(2,8)(2,1)}) / (s32[1,16]{1,0:T(2,8)(2,1)}) / (s32[1,16]);
        (s32[10,12]) / (s32[5,12]) / (s32[5,12]{1,0:T(2,4)});
        (s32[10,12]{0,1}) / (s32[10,5]{0,1}) / (s32[10,5]);
        (s32[3,9,10]{2,1,0:T(2,4)}) / (s32[2,4,8]{2,1,0:T(2,4)}) / (s32[2,4,8]{0,1,2});
        (s32[6,4,6]{2,1,0:T(*,4)}) / (s32[2,4,6]{2,1,0:T(*,4)}) / (s32[2,4,6]);
        (s32[7]) / (s32[3]) / (s32[3]);
    }
}

/// Between the elements of a line, there may be elements of another block, which another thread writes.
#[test]
fn lines_of_blocks_are_written_at_once() {
    fn write<S, P>()
    where
        S: WholeArray<Element = S32> + Default,
        P: StaticArray<Element = S32, Layout = S::Layout, Index = S::Index>,
    {
        let x = numbered(S::default());
        let mut y = x.clone();
        thread::scope(|threads| {
            for mut block in y.blocks_mut::<P>() {
                threads.spawn(move || {
                    add_to_lines(&mut block);
                    // Process two lines of one block together.
                    let copy = block.to_buffer::<P>();
                    for (index, line) in P::default().indices().step_by(P::SIZES[1]).zip(copy.lines::<-1>()) {
                        block.line_mut::<-1>(index).unwrap().apply_with(&line, |value, copy| value + copy);
                    }
                });
            }
        });
        assert!(values(&y.view()).into_iter().eq(values(&x.view()).into_iter().map(|value| 2 * (value + 2000))));
    }
    write::<shape!(s32[4,6]), shape!(s32[2,3])>();
    write::<shape!(s32[4,6]{0,1}), shape!(s32[2,3]{0,1})>();
    write::<shape!(s32[4,8]{1,0:T(2,4)}), shape!(s32[2,4]{1,0:T(2,4)})>();
    write::<shape!(s32[2,16]{1,0:T(2,8)(2,1)}), shape!(s32[1,16]{1,0:T(2,8)(2,1)})>();
    write::<shape!(s32[4,8]{1,0:T(4,4)(2,1)}), shape!(s32[4,4]{1,0:T(4,4)(2,1)})>();
}

#[test]
fn a_scalar_is_its_block() {
    type Scalar = shape!(s32[]);
    let mut x = Buffer::<Scalar>::filled(3);
    x.blocks_mut::<Scalar>().for_each(|mut block| block[[]] += x_of(&block));
    assert_eq!((x.block::<Scalar>([])[[]], x.blocks::<Scalar>().len()), (6, 1));
}

fn x_of<S: ArrayType<Element = S32>>(x: &ViewMut<'_, S>) -> i32 {
    x.iter().sum()
}

#[test]
fn arrays_with_sizes_at_run_time_are_cut() {
    type Rows = shape!(s32[?,200]{1,0:T(8,128)});
    type Bounded = shape!(s32[<=20,?]{1,0:T(4,8)(2,1)});
    for rows in [0, 1, 7, 8, 17, 20] {
        check::<Rows, shape!(s32[16,128]{1,0:T(8,128)}), shape!(s32[16,128])>(Rows::with_sizes([rows, 200]).unwrap());
        let bounded = Bounded::with_sizes([rows, 3 * rows]).unwrap();
        check::<Bounded, shape!(s32[8,16]{1,0:T(4,8)(2,1)}), shape!(s32[8,16])>(bounded);
    }
}

#[test]
fn blocks_have_blocks() {
    type Whole = shape!(s32[40,300]{1,0:T(8,128)});
    type Outer = shape!(s32[16,256]{1,0:T(8,128)});
    type Inner = shape!(s32[8,128]{1,0:T(8,128)});
    let mut x = numbered(Whole::default());
    let mut seen = 0;
    for outer in x.blocks::<Outer>() {
        for inner in outer.blocks::<Inner>() {
            let [i, j] = [0, 1].map(|d| outer.shape().origin()[d] + inner.shape().origin()[d]);
            inner.indexed_iter().for_each(|([k, l], value)| assert_eq!(value, ((i + k) * 300 + j + l + 1) as i32));
            seen += inner.iter().len();
        }
    }
    assert_eq!(seen, 40 * 300);
    for mut outer in x.blocks_mut::<Outer>() {
        outer.blocks_mut::<Inner>().for_each(|mut inner| inner.fill(7));
    }
    assert!(x.iter().all(|value| value == 7));
    for (position, &value) in x.as_slice().iter().enumerate() {
        let padding = !matches!(Whole::multi_index(position), Slot::Element(_));
        assert_eq!(value, if padding { -1 } else { 7 });
    }
}

#[test]
fn tiles_and_arrays_of_blocks() {
    type Whole = shape!(s32[20,300]{1,0:T(8,128)});
    let x = numbered(Whole::default());
    let mut tiles = 0;
    for block in x.blocks::<shape!(s32[16,256]{1,0:T(8,128)})>() {
        for tile in block.tiles::<[[i32; 128]; 8]>() {
            tiles += 1;
            for i in 0..tile.inside[0] {
                for j in 0..tile.inside[1] {
                    assert_eq!(tile.elements[i][j], block[[tile.origin[0] + i, tile.origin[1] + j]]);
                }
            }
        }
    }
    assert_eq!(tiles, 9);
    type Rows = shape!(s32[8,300]{1,0:T(8,128)});
    let arrays =
        x.blocks::<Rows>().map(|block| block.as_array().map(|array| array.to_row_major() == block.to_row_major()));
    assert_eq!(arrays.collect::<Vec<_>>(), [Some(true), Some(true), None]);
}

#[test]
fn a_place_outside_of_the_grid_panics_and_says_so() {
    type Block = shape!(s32[8,8]);
    let x = numbered(<shape!(s32[20,20])>::default());
    for place in [[3, 0], [0, 3], [usize::MAX, 0], [usize::MAX / 4, 1]] {
        let panic = std::panic::catch_unwind(|| x.block::<Block>(place).iter().len()).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert_eq!(*text, format!("place {place:?} is out of bounds for the grid [3, 3] of blocks s32[8,8]{{1,0}}"));
    }
}

#[test]
fn views_of_blocks_outlive_what_they_were_taken_from() {
    type Whole = shape!(s32[16,16]);
    type Block = shape!(s32[8,8]);
    fn corner<'a>(x: &View<'a, Whole>) -> View<'a, Part<Whole, Block>> {
        let copy = *x;
        copy.block::<Block>([1, 1])
    }
    let x = numbered(Whole::default());
    let block = corner(&x.view());
    assert_eq!(block[[0, 0]], 8 * 16 + 8 + 1);
}

proptest! {
    /// If all entries of `a` are multiples of the periods, the position of `a + b` is the sum of both positions.
    #[test]
    fn positions_add_up_at_multiples_of_the_period(shape in small_array_shape(), seed: u64) {
        let table = shape.stride_table().unwrap();
        let sizes = table.as_ref().extents().to_vec();
        let periods = (0..sizes.len()).map(|d| table.as_ref().period(d)).collect::<Vec<_>>();
        let mut state = seed;
        let mut next = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % limit
        };
        if sizes.contains(&0) {
            return Ok(());
        }
        for _ in 0..20 {
            let whole = sizes.iter().map(|&size| next(size)).collect::<Vec<_>>();
            let origin: Vec<_> = whole.iter().zip(&periods).map(|(&i, period)| period.map_or(0, |p| i / p * p)).collect();
            let inner: Vec<_> = whole.iter().zip(&origin).map(|(i, o)| i - o).collect();
            let sum = table.as_ref().linear_index(&origin) + table.as_ref().linear_index(&inner);
            prop_assert_eq!(table.as_ref().linear_index(&whole), sum, "{:?} of {}", whole, shape);
        }
    }
}

/// `Debug` of the iterator does not show elements, because another thread may own them.
#[test]
fn blocks_show_no_elements() {
    let mut x = Buffer::<shape!(s32[4])>::filled(77);
    let mut blocks = x.blocks_mut::<shape!(s32[2])>();
    let first = blocks.next().unwrap();
    assert!(!format!("{blocks:?}").contains("77"));
    assert_eq!(first.sizes(), [2]);
}

/// Results in scratch memory of a whole block's size can be written back into the last block, which is smaller.
#[test]
fn operands_of_a_last_block_are_as_large_as_it_is() {
    type Block = shape!(f32[16,128]{1,0:T(8,128)});
    type Scratch = shape!(f32[16,128]{1,0:T(8,128)S(1)});
    let mut x = Buffer::<shape!(f32[40,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (1000 * i + j) as f32);
    let mut scratch = Buffer::<Scratch>::zeroed();
    for mut block in x.blocks_mut::<Block>() {
        scratch.fill(-1.0);
        block.copy_to(&mut scratch);
        let [rows, columns] = block.sizes();
        block.apply_with(&scratch, |x, y| x + y);
        // In the other direction, elements that only the scratch memory has do not change.
        scratch.apply_with(&block, |x, y| x + y);
        for (index, value) in scratch.indexed_iter() {
            let is_inside = index[0] < rows && index[1] < columns;
            assert_eq!(value, if is_inside { 1.5 * block[index] } else { -1.0 });
        }
        scratch.apply_with_2(&block, &block, |_, y, z| y - z);
        assert_eq!(scratch[[0, 0]], 0.0);
    }
    assert!(x.indexed_iter().all(|([i, j], x)| x == (2000 * i + 2 * j) as f32));
}

/// Whole arrays must have the same sizes to be iterated over together.
#[test]
#[should_panic = "expected operands with sizes [3], found [4]"]
fn whole_operands_have_the_same_sizes() {
    type List = shape!(s32[?]);
    let list = |len| Buffer::<List>::zeroed_with(List::with_sizes([len]).unwrap()).unwrap();
    list(3).apply_with(&list(4), |x, _| x);
}

/// A new array needs operands with all of its elements. The last block has the type of the others but fewer elements,
/// so it is refused.
#[test]
fn no_array_is_made_of_a_last_block() {
    type P = shape!(s32[2,2]{0,1});
    let x = numbered(<shape!(s32[3,2]{0,1})>::default());
    let (whole, last) = (x.block::<P>([0, 0]), x.block::<P>([1, 0]));
    let refused = |f: &dyn Fn()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert_eq!(text, "expected operands with sizes [2, 2], found [1, 2]");
    };
    refused(&|| drop(last.map::<P>(|x| x)));
    refused(&|| drop(whole.zip_with::<P, _, _>(&last, |x, _| x)));
    assert_eq!(whole.map::<P>(|x| x + 1).to_row_major(), [2, 3, 4, 5]);
}

/// A block that is larger than its array is never full, so it cannot be used as an array.
#[test]
fn a_block_larger_than_its_array_is_no_array() {
    type P = shape!(f32[8,128]{1,0:T(8,128)});
    let mut x = Buffer::<shape!(f32[1,128]{1,0:T(8,128)})>::filled(1.0);
    assert!(x.block::<P>([0, 0]).as_array().is_none());
    assert!(x.block_mut::<P>([0, 0]).as_array_mut().is_none());
    let rows = Buffer::<shape!(f32[4,5])>::filled(1.0);
    assert!(rows.block::<shape!(f32[9,5])>([0, 0]).as_array().is_none());
    assert!(rows.block::<shape!(f32[2,7])>([1, 0]).as_array().is_none());
}

/// Between arrays of equal tiles, a whole tile is processed as one range of positions. In a tile that is not whole, each group of rows that
/// alternate in memory is processed as one range.
#[test]
fn tiles_and_packed_rows_are_processed_together() {
    type X = shape!(s32[21,300]{1,0:T(8,128)(2,1)});
    type Tile = shape!(s32[8,128]{1,0:T(8,128)(2,1)});
    type Part = shape!(s32[<=16,<=256]{1,0:T(8,128)(2,1)});
    // The value of each element is its position.
    let mut x = Buffer::<X>::zeroed();
    (0..).zip(x.as_mut_slice()).for_each(|(position, value)| *value = position);
    /// How often two elements that are processed one after the other are not adjacent in memory.
    fn jumps<S: ArrayType<Element = S32, Dimensions = T::Dimensions>, T: WholeArray<Element = S32>>(
        x: View<'_, S>,
        shape: T,
    ) -> usize {
        let mut seen = Vec::new();
        let mut copy = Buffer::<T>::zeroed_with(shape).unwrap();
        copy.apply_with(&x, |_, x| {
            seen.push(x);
            x
        });
        assert_eq!(copy.to_row_major(), x.to_row_major());
        seen.windows(2).filter(|pair| pair[1] != pair[0] + 1).count()
    }
    assert_eq!(jumps(x.block::<Tile>([0, 1]), Tile::default()), 0);
    // Two whole tiles, each with the first columns of the tile beside it. Of that tile, the beginnings of four pairs of rows are copied.
    let part = x.part::<Part>([0, 128], [16, 172]);
    assert_eq!(jumps(part, Part::with_sizes(part.sizes()).unwrap()), 3 + 1 + 3);
    // The fifth row is alone in its pair, so its elements are not adjacent in memory. It lies in two tiles.
    let part = x.part::<Part>([16, 0], [5, 256]);
    assert_eq!(jumps(part, Part::with_sizes(part.sizes()).unwrap()), 127 + 1 + 127);
    // Two tiles, one below the other.
    type Column = shape!(s32[16,128]{1,0:T(8,128)(2,1)});
    assert_eq!(jumps(x.block::<Column>([0, 0]), Column::default()), 1);
}

/// Conversions between tiles that are packed differently give the same result as element by element, also in blocks whose last rows do not fill a
/// group.
#[test]
fn conversions_between_packed_tiles() {
    macro_rules! check {
        ($From:ident $from:tt, $To:ident $to:tt, $convert:expr) => {{
            type From = shape!($From[45,300] $from);
            type To = shape!($To[45,300] $to);
            type Block = shape!($From[32,256] $from);
            let x = Buffer::<From>::from_fn(|[i, j]| (7 * i + 3 * j) as _);
            let mut y = Buffer::<To>::from_fn(|[i, j]| (i % 8 + j % 4) as _);
            let before = y.clone();
            y.apply_with(&x, |old, new| $convert(new) - old);
            let mut both = before.clone();
            both.apply_with_2(&x, &before, |old, new, same| $convert(new) - old + same);
            for index in y.shape().indices() {
                assert_eq!(y[index], $convert(x[index]) - before[index], "{} {} {index:?}", From::TEXT, To::TEXT);
                assert_eq!(both[index], $convert(x[index]), "{} {} {index:?}", From::TEXT, To::TEXT);
            }
            // The last blocks have 13 rows and 44 columns; elements beyond them do not change.
            for place in [[0, 0], [0, 1], [1, 0], [1, 1]] {
                let block = x.block::<Block>(place);
                let one: ValueOf<To> = 1;
                let mut part = Buffer::<shape!($To[32,256] $to)>::filled(one);
                part.apply_with(&block, |old, new| $convert(new) - old);
                for index in part.shape().indices() {
                    let expected = if block.shape().has_index(index) { $convert(block[index]) - one } else { one };
                    assert_eq!(part[index], expected, "{} {} {place:?} {index:?}", From::TEXT, To::TEXT);
                }
                let mut copy = Buffer::<shape!($From[32,256])>::filled(1);
                block.copy_to(&mut copy);
                let mut back = Buffer::<From>::filled(1);
                copy.copy_to(&mut back.block_mut::<Block>(place));
                for index in block.shape().indices() {
                    assert_eq!((copy[index], back.block::<Block>(place)[index]), (block[index], block[index]));
                }
            }
        }};
    }
    let byte = |x: i32| (x % 100) as i8;
    check!(s32 {1,0:T(8,128)}, s8 {1,0:T(32,128)(4,1)}, byte);
    check!(s32 {1,0:T(8,128)}, s16 {1,0:T(8,128)(2,1)}, |x: i32| x as i16);
    check!(s8 {1,0:T(32,128)(4,1)}, s16 {1,0:T(16,128)(2,1)}, i16::from);
    check!(s16 {1,0:T(16,128)(2,1)}, s8 {1,0:T(32,128)(4,1)}, |x: i16| (x % 100) as i8);
    check!(s16 {1,0:T(8,128)(2,1)}, s32 {1,0}, i32::from);
}
