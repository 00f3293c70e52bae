//! Compares the stride table with a second implementation of the definition, for random layouts.
//!
//! The layouts are the same in every run. `scripts/laws.sh` compares more layouts, from a new seed, which it prints.

use std::env;
use std::thread;
use xla_shape::ElementType;
use xla_shape_tests::cases;
use xla_shape_tests::differential::tables_agree;
use xla_shape_tests::reference::ReferenceShape;

/// The number of layouts that a run compares, for each case of a property test.
const LAYOUTS: usize = 40;

/// The most positions that a layout may have, so that all can be compared.
const MAX_POSITIONS: u64 = 300;

const ELEMENT_TYPES: [ElementType; 5] =
    [ElementType::F32, ElementType::Bf16, ElementType::S8, ElementType::S4, ElementType::Pred];

/// A random array with few positions, without an element type; the type is chosen separately.
fn random_shape(random: &mut fastrand::Rng) -> ReferenceShape {
    loop {
        let num_dimensions = random.usize(0..=6);
        let sizes: Vec<_> = (0..num_dimensions)
            .map(|_| match random.u64(0..12) {
                0 => 0,
                1..=3 => 1,
                _ => random.u64(2..=9),
            })
            .collect();
        let mut minor_to_major: Vec<_> = (0..num_dimensions).collect();
        random.shuffle(&mut minor_to_major);
        let tiles = (0..random.u64(0..=3))
            .map(|_| {
                let last = random.u64(1..=7);
                let mut tile: Vec<_> =
                    (0..random.u64(0..=3)).map(|_| (random.u64(0..5) != 0).then(|| random.u64(1..=5))).collect();
                tile.push(Some(last));
                tile
            })
            .collect();
        let shape = ReferenceShape {
            sizes,
            minor_to_major,
            tiles,
            tail_alignment: if random.bool() { 1 } else { random.u64(1..=16) },
            element_bits: if random.bool() { 0 } else { random.u64(1..=40) },
            prefix: if random.bool() { 0 } else { random.u64(1..=64) },
        };
        if shape.physical_elements() <= MAX_POSITIONS {
            return shape;
        }
    }
}

#[test]
fn the_stride_table_agrees_with_the_reference() {
    let seed: u64 = env::var("PROPTEST_RNG_SEED").map_or(0, |seed| seed.parse().expect("the seed is a number"));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for number in (thread..LAYOUTS * cases()).step_by(threads) {
                    let mut random = fastrand::Rng::with_seed(seed.wrapping_add(number as u64));
                    let shape = random_shape(&mut random);
                    let element_type = ELEMENT_TYPES[random.usize(0..ELEMENT_TYPES.len())];
                    if let Err(difference) = tables_agree(&shape, element_type) {
                        panic!("PROPTEST_RNG_SEED={seed}, layout {number}: {difference}");
                    }
                }
            });
        }
    });
}

#[test]
fn the_reference_gives_the_documented_places() {
    let shape = |sizes: &[u64], minor_to_major: &[usize], tiles: &[&[Option<u64>]]| ReferenceShape {
        sizes: sizes.to_vec(),
        minor_to_major: minor_to_major.to_vec(),
        tiles: tiles.iter().map(|tile| tile.to_vec()).collect(),
        tail_alignment: 1,
        element_bits: 0,
        prefix: 0,
    };
    assert_eq!(shape(&[3, 5], &[1, 0], &[&[Some(2), Some(2)]]).linear_index(&[2, 3]), 17);
    let padded = shape(&[8, 8], &[1, 0], &[&[Some(2), Some(4)], &[Some(2), Some(1), Some(1)]]);
    assert_eq!(padded.linear_index(&[6, 5]), 51);
    let vector = shape(&[2048], &[0], &[&[Some(1024)], &[Some(128)], &[Some(2), Some(1)]]);
    assert_eq!((vector.linear_index(&[128]), vector.linear_index(&[1])), (1, 2));
    assert_eq!(shape(&[8], &[0], &[&[Some(2), Some(2)]]).linear_index(&[5]), 9);
}
