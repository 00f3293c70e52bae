//! Which collective operation makes a change.

use super::tiles::Tiles;
use super::{Region, Reshard};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The collective operation that performs a reshard.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReshardKind {
    /// Every device already has exactly what it needs.
    Nothing,
    /// Every device needs a part of what it has.
    Slice,
    /// In groups, every device keeps what it has and needs what the others of the group have.
    AllGather,
    /// Every device needs exactly what one device has, which may be itself, and no device has to send to two others.
    Permute,
    /// In groups, every device needs an equal part of what each device of the group has.
    AllToAll,
    /// No single operation moves just that.
    Mixed,
}

impl ReshardKind {
    /// XLA's name of the operation: `slice`, `all-gather`, `collective-permute` or `all-to-all`; `nothing` if none is
    /// needed, `mixed` if one is not enough.
    ///
    /// ```
    /// use xla_shape_core::shard::ReshardKind;
    ///
    /// assert_eq!(ReshardKind::Permute.name(), "collective-permute");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Slice => "slice",
            Self::AllGather => "all-gather",
            Self::Permute => "collective-permute",
            Self::AllToAll => "all-to-all",
            Self::Mixed => "mixed",
        }
    }
}

impl Reshard {
    /// The collective operation that performs it.
    ///
    /// ```
    /// use xla_shape_core::shard::{ReshardKind, Sharding};
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!(reshard.kind(), ReshardKind::AllToAll);
    /// let gather = rows.reshard(&Sharding::REPLICATED, &"f32[8,8]".parse()?)?;
    /// assert_eq!(gather.kind(), ReshardKind::AllGather);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kind(&self) -> ReshardKind {
        let (mut same, mut within, mut around, mut moved, mut equal) = (true, true, true, true, true);
        // The devices that need parts of the same tiles: one collective operation serves them.
        let mut groups = BTreeMap::<_, Group>::new();
        for (device, need) in self.needs() {
            let own = self.from.region(device).ok();
            let region = own.clone().unwrap_or_default();
            let common = if own.is_some() { region.intersection(&need).elements() } else { 0 };
            same &= own.as_ref() == Some(&need) || (own.is_some() && region.is_empty() && need.is_empty());
            within &= own.is_some() && common == need.elements();
            around &= own.is_some() && common == region.elements();
            let Some(bounds) = Tiles::bounds(&self.from, &need) else {
                // A device that needs nothing takes part in no exchange of equal parts.
                equal = false;
                continue;
            };
            let tile = bounds.iter().map(|&(first, _)| first).collect::<Vec<_>>();
            let is_tile = bounds.iter().all(|(first, last)| first == last)
                && self.from.tile_region(&tile).as_ref() == Some(&need);
            moved &= is_tile;
            let corner = bounds.iter().map(|&(_, last)| last).collect::<Vec<_>>();
            let sides = [self.from.tile_region(&tile), self.from.tile_region(&corner)];
            if let [Some(first), Some(last)] = sides {
                around &= first.start == need.start && last.limit == need.limit;
            }
            equal &= common > 0 && self.has_equal_parts(&bounds, &need);
            let group = groups.entry(bounds).or_default();
            count(&mut group.needs, need.start);
            if own.is_some() {
                count(&mut group.has, region.start);
            }
        }
        let holders = self.from.replication().unwrap_or(u64::MAX);
        match () {
            () if same => ReshardKind::Nothing,
            () if within => ReshardKind::Slice,
            // The devices of a group have exactly the tiles that all of them need, so they gather them among themselves.
            () if around && groups.iter().all(|(bounds, group)| group.is_regular() && group.has_all(bounds)) => {
                ReshardKind::AllGather
            }
            // No more devices need a tile than have it, so no device has to send to two others.
            () if moved && groups.values().all(|group| group.needs.values().all(|&count| count <= holders)) => {
                ReshardKind::Permute
            }
            () if equal
                && groups.iter().all(|(bounds, group)| {
                    group.is_regular() && group.has_all(bounds) && group.needs.len() == group.has.len()
                }) =>
            {
                ReshardKind::AllToAll
            }
            () => ReshardKind::Mixed,
        }
    }

    /// Whether all tiles within these bounds overlap the region in parts of the same size.
    fn has_equal_parts(&self, bounds: &[(u64, u64)], need: &Region) -> bool {
        let along =
            bounds.iter().zip(need.start.iter().zip(&need.limit)).zip(self.from.sizes().iter().zip(self.from.tiles()));
        along.into_iter().all(|((&(first, last), (&start, &limit)), (&size, &tiles))| {
            let shard = size.div_ceil(tiles).max(1);
            let part = |tile: u64| {
                let (begin, end) = (tile.saturating_mul(shard), tile.saturating_add(1).saturating_mul(shard));
                end.min(limit).saturating_sub(begin.max(start))
            };
            // The parts between the first and the last one are whole tiles.
            let is_between = last.saturating_sub(first) > 1;
            part(first) == part(last) && (!is_between || part(first) == shard)
        })
    }
}

/// Adds 1 to the count for this key.
#[expect(clippy::arithmetic_side_effects, reason = "each device counts at most once")]
fn count(counts: &mut BTreeMap<Vec<u64>, u64>, start: Vec<u64>) {
    let count = counts.entry(start).or_default();
    *count += 1;
}

/// Devices that need parts of the same tiles.
#[derive(Default)]
struct Group {
    /// How many devices hold each tile before the change. The key is the index of the tile's first element.
    has: BTreeMap<Vec<u64>, u64>,
    /// How many devices need each region. The key is the index of the region's first element.
    needs: BTreeMap<Vec<u64>, u64>,
}

impl Group {
    /// Whether each tile has as many holders as every other, and each region as many receivers. Then the group divides into groups in which
    /// each tile has one holder and each region one receiver: the devices are the edges of a regular bipartite graph of tiles and regions, which is a
    /// union of perfect matchings.
    fn is_regular(&self) -> bool {
        [&self.has, &self.needs].iter().all(|counts| {
            let mut counts = counts.values();
            counts.next().is_some_and(|first| counts.all(|count| count == first))
        })
    }

    /// Whether its devices have all tiles within these bounds, and no other.
    fn has_all(&self, bounds: &[(u64, u64)]) -> bool {
        let tiles = bounds
            .iter()
            .try_fold(1_u64, |tiles, (first, last)| tiles.checked_mul(last.checked_sub(*first)?.checked_add(1)?));
        tiles == Some(self.has.len() as u64)
    }
}
