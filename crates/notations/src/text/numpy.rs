//! NumPy's arrays: sizes, and strides and an offset in bytes.
//!
//! The text is the call that makes such an array over a buffer, `np.ndarray(shape=(2, 3), dtype=np.float32, strides=(12, 4))`, with `offset` if the
//! first element is not the first in the buffer. This call, `as_strided`, or the arguments alone can be read. Without `strides`, the order is C's,
//! or Fortran's with `order='F'`.

use super::python::{Call, Value, call};
use super::spelling::element_type;
use super::strided::{check_buffer, dense, strides, type_name};
use crate::layout::AnyLayout;
use crate::modes::Modes;
use crate::reader::{Result, error_at, unknown_type};
use crate::{Notation, Obstacle};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Numbers as a Python tuple.
pub(crate) fn tuple<T: ToString>(numbers: &[T]) -> String {
    match numbers {
        [one] => format!("({},)", one.to_string()),
        _ => format!("({})", numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The text of a layout.
pub(crate) fn to_text(layout: &AnyLayout) -> core::result::Result<String, Obstacle> {
    let notation = Notation::Numpy;
    let map = layout.modes_in(notation)?;
    let strides = strides(map)?;
    let name = type_name(layout, notation)?;
    check_buffer(layout, map, notation)?;
    let bytes = i64::try_from(layout.element_bits.div_ceil(8)).map_err(|_| Obstacle::TooLarge)?;
    let in_bytes = |elements: i64| elements.checked_mul(bytes).ok_or(Obstacle::TooLarge);
    let strides = strides.into_iter().map(in_bytes).collect::<core::result::Result<Vec<_>, _>>()?;
    let offset = in_bytes(map.offset())?;
    let offset = if offset == 0 { String::new() } else { format!(", offset={offset}") };
    Ok(format!("np.ndarray(shape={}, dtype={name}{offset}, strides={})", tuple(map.extents()), tuple(&strides)))
}

/// The sizes in an argument.
pub(crate) fn sizes(text: &str, call: &Call<'_>, key: &'static str, place: Option<usize>) -> Result<Vec<u64>> {
    let Some(argument) = call.argument(key, place) else {
        return Err(error_at(text, text.len(), "the sizes of the dimensions"));
    };
    let numbers = match &argument.value {
        Value::Numbers(numbers) => numbers.clone(),
        Value::Number(number) => [*number].to_vec(),
        Value::Name(_) => return Err(error_at(text, argument.at, "a list of sizes")),
    };
    let size = |number: i64| u64::try_from(number).map_err(|_| error_at(text, argument.at, "sizes of at least 0"));
    numbers.into_iter().map(size).collect()
}

/// Reads the layout that a text describes.
pub(crate) fn from_text(text: &str) -> Result<AnyLayout> {
    let notation = Notation::Numpy;
    let call = call(text)?;
    // The first argument of `as_strided` is an array.
    let place = match call.function() {
        // torch counts strides in elements.
        _ if call.module() == "torch" => return Err(error_at(text, 0, "a call of NumPy")),
        "as_strided" => 1,
        "" | "ndarray" | "empty" | "zeros" | "ones" => 0,
        _ => return Err(error_at(text, 0, "`np.ndarray(…)`, `as_strided(…)`, or their arguments")),
    };
    call.check_arguments(
        text,
        &["x", "shape", "dtype", "buffer", "offset", "strides", "order", "subok", "writeable"],
        if place == 1 { 3 } else { 1 },
        "each argument once: `shape`, `dtype`, `strides`, `offset` or `order`, the last four with their names",
    )?;
    let extents = sizes(text, &call, "shape", Some(place))?;
    let Some(dtype) = call.argument("dtype", None) else {
        return Err(error_at(text, text.len(), "`dtype=` and the type of the elements: strides are in bytes"));
    };
    let Value::Name(name) = dtype.value else { return Err(error_at(text, dtype.at, "the type of the elements")) };
    let Some(found) = element_type(name, notation) else { return Err(unknown_type(name, dtype.at)) };
    let bytes = i64::try_from(found.storage_bytes()).unwrap_or(1);
    let in_elements = |number: i64, at: usize| match (number.checked_div(bytes), number.checked_rem(bytes)) {
        (Some(elements), Some(0)) => Ok(elements),
        _ => Err(error_at(text, at, "bytes that are whole elements")),
    };
    let strides = match call.argument("strides", Some(place + 1).filter(|_| place == 1)) {
        Some(argument) => {
            let Value::Numbers(numbers) = &argument.value else {
                return Err(error_at(text, argument.at, "a list of strides, in bytes"));
            };
            if numbers.len() != extents.len() {
                return Err(error_at(text, argument.at, "as many strides as sizes"));
            }
            numbers.iter().map(|&number| in_elements(number, argument.at)).collect::<Result<Vec<_>>>()?
        }
        None => {
            let dimensions = 0..extents.len();
            let strides = match call.argument("order", None).map(|order| (&order.value, order.at)) {
                None | Some((Value::Name("C"), _)) => dense(&extents, dimensions),
                Some((Value::Name("F"), _)) => dense(&extents, dimensions.rev()),
                Some((_, at)) => return Err(error_at(text, at, "the order `'C'` or `'F'`")),
            };
            strides.ok_or_else(|| error_at(text, 0, "sizes whose product fits in an i64"))?
        }
    };
    let offset = match call.argument("offset", None) {
        Some(argument) => match argument.value {
            Value::Number(number) => in_elements(number, argument.at)?,
            _ => return Err(error_at(text, argument.at, "a number of bytes")),
        },
        None => 0,
    };
    let modes = Modes::strided(&extents, &strides, offset);
    let modes = modes.map_err(|obstacle| crate::reader::obstacle_of_all(obstacle, text))?;
    Ok(AnyLayout::of_modes(modes, Some(found)))
}
