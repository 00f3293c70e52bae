//! Stable sorts that are compiled once for all types, and maps and sets that are made without a sort.
//!
//! The sorts of the standard library are compiled for each type of element and each order: 4 KiB of code every time. These crates sort short lists
//! of many types, and a program's buffers only once, so the size of the code counts more than its speed: the explorer, in WebAssembly, gets smaller.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Sorts as `slice::sort_by` does. It allocates one number for each element.
///
/// ```
/// let mut words = ["pear", "fig", "apple", "kiwi"];
/// xla_shape_core::sorting::sort_by(&mut words, |a, b| a.len().cmp(&b.len()));
/// assert_eq!(words, ["fig", "pear", "kiwi", "apple"]);
/// ```
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut sources: Vec<usize> = (0..items.len()).collect();
    sort_numbers(&mut sources, &mut |a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    // Follows each cycle of the permutation: the element that belongs to place `at` is at `sources[at]`. A place that is done is its own source.
    for start in 0..items.len() {
        let mut at = start;
        while let Some(source) = sources.get_mut(at).map(|source| core::mem::replace(source, at)) {
            if source == start {
                break;
            }
            items.swap(at, source);
            at = source;
        }
    }
}

/// Sorts as `slice::sort` does. It allocates one number for each element.
///
/// ```
/// let mut numbers = [3, 1, 2];
/// xla_shape_core::sorting::sort(&mut numbers);
/// assert_eq!(numbers, [1, 2, 3]);
/// ```
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts as `slice::sort_by_key` does. It allocates one number for each element.
///
/// ```
/// let mut numbers = [3, -5, 1, 5];
/// xla_shape_core::sorting::sort_by_key(&mut numbers, |number: &i32| number.abs());
/// assert_eq!(numbers, [1, 3, -5, 5]);
/// ```
pub fn sort_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Collects pairs into a map; of equal keys, the last pair counts. The same as `collect()`, which would sort them first.
///
/// ```
/// let map = xla_shape_core::sorting::map_of([("b", 1), ("a", 2), ("b", 3)]);
/// assert_eq!(map.into_iter().collect::<Vec<_>>(), [("a", 2), ("b", 3)]);
/// ```
pub fn map_of<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(pairs);
    map
}

/// The set of these elements.
///
/// ```
/// let set = xla_shape_core::sorting::set_of([2, 1, 2]);
/// assert_eq!(set.into_iter().collect::<Vec<_>>(), [1, 2]);
/// ```
pub fn set_of<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

fn sort_numbers(numbers: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    numbers.sort_by(|&a, &b| compare(a, b));
}

#[cfg(test)]
mod tests {
    use super::sort_by_key;
    use alloc::vec::Vec;

    /// Every list of up to 6 small numbers, with its places: equal ones keep their order.
    #[test]
    fn lists_are_sorted_as_the_standard_library_does() {
        for length in 0..=6_u32 {
            for list in 0..4_u32.pow(length) {
                let mut found: Vec<_> = (0..length).map(|place| (list / 4_u32.pow(place) % 4, place)).collect();
                let mut expected = found.clone();
                expected.sort_by_key(|&(number, _)| number);
                sort_by_key(&mut found, |&(number, _)| number);
                assert_eq!(found, expected);
            }
        }
    }
}
