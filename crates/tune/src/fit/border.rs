//! The border above which the values of one axis do not fit. This module compiles nothing: it says which values to try next, and finds the border
//! among the values that were tried.
//!
//! The border is found by bisection, which assumes that all values below a value that fits do fit, too. Compilers sometimes break this rule: a batch
//! of 13 fits although a batch of 12 does not, because the compiler chooses other tiles, or another way to compute, for another size. The neighbours
//! of the border are therefore tried, too. If no tried value fits, the last one is tried, too. If that one fits, the memory does not grow from value
//! to value, so all values are tried. All values are also tried if the last one fits and needs less memory than an earlier one.

use std::ops::Range;

/// If the compiler refuses this many values for reasons other than memory, no larger value is tried.
const MOST_REFUSED: usize = 5;

/// At most this many values directly below the border are checked, until one of them fits.
const MOST_BELOW: usize = 3;

/// The last value is out of order if an earlier one needs more bytes, by more than 1/20. A larger size can need a little less than a smaller one: in
/// three of 12 programs of which 40 sizes are recorded (`tests/corpus/fit_borders.jsonl.zst`), by up to 1/34. In two more of these programs, a size
/// needs much less than a smaller one, by up to 65 %.
const FALL: u64 = 20;

/// The result of trying a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tried {
    Fits,
    TooLarge,
    /// The compiler refused it for a reason other than memory, so it is not known whether it would fit.
    Refused,
    /// There is no program for it, so nothing is compiled.
    Missing,
}

/// The result, and the bytes that the value needs, if they are known.
pub(super) type Outcome = (Tried, Option<u64>);

/// The values of one axis, by number. They should be in ascending order of the memory that they need.
#[derive(Clone, Debug)]
pub(super) struct Line {
    tried: Vec<Option<Tried>>,
    /// What each value needs, in bytes, as far as it is known.
    bytes: Vec<Option<u64>>,
}

/// The border, as far as it is known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Found {
    /// The largest value that fits.
    pub(super) largest: Option<usize>,
    /// The smallest value above `largest` that does not fit.
    pub(super) next: Option<usize>,
    /// Values that do not fit although a larger one does.
    pub(super) exceptions: Vec<usize>,
    /// Values between `largest` and `next` about which nothing is known: they were refused for a reason other than memory, or have no program.
    pub(super) unknown: Vec<usize>,
    /// Whether every value between `largest` and `next` was tried.
    pub(super) is_closed: bool,
    /// Whether the values are known not to be in ascending order: the last one fits, but the first one does not, or an earlier one needs more. In
    /// this case, all values were tried.
    pub(super) is_unordered: bool,
}

impl Line {
    pub(super) fn new(values: usize) -> Self {
        Self { tried: vec![None; values], bytes: vec![None; values] }
    }

    pub(super) fn set(&mut self, value: usize, (tried, bytes): Outcome) {
        if let Some((place, needed)) = self.tried.get_mut(value).zip(self.bytes.get_mut(value)) {
            (*place, *needed) = (Some(tried), bytes);
        }
    }

    fn at(&self, value: usize) -> Option<Tried> {
        self.tried.get(value).copied().flatten()
    }

    /// The range between the largest value that fits and the next value that does not.
    fn between(&self) -> Range<usize> {
        let start = self.largest().map_or(0, |value| value + 1);
        let end = (start..self.tried.len()).find(|&value| self.at(value) == Some(Tried::TooLarge));
        start..end.unwrap_or(self.tried.len())
    }

    fn largest(&self) -> Option<usize> {
        self.tried.iter().rposition(|tried| *tried == Some(Tried::Fits))
    }

    /// The untried value of a range that is nearest to its middle.
    fn middle(&self, range: Range<usize>) -> Option<usize> {
        let middle = range.start + range.len() / 2;
        range.filter(|&value| self.at(value).is_none()).min_by_key(|value| value.abs_diff(middle))
    }

    fn is_unordered(&self) -> bool {
        let last = self.bytes.last().copied().flatten();
        let is_more = |bytes: &u64| last.is_some_and(|last| last < bytes - bytes / FALL);
        self.tried.last() == Some(&Some(Tried::Fits))
            && (self.at(0) == Some(Tried::TooLarge) || self.bytes.iter().flatten().any(is_more))
    }

    /// The values to try next; empty if the border is known.
    ///
    /// If the values below some border fit and all others do not, at most `floor(log2(n)) + 3` of `n` values are tried.
    pub(super) fn next(&self) -> Vec<usize> {
        if self.is_unordered() {
            return (0..self.tried.len()).filter(|&value| self.at(value).is_none()).collect();
        }
        let between = self.between();
        let is_refused = |value: &usize| self.at(*value) == Some(Tried::Refused);
        // A single refusal says nothing about other values. After two refusals, all larger values may be refused, too, so the values below both are
        // bisected first.
        let mut refused = between.clone().filter(is_refused);
        let below = refused.next().filter(|_| refused.next().is_some()).map(|lowest| between.start..lowest);
        if let Some(value) = below.and_then(|below| self.middle(below)) {
            return vec![value];
        }
        if let Some(value) = self.middle(between.clone()) {
            let is_over = (0..self.tried.len()).filter(is_refused).count() >= MOST_REFUSED;
            let first = Some(0).filter(|&first| self.largest().is_none() && self.at(first).is_none());
            return if is_over { first.into_iter().collect() } else { vec![value] };
        }
        let above = Some(between.end + 1).filter(|&value| value < self.tried.len());
        let below = self.largest().and_then(|largest| {
            let near = largest.saturating_sub(MOST_BELOW)..largest;
            near.rev().find(|&value| matches!(self.at(value), None | Some(Tried::Fits)))
        });
        let last = self.tried.len().checked_sub(1).filter(|_| self.largest().is_none());
        // If the last value fits, the first one shows whether the values are in ascending order.
        let first = self.largest().filter(|largest| largest + 1 == self.tried.len() && below != Some(0)).map(|_| 0);
        let near: Vec<_> =
            above.into_iter().chain(below).chain(first).filter(|&value| self.at(value).is_none()).collect();
        if near.is_empty() { last.into_iter().filter(|&last| self.at(last).is_none()).collect() } else { near }
    }

    pub(super) fn found(&self) -> Found {
        let (between, largest) = (self.between(), self.largest());
        let is_exception = |value: &usize| self.at(*value) == Some(Tried::TooLarge);
        Found {
            largest,
            next: Some(between.end).filter(|&end| end < self.tried.len()),
            exceptions: (0..largest.unwrap_or(0)).filter(is_exception).collect(),
            unknown: between
                .clone()
                .filter(|&value| matches!(self.at(value), Some(Tried::Refused | Tried::Missing)))
                .collect(),
            is_closed: between.into_iter().all(|value| self.at(value).is_some()),
            is_unordered: self.is_unordered(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, Line, MOST_REFUSED, Tried};

    /// The border of a function, and how many values were tried.
    fn search(values: usize, function: impl Fn(usize) -> Tried) -> (Found, usize) {
        let mut line = Line::new(values);
        let mut tried = 0;
        loop {
            let next = line.next();
            if next.is_empty() {
                return (line.found(), tried);
            }
            for value in next {
                assert_eq!(line.at(value), None, "a value is tried once");
                tried += 1;
                line.set(value, (function(value), None));
            }
        }
    }

    fn fits(is: bool) -> Tried {
        if is { Tried::Fits } else { Tried::TooLarge }
    }

    /// The border, found by trying every value.
    fn exhaustive(values: usize, function: impl Fn(usize) -> Tried) -> Found {
        let mut line = Line::new(values);
        (0..values).for_each(|value| line.set(value, (function(value), None)));
        line.found()
    }

    #[test]
    fn bisection_finds_the_border_of_every_monotone_function() {
        for values in 0..=100 {
            for border in 0..=values {
                let function = |value| fits(value < border);
                let (found, tried) = search(values, function);
                assert_eq!(found, exhaustive(values, function), "{border} of {values}");
                assert!(
                    tried <= values.checked_ilog2().map_or(0, |log| log as usize + 3),
                    "{tried} for {border} of {values}"
                );
            }
        }
        // A quarter of 40 settings.
        let most = (0..=40).map(|border| search(40, |value| fits(value < border)).1).max();
        assert!(most <= Some(10), "{most:?}");
    }

    #[test]
    fn an_exception_beside_the_border_is_found() {
        for values in 3..=60 {
            for border in 0..values - 1 {
                // All values below the border fit, the border itself does not, and the value after it does.
                let function = |value| fits(value < border || value == border + 1);
                let (found, _) = search(values, function);
                assert_eq!(found, exhaustive(values, function), "{border} of {values}");
                assert_eq!((found.largest, found.exceptions), (Some(border + 1), vec![border]));
            }
        }
    }

    #[test]
    fn what_is_refused_for_another_reason_is_left_out() {
        for border in 0..=40 {
            for refused in 0..40 {
                let function = |value| if value == refused { Tried::Refused } else { fits(value < border) };
                let (found, tried) = search(40, function);
                assert_eq!(found, exhaustive(40, function), "{border} without {refused}");
                assert!(tried <= 10, "{tried} for {border} without {refused}");
            }
        }
        // Only even sizes have a program.
        for border in 0..=20 {
            let function = |value| if value % 2 == 0 { fits(value / 2 < border) } else { Tried::Missing };
            assert_eq!(search(40, function).0, exhaustive(40, function), "{border}");
        }
        let (found, tried) = search(40, |_| Tried::Refused);
        assert_eq!((found.largest, found.next, found.unknown.len()), (None, None, tried));
        assert!(!found.is_closed && tried <= MOST_REFUSED + 2, "it does not ask for all: {tried}");
    }

    #[test]
    fn where_all_above_a_border_are_refused_it_is_found() {
        for values in 1..=100_usize {
            for border in 0..=values {
                let (found, tried) = search(values, |value| if value < border { Tried::Fits } else { Tried::Refused });
                assert_eq!((found.largest, found.next), (border.checked_sub(1), None), "{border} of {values}");
                assert_eq!(found.unknown.first().copied(), Some(border).filter(|&first| first < values));
                assert!(tried <= 2 * values.ilog2() as usize + MOST_REFUSED, "{tried} for {border} of {values}");
            }
        }
    }

    #[test]
    fn whatever_comes_of_values_the_first_is_tried_before_it_is_said_that_none_fits() {
        // A linear congruential generator.
        let mut state = 1_u64;
        let mut any = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            [Tried::TooLarge, Tried::Refused, Tried::Refused, Tried::Missing][usize::try_from(state >> 62).unwrap()]
        };
        for values in 1..=100 {
            let tried: Vec<_> = (0..values).map(|_| any()).collect();
            let (found, _) = search(values, |value| if value == 0 { Tried::Fits } else { tried[value] });
            assert_eq!(found.largest, Some(0), "{tried:?}");
        }
    }

    #[test]
    fn where_memory_falls_all_values_are_tried_unless_the_first_fits() {
        for values in 2..=60 {
            for border in 0..values {
                let function = |value| fits(value >= border);
                let (found, tried) = search(values, function);
                assert_eq!(found.largest, Some(values - 1), "{border} of {values}");
                if found.is_unordered {
                    assert_eq!((found, tried), (exhaustive(values, function), values));
                }
            }
        }
        // The middle value does not fit; only the last one, which fits, shows that the values are not in ascending order of memory.
        assert!(search(9, |value| fits(value >= 6)).0.is_unordered);
    }

    #[test]
    fn all_values_are_tried_if_the_last_one_needs_less_than_an_earlier_one() {
        // The bytes that programs need, where 100 are available. In the first three cases, the sizes are not in ascending order, such as 16, 2, 4,
        // as a shell lists them, or 64, 16, 1.
        for (needs, is_unordered) in [
            (&[60, 20, 30][..], true),
            (&[120, 60, 10], true),
            (&[10, 120, 60, 50], true),
            // A small exception, such as real compilers cause, and then values in order.
            (&[60, 70, 68], false),
            (&[10, 20, 90], false),
            (&[], false),
        ] {
            let mut line = Line::new(needs.len());
            let mut tried = 0;
            loop {
                let next = line.next();
                if next.is_empty() {
                    break;
                }
                for value in next {
                    line.set(value, (fits(needs[value] <= 100), Some(needs[value])));
                    tried += 1;
                }
            }
            let found = line.found();
            assert_eq!((found.is_unordered, found.largest), (is_unordered, needs.len().checked_sub(1)), "{needs:?}");
            assert!(!is_unordered || tried == needs.len(), "{needs:?}");
            let too_large = (0..needs.len()).filter(|&value| needs[value] > 100);
            assert!(!is_unordered || too_large.eq(found.exceptions.iter().copied()), "{needs:?}");
        }
    }
}
