//! The same questions in a `const`, with the sentence that a compile error prints.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; every index is below a length, and counters are below the room"
)]

use super::{Cause, difference};
use crate::map::{
    CompareError, Comparison, StaticStrideTable, StrideTableRef, Term, View, compare_in_const, fill_row_major_terms,
    whole_dimension,
};
use crate::shape::array::ArrayShape;
use crate::shape::layout::SplitConfig;
use crate::text::ConstText;

/// An array that is known at compile time, and its stride table.
#[derive(Clone, Copy, Debug)]
pub struct StaticArray<'a> {
    shape: &'a ArrayShape,
    table: StrideTableRef<'a>,
}

/// Why an operation on static arrays is no bitcast, as a sentence.
pub type StaticReason = ConstText<1024>;

impl<'a> StaticArray<'a> {
    /// The most dimensions that an array may have for its bitcasts to be decided in a `const`.
    pub const MAX_DIMENSIONS: usize = 16;

    /// `table` must be that of `shape`, whose dimensions have the sizes `extents`.
    #[must_use]
    pub const fn new(shape: &'a ArrayShape, table: &'a StaticStrideTable, extents: &'a [u64]) -> Self {
        Self { shape, table: table.as_ref(extents) }
    }

    /// As [`ArrayShape::layout_change_is_bitcast`]: `None` if every element of this array lies at the same position of
    /// `result`, which has the same dimensions; why not, or why that cannot be decided in a `const`.
    ///
    /// ```
    /// use xla_shape_core::bitcast::StaticArray;
    /// use xla_shape_core::{ArrayShape, stride_table::StaticStrideTable};
    ///
    /// let (tiled, plain): (ArrayShape, ArrayShape) = ("f32[2,256]{1,0:T(2,128)}".parse()?, "f32[2,256]".parse()?);
    /// let tables = (StaticStrideTable::new(&[2, 256], tiled.layout())?, StaticStrideTable::new(&[2, 256], plain.layout())?);
    /// let (tiled, plain) = (StaticArray::new(&tiled, &tables.0, &[2, 256]), StaticArray::new(&plain, &tables.1, &[2, 256]));
    /// assert_eq!(
    ///     tiled.layout_change_obstacle(plain).unwrap().as_str(),
    ///     "f32[2,256]{1,0:T(2,128)} is not the bytes of f32[2,256]{1,0}: element (0,128) lies at 256 in the one and at \
    ///      128 in the other; the first tile differs"
    /// );
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn layout_change_obstacle(self, result: Self) -> Option<StaticReason> {
        let mut identity = [0; Self::MAX_DIMENSIONS];
        let mut i = 0;
        while i < Self::MAX_DIMENSIONS {
            identity[i] = i;
            i += 1;
        }
        let num_dimensions = self.table.extents().len();
        if num_dimensions > Self::MAX_DIMENSIONS {
            return Some(self.is_not(result, "there are too many dimensions to decide it in a `const`"));
        }
        self.transpose_obstacle(result, identity.split_at(num_dimensions).0)
    }

    /// As [`ArrayShape::transpose_is_bitcast`]: `None` if dimension `permutation[i]` of this array can be read as
    /// dimension `i` of `result` with every byte where it is; why not, or why that cannot be decided in a `const`.
    #[must_use]
    pub const fn transpose_obstacle(self, result: Self, permutation: &[usize]) -> Option<StaticReason> {
        let (sizes, result_sizes) = (self.table.extents(), result.table.extents());
        if sizes.len() > Self::MAX_DIMENSIONS || !is_permutation(permutation, sizes.len()) {
            let text = ConstText::new().push_str("the permutation should name each of the ").push_count(sizes.len());
            return Some(text.push_str(" dimensions once"));
        }
        let mut dimensions = [Term::ZERO; Self::MAX_DIMENSIONS];
        let mut same = result_sizes.len() == sizes.len();
        let mut i = 0;
        while i < permutation.len() {
            dimensions[i] = whole_dimension(permutation[i]);
            same = same && result_sizes[i] == sizes[permutation[i]];
            i += 1;
        }
        if !same {
            return Some(self.is_not(result, "the dimensions have other sizes"));
        }
        let dimensions = dimensions.split_at(permutation.len()).0;
        let maps = [View { table: self.table, dimensions: &[] }, View { table: result.table, dimensions }];
        let cause = difference(self.shape.layout(), result.shape.layout(), sizes, permutation);
        self.compare(result, maps, sizes, Some(cause))
    }

    /// As [`ArrayShape::reshape_is_bitcast`]: `None` if the elements of this array, in row-major order, are those of
    /// `result` with every byte where it is; why not, or why that cannot be decided in a `const`.
    #[must_use]
    pub const fn reshape_obstacle(self, result: Self) -> Option<StaticReason> {
        let (sizes, result_sizes) = (self.table.extents(), result.table.extents());
        let elements = product(sizes);
        if elements != product(result_sizes) {
            return Some(self.is_not(result, "the numbers of elements differ"));
        }
        if sizes.len() > Self::MAX_DIMENSIONS || result_sizes.len() > Self::MAX_DIMENSIONS {
            return Some(self.is_not(result, "there are too many dimensions to decide it in a `const`"));
        }
        let mut terms = [[Term::ZERO; Self::MAX_DIMENSIONS]; 2];
        let [operand, other] = &mut terms;
        fill_row_major_terms(sizes, operand);
        fill_row_major_terms(result_sizes, other);
        let maps = [
            View { table: self.table, dimensions: operand.split_at(sizes.len()).0 },
            View { table: result.table, dimensions: other.split_at(result_sizes.len()).0 },
        ];
        self.compare(result, maps, &[elements], None)
    }

    const fn compare(
        self,
        result: Self,
        maps: [View<'_>; 2],
        extents: &[u64],
        cause: Option<Cause>,
    ) -> Option<StaticReason> {
        let (one, other) = (self.shape, result.shape);
        if one.element_bits() != other.element_bits() {
            return Some(self.is_not(result, "the elements take other numbers of bits"));
        }
        if one.layout().dynamic_shape_metadata_prefix_bytes() != other.layout().dynamic_shape_metadata_prefix_bytes() {
            return Some(self.is_not(result, "the elements begin behind other numbers of bytes"));
        }
        if !same_splits(one.layout().split_configs(), other.layout().split_configs()) {
            return Some(self.is_not(result, "the arrays are cut into other pieces"));
        }
        let mut first = [0; Self::MAX_DIMENSIONS];
        match compare_in_const(maps, extents, &mut first) {
            Ok(Comparison::Alike) => match (one.sizes_in_const(), other.sizes_in_const()) {
                (Some(sizes), Some(other_sizes)) if sizes.bytes != other_sizes.bytes => {
                    Some(self.is_not(result, "every element would stay, but the arrays take other numbers of bytes"))
                }
                _ => None,
            },
            Ok(Comparison::Moved) => {
                let text = self.is_not(result, "element (");
                let [operand_map, result_map] = maps;
                let text = push_index(text, operand_map, &first);
                let text = text.push_str(") lies at ").push_number(position(operand_map, &first));
                let text = text.push_str(" in the one and at ").push_number(position(result_map, &first));
                let text = text.push_str(" in the other");
                Some(match cause {
                    Some(cause) => text.push_str("; ").push_str(cause.as_str()),
                    None => text,
                })
            }
            Ok(Comparison::Undecided) | Err(CompareError::TooIntricate | CompareError::OtherDimensions) => {
                Some(self.is_not(result, "the layouts are too intricate to be compared in a `const`"))
            }
        }
    }

    const fn is_not(self, result: Self, why: &str) -> StaticReason {
        let text = ConstText::new().push_str(self.shape.const_text::<256>().as_str()).push_str(" is not the bytes of ");
        text.push_str(result.shape.const_text::<256>().as_str()).push_str(": ").push_str(why)
    }
}

const fn is_permutation(permutation: &[usize], len: usize) -> bool {
    let mut seen = [false; StaticArray::MAX_DIMENSIONS];
    let mut i = 0;
    while i < permutation.len() {
        if permutation[i] >= len || seen[permutation[i]] {
            return false;
        }
        seen[permutation[i]] = true;
        i += 1;
    }
    permutation.len() == len
}

/// The sizes of a valid shape.
const fn product(sizes: &[u64]) -> u64 {
    let mut product = 1_u64;
    let mut i = 0;
    while i < sizes.len() {
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

/// The index in the map's own dimensions, joined by commas.
const fn push_index(mut text: StaticReason, map: View<'_>, index: &[u64]) -> StaticReason {
    let mut i = 0;
    while i < map.table.extents().len() {
        if i > 0 {
            text = text.push_str(",");
        }
        text = text.push_number(if map.dimensions.is_empty() { index[i] } else { map.dimensions[i].of(index, &[]) });
        i += 1;
    }
    text
}

const fn position(map: View<'_>, index: &[u64]) -> u64 {
    let mut values = [0; StaticStrideTable::MAX_VALUES];
    if map.dimensions.is_empty() {
        return map.table.linear_index_with(index, &mut values);
    }
    let mut mapped = [0; StaticArray::MAX_DIMENSIONS];
    let mut i = 0;
    while i < map.dimensions.len() {
        mapped[i] = map.dimensions[i].of(index, &[]);
        i += 1;
    }
    map.table.linear_index_with(&mapped, &mut values)
}
