//! Compares iterators, lookups of indices and copies with the definition, for all arrays of a small set: up to three dimensions, small sizes
//! including 0, every order, and up to two tiles with small entries and `*`. `scripts/laws.sh` checks every case of two dimensions, `cargo test`
//! every third.

use std::collections::BTreeMap;
use xla_shape::element::U8;
use xla_shape::map::{OffsetTables, StaticStrideTable, StrideTableRef};
use xla_shape::relayout::Stores;
use xla_shape::{ArrayShape, Dimension, DynBuffer, ElementType, Slot};
use xla_shape_tests::differential::{relayout_agrees, tables_agree};
use xla_shape_tests::is_thorough;
use xla_shape_tests::reference::ReferenceShape;

/// Every list of `len` of these items.
fn lists<T: Clone>(items: &[T], len: usize) -> Vec<Vec<T>> {
    (0..len).fold(vec![vec![]], |lists, _| {
        let longer = |list: Vec<T>| items.iter().map(move |item| [&list[..], std::slice::from_ref(item)].concat());
        lists.into_iter().flat_map(longer).collect()
    })
}

fn orders(rank: usize) -> Vec<Vec<usize>> {
    let mut orders = lists(&(0..rank).collect::<Vec<_>>(), rank);
    orders.retain(|order| (0..rank).all(|dimension| order.contains(&dimension)));
    orders
}

/// Every tile of up to `len` entries whose last entry is not `*`.
fn tiles(len: usize, sizes: &[u64]) -> Vec<Vec<Option<u64>>> {
    let entries = sizes.iter().copied().map(Some).chain([None]).collect::<Vec<_>>();
    let mut tiles = (1..=len).flat_map(|len| lists(&entries, len)).collect::<Vec<_>>();
    tiles.retain(|tile| tile.last() != Some(&None));
    tiles
}

/// Every list of up to two tiles, the second one with fewer entries.
fn tilings(len: usize, second: usize) -> Vec<Vec<Vec<Option<u64>>>> {
    let first = tiles(len, &[1, 2, 3]);
    let second = tiles(second, &[2, 3]);
    let pairs = first.iter().flat_map(|first| second.iter().map(|second| vec![first.clone(), second.clone()]));
    [vec![]].into_iter().chain(first.iter().map(|tile| vec![tile.clone()])).chain(pairs).collect()
}

/// Calls `check` with the arrays of a rank: with all, or with every `step`th one if there are too many.
fn worlds(rank: usize, sizes: &[u64], tilings: &[Vec<Vec<Option<u64>>>], step: usize, mut check: impl FnMut(&World)) {
    // The numbers of orders and of tilings are even, so an odd step reaches all of them.
    let step = if rank > 1 && !is_thorough() { 2 * step + 1 } else { step };
    let mut number = 0;
    for sizes in lists(sizes, rank) {
        for minor_to_major in orders(rank) {
            for tiles in tilings {
                number += 1;
                if number % step == 0 {
                    let (sizes, minor_to_major, tiles) = (sizes.clone(), minor_to_major.clone(), tiles.clone());
                    check(&World::new(ReferenceShape {
                        sizes,
                        minor_to_major,
                        tiles,
                        tail_alignment: 1,
                        element_bits: 0,
                        prefix: 0,
                    }));
                }
            }
        }
    }
}

/// An array, and the content of each of its positions by the definition.
struct World {
    reference: ReferenceShape,
    shape: ArrayShape,
    map: Vec<Option<Vec<u64>>>,
}

impl World {
    fn new(reference: ReferenceShape) -> Self {
        let shape = format!("u8{reference}").parse().unwrap();
        Self { map: reference.map(), reference, shape }
    }

    /// The content of each position, if only indices below `sizes` are elements.
    fn slots(&self, sizes: &[u64]) -> Vec<Option<Vec<u64>>> {
        let inside = |index: &&Vec<u64>| index.iter().zip(sizes).all(|(index, size)| index < size);
        self.map.iter().map(|index| index.as_ref().filter(inside).cloned()).collect()
    }

    /// Compares all ways to iterate over a table with the definition; its extents are these sizes.
    fn check_walks(&self, table: StrideTableRef<'_>, sizes: &[u64], what: &str) {
        let expected = self.slots(sizes);
        let name = || format!("{} as {what} with sizes {sizes:?}", self.shape);
        assert_eq!(table.positions(), expected.len() as u64, "{}", name());
        let mut walked = vec![];
        table.for_each_slot(|_, slot| walked.push(slot.map(<[u64]>::to_vec).element()));
        assert_eq!(walked, expected, "{}", name());
        let mut covered = vec![false; expected.len()];
        let mut end = 0;
        table.for_each_segment(|segment| {
            assert!(end <= segment.start && segment.end <= expected.len() as u64, "{}", name());
            end = segment.end;
            covered[segment.start as usize..segment.end as usize].fill(true);
        });
        assert_eq!(covered, expected.iter().map(Option::is_some).collect::<Vec<_>>(), "{}", name());
        let (mut index, mut values) = (vec![0; sizes.len()], vec![0; table.intermediates().len()]);
        for (position, expected) in expected.iter().enumerate() {
            let slot = table.multi_index_with(position as u64, &mut index, &mut values);
            assert_eq!(slot.element().map(|()| &index), expected.as_ref(), "{}", name());
            if let Some(index) = expected {
                assert_eq!(table.linear_index_with(index, &mut values), position as u64, "{}", name());
            }
        }
        let after = table.multi_index_with(table.positions(), &mut index, &mut values);
        assert_eq!(after, Slot::OutOfRange, "{}", name());
    }

    /// Checks the table of the run-time shape, the table of a `const`, and what is computed from them.
    fn check_tables(&self) {
        let sizes = &self.reference.sizes;
        tables_agree(&self.reference, ElementType::U8).unwrap();
        let table = self.shape.stride_table().unwrap();
        self.check_walks(table.as_ref(), sizes, "a value");
        let canonical = table.as_ref().canonical().unwrap();
        let offsets = OffsetTables::new(table.as_ref());
        for (position, index) in self.map.iter().enumerate() {
            if let Some(index) = index {
                assert_eq!(canonical.checked_linear_index(index), Some(position as u64), "{}", self.shape);
                if let Some(offsets) = &offsets {
                    assert_eq!(offsets.position(index), Some(position as u64), "{}", self.shape);
                }
            }
        }
    }

    /// Checks dimensions with bounds: only indices below smaller sizes are elements.
    fn check_bounds(&self) {
        let extents = &self.reference.sizes;
        let table = StaticStrideTable::new(extents, self.shape.layout()).unwrap();
        for part in [0, 1, 2] {
            let sizes = extents.iter().map(|extent| extent.saturating_sub(part)).collect::<Vec<_>>();
            self.check_walks(table.with_extents(&sizes), &sizes, "a bound");
        }
        let nothing = vec![0; extents.len()];
        self.check_walks(table.with_extents(&nothing), &nothing, "a bound");
    }

    /// Checks every choice of unbounded dimensions, whose sizes are known only later.
    fn check_unbounded(&self) {
        let sizes = &self.reference.sizes;
        for unbounded in 1..1_usize << sizes.len() {
            let dimension = |(i, &size): (usize, &u64)| match unbounded >> i & 1 {
                1 => Dimension::Unbounded,
                _ => Dimension::Static(size),
            };
            let dimensions = sizes.iter().enumerate().map(dimension).collect::<Vec<_>>();
            // `*` cannot combine such dimensions.
            let Ok(table) = StaticStrideTable::from_dimensions(&dimensions, self.shape.layout()) else { continue };
            self.check_walks(table.with_sizes(sizes).with_extents(sizes), sizes, "one of unbounded dimensions");
            let mut values = vec![0; table.num_intermediates()];
            let all = table.with_extents(sizes);
            let few = table.for_positions();
            for (position, index) in self.map.iter().enumerate() {
                let Some(index) = index else { continue };
                for table in [all, few.with_extents(sizes)] {
                    let found = table.scaled_linear_index_with(index, sizes, &mut values);
                    assert_eq!(found, position as u64, "{index:?} of {} with {dimensions:?}", self.shape);
                }
            }
        }
    }

    /// Checks that a buffer has the right value at each element, and 0 in padding.
    fn check_buffers(&self) {
        // Indices are below 5, so every element has a value of its own, from 1 to 249. None is 0, as padding is.
        let value = |index: &[u64]| index.iter().fold(1, |value, &index| value * 5 + index as u8);
        let x = DynBuffer::from_fn_with::<U8>(self.shape.clone(), |index| value(&wide(index))).unwrap();
        let expected = self.map.iter().map(|index| index.as_deref().map_or(0, value)).collect::<Vec<_>>();
        assert_eq!(x.as_bytes(), expected, "{}", self.shape);
        let mut seen = BTreeMap::new();
        x.for_each_indexed::<U8>(|index, value| assert_eq!(seen.insert(wide(index), value), None)).unwrap();
        let elements = self.reference.indices().into_iter().map(|index| (index.clone(), value(&index)));
        assert_eq!(seen, elements.clone().collect(), "{}", self.shape);
        assert_eq!(x.to_row_major::<U8>().unwrap(), elements.map(|(_, value)| value).collect::<Vec<_>>());
        let accessor = x.accessor::<U8>().unwrap();
        for (index, value) in &seen {
            let index = index.iter().map(|&index| index as usize).collect::<Vec<_>>();
            assert_eq!((accessor.get(&index), x.get::<U8>(&index)), (Ok(*value), Ok(*value)), "{}", self.shape);
        }
    }

    /// Checks the relayout from this layout to row-major order and back.
    fn check_plans(&self) {
        let minor_to_major = (0..self.reference.sizes.len()).rev().collect();
        let plain = ReferenceShape { minor_to_major, tiles: vec![], ..self.reference.clone() };
        let content = std::array::from_fn::<_, 200, _>(|i| i as u8 + 1);
        for (from, to) in [(&self.reference, &plain), (&plain, &self.reference), (&self.reference, &self.reference)] {
            relayout_agrees(from, to, ElementType::U8, &content, Stores::Auto).unwrap();
        }
    }
}

fn wide(index: &[usize]) -> Vec<u64> {
    index.iter().map(|&index| index as u64).collect()
}

#[test]
fn tables() {
    let mut count = 0;
    let mut check = |world: &World| {
        world.check_tables();
        count += 1;
    };
    worlds(0, &[], &tilings(3, 3), 1, &mut check);
    worlds(1, &[0, 1, 2, 3, 4], &tilings(3, 3), 1, &mut check);
    worlds(2, &[0, 1, 2, 3, 4], &tilings(2, 1), 1, &mut check);
    worlds(2, &[0, 1, 2, 3, 4], &tilings(3, 3), 13, &mut check);
    worlds(3, &[0, 1, 2, 3], &tilings(2, 0), 1, &mut check);
    worlds(3, &[0, 1, 2, 3, 4], &tilings(3, 3), 601, &mut check);
    assert!(count > 7_000, "{count}");
}

#[test]
fn bounds() {
    worlds(1, &[0, 1, 2, 3, 4], &tilings(2, 2), 1, World::check_bounds);
    worlds(2, &[0, 1, 2, 3, 4], &tilings(2, 1), 1, World::check_bounds);
    worlds(3, &[0, 1, 2, 3], &tilings(3, 2), 211, World::check_bounds);
}

#[test]
fn unbounded_dimensions() {
    worlds(1, &[0, 1, 2, 3, 4], &tilings(2, 2), 1, World::check_unbounded);
    worlds(2, &[0, 1, 2, 3, 4], &tilings(2, 1), 1, World::check_unbounded);
    worlds(3, &[0, 1, 2, 3], &tilings(3, 2), 211, World::check_unbounded);
}

#[test]
fn buffers() {
    worlds(0, &[], &tilings(3, 2), 1, World::check_buffers);
    worlds(1, &[0, 1, 2, 3, 4], &tilings(3, 2), 1, World::check_buffers);
    worlds(2, &[0, 1, 2, 3, 4], &tilings(2, 2), 3, World::check_buffers);
    worlds(3, &[0, 1, 2, 3], &tilings(3, 2), 401, World::check_buffers);
}

#[test]
fn plans() {
    worlds(0, &[], &tilings(3, 2), 1, World::check_plans);
    worlds(1, &[0, 1, 2, 3, 4], &tilings(3, 2), 1, World::check_plans);
    worlds(2, &[0, 1, 2, 3, 4], &tilings(2, 1), 1, World::check_plans);
    worlds(3, &[0, 1, 2, 3, 4], &tilings(3, 2), 211, World::check_plans);
}
