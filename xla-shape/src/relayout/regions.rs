//! From two stride tables to regions: parts of the arrays in which both sides are plain loops with constant strides.
//!
//! The digits of both tables are cut out of the same indices. Where their divisors form one chain `1 | c₁ | c₂ | …`
//! the index has common digits, in each of which both places are linear. A size that is not a multiple of a `cₖ` gives
//! more than one region: the whole blocks, and what is left of them. Where there is no chain, places are looked up: see [`pieces`].

use super::pieces::pieces;
use crate::map::{Digit, Intermediate, Source, StrideTable, StrideTableRef, Term, least_common_multiple};
use crate::wide::local;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Loops, one inside the other. In place there is room for a copy between two tiled layouts.
pub(super) type Axes = SmallVec<[Axis; 6]>;

/// The numbers of so many dimensions in their order.
pub(super) fn identity(num_dimensions: usize) -> Cow<'static, [usize]> {
    static FIRST: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
    FIRST.get(..num_dimensions).map_or_else(|| (0..num_dimensions).collect(), Cow::Borrowed)
}

/// A loop over both arrays: its length, and how far apart neighbours lie in the source and in the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Axis {
    pub(super) len: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Loops, one inside the other, from one place in the source and one in the destination.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Region {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) axes: Axes,
}

/// What there is to copy and where the destination has padding; all in elements.
#[derive(Default)]
pub(super) struct Regions {
    pub(super) copy: SmallVec<[Region; 1]>,
    /// `None`: not known, or not worth knowing.
    pub(super) padding: Option<Vec<Region>>,
}

/// More regions than this are slower than the general way, which needs none.
const MAX_REGIONS: usize = 256;

/// How many elements a region should have where places are looked up.
const MIN_PIECE: usize = 64;

impl Region {
    /// Merges loops that continue each other, and sorts the rest so that the destination's largest stride is first.
    pub(super) fn normalize(&mut self) {
        self.axes.retain(|axis| axis.len != 1);
        self.axes.sort_unstable_by_key(|axis| std::cmp::Reverse(axis.to));
        self.axes.dedup_by(|axis, outer| {
            let continues = outer.from == axis.from * axis.len && outer.to == axis.to * axis.len;
            if continues {
                *outer = Axis { len: outer.len * axis.len, ..*axis };
            }
            continues
        });
    }

    /// Turns places into bytes. Nothing overflows: the bytes of both arrays fit in an i64.
    pub(super) fn count_bytes(&mut self, bytes: usize) {
        self.from *= bytes;
        self.to *= bytes;
        for axis in &mut self.axes {
            axis.from *= bytes;
            axis.to *= bytes;
        }
    }

    pub(super) fn shifted(mut self, from: usize, to: usize) -> Self {
        self.from += from;
        self.to += to;
        self
    }

    fn within(mut self, axis: Axis) -> Self {
        self.axes.push(axis);
        self
    }
}

/// A digit of a table, cut out of a [`Group`]'s index.
#[derive(Clone, Copy)]
struct Cut {
    divisor: usize,
    /// The quotient is reduced by this, if it can be larger.
    modulus: Option<usize>,
    size: usize,
    stride: usize,
}

/// Source dimensions, major to minor, that a `*` of either side combines; most often one. Its index is row-major.
struct Group {
    dimensions: SmallVec<[usize; 1]>,
    size: usize,
    /// Whether some digit is none of this index.
    is_odd: bool,
}

/// An intermediate value: the dimensions it depends on, and whether it is their row-major index. Those of size 1 do not matter.
struct Value {
    dimensions: Vec<usize>,
    is_index: bool,
}

/// The digits of one side, each with the number of the group out of whose index it is cut.
type Cuts = SmallVec<[(usize, Cut); 8]>;

/// A common divisor of the digits of both sides, and how far apart elements lie whose index differs by it.
#[derive(Clone, Copy)]
struct Common {
    divisor: usize,
    from: usize,
    to: usize,
}

impl Regions {
    /// Writes the regions of a relayout to an empty list. `to_dimension` says which of the source's dimensions each of the destination's is.
    ///
    /// `None` if there would be too many regions. The padding is only looked for if it `is_filled`.
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
            // Without elements there are no positions either.
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
            place(&mut groups, sizes, digit, &identity, &from_values, &mut from_cuts);
        }
        for digit in to.digits() {
            if !place(&mut groups, sizes, digit, to_dimension, &to_values, &mut to_cuts) {
                unused.push(Cut::of(digit));
            }
        }
        self.copy.push(Region::default());
        let mut digits = SmallVec::new();
        let mut has_pieces = false;
        for (number, group) in groups.iter().enumerate() {
            if !group.is_odd && common(number, &from_cuts, &to_cuts, &mut digits).is_some() {
                product(&mut self.copy, group.size, &digits)?;
            } else {
                has_pieces = true;
                multiply(&mut self.copy, &pieces(from, to, to_dimension, &group.dimensions)?)?;
            }
        }
        let elements = sizes.iter().fold(1_usize, |elements, size| elements.saturating_mul(*size));
        if has_pieces && self.copy.len() > (elements / MIN_PIECE).max(1) {
            return None;
        }
        is_filled &= !has_pieces;
        if is_filled {
            self.padding = padding(&groups, &to_cuts, &unused);
        }
        Some(())
    }
}

/// Dimensions of one side whose row-major index has digits of its own; most often one.
pub(super) struct SideGroup {
    /// As the source numbers them, major to minor.
    pub(super) dimensions: SmallVec<[usize; 1]>,
    pub(super) size: usize,
    /// A number of indices after which the position is larger by the same again; `None` if that is not known.
    pub(super) period: Option<usize>,
}

/// The groups of one side's dimensions, which `dimension` names as the source does; `sizes` are the source's.
pub(super) fn side_groups(table: StrideTableRef<'_>, dimension: &[usize], sizes: &[usize]) -> Vec<SideGroup> {
    let values = values(table, dimension, sizes);
    let (mut groups, mut cuts) = (SmallVec::new(), Cuts::new());
    combine(&mut groups, sizes, values.iter());
    for digit in table.digits() {
        place(&mut groups, sizes, digit, dimension, &values, &mut cuts);
    }
    let period = |number: usize| {
        let own = cuts.iter().filter(|(group, _)| *group == number);
        own.map(|(_, cut)| cut.divisor.checked_mul(cut.modulus.unwrap_or(1))).try_fold(1, |period, own| {
            let period = least_common_multiple(period as u64, own? as u64)?;
            usize::try_from(period).ok()
        })
    };
    let side = |(number, Group { dimensions, size, is_odd }): (usize, Group)| {
        let period = if is_odd { None } else { period(number) };
        SideGroup { dimensions, size, period }
    };
    groups.into_iter().enumerate().map(side).collect()
}

/// The regions, and in each place of theirs the indices below `size`, with the digits' common divisors, the smallest first; `None`
/// if these are too many.
fn product(regions: &mut SmallVec<[Region; 1]>, size: usize, digits: &[Common]) -> Option<()> {
    for i in 0..regions.len() {
        parts(size, digits, i, regions);
        if regions.len() > MAX_REGIONS {
            return None;
        }
    }
    Some(())
}

/// In each place of the regions all pieces; `None` if these are too many.
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
                // Digits of one dimension may be combined, again and again: it counts once.
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

/// The dimensions, major to minor, on which a source depends, and whether it is their row-major index; those of size 1 do not
/// matter.
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

/// Writes one group for each dimension, joined where a `*` does so; odd if two `*` do not agree.
fn combine<'a>(groups: &mut SmallVec<[Group; 4]>, sizes: &[usize], values: impl Iterator<Item = &'a Value>) {
    for (dimension, &size) in sizes.iter().enumerate() {
        groups.push(Group { dimensions: SmallVec::from_buf([dimension]), size, is_odd: false });
    }
    for Value { dimensions, is_index } in values {
        if dimensions.is_empty() || *is_index && groups.iter().any(|of| of.start(dimensions).is_some()) {
            continue;
        }
        // Taken one after the other, the groups are the whole list.
        let mut rest = dimensions.as_slice();
        while let Some(group) = groups.iter().find(|group| !rest.is_empty() && rest.starts_with(&group.dimensions)) {
            rest = &rest[group.dimensions.len()..];
        }
        let is_odd = !is_index || !rest.is_empty();
        let mut joined = Group { dimensions: SmallVec::new(), size: 1, is_odd };
        groups.retain(|group| {
            let is_part = group.dimensions.iter().any(|dimension| dimensions.contains(dimension));
            if is_part {
                joined.dimensions.extend_from_slice(&group.dimensions);
                joined.size *= group.size;
                joined.is_odd |= group.is_odd;
            }
            !is_part
        });
        if joined.is_odd {
            joined.dimensions.sort_unstable();
        } else {
            joined.dimensions = SmallVec::from_slice(dimensions);
        }
        groups.push(joined);
    }
}

/// Adds a digit of a table as a digit of a group's index; a group of which it is none is odd. One that is always 0 is not added: that
/// is the answer.
fn place(
    groups: &mut [Group],
    sizes: &[usize],
    digit: &Digit,
    dimension: &[usize],
    values: &[Value],
    cuts: &mut Cuts,
) -> bool {
    // Most often, no `*` combines the dimension: then its group has its own number.
    if let Source::Dimension(number) = digit.term.source
        && let number = dimension[number as usize]
        && let Some(group) = groups.get(number).filter(|group| group.dimensions[..] == [number])
    {
        let Cut { divisor, modulus, size, stride } = Cut::of(digit);
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
    match group.cut(sizes, digit, list).filter(|_| is_index && !group.is_odd) {
        Some((divisor, modulus)) => cuts.push((number, Cut { divisor, modulus, ..Cut::of(digit) })),
        None => group.is_odd = true,
    }
    true
}

impl Cut {
    /// A digit of a dimension's own index.
    fn of(digit: &Digit) -> Self {
        let Term { divisor, modulus, .. } = digit.term;
        let modulus = modulus.map(|modulus| modulus.get() as usize);
        let (size, stride) = (digit.size as usize, digit.stride as usize);
        Self { divisor: divisor.get() as usize, modulus, size, stride }
    }
}

impl Group {
    /// The divisor and the modulus with which a digit of these dimensions' row-major index is cut out of the group's; `None` if it is
    /// not.
    fn cut(&self, sizes: &[usize], digit: &Digit, list: &[usize]) -> Option<(usize, Option<usize>)> {
        let Cut { divisor, modulus, .. } = Cut::of(digit);
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

    /// Where in the group these dimensions, at least one, follow each other.
    fn start(&self, dimensions: &[usize]) -> Option<usize> {
        let start = self.dimensions.iter().position(|dimension| *dimension == dimensions[0])?;
        self.dimensions[start..].starts_with(dimensions).then_some(start)
    }
}

/// Writes the common divisors of both sides in the group with this number, the smallest first; `None` if the sides have none.
fn common(group: usize, from: &[(usize, Cut)], to: &[(usize, Cut)], digits: &mut SmallVec<[Common; 6]>) -> Option<()> {
    digits.clear();
    digits.push(Common { divisor: 1, from: 0, to: 0 });
    let mut add = |divisor| {
        let behind = digits.iter().rposition(|digit| digit.divisor <= divisor).unwrap_or(0);
        if digits[behind].divisor != divisor {
            digits.insert(behind + 1, Common { divisor, from: 0, to: 0 });
        }
    };
    for (_, cut) in from.iter().chain(to).filter(|(number, _)| *number == group) {
        add(cut.divisor);
        if let Some(modulus) = cut.modulus {
            add(cut.divisor * modulus);
        }
    }
    if !digits.windows(2).all(|pair| pair[1].divisor.is_multiple_of(pair[0].divisor)) {
        return None;
    }
    for digit in digits {
        (digit.from, digit.to) = (stride(group, from, digit.divisor), stride(group, to, digit.divisor));
    }
    Some(())
}

/// How far apart two elements lie whose index differs by `divisor`, a common divisor of both sides.
fn stride(group: usize, cuts: &[(usize, Cut)], divisor: usize) -> usize {
    cuts.iter()
        .filter(|(number, cut)| {
            let is_below = |modulus| divisor < cut.divisor.saturating_mul(modulus);
            *number == group && cut.divisor <= divisor && cut.modulus.is_none_or(is_below)
        })
        .map(|(_, cut)| if divisor == cut.divisor { cut.stride } else { cut.stride * (divisor / cut.divisor) })
        .sum()
}

/// The indices below `size` in each place of the region with this number: the whole blocks there, and what is left of them as more
/// regions at the end.
fn parts(mut size: usize, digits: &[Common], region: usize, all: &mut SmallVec<[Region; 1]>) {
    for (i, &Common { divisor, from, to }) in digits.iter().enumerate().rev() {
        let (whole, rest) = (size / divisor, size % divisor);
        if whole == 0 {
            continue;
        }
        if rest > 0 {
            let behind = all[region].clone().shifted(whole * from, whole * to);
            all.push(behind);
            parts(rest, &digits[..i], all.len() - 1, all);
        }
        if whole > 1 {
            all[region].axes.push(Axis { len: whole, from, to });
        }
        size = divisor;
    }
}

/// Where the destination has no element; `None` if that is not known.
fn padding(groups: &[Group], cuts: &Cuts, unused: &[Cut]) -> Option<Vec<Region>> {
    let own = |group| cuts.iter().filter(move |(number, _)| *number == group).map(|(_, cut)| *cut).collect::<Vec<_>>();
    // A digit that is always 0 is that of a dimension of size 1.
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
        // Elements in the dimensions before, padding in this one, anything in those after: each place once.
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

/// All places that these digits have room for.
fn everywhere(cuts: &[Cut]) -> impl Iterator<Item = Axis> {
    cuts.iter().map(|cut| Axis { len: cut.size, from: 0, to: cut.stride })
}

/// The places that these digits, the most minor first, have room for and no index below `size` has.
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
