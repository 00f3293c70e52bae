//! Copies of windows, which begin at any index of the source.

use super::zip::{Together, for_each_minor_line, together_1};
use crate::buffer::{Buffer, Bytes, BytesMut, assert_whole};
use crate::element::Plain;
use crate::types::{ArrayType, same_index};

/// Copies the elements of `source` to the window, a line along its most minor dimension at a time: element `begin` of the window is element
/// `first` of the source. With `clamp`, the elements of the window outside of `begin..end` become the nearest of the source; otherwise they
/// stay as they are.
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
    let (to, from) = (window.shape(), source.shape());
    let (sizes, own) = (to.sizes(), from.sizes());
    // The source's index of the window's, or of the nearest element.
    let source_index = |index: T::Index| {
        let mut found = same_index::<_, S::Index>(index);
        for (dimension, entry) in found.as_mut().iter_mut().enumerate() {
            let [begin, first, own] = [begin, first, own].map(|list| list.as_ref()[dimension]);
            *entry = match entry.checked_sub(begin) {
                Some(beyond) => first.saturating_add(beyond).min(own.saturating_sub(1)),
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
        // Lines that alternate in both are copied together, with the first of them, if they begin a group in both.
        let lanes = const { Together::<T, S>::LANES };
        let mut lines = 1;
        if lanes.count > 1 && !clamp {
            let [begin, end] = [begin, end].map(|list| list.as_ref()[lanes.dimension]);
            let (line, first) = (index.as_ref()[lanes.dimension], first.as_ref()[lanes.dimension]);
            let (lane, own) = (line % lanes.count, (first + (line - begin)) % lanes.count);
            if lane == own && line - begin >= lane && end - line >= lanes.count - lane {
                if lane > 0 {
                    return;
                }
                lines = lanes.count;
            }
        }
        let size = sizes.as_ref().get(minor).copied().unwrap_or(1);
        let start = begin.as_ref().get(minor).copied().unwrap_or(0);
        let stop = end.as_ref().get(minor).copied().unwrap_or(1);
        let mut copy = |number: usize, len: usize, stride: usize| {
            index.as_mut().iter_mut().skip(minor).take(1).for_each(|entry| *entry = number);
            let [to, from] = [to.linear_index_of(index), from.linear_index_of(source_index(index))];
            let (len, strides) = match lines {
                1 => (len, [Together::<T, T>::STRIDE, stride]),
                _ => (len * lines, [1; 2]),
            };
            // SAFETY: the run begins with an element of the source. Its others are elements, too: by the caller's promise, `number + len` is
            // at most `end`, and with `clamp`, `source_index` limits each index. They lie `stride` apart, because the loop below ends a run
            // where the source's or the window's runs end, and between them lies nothing of another block (`own_run`). Several lines are one
            // stretch of elements (`Lanes`): they begin a group in both, and all of them are below `end`.
            let elements = unsafe { elements.range(from..from + (len - 1) * strides[1] + 1) };
            // SAFETY: as above, for the window: `number + len` is at most its size, and so is `end`.
            let values = unsafe { values.range(to..to + (len - 1) * strides[0] + 1) };
            together_1(values, elements, len, strides, &mut |_, value| value);
        };
        if clamp {
            (0..start.min(size)).chain(stop..size).for_each(|number| copy(number, 1, 1));
        }
        let mut number = start;
        while number < stop {
            // Up to the end of the run in each of the two.
            let place = first.as_ref().get(minor).copied().unwrap_or(0) + (number - start);
            let run = |len: usize, place: usize| len - place % len;
            let len = run(const { Together::<T, T>::LEN }, number).min(run(const { Together::<T, S>::LEN }, place));
            let len = len.min(stop - number);
            copy(number, len, const { Together::<T, S>::STRIDE });
            number += len;
        }
    });
}
