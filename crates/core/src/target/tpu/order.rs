//! Which two dimensions a TPU makes the most minor: those whose tiles need the least padding. Found by asking libtpu;
//! see `docs/tpu-formats.md`.

use super::format::{Format, LANES, round_up};
use crate::layout::dimension::Dimension;

/// The two most minor dimensions: along the lanes and along the rows of tiles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pair {
    pub(super) lanes: usize,
    pub(super) rows: usize,
}

/// The pair of dimensions that needs the least padding; among equals the pair with the last dimension along the lanes,
/// then along the rows.
///
/// The caller has checked that there are at least two dimensions, none of size 0, and that the number of elements fits
/// in an `i64`.
pub(super) const fn least_padding(dimensions: &[Dimension], format: Format) -> Pair {
    let Some(weighed) = format.weighed_rows else { return least(dimensions, Cut::Rows(format)) };
    // For 2-bit elements, the compiler compares padding as if tiles had 8 rows, but prefers a pair that fills the real
    // tiles.
    let real = Cut::Multiple(format.max_rows());
    let whole = least(dimensions, real);
    let fills = is_whole(dimensions, whole.lanes, LANE_CUT) && is_whole(dimensions, whole.rows, real);
    if fills { whole } else { least(dimensions, Cut::Multiple(weighed)) }
}

/// How a dimension is cut into tiles.
#[derive(Clone, Copy)]
enum Cut {
    /// Into tiles of this size.
    Multiple(u64),
    /// Into tiles with the number of rows that the format chooses for the size.
    Rows(Format),
}

const LANE_CUT: Cut = Cut::Multiple(LANES);

impl Cut {
    /// The size with the padding of the last tile.
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
    // The same dimension is best for lanes and rows. It is used for one of them, and the second best dimension for the
    // other.
    let shared = lanes;
    let other_rows = best(dimensions, rows, Some(shared));
    let other_lanes = best(dimensions, LANE_CUT, Some(shared));
    let size = extent(dimensions, shared);
    let (rows_size, lanes_size) = (extent(dimensions, other_rows), extent(dimensions, other_lanes));
    // The padded size of three dimensions for either choice; the dimension that is not in the pair has no padding. The
    // product of the unpadded sizes is at most the number of elements, which fits in an `i64`.
    let along_lanes = product(LANE_CUT.padded(size), rows.padded(rows_size)).saturating_mul(lanes_size as u128);
    let along_rows = product(LANE_CUT.padded(lanes_size), rows.padded(size)).saturating_mul(rows_size as u128);
    if along_lanes < along_rows || along_lanes == along_rows && shared > other_lanes {
        Pair { lanes: shared, rows: other_rows }
    } else {
        Pair { lanes: other_lanes, rows: shared }
    }
}

/// The dimension with the smallest ratio of padded size to size; among equals the last. Compares ratios by
/// cross-multiplication.
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
        i += 1;
    }
    best
}

/// The product of two `u64`, which fits in a `u128`.
const fn product(a: u64, b: u64) -> u128 {
    (a as u128).wrapping_mul(b as u128)
}

/// The size or bound of a dimension; the callers have refused unbounded ones.
#[expect(clippy::indexing_slicing, reason = "the callers count dimensions up to the length")]
pub(super) const fn extent(dimensions: &[Dimension], dimension: usize) -> u64 {
    match dimensions[dimension].extent() {
        Some(extent) => extent,
        None => 0,
    }
}
