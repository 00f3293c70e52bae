//! The tiles of a partition that overlap a region.

use super::{Partition, Region};
use alloc::vec::Vec;

/// Iterates over the indices of the tiles of a partition that overlap a region.
pub(super) struct Tiles {
    /// The first and the last tile along each dimension; `None` if no tile overlaps.
    bounds: Option<Vec<(u64, u64)>>,
    next: Option<Vec<u64>>,
}

impl Tiles {
    pub(super) fn new(partition: &Partition, region: &Region) -> Self {
        let bounds = Self::bounds(partition, region);
        let next = bounds.as_ref().map(|bounds| bounds.iter().map(|&(first, _)| first).collect());
        Self { bounds, next }
    }

    /// The first and the last tile along each dimension; `None` if no tile overlaps.
    pub(super) fn bounds(partition: &Partition, region: &Region) -> Option<Vec<(u64, u64)>> {
        if region.is_empty() {
            return None;
        }
        let mut bounds = Vec::with_capacity(partition.sizes().len());
        let sides = region.start.iter().zip(&region.limit);
        for ((&start, &limit), (&size, &tiles)) in sides.zip(partition.sizes().iter().zip(partition.tiles())) {
            let shard = size.div_ceil(tiles).max(1);
            let tile = |index: u64| index.checked_div(shard).unwrap_or(0);
            bounds.push((tile(start), tile(limit.saturating_sub(1))));
        }
        Some(bounds)
    }
}

impl Iterator for Tiles {
    type Item = Vec<u64>;

    #[expect(clippy::arithmetic_side_effects, reason = "a number below the last one grows by 1")]
    fn next(&mut self) -> Option<Vec<u64>> {
        let bounds = self.bounds.as_ref()?;
        let tile = self.next.take()?;
        let mut after = tile.clone();
        for (number, &(first, last)) in after.iter_mut().zip(bounds).rev() {
            if *number < last {
                *number += 1;
                self.next = Some(after);
                break;
            }
            *number = first;
        }
        Some(tile)
    }
}
