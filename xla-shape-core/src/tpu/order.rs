//! Which two dimensions a TPU makes the most minor: the two whose tiles pad least.

use super::format::{Format, LANES, round_up};
use crate::layout::dimension::Dimension;

/// The dimension whose elements fill the lanes, and the one whose elements are the rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pair {
    pub(super) lanes: usize,
    pub(super) rows: usize,
}

/// The pair of dimensions that pads least; among equals the one with the last dimension along the lanes, then with the
/// last one along the rows.
///
/// There are at least two dimensions, all have elements, and the number of elements fits in an `i64`.
pub(super) const fn least_padding(dimensions: &[Dimension], format: Format) -> Pair {
    let Some(weighed) = format.weighed_rows else { return least(dimensions, Cut::Rows(format)) };
    // The compiler weighs 2-bit elements as if their tiles had 8 rows, but prefers a pair that fills its real tiles.
    let real = Cut::Multiple(format.most_rows());
    let whole = least(dimensions, real);
    let fills = is_whole(dimensions, whole.lanes, LANE_CUT) && is_whole(dimensions, whole.rows, real);
    if fills { whole } else { least(dimensions, Cut::Multiple(weighed)) }
}

/// How a dimension is cut into tiles.
#[derive(Clone, Copy)]
enum Cut {
    /// Into pieces of this size.
    Multiple(u64),
    /// Into as many rows as the format says.
    Rows(Format),
}

const LANE_CUT: Cut = Cut::Multiple(LANES);

impl Cut {
    /// The size with the padding of the last piece.
    const fn padded(self, size: u64) -> u64 {
        let piece = match self {
            Self::Multiple(piece) => piece,
            Self::Rows(format) => format.rows(size),
        };
        round_up(size, piece)
    }
}

const fn is_whole(dimensions: &[Dimension], dimension: usize, cut: Cut) -> bool {
    let size = extent(dimensions, dimension);
    cut.padded(size) == size
}

const fn least(dimensions: &[Dimension], rows: Cut) -> Pair {
    let (lanes, second) = (best(dimensions, LANE_CUT, None), best(dimensions, rows, None));
    if lanes != second {
        return Pair { lanes, rows: second };
    }
    // One dimension is the best for both; it is one of the two, and the other is the second best.
    let shared = lanes;
    let other_rows = best(dimensions, rows, Some(shared));
    let other_lanes = best(dimensions, LANE_CUT, Some(shared));
    let size = extent(dimensions, shared);
    let (rows_size, lanes_size) = (extent(dimensions, other_rows), extent(dimensions, other_lanes));
    // The sizes of the three dimensions, of which each pair leaves one as it is. Without padding, the product is at most the
    // number of elements, which fits in an `i64`.
    let along_lanes = product(LANE_CUT.padded(size), rows.padded(rows_size)).saturating_mul(lanes_size as u128);
    let along_rows = product(LANE_CUT.padded(lanes_size), rows.padded(size)).saturating_mul(rows_size as u128);
    if along_lanes < along_rows || along_lanes == along_rows && shared > other_lanes {
        Pair { lanes: shared, rows: other_rows }
    } else {
        Pair { lanes: other_lanes, rows: shared }
    }
}

/// The dimension that a cut pads least in proportion; among equals the last.
const fn best(dimensions: &[Dimension], cut: Cut, except: Option<usize>) -> usize {
    let mut best = usize::MAX;
    let (mut best_size, mut best_padded) = (1, u64::MAX);
    let mut i = 0_usize;
    while i < dimensions.len() {
        let skipped = match except {
            Some(except) => except == i,
            None => false,
        };
        let size = extent(dimensions, i);
        let padded = cut.padded(size);
        if !skipped && product(padded, best_size) <= product(best_padded, size) {
            (best, best_size, best_padded) = (i, size, padded);
        }
        i = i.saturating_add(1);
    }
    best
}

/// A product of two numbers, which fits.
const fn product(a: u64, b: u64) -> u128 {
    (a as u128).wrapping_mul(b as u128)
}

/// The size or bound of a dimension; none is unbounded here.
#[expect(clippy::indexing_slicing, reason = "the callers count dimensions up to the length")]
pub(super) const fn extent(dimensions: &[Dimension], dimension: usize) -> u64 {
    match dimensions[dimension].extent() {
        Some(extent) => extent,
        None => 0,
    }
}
