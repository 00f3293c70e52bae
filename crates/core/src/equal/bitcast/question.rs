//! The decision whether an operation is a bitcast, in a `const` and at run time. The caller provides the memory: arrays
//! in a `const`, vectors at run time.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below a length")]

use super::answer::{Answer, Cause, Reason};
use crate::layout::attribute::{AttributeEffect, LayoutAttribute};
use crate::layout::{Layout, SplitConfig};
use crate::map::{StrideTableRef, Term, View, fill_row_major_terms, whole_dimension};
use crate::shape::array::ArrayShape;
use core::num::NonZeroU64;

/// How the elements of the result correspond to those of the operand.
#[derive(Clone, Copy)]
pub(super) enum Correspondence<'a> {
    /// Dimension `i` of the result is dimension `permutation[i]` of the operand.
    Transpose(&'a [usize]),
    /// The elements correspond in row-major order.
    Reshape,
    /// The first dimensions of the result number tiles of these sizes in the operand, and the others the elements of a tile.
    Divide(&'a [u64]),
}

/// Whether reading `shapes[0]` as `shapes[1]` leaves every byte where it is.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) shapes: [&'a ArrayShape; 2],
    /// The stride tables of the shapes.
    pub(super) tables: [StrideTableRef<'a>; 2],
    pub(super) correspondence: Correspondence<'a>,
}

impl<'a> Question<'a> {
    /// The numbers of terms that [`maps`](Self::maps) writes for the operand and for the result.
    pub(super) const fn num_terms(self) -> [usize; 2] {
        match self.correspondence {
            Correspondence::Transpose(permutation) => [0, permutation.len()],
            Correspondence::Divide(tile) => [0, 2 * tile.len()],
            Correspondence::Reshape => [self.tables[0].extents().len(), self.tables[1].extents().len()],
        }
    }

    /// The reason for the answer "no", where sizes alone give it; otherwise `None`, and positions must be compared. `sizes` is working memory, with
    /// at least one entry for each dimension of the operand.
    pub(super) const fn obvious_reason(self, sizes: &'a mut [u64]) -> Option<Reason<&'a [u64]>> {
        let [operand, result] = [self.tables[0].extents(), self.tables[1].extents()];
        match self.correspondence {
            Correspondence::Transpose(permutation) => {
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
            // `divide_obstacle` has compared the sizes.
            Correspondence::Divide(_) => {}
            Correspondence::Reshape => {
                let (operand, result) = (product(operand), product(result));
                if operand != result {
                    return Some(Reason::Elements { operand, result });
                }
            }
        }
        difference_besides_positions(self.shapes[0], self.shapes[1])
    }

    /// The two tables as maps of a common index, which is below [`extents`](Self::extents). `operand` and `result` are
    /// working memory of at least [`num_terms`](Self::num_terms) entries.
    pub(super) const fn maps(self, operand: &'a mut [Term], result: &'a mut [Term]) -> [View<'a>; 2] {
        match self.correspondence {
            Correspondence::Transpose(permutation) => {
                let mut i = 0;
                while i < permutation.len() {
                    result[i] = whole_dimension(permutation[i]);
                    i += 1;
                }
            }
            Correspondence::Divide(tile) => {
                let mut i = 0;
                while i < tile.len() {
                    let whole = whole_dimension(i);
                    let size = NonZeroU64::new(tile[i]);
                    result[i] = match size {
                        Some(divisor) => Term { divisor, ..whole },
                        None => whole,
                    };
                    result[tile.len() + i] = Term { modulus: size, ..whole };
                    i += 1;
                }
            }
            Correspondence::Reshape => {
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

    /// The sizes of the common index: the number of elements for a reshape, otherwise the operand's dimensions.
    /// `elements` is working memory.
    pub(super) const fn extents(self, elements: &'a mut [u64; 1]) -> &'a [u64] {
        let extents = self.tables[0].extents();
        match self.correspondence {
            Correspondence::Transpose(_) | Correspondence::Divide(_) => extents,
            Correspondence::Reshape => {
                elements[0] = product(extents);
                elements
            }
        }
    }

    /// The reason for a no after a comparison: the element with the common index `first` is the first that moves. The
    /// other slices are working memory: an index of each array, and the intermediate values of either table.
    pub(super) const fn moved(
        self,
        maps: [View<'_>; 2],
        first: &[u64],
        element: &'a mut [u64],
        index: &mut [u64],
        values: &mut [u64],
    ) -> Reason<&'a [u64]> {
        let operand_position = position(maps[0], first, element, values);
        let result_position = position(maps[1], first, index, values);
        let element = element.split_at(self.tables[0].extents().len()).0;
        let cause = match self.correspondence {
            Correspondence::Transpose(permutation) => {
                let [one, other] = [self.shapes[0].layout(), self.shapes[1].layout()];
                Some(difference(one, other, self.tables[0].extents(), permutation))
            }
            Correspondence::Reshape | Correspondence::Divide(_) => None,
        };
        Reason::Moves { element, operand_position, result_position, cause }
    }

    /// The answer after a comparison in which no element moves: whether the arrays have the same size in bytes.
    pub(super) const fn stayed(operand_bytes: u64, result_bytes: u64) -> Answer<&'a [u64]> {
        if operand_bytes == result_bytes { Answer::Yes } else { Answer::OtherPadding { operand_bytes, result_bytes } }
    }
}

/// The first difference of two arrays that rules out a bitcast, whatever the positions of elements are.
pub(super) const fn difference_besides_positions<'a>(
    one: &ArrayShape,
    other: &ArrayShape,
) -> Option<Reason<&'a [u64]>> {
    let [operand, result] = [one.element_bits(), other.element_bits()];
    if operand != result {
        return Some(Reason::ElementBits { operand, result });
    }
    let (one, other) = (one.layout(), other.layout());
    let mut rest = LayoutAttribute::NUMBERS;
    while let [attribute, others @ ..] = rest {
        match (attribute.effect(), one.number(*attribute), other.number(*attribute)) {
            (Some(AttributeEffect::Prefix), Some(operand), Some(result)) if operand != result => {
                return Some(Reason::MetadataPrefix { operand, result });
            }
            (Some(AttributeEffect::Prefix | AttributeEffect::Nothing) | None, ..) => {}
            // Tail padding changes only the size in bytes, element bits were compared above, and memory spaces may differ.
            (Some(AttributeEffect::End | AttributeEffect::ElementBits | AttributeEffect::Place), ..) => {}
        }
        rest = others;
    }
    if same_splits(one.split_configs(), other.split_configs()) { None } else { Some(Reason::Splits) }
}

/// Writes the index of the map's own array for the common index `first`, and returns its position.
const fn position(map: View<'_>, first: &[u64], index: &mut [u64], values: &mut [u64]) -> u64 {
    let num_dimensions = map.table.extents().len();
    let mut i = 0;
    while i < num_dimensions {
        index[i] = if map.dimensions.is_empty() { first[i] } else { map.dimensions[i].value(first, &[]) };
        i += 1;
    }
    map.table.linear_index_with(index.split_at(num_dimensions).0, values)
}

/// The number of elements of a valid shape; 0 if a size is 0, even where the other sizes overflow.
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

/// The first difference of two layouts that moves an element. `sizes` are the sizes of the dimensions of `one`;
/// dimension `permutation[i]` of `one` is dimension `i` of `other`.
const fn difference(one: &Layout, other: &Layout, sizes: &[u64], permutation: &[usize]) -> Cause {
    let (order, other_order) = (one.minor_to_major(), other.minor_to_major());
    let (mut i, mut k) = (0, 0);
    while i < order.len() && k < other_order.len() {
        let (dimension, other_dimension) = (order[i], permutation[other_order[k]]);
        // The place of a dimension of size 1 in the order moves no element by itself.
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
