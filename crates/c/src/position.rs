//! From the index of an element to its position in memory, and back.

use crate::border::error::{Result, XlaShapeError, XlaShapeErrorCode as Code, failure};
use crate::border::{call, handle, list, list_mut, result, signed, unsigned, unsigned_mut};
use crate::shape::XlaShape;
use xla_shape_core::Slot;

/// What a position of an array's memory holds.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XlaShapeSlot {
    /// Padding of the layout: no element.
    Padding = 0,
    /// An element.
    Element = 1,
}

#[cold]
fn no_element(index: &[i64], shape: &XlaShape) -> Box<XlaShapeError> {
    let Ok(array) = shape.array() else { return failure(Code::WrongKind, "expected an array") };
    if index.len() != array.num_dimensions() {
        let (expected, found) = (array.num_dimensions(), index.len());
        return failure(
            Code::BufferSize,
            format_args!("expected an index of {expected} entries, one for each dimension of {array}, found {found}"),
        );
    }
    failure(Code::OutOfBounds, format_args!("index {index:?} is out of bounds for {array}"))
}

/// The position of an element in memory, in elements from the start of the array: the number of elements and padding slots before it.
///
/// `index` has `num_dimensions` entries, one for each dimension of the array; NULL is allowed for a scalar. Writes the position to
/// `*position`. If elements take whole bytes and the layout has no `M(n)` prefix, the element begins at byte `position * bits / 8`; otherwise
/// see xla_shape_byte_offset. The first call for a shape computes a table, which takes longer than the others.
///
/// Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if an entry is negative or not below the size (or bound) of its dimension,
/// XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if the index does not have one entry for each dimension, XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension
/// is unbounded, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the array is split over several memories (`SC`), XLA_SHAPE_ERROR_CODE_WRONG_KIND if the
/// shape is not an array, and as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `index` has `num_dimensions` entries; `position` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_linear_index(
    shape: *const XlaShape,
    index: *const i64,
    num_dimensions: usize,
    position: *mut i64,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        // SAFETY: the caller promises *lists*.
        let index = unsafe { list(index, num_dimensions, "index") }?;
        let found = shape.placement()?.table().checked_linear_index(unsigned(index));
        let found = found.ok_or_else(|| no_element(index, shape))?;
        // SAFETY: the caller promises *results*.
        unsafe { result(position, "position") }?.write(signed(found));
        Ok(())
    })
}

/// What a position holds: the inverse of xla_shape_linear_index.
///
/// `position` is a number of elements, from 0 to `positions` - 1 of xla_shape_sizes. Writes to `*slot` whether an element or padding is there.
/// If it is an element, its index is written to `index`, which has `num_dimensions` entries, one for each dimension (NULL is allowed for a
/// scalar); for padding, the content of `index` is unspecified.
///
/// Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the array has no such position, XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if `index` does not have
/// one entry for each dimension, XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the
/// array is split over several memories (`SC`), XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array, and as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `index` has `num_dimensions` entries, and `slot` is NULL or valid; they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_multi_index(
    shape: *const XlaShape,
    position: i64,
    index: *mut i64,
    num_dimensions: usize,
    slot: *mut XlaShapeSlot,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        // SAFETY: the caller promises *results*.
        let index = unsafe { list_mut(index, num_dimensions, "index") }?;
        // SAFETY: the caller promises *results*.
        let slot = unsafe { result(slot, "slot") }?;
        let placement = shape.placement()?;
        if index.len() != placement.table().extents().len() {
            return Err(no_element(index, shape));
        }
        let found = u64::try_from(position)
            .map_or(Slot::OutOfRange, |position| placement.slot_into(position, unsigned_mut(index)));
        slot.write(match found {
            Slot::Element(()) => XlaShapeSlot::Element,
            Slot::Padding => XlaShapeSlot::Padding,
            Slot::OutOfRange => return Err(no_position(position, shape)),
        });
        Ok(())
    })
}

#[cold]
fn no_position(position: i64, shape: &XlaShape) -> Box<XlaShapeError> {
    match shape.array() {
        Ok(array) => failure(Code::OutOfBounds, format_args!("position {position} is out of bounds for {array}")),
        Err(error) => error,
    }
}

/// Where a position begins in the buffer: its byte, and the bit within that byte, counted from the least significant one. The bit is 0 if
/// elements take whole bytes. The byte includes the prefix for bounded dimensions (`M(n)`), if the layout has one.
///
/// `position` counts as in xla_shape_linear_index. It may also be `positions` of xla_shape_sizes, the end of the array. Writes to `*byte` and
/// `*bit`; `bit` may be NULL. Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if `position` is negative or greater than `positions`,
/// XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the array is split over several
/// memories (`SC`), XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array, and as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `byte` and `bit` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_byte_offset(
    shape: *const XlaShape,
    position: i64,
    byte: *mut i64,
    bit: *mut i64,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        // SAFETY: the caller promises *results*.
        let byte = unsafe { result(byte, "byte") }?;
        // SAFETY: the caller promises *results*.
        let bit = unsafe { crate::border::optional(bit, "bit") }?;
        let (at_byte, at_bit) = offset(shape, position)?;
        byte.write(at_byte);
        if let Some(bit) = bit {
            bit.write(at_bit);
        }
        Ok(())
    })
}

fn offset(shape: &XlaShape, position: i64) -> Result<(i64, i64)> {
    let placement = shape.placement()?;
    let inside = u64::try_from(position).ok().filter(|&position| position <= placement.padded_positions());
    let (byte, bit) = placement.bit_offset(inside.ok_or_else(|| no_position(position, shape))?);
    Ok((signed(byte), signed(bit)))
}
