//! Whether two elements share a position.

use crate::modes::{Mode, Modes};
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::map::greatest_common_divisor;
use xla_shape_core::sorting::sort;
use xla_shape_core::sorting::sort_by_key;

/// The search for two elements that share a position gives up after this many steps, which take a few milliseconds. For arbitrary strides, this is
/// as hard as the subset sum problem.
pub const MAX_SHARING_STEPS: usize = 1 << 18;

/// Whether elements of a map share positions.
///
/// ```
/// use xla_shape_notations::{Modes, Sharing};
///
/// let broadcast = Modes::strided(&[4, 8], &[0, 1], 0)?;
/// assert_eq!(broadcast.sharing(), Sharing::Repeats { dimension: 0, index: vec![1, 0] });
/// assert_eq!(Modes::strided(&[4, 8], &[8, 1], 0)?.sharing(), Sharing::Unique);
/// # Ok::<(), xla_shape_notations::Obstacle>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Sharing {
    /// Every element has a position of its own: the map is unique, in mdspan's words.
    Unique,
    /// A stride is 0: all elements along a dimension share a position, as after a broadcast.
    Repeats {
        /// The dimension.
        dimension: usize,
        /// The first element that has the position of an earlier one.
        index: Vec<u64>,
    },
    /// Two elements with different indices share a position, as in the overlapping windows of a convolution.
    Overlaps {
        /// The later of the two, in row-major order.
        index: Vec<u64>,
        /// The earlier of the two.
        with: Vec<u64>,
        /// The position, in elements.
        position: i64,
    },
    /// Not known, because the search gave up: for arbitrary strides, the question is hard (see [`MAX_SHARING_STEPS`]).
    Unknown,
}

impl Modes {
    /// Whether elements share positions.
    ///
    /// No search is needed if each stride is larger than the span of all smaller ones, or for layouts of XLA. Otherwise, the search takes at most
    /// [`MAX_SHARING_STEPS`](crate::MAX_SHARING_STEPS) steps.
    ///
    /// ```
    /// use xla_shape_notations::{Modes, Sharing};
    ///
    /// // Windows of 3 over 5 elements: element 0 of window 1 is element 1 of window 0.
    /// let windows = Modes::strided(&[3, 3], &[1, 1], 0)?;
    /// assert_eq!(windows.sharing(), Sharing::Overlaps { index: vec![1, 0], with: vec![0, 1], position: 1 });
    /// assert_eq!(Modes::strided(&[3, 3], &[3, -1], 2)?.sharing(), Sharing::Unique);
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    #[must_use]
    pub fn sharing(&self) -> Sharing {
        if let Some(mode) = self.modes().iter().find(|mode| mode.stride == 0) {
            let mut index = vec![0; self.extents().len()];
            if let Some(entry) = index.get_mut(mode.dimension) {
                *entry = mode.divisor;
            }
            return Sharing::Repeats { dimension: mode.dimension, index };
        }
        let mut modes = self.modes().to_vec();
        sort_by_key(&mut modes, |mode| core::cmp::Reverse(mode.stride.unsigned_abs()));
        // For each mode, over this mode and all later ones: the sum of the spans, and the greatest common divisor of the strides.
        let mut reach = vec![0_i128];
        let mut divides = vec![0_u64];
        let mut is_nested = true;
        for mode in modes.iter().rev() {
            let stride = mode.stride.unsigned_abs();
            let inside = reach.last().copied().unwrap_or(0);
            is_nested &= i128::from(stride) > inside;
            let span = i128::from(stride).saturating_mul(i128::from(mode.size.saturating_sub(1)));
            reach.push(inside.saturating_add(span));
            divides.push(greatest_common_divisor(stride, divides.last().copied().unwrap_or(0)));
        }
        if is_nested {
            return Sharing::Unique;
        }
        reach.reverse();
        divides.reverse();
        let mut search =
            Search { map: self, modes: &modes, reach: &reach, divides: &divides, steps: MAX_SHARING_STEPS };
        match search.run() {
            Some(found) => found,
            None if search.steps == 0 => Sharing::Unknown,
            None => Sharing::Unique,
        }
    }
}

/// The search for two elements at one position. If the difference between their indices in each mode is multiplied by the mode's stride, the
/// products add up to 0.
struct Search<'a> {
    map: &'a Modes,
    modes: &'a [Mode],
    reach: &'a [i128],
    divides: &'a [u64],
    steps: usize,
}

/// The amounts by which two indices may still differ in one mode.
struct Level {
    rest: i128,
    next: i128,
    last: i128,
    taken: i128,
}

impl Search<'_> {
    /// The amounts by which indices may differ in mode `number`, if that mode and the later ones must together move the position by `rest`.
    fn level(&self, number: usize, rest: i128, is_first: bool) -> Option<Level> {
        let mode = self.modes.get(number)?;
        let inside = self.reach.get(number + 1).copied().unwrap_or(0);
        let stride = i128::from(mode.stride);
        let most = i128::from(mode.size.saturating_sub(1));
        let (low, high) = (rest.saturating_sub(inside), rest.saturating_add(inside));
        let (low, high) = if stride > 0 { (low, high) } else { (high.saturating_neg(), low.saturating_neg()) };
        let size = stride.saturating_abs();
        let next = low.saturating_neg().checked_div_euclid(size)?.saturating_neg();
        let last = high.checked_div_euclid(size)?;
        // A difference and its opposite give the same pair of elements: one is enough.
        let least = if is_first { 0 } else { most.saturating_neg() };
        Some(Level { rest, next: next.max(least), last: last.min(most), taken: 0 })
    }

    fn run(&mut self) -> Option<Sharing> {
        let mut levels = Vec::new();
        // In how many modes the two indices differ so far.
        let mut differing = 0_usize;
        levels.push(self.level(0, 0, true)?);
        while let Some(level) = levels.last_mut() {
            if self.steps == 0 {
                return None;
            }
            self.steps = self.steps.saturating_sub(1);
            differing = differing.saturating_sub(usize::from(level.taken != 0));
            if level.next > level.last {
                levels.pop();
                continue;
            }
            level.taken = level.next;
            differing += usize::from(level.taken != 0);
            level.next = level.next.saturating_add(1);
            let number = levels.len();
            let (mode, level) = (self.modes.get(number.saturating_sub(1))?, levels.last()?);
            let rest = level.rest.saturating_sub(i128::from(mode.stride).saturating_mul(level.taken));
            if number == self.modes.len() {
                if rest == 0 && differing > 0 {
                    let taken = levels.iter().map(|level| level.taken).collect::<Vec<_>>();
                    if let Some(found) = self.found(&taken) {
                        return Some(found);
                    }
                }
                continue;
            }
            let divides = self.divides.get(number).copied().unwrap_or(0);
            if rest.checked_rem(i128::from(divides)).is_none_or(|rest| rest == 0) {
                levels.push(self.level(number, rest, differing == 0)?);
            }
        }
        None
    }

    /// The two elements with these differences, if both are inside the array.
    fn found(&self, taken: &[i128]) -> Option<Sharing> {
        let mut pair = [vec![0_u64; self.map.extents().len()], vec![0; self.map.extents().len()]];
        for (mode, &amount) in self.modes.iter().zip(taken) {
            let [one, other] = &mut pair;
            let index = if amount > 0 { one } else { other };
            let part = u64::try_from(amount.unsigned_abs()).ok()?;
            let entry = index.get_mut(mode.dimension)?;
            *entry = entry.saturating_add(part.saturating_mul(mode.divisor));
        }
        sort(&mut pair);
        let [with, index] = pair;
        let position = self.map.position(&index)?;
        (self.map.position(&with) == Some(position)).then_some(Sharing::Overlaps { index, with, position })
    }
}
