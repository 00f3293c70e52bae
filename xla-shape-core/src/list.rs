//! A short list that a `const` can hold and that rarely allocates.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

/// A value to fill the unused slots of an inline [`List`] with.
pub(crate) trait Blank: Clone {
    const BLANK: Self;
}

/// An immutable-by-default list of `T`: borrowed from a `static`, stored in place up to `N` items, or on the heap.
///
/// Which of the three it is never shows: equality, hashing and printing look at the items only.
#[derive(Clone)]
pub(crate) enum List<T: 'static, const N: usize> {
    Static(&'static [T]),
    Inline { len: u8, items: [T; N] },
    Heap(Vec<T>),
}

/// Appends an item, and makes room for an eighth more items where there is none left, not for twice as many: lists that a text
/// makes long take memory in proportion to it.
pub(crate) fn push_tightly<T>(items: &mut Vec<T>, item: T) {
    if items.len() == items.capacity() {
        items.reserve_exact((items.len() / 8).max(4));
    }
    items.push(item);
}

impl<T, const N: usize> List<T, N> {
    pub(crate) const EMPTY: Self = Self::Static(&[]);

    /// The items.
    #[inline]
    pub(crate) const fn as_slice(&self) -> &[T] {
        match self {
            Self::Static(items) => items,
            Self::Inline { len, items } => items.split_at(*len as usize).0,
            Self::Heap(items) => items.as_slice(),
        }
    }
}

impl<T, const N: usize> List<T, N> {
    /// The bytes on the heap that the list itself holds.
    pub(crate) const fn heap_bytes(&self) -> usize {
        match self {
            Self::Static(_) | Self::Inline { .. } => 0,
            Self::Heap(items) => items.capacity().saturating_mul(size_of::<T>()),
        }
    }
}

impl<T: Blank, const N: usize> List<T, N> {
    pub(crate) fn push(&mut self, item: T) {
        match self {
            Self::Inline { len, items } => {
                if let Some(slot) = items.get_mut(usize::from(*len)) {
                    *slot = item;
                    *len = len.saturating_add(1);
                } else {
                    let mut heap = Vec::with_capacity(N.saturating_mul(2));
                    heap.extend_from_slice(items);
                    heap.push(item);
                    *self = Self::Heap(heap);
                }
            }
            Self::Heap(items) => push_tightly(items, item),
            Self::Static([]) if N > 0 => {
                let mut items = [const { T::BLANK }; N];
                if let Some(first) = items.first_mut() {
                    *first = item;
                }
                *self = Self::Inline { len: 1, items };
            }
            Self::Static(items) => {
                *self = Self::from_slice(items);
                self.push(item);
            }
        }
    }

    pub(crate) fn from_slice(source: &[T]) -> Self {
        // An inline list counts with a `u8`.
        if source.len() > N || N > usize::from(u8::MAX) {
            return Self::Heap(source.to_vec());
        }
        let mut items = [const { T::BLANK }; N];
        for (slot, item) in items.iter_mut().zip(source) {
            *slot = item.clone();
        }
        Self::Inline { len: u8::try_from(source.len()).unwrap_or(u8::MAX), items }
    }
}

impl<T: PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Eq, const N: usize> Eq for List<T, N> {}

impl<T: Hash, const N: usize> Hash for List<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl Blank for u64 {
    const BLANK: Self = 0;
}

impl Blank for usize {
    const BLANK: Self = 0;
}

#[cfg(test)]
mod tests {
    use super::List;
    use alloc::vec::Vec;

    #[test]
    fn grows_from_static_through_inline_to_heap() {
        let mut list = List::<usize, 3>::EMPTY;
        for item in 0..10 {
            assert_eq!(list.as_slice(), (0..item).collect::<Vec<_>>());
            list.push(item);
        }
        assert!(matches!(list, List::Heap(_)));
        assert_eq!(list, List::from_slice(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
        assert_eq!(List::<usize, 3>::Static(&[4, 5]), List::from_slice(&[4, 5]));
    }

    #[test]
    fn without_room_in_place_goes_to_the_heap() {
        let mut list = List::<usize, 0>::EMPTY;
        list.push(7);
        assert_eq!(list.as_slice(), [7]);
    }
}
