//! Each rule of the normal form, by an example.

#![expect(clippy::arithmetic_side_effects, reason = "the numbers of the examples are small")]

use super::super::{Digit, Intermediate, Source, StrideTable, Term};
use super::rules::first_shift;
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::num::NonZeroU64;

fn term(source: Source, divisor: u64, modulus: u64) -> Term {
    Term { source, divisor: NonZeroU64::new(divisor).unwrap(), modulus: NonZeroU64::new(modulus) }
}

/// A part of dimension 0; a modulus of 0 means that there is none.
fn row(divisor: u64, modulus: u64) -> Term {
    term(Source::Dimension(0), divisor, modulus)
}

fn table(extents: &[u64], digits: &[Digit], values: Vec<Intermediate>) -> StrideTable {
    StrideTable::from_digits(extents, digits, values).unwrap()
}

/// The canonical form of a table without sums, as a text: `i/8·2 + j%3·1`.
fn form(table: &StrideTable) -> String {
    let mapping = table.as_ref().canonical().unwrap();
    assert!(mapping.intermediates().is_empty(), "a sum is left");
    let part = |digit: &Digit| {
        let Source::Dimension(dimension) = digit.term.source else { panic!("a part of a dimension") };
        let letter = char::from(b'i' + dimension as u8);
        let divisor = Some(digit.term.divisor.get()).filter(|&divisor| divisor > 1);
        let divisor = divisor.map(|divisor| format!("/{divisor}")).unwrap_or_default();
        let modulus = digit.term.modulus.map(|modulus| format!("%{modulus}")).unwrap_or_default();
        format!("{letter}{divisor}{modulus}·{}", digit.stride)
    };
    mapping.digits().iter().map(part).collect::<Vec<_>>().join(" + ")
}

/// The form of `(i·size + j) / divisor % modulus`, where `extents` are the numbers of values of `i` and `j`.
fn combined(extents: [u64; 2], size: u64, divisor: u64, modulus: u64) -> String {
    let [major, minor] = [0, 1].map(|dimension| term(Source::Dimension(dimension), 1, 0));
    let most = (extents[0] - 1) * size + extents[1] - 1;
    let minor_size = NonZeroU64::new(size).unwrap();
    let sum = Intermediate::Combine { major, minor, minor_size, size: most + 1 };
    let size = if modulus > 0 { modulus } else { most / divisor + 1 };
    let digit = Digit { term: term(Source::Intermediate(0), divisor, modulus), size, stride: 1 };
    form(&table(&extents, &[digit], vec![sum]))
}

#[test]
fn sums_are_split_as_the_examples_say() {
    assert_eq!(combined([3, 4], 4, 4, 0), "i·1");
    assert_eq!(combined([3, 4], 4, 1, 4), "j·1");
    assert_eq!(combined([3, 2], 6, 1, 4), "i%2·2 + j·1");
    assert_eq!(combined([3, 4], 4, 2, 0), "i·2 + j/2·1");
}

#[test]
fn parts_are_joined_as_the_examples_say() {
    let tiles = |stride| [Digit { term: row(8, 0), size: 2, stride }, Digit { term: row(1, 8), size: 8, stride: 128 }];
    assert_eq!(form(&table(&[16], &tiles(1024), vec![])), "i·128");
    assert_eq!(form(&table(&[16], &tiles(2048), vec![])), "i/8·2048 + i%8·128");
    let twice = [3, 2].map(|stride| Digit { term: row(1, 0), size: 16, stride });
    assert_eq!(form(&table(&[16], &twice, vec![])), "i·5");
}

#[test]
fn remainders_that_no_element_sees_are_removed() {
    // `x % first % second / divisor`, for `x` below `extent`.
    let cut = |first, second: u64, divisor: u64, extent| {
        let outer = Intermediate::Term { term: row(1, first), size: first };
        let inner = Intermediate::Term { term: term(Source::Intermediate(0), 1, second), size: second };
        let size = second.div_ceil(divisor);
        let digit = Digit { term: term(Source::Intermediate(1), divisor, 0), size, stride: 1 };
        table(&[extent], &[digit], vec![outer, inner])
    };
    let first_moved = |one: &StrideTable, other: &StrideTable| one.as_ref().first_moved(other.as_ref()).unwrap();
    assert_eq!(first_moved(&cut(24, 8, 1, 100), &cut(8, 8, 1, 100)), None);
    assert!(first_moved(&cut(24, 9, 1, 100), &cut(9, 9, 1, 100)).is_some());
    assert_eq!(first_moved(&cut(8, 5, 4, 9), &cut(5, 5, 4, 9)), None);
    assert_eq!(first_moved(&cut(8, 5, 4, 10), &cut(5, 5, 4, 10)), Some(vec![9]));
    assert_eq!((first_shift(&[5], 4, 8, 1), first_shift(&[5], 4, 8, 2)), (None, Some(1)));
}
