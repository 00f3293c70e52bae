//! Regions of dimensions that the two sides divide differently, so that they share no digits. Later tiles may be uneven, tiles may have no common
//! multiple, or `*` may combine dimensions in two ways.
//!
//! The positions of a period's indices are looked up one by one and assembled into loops: to runs, to runs of runs, and so on.

use super::loops::{Axis, Region};
use super::tuning::MAX_PIECE_PERIOD;
use crate::wide::local;
use xla_shape_core::map::{StrideTableRef, increment, least_common_multiple};

/// The positions of elements along these source dimensions, where the indices of all other dimensions are 0, as loops that contain each of
/// them once. `None` if too many would have to be looked up. `to_dimension[i]` is the source's dimension that is dimension `i` of the destination.
pub(super) fn pieces(
    from: StrideTableRef<'_>,
    to: StrideTableRef<'_>,
    to_dimension: &[usize],
    dimensions: &[usize],
) -> Option<Vec<Region>> {
    let sizes = local(from.extents());
    let size = dimensions.iter().try_fold(1_usize, |size, &dimension| size.checked_mul(sizes[dimension]))?;
    let period = period(from, to, to_dimension, dimensions).filter(|&period| period < size);
    let looked_up = period.map_or(size, |period| period + 1);
    if looked_up > MAX_PIECE_PERIOD {
        return None;
    }
    let positions = positions(from, to, to_dimension, dimensions, looked_up);
    let Some(period) = period else { return Some(loops(&positions)) };
    // With size 10 and period 4, the loops of the indices 0 to 3 run twice, the second time `positions[4]` further on; then those of 0 and 1
    // run once.
    let (periods, rest) = (size / period, size % period);
    let (from, to) = positions[period];
    let mut all = loops(&positions[..period]);
    all.iter_mut().filter(|_| periods > 1).for_each(|region| region.axes.push(Axis { len: periods, from, to }));
    all.extend(loops(&positions[..rest]).into_iter().map(|region| region.shifted(periods * from, periods * to)));
    Some(all)
}

/// The number of indices of a dimension after which the positions on both sides repeat, a constant further on; `None` if it is not known.
fn period(
    from: StrideTableRef<'_>,
    to: StrideTableRef<'_>,
    to_dimension: &[usize],
    dimensions: &[usize],
) -> Option<usize> {
    let &[dimension] = dimensions else { return None };
    let number = to_dimension.iter().position(|&of| of == dimension)?;
    let period = least_common_multiple(from.period(dimension)?, to.period(number)?)?;
    usize::try_from(period).ok()
}

/// The positions on both sides of the first `count` elements of these source dimensions, in row-major order.
pub(super) fn positions(
    from: StrideTableRef<'_>,
    to: StrideTableRef<'_>,
    to_dimension: &[usize],
    dimensions: &[usize],
    count: usize,
) -> Vec<(usize, usize)> {
    let (mut from_index, mut to_index) = (vec![0_u64; to_dimension.len()], vec![0_u64; to_dimension.len()]);
    let extents = dimensions.iter().map(|&dimension| from.extents()[dimension]).collect::<Vec<_>>();
    let mut index = vec![0_u64; dimensions.len()];
    let mut positions = Vec::with_capacity(count);
    while positions.len() < count {
        dimensions.iter().zip(&index).for_each(|(&dimension, &entry)| from_index[dimension] = entry);
        to_index.iter_mut().zip(to_dimension).for_each(|(to, &dimension)| *to = from_index[dimension]);
        positions.push((from.linear_index(&from_index) as usize, to.linear_index(&to_index) as usize));
        increment(&mut index, &extents);
    }
    positions
}

/// Loops that visit these positions.
fn loops(positions: &[(usize, usize)]) -> Vec<Region> {
    let mut all: Vec<Region> = positions.iter().map(|&(from, to)| Region { from, to, ..Region::default() }).collect();
    // The first round merges positions into runs, the second one runs into runs of runs, and so on: 0 1 2 10 11 12 becomes 3 positions from 0 and 3
    // from 10, and then 2 times 3 positions.
    loop {
        let count = all.len();
        all = merged(all);
        // End here: a list that hardly shrinks would take as many rounds as it has entries.
        if count - all.len() <= count / 16 {
            return all;
        }
    }
}

/// Merges consecutive regions that have the same loops and are equally far apart into one region with one more loop.
fn merged(regions: Vec<Region>) -> Vec<Region> {
    let distance = |one: &Region, other: &Region| {
        let follows = one.axes == other.axes && one.from < other.from && one.to < other.to;
        follows.then(|| (other.from - one.from, other.to - one.to))
    };
    // All runs have the distance of the first pair that can be merged; regions between runs are not merged.
    let own = regions.windows(2).find_map(|pair| distance(&pair[0], &pair[1]));
    let mut merged: Vec<Region> = Vec::new();
    let mut rest = regions.into_iter().peekable();
    while let Some(mut region) = rest.next() {
        let (mut len, mut last) = (1, region.clone());
        while let Some(next) = rest.next_if(|next| own.is_some() && distance(&last, next) == own) {
            (len, last) = (len + 1, next);
        }
        if let Some((from, to)) = own.filter(|_| len > 1) {
            region.axes.push(Axis { len, from, to });
        }
        merged.push(region);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::{loops, pieces};
    use crate::loops::Region;
    use xla_shape_core::ArrayShape;

    /// All positions of a region.
    fn expand(region: &Region) -> Vec<(usize, usize)> {
        let mut all = vec![(region.from, region.to)];
        for axis in &region.axes {
            let turn = |i: usize| move |&(from, to): &(usize, usize)| (from + i * axis.from, to + i * axis.to);
            all = (0..axis.len).flat_map(|i| all.iter().map(turn(i)).collect::<Vec<_>>()).collect();
        }
        all
    }

    #[test]
    fn runs_and_runs_of_runs() {
        let positions = |groups: &[(usize, usize)]| {
            groups
                .iter()
                .flat_map(|&(start, len)| (0..len).map(move |i| (start + 2 * i, start + i)))
                .collect::<Vec<_>>()
        };
        for (groups, count) in [
            (&[(0, 3), (100, 3), (200, 2)][..], 2),
            (&[(0, 3), (100, 1), (200, 3)], 3),
            (&[(0, 2), (10, 2), (100, 2), (110, 2)], 1),
            (&[(0, 1)], 1),
            (&[], 0),
        ] {
            let positions = positions(groups);
            let regions = loops(&positions);
            assert_eq!(regions.len(), count, "{regions:?}");
            let mut found = regions.iter().flat_map(expand).collect::<Vec<_>>();
            found.sort_unstable();
            assert_eq!(found, positions);
        }
    }

    #[test]
    fn a_dimension_in_pieces() {
        for (from, to, count) in [
            ("u8[2000]{0:T(8)(3)}", "u8[2000]", 1),
            ("u8[2000,5]{1,0:T(8,2)(3,1)}", "u8[2000,5]", 2),
            ("u8[2000,5]{1,0:T(3,1)}", "u8[2000,5]{1,0:T(8,1)}", 9),
            ("u8[7,5]{1,0:T(3,1)}", "u8[7,5]{1,0:T(8,1)}", 2),
        ] {
            let [from, to] = [from, to].map(|text| text.parse::<ArrayShape>().unwrap().stride_table().unwrap());
            let identity = (0..from.as_ref().extents().len()).collect::<Vec<_>>();
            let regions = pieces(from.as_ref(), to.as_ref(), &identity, &[0]).unwrap();
            assert_eq!(regions.len(), count, "{regions:?}");
            let mut found = regions.iter().flat_map(expand).collect::<Vec<_>>();
            found.sort_unstable();
            let place = |i: u64| {
                let index = identity.iter().map(|&dimension| if dimension == 0 { i } else { 0 }).collect::<Vec<_>>();
                (from.as_ref().linear_index(&index) as usize, to.as_ref().linear_index(&index) as usize)
            };
            let mut expected = (0..from.as_ref().extents()[0]).map(place).collect::<Vec<_>>();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}
