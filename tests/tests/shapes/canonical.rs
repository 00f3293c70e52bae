//! The canonical form decides equality: two maps have the same form exactly if every element has the same position, checked by enumeration.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use xla_shape_core::map::{StaticStrideTable, StrideTable, StrideTableError};
use xla_shape_core::{ArrayShape, Dimension, ElementType, Layout, LayoutAttributes, Shape, Tile, TileDimension};

/// A tile with few, small entries, so that two layouts are often equal.
fn coarse_tile() -> impl Strategy<Value = Tile> {
    let size = || select(vec![1_u64, 2, 2, 3, 4, 5, 6, 8, 12]);
    let entry = prop_oneof![3 => size().prop_map(TileDimension::Size), 1 => Just(TileDimension::Combine)];
    (vec(entry, 0..=2), size()).prop_map(|(mut entries, last)| {
        entries.push(TileDimension::Size(last));
        Tile::new(&entries)
    })
}

fn coarse_layout(num_dimensions: usize) -> impl Strategy<Value = Layout> {
    (Just((0..num_dimensions).collect::<Vec<_>>()).prop_shuffle(), vec(coarse_tile(), 0..=3))
        .prop_map(|(order, tiles)| Layout::new(&order).unwrap().with_tiles(&tiles).unwrap())
}

fn table(sizes: &[u64], layout: Layout) -> StrideTable {
    let dimensions = sizes.iter().copied().map(Dimension::Static).collect::<Vec<_>>();
    ArrayShape::new(ElementType::F32, &dimensions, layout).unwrap().stride_table().unwrap()
}

/// Two layouts of the same few elements.
fn pair() -> impl Strategy<Value = (StrideTable, StrideTable)> {
    let size = select(vec![1_u64, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 24]);
    vec(size, 0..=3).prop_flat_map(|sizes| {
        let layouts = (coarse_layout(sizes.len()), coarse_layout(sizes.len()));
        (Just(sizes), layouts).prop_map(|(sizes, (a, b))| (table(&sizes, a), table(&sizes, b)))
    })
}

fn indices(sizes: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let elements = sizes.iter().product();
    (0..elements).map(move |mut number: u64| {
        let mut index = vec![0; sizes.len()];
        for (entry, size) in index.iter_mut().zip(sizes).rev() {
            *entry = number % size;
            number /= size;
        }
        index
    })
}

fn enumerated(a: &StrideTable, b: &StrideTable) -> Option<Vec<u64>> {
    indices(a.as_ref().extents()).find(|index| a.as_ref().linear_index(index) != b.as_ref().linear_index(index))
}

proptest! {
    #[test]
    fn the_form_has_the_same_map((table, _) in pair()) {
        let form = table.as_ref().canonical().unwrap();
        for index in indices(table.as_ref().extents()) {
            prop_assert_eq!(form.checked_linear_index(&index), Some(table.as_ref().linear_index(&index)));
        }
    }

    #[test]
    fn forms_are_equal_exactly_when_maps_are((a, b) in pair()) {
        let (this, that) = (a.as_ref().canonical().unwrap(), b.as_ref().canonical().unwrap());
        let alike = enumerated(&a, &b).is_none();
        // If forms combine dimensions, they may differ although the maps are equal. So then only equal forms are checked.
        if this == that || this.is_sum_over_dimensions() && that.is_sum_over_dimensions() {
            prop_assert_eq!(this == that, alike);
        }
    }

    #[test]
    fn the_first_element_that_moves_is_found((a, b) in pair()) {
        prop_assert_eq!(a.as_ref().first_moved(b.as_ref()), Ok(enumerated(&a, &b)));
        prop_assert_eq!(a.as_ref().same_positions(b.as_ref()), Ok(enumerated(&a, &b).is_none()));
    }

    #[test]
    fn digits_of_a_form_are_sorted_and_none_is_idle((table, _) in pair()) {
        let form = table.as_ref().canonical().unwrap();
        prop_assert!(form.digits().windows(2).all(|pair| pair[0].stride >= pair[1].stride));
        prop_assert!(form.digits().iter().all(|digit| digit.size > 1));
        prop_assert!(form.is_sum_over_dimensions() || !form.intermediates().is_empty());
    }
}

/// Checks that the random pairs are often equal and often different.
#[test]
fn random_pairs_are_often_alike_and_often_not() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let pairs = (0..500).map(|_| pair().new_tree(&mut runner).unwrap().current());
    let alike = pairs.filter(|(a, b)| enumerated(a, b).is_none()).count();
    assert!((100..=400).contains(&alike), "{alike} of 500 pairs are alike");
}

fn read(text: &str) -> StrideTable {
    text.parse::<ArrayShape>().unwrap().stride_table().unwrap()
}

#[test]
fn large_and_uneven_layouts_are_compared_too() {
    let cases = [
        ("u8[4611686018427387904]{0}", "u8[4611686018427387904]{0:T(1073741824)(1048576)}", None),
        ("f32[4611686018427387]{0:T(1000003)(999)}", "f32[4611686018427387]{0:T(1000003)(999)(37)}", None),
        ("f32[46116860184]{0:T(1000003,7)(999,1)}", "f32[46116860184]{0:T(1000003,7)}", Some(vec![1])),
        ("f32[1000000,1000000]{1,0:T(8,128)(3,1)}", "f32[1000000,1000000]{1,0:T(8,128)(3,2)}", Some(vec![0, 1])),
        ("f32[1000000,1000000]{1,0:T(8,128)}", "f32[1000000,1000000]{1,0:T(8,128)(3,128)}", Some(vec![0, 128])),
        ("f32[99991,99989]{1,0:T(*,1000)}", "f32[99991,99989]{1,0}", None),
        ("f32[99991,99989,3]{2,1,0:T(*,1000,2)}", "f32[99991,99989,3]{2,1,0:T(*,1000,2)(1000,2)}", None),
        ("f32[99991,99989,3]{2,1,0:T(*,1000,2)}", "f32[99991,99989,3]{2,1,0:T(*,1001,2)}", Some(vec![0, 0, 2])),
    ];
    for (a, b, first) in cases {
        assert_eq!(read(a).as_ref().first_moved(read(b).as_ref()), Ok(first), "{a} and {b}");
    }
}

#[test]
fn nothing_moves_in_an_array_of_nothing() {
    let (a, b) = (read("f32[3,0]{1,0:T(2,2)}"), read("f32[3,0]{0,1}"));
    assert_eq!(a.as_ref().first_moved(b.as_ref()), Ok(None));
    assert_eq!(a.as_ref().canonical(), b.as_ref().canonical());
    assert_eq!(a.as_ref().first_moved(read("f32[0,3]{0,1}").as_ref()), Err(StrideTableError::OtherDimensions));
}

#[test]
fn static_tables_are_compared_in_a_const() {
    const EXTENTS: [u64; 2] = [1024, 128];
    const TILES: &[Tile] = &[Tile::from_static(&[TileDimension::Size(8), TileDimension::Size(128)])];
    const TILED: &Layout = &Layout::from_static(&[1, 0], TILES, LayoutAttributes::DEFAULT);
    const PLAIN: &Layout = &Layout::from_static(&[1, 0], &[], LayoutAttributes::DEFAULT);
    const TURNED: &Layout = &Layout::from_static(&[0, 1], &[], LayoutAttributes::DEFAULT);

    const fn alike(a: &Layout, b: &Layout) -> Result<bool, StrideTableError> {
        match (StaticStrideTable::new(&EXTENTS, a), StaticStrideTable::new(&EXTENTS, b)) {
            (Ok(a), Ok(b)) => a.with_extents(&EXTENTS).same_positions(b.with_extents(&EXTENTS)),
            _ => panic!("the tables are small"),
        }
    }

    const _: () = assert!(matches!(alike(TILED, PLAIN), Ok(true)));
    const _: () = assert!(matches!(alike(TILED, TURNED), Ok(false)));
}

/// The text that a failed `assert_eq!` or `unwrap` prints for a shape.
#[test]
fn debug_is_the_text() {
    let text = "bf16[3,<=4]{1,0:T(8,128)(2,1)S(1)}";
    let array: ArrayShape = text.parse().unwrap();
    assert_eq!(format!("{array:?}"), text);
    assert_eq!(format!("{:?}", array.layout()), "{1,0:T(8,128)(2,1)S(1)}");
    assert_eq!(format!("{:?}", array.layout().tiles()), "[(8,128), (2,1)]");
    let tuple: Shape = format!("({text}, token[])").parse().unwrap();
    assert_eq!(format!("{tuple:?}"), format!("({text}, token[])"));
    assert_eq!(format!("{:?}", Some(array)), format!("Some({text})"));
}
