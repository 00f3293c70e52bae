//! Iterates over arrays whose shapes are types, with sizes that are known only at run time.

use super::guard::{Guarded, Side};
use arbitrary::Unstructured;
use xla_shape::element::{S4, S32};
use xla_shape::types::{ArrayType, WholeArray};
use xla_shape::{Slot, ViewMut, shape};

type Index = [usize; 2];

/// Any sizes, in types with every kind of dimension: each way to iterate visits every element once, and nothing else.
///
/// The memory ends with the array: an access outside it ends the program.
///
/// # Panics
/// If one of these checks fails.
pub fn walkers(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let (Ok(kind), Ok(i), Ok(j)) = (input.int_in_range(0..=15), input.int_in_range(0..=40), input.int_in_range(0..=40))
    else {
        return;
    };
    let sizes = [i, j];
    match kind {
        0 => whole::<shape!(s32[?,?])>(sizes),
        1 => whole::<shape!(s32[?,?]{0,1})>(sizes),
        2 => whole::<shape!(s32[?,?]{1,0:T(8,128)})>(sizes),
        3 => whole::<shape!(s32[?,?]{1,0:T(4,8)(2,1)})>(sizes),
        4 => whole::<shape!(s32[?,?]{0,1:T(2,4)(2,1)L(64)})>(sizes),
        5 => whole::<shape!(s32[<=5,?]{1,0:T(2,4)})>(sizes),
        6 => whole::<shape!(s32[<=9,<=7]{0,1:T(4)M(8)})>(sizes),
        7 => whole::<shape!(s32[?,3]{1,0:T(2,4)})>([i, 3]),
        8 => whole::<shape!(s32[?,<=0]{1,0:T(2,4)})>([i, 0]),
        9 => whole::<shape!(s32[0,?]{0,1:T(8,128)})>([0, j]),
        10 => whole::<shape!(s32[<=12,9]{1,0:T(*,5)})>([i, 9]),
        11 => whole::<shape!(s32[?,<=33]{1,0:T(3)(2)})>(sizes),
        12 => packed::<shape!(s4[?,?]{1,0:E(4)})>(sizes),
        13 => packed::<shape!(s4[?,?]{1,0:T(2,3)(2,1)E(4)})>(sizes),
        14 => packed::<shape!(s4[<=9,?]{0,1:T(2,3)E(5)M(3)})>(sizes),
        _ => packed::<shape!(s4[?,0]{1,0:T(8,128)E(4)})>([i, 0]),
    }
}

/// Memory for an array, if the sizes are valid. It is aligned for the elements, and not more.
fn memory<S: WholeArray<Index = Index>>(sizes: Index) -> Option<(S, Guarded)> {
    let shape = S::with_sizes(sizes).ok()?;
    let side = if sizes[0].is_multiple_of(2) { Side::Before } else { Side::Behind };
    Some((shape, Guarded::new(shape.byte_size(), side)))
}

/// The index of the element at each position, computed with the run-time table of the bounds.
fn slots<S: ArrayType<Index = Index>>(shape: S) -> Vec<Option<Index>> {
    let table = shape.array_shape().stride_table().expect("sizes are known");
    let inside = |index: &Index| shape.has_index(*index);
    let slots = table.as_ref().iter().map(|slot| slot.element().map(|index| [index[0] as usize, index[1] as usize]));
    slots.map(|index| index.filter(inside)).collect()
}

/// Iteration with indices, which also works for packed elements.
fn packed<S: WholeArray<Element = S4, Index = Index>>(sizes: Index) {
    let Some((shape, mut memory)) = memory::<S>(sizes) else { return };
    let x = ViewMut::<S>::from_parts(shape, memory.bytes()).expect("packed elements need no alignment");
    let mut found = Vec::new();
    x.for_each_position(|slot, _| found.push(slot.element()));
    assert_eq!(found, slots(shape), "{shape:?} {sizes:?}");
}

fn whole<S: WholeArray<Element = S32, Index = Index>>(sizes: Index) {
    let Some((shape, mut memory)) = memory::<S>(sizes) else { return };
    let mut x = ViewMut::<S>::from_parts(shape, memory.bytes()).expect("memory of the array's size");
    let value = |[i, j]: Index| (100 * i + j + 1) as i32;
    let total = |x: &ViewMut<'_, S>| x.indexed_iter().map(|(_, value)| i64::from(value)).sum::<i64>();
    x.fill_with(value);
    let sum = total(&x);

    let mut found = Vec::new();
    x.for_each_position(|slot, value| {
        found.push(slot.element());
        assert!(slot != Slot::OutOfRange && (slot.element().is_some() || value == 0));
    });
    assert_eq!(found, slots(shape), "{shape:?} {sizes:?}");
    x.for_each_indexed(|index, found| assert_eq!(found, value(index)));
    let mut seen = 0;
    x.for_each(|value| seen += i64::from(value));
    assert_eq!(seen, sum, "{shape:?} {sizes:?}");
    assert_eq!(x.fold_lanes([0_i64; 5], |sum, value| sum + i64::from(value)).iter().sum::<i64>(), sum);
    let (mut rows, mut columns) = (0, 0);
    for i in 0..sizes[0] {
        x.line::<1>([i, 0]).expect("a row").for_each(|value| rows += i64::from(value));
    }
    for j in 0..sizes[1] {
        x.line::<0>([0, j]).expect("a column").for_each(|value| columns += i64::from(value));
    }
    assert_eq!((rows, columns), (sum, sum), "{shape:?} {sizes:?}");
    // Lanes without a line are padding, which is 0.
    for_each_band::<S, 0>(&x, sum);
    for_each_band::<S, 1>(&x, sum);

    let elements = shape.indices().len() as i64;
    x.apply(|value| value + 1);
    assert_eq!(total(&x), sum + elements);
    let (_, mut other) = self::memory::<S>(sizes).expect("the same sizes");
    let mut y = ViewMut::<S>::from_parts(shape, other.bytes()).expect("the same memory");
    y.fill(2);
    x.apply_with(&y, |x, y| x - y);
    assert_eq!(total(&x), sum - elements);
    x.fill_padding(i32::MIN);
    assert_eq!(total(&x), sum - elements);
}

fn for_each_band<S: ArrayType<Element = S32, Index = Index>, const DIM: i64>(x: &ViewMut<'_, S>, sum: i64) {
    let mut seen = 0;
    x.for_each_band::<DIM>(|band| {
        band.for_each_block(|_, block| seen += block.iter().map(|&x| i64::from(x)).sum::<i64>())
    });
    assert_eq!(seen, sum, "{:?} along {DIM}", x.shape());
}
