//! The canonical form of a stride table, and the comparison of two tables: whether every element has the same position
//! in both, and if not, the first element that moves.

use super::arithmetic::{increment, same_sizes};
use super::normal::{Budget, Exhausted, Node, Normal, NormalWorkspace, Part, Range, have_same_form, normal, slice};
use super::terms::View;
use super::{Digit, Intermediate, LayoutMapping, Source, StrideTable, StrideTableError, StrideTableRef, Term};
use crate::limits::{MAX_COMPARED_DIGITS, MAX_COMPARED_DIGITS_IN_CONST};
use crate::list::{Blank, List};
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// The result of comparing two maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    /// Every element has the same position in both.
    Equal,
    /// The element whose index was written is the first with different positions.
    Different,
    /// The normal forms differ, but no element with different positions was found.
    Undecided,
}

/// Two maps over the same indices, and the workspace for comparing them.
pub(crate) struct Comparer<'a, 'r> {
    pub(crate) maps: [View<'a>; 2],
    pub(crate) workspace: NormalWorkspace<'r>,
    pub(crate) budget: &'r mut Budget,
    /// Scratch space for an index of either table, and for its intermediate values.
    pub(crate) index: &'r mut [u64],
    pub(crate) values: &'r mut [u64],
    /// How many digits to evaluate, element by element, if the normal forms do not decide.
    pub(crate) max_lookups: usize,
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; indices are below lengths and counters below sizes"
)]
impl Comparer<'_, '_> {
    /// Compares the maps for all indices below `extents`, and writes the index of the first element, in row-major
    /// order, that moves. `bounds` is scratch space of the same length.
    pub(crate) const fn compare(
        &mut self,
        extents: &[u64],
        first: &mut [u64],
        bounds: &mut [u64],
    ) -> Result<Comparison, Exhausted> {
        let num_dimensions = extents.len();
        let mut i = 0;
        while i < num_dimensions {
            if extents[i] == 0 {
                return Ok(Comparison::Equal);
            }
            bounds[i] = extents[i];
            first[i] = 0;
            i += 1;
        }
        match self.have_same_form(bounds) {
            Ok(false) => {}
            Ok(true) => return Ok(Comparison::Equal),
            Err(exhausted) => return Err(exhausted),
        }
        // Maps that agree on a box of indices agree on every smaller box. Binary search, the most major dimension
        // first, finds the smallest box on which they differ.
        let mut dimension = 0;
        while dimension < num_dimensions {
            let (mut same, mut other) = (0, bounds[dimension]);
            while other - same > 1 {
                let middle = same + (other - same) / 2;
                bounds[dimension] = middle;
                match self.have_same_form(bounds) {
                    Ok(true) => same = middle,
                    Ok(false) => other = middle,
                    Err(exhausted) => return Err(exhausted),
                }
            }
            bounds[dimension] = other;
            first[dimension] = other - 1;
            dimension += 1;
        }
        // Different forms may still be equal maps: only an element with two positions proves a difference.
        let mut max_lookups = self.max_lookups / (self.size(0) + self.size(1));
        while max_lookups > 0 {
            if self.position(0, first) != self.position(1, first) {
                return Ok(Comparison::Different);
            }
            if !increment(first, extents) {
                return Ok(Comparison::Equal);
            }
            max_lookups -= 1;
        }
        Ok(Comparison::Undecided)
    }

    const fn have_same_form(&mut self, extents: &[u64]) -> Result<bool, Exhausted> {
        have_same_form(self.maps, extents, &mut self.workspace, self.budget)
    }

    /// The cost of one position in a map: 1 plus its digits and intermediate values.
    const fn size(&self, map: usize) -> usize {
        let table = self.maps[map].table;
        1 + table.digits.len() + table.intermediates.len()
    }

    /// The position of an element in one of the maps.
    const fn position(&mut self, map: usize, index: &[u64]) -> u64 {
        let View { table, dimensions } = self.maps[map];
        if dimensions.is_empty() {
            return table.linear_index_with(index, self.values);
        }
        let mut i = 0;
        while i < dimensions.len() {
            self.index[i] = dimensions[i].value(index, &[]);
            i += 1;
        }
        table.linear_index_with(self.index, self.values)
    }
}

/// The length of the lists of a workspace in a `const`.
pub(crate) const CONST_WORKSPACE: usize = 64;

/// Compares two maps over indices below `extents`: the first element that moves, if there is one.
pub(crate) fn first_moved(maps: [View<'_>; 2], extents: &[u64]) -> Result<Option<Vec<u64>>, StrideTableError> {
    let (mut first, mut bounds) = (vec![0; extents.len()], vec![0; extents.len()]);
    let num_values = maps.map(|map| map.table.intermediates.len());
    let num_indices = maps.iter().map(|map| map.dimensions.len()).max().unwrap_or(0);
    let comparison = with_workspace(&maps.map(|map| map.table), |workspace, budget| {
        let mut comparer = Comparer {
            maps,
            workspace,
            budget,
            index: &mut vec![0; num_indices],
            values: &mut vec![0; num_values.into_iter().max().unwrap_or(0)],
            max_lookups: MAX_COMPARED_DIGITS,
        };
        comparer.compare(extents, &mut first, &mut bounds)
    })?;
    match comparison {
        Comparison::Equal => Ok(None),
        Comparison::Different => Ok(Some(first)),
        Comparison::Undecided => Err(StrideTableError::TooIntricate),
    }
}

/// Calls `f` with a workspace for these tables, and again with one twice as large while it is too small.
fn with_workspace<R>(
    tables: &[StrideTableRef<'_>],
    mut f: impl FnMut(NormalWorkspace<'_>, &mut Budget) -> Result<R, Exhausted>,
) -> Result<R, StrideTableError> {
    let mut len = tables.iter().fold(8_usize, |len, table| len.max(table.digits.len() * 2));
    let num_values = tables.iter().map(|table| table.intermediates.len()).max().unwrap_or(0);
    let mut budget = Budget::for_one_decision();
    loop {
        let (mut parts, mut pool) = (vec![Part::BLANK; len], vec![Part::BLANK; len]);
        let (mut nodes, mut values) = (vec![Node::BLANK; len], vec![Range::BLANK; num_values]);
        let workspace = NormalWorkspace { parts: &mut parts, pool: &mut pool, nodes: &mut nodes, values: &mut values };
        match f(workspace, &mut budget) {
            Ok(result) => return Ok(result),
            Err(Exhausted::Workspace) => len *= 2,
            Err(Exhausted::Steps) => return Err(StrideTableError::TooIntricate),
        }
    }
}

impl StrideTableRef<'_> {
    /// The canonical form of the map: with the fewest digits, and without padding.
    ///
    /// Digits with one value are removed, digits that continue each other are joined, moduli that no index reaches are
    /// removed, and sums that `*` makes are split where the sizes allow it.
    ///
    /// Two layouts of the same dimensions with equal canonical forms give every element the same position. The converse
    /// holds if the forms are [sums over dimensions](LayoutMapping::is_sum_over_dimensions); otherwise,
    /// [`first_moved`](Self::first_moved) decides.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let form = |text: &str| text.parse::<ArrayShape>().unwrap().stride_table().unwrap().as_ref().canonical().unwrap();
    /// assert_eq!(form("f32[16,128]{1,0:T(8,128)}"), form("f32[16,128]{1,0}"));
    /// assert_eq!(form("f32[16,100]{1,0:T(*,50)}"), form("f32[16,100]{1,0}"));
    /// assert_ne!(form("f32[16,256]{1,0:T(8,128)}"), form("f32[16,256]{1,0}"));
    /// ```
    ///
    /// # Errors
    /// If sums made by `*` are nested so deeply that the computation is too expensive.
    pub fn canonical(self) -> Result<LayoutMapping, StrideTableError> {
        canonical(View { table: self, dimensions: &[] }, self.extents).map(LayoutMapping::from_table)
    }

    /// The index of the first element, in row-major order, whose position in `other` differs; `None` if every element
    /// has the same position in both. The time does not grow with the number of elements, except where the normal forms
    /// do not decide.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let table = |text: &str| text.parse::<ArrayShape>().unwrap().stride_table().unwrap();
    /// let row_major = table("f32[1000000,1000000]{1,0}");
    /// let moved = |other: &str| row_major.as_ref().first_moved(table(other).as_ref());
    /// assert_eq!(moved("f32[1000000,1000000]{0,1}"), Ok(Some(vec![0, 1])));
    /// assert_eq!(moved("f32[1000000,1000000]{1,0:T(*,100)}"), Ok(None));
    /// ```
    ///
    /// # Errors
    /// If the extents differ, or the comparison reaches its step limit.
    pub fn first_moved(self, other: StrideTableRef<'_>) -> Result<Option<Vec<u64>>, StrideTableError> {
        if self.extents != other.extents {
            return Err(StrideTableError::OtherDimensions);
        }
        first_moved([self, other].map(|table| View { table, dimensions: &[] }), self.extents)
    }
}

/// The canonical form of a map over indices below `extents`. The size of a digit is the number of values that elements
/// have, without padding, so that only the positions of elements are meaningful.
pub(crate) fn canonical(map: View<'_>, extents: &[u64]) -> Result<StrideTable, StrideTableError> {
    let mut form =
        StrideTable { extents: List::from_slice(extents), digits: List::EMPTY, intermediates: vec![], positions: 0 };
    if extents.contains(&0) {
        return Ok(form);
    }
    with_workspace(&[map.table], |mut workspace, budget| {
        let normal = normal(map, extents, &mut workspace, budget)?;
        let mut emitter =
            Emitter { normal: &normal, extents, form: &mut form, numbers: vec![None; normal.nodes.len()] };
        let digits = normal.digits.iter().map(|&part| emitter.digit(part)).collect();
        form.digits = digits;
        Ok(())
    })?;
    let span = |digit: &Digit| digit.size.saturating_sub(1).saturating_mul(digit.stride);
    form.positions = form.digits.as_slice().iter().map(span).fold(1, u64::saturating_add);
    Ok(form)
}

/// Converts a normal form to the digits and intermediate values of a stride table.
struct Emitter<'a> {
    normal: &'a Normal<'a>,
    extents: &'a [u64],
    form: &'a mut StrideTable,
    /// The source that stands for each node, if it was converted already.
    numbers: Vec<Option<Source>>,
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "sources name dimensions and nodes that exist, and each is less than its bound, which is at least 1"
)]
impl Emitter<'_> {
    fn digit(&mut self, part: Part) -> Digit {
        let bound = match part.source {
            Source::Zero => 1,
            Source::Dimension(dimension) => self.extents[dimension as usize],
            Source::Intermediate(node) => match self.normal.nodes[node as usize] {
                Node::Remainder { modulus, .. } => modulus,
                Node::Sum { bound, .. } => bound,
            },
        };
        Digit { term: self.term(part), size: bound.div_ceil(part.divisor), stride: part.stride }
    }

    fn term(&mut self, part: Part) -> Term {
        let divisor = NonZeroU64::new(part.divisor).unwrap_or(NonZeroU64::MIN);
        if let Source::Intermediate(node) = part.source
            && let Node::Remainder { parent, modulus } = self.normal.nodes[node as usize]
            && modulus.is_multiple_of(part.divisor)
        {
            return Term { source: self.source(parent), divisor, modulus: NonZeroU64::new(modulus / part.divisor) };
        }
        Term { source: self.source(part.source), divisor, modulus: None }
    }

    fn source(&mut self, source: Source) -> Source {
        // Collect the remainders down to the first source that was converted already.
        let mut remainders = vec![];
        let mut below = source;
        let mut found = loop {
            let Source::Intermediate(node) = below else { break below };
            match (self.numbers[node as usize], self.normal.nodes[node as usize]) {
                (Some(found), _) => break found,
                (None, Node::Remainder { parent, modulus }) => {
                    remainders.push((node, modulus));
                    below = parent;
                }
                (None, Node::Sum { parts, bound }) => {
                    let sum = self.sum(slice(self.normal.pool, parts), bound);
                    self.numbers[node as usize] = Some(sum);
                    break sum;
                }
            }
        };
        for (node, modulus) in remainders.into_iter().rev() {
            let term = Term { source: found, divisor: NonZeroU64::MIN, modulus: NonZeroU64::new(modulus) };
            found = self.intermediate(Intermediate::Term { term, size: modulus });
            self.numbers[node as usize] = Some(found);
        }
        found
    }

    fn sum(&mut self, parts: &[Part], bound: u64) -> Source {
        let mut sum = Term::ZERO;
        for &part in parts.iter().rev() {
            let major = self.term(part);
            let minor_size = NonZeroU64::new(part.stride).unwrap_or(NonZeroU64::MIN);
            sum = if sum == Term::ZERO && part.stride == 1 {
                major
            } else {
                Term::whole(self.intermediate(Intermediate::Combine { major, minor: sum, minor_size, size: bound }))
            };
        }
        sum.source
    }

    fn intermediate(&mut self, intermediate: Intermediate) -> Source {
        self.form.intermediates.push(intermediate);
        Source::Intermediate((self.form.intermediates.len() - 1) as u32)
    }
}

impl StrideTableRef<'_> {
    /// Whether every element has the same position in two tables over the same dimensions; usable in a `const`.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let table = |text: &str| text.parse::<ArrayShape>().unwrap().stride_table().unwrap();
    /// let tiled = table("f32[16,128]{1,0:T(8,128)}");
    /// assert_eq!(tiled.as_ref().same_positions(table("f32[16,128]{1,0}").as_ref()), Ok(true));
    /// assert_eq!(tiled.as_ref().same_positions(table("f32[16,128]{0,1}").as_ref()), Ok(false));
    /// ```
    ///
    /// # Errors
    /// If the extents differ, the tables are too large for a `const`, or the comparison reaches its step limit.
    pub const fn same_positions(self, other: StrideTableRef<'_>) -> Result<bool, StrideTableError> {
        match self.compare(other, &mut [0; CONST_WORKSPACE]) {
            Ok(Comparison::Equal) => Ok(true),
            Ok(Comparison::Different) => Ok(false),
            Ok(Comparison::Undecided) => Err(StrideTableError::TooIntricate),
            Err(error) => Err(error),
        }
    }

    /// [`first_moved`](Self::first_moved) for a `const`: `first` is at least as long as the extents.
    pub(crate) const fn compare(self, other: Self, first: &mut [u64]) -> Result<Comparison, StrideTableError> {
        if !same_sizes(self.extents, other.extents) {
            return Err(StrideTableError::OtherDimensions);
        }
        let maps = [View { table: self, dimensions: &[] }, View { table: other, dimensions: &[] }];
        compare_in_const(maps, self.extents, first)
    }
}

/// [`first_moved`] for a `const`: `first` is at least as long as `extents`.
pub(crate) const fn compare_in_const(
    maps: [View<'_>; 2],
    extents: &[u64],
    first: &mut [u64],
) -> Result<Comparison, StrideTableError> {
    let num_values = max(maps[0].table.intermediates.len(), maps[1].table.intermediates.len());
    let num_indices = max(maps[0].dimensions.len(), maps[1].dimensions.len());
    if max(num_values, max(num_indices, extents.len())) > CONST_WORKSPACE || first.len() < extents.len() {
        return Err(StrideTableError::TooIntricate);
    }
    let workspace = NormalWorkspace {
        parts: &mut [Part::BLANK; CONST_WORKSPACE],
        pool: &mut [Part::BLANK; 2 * CONST_WORKSPACE],
        nodes: &mut [Node::BLANK; 2 * CONST_WORKSPACE],
        values: &mut [Range::BLANK; CONST_WORKSPACE],
    };
    let mut index = [0; CONST_WORKSPACE];
    let mut values = [0; CONST_WORKSPACE];
    let mut budget = Budget::for_one_decision();
    let mut comparer = Comparer {
        maps,
        workspace,
        budget: &mut budget,
        index: &mut index,
        values: &mut values,
        max_lookups: MAX_COMPARED_DIGITS_IN_CONST,
    };
    match comparer.compare(extents, first, &mut [0; CONST_WORKSPACE]) {
        Ok(comparison) => Ok(comparison),
        Err(Exhausted::Workspace | Exhausted::Steps) => Err(StrideTableError::TooIntricate),
    }
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}
