//! Copies of rows whose numbers are known only at run time.

use super::lines::{Along, Line};
use super::words::{Weaves, Woven, group_of_kernel, line_of_kernel};
use super::zip::{band_of, common};
use crate::buffer::{Buffer, Bytes, BytesMut, Values, ValuesMut, assert_whole};
use crate::element::Plain;
use crate::types::ArrayType;
use crate::vector::{self, Kernel, Machine};
use xla_shape_core::Dimension;

/// How the rows of a matrix lie in memory.
type Row<S> = Along<S, -1>;

/// Copies rows between matrices: each pair is the number of a row of `to` and of one of `from`. Returns the first error among the pairs; rows of
/// earlier pairs may then have been copied or not.
///
/// # Safety
/// Both matrices have equally many columns, and have rows with these numbers.
pub(crate) unsafe fn copy_rows<S, B, T, C, X>(
    to: &mut Buffer<S, B>,
    from: &Buffer<T, C>,
    pairs: impl Iterator<Item = Result<[usize; 2], X>>,
) -> Result<(), X>
where
    S: ArrayType<Element: Plain, Index = [usize; 2]>,
    T: ArrayType<Element = S::Element, Index = [usize; 2]>,
    B: BytesMut,
    C: Bytes,
{
    const { assert_whole::<S>() };
    const { assert_whole::<T>() };
    if const { !<(Row<S>, Row<T>)>::ARE_WORDS } {
        for pair in pairs {
            let [row, other] = pair?;
            // SAFETY: `assert_whole` has just been evaluated, and the caller guarantees that both matrices have these rows.
            let mut to = unsafe { Line::<S, _, -1>::new(to.view_mut(), [row, 0]) };
            // SAFETY: as above.
            to.copy_from(&unsafe { Line::<T, _, -1>::new(from.view(), [other, 0]) });
        }
        return Ok(());
    }
    let shapes = (to.shape(), from.shape());
    // SAFETY: `assert_whole` has been evaluated; the memory is borrowed with `from`.
    let from = (shapes.1, unsafe { from.values_for() });
    // SAFETY: `assert_whole` has been evaluated; the memory is borrowed mutably with `to`.
    let to = (shapes.0, unsafe { to.values_mut_for() });
    vector::run(ByWords { to, from, pairs })
}

/// Copies rows of packed tiles, by words: in `T(8,128)(2,1)`, the elements of two rows at one place are a word, so that a row is one half of each
/// word. If all rows of a group in the destination are copied, they are written together, without reading the words of the destination.
struct ByWords<'a, S: ArrayType<Element: Plain>, T: ArrayType<Element: Plain>, I> {
    to: (S, ValuesMut<'a, S::Element>),
    from: (T, Values<'a, T::Element>),
    pairs: I,
}

impl<S, T, X, I> Kernel for ByWords<'_, S, T, I>
where
    S: ArrayType<Element: Plain, Index = [usize; 2]>,
    T: ArrayType<Element = S::Element, Index = [usize; 2]>,
    I: Iterator<Item = Result<[usize; 2], X>>,
{
    type Output = Result<(), X>;

    #[inline(always)]
    fn run<M: Machine>(self) -> Result<(), X> {
        if const { Row::<S>::WEAVE.count == 2 } {
            self.by_groups::<2, X>()
        } else if const { Row::<S>::WEAVE.count == 4 } {
            self.by_groups::<4, X>()
        } else if const { Row::<S>::WEAVE.count == 8 } {
            self.by_groups::<8, X>()
        } else {
            self.by_groups::<1, X>()
        }
    }
}

impl<S, T, I> ByWords<'_, S, T, I>
where
    S: ArrayType<Element: Plain, Index = [usize; 2]>,
    T: ArrayType<Element = S::Element, Index = [usize; 2]>,
{
    /// Copies all rows. `N` rows of the destination alternate.
    #[inline(always)]
    fn by_groups<const N: usize, X>(mut self) -> Result<(), X>
    where
        I: Iterator<Item = Result<[usize; 2], X>>,
    {
        let mut next = self.pairs.next().transpose()?;
        let mut group = [[0; 2]; N];
        loop {
            // The number of next pairs whose rows in the destination are the first, second, … row of one group.
            let mut count = 0;
            while let Some(pair) = next
                && count < N
                && if count == 0 { pair[0].is_multiple_of(N) } else { pair[0] == group[0][0] + count }
            {
                group[count] = pair;
                count += 1;
                next = self.pairs.next().transpose()?;
            }
            if const { N > 1 } && count == N {
                self.copy_group(group);
                continue;
            }
            if count == 0 {
                let Some(pair) = next else { return Ok(()) };
                (group[0], count) = (pair, 1);
                next = self.pairs.next().transpose()?;
            }
            for &pair in &group[..count] {
                self.copy_row(pair);
            }
        }
    }

    const RUN: usize = common(Row::<S>::LEN, Row::<T>::LEN);
    /// Whether rows consist of whole runs.
    const HAS_WHOLE_RUNS: bool = match Row::<S>::SIZE {
        Some([Dimension::Static(size)]) => size.is_multiple_of(Self::RUN as u64),
        _ => false,
    };

    /// The length of the run that begins at a column. (No closures here: they would be compiled once, for all machines.)
    #[inline(always)]
    fn run_len(&self, start: usize) -> usize {
        if const { Self::HAS_WHOLE_RUNS } { Self::RUN } else { Self::RUN.min(self.to.0.sizes()[1] - start) }
    }

    #[inline(always)]
    fn copy_row(&mut self, [row, other]: [usize; 2]) {
        let [own, others] = const { [Row::<S>::WEAVE, Row::<T>::WEAVE] };
        let lanes = [own.lane([row, 0]), others.lane([other, 0])];
        let mut start = 0;
        while start < self.to.0.sizes()[1] {
            let len = self.run_len(start);
            // SAFETY: by `copy_rows`, the row is one of the array's; these `len` elements are in one of its runs. `ARE_WORDS` rules out a `WEAVE` of
            // 0.
            let from = unsafe { band_of::<T>(self.from, [other, start], len, others) };
            let first = self.to.0.linear_index_of([row, start]) - lanes[0];
            // SAFETY: as above. Rows that alternate belong to the array, or are padding of its tiles (`own_run`).
            let to = unsafe { self.to.1.range(first..first + len * own.count) };
            line_of_kernel::<(Row<S>, Row<T>), S::Element, T::Element>(to, from, lanes, &mut |_, value| value);
            start += len;
        }
    }

    /// Copies rows to all rows of a group, in their order.
    #[inline(always)]
    fn copy_group<const N: usize>(&mut self, group: [[usize; 2]; N]) {
        let [own, others] = const { [Row::<S>::WEAVE, Row::<T>::WEAVE] };
        let first = group[0][1];
        let is_stretch = const { Row::<T>::WEAVE.count == N } && first.is_multiple_of(N) && {
            let mut is_stretch = true;
            for (i, pair) in group.iter().enumerate() {
                is_stretch &= pair[1] == first + i;
            }
            is_stretch
        };
        let mut start = 0;
        while start < self.to.0.sizes()[1] {
            let len = self.run_len(start);
            let place = self.to.0.linear_index_of([group[0][0], start]);
            // SAFETY: by `copy_rows`, all rows of the group are rows of the array; they alternate, so their runs are one stretch.
            let to = unsafe { self.to.1.range(place..place + len * own.count) };
            if is_stretch {
                // SAFETY: these rows are a group in the source, too.
                to.copy_from_slice(unsafe { band_of::<T>(self.from, [first, start], len, others) });
            } else {
                let (mut bands, mut lanes) = ([&[][..]; N], [0; N]);
                for ((band, lane), pair) in bands.iter_mut().zip(&mut lanes).zip(group) {
                    // SAFETY: as in `copy_row`.
                    *band = unsafe { band_of::<T>(self.from, [pair[1], start], len, others) };
                    *lane = others.lane([pair[1], 0]);
                }
                group_of_kernel::<(Row<S>, Row<T>), S::Element, T::Element, N>(to, &bands, [lanes], &mut |_, value| {
                    value
                });
            }
            start += len;
        }
    }
}
