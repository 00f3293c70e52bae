//! Dimension numbers: counted from either end, or given as a letter.

use crate::sink::{Sink, display};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The number of a dimension: 0, 1, … from the front, or -1, -2, … from the back, as in Python.
///
/// The letters of XLA's documentation (the page [Shapes and layout](https://openxla.org/xla/shapes)) count from the
/// back, too: the last dimension is x, the one before it y, then z, then p. Functions that take a dimension accept a
/// number, positive or negative, or a `DimensionNumber`.
///
/// ```
/// use xla_shape_core::{DimensionNumber, DimensionError};
///
/// assert_eq!(DimensionNumber::new(-1).resolve(3), Ok(2));
/// assert_eq!(DimensionNumber::Z.resolve(3), Ok(0));
/// assert_eq!(DimensionNumber::from_letter('y').unwrap().resolve(2), Ok(0));
/// let error = DimensionNumber::new(3).resolve(3).unwrap_err();
/// assert_eq!(error.to_string(), "expected a dimension number from -3 to 2, found 3");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DimensionNumber(i64);

/// The letters of the last dimensions, the last one first.
const LETTERS: [char; 4] = ['x', 'y', 'z', 'p'];

impl DimensionNumber {
    /// The last dimension.
    pub const X: Self = Self(-1);
    /// The second to last dimension.
    pub const Y: Self = Self(-2);
    /// The third to last dimension.
    pub const Z: Self = Self(-3);
    /// The fourth to last dimension.
    pub const P: Self = Self(-4);

    /// The dimension with this number; a negative number counts from the back.
    ///
    /// ```
    /// use xla_shape_core::DimensionNumber;
    ///
    /// assert_eq!(DimensionNumber::new(-1), DimensionNumber::X);
    /// ```
    #[must_use]
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// The dimension with this letter: `x`, `y`, `z` or `p`.
    ///
    /// ```
    /// use xla_shape_core::DimensionNumber;
    ///
    /// assert_eq!(DimensionNumber::from_letter('z'), Some(DimensionNumber::Z));
    /// assert_eq!(DimensionNumber::from_letter('w'), None);
    /// ```
    #[must_use]
    pub const fn from_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'x' => Self::X,
            'y' => Self::Y,
            'z' => Self::Z,
            'p' => Self::P,
            _ => return None,
        })
    }

    /// The number as it was given; negative if it counts from the back.
    ///
    /// ```
    /// use xla_shape_core::DimensionNumber;
    ///
    /// assert_eq!(DimensionNumber::Y.number(), -2);
    /// ```
    #[must_use]
    pub const fn number(self) -> i64 {
        self.0
    }

    /// The dimension's number from the front, in an array of `num_dimensions` dimensions.
    ///
    /// ```
    /// use xla_shape_core::DimensionNumber;
    ///
    /// assert_eq!(DimensionNumber::new(-1).resolve(3), Ok(2));
    /// assert!(DimensionNumber::new(-4).resolve(3).is_err());
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension.
    pub const fn resolve(self, num_dimensions: usize) -> Result<usize, DimensionError> {
        // A number below `num_dimensions` fits in a `usize`.
        let (magnitude, count) = (self.0.unsigned_abs(), num_dimensions as u64);
        if self.0 >= 0 && magnitude < count {
            return Ok(magnitude as usize);
        }
        if self.0 < 0
            && let Some(dimension) = count.checked_sub(magnitude)
        {
            return Ok(dimension as usize);
        }
        Err(DimensionError::OutOfRange { number: self.0, num_dimensions })
    }
}

/// The letter of a dimension in an array of 1 to 4 dimensions: `x` is the last, then `y`, `z` and `p`. `None` for other
/// arrays, or if there is no such dimension.
///
/// ```
/// use xla_shape_core::dimension_letter;
///
/// assert_eq!((0..3).map(|dimension| dimension_letter(dimension, 3).unwrap()).collect::<String>(), "zyx");
/// assert_eq!(dimension_letter(0, 5), None);
/// ```
#[must_use]
#[expect(clippy::indexing_slicing, reason = "the index is compared with the length first")]
pub const fn dimension_letter(dimension: usize, num_dimensions: usize) -> Option<char> {
    if num_dimensions > LETTERS.len() || dimension >= num_dimensions {
        return None;
    }
    match num_dimensions.saturating_sub(dimension).checked_sub(1) {
        Some(from_back) => Some(LETTERS[from_back]),
        None => None,
    }
}

impl From<i64> for DimensionNumber {
    fn from(number: i64) -> Self {
        Self(number)
    }
}

impl From<i32> for DimensionNumber {
    fn from(number: i32) -> Self {
        Self(number.into())
    }
}

impl From<usize> for DimensionNumber {
    fn from(number: usize) -> Self {
        // No array has `i64::MAX` dimensions, so that number is always out of range.
        Self(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for DimensionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A dimension number, or a list with an entry for each dimension, does not fit the array: the error of functions that
/// take dimensions, sizes or indices.
///
/// ```
/// use xla_shape_core::{ArrayShape, DimensionError};
///
/// let shape: ArrayShape = "f32[2,3]".parse()?;
/// let error = shape.get_dimension_number(2).unwrap_err();
/// assert_eq!(error, DimensionError::OutOfRange { number: 2, num_dimensions: 2 });
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DimensionError {
    /// The array has no such dimension.
    OutOfRange {
        /// The number, as it was given.
        number: i64,
        /// How many dimensions there are.
        num_dimensions: usize,
    },
    /// A list names a dimension twice.
    Duplicate {
        /// The dimension.
        dimension: usize,
    },
    /// A list needs one entry for each dimension.
    CountMismatch {
        /// How many dimensions there are.
        num_dimensions: usize,
        /// How many entries the list has.
        entries: usize,
    },
    /// The size of a tile does not divide the size of the dimension.
    Uneven {
        /// The dimension.
        dimension: usize,
        /// Its size.
        size: u64,
        /// The size of the tile.
        tile: u64,
    },
    /// A slice ends after the end of the dimension.
    SliceOutOfRange {
        /// The dimension.
        dimension: usize,
        /// Its size.
        size: u64,
        /// The end of the slice, exclusive.
        end: u64,
    },
    /// Only a dimension of size 1 can be broadcast to a larger size.
    Broadcast {
        /// The dimension.
        dimension: usize,
        /// Its size.
        size: u64,
        /// The requested size.
        larger: u64,
    },
    /// An iteration over indices leaves the array, or the dimension is unbounded.
    IterationOutOfRange {
        /// The dimension.
        dimension: usize,
    },
    /// An iteration over indices has a step of 0: the iteration would never end.
    ZeroStep {
        /// The dimension.
        dimension: usize,
    },
}

impl DimensionError {
    pub(crate) const fn write(self, sink: &mut Sink<'_>) {
        match self {
            Self::OutOfRange { number, num_dimensions: 0 } => {
                sink.text("a scalar has no dimensions, found dimension number ");
                sink.signed(number);
            }
            Self::OutOfRange { number, num_dimensions } => {
                sink.text("expected a dimension number from -");
                sink.count(num_dimensions);
                sink.text(" to ");
                sink.count(num_dimensions.saturating_sub(1));
                sink.text(", found ");
                sink.signed(number);
            }
            Self::Duplicate { dimension } => {
                sink.text("dimension ");
                sink.count(dimension);
                sink.text(" is named twice");
            }
            Self::CountMismatch { num_dimensions, entries } => {
                sink.text("expected one entry for each of ");
                sink.count(num_dimensions);
                sink.text(" dimensions, found ");
                sink.count(entries);
            }
            Self::Uneven { dimension, size, tile } => {
                with_size(sink, dimension, size);
                sink.text(" cannot be divided into tiles of size ");
                sink.number(tile);
            }
            Self::SliceOutOfRange { dimension, size, end } => {
                sink.text("the slice ends at ");
                sink.number(end);
                sink.text(", but dimension ");
                sink.count(dimension);
                sink.text(" has size ");
                sink.number(size);
            }
            Self::Broadcast { dimension, size, larger } => {
                with_size(sink, dimension, size);
                sink.text(" cannot be broadcast to size ");
                sink.number(larger);
            }
            Self::IterationOutOfRange { dimension } => {
                sink.text("the iteration leaves dimension ");
                sink.count(dimension);
            }
            Self::ZeroStep { dimension } => {
                sink.text("expected a step of at least 1 in dimension ");
                sink.count(dimension);
                sink.text(", found 0");
            }
        }
    }
}

const fn with_size(sink: &mut Sink<'_>, dimension: usize, size: u64) {
    sink.text("dimension ");
    sink.count(dimension);
    sink.text(" of size ");
    sink.number(size);
}

impl fmt::Display for DimensionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |sink| self.write(sink))
    }
}

impl core::error::Error for DimensionError {}

/// The words of a bit set over dimensions in a `const`: enough for 1,024 dimensions.
pub(crate) const STATIC_SEEN_WORDS: usize = 16;

/// Calls `check` with a cleared bit set over `num_dimensions` dimensions.
pub(crate) fn with_seen<R>(num_dimensions: usize, check: impl FnOnce(&mut [u64]) -> R) -> R {
    match num_dimensions.div_ceil(64) {
        0 | 1 => check(&mut [0]),
        words => check(&mut vec![0; words]),
    }
}

/// Sets the bit of dimension `number`; returns whether it was set before.
#[expect(
    clippy::indexing_slicing,
    reason = "`seen` has a bit for each dimension, and callers check that `number` is one of them"
)]
pub(crate) const fn mark(seen: &mut [u64], number: usize) -> bool {
    let bit = 1 << (number % 64);
    let marked = seen[number / 64] & bit != 0;
    seen[number / 64] |= bit;
    marked
}

/// The first entry of a list of dimensions that does not exist or repeats an earlier one: its index in the list, and
/// the error. `seen` has a cleared bit for each dimension.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
pub(crate) const fn first_not_distinct(
    dimensions: &[usize],
    num_dimensions: usize,
    seen: &mut [u64],
) -> Option<(usize, DimensionError)> {
    let mut i = 0;
    while i < dimensions.len() {
        let dimension = dimensions[i];
        if dimension >= num_dimensions {
            return Some((i, DimensionError::OutOfRange { number: dimension as i64, num_dimensions }));
        }
        if mark(seen, dimension) {
            return Some((i, DimensionError::Duplicate { dimension }));
        }
        i += 1;
    }
    None
}

/// Checks that a list names every dimension of an array once.
///
/// ```
/// use xla_shape_core::check_permutation;
///
/// assert!(check_permutation(&[2, 0, 1], 3).is_ok());
/// assert_eq!(check_permutation(&[1, 1], 2).unwrap_err().to_string(), "dimension 1 is named twice");
/// ```
///
/// # Errors
/// If the list has another length, names a dimension twice, or names one that the array does not have.
pub fn check_permutation(permutation: &[usize], num_dimensions: usize) -> Result<(), DimensionError> {
    with_seen(num_dimensions, |seen| check_permutation_in(permutation, num_dimensions, seen))
}

/// [`check_permutation`] in a `const`. `seen` has a cleared bit for each dimension.
pub(crate) const fn check_permutation_in(
    permutation: &[usize],
    num_dimensions: usize,
    seen: &mut [u64],
) -> Result<(), DimensionError> {
    if permutation.len() != num_dimensions {
        return Err(DimensionError::CountMismatch { num_dimensions, entries: permutation.len() });
    }
    match first_not_distinct(permutation, num_dimensions, seen) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// The numbers from the front of a list of distinct dimensions.
///
/// ```
/// use xla_shape_core::{DimensionError, distinct_dimensions};
///
/// assert_eq!(distinct_dimensions([0, -1], 3), Ok(vec![0, 2]));
/// assert_eq!(distinct_dimensions([2, -1], 3), Err(DimensionError::Duplicate { dimension: 2 }));
/// ```
///
/// # Errors
/// If one is out of range or named twice.
pub fn distinct_dimensions(
    numbers: impl IntoIterator<Item = impl Into<DimensionNumber>>,
    num_dimensions: usize,
) -> Result<Vec<usize>, DimensionError> {
    let resolve = |number: DimensionNumber| number.resolve(num_dimensions);
    let dimensions = numbers.into_iter().map(|number| resolve(number.into())).collect::<Result<Vec<_>, _>>()?;
    match with_seen(num_dimensions, |seen| first_not_distinct(&dimensions, num_dimensions, seen)) {
        Some((_, error)) => Err(error),
        None => Ok(dimensions),
    }
}

/// Resolves a list that names every dimension once to numbers from the front.
///
/// # Errors
/// If it does not name every dimension once.
pub(crate) fn resolve_permutation(
    numbers: impl IntoIterator<Item = impl Into<DimensionNumber>>,
    num_dimensions: usize,
) -> Result<Vec<usize>, DimensionError> {
    let dimensions = distinct_dimensions(numbers, num_dimensions)?;
    if dimensions.len() != num_dimensions {
        return Err(DimensionError::CountMismatch { num_dimensions, entries: dimensions.len() });
    }
    Ok(dimensions)
}

#[cfg(test)]
mod tests {
    use super::{DimensionError, DimensionNumber, dimension_letter, distinct_dimensions, resolve_permutation};

    #[test]
    fn numbers_count_from_both_ends() {
        for num_dimensions in 0..5_usize {
            for number in -6..6_i64 {
                let expected = usize::try_from(if number < 0 { number + num_dimensions as i64 } else { number });
                let expected = expected.ok().filter(|&dimension| dimension < num_dimensions);
                assert_eq!(DimensionNumber::new(number).resolve(num_dimensions).ok(), expected);
            }
        }
        assert!(DimensionNumber::new(i64::MIN).resolve(3).is_err());
        assert!(DimensionNumber::from(usize::MAX).resolve(3).is_err());
    }

    #[test]
    fn letters_and_dimensions_correspond() {
        for num_dimensions in 0..6 {
            for dimension in 0..num_dimensions {
                let Some(letter) = dimension_letter(dimension, num_dimensions) else {
                    assert!(num_dimensions > 4);
                    continue;
                };
                assert_eq!(DimensionNumber::from_letter(letter).unwrap().resolve(num_dimensions), Ok(dimension));
            }
        }
        assert_eq!(DimensionNumber::from_letter('w'), None);
        assert_eq!(dimension_letter(2, 2), None);
    }

    #[test]
    fn every_error_has_its_message() {
        let message = |numbers: &[i64], num_dimensions| {
            resolve_permutation(numbers.iter().copied(), num_dimensions).unwrap_err().to_string()
        };
        assert_eq!(message(&[0, -3], 2), "expected a dimension number from -2 to 1, found -3");
        assert_eq!(message(&[0], 0), "a scalar has no dimensions, found dimension number 0");
        assert_eq!(message(&[1, -1], 2), "dimension 1 is named twice");
        assert_eq!(message(&[1], 2), "expected one entry for each of 2 dimensions, found 1");
        assert_eq!(distinct_dimensions([1], 2), Ok(alloc::vec![1]));
        assert_eq!(distinct_dimensions([1, 1], 2), Err(DimensionError::Duplicate { dimension: 1 }));
    }

    use alloc::string::ToString;
}
