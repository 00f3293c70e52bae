//! Arrays without elements, but with other sizes so large that their product overflows.

use xla_shape::element::S32;
use xla_shape::types::{StaticArray, WholeArray};
use xla_shape::{Buffer, DynBuffer, shape};

const LARGE: usize = 1 << 40;

/// Checks that every way to iterate finds nothing.
fn nothing<S: WholeArray<Element = S32, Index = [usize; 3]>, P>(sizes: [usize; 3])
where
    P: StaticArray<Element = S32, Layout = S::Layout, Index = [usize; 3]>,
{
    let Ok(shape) = S::with_sizes(sizes) else { return };
    // A bounded dimension takes the memory of its bound, so skip large ones.
    if shape.byte_size() > 1 << 20 {
        return;
    }
    let mut x = Buffer::<S>::zeroed_with(shape).expect("little memory");
    let none = |what: &str| -> i32 { panic!("{what} of {sizes:?}") };
    assert_eq!(shape.indices().len(), 0);
    assert_eq!((x.iter().len(), x.iter().next()), (0, None));
    assert_eq!(x.indexed_iter().len(), 0);
    assert!(x.rows().next().is_none() && x.rows().len() == 0);
    assert!(x.lines::<0>().next().is_none() && x.lines::<0>().len() == 0);
    assert!(x.lines::<1>().next().is_none() && x.lines::<1>().len() == 0);
    x.for_each(|_| {
        none("for_each");
    });
    x.for_each_indexed(|_, _| {
        none("for_each_indexed");
    });
    x.for_each_segment(|segment| assert!(segment.is_empty()));
    x.for_each_band::<0>(|_| {
        none("for_each_band");
    });
    x.for_each_band::<-1>(|_| {
        none("for_each_band");
    });
    assert_eq!(x.bands::<1>().count(), 0);
    x.apply(|_| none("apply"));
    let blocks = x.blocks::<P>();
    assert_eq!((blocks.len(), blocks.count()), (0, 0));
    assert_eq!(x.blocks_mut::<P>().count(), 0);
    x.set_row_major(&[]).expect("no elements");
    assert!(x.set_row_major(&[1]).is_err());
    assert!(x.to_row_major().is_empty());
    let y = x.clone();
    x.apply_with(&y, |_, _| none("apply_with"));
}

/// All combinations of a few sizes with at least one 0. In some of them, the product of the other sizes overflows.
fn worlds() -> impl Iterator<Item = [usize; 3]> {
    let sizes = [0, 1, 3, LARGE];
    let all = sizes.into_iter().flat_map(move |a| sizes.into_iter().flat_map(move |b| sizes.map(|c| [a, b, c])));
    all.filter(|sizes| sizes.contains(&0))
}

#[test]
fn walkers_of_empty_arrays_find_nothing() {
    for sizes in worlds() {
        nothing::<shape!(s32[?,?,?]), shape!(s32[2,2,2])>(sizes);
        nothing::<shape!(s32[?,?,?]{0,2,1}), shape!(s32[2,2,2]{0,2,1})>(sizes);
        nothing::<shape!(s32[?,?,?]{2,1,0:T(2,4)}), shape!(s32[1,2,4]{2,1,0:T(2,4)})>(sizes);
        nothing::<shape!(s32[?,<=3,?]), shape!(s32[2,2,2])>(sizes);
    }
}

#[test]
fn tiles_of_empty_arrays_are_none() {
    for sizes in worlds() {
        let Ok(shape) = <shape!(s32[?,?,?]{2,1,0:T(2,4)})>::with_sizes(sizes) else { continue };
        let mut x = Buffer::<shape!(s32[?,?,?]{2,1,0:T(2,4)})>::zeroed_with(shape).expect("little memory");
        assert_eq!(x.as_tiles::<[[i32; 4]; 2]>().len(), 0);
        assert_eq!(x.tiles::<[[i32; 4]; 2]>().count(), 0);
        assert_eq!(x.tiles_mut::<[[i32; 4]; 2]>().count(), 0);
    }
}

#[test]
fn empty_arrays_of_run_time_have_no_elements() {
    for [a, b, c] in worlds() {
        let Ok(shape) = format!("s32[{a},{b},{c}]").parse() else { continue };
        let mut x = DynBuffer::zeroed_with(shape).expect("little memory");
        assert_eq!(x.iter::<S32>().unwrap().len(), 0);
        x.set_row_major::<S32>(&[]).expect("no elements");
    }
}
