//! [`MovedRuns`]: which positions of one shard become which of another.

use super::partition::Region;
use super::ranges::Ranges;
use crate::map::{CommonBlock, Digit, Extension, Slot, StrideTable, StrideTableError};
use crate::shape::array::ArrayShape;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Elements that follow each other in a shard before and after a change of the sharding.
///
/// ```
/// use xla_shape_core::shard::{MovedRun, Sharding};
///
/// let (rows, whole): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{maximal device=0}".parse()?);
/// let reshard = rows.reshard(&whole, &"f32[4,8]".parse()?)?;
/// let transfer = reshard.transfers().next().unwrap();
/// assert!(reshard.runs(&transfer)?.eq([MovedRun { from: 0, to: 16, len: 16 }]), "the second half of the rows");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MovedRun {
    /// The position of the first element in the sender's shard, in elements.
    pub from: u64,
    /// Its position in the receiver's shard, in elements.
    pub to: u64,
    /// How many elements there are.
    pub len: u64,
}

impl MovedRun {
    /// Copies the elements of the run, which have as many bits on both sides; `None` if they are not within the bytes.
    pub(super) fn copy(self, [from, to]: [&ArrayShape; 2], source: &[u8], destination: &mut [u8]) -> Option<()> {
        let range = |start: u64| Some(start..start.checked_add(self.len)?);
        let (before, after) = (range(self.from)?, range(self.to)?);
        if let (Some(before), Some(after)) = (from.byte_range(&before), to.byte_range(&after)) {
            let bytes = |range: Range<u64>| Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?);
            destination.get_mut(bytes(after)?)?.copy_from_slice(source.get(bytes(before)?)?);
            return Some(());
        }
        // The run begins or ends inside a byte.
        let first = |array: &ArrayShape, position: u64| {
            let prefix = array.layout().dynamic_shape_metadata_prefix_bytes().checked_mul(8)?;
            position.checked_mul(array.element_bits())?.checked_add(prefix)
        };
        let (old, new) = (first(from, self.from)?, first(to, self.to)?);
        for bit in 0..self.len.checked_mul(to.element_bits())? {
            let (old, new) = (old.checked_add(bit)?, new.checked_add(bit)?);
            let is_set = source.get(usize::try_from(old / 8).ok()?)? >> (old % 8) & 1 == 1;
            let byte = destination.get_mut(usize::try_from(new / 8).ok()?)?;
            let mask = 1_u8 << (new % 8);
            *byte = if is_set { *byte | mask } else { *byte & !mask };
        }
        Some(())
    }
}

/// An iterator over the runs of a transfer, in the order of the receiver's memory; see [`Reshard::runs`](super::Reshard::runs).
///
/// A step of the iterator handles a block of elements: as many as the minor digits that both layouts share. If they share none, as in a
/// transpose, a block is one element. Lines that alternate in packed tiles are runs of one element, too. So use these runs to move parts of
/// arrays without a change of layout: between shards, or from files. To change the layout of much data, move it in one layout, and copy the
/// result with a plan of the crate `xla-shape-relayout`, whose kernels transpose and interleave with vectors.
///
/// ```
/// use xla_shape_core::shard::Sharding;
///
/// let rows: Sharding = "{devices=[2,1]<=[2]}".parse()?;
/// let reshard = rows.reshard(&"{devices=[2,1]1,0}".parse()?, &"f32[64,128]".parse()?)?;
/// let tiled = reshard.into_layout("{1,0:T(8,128)}".parse()?)?;
/// let transfer = tiled.transfers().next().unwrap();
/// // Rows of 128 elements are rows of tiles, and the tiles follow each other.
/// assert_eq!(tiled.runs(&transfer)?.map(|run| run.len).collect::<Vec<_>>(), [4096]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MovedRuns {
    from: Shard,
    to: Shard,
    /// The positions of the receiver's shard that hold the region.
    ranges: Ranges,
    /// The rest of the current range.
    current: Range<u64>,
    /// The number of elements of a block. Blocks begin at the multiples of this number, and the elements of a block are contiguous in both
    /// shards.
    block: u64,
    /// Whether consecutive values of the digits above the block are consecutive blocks in both shards.
    counts: bool,
    /// The index of an element in the receiver's shard, and in the sender's.
    index: [Vec<u64>; 2],
    /// The last run, which the next one may extend.
    pending: Option<MovedRun>,
}

/// A shard and its place.
#[derive(Clone, Debug)]
struct Shard {
    table: Box<StrideTable>,
    /// The index of its first element in the whole array.
    start: Vec<u64>,
    /// The digit above the block.
    above: Option<Digit>,
}

impl Shard {
    fn new((array, start): (&ArrayShape, Vec<u64>)) -> Result<Self, StrideTableError> {
        Ok(Self { table: Box::new(array.stride_table()?), start, above: None })
    }

    /// How many values the digit above the block still has, from its value at this index on.
    fn left(&self, index: &[u64]) -> u64 {
        self.above.map_or(1, |digit| digit.size.saturating_sub(digit.term.value(index, &[])))
    }

    /// The part of a region that is in the shard.
    fn intersection(&self, region: &Region) -> Region {
        let extents = self.table.as_ref().as_ref().extents();
        let limit = self.start.iter().zip(extents).map(|(start, &extent)| start.saturating_add(extent)).collect();
        region.intersection(&Region { start: self.start.clone(), limit })
    }

    /// A region of the whole array, with indices of the shard.
    fn local(&self, region: &Region) -> Region {
        let local =
            |corner: &[u64]| corner.iter().zip(&self.start).map(|(i, start)| i.saturating_sub(*start)).collect();
        Region { start: local(&region.start), limit: local(&region.limit) }
    }
}

impl MovedRuns {
    /// The runs of a region of an array, from one part of the array to another. A part is a shape with its layout, and the index that its
    /// first element has in the whole array. Elements that are not in both parts are left out.
    ///
    /// ```
    /// use xla_shape_core::shard::{MovedRun, MovedRuns, Region};
    ///
    /// // Rows 2 to 5 of an array of 8 by 4, and rows 4 to 7.
    /// let (from, to) = ("f32[4,4]".parse()?, "f32[4,4]".parse()?);
    /// let runs = MovedRuns::new((&from, vec![2, 0]), (&to, vec![4, 0]), &Region::whole(&[8, 4]))?;
    /// assert!(runs.eq([MovedRun { from: 8, to: 0, len: 8 }]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`ArrayShape::stride_table`], for either part.
    ///
    /// # Panics
    /// If the parts and the region do not have the same number of dimensions.
    pub fn new(
        from: (&ArrayShape, Vec<u64>),
        to: (&ArrayShape, Vec<u64>),
        region: &Region,
    ) -> Result<Self, StrideTableError> {
        let target = to.0;
        let (mut from, mut to) = (Shard::new(from)?, Shard::new(to)?);
        let ranks = [&from, &to].map(|part| (part.start.len(), part.table.as_ref().as_ref().extents().len()));
        let rank = region.start.len();
        assert!(ranks == [(rank, rank); 2] && region.limit.len() == rank, "both parts are of one array");
        let region = &to.intersection(&from.intersection(region));
        let ranges = target.ranges_of(to.local(region))?;
        let (block, counts) = shared(&mut from, &mut to, region);
        let index = [(); 2].map(|()| vec![0; region.start.len()]);
        Ok(Self { from, to, ranges, current: 0..0, block, counts, index, pending: None })
    }

    /// The next run, which may continue the one before.
    fn step(&mut self) -> Option<MovedRun> {
        if self.current.is_empty() {
            self.current = self.ranges.next()?;
        }
        // The target's positions come in order. For each, take the element's index, move it from the target's to the source's origin, and look
        // up the source's position.
        let to = self.current.start;
        let [index, before] = &mut self.index;
        let (Slot::Element(()), true) = ((*self.to.table).as_ref().multi_index_into(to, index), self.block > 0) else {
            return None;
        };
        let starts = self.from.start.iter().zip(&self.to.start);
        for ((before, index), (from, to)) in before.iter_mut().zip(&*index).zip(starts) {
            *before = index.checked_add(*to)?.checked_sub(*from)?;
        }
        let from = (*self.from.table).as_ref().checked_linear_index(before)?;
        // Within a common block, both positions grow by 1 per element. Where the digit above the block counts blocks in both shards, the run
        // goes on through consecutive blocks until one of these digits ends.
        let blocks = if self.counts { self.from.left(before).min(self.to.left(index)) } else { 1 };
        let rest = self.current.end.saturating_sub(to);
        let len = blocks.saturating_mul(self.block).min(rest);
        self.current.start = to.checked_add(len)?;
        Some(MovedRun { from, to, len })
    }
}

/// The size of the blocks that are contiguous in both shards, and whether the digits above a block count the same dimension in the same
/// steps. The more minor digits must be the same, without padding, and the region must begin and end with whole blocks.
fn shared(from: &mut Shard, to: &mut Shard, region: &Region) -> (u64, bool) {
    let tables = [&from.table, &to.table];
    if tables.iter().any(|table| !table.as_ref().as_ref().intermediates().is_empty()) {
        return (1, false);
    }
    let locals = [from.local(region), to.local(region)];
    let is_whole = |dimension: usize, covered: u64| {
        let corners = locals.iter().flat_map(|local| [local.start.get(dimension), local.limit.get(dimension)]);
        corners.flatten().all(|corner| corner.is_multiple_of(covered))
    };
    // From the most minor digit on, the block grows while both tables have the same digits. A block must not reach across an edge of the region
    // or of a shard, so all edges must be at multiples of what it covers.
    let mut block = CommonBlock::ONE;
    let [before, after] = tables.map(|table| table.as_ref().as_ref().digits().iter().rev());
    for (before, after) in before.zip(after) {
        match block.extension([*before, *after]) {
            Extension::No => return (block.len, false),
            Extension::To(larger, dimension)
                if dimension.is_none_or(|d| larger.covers.get(d).is_some_and(|covered| is_whole(d, *covered))) =>
            {
                block = larger;
            }
            Extension::To(..) | Extension::Partly => {
                (from.above, to.above) = (Some(*before), Some(*after));
                return (block.len, true);
            }
        }
    }
    (block.len, false)
}

impl Iterator for MovedRuns {
    type Item = MovedRun;

    fn next(&mut self) -> Option<MovedRun> {
        loop {
            // A run is returned only when the next one does not continue it on both sides.
            let Some(run) = self.step() else { return self.pending.take() };
            match &mut self.pending {
                Some(last)
                    if last.from.checked_add(last.len) == Some(run.from)
                        && last.to.checked_add(last.len) == Some(run.to) =>
                {
                    last.len = last.len.saturating_add(run.len);
                }
                pending => {
                    if let Some(run) = pending.replace(run) {
                        return Some(run);
                    }
                }
            }
        }
    }
}
