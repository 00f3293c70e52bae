//! Copies of windows, which begin at any index of the source.

use super::words::{groups_1, lines_1};
use super::zip::{Arrays, Together, band_of, bands_of, copy_1, for_each_minor_line, run_of};
use crate::buffer::{Buffer, Bytes, BytesMut, assert_whole};
use crate::element::Plain;
use crate::types::{ArrayType, MultiIndex, same_index, step};

/// Copies the elements of `source` to the window: element `begin` of the window is element `first` of the source. With `clamp`, the elements of
/// the window outside of `begin..end` become the nearest of the source; otherwise they stay as they are.
///
/// A block is a part of both arrays whose elements follow each other in both, such as a tile. If the indices `begin` and `first` are where
/// blocks begin, whole blocks are copied at once. Other elements are copied line by line along the window's most minor dimension. Lines that
/// alternate in memory are copied together.
///
/// # Safety
/// In each dimension, `begin <= end`, `end` is at most the window's size, and `first + (end - begin)` at most the source's. With `clamp`, the
/// source has elements.
pub(crate) unsafe fn copy_window<S, B, T, C>(
    window: &mut Buffer<T, C>,
    source: &Buffer<S, B>,
    [begin, end, first]: [S::Index; 3],
    clamp: bool,
) where
    S: ArrayType<Element: Plain>,
    T: ArrayType<Element = S::Element>,
    B: Bytes,
    C: BytesMut,
{
    const { assert_whole::<S>() };
    const { assert_whole::<T>() };
    let block = const { Together::<T, S>::BLOCK };
    let covers = |dimension: usize| block.covers[dimension] as usize;
    let whole =
        |list: &[usize]| list.iter().enumerate().all(|(dimension, entry)| entry.is_multiple_of(covers(dimension)));
    if const { !<(T, S)>::HAS_BLOCKS } || clamp || !whole(begin.as_ref()) || !whole(first.as_ref()) {
        // SAFETY: the caller's promise.
        return unsafe { copy_lines(window, source, [begin, end, first], clamp) };
    }
    let minus = |list: S::Index, other: S::Index| {
        let mut list = list;
        list.as_mut().iter_mut().zip(other.as_ref()).for_each(|(entry, other)| *entry -= other);
        list
    };
    let plus = |list: S::Index, other: S::Index| {
        let mut list = list;
        list.as_mut().iter_mut().zip(other.as_ref()).for_each(|(entry, other)| *entry += other);
        list
    };
    let sizes = minus(end, begin);
    if sizes.as_ref().contains(&0) {
        return;
    }
    let (to, from) = (window.shape(), source.shape());
    let mut start = S::Index::ORIGIN;
    loop {
        let mut count = minus(sizes, start);
        let is_whole = count.as_ref().iter().enumerate().all(|(dimension, rest)| *rest >= covers(dimension));
        count.as_mut().iter_mut().enumerate().for_each(|(dimension, rest)| *rest = (*rest).min(covers(dimension)));
        let [own, other] = [plus(begin, start), plus(first, start)];
        if is_whole {
            let (to, from) = (to.linear_index_of(same_index(own)), from.linear_index_of(other));
            let len = block.len as usize;
            // SAFETY: `assert_whole` has been evaluated; the memory is borrowed with `source`.
            let elements = unsafe { source.values_for() };
            // SAFETY: by the caller's promise, all indices of the block are in bounds of the source; it begins at multiples of what a block
            // covers, so its elements are next to each other (`CommonBlock`).
            let elements = unsafe { elements.range(from..from + len) };
            // SAFETY: `assert_whole` has been evaluated; the memory is borrowed mutably with `window`.
            let mut values = unsafe { window.values_mut_for() };
            // SAFETY: as above, for the window.
            unsafe { values.range(to..to + len) }.copy_from_slice(elements);
        } else {
            // SAFETY: a part of what the caller promises.
            unsafe { copy_lines(window, source, [own, plus(own, count), other], false) };
        }
        let order = const { T::MINOR_TO_MAJOR }.iter().copied();
        if !step(start.as_mut(), sizes.as_ref(), order, covers) {
            return;
        }
    }
}

/// Like [`copy_window`], but without blocks.
///
/// # Safety
/// As [`copy_window`].
unsafe fn copy_lines<S, B, T, C>(
    window: &mut Buffer<T, C>,
    source: &Buffer<S, B>,
    [begin, end, first]: [S::Index; 3],
    clamp: bool,
) where
    S: ArrayType<Element: Plain>,
    T: ArrayType<Element = S::Element>,
    B: Bytes,
    C: BytesMut,
{
    let (to, from) = (window.shape(), source.shape());
    let (sizes, own) = (to.sizes(), from.sizes());
    // The index in the source for an index in the window; with `clamp`, that of the nearest element.
    let source_index = |index: T::Index| {
        let mut found = same_index::<_, S::Index>(index);
        for (dimension, entry) in found.as_mut().iter_mut().enumerate() {
            let at = |list: S::Index| list.as_ref()[dimension];
            if !clamp {
                *entry = *entry - at(begin) + at(first);
                continue;
            }
            *entry = match entry.checked_sub(at(begin)) {
                Some(beyond) => at(first).saturating_add(beyond).min(at(own).saturating_sub(1)),
                None => 0,
            };
        }
        found
    };
    let mut counts = sizes;
    if !clamp {
        let lists = begin.as_ref().iter().zip(end.as_ref());
        counts.as_mut().iter_mut().zip(lists).for_each(|(count, (begin, end))| *count = end.saturating_sub(*begin));
    }
    // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed with `source`.
    let elements = unsafe { source.values_for() };
    // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed mutably with `window`.
    let mut values = unsafe { window.values_mut_for() };
    for_each_minor_line::<T>(counts, |mut index, minor| {
        if !clamp {
            index.as_mut().iter_mut().zip(begin.as_ref()).for_each(|(entry, begin)| *entry += begin);
        }
        // Packed tiles interleave groups of two or four lines. If the window has all lines of a group, they are copied together when the loop
        // is at the first one.
        let lanes = const { <(T, S)>::WEAVES[0] };
        let (mut lines, mut is_stretch) = (1, false);
        if const { <(T, S)>::ALTERNATES } && !clamp {
            let [begin, end] = [begin, end].map(|list| list.as_ref()[lanes.dimension]);
            let (line, first) = (index.as_ref()[lanes.dimension], first.as_ref()[lanes.dimension]);
            let lane = line % lanes.count;
            if line - begin >= lane && end - line >= lanes.count - lane {
                if lane > 0 {
                    return;
                }
                lines = lanes.count;
                // Whether these lines alternate in the source, too, and the first of them begins a group there.
                is_stretch =
                    const { Together::<T, S>::LANES.count > 1 } && (first + (line - begin)).is_multiple_of(lanes.count);
            }
        }
        let size = sizes.as_ref().get(minor).copied().unwrap_or(1);
        let start = begin.as_ref().get(minor).copied().unwrap_or(0);
        let stop = end.as_ref().get(minor).copied().unwrap_or(1);
        let source = (from, elements);
        let mut copy = |number: usize, len: usize, is_run: bool| {
            index.as_mut().iter_mut().skip(minor).take(1).for_each(|entry| *entry = number);
            let first = to.linear_index_of(index);
            macro_rules! group {
                ($n:literal) => {{
                    let (index, weave) = (source_index(index), const { <(T, S)>::WEAVES[1] });
                    // SAFETY: all lines of the group are in the window, and so, by the caller's promise, in the source, one after the other; the
                    // loop below ends a run where the source's runs end. `ALTERNATES` rules out a `WEAVE` of 0.
                    let (bands, lanes) = unsafe { bands_of::<S, $n>(source, index, len, weave, lanes.dimension) };
                    // SAFETY: all lines of the group are in the window; their runs alternate and are one stretch.
                    let values = unsafe { values.range(first..first + len * $n) };
                    groups_1::<<(T, S) as Arrays>::Lines, T::Element, S::Element, $n>(values, &bands, [lanes], &mut |_, value| value);
                }};
            }
            if const { <(T, S)>::ALTERNATES } && lines > 1 && !is_stretch {
                return match lanes.count {
                    2 => group!(2),
                    4 => group!(4),
                    _ => group!(8),
                };
            }
            if const { <(T, S)>::ARE_WORDS } && is_run && !is_stretch {
                let [own, other] = const { [<(T, S)>::WEAVES[0], <(T, S)>::WEAVES[1]] };
                let (lanes, first) = ([own.lane(index), other.lane(source_index(index))], first - own.lane(index));
                // SAFETY: as for a group, with one line.
                let band = unsafe { band_of::<S>(source, source_index(index), len, other) };
                // SAFETY: the run has elements of the window. Lines that alternate belong to it, or are padding of its tiles (`own_run`).
                let values = unsafe { values.range(first..first + len * own.count) };
                return lines_1::<<(T, S) as Arrays>::Lines, T::Element, S::Element>(
                    values,
                    band,
                    lanes,
                    &mut |_, value| value,
                );
            }
            let strides = const { [Together::<T, T>::STRIDE, Together::<T, S>::STRIDE] };
            let (len, strides) = if is_stretch { (len * lines, [1; 2]) } else { (len, strides) };
            // SAFETY: the run begins with an element of the source. Its others are elements, too: by the caller's promise, `number + len` is
            // at most `end`, and with `clamp`, `source_index` limits each index. The elements lie `stride` apart, because the loop below ends a run
            // where the source's or the window's runs end, and nothing of another block lies between them (`own_run`). Several lines form one stretch
            // of elements (`Lanes`), because their group begins with them in both arrays, and all of them are below `end`.
            let elements = unsafe { run_of::<S>(source, source_index(index), len, strides[1]) };
            // SAFETY: as above, for the window: `number + len` is at most its size, and so is `end`.
            let values = unsafe { values.range(first..first + (len - 1) * strides[0] + 1) };
            copy_1(values, elements, len, strides, &mut |_, value| value);
        };
        if clamp {
            (0..start.min(size)).chain(stop..size).for_each(|number| copy(number, 1, false));
        }
        let mut number = start;
        while number < stop {
            // Up to the end of the current run, in whichever array it ends first.
            let place = first.as_ref().get(minor).copied().unwrap_or(0) + (number - start);
            let run = |len: usize, place: usize| len - place % len;
            let len = run(const { Together::<T, T>::LEN }, number).min(run(const { Together::<T, S>::LEN }, place));
            let len = len.min(stop - number);
            copy(number, len, true);
            number += len;
        }
    });
}
