//! Converts many indices to positions at once, or positions to indices, in Python arrays.

use crate::error::{out_of_bounds, shape_error};
use crate::memory::{ReadableBuffer, WritableBuffer};
use crate::shape::Shape;
use pyo3::prelude::*;
use xla_shape::Slot;
use xla_shape::map::OffsetTables;
use xla_shape_answers::numbers::no_size;

/// Writes the positions of elements. Both arrays are contiguous int64: `indices` has a row for each element, `positions` a number.
#[pyfunction]
pub(crate) fn linear_indices(
    py: Python<'_>,
    shape: &Bound<'_, Shape>,
    indices: &Bound<'_, PyAny>,
    positions: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let table = shape.get().table()?;
    let (indices, mut positions) = (ReadableBuffer::of(indices)?, WritableBuffer::of(positions)?);
    let (positions, indices) = (positions.disjoint_numbers_mut(&indices)?, indices.numbers()?);
    let rank = table.extents().len();
    if indices.len() != rank.saturating_mul(positions.len()) {
        return Err(shape_error("expected an index for each position"));
    }
    // Making tables is worth it only if there are more indices than table entries.
    let entries = table.extents().iter().fold(0_u64, |sum, extent| sum.saturating_add(*extent));
    let tables = if positions.len() as u64 > entries { OffsetTables::new(table) } else { None };
    let failed = py.detach(|| {
        let mut index = vec![0_u64; rank];
        for (number, position) in positions.iter_mut().enumerate() {
            for (to, from) in index.iter_mut().zip(&indices[number * rank..]) {
                // Cast to unsigned, a negative index is larger than any dimension.
                *to = from.cast_unsigned();
            }
            let found = match &tables {
                Some(tables) => tables.position(&index),
                None => table.checked_linear_index(&index),
            };
            match found {
                Some(found) => *position = found.cast_signed(),
                None => return Some(number),
            }
        }
        None
    });
    match failed {
        None => Ok(()),
        Some(number) => {
            let index = &indices[number * rank..][..rank];
            Err(out_of_bounds(format_args!("index {index:?} is out of bounds for {}", shape.get().value)))
        }
    }
}

/// Writes the indices of the elements at positions: a row of int64 for each, filled with -1 for padding.
#[pyfunction]
pub(crate) fn multi_indices(
    py: Python<'_>,
    shape: &Bound<'_, Shape>,
    positions: &Bound<'_, PyAny>,
    indices: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let table = shape.get().table()?;
    let array = shape.get().array()?;
    let count = array.physical_elements().ok_or_else(|| shape_error(no_size(&shape.get().value)))?;
    let (positions, mut indices) = (ReadableBuffer::of(positions)?, WritableBuffer::of(indices)?);
    let (indices, positions) = (indices.disjoint_numbers_mut(&positions)?, positions.numbers()?);
    let rank = table.extents().len();
    if indices.len() != rank.saturating_mul(positions.len()) {
        return Err(shape_error("expected a row of indices for each position"));
    }
    let failed = py.detach(|| {
        let mut index = vec![0_u64; rank];
        for (number, position) in positions.iter().enumerate() {
            let position = position.cast_unsigned();
            if position >= count {
                return Some(number);
            }
            let is_element = matches!(table.multi_index_into(position, &mut index), Slot::Element(()));
            for (to, from) in indices[number * rank..].iter_mut().zip(&index) {
                *to = if is_element { from.cast_signed() } else { -1 };
            }
        }
        None
    });
    match failed {
        None => Ok(()),
        Some(number) => {
            let position = positions[number];
            Err(out_of_bounds(format_args!("position {position} is out of bounds for {}", shape.get().value)))
        }
    }
}
