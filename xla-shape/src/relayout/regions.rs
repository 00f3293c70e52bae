//! From two stride tables to regions: parts of the arrays in which both sides are plain loops with constant strides.
//!
//! The digits of both tables are cut out of the same indices. Where their divisors form one chain `1 | c₁ | c₂ | …`
//! the index has common digits, in each of which both places are linear. A size that is not a multiple of a `cₖ` gives
//! more than one region: the whole blocks, and what is left of them.

use crate::map::{Digit, Intermediate, Source, StrideTable, Term};
use crate::wide::local;
use std::borrow::Cow;

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
    pub(super) axes: Vec<Axis>,
}

/// What there is to copy and where the destination has padding; all in elements.
pub(super) struct Regions {
    pub(super) copy: Vec<Region>,
    /// `None`: not known, or not worth knowing.
    pub(super) padding: Option<Vec<Region>>,
}

/// More regions than this are slower than the general way, which needs none.
const MAX_REGIONS: usize = 256;

impl Region {
    /// Merges loops that continue each other, and sorts the rest so that the destination's largest stride is first.
    pub(super) fn normalized(mut self) -> Self {
        self.axes.retain(|axis| axis.len != 1);
        self.axes.sort_unstable_by_key(|axis| std::cmp::Reverse(axis.to));
        self.axes.dedup_by(|axis, outer| {
            let continues = outer.from == axis.from * axis.len && outer.to == axis.to * axis.len;
            if continues {
                *outer = Axis { len: outer.len * axis.len, ..*axis };
            }
            continues
        });
        self
    }

    /// The same loops with places in bytes. Nothing overflows: the bytes of both arrays fit in an i64.
    pub(super) fn in_bytes(mut self, bytes: usize) -> Self {
        self.from *= bytes;
        self.to *= bytes;
        for axis in &mut self.axes {
            axis.from *= bytes;
            axis.to *= bytes;
        }
        self
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
struct Group<'a> {
    dimensions: Cow<'a, [usize]>,
    size: usize,
    from: Vec<Cut>,
    to: Vec<Cut>,
}

/// The regions of a relayout. `to_dimension` says which of the source's dimensions each of the destination's is.
///
/// `None` if the digits of the two sides have no common digits, or if there would be too many regions. The padding is only looked for
/// if it `is_filled`.
pub(super) fn regions(
    from: &StrideTable,
    to: &StrideTable,
    to_dimension: &[usize],
    is_filled: bool,
) -> Option<Regions> {
    let sizes = local(from.as_ref().extents());
    if sizes.contains(&0) {
        // Without elements there are no positions either.
        return Some(Regions { copy: Vec::new(), padding: Some(Vec::new()) });
    }
    let identity = (0..sizes.len()).collect::<Vec<_>>();
    let from_values = combined_dimensions(from, &identity, sizes)?;
    let to_values = combined_dimensions(to, to_dimension, sizes)?;
    let mut groups = groups(sizes, &identity, from_values.iter().chain(&to_values))?;
    let mut unused = Vec::new();
    for digit in from.as_ref().digits() {
        place(&mut groups, sizes, *digit, &identity, &from_values, |group| &mut group.from, &mut Vec::new())?;
    }
    for digit in to.as_ref().digits() {
        place(&mut groups, sizes, *digit, to_dimension, &to_values, |group| &mut group.to, &mut unused)?;
    }
    let mut copy = vec![Region { axes: Vec::with_capacity(8), ..Region::default() }];
    for group in &groups {
        copy = product(copy, group.size, &group.digits()?)?;
    }
    let padding = if is_filled { padding(&groups, unused) } else { None };
    Some(Regions { copy, padding })
}

/// The regions, and in each place of theirs the indices below `size`, with digits as [`parts`] takes them.
fn product(regions: Vec<Region>, size: usize, digits: &[(usize, usize, usize)]) -> Option<Vec<Region>> {
    let mut all = Vec::with_capacity(regions.len());
    for region in regions {
        parts(size, digits, region, &mut all);
        if all.len() > MAX_REGIONS {
            return None;
        }
    }
    Some(all)
}

/// For each intermediate value the dimensions that it combines; `None` if one is anything else.
fn combined_dimensions(table: &StrideTable, dimension: &[usize], sizes: &[usize]) -> Option<Vec<Vec<usize>>> {
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for value in table.as_ref().intermediates() {
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

/// One group for each dimension, joined where a `*` does so; `None` if two `*` do not agree. `identity` has the numbers of all
/// dimensions.
fn groups<'a>(
    sizes: &[usize],
    identity: &'a [usize],
    lists: impl Iterator<Item = &'a Vec<usize>>,
) -> Option<Vec<Group<'a>>> {
    let group = |dimensions: Cow<'a, [usize]>| {
        let size = dimensions.iter().map(|&dimension| sizes[dimension]).product();
        Group { dimensions, size, from: Vec::new(), to: Vec::new() }
    };
    let alone = identity.chunks(1).filter(|dimension| sizes[dimension[0]] != 1);
    let mut groups = alone.map(|dimension| group(Cow::Borrowed(dimension))).collect::<Vec<_>>();
    for list in lists {
        if list.is_empty() || groups.iter().any(|group| group.dimensions.windows(list.len()).any(|part| part == list)) {
            continue;
        }
        let mut rest = list.as_slice();
        while !rest.is_empty() {
            let group = groups.iter().position(|group| rest.starts_with(&group.dimensions))?;
            rest = &rest[groups.swap_remove(group).dimensions.len()..];
        }
        groups.push(group(Cow::Owned(list.clone())));
    }
    Some(groups)
}

/// Writes a digit of a table as a digit of a group's index; one that is always 0 goes to `unused`.
fn place(
    groups: &mut [Group<'_>],
    sizes: &[usize],
    digit: Digit,
    dimension: &[usize],
    values: &[Vec<usize>],
    side: for<'g> fn(&'g mut Group<'_>) -> &'g mut Vec<Cut>,
    unused: &mut Vec<Cut>,
) -> Option<()> {
    let Term { source: from, divisor, modulus } = digit.term;
    let (divisor, modulus) = (divisor.get() as usize, modulus.map(|modulus| modulus.get() as usize));
    let list = source(from, dimension, values, sizes);
    let size = list.iter().map(|&dimension| sizes[dimension]).product::<usize>();
    let cut = Cut { divisor, modulus, size: digit.size as usize, stride: digit.stride as usize };
    if divisor >= size {
        unused.push(cut);
        return Some(());
    }
    // The dimensions are some of a group's, in the same order: `source = (index / weight) % size`.
    let (group, start) = groups.iter_mut().find_map(|group| {
        let start = group.dimensions.windows(list.len()).position(|part| part == list)?;
        Some((group, start))
    })?;
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
    side(group).push(Cut { divisor, modulus, ..cut });
    Some(())
}

impl Group<'_> {
    /// The common divisors of both sides with their strides, the smallest first; `None` if the sides have none.
    fn digits(&self) -> Option<Vec<(usize, usize, usize)>> {
        let cuts = || self.from.iter().chain(&self.to);
        let mut digits = Vec::with_capacity(1 + 2 * (self.from.len() + self.to.len()));
        digits.push((1, 0, 0));
        for cut in cuts() {
            digits.push((cut.divisor, 0, 0));
            digits.extend(cut.modulus.map(|modulus| (cut.divisor * modulus, 0, 0)));
        }
        digits.sort_unstable();
        digits.dedup();
        if !digits.windows(2).all(|pair| pair[1].0.is_multiple_of(pair[0].0)) {
            return None;
        }
        for (divisor, from, to) in &mut digits {
            (*from, *to) = (stride(&self.from, *divisor), stride(&self.to, *divisor));
        }
        Some(digits)
    }
}

/// How far apart two elements lie whose index differs by `divisor`, a common divisor of both sides.
fn stride(cuts: &[Cut], divisor: usize) -> usize {
    cuts.iter()
        .filter(|cut| {
            cut.divisor <= divisor && cut.modulus.is_none_or(|modulus| divisor < cut.divisor.saturating_mul(modulus))
        })
        .map(|cut| cut.stride * (divisor / cut.divisor))
        .sum()
}

/// The indices below `size` in each place of a region, as more regions; `digits` are the common divisors with their strides, the
/// smallest first.
fn parts(size: usize, digits: &[(usize, usize, usize)], mut region: Region, all: &mut Vec<Region>) {
    let [minor @ .., (divisor, from, to)] = digits else { return all.push(region) };
    let (whole, rest) = (size / divisor, size % divisor);
    let behind = (rest > 0).then(|| region.clone().shifted(whole * from, whole * to));
    if whole > 0 {
        region.axes.push(Axis { len: whole, from: *from, to: *to });
        parts(*divisor, minor, region, all);
    }
    if let Some(region) = behind {
        parts(rest, minor, region, all);
    }
}

/// Where the destination has no element; `None` if that is not known.
fn padding(groups: &[Group<'_>], unused: Vec<Cut>) -> Option<Vec<Region>> {
    // A digit that is always 0 is that of a dimension of size 1.
    let unused = unused.into_iter().map(|cut| (1, vec![Cut { divisor: 1, modulus: None, ..cut }]));
    let mut factors = Vec::new();
    for (size, mut cuts) in groups.iter().map(|group| (group.size, group.to.clone())).chain(unused) {
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
        let mut padding = gaps(*size, cuts);
        if padding.is_empty() {
            continue;
        }
        for (size, cuts) in &factors[..i] {
            let digits = cuts.iter().map(|cut| (cut.divisor, 0, cut.stride)).collect::<Vec<_>>();
            padding = product(padding, *size, &digits)?;
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
