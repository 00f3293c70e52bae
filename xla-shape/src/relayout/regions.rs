//! From two stride tables to regions: parts of the arrays in which both sides are plain loops with constant strides.
//!
//! The digits of both tables are cut out of the same indices. Where their divisors form one chain `1 | c₁ | c₂ | …`
//! the index has common digits, in each of which both places are linear. A size that is not a multiple of a `cₖ` gives
//! more than one region: the whole blocks, and what is left of them.

use crate::map::{Digit, Intermediate, Source, StrideTable, StrideTableRef, Term};
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

    fn shifted(mut self, from: usize, to: usize) -> Self {
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
    /// `None` if the digits of the two sides have no common digits, or if there would be too many regions. The padding is only
    /// looked for if it `is_filled`.
    pub(super) fn find(
        &mut self,
        from: &StrideTable,
        to: &StrideTable,
        to_dimension: &[usize],
        is_filled: bool,
    ) -> Option<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let sizes = local(from.extents());
        if sizes.contains(&0) {
            // Without elements there are no positions either.
            self.padding = Some(Vec::new());
            return Some(());
        }
        let identity = identity(sizes.len());
        let from_values = combined_dimensions(from, &identity, sizes)?;
        let to_values = combined_dimensions(to, to_dimension, sizes)?;
        let mut groups = SmallVec::new();
        combine(&mut groups, sizes, from_values.iter().chain(&to_values))?;
        let (mut from_cuts, mut to_cuts, mut unused) = (Cuts::new(), Cuts::new(), Vec::new());
        for digit in from.digits() {
            place(&groups, sizes, digit, &identity, &from_values, &mut from_cuts)?;
        }
        for digit in to.digits() {
            if !place(&groups, sizes, digit, to_dimension, &to_values, &mut to_cuts)? {
                unused.push(Cut::of(digit));
            }
        }
        self.copy.push(Region::default());
        let mut digits = SmallVec::new();
        for (number, group) in groups.iter().enumerate() {
            common(number, &from_cuts, &to_cuts, &mut digits)?;
            product(&mut self.copy, group.size, &digits)?;
        }
        if is_filled {
            self.padding = padding(&groups, &to_cuts, &unused);
        }
        Some(())
    }
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

/// For each intermediate value the dimensions that it combines; `None` if one is anything else.
fn combined_dimensions(table: StrideTableRef<'_>, dimension: &[usize], sizes: &[usize]) -> Option<Vec<Vec<usize>>> {
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for value in table.intermediates() {
        let Intermediate::Combine { major, minor, minor_size, .. } = *value else { return None };
        let mut list = whole_source(major, dimension, &lists, sizes)?.to_vec();
        let minor = whole_source(minor, dimension, &lists, sizes)?;
        if minor.iter().map(|&dimension| sizes[dimension]).product::<usize>() != minor_size.get() as usize {
            return None;
        }
        list.extend(minor);
        lists.push(list);
    }
    Some(lists)
}

/// The dimensions, major to minor, whose row-major index a term is; those of size 1 do not matter.
fn whole_source<'a>(
    term: Term,
    dimension: &'a [usize],
    values: &'a [Vec<usize>],
    sizes: &[usize],
) -> Option<&'a [usize]> {
    (term.divisor.get() == 1 && term.modulus.is_none()).then(|| source(term.source, dimension, values, sizes))
}

fn source<'a>(source: Source, dimension: &'a [usize], values: &'a [Vec<usize>], sizes: &[usize]) -> &'a [usize] {
    match source {
        Source::Zero => &[],
        Source::Dimension(number) => {
            let list = &dimension[number as usize..][..1];
            if sizes[list[0]] == 1 { &[] } else { list }
        }
        Source::Intermediate(number) => &values[number as usize],
    }
}

/// Writes one group for each dimension, joined where a `*` does so; `None` if two `*` do not agree.
fn combine<'a>(
    groups: &mut SmallVec<[Group; 4]>,
    sizes: &[usize],
    lists: impl Iterator<Item = &'a Vec<usize>>,
) -> Option<()> {
    for (dimension, &size) in sizes.iter().enumerate() {
        groups.push(Group { dimensions: SmallVec::from_buf([dimension]), size });
    }
    for list in lists {
        if list.is_empty() || groups.iter().any(|of| of.start(list).is_some()) {
            continue;
        }
        let mut rest = list.as_slice();
        while !rest.is_empty() {
            let group = groups.iter().position(|group| rest.starts_with(&group.dimensions))?;
            rest = &rest[groups.swap_remove(group).dimensions.len()..];
        }
        let size = list.iter().map(|&dimension| sizes[dimension]).product();
        groups.push(Group { dimensions: SmallVec::from_slice(list), size });
    }
    Some(())
}

/// Adds a digit of a table as a digit of a group's index: `None` if it is none. One that is always 0 is not added: that is the
/// answer.
fn place(
    groups: &[Group],
    sizes: &[usize],
    digit: &Digit,
    dimension: &[usize],
    values: &[Vec<usize>],
    cuts: &mut Cuts,
) -> Option<bool> {
    let Cut { divisor, modulus, size: digit_size, stride } = Cut::of(digit);
    let list = source(digit.term.source, dimension, values, sizes);
    let size = list.iter().map(|&dimension| sizes[dimension]).product::<usize>();
    if divisor >= size {
        return Some(false);
    }
    // The dimensions are some of a group's, in the same order: `source = (index / weight) % size`.
    let find = |number: usize| Some((number, groups.get(number)?.start(list)?));
    // A dimension that no `*` combines has its own number.
    let (number, start) = find(list[0]).or_else(|| (0..groups.len()).find_map(find))?;
    let group = &groups[number];
    let weight = group.dimensions[start + list.len()..].iter().map(|&dimension| sizes[dimension]).product::<usize>();
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
    let modulus = modulus.filter(|&modulus| divisor.checked_mul(modulus).is_some_and(|end| end < group.size));
    cuts.push((number, Cut { divisor, modulus, size: digit_size, stride }));
    Some(true)
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
    /// Where in the group these dimensions, at least one, follow each other.
    fn start(&self, dimensions: &[usize]) -> Option<usize> {
        let start = self.dimensions.iter().position(|dimension| *dimension == dimensions[0])?;
        // Not `starts_with`, which calls `memcmp`: most often there is one.
        let mut own = self.dimensions[start..].iter();
        dimensions.iter().all(|dimension| own.next() == Some(dimension)).then_some(start)
    }
}

/// Writes the common divisors of both sides in the group with this number, the smallest first; `None` if the sides have none.
fn common(group: usize, from: &Cuts, to: &Cuts, digits: &mut SmallVec<[Common; 6]>) -> Option<()> {
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
fn stride(group: usize, cuts: &Cuts, divisor: usize) -> usize {
    cuts.iter()
        .filter(|(number, cut)| {
            let is_below = |modulus| divisor < cut.divisor.saturating_mul(modulus);
            *number == group && cut.divisor <= divisor && cut.modulus.is_none_or(is_below)
        })
        .map(|(_, cut)| cut.stride * (divisor / cut.divisor))
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
