//! What is asked, and how it is decided, for a `const` and for a program; they differ in who brings the memory.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; every index is below a length, and counters are below the room"
)]

use super::answer::{Answer, Cause, Reason};
use crate::layout::{Layout, SplitConfig};
use crate::map::{StrideTableRef, Term, View, fill_row_major_terms, whole_dimension};
use crate::shape::array::ArrayShape;

/// How the elements of the result are those of the operand.
#[derive(Clone, Copy)]
pub(super) enum Reading<'a> {
    /// Dimension `i` of the result is this dimension of the operand.
    Transpose(&'a [usize]),
    /// Both have the same elements in row-major order.
    Reshape,
}

/// Whether reading `shapes[0]` as `shapes[1]` leaves every byte where it is.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) shapes: [&'a ArrayShape; 2],
    /// The tables of the shapes.
    pub(super) tables: [StrideTableRef<'a>; 2],
    pub(super) reading: Reading<'a>,
}

impl<'a> Question<'a> {
    /// How many terms the dimensions of the operand and of the result need.
    pub(super) const fn num_terms(self) -> [usize; 2] {
        match self.reading {
            Reading::Transpose(permutation) => [0, permutation.len()],
            Reading::Reshape => [self.tables[0].extents().len(), self.tables[1].extents().len()],
        }
    }

    /// Why the answer is no, if no element need be compared to know it. `sizes` is room for one of each dimension of the operand.
    pub(super) const fn before(self, sizes: &'a mut [u64]) -> Option<Reason<&'a [u64]>> {
        let [operand, result] = [self.tables[0].extents(), self.tables[1].extents()];
        match self.reading {
            Reading::Transpose(permutation) => {
                let mut same = result.len() == permutation.len();
                let mut i = 0;
                while i < permutation.len() {
                    sizes[i] = operand[permutation[i]];
                    same = same && result[i] == sizes[i];
                    i += 1;
                }
                if !same {
                    return Some(Reason::Sizes { expected: sizes.split_at(permutation.len()).0, found: result });
                }
            }
            Reading::Reshape => {
                let (operand, result) = (product(operand), product(result));
                if operand != result {
                    return Some(Reason::Elements { operand, result });
                }
            }
        }
        differ_apart_from_places(self.shapes[0], self.shapes[1])
    }

    /// The tables over the same indices, which are below [`extents`](Self::extents). The room is that of
    /// [`num_terms`](Self::num_terms).
    pub(super) const fn maps(self, operand: &'a mut [Term], result: &'a mut [Term]) -> [View<'a>; 2] {
        match self.reading {
            Reading::Transpose(permutation) => {
                let mut i = 0;
                while i < permutation.len() {
                    result[i] = whole_dimension(permutation[i]);
                    i += 1;
                }
            }
            Reading::Reshape => {
                fill_row_major_terms(self.tables[0].extents(), operand);
                fill_row_major_terms(self.tables[1].extents(), result);
            }
        }
        let [num_operand, num_result] = self.num_terms();
        [
            View { table: self.tables[0], dimensions: operand.split_at(num_operand).0 },
            View { table: self.tables[1], dimensions: result.split_at(num_result).0 },
        ]
    }

    /// The sizes of what is compared: the operand's dimensions, or, in `elements`, the number of elements.
    pub(super) const fn extents(self, elements: &'a mut [u64; 1]) -> &'a [u64] {
        let extents = self.tables[0].extents();
        match self.reading {
            Reading::Transpose(_) => extents,
            Reading::Reshape => {
                elements[0] = product(extents);
                elements
            }
        }
    }

    /// Why the answer is no, after a comparison that found the element at `first` to be the first that moves. The other slices are room:
    /// for an index of each array and for the values of either table.
    pub(super) const fn moved(
        self,
        maps: [View<'_>; 2],
        first: &[u64],
        element: &'a mut [u64],
        index: &mut [u64],
        values: &mut [u64],
    ) -> Reason<&'a [u64]> {
        let operand_position = place(maps[0], first, element, values);
        let result_position = place(maps[1], first, index, values);
        let element = element.split_at(self.tables[0].extents().len()).0;
        let cause = match self.reading {
            Reading::Transpose(permutation) => {
                let [one, other] = [self.shapes[0].layout(), self.shapes[1].layout()];
                Some(difference(one, other, self.tables[0].extents(), permutation))
            }
            Reading::Reshape => None,
        };
        Reason::Moves { element, operand_position, result_position, cause }
    }

    /// The answer, after a comparison that found no element to move, for arrays of these bytes.
    pub(super) const fn stayed(operand_bytes: u64, result_bytes: u64) -> Answer<&'a [u64]> {
        if operand_bytes == result_bytes { Answer::Yes } else { Answer::OtherPadding { operand_bytes, result_bytes } }
    }
}

/// Why no reading of an array as another is a bitcast, wherever their elements are.
pub(super) const fn differ_apart_from_places<'a>(one: &ArrayShape, other: &ArrayShape) -> Option<Reason<&'a [u64]>> {
    let [operand, result] = [one.element_bits(), other.element_bits()];
    if operand != result {
        return Some(Reason::ElementBits { operand, result });
    }
    let [one, other] = [one.layout(), other.layout()];
    let [operand, result] = [one.dynamic_shape_metadata_prefix_bytes(), other.dynamic_shape_metadata_prefix_bytes()];
    if operand != result {
        return Some(Reason::MetadataPrefix { operand, result });
    }
    if same_splits(one.split_configs(), other.split_configs()) { None } else { Some(Reason::Splits) }
}

/// Writes the index in the map's own dimensions; its position.
const fn place(map: View<'_>, first: &[u64], index: &mut [u64], values: &mut [u64]) -> u64 {
    let num_dimensions = map.table.extents().len();
    let mut i = 0;
    while i < num_dimensions {
        index[i] = if map.dimensions.is_empty() { first[i] } else { map.dimensions[i].of(first, &[]) };
        i += 1;
    }
    map.table.linear_index_with(index.split_at(num_dimensions).0, values)
}

/// The number of elements of a valid shape.
const fn product(sizes: &[u64]) -> u64 {
    let mut product = 1_u64;
    let mut i = 0;
    while i < sizes.len() {
        if sizes[i] == 0 {
            return 0;
        }
        product = product.saturating_mul(sizes[i]);
        i += 1;
    }
    product
}

const fn same_splits(these: &[SplitConfig], those: &[SplitConfig]) -> bool {
    let mut same = these.len() == those.len();
    let mut i = 0;
    while same && i < these.len() {
        let (indices, others) = (these[i].split_indices(), those[i].split_indices());
        same = these[i].dimension() == those[i].dimension() && indices.len() == others.len();
        let mut k = 0;
        while same && k < indices.len() {
            same = indices[k] == others[k];
            k += 1;
        }
        i += 1;
    }
    same
}

/// The first difference of two layouts that moves an element. Dimensions have the sizes `sizes` in the one;
/// dimension `permutation[i]` of the one is dimension `i` of the other.
const fn difference(one: &Layout, other: &Layout, sizes: &[u64], permutation: &[usize]) -> Cause {
    let (order, other_order) = (one.minor_to_major(), other.minor_to_major());
    let (mut i, mut k) = (0, 0);
    while i < order.len() && k < other_order.len() {
        let (dimension, other_dimension) = (order[i], permutation[other_order[k]]);
        // Where a dimension of size 1 stands moves no element by itself.
        if sizes[dimension] == 1 {
            i += 1;
        } else if sizes[other_dimension] == 1 {
            k += 1;
        } else if dimension != other_dimension {
            return Cause::Order;
        } else {
            i += 1;
            k += 1;
        }
    }
    let (tiles, other_tiles) = (one.tiles(), other.tiles());
    let mut tile = 0;
    while tile < tiles.len() && tile < other_tiles.len() {
        if !tiles[tile].equals(&other_tiles[tile]) {
            return Cause::Tile(tile);
        }
        tile += 1;
    }
    if tiles.len() == other_tiles.len() { Cause::SizeOne } else { Cause::Tile(tile) }
}
