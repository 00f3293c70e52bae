//! Builds the digits of a stride table from the order of dimensions and the tiles, step by step as the page
//! [Tiled layout](https://openxla.org/xla/tiled_layout) defines them.
//!
//! The list of digits stands for the array's physical dimensions, major to minor. Each tile combines (`*`) and cuts the
//! most minor digits; the list after the last tile is the table.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; indices and counters are below checked lengths, and products of sizes are checked"
)]

use super::{Digit, Intermediate, Source, StrideTableError, Term};
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::layout::tile::{Tile, TileDimension};
use crate::limits::MAX_SIZE;
use crate::list::Blank;
use core::num::NonZeroU64;

/// Why building stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BuildError {
    /// The positions do not fit in an `i64`.
    Overflow,
    /// The workspace cannot hold all digits.
    TooManyDigits,
    /// The workspace cannot hold all intermediate values.
    TooManyIntermediates,
    /// `*` combines a dimension whose size is not known.
    CombinesUnknown,
}

impl BuildError {
    pub(crate) const fn into_stride_table_error(self) -> StrideTableError {
        match self {
            Self::Overflow => StrideTableError::Overflow,
            Self::TooManyDigits => StrideTableError::TooManyDigits,
            Self::TooManyIntermediates => StrideTableError::TooManyIntermediates,
            Self::CombinesUnknown => StrideTableError::CombinesUnbounded,
        }
    }
}

impl From<BuildError> for StrideTableError {
    fn from(error: BuildError) -> Self {
        error.into_stride_table_error()
    }
}

/// The placeholder for the size of an unbounded dimension, and of the digit that counts its tiles.
///
/// Such a digit is cut and joined like one that is larger than any tile. Once its size is known, the strides of the
/// more major digits are multiplied by it.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// The sizes of the dimensions to lay out.
#[derive(Clone, Copy)]
pub(crate) enum Extents<'a> {
    /// One for each logical dimension.
    Logical(&'a [u64]),
    /// Each dimension's size or bound; [`UNKNOWN`] for an unbounded one.
    OrUnknown(&'a [Dimension]),
    /// Each dimension's size or bound; 1 for an unbounded one; its largest piece for a split one.
    LargestPieces(&'a [Dimension]),
}

impl Extents<'_> {
    /// The size of logical dimension `dimension`, which is physical dimension `physical`.
    #[inline]
    const fn size(self, layout: &Layout, dimension: usize, physical: usize) -> u64 {
        match self {
            Self::Logical(extents) => extents[dimension],
            Self::OrUnknown(dimensions) => match dimensions[dimension].extent() {
                Some(extent) => extent,
                None => UNKNOWN,
            },
            Self::LargestPieces(dimensions) => match dimensions[dimension].extent() {
                None => 1,
                Some(extent) => largest_piece(extent, layout, physical),
            },
        }
    }
}

/// The size of the largest piece that splits cut physical dimension `physical`, of size `extent`, into.
pub(crate) const fn largest_piece(extent: u64, layout: &Layout, physical: usize) -> u64 {
    let splits = layout.split_configs();
    let mut i = 0;
    while i < splits.len() {
        if splits[i].dimension() == physical {
            let indices = splits[i].split_indices();
            let mut largest = extent - indices[indices.len() - 1];
            let mut start = 0;
            let mut k = 0;
            while k < indices.len() {
                if indices[k] - start > largest {
                    largest = indices[k] - start;
                }
                start = indices[k];
                k += 1;
            }
            return largest;
        }
        i += 1;
    }
    extent
}

/// Storage for the digits and intermediate values of a table.
pub(crate) struct Workspace<'a> {
    pub(crate) digits: &'a mut [Digit],
    /// `None` to compute only sizes. Then terms are meaningless. A tile with more entries than there are digits adds no digits of size 1 at
    /// the front.
    pub(crate) intermediates: Option<&'a mut [Intermediate]>,
}

/// How much of the workspace the table uses.
#[derive(Clone, Copy)]
pub(crate) struct Built {
    pub(crate) digits: usize,
    pub(crate) intermediates: usize,
    pub(crate) positions: u64,
}

/// The most digits and the most intermediate values that a table of this layout needs.
pub(crate) fn capacity(layout: &Layout) -> (usize, usize) {
    let (mut digits, mut entries, mut combined) = (layout.num_dimensions(), 0, 0);
    let mut most = digits;
    for tile in layout.tiles() {
        let tile = tile.dimensions();
        let stars = tile.iter().filter(|entry| matches!(entry, TileDimension::Combine)).count();
        // A tile may extend the list to its own length; each `*` removes a digit, and each size appends one.
        let widened = digits.max(tile.len());
        digits = widened - stars + (tile.len() - stars);
        most = most.max(widened).max(digits);
        entries += tile.len();
        combined += stars;
    }
    // A cut turns a digit into two of at least 2 values each, and their product fits in 63 bits: fewer than 64 such
    // digits exist. Only digits that `*` combined can be cut beyond that.
    (most, entries.min(2 * combined + 64))
}

/// The most digits that a table of this layout needs if only sizes are computed.
pub(crate) fn capacity_for_sizes(layout: &Layout) -> usize {
    layout.num_dimensions() + layout.tiles().iter().map(|tile| tile.dimensions().len()).sum::<usize>()
}

/// Builds the table of a valid layout. Digits of size 1 are kept: each dimension and each entry of a tile has its own
/// digit.
pub(crate) const fn build(
    extents: Extents<'_>,
    layout: &Layout,
    workspace: Workspace<'_>,
) -> Result<Built, BuildError> {
    let (intermediates, sizes_only) = match workspace.intermediates {
        Some(intermediates) => (intermediates, false),
        None => (&mut [] as &mut [Intermediate], true),
    };
    let mut builder = Builder {
        digits: workspace.digits,
        num_digits: 0,
        intermediates,
        num_intermediates: 0,
        positions: 1,
        sizes_only,
    };
    let minor_to_major = layout.minor_to_major();
    let num_dimensions = minor_to_major.len();
    if num_dimensions > builder.digits.len() {
        return Err(BuildError::TooManyDigits);
    }
    let mut physical = 0;
    let mut empty = false;
    while physical < num_dimensions {
        let dimension = minor_to_major[num_dimensions - 1 - physical];
        let size = extents.size(layout, dimension, physical);
        empty |= size == 0;
        builder.digits[physical] = Digit { term: Term::whole(Source::Dimension(dimension as u32)), size, stride: 0 };
        physical += 1;
    }
    if empty {
        // An array without elements has no positions and no digits.
        return Ok(Built { digits: 0, intermediates: 0, positions: 0 });
    }
    builder.num_digits = num_dimensions;
    if let Err(error) = builder.set_strides() {
        return Err(error);
    }
    let mut i = 0;
    while i < layout.tiles().len() {
        if let Err(error) = builder.apply(&layout.tiles()[i]) {
            return Err(error);
        }
        i += 1;
    }
    if i > 0
        && let Err(error) = builder.set_strides()
    {
        return Err(error);
    }
    Ok(Built { digits: builder.num_digits, intermediates: builder.num_intermediates, positions: builder.positions })
}

/// Removes digits of size 1, and joins neighbours that continue each other: `x / 8 · 1024 + x % 8 · 128` is `x · 128`.
/// Returns how many digits remain; they are the first ones of the list.
pub(crate) const fn simplify(digits: &mut [Digit], count: usize) -> usize {
    let mut kept = 0;
    let mut i = 0;
    while i < count {
        // A remainder and the quotient before it may be one digit.
        if digits[i].size == 1 {
        } else if digits[i].term.modulus.is_some()
            && kept > 0
            && let Some(joined) = join(digits[kept - 1], digits[i])
        {
            digits[kept - 1] = joined;
        } else {
            if kept < i {
                digits[kept] = digits[i];
            }
            kept += 1;
        }
        i += 1;
    }
    kept
}

/// The digit that equals two neighbours, if the major one continues the minor one.
const fn join(major: Digit, minor: Digit) -> Option<Digit> {
    // The size of an unbounded digit scales the strides before it, so that digit must stay.
    if major.size == UNKNOWN { None } else { join_outermost(major, minor) }
}

/// Like [`join`], but the major digit may be unbounded: it must be the first digit, so that it scales no strides.
pub(super) const fn join_outermost(major: Digit, minor: Digit) -> Option<Digit> {
    let Some(modulus) = minor.term.modulus else { return None };
    let continues = major.term.source.same(minor.term.source)
        && modulus.get() == minor.size
        && major.stride == minor.stride * minor.size
        && matches!(minor.term.divisor.checked_mul(modulus), Some(divisor) if divisor.get() == major.term.divisor.get());
    if !continues {
        return None;
    }
    let joined_modulus = match major.term.modulus {
        Some(major_modulus) => major_modulus.checked_mul(modulus),
        None => None,
    };
    let term = Term { source: minor.term.source, divisor: minor.term.divisor, modulus: joined_modulus };
    let size = if major.size == UNKNOWN { UNKNOWN } else { major.size * minor.size };
    Some(Digit { term, size, stride: minor.stride })
}

struct Builder<'a> {
    digits: &'a mut [Digit],
    num_digits: usize,
    intermediates: &'a mut [Intermediate],
    num_intermediates: usize,
    /// The product of the known sizes so far; tiles only increase it.
    positions: u64,
    sizes_only: bool,
}

impl Builder<'_> {
    const fn apply(&mut self, tile: &Tile) -> Result<(), BuildError> {
        let entries = tile.dimensions();
        let missing = entries.len().saturating_sub(self.num_digits);
        let left_out = if self.sizes_only { missing } else { 0 };
        if let Err(error) = self.widen(entries.len() - left_out) {
            return Err(error);
        }
        let covered = self.num_digits - (entries.len() - left_out);
        if let Err(error) = self.combine(entries.split_at(left_out).1, covered) {
            return Err(error);
        }
        // `combine` removed the digits under `*`, so the sizes among the entries correspond to the digits that remain.
        let mut outer = covered;
        let mut entry = 0;
        while entry < entries.len() {
            if let TileDimension::Size(size) = entries[entry] {
                let digit = if entry < left_out { Digit::BLANK } else { self.digits[outer] };
                match self.cut(digit, size) {
                    Ok((outer_digit, inner_digit)) => {
                        if entry >= left_out {
                            self.digits[outer] = outer_digit;
                            outer += 1;
                        }
                        if self.num_digits == self.digits.len() {
                            return Err(BuildError::TooManyDigits);
                        }
                        self.digits[self.num_digits] = inner_digit;
                        self.num_digits += 1;
                    }
                    Err(error) => return Err(error),
                }
            }
            entry += 1;
        }
        Ok(())
    }

    /// Inserts digits of size 1 at the front until there are as many as the tile has entries.
    const fn widen(&mut self, entries: usize) -> Result<(), BuildError> {
        if entries <= self.num_digits {
            return Ok(());
        }
        if entries > self.digits.len() {
            return Err(BuildError::TooManyDigits);
        }
        let added = entries - self.num_digits;
        let mut i = entries;
        while i > 0 {
            i -= 1;
            self.digits[i] = if i >= added { self.digits[i - added] } else { Digit::BLANK };
        }
        self.num_digits = entries;
        Ok(())
    }

    /// Removes each digit under a `*` and folds it into the next digit.
    const fn combine(&mut self, entries: &[TileDimension], covered: usize) -> Result<(), BuildError> {
        let mut kept = covered;
        let mut pending: Option<Digit> = None;
        let mut entry = 0;
        while entry < entries.len() {
            let mut digit = self.digits[covered + entry];
            if let Some(major) = pending {
                digit = match self.fold(major, digit) {
                    Ok(folded) => folded,
                    Err(error) => return Err(error),
                };
            }
            pending = match entries[entry] {
                TileDimension::Combine => Some(digit),
                TileDimension::Size(_) => {
                    self.digits[kept] = digit;
                    kept += 1;
                    None
                }
            };
            entry += 1;
        }
        self.num_digits = kept;
        Ok(())
    }

    const fn fold(&mut self, major: Digit, minor: Digit) -> Result<Digit, BuildError> {
        if major.size == 1 {
            return Ok(minor);
        }
        if minor.size == 1 {
            return Ok(major);
        }
        if major.size == UNKNOWN || minor.size == UNKNOWN {
            return Err(BuildError::CombinesUnknown);
        }
        let (Some(size), Some(minor_size)) = (major.size.checked_mul(minor.size), NonZeroU64::new(minor.size)) else {
            return Err(BuildError::Overflow);
        };
        match self.intermediate(Intermediate::Combine { major: major.term, minor: minor.term, minor_size, size }) {
            Ok(source) => Ok(Digit { term: Term::whole(source), size, stride: 0 }),
            Err(error) => Err(error),
        }
    }

    const fn intermediate(&mut self, intermediate: Intermediate) -> Result<Source, BuildError> {
        if self.sizes_only {
            return Ok(Source::Zero);
        }
        if self.num_intermediates == self.intermediates.len() {
            return Err(BuildError::TooManyIntermediates);
        }
        self.intermediates[self.num_intermediates] = intermediate;
        self.num_intermediates += 1;
        Ok(Source::Intermediate((self.num_intermediates - 1) as u32))
    }

    /// Cuts a digit into the number of the tile and the index inside the tile.
    const fn cut(&mut self, digit: Digit, tile: u64) -> Result<(Digit, Digit), BuildError> {
        let Some(tile_size) = NonZeroU64::new(tile) else { return Err(BuildError::Overflow) };
        let outer_size = if digit.size == UNKNOWN { UNKNOWN } else { digit.size.div_ceil(tile) };
        // The product of the sizes only grows; stopping as soon as it overflows bounds how many digits are larger than
        // 1.
        let (before, outer) = if digit.size == UNKNOWN { (1, 1) } else { (digit.size, outer_size) };
        self.positions = match (self.positions / before).checked_mul(outer) {
            Some(positions) => match positions.checked_mul(tile) {
                Some(positions) if positions <= MAX_SIZE => positions,
                _ => return Err(BuildError::Overflow),
            },
            None => return Err(BuildError::Overflow),
        };
        if digit.size <= tile {
            // One tile holds the whole digit: its number is always 0.
            return Ok((Digit::BLANK, Digit { term: digit.term, size: tile, stride: 0 }));
        }
        if tile == 1 {
            return Ok((digit, Digit::BLANK));
        }
        let mut term = digit.term;
        let mut outer_modulus = None;
        if let Some(modulus) = term.modulus {
            if modulus.get().is_multiple_of(tile) {
                outer_modulus = NonZeroU64::new(modulus.get() / tile);
            } else {
                // `((x / d) % m) % t` is not `(x / d) % t`, since `t` does not divide `m`: the remainder becomes an
                // intermediate value.
                term = match self.intermediate(Intermediate::Term { term, size: modulus.get() }) {
                    Ok(source) => Term::whole(source),
                    Err(error) => return Err(error),
                };
            }
        }
        let Some(divisor) = term.divisor.checked_mul(tile_size) else { return Err(BuildError::Overflow) };
        let outer = Term { source: term.source, divisor, modulus: outer_modulus };
        let inner = Term { source: term.source, divisor: term.divisor, modulus: Some(tile_size) };
        Ok((Digit { term: outer, size: outer_size, stride: 0 }, Digit { term: inner, size: tile, stride: 0 }))
    }

    /// Sets the strides of the digits in row-major order, and counts the positions.
    const fn set_strides(&mut self) -> Result<(), BuildError> {
        let mut positions: u64 = 1;
        let mut i = self.num_digits;
        while i > 0 {
            i -= 1;
            self.digits[i].stride = positions;
            if self.digits[i].size == UNKNOWN {
                continue;
            }
            positions = match positions.checked_mul(self.digits[i].size) {
                Some(positions) if positions <= MAX_SIZE => positions,
                _ => return Err(BuildError::Overflow),
            };
        }
        self.positions = positions;
        Ok(())
    }
}
