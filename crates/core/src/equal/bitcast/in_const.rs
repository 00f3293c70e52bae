//! The bitcast checks in a `const`, with the text that a compile error prints.

use super::answer::Answer;
use super::question::{Correspondence, Question};
use crate::layout::number::{DimensionError, check_permutation_in};
use crate::limits::MAX_CONST_DIMENSIONS as MAX;
use crate::map::{Comparison, StaticStrideTable, StrideTableRef, Term, compare_in_const};
use crate::shape::array::ArrayShape;
use crate::sink::ConstText;

/// Why a change of layout is not a bitcast, or why that cannot be decided in a `const`; `None` if it is a bitcast. This
/// is for a `const`; at run time, use [`ArrayShape::layout_change_is_bitcast`].
///
/// `shapes` are the operand and the result, which have the same dimensions; `tables` are their stride tables.
///
/// ```
/// use xla_shape_core::bitcast::layout_change_obstacle;
/// use xla_shape_core::{ArrayShape, map::StaticStrideTable};
///
/// let (tiled, plain): (ArrayShape, ArrayShape) = ("f32[2,256]{1,0:T(2,128)}".parse()?, "f32[2,256]".parse()?);
/// let tables = [StaticStrideTable::new(&[2, 256], tiled.layout())?, StaticStrideTable::new(&[2, 256], plain.layout())?];
/// let tables = tables.each_ref().map(|table| table.with_extents(&[2, 256]));
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
    // A change of layout is a transpose that leaves every dimension in its place.
    let mut identity = [0; MAX];
    let mut i = 0;
    while i < MAX {
        identity[i] = i;
        i += 1;
    }
    let num_dimensions = tables[0].extents().len();
    if num_dimensions > MAX {
        return Some(too_many(shapes));
    }
    obstacle(Question {
        shapes,
        tables,
        correspondence: Correspondence::Transpose(identity.split_at(num_dimensions).0),
    })
}

/// Why a transpose is not a bitcast, or why that cannot be decided in a `const`; `None` if it is a bitcast. This is for
/// a `const`; at run time, use [`ArrayShape::transpose_is_bitcast`].
///
/// `shapes` are the operand and the result, `tables` their stride tables. Dimension `i` of the result is dimension
/// `permutation[i]` of the operand.
///
/// ```
/// use xla_shape_core::bitcast::transpose_obstacle;
/// use xla_shape_core::ArrayShape;
///
/// let (x, y): (ArrayShape, ArrayShape) = ("f32[2,3]{1,0}".parse()?, "f32[3,2]{0,1}".parse()?);
/// let tables = [x.stride_table()?, y.stride_table()?];
/// assert!(transpose_obstacle([&x, &y], tables.each_ref().map(|table| table.as_ref()), &[1, 0]).is_none());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub const fn transpose_obstacle(
    shapes: [&ArrayShape; 2],
    tables: [StrideTableRef<'_>; 2],
    permutation: &[usize],
) -> Option<ConstText<1024>> {
    let num_dimensions = tables[0].extents().len();
    if num_dimensions > MAX {
        return Some(too_many(shapes));
    }
    if let Err(error) = check_permutation_in(permutation, num_dimensions, &mut [0]) {
        let mut text = ConstText::new().push_str("expected a permutation: ");
        error.write(&mut text.sink());
        return Some(text);
    }
    obstacle(Question { shapes, tables, correspondence: Correspondence::Transpose(permutation) })
}

/// Why a reshape is not a bitcast, or why that cannot be decided in a `const`; `None` if it is a bitcast. This is for a
/// `const`; at run time, use [`ArrayShape::reshape_is_bitcast`].
///
/// `shapes` are the operand and the result, `tables` their stride tables.
///
/// ```
/// use xla_shape_core::bitcast::reshape_obstacle;
/// use xla_shape_core::ArrayShape;
///
/// let (x, y): (ArrayShape, ArrayShape) = ("f32[2,3]".parse()?, "f32[6]".parse()?);
/// let tables = [x.stride_table()?, y.stride_table()?];
/// assert!(reshape_obstacle([&x, &y], tables.each_ref().map(|table| table.as_ref())).is_none());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub const fn reshape_obstacle(shapes: [&ArrayShape; 2], tables: [StrideTableRef<'_>; 2]) -> Option<ConstText<1024>> {
    obstacle(Question { shapes, tables, correspondence: Correspondence::Reshape })
}

/// Why dividing an array into tiles, as CuTe's `zipped_divide` does, is not a bitcast, or why that cannot be decided in a
/// `const`; `None` if it is a bitcast. [`LayoutMapping::divide`](crate::map::LayoutMapping::divide) divides maps that are
/// known at run time.
///
/// `shapes` are the operand and the result, `tables` their stride tables. The second half of the result's dimensions are
/// the sizes of a tile, and the first half number the tiles: element `(number, inside)` of the result is element
/// `number · tile + inside` of the operand.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::bitcast::divide_obstacle;
///
/// let x: ArrayShape = "f32[64,256]{1,0:T(8,128)}".parse()?;
/// let obstacle = |result: &str| -> Result<_, Box<dyn core::error::Error>> {
///     let result = result.parse()?;
///     let tables = [x.stride_table()?, ArrayShape::stride_table(&result)?];
///     Ok(divide_obstacle([&x, &result], tables.each_ref().map(|table| table.as_ref())))
/// };
/// assert!(obstacle("f32[8,2,8,128]")?.is_none());
/// assert_eq!(
///     obstacle("f32[4,2,16,128]")?.unwrap().as_str(),
///     "f32[64,256]{1,0:T(8,128)} and f32[4,2,16,128]{3,2,1,0} are different bytes: element (0,128) moves from position \
///      1024 to 2048"
/// );
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; the index is below the lengths")]
pub const fn divide_obstacle(shapes: [&ArrayShape; 2], tables: [StrideTableRef<'_>; 2]) -> Option<ConstText<1024>> {
    let [operand, result] = [tables[0].extents(), tables[1].extents()];
    let n = operand.len();
    if result.len() != 2 * n {
        let text = ConstText::new().push_str("expected ").push_count(2 * n);
        let text = text.push_str(" dimensions, the numbers of the tiles and the sizes of a tile, found ");
        return Some(text.push_str(shapes[1].const_text::<256>().as_str()));
    }
    let (numbers, tile) = result.split_at(n);
    let mut dimension = 0;
    while dimension < n {
        let [size, tile] = [operand[dimension], tile[dimension]];
        if tile == 0 || !size.is_multiple_of(tile) {
            let mut text = ConstText::new();
            DimensionError::Uneven { dimension, size, tile }.write(&mut text.sink());
            return Some(text);
        }
        if let Some(expected) = size.checked_div(tile)
            && expected != numbers[dimension]
        {
            let text = ConstText::new().push_str("dimension ").push_count(dimension).push_str(" is divided into ");
            let text = text.push_number(expected).push_str(" tiles of size ").push_number(tile);
            let text = text.push_str(", so expected size ").push_number(expected).push_str(" for dimension ");
            let text = text.push_count(dimension).push_str(" of the result, found ");
            return Some(text.push_str(shapes[1].const_text::<256>().as_str()));
        }
        dimension += 1;
    }
    obstacle(Question { shapes, tables, correspondence: Correspondence::Divide(tile) })
}

const fn obstacle(question: Question<'_>) -> Option<ConstText<1024>> {
    let Question { shapes, tables, .. } = question;
    if tables[0].extents().len() > MAX || tables[1].extents().len() > MAX {
        return Some(too_many(shapes));
    }
    let mut sizes = [0; MAX];
    if let Some(reason) = question.obvious_reason(&mut sizes) {
        return Some(different(shapes, Answer::No(reason)));
    }
    let (mut operand_terms, mut result_terms) = ([Term::ZERO; MAX], [Term::ZERO; MAX]);
    // One map gives each element's position in the operand, the other one its position in the result.
    let maps = question.maps(&mut operand_terms, &mut result_terms);
    let mut first = [0; MAX];
    let (mut element, mut index, mut values) = ([0; MAX], [0; MAX], [0; StaticStrideTable::MAX_INTERMEDIATES]);
    let answer = match compare_in_const(maps, question.extents(&mut [0]), &mut first) {
        Ok(Comparison::Different) => Answer::No(question.moved(maps, &first, &mut element, &mut index, &mut values)),
        Ok(Comparison::Equal) => match (shapes[0].sizes_in_const(), shapes[1].sizes_in_const()) {
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
    text.push_count(MAX).push_str(" dimensions")
}

const fn pair(shapes: [&ArrayShape; 2]) -> ConstText<1024> {
    let text = ConstText::new().push_str(shapes[0].const_text::<256>().as_str()).push_str(" and ");
    text.push_str(shapes[1].const_text::<256>().as_str())
}
