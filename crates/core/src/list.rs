//! A short list that a `const` can hold and that rarely allocates.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

/// A value to fill the unused slots of an inline [`List`] with.
pub(crate) trait Blank: Clone {
    const BLANK: Self;
}

/// A list of `T`: borrowed from a `static`, stored inline up to `N` items, or on the heap.
///
/// Equality, hashing and printing depend on the items only, not on where they are stored.
#[derive(Clone)]
pub(crate) enum List<T: 'static, const N: usize> {
    Static(&'static [T]),
    Inline { len: u8, items: [T; N] },
    Heap(Vec<T>),
}

/// Appends an item; a full list grows by an eighth, not to twice its length, so that a list read from a text takes
/// memory in proportion to the text.
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
            Self::Heap(items) => items.capacity() * size_of::<T>(),
        }
    }
}

impl<T: Blank, const N: usize> List<T, N> {
    /// An empty inline list: [`resize_for_overwrite`](Self::resize_for_overwrite) reuses its inline storage.
    pub(crate) const BLANK: Self = Self::Inline { len: 0, items: [const { T::BLANK }; N] };

    /// Sets the length to `wanted` and returns the items, whose values are unspecified: the caller overwrites them.
    #[inline]
    pub(crate) fn resize_for_overwrite(&mut self, wanted: usize) -> &mut [T] {
        match self {
            Self::Inline { len, .. } if wanted <= N => *len = u8::try_from(wanted).unwrap_or(*len),
            _ => *self = Self::Heap(vec![T::BLANK; wanted]),
        }
        self.as_mut_slice()
    }

    /// The items, mutable; a borrowed list is copied first.
    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        if let Self::Static(items) = self {
            *self = Self::from_slice(items);
        }
        match self {
            Self::Inline { len, items } => items.split_at_mut(usize::from(*len)).0,
            Self::Heap(items) => items.as_mut_slice(),
            Self::Static(_) => &mut [],
        }
    }

    /// Keeps the first `len` items.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        match self {
            Self::Static(items) => *items = items.get(..len).unwrap_or(items),
            Self::Inline { len: own, .. } => *own = u8::try_from(len).map_or(*own, |len| len.min(*own)),
            Self::Heap(items) => items.truncate(len),
        }
    }

    pub(crate) fn push(&mut self, item: T) {
        match self {
            Self::Inline { len, items } => {
                if let Some(slot) = items.get_mut(usize::from(*len)) {
                    *slot = item;
                    *len = len.saturating_add(1);
                } else {
                    let mut heap = Vec::with_capacity(N * 2);
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

impl<T: Blank, const N: usize> FromIterator<T> for List<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::EMPTY;
        items.into_iter().for_each(|item| list.push(item));
        list
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
    use alloc::vec;
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
    fn is_overwritten_and_truncated() {
        let mut few = List::<usize, 3>::Static(&[4, 5]);
        few.as_mut_slice()[1] = 7;
        let mut lists = [few, List::BLANK, List::BLANK, List::BLANK, List::EMPTY];
        for (list, len) in lists.iter_mut().skip(1).zip([2, 3, 4, 2]) {
            assert_eq!(list.resize_for_overwrite(len), vec![0; len]);
        }
        for mut list in lists {
            let len = list.as_slice().len();
            list.as_mut_slice()[0] = 9;
            list.truncate(300);
            assert_eq!((list.as_slice().len(), list.as_slice()[0]), (len, 9));
            list.truncate(1);
            assert_eq!(list.as_slice(), [9]);
        }
        let mut list = List::<usize, 3>::Static(&[4, 5]);
        list.truncate(1);
        assert_eq!(list.as_slice(), [4]);
    }

    #[test]
    fn a_list_without_inline_items_is_on_the_heap() {
        let mut list = List::<usize, 0>::EMPTY;
        list.push(7);
        assert_eq!(list.as_slice(), [7]);
    }
}
