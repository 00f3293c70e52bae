//! The canonical form of a stride table, and what follows from it: whether two tables place every element alike, and if not,
//! which element moves first.

use super::arithmetic::{increment, same_sizes};
use super::normal::{Effort, Node, Normal, Part, Range, Room, Shortage, have_same_form, normal, slice};
use super::terms::View;
use super::{Digit, Intermediate, LayoutMapping, Source, StrideTable, StrideTableError, StrideTableRef, Term};
use crate::limits::{MAX_COMPARED_DIGITS, MAX_COMPARED_DIGITS_IN_CONST};
use crate::list::{Blank, List};
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// What comparing two maps found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    /// Every element lies at the same position in both.
    Alike,
    /// The element at the index that was written is the first that does not.
    Moved,
    /// The forms differ, but no element was found that does.
    Undecided,
}

/// Two maps over the same indices, and the room to compare them in.
pub(crate) struct Comparer<'a, 'r> {
    pub(crate) maps: [View<'a>; 2],
    pub(crate) room: Room<'r>,
    pub(crate) effort: &'r mut Effort,
    /// Room for an index of either table, and for its intermediate values.
    pub(crate) index: &'r mut [u64],
    pub(crate) values: &'r mut [u64],
    /// How many digits of elements may be looked at where the forms do not decide.
    pub(crate) patience: usize,
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; indices are below lengths and counters below sizes"
)]
impl Comparer<'_, '_> {
    /// Compares the maps for all indices below `extents`, and writes the index of the first element, in row-major
    /// order, that moves. `bounds` is room for as many sizes.
    pub(crate) const fn compare(
        &mut self,
        extents: &[u64],
        first: &mut [u64],
        bounds: &mut [u64],
    ) -> Result<Comparison, Shortage> {
        let num_dimensions = extents.len();
        let mut i = 0;
        while i < num_dimensions {
            if extents[i] == 0 {
                return Ok(Comparison::Alike);
            }
            bounds[i] = extents[i];
            first[i] = 0;
            i += 1;
        }
        match self.alike(bounds) {
            Ok(false) => {}
            Ok(true) => return Ok(Comparison::Alike),
            Err(shortage) => return Err(shortage),
        }
        // Maps that agree on a box of indices agree on every smaller one: search for the smallest box that shows a
        // difference, the most major dimension first.
        let mut dimension = 0;
        while dimension < num_dimensions {
            let (mut same, mut other) = (0, bounds[dimension]);
            while other - same > 1 {
                let middle = same + (other - same) / 2;
                bounds[dimension] = middle;
                match self.alike(bounds) {
                    Ok(true) => same = middle,
                    Ok(false) => other = middle,
                    Err(shortage) => return Err(shortage),
                }
            }
            bounds[dimension] = other;
            first[dimension] = other - 1;
            dimension += 1;
        }
        // Whatever the forms say, the element is the witness.
        let mut patience = self.patience / (self.size(0) + self.size(1));
        while patience > 0 {
            if self.position(0, first) != self.position(1, first) {
                return Ok(Comparison::Moved);
            }
            if !increment(first, extents) {
                return Ok(Comparison::Alike);
            }
            patience -= 1;
        }
        Ok(Comparison::Undecided)
    }

    const fn alike(&mut self, extents: &[u64]) -> Result<bool, Shortage> {
        have_same_form(self.maps, extents, &mut self.room, self.effort)
    }

    /// How many digits and values of one of the maps give the place of an element; 1 if there are none.
    const fn size(&self, map: usize) -> usize {
        let table = self.maps[map].table;
        1 + table.digits.len() + table.intermediates.len()
    }

    /// Where one of the maps places an element.
    const fn position(&mut self, map: usize, index: &[u64]) -> u64 {
        let View { table, dimensions } = self.maps[map];
        if dimensions.is_empty() {
            return table.linear_index_with(index, self.values);
        }
        let mut i = 0;
        while i < dimensions.len() {
            self.index[i] = dimensions[i].of(index, &[]);
            i += 1;
        }
        table.linear_index_with(self.index, self.values)
    }
}

/// The sizes of a room in a `const`.
const CONST_ROOM: usize = 64;

/// Compares two maps over indices below `extents`: the first element that moves, if there is one.
pub(crate) fn first_moved(maps: [View<'_>; 2], extents: &[u64]) -> Result<Option<Vec<u64>>, StrideTableError> {
    let (mut first, mut bounds) = (vec![0; extents.len()], vec![0; extents.len()]);
    let num_values = maps.map(|map| map.table.intermediates.len());
    let num_indices = maps.iter().map(|map| map.dimensions.len()).max().unwrap_or(0);
    let comparison = with_room(&maps.map(|map| map.table), |room, effort| {
        let mut comparer = Comparer {
            maps,
            room,
            effort,
            index: &mut vec![0; num_indices],
            values: &mut vec![0; num_values.into_iter().max().unwrap_or(0)],
            patience: MAX_COMPARED_DIGITS,
        };
        comparer.compare(extents, &mut first, &mut bounds)
    })?;
    match comparison {
        Comparison::Alike => Ok(None),
        Comparison::Moved => Ok(Some(first)),
        Comparison::Undecided => Err(StrideTableError::TooIntricate),
    }
}

/// Runs `f` with a room for these tables, again with a larger one for as long as it is too small.
fn with_room<R>(
    tables: &[StrideTableRef<'_>],
    mut f: impl FnMut(Room<'_>, &mut Effort) -> Result<R, Shortage>,
) -> Result<R, StrideTableError> {
    let mut len = tables.iter().fold(8_usize, |len, table| len.max(table.digits.len().saturating_mul(2)));
    let num_values = tables.iter().map(|table| table.intermediates.len()).max().unwrap_or(0);
    let mut effort = Effort::of_a_decision();
    loop {
        let (mut parts, mut pool) = (vec![Part::BLANK; len], vec![Part::BLANK; len]);
        let (mut nodes, mut values) = (vec![Node::BLANK; len], vec![Range::BLANK; num_values]);
        let room = Room { parts: &mut parts, pool: &mut pool, nodes: &mut nodes, values: &mut values };
        match f(room, &mut effort) {
            Ok(result) => return Ok(result),
            Err(Shortage::Space) => len = len.saturating_mul(2),
            Err(Shortage::Effort) => return Err(StrideTableError::TooIntricate),
        }
    }
}

impl StrideTableRef<'_> {
    /// The map in the form that all tables with the same map share: with the fewest digits, and without padding.
    ///
    /// Digits of one value are left out, neighbours that continue each other are one digit, moduli that no index reaches are
    /// removed, and sums that `*` makes are split where the sizes allow it. Two layouts of the same dimensions have equal
    /// canonical forms exactly when every element lies at the same position in both, unless the form is
    /// [no sum over dimensions](LayoutMapping::is_sum_over_dimensions). Then equal forms still mean equal maps, and
    /// [`first_moved`](Self::first_moved) decides the rest.
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
    /// If sums made by `*` are nested so that the computation is too expensive.
    pub fn canonical(self) -> Result<LayoutMapping, StrideTableError> {
        canonical(View { table: self, dimensions: &[] }, self.extents).map(LayoutMapping::of)
    }

    /// The index of the first element, in row-major order, that `other` places elsewhere; `None` if both tables place
    /// every element alike. Large arrays take no longer than small ones.
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
    /// If the dimensions differ, or the comparison is too expensive.
    pub fn first_moved(self, other: StrideTableRef<'_>) -> Result<Option<Vec<u64>>, StrideTableError> {
        if self.extents != other.extents {
            return Err(StrideTableError::OtherDimensions);
        }
        first_moved([self, other].map(|table| View { table, dimensions: &[] }), self.extents)
    }
}

/// The canonical form of a map over indices below `extents`: a digit's size is how many values it takes, without padding, so
/// that only positions of elements have a meaning.
pub(crate) fn canonical(map: View<'_>, extents: &[u64]) -> Result<StrideTable, StrideTableError> {
    let mut form =
        StrideTable { extents: List::from_slice(extents), digits: List::EMPTY, intermediates: vec![], positions: 0 };
    if extents.contains(&0) {
        return Ok(form);
    }
    with_room(&[map.table], |mut room, effort| {
        let normal = normal(map, extents, &mut room, effort)?;
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

/// Writes a normal form down with the digits and values that tables have.
struct Emitter<'a> {
    normal: &'a Normal<'a>,
    extents: &'a [u64],
    form: &'a mut StrideTable,
    /// The value that has been made of each node.
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
        // The remainders down to the first source that is there already.
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
    /// Whether two tables over the same dimensions place every element alike; usable in a `const`.
    ///
    /// # Errors
    /// If the dimensions differ, or the tables are too large or the comparison too expensive for a `const`.
    pub const fn places_alike(self, other: StrideTableRef<'_>) -> Result<bool, StrideTableError> {
        if !same_sizes(self.extents, other.extents) {
            return Err(StrideTableError::OtherDimensions);
        }
        let maps = [View { table: self, dimensions: &[] }, View { table: other, dimensions: &[] }];
        match compare_in_const(maps, self.extents, &mut [0; CONST_ROOM]) {
            Ok(Comparison::Alike) => Ok(true),
            Ok(Comparison::Moved) => Ok(false),
            Ok(Comparison::Undecided) => Err(StrideTableError::TooIntricate),
            Err(error) => Err(error),
        }
    }
}

/// [`first_moved`] for a `const`: `first` has room for at least as many indices as there are extents.
pub(crate) const fn compare_in_const(
    maps: [View<'_>; 2],
    extents: &[u64],
    first: &mut [u64],
) -> Result<Comparison, StrideTableError> {
    let num_values = max(maps[0].table.intermediates.len(), maps[1].table.intermediates.len());
    let num_indices = max(maps[0].dimensions.len(), maps[1].dimensions.len());
    if max(num_values, max(num_indices, extents.len())) > CONST_ROOM || first.len() < extents.len() {
        return Err(StrideTableError::TooIntricate);
    }
    let room = Room {
        parts: &mut [Part::BLANK; CONST_ROOM],
        pool: &mut [Part::BLANK; 2 * CONST_ROOM],
        nodes: &mut [Node::BLANK; 2 * CONST_ROOM],
        values: &mut [Range::BLANK; CONST_ROOM],
    };
    let mut index = [0; CONST_ROOM];
    let mut values = [0; CONST_ROOM];
    let mut effort = Effort::of_a_decision();
    let mut comparer = Comparer {
        maps,
        room,
        effort: &mut effort,
        index: &mut index,
        values: &mut values,
        patience: MAX_COMPARED_DIGITS_IN_CONST,
    };
    match comparer.compare(extents, first, &mut [0; CONST_ROOM]) {
        Ok(comparison) => Ok(comparison),
        Err(Shortage::Space | Shortage::Effort) => Err(StrideTableError::TooIntricate),
    }
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}
