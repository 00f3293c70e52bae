//! The same questions in a `const`, with the sentence that a compile error prints.

use super::question::{Question, Reading, is_permutation};
use crate::map::{Comparison, StaticStrideTable, StrideTableRef, Term, compare_in_const};
use crate::shape::array::ArrayShape;
use crate::sink::ConstText;

/// An array that is known at compile time, and its stride table.
#[derive(Clone, Copy, Debug)]
pub struct ConstArray<'a> {
    shape: &'a ArrayShape,
    table: StrideTableRef<'a>,
}

impl<'a> ConstArray<'a> {
    /// The most dimensions that an array may have for its bitcasts to be decided in a `const`.
    pub const MAX_DIMENSIONS: usize = 16;

    /// `table` must be that of `shape`, whose dimensions have the sizes `extents`.
    #[must_use]
    pub const fn new(shape: &'a ArrayShape, table: &'a StaticStrideTable, extents: &'a [u64]) -> Self {
        Self { shape, table: table.as_ref(extents) }
    }

    /// Like [`ArrayShape::layout_change_is_bitcast`]: `None` if every element of this array lies at the same position of
    /// `result`, which has the same dimensions; why not, or why that cannot be decided in a `const`.
    ///
    /// ```
    /// use xla_shape_core::bitcast::ConstArray;
    /// use xla_shape_core::{ArrayShape, map::StaticStrideTable};
    ///
    /// let (tiled, plain): (ArrayShape, ArrayShape) = ("f32[2,256]{1,0:T(2,128)}".parse()?, "f32[2,256]".parse()?);
    /// let tables = (StaticStrideTable::new(&[2, 256], tiled.layout())?, StaticStrideTable::new(&[2, 256], plain.layout())?);
    /// let (tiled, plain) = (ConstArray::new(&tiled, &tables.0, &[2, 256]), ConstArray::new(&plain, &tables.1, &[2, 256]));
    /// assert_eq!(
    ///     tiled.layout_change_obstacle(plain).unwrap().as_str(),
    ///     "f32[2,256]{1,0:T(2,128)} and f32[2,256]{1,0} are different bytes: element (0,128) moves from position \
    ///      256 to 128; the first tile differs"
    /// );
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; the index is below the length")]
    pub const fn layout_change_obstacle(self, result: Self) -> Option<ConstText<1024>> {
        let mut identity = [0; Self::MAX_DIMENSIONS];
        let mut i = 0;
        while i < Self::MAX_DIMENSIONS {
            identity[i] = i;
            i = i.saturating_add(1);
        }
        let num_dimensions = self.table.extents().len();
        if num_dimensions > Self::MAX_DIMENSIONS {
            return Some(self.too_many(result));
        }
        self.obstacle(result, Reading::Transpose(identity.split_at(num_dimensions).0))
    }

    /// Like [`ArrayShape::transpose_is_bitcast`]: `None` if dimension `permutation[i]` of this array can be read as
    /// dimension `i` of `result` with every byte where it is; why not, or why that cannot be decided in a `const`.
    #[must_use]
    pub const fn transpose_obstacle(self, result: Self, permutation: &[usize]) -> Option<ConstText<1024>> {
        let num_dimensions = self.table.extents().len();
        if num_dimensions > Self::MAX_DIMENSIONS {
            return Some(self.too_many(result));
        }
        if !is_permutation(permutation, num_dimensions, &mut [false; Self::MAX_DIMENSIONS]) {
            let text = ConstText::new().push_str("the permutation should name each of the ").push_count(num_dimensions);
            return Some(text.push_str(" dimensions once"));
        }
        self.obstacle(result, Reading::Transpose(permutation))
    }

    /// Like [`ArrayShape::reshape_is_bitcast`]: `None` if the elements of this array, in row-major order, are those of
    /// `result` with every byte where it is; why not, or why that cannot be decided in a `const`.
    #[must_use]
    pub const fn reshape_obstacle(self, result: Self) -> Option<ConstText<1024>> {
        self.obstacle(result, Reading::Reshape)
    }

    const fn obstacle(self, result: Self, reading: Reading<'_>) -> Option<ConstText<1024>> {
        const ROOM: usize = ConstArray::MAX_DIMENSIONS;
        if self.table.extents().len() > ROOM || result.table.extents().len() > ROOM {
            return Some(self.too_many(result));
        }
        let question = Question { shapes: [self.shape, result.shape], tables: [self.table, result.table], reading };
        let mut sizes = [0; ROOM];
        if let Some(told) = question.before(&mut sizes) {
            return Some(self.is_not(result).push_told(told));
        }
        let (mut operand_terms, mut result_terms) = ([Term::ZERO; ROOM], [Term::ZERO; ROOM]);
        let maps = question.maps(&mut operand_terms, &mut result_terms);
        let mut first = [0; ROOM];
        let (mut element, mut index, mut values) = ([0; ROOM], [0; ROOM], [0; StaticStrideTable::MAX_INTERMEDIATES]);
        let told = match compare_in_const(maps, question.extents(&mut [0]), &mut first) {
            Ok(Comparison::Moved) => question.moved(maps, &first, &mut element, &mut index, &mut values),
            Ok(Comparison::Alike) => match (self.shape.sizes_in_const(), result.shape.sizes_in_const()) {
                (Some(operand), Some(result)) => Question::stayed(operand.bytes, result.bytes),
                _ => return None,
            },
            Ok(Comparison::Undecided) | Err(_) => {
                let text = self.not_compared(result);
                return Some(text.push_str("`*` in the tiles makes it too expensive for a `const`"));
            }
        };
        if told.is_yes() { None } else { Some(self.is_not(result).push_told(told)) }
    }

    const fn is_not(self, result: Self) -> ConstText<1024> {
        ConstText::new().push_str(self.pair(result).as_str()).push_str(" are different bytes: ")
    }

    const fn not_compared(self, result: Self) -> ConstText<1024> {
        ConstText::new().push_str("cannot compare ").push_str(self.pair(result).as_str()).push_str(": ")
    }

    const fn too_many(self, result: Self) -> ConstText<1024> {
        let text = self.not_compared(result).push_str("a `const` compares arrays of at most ");
        text.push_count(Self::MAX_DIMENSIONS).push_str(" dimensions")
    }

    /// Both shapes.
    const fn pair(self, result: Self) -> ConstText<1024> {
        let text = ConstText::new().push_str(self.shape.const_text::<256>().as_str()).push_str(" and ");
        text.push_str(result.shape.const_text::<256>().as_str())
    }
}
