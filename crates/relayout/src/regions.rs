//! From two stride tables to regions: parts of the arrays in which both sides are plain loops with constant strides.
//!
//! The digits of both tables are cut out of the same indices. If their divisors form one chain `1 | c₁ | c₂ | …`, the index has common
//! digits, and both positions are linear in each of them. A size that is not a multiple of a `cₖ` gives more than one region: the whole
//! blocks, and the rest. If there is no chain, positions are looked up: see [`pieces`].

use super::loops::{Axis, Region, identity};
use super::pieces::pieces;
use super::tuning::{MAX_REGIONS, MIN_REGION_ELEMENTS};
use crate::wide::local;
use smallvec::SmallVec;
use xla_shape_core::map::{Digit, Intermediate, Source, StrideTable, StrideTableRef, Term, least_common_multiple};

/// The regions to copy, and the destination's padding; all in elements.
#[derive(Default)]
pub(super) struct Regions {
    pub(super) copy: SmallVec<[Region; 1]>,
    /// The regions of padding; `None` if they are not known, or not needed.
    pub(super) padding: Option<Vec<Region>>,
}

/// A digit of a table, cut out of a [`Group`]'s index.
#[derive(Clone, Copy)]
struct Cut {
    divisor: usize,
    /// The quotient is reduced modulo this, if it can be larger.
    modulus: Option<usize>,
    size: usize,
    stride: usize,
}

/// Source dimensions, major to minor, that a `*` of either side combines; usually one dimension. The group's index is their row-major
/// index.
struct Group {
    dimensions: SmallVec<[usize; 1]>,
    size: usize,
    /// Whether some digit cannot be computed from this index with a divisor and a modulus.
    is_irregular: bool,
}

/// An intermediate value of a table: the dimensions that it depends on, and whether it is their row-major index. Dimensions of size 1 are
/// left out.
struct Value {
    dimensions: Vec<usize>,
    is_index: bool,
}

/// The digits of one side, each with the number of its group.
type Cuts = SmallVec<[(usize, Cut); 8]>;

/// A common divisor of the digits of both sides, and the distances on both sides between elements whose indices differ by it.
#[derive(Clone, Copy)]
struct Common {
    divisor: usize,
    from: usize,
    to: usize,
}

impl Regions {
    /// Writes the regions of a relayout to an empty list. `to_dimension[i]` is the source's dimension that is dimension `i` of the
    /// destination. The regions of padding are determined only if it `is_filled`.
    ///
    /// `None` if there would be too many regions.
    pub(super) fn find(
        &mut self,
        from: &StrideTable,
        to: &StrideTable,
        to_dimension: &[usize],
        mut is_filled: bool,
    ) -> Option<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let sizes = local(from.extents());
        if sizes.contains(&0) {
            // An array without elements has no positions.
            self.padding = Some(Vec::new());
            return Some(());
        }
        let identity = identity(sizes.len());
        let from_values = values(from, &identity, sizes);
        let to_values = values(to, to_dimension, sizes);
        let mut groups = SmallVec::new();
        combine(&mut groups, sizes, from_values.iter().chain(&to_values));
        let (mut from_cuts, mut to_cuts, mut unused) = (Cuts::new(), Cuts::new(), Vec::new());
        for digit in from.digits() {
            assign_digit(&mut groups, sizes, digit, &identity, &from_values, &mut from_cuts);
        }
        for digit in to.digits() {
            if !assign_digit(&mut groups, sizes, digit, to_dimension, &to_values, &mut to_cuts) {
                unused.push(Cut::new(digit));
            }
        }
        self.copy.push(Region::default());
        let mut digits = SmallVec::new();
        let mut has_pieces = false;
        for (number, group) in groups.iter().enumerate() {
            if !group.is_irregular && common_divisors(number, &from_cuts, &to_cuts, &mut digits).is_some() {
                product(&mut self.copy, group.size, &digits)?;
            } else {
                has_pieces = true;
                multiply(&mut self.copy, &pieces(from, to, to_dimension, &group.dimensions)?)?;
            }
        }
        let elements = sizes.iter().fold(1_usize, |elements, size| elements.saturating_mul(*size));
        if has_pieces && self.copy.len() > (elements / MIN_REGION_ELEMENTS).max(1) {
            return None;
        }
        is_filled &= !has_pieces;
        if is_filled {
            self.padding = padding(&groups, &to_cuts, &unused);
        }
        Some(())
    }
}

/// Dimensions of one side, usually one. Digits are cut from their common row-major index.
pub(super) struct SideGroup {
    /// The numbers of these dimensions in the source, major to minor.
    pub(super) dimensions: SmallVec<[usize; 1]>,
    pub(super) size: usize,
    /// The number of indices after which the positions repeat, shifted by a constant; `None` if it is not known.
    pub(super) period: Option<usize>,
}

/// The groups of one side's dimensions. `dimension[i]` is the source's number of this side's dimension `i`; `sizes` are the source's.
pub(super) fn side_groups(table: StrideTableRef<'_>, dimension: &[usize], sizes: &[usize]) -> Vec<SideGroup> {
    let values = values(table, dimension, sizes);
    let (mut groups, mut cuts) = (SmallVec::new(), Cuts::new());
    combine(&mut groups, sizes, values.iter());
    for digit in table.digits() {
        assign_digit(&mut groups, sizes, digit, dimension, &values, &mut cuts);
    }
    let period = |number: usize| {
        let own = cuts.iter().filter(|(group, _)| *group == number);
        own.map(|(_, cut)| cut.divisor.checked_mul(cut.modulus.unwrap_or(1))).try_fold(1, |period, own| {
            let period = least_common_multiple(period as u64, own? as u64)?;
            usize::try_from(period).ok()
        })
    };
    let side = |(number, Group { dimensions, size, is_irregular }): (usize, Group)| {
        let period = if is_irregular { None } else { period(number) };
        SideGroup { dimensions, size, period }
    };
    groups.into_iter().enumerate().map(side).collect()
}

/// Repeats every region for the indices below `size`, which `digits` divide, the smallest divisor first. `None` if there would be too many
/// regions.
fn product(regions: &mut SmallVec<[Region; 1]>, size: usize, digits: &[Common]) -> Option<()> {
    for i in 0..regions.len() {
        split_blocks(size, digits, i, regions);
        if regions.len() > MAX_REGIONS {
            return None;
        }
    }
    Some(())
}

/// Repeats every region for all pieces; `None` if there would be too many regions.
fn multiply(regions: &mut SmallVec<[Region; 1]>, pieces: &[Region]) -> Option<()> {
    if regions.len().checked_mul(pieces.len())? > MAX_REGIONS {
        return None;
    }
    let place = |region: &Region, piece: &Region| {
        let mut region = region.clone().shifted(piece.from, piece.to);
        region.axes.extend_from_slice(&piece.axes);
        region
    };
    *regions = regions.iter().flat_map(|region| pieces.iter().map(move |piece| place(region, piece))).collect();
    Some(())
}

/// The intermediate values of a table.
fn values(table: StrideTableRef<'_>, dimension: &[usize], sizes: &[usize]) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for value in table.intermediates() {
        let dimensions = |term: Term| source(term.source, dimension, &values, sizes).0;
        values.push(match *value {
            Intermediate::Term { term, .. } => Value { dimensions: dimensions(term).to_vec(), is_index: false },
            Intermediate::Combine { major, minor, minor_size, .. } => {
                let is_whole = |term: Term| {
                    let is_index = source(term.source, dimension, &values, sizes).1;
                    term.divisor.get() == 1 && term.modulus.is_none() && is_index
                };
                let [mut all, minors] = [major, minor].map(|term| dimensions(term).to_vec());
                let size = minors.iter().map(|&dimension| sizes[dimension]).product::<usize>();
                let mut is_index = is_whole(major) && is_whole(minor) && size == minor_size.get() as usize;
                // If digits of one dimension are combined, the dimension counts once.
                for dimension in minors {
                    if all.contains(&dimension) {
                        is_index = false;
                    } else {
                        all.push(dimension);
                    }
                }
                Value { dimensions: all, is_index }
            }
        });
    }
    values
}

/// The dimensions, major to minor, that the [`Source`] of a digit depends on, and whether it is their row-major index. Dimensions of size 1
/// are left out.
fn source<'a>(source: Source, dimension: &'a [usize], values: &'a [Value], sizes: &[usize]) -> (&'a [usize], bool) {
    match source {
        Source::Zero => (&[], true),
        Source::Dimension(number) => {
            let list = &dimension[number as usize..][..1];
            (if sizes[list[0]] == 1 { &[] } else { list }, true)
        }
        Source::Intermediate(number) => {
            let value = &values[number as usize];
            (&value.dimensions, value.is_index)
        }
    }
}

/// Writes one group for each dimension, then joins those that a `*` combines. A group is irregular if two `*` combine its dimensions
/// differently.
fn combine<'a>(groups: &mut SmallVec<[Group; 4]>, sizes: &[usize], values: impl Iterator<Item = &'a Value>) {
    for (dimension, &size) in sizes.iter().enumerate() {
        groups.push(Group { dimensions: SmallVec::from_buf([dimension]), size, is_irregular: false });
    }
    for Value { dimensions, is_index } in values {
        if dimensions.is_empty() || *is_index && groups.iter().any(|of| of.start(dimensions).is_some()) {
            continue;
        }
        // Unless `dimensions` is a concatenation of whole groups, the joined group is irregular.
        let mut rest = dimensions.as_slice();
        while let Some(group) = groups.iter().find(|group| !rest.is_empty() && rest.starts_with(&group.dimensions)) {
            rest = &rest[group.dimensions.len()..];
        }
        let is_irregular = !is_index || !rest.is_empty();
        let mut joined = Group { dimensions: SmallVec::new(), size: 1, is_irregular };
        groups.retain(|group| {
            let is_part = group.dimensions.iter().any(|dimension| dimensions.contains(dimension));
            if is_part {
                joined.dimensions.extend_from_slice(&group.dimensions);
                joined.size *= group.size;
                joined.is_irregular |= group.is_irregular;
            }
            !is_part
        });
        if joined.is_irregular {
            joined.dimensions.sort_unstable();
        } else {
            joined.dimensions = SmallVec::from_slice(dimensions);
        }
        groups.push(joined);
    }
}

/// Assigns a digit of a table to the group of its dimensions. If the digit cannot be cut out of the group's index, the group becomes irregular
/// instead. Returns whether the digit can be other than 0; if not, it is not assigned.
fn assign_digit(
    groups: &mut [Group],
    sizes: &[usize],
    digit: &Digit,
    dimension: &[usize],
    values: &[Value],
    cuts: &mut Cuts,
) -> bool {
    // Usually no `*` combines the dimension, and its group has the dimension's number.
    if let Source::Dimension(number) = digit.term.source
        && let number = dimension[number as usize]
        && let Some(group) = groups.get(number).filter(|group| group.dimensions[..] == [number])
    {
        let Cut { divisor, modulus, size, stride } = Cut::new(digit);
        let modulus = modulus.filter(|&modulus| divisor.checked_mul(modulus).is_some_and(|end| end < group.size));
        let is_used = divisor < group.size;
        if is_used {
            cuts.push((number, Cut { divisor, modulus, size, stride }));
        }
        return is_used;
    }
    let (list, is_index) = source(digit.term.source, dimension, values, sizes);
    let size = list.iter().map(|&dimension| sizes[dimension]).product::<usize>();
    if digit.term.divisor.get() as usize >= size {
        return false;
    }
    let mut groups = groups.iter_mut().enumerate();
    let holder = groups.find(|(_, group)| group.dimensions.contains(&list[0]));
    let (number, group) = holder.expect("each dimension is in a group");
    match group.cut(sizes, digit, list).filter(|_| is_index && !group.is_irregular) {
        Some((divisor, modulus)) => cuts.push((number, Cut { divisor, modulus, ..Cut::new(digit) })),
        None => group.is_irregular = true,
    }
    true
}

impl Cut {
    /// A digit of a dimension's own index.
    fn new(digit: &Digit) -> Self {
        let Term { divisor, modulus, .. } = digit.term;
        let modulus = modulus.map(|modulus| modulus.get() as usize);
        let (size, stride) = (digit.size as usize, digit.stride as usize);
        Self { divisor: divisor.get() as usize, modulus, size, stride }
    }
}

impl Group {
    /// A digit of some of the group's dimensions, as a digit of the group's index: its divisor and its modulus. `None` if it is not one.
    fn cut(&self, sizes: &[usize], digit: &Digit, list: &[usize]) -> Option<(usize, Option<usize>)> {
        let Cut { divisor, modulus, .. } = Cut::new(digit);
        // The dimensions are some of the group's, in the same order: `source = (index / weight) % size`.
        let start = self.start(list)?;
        let product = |list: &[usize]| list.iter().map(|&dimension| sizes[dimension]).product::<usize>();
        let (size, weight) = (product(list), product(&self.dimensions[start + list.len()..]));
        let modulus = if start == 0 {
            modulus
        } else if size.is_multiple_of(divisor) {
            // ((index / weight) % size) / divisor = (index / (weight · divisor)) % (size / divisor)
            match modulus {
                Some(modulus) if modulus < size / divisor => {
                    (size / divisor).is_multiple_of(modulus).then_some(Some(modulus))?
                }
                _ => Some(size / divisor),
            }
        } else {
            return None;
        };
        let divisor = divisor.checked_mul(weight)?;
        let modulus = modulus.filter(|&modulus| divisor.checked_mul(modulus).is_some_and(|end| end < self.size));
        Some((divisor, modulus))
    }

    /// The place at which these dimensions (at least one) begin in the group; `None` if they do not follow each other there.
    fn start(&self, dimensions: &[usize]) -> Option<usize> {
        let start = self.dimensions.iter().position(|dimension| *dimension == dimensions[0])?;
        self.dimensions[start..].starts_with(dimensions).then_some(start)
    }
}

/// Writes the common divisors of both sides in the group with this number, the smallest first; `None` if there are none.
fn common_divisors(
    group: usize,
    from: &[(usize, Cut)],
    to: &[(usize, Cut)],
    digits: &mut SmallVec<[Common; 6]>,
) -> Option<()> {
    digits.clear();
    digits.push(Common { divisor: 1, from: 0, to: 0 });
    let mut add = |divisor| {
        let place = digits.iter().rposition(|digit| digit.divisor <= divisor).unwrap_or(0);
        if digits[place].divisor != divisor {
            digits.insert(place + 1, Common { divisor, from: 0, to: 0 });
        }
    };
    for (_, cut) in from.iter().chain(to).filter(|(number, _)| *number == group) {
        add(cut.divisor);
        if let Some(modulus) = cut.modulus {
            add(cut.divisor * modulus);
        }
    }
    // Divisors of which neither divides the other, such as 6 and 4, give no common digits.
    if !digits.windows(2).all(|pair| pair[1].divisor.is_multiple_of(pair[0].divisor)) {
        return None;
    }
    for digit in digits {
        (digit.from, digit.to) = (stride(group, from, digit.divisor), stride(group, to, digit.divisor));
    }
    Some(())
}

/// The distance between elements whose indices differ by `divisor`, a common divisor of both sides.
fn stride(group: usize, cuts: &[(usize, Cut)], divisor: usize) -> usize {
    cuts.iter()
        .filter(|(number, cut)| {
            let is_below = |modulus| divisor < cut.divisor.saturating_mul(modulus);
            *number == group && cut.divisor <= divisor && cut.modulus.is_none_or(is_below)
        })
        .map(|(_, cut)| if divisor == cut.divisor { cut.stride } else { cut.stride * (divisor / cut.divisor) })
        .sum()
}

/// Repeats the region with this number for the indices below `size`. The region gets the whole blocks; new regions at the end of the list get
/// the indices that are left.
fn split_blocks(mut size: usize, digits: &[Common], region: usize, all: &mut SmallVec<[Region; 1]>) {
    for (i, &Common { divisor, from, to }) in digits.iter().enumerate().rev() {
        let (whole, rest) = (size / divisor, size % divisor);
        if whole == 0 {
            continue;
        }
        if rest > 0 {
            let remaining = all[region].clone().shifted(whole * from, whole * to);
            all.push(remaining);
            split_blocks(rest, &digits[..i], all.len() - 1, all);
        }
        if whole > 1 {
            all[region].axes.push(Axis { len: whole, from, to });
        }
        size = divisor;
    }
}

/// The destination's positions without an element; `None` if they are not known.
fn padding(groups: &[Group], cuts: &Cuts, unused: &[Cut]) -> Option<Vec<Region>> {
    let own = |group| cuts.iter().filter(move |(number, _)| *number == group).map(|(_, cut)| *cut).collect::<Vec<_>>();
    // A digit that is always 0 belongs to a dimension of size 1.
    let unused = unused.iter().map(|&cut| (1, vec![Cut { divisor: 1, modulus: None, ..cut }]));
    let mut factors = Vec::new();
    let groups = groups.iter().enumerate().map(|(number, group)| (group.size, own(number)));
    for (size, mut cuts) in groups.chain(unused) {
        cuts.sort_unstable_by_key(|cut| cut.divisor);
        // Each digit must begin where the one below it ends.
        let ends = cuts.iter().map(|cut| cut.modulus.map(|modulus| cut.divisor * modulus));
        let starts = cuts.iter().skip(1).map(|cut| Some(cut.divisor));
        if cuts.first().is_some_and(|cut| cut.divisor != 1) || !ends.eq(starts.chain([None])) {
            return None;
        }
        factors.push((size, cuts));
    }
    let mut result = Vec::new();
    for (i, (size, cuts)) in factors.iter().enumerate() {
        // A position is padding if a dimension has padding there. List it at the first such dimension: with an element's index in the
        // dimensions before it, and any position in those after it. So each position is listed once.
        let mut padding = SmallVec::from_vec(gaps(*size, cuts));
        if padding.is_empty() {
            continue;
        }
        for (size, cuts) in &factors[..i] {
            let digits = cuts.iter().map(|cut| Common { divisor: cut.divisor, from: 0, to: cut.stride });
            product(&mut padding, *size, &digits.collect::<SmallVec<[_; 4]>>())?;
        }
        for (_, cuts) in &factors[i + 1..] {
            padding.iter_mut().for_each(|region| region.axes.extend(everywhere(cuts)));
        }
        result.extend(padding);
    }
    (result.len() <= MAX_REGIONS).then_some(result)
}

/// All positions that these digits can take.
fn everywhere(cuts: &[Cut]) -> impl Iterator<Item = Axis> {
    cuts.iter().map(|cut| Axis { len: cut.size, from: 0, to: cut.stride })
}

/// The positions that these digits, the most minor first, can take, except those of indices below `size`.
fn gaps(size: usize, cuts: &[Cut]) -> Vec<Region> {
    let [minor @ .., cut] = cuts else { return Vec::new() };
    let (whole, rest) = (size / cut.divisor, size % cut.divisor);
    let mut regions = Vec::new();
    if whole > 0 {
        let axis = Axis { len: whole, from: 0, to: cut.stride };
        regions.extend(gaps(cut.divisor, minor).into_iter().map(|region| region.within(axis)));
    }
    if rest > 0 {
        regions.extend(gaps(rest, minor).into_iter().map(|region| region.shifted(0, whole * cut.stride)));
    }
    let used = whole + usize::from(rest > 0);
    if used < cut.size {
        let axis = Axis { len: cut.size - used, from: 0, to: cut.stride };
        regions.push(Region { from: 0, to: used * cut.stride, axes: everywhere(minor).chain([axis]).collect() });
    }
    regions
}
