//! The same questions in a `const`, with the sentence that a compile error prints.
//!
//! The tables are those of the shapes, operand first.

use super::answer::Answer;
use super::question::{Question, Reading};
use crate::layout::number::check_permutation;
use crate::limits::MAX_CONST_DIMENSIONS as ROOM;
use crate::map::{Comparison, StaticStrideTable, StrideTableRef, Term, compare_in_const};
use crate::shape::array::ArrayShape;
use crate::sink::ConstText;

/// Like [`ArrayShape::layout_change_is_bitcast`]: `None` if every element of the operand lies at the same position of the
/// result, which has the same dimensions; why not, or why that cannot be decided in a `const`.
///
/// ```
/// use xla_shape_core::bitcast::layout_change_obstacle;
/// use xla_shape_core::{ArrayShape, map::StaticStrideTable};
///
/// let (tiled, plain): (ArrayShape, ArrayShape) = ("f32[2,256]{1,0:T(2,128)}".parse()?, "f32[2,256]".parse()?);
/// let tables = [StaticStrideTable::new(&[2, 256], tiled.layout())?, StaticStrideTable::new(&[2, 256], plain.layout())?];
/// let tables = tables.each_ref().map(|table| table.as_ref(&[2, 256]));
/// assert_eq!(
///     layout_change_obstacle([&tiled, &plain], tables).unwrap().as_str(),
///     "f32[2,256]{1,0:T(2,128)} and f32[2,256]{1,0} are different bytes: element (0,128) moves from position \
///      256 to 128; the first tile differs"
/// );
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; the index is below the length")]
pub const fn layout_change_obstacle(
    shapes: [&ArrayShape; 2],
    tables: [StrideTableRef<'_>; 2],
) -> Option<ConstText<1024>> {
    let mut identity = [0; ROOM];
    let mut i = 0;
    while i < ROOM {
        identity[i] = i;
        i = i.saturating_add(1);
    }
    let num_dimensions = tables[0].extents().len();
    if num_dimensions > ROOM {
        return Some(too_many(shapes));
    }
    obstacle(Question { shapes, tables, reading: Reading::Transpose(identity.split_at(num_dimensions).0) })
}

/// Like [`ArrayShape::transpose_is_bitcast`]: `None` if dimension `permutation[i]` of the operand can be read as dimension `i`
/// of the result with every byte where it is; why not, or why that cannot be decided in a `const`.
#[must_use]
pub const fn transpose_obstacle(
    shapes: [&ArrayShape; 2],
    tables: [StrideTableRef<'_>; 2],
    permutation: &[usize],
) -> Option<ConstText<1024>> {
    let num_dimensions = tables[0].extents().len();
    if num_dimensions > ROOM {
        return Some(too_many(shapes));
    }
    if let Err(error) = check_permutation(permutation, num_dimensions, &mut [0]) {
        let mut text = ConstText::new().push_str("expected a permutation: ");
        error.write(&mut text.sink());
        return Some(text);
    }
    obstacle(Question { shapes, tables, reading: Reading::Transpose(permutation) })
}

/// Like [`ArrayShape::reshape_is_bitcast`]: `None` if the elements of the operand, in row-major order, are those of the result
/// with every byte where it is; why not, or why that cannot be decided in a `const`.
#[must_use]
pub const fn reshape_obstacle(shapes: [&ArrayShape; 2], tables: [StrideTableRef<'_>; 2]) -> Option<ConstText<1024>> {
    obstacle(Question { shapes, tables, reading: Reading::Reshape })
}

const fn obstacle(question: Question<'_>) -> Option<ConstText<1024>> {
    let Question { shapes, tables, .. } = question;
    if tables[0].extents().len() > ROOM || tables[1].extents().len() > ROOM {
        return Some(too_many(shapes));
    }
    let mut sizes = [0; ROOM];
    if let Some(reason) = question.before(&mut sizes) {
        return Some(different(shapes, Answer::No(reason)));
    }
    let (mut operand_terms, mut result_terms) = ([Term::ZERO; ROOM], [Term::ZERO; ROOM]);
    let maps = question.maps(&mut operand_terms, &mut result_terms);
    let mut first = [0; ROOM];
    let (mut element, mut index, mut values) = ([0; ROOM], [0; ROOM], [0; StaticStrideTable::MAX_INTERMEDIATES]);
    let answer = match compare_in_const(maps, question.extents(&mut [0]), &mut first) {
        Ok(Comparison::Moved) => Answer::No(question.moved(maps, &first, &mut element, &mut index, &mut values)),
        Ok(Comparison::Alike) => match (shapes[0].sizes_in_const(), shapes[1].sizes_in_const()) {
            (Some(operand), Some(result)) => Question::stayed(operand.bytes, result.bytes),
            _ => return None,
        },
        Ok(Comparison::Undecided) | Err(_) => {
            return Some(not_compared(shapes).push_str("`*` in the tiles makes it too expensive for a `const`"));
        }
    };
    if answer.is_yes() { None } else { Some(different(shapes, answer)) }
}

const fn different(shapes: [&ArrayShape; 2], answer: Answer<&[u64]>) -> ConstText<1024> {
    let mut text = ConstText::new().push_str(pair(shapes).as_str()).push_str(" are different bytes: ");
    answer.write(&mut text.sink());
    text
}

const fn not_compared(shapes: [&ArrayShape; 2]) -> ConstText<1024> {
    ConstText::new().push_str("cannot compare ").push_str(pair(shapes).as_str()).push_str(": ")
}

const fn too_many(shapes: [&ArrayShape; 2]) -> ConstText<1024> {
    let text = not_compared(shapes).push_str("a `const` compares arrays of at most ");
    text.push_count(ROOM).push_str(" dimensions")
}

const fn pair(shapes: [&ArrayShape; 2]) -> ConstText<1024> {
    let text = ConstText::new().push_str(shapes[0].const_text::<256>().as_str()).push_str(" and ");
    text.push_str(shapes[1].const_text::<256>().as_str())
}
