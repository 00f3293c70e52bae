//! From two stride tables to regions: parts of the arrays in which both sides are plain loops with constant strides.
//!
//! The digits of both tables are cut out of the same indices. Where their divisors form one chain `1 | c₁ | c₂ | …`
//! the index has common digits, in each of which both places are linear. A size that is not a multiple of a `cₖ` gives
//! more than one region: the whole blocks, and what is left of them.

use crate::map::{Digit, Intermediate, Source, StrideTable, Term};
use crate::wide::local;

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
        let mut merged: Vec<Axis> = Vec::with_capacity(self.axes.len());
        for axis in self.axes {
            match merged.last_mut() {
                Some(outer) if outer.from == axis.from * axis.len && outer.to == axis.to * axis.len => {
                    *outer = Axis { len: outer.len * axis.len, ..axis };
                }
                _ => merged.push(axis),
            }
        }
        Self { axes: merged, ..self }
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

    fn joined(&self, other: &Self) -> Self {
        let axes = self.axes.iter().chain(&other.axes).copied().collect();
        Self { from: self.from + other.from, to: self.to + other.to, axes }
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
    dimensions: Vec<usize>,
    size: usize,
    from: Vec<Cut>,
    to: Vec<Cut>,
}

/// The regions of a relayout. `to_dimension` says which of the source's dimensions each of the destination's is.
///
/// `None` if the digits of the two sides have no common digits, or if there would be too many regions.
pub(super) fn regions(from: &StrideTable, to: &StrideTable, to_dimension: &[usize]) -> Option<Regions> {
    let sizes = local(from.as_ref().extents());
    if sizes.contains(&0) {
        // Without elements there are no positions either.
        return Some(Regions { copy: Vec::new(), padding: Some(Vec::new()) });
    }
    let identity = (0..sizes.len()).collect::<Vec<_>>();
    let from_values = combined_dimensions(from, &identity, sizes)?;
    let to_values = combined_dimensions(to, to_dimension, sizes)?;
    let mut groups = groups(sizes, from_values.iter().chain(&to_values))?;
    let mut unused = Vec::new();
    for digit in from.as_ref().digits() {
        place(&mut groups, sizes, *digit, &identity, &from_values, |group| &mut group.from, &mut Vec::new())?;
    }
    for digit in to.as_ref().digits() {
        place(&mut groups, sizes, *digit, to_dimension, &to_values, |group| &mut group.to, &mut unused)?;
    }
    let mut copy = vec![Region::default()];
    for group in &groups {
        copy = product(&copy, &group.regions()?)?;
    }
    Some(Regions { copy, padding: padding(&groups, unused) })
}

fn product(left: &[Region], right: &[Region]) -> Option<Vec<Region>> {
    (left.len() * right.len() <= MAX_REGIONS)
        .then(|| left.iter().flat_map(|left| right.iter().map(|right| left.joined(right))).collect())
}

/// For each intermediate value the dimensions that it combines; `None` if one is anything else.
fn combined_dimensions(table: &StrideTable, dimension: &[usize], sizes: &[usize]) -> Option<Vec<Vec<usize>>> {
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for value in table.as_ref().intermediates() {
        let Intermediate::Combine { major, minor, minor_size, .. } = *value else { return None };
        let mut list = whole_source(major, dimension, &lists, sizes)?;
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
fn whole_source(term: Term, dimension: &[usize], values: &[Vec<usize>], sizes: &[usize]) -> Option<Vec<usize>> {
    (term.divisor.get() == 1 && term.modulus.is_none()).then(|| source(term.source, dimension, values, sizes))
}

fn source(source: Source, dimension: &[usize], values: &[Vec<usize>], sizes: &[usize]) -> Vec<usize> {
    let mut list = match source {
        Source::Zero => Vec::new(),
        Source::Dimension(number) => vec![dimension[number as usize]],
        Source::Intermediate(number) => values[number as usize].clone(),
    };
    list.retain(|&dimension| sizes[dimension] != 1);
    list
}

/// One group for each dimension, joined where a `*` does so; `None` if two `*` do not agree.
fn groups<'a>(sizes: &[usize], lists: impl Iterator<Item = &'a Vec<usize>>) -> Option<Vec<Group>> {
    let alone = (0..sizes.len()).filter(|&dimension| sizes[dimension] != 1).map(|dimension| vec![dimension]);
    let mut groups = alone.collect::<Vec<_>>();
    for list in lists {
        if list.is_empty() || groups.iter().any(|group| group.windows(list.len()).any(|part| part == list)) {
            continue;
        }
        let mut rest = list.as_slice();
        while !rest.is_empty() {
            let group = groups.iter().position(|group| rest.starts_with(group))?;
            rest = &rest[groups.swap_remove(group).len()..];
        }
        groups.push(list.clone());
    }
    Some(
        groups
            .into_iter()
            .map(|dimensions| {
                let size = dimensions.iter().map(|&dimension| sizes[dimension]).product();
                Group { dimensions, size, from: Vec::new(), to: Vec::new() }
            })
            .collect(),
    )
}

/// Writes a digit of a table as a digit of a group's index; one that is always 0 goes to `unused`.
fn place(
    groups: &mut [Group],
    sizes: &[usize],
    digit: Digit,
    dimension: &[usize],
    values: &[Vec<usize>],
    side: fn(&mut Group) -> &mut Vec<Cut>,
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

impl Group {
    /// The regions of this group's index alone.
    fn regions(&self) -> Option<Vec<Region>> {
        let mut chain = vec![1];
        for cut in self.from.iter().chain(&self.to) {
            chain.push(cut.divisor);
            chain.extend(cut.modulus.map(|modulus| cut.divisor * modulus));
        }
        chain.sort_unstable();
        chain.dedup();
        if !chain.windows(2).all(|pair| pair[1].is_multiple_of(pair[0])) {
            return None;
        }
        let digits = chain
            .iter()
            .map(|&divisor| (divisor, stride(&self.from, divisor), stride(&self.to, divisor)))
            .collect::<Vec<_>>();
        Some(parts(self.size, &digits))
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

/// The indices below `size` as regions; `digits` are the common divisors with their strides, the smallest first.
fn parts(size: usize, digits: &[(usize, usize, usize)]) -> Vec<Region> {
    let [minor @ .., (divisor, from, to)] = digits else { return vec![Region::default()] };
    let (whole, rest) = (size / divisor, size % divisor);
    let mut regions = Vec::new();
    if whole > 0 {
        let axis = Axis { len: whole, from: *from, to: *to };
        regions.extend(parts(*divisor, minor).into_iter().map(|region| region.within(axis)));
    }
    if rest > 0 {
        regions.extend(parts(rest, minor).into_iter().map(|region| region.shifted(whole * from, whole * to)));
    }
    regions
}

/// Where the destination has no element; `None` if that is not known.
fn padding(groups: &[Group], unused: Vec<Cut>) -> Option<Vec<Region>> {
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
            padding = product(&padding, &parts(*size, &digits))?;
        }
        for (_, cuts) in &factors[i + 1..] {
            padding = product(&padding, &[everywhere(cuts)])?;
        }
        result.extend(padding);
    }
    (result.len() <= MAX_REGIONS).then_some(result)
}

/// All places that these digits have room for.
fn everywhere(cuts: &[Cut]) -> Region {
    let axes = cuts.iter().map(|cut| Axis { len: cut.size, from: 0, to: cut.stride }).collect();
    Region { from: 0, to: 0, axes }
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
        regions.push(everywhere(minor).shifted(0, used * cut.stride).within(axis));
    }
    regions
}
