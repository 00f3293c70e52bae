//! torch's tensors: sizes, strides and an offset in elements; `memory_format` for the orders that have a name.
//!
//! The text is the call that makes such a tensor: `torch.empty` if the strides are those of a memory format, `torch.as_strided` if there is a
//! storage offset, otherwise `torch.empty_strided`. There are no negative strides.

use super::numpy::{sizes, tuple};
use super::python::{Argument, Call, Value, call};
use super::spelling::element_type;
use super::strided::{check_buffer, dense, is_dense, strides, type_name};
use crate::layout::AnyLayout;
use crate::modes::Modes;
use crate::modes::tiles::no_negative;
use crate::reader::{Result, error_at, unknown_type};
use crate::{Notation, Obstacle};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The memory formats: the name of each, and its order of dimensions from major to minor. It applies to tensors with that many dimensions.
const MEMORY_FORMATS: &[(&str, &[usize])] = &[("channels_last", &[0, 2, 3, 1]), ("channels_last_3d", &[0, 2, 3, 4, 1])];

/// The arguments that are accepted. Some of them do not influence the layout.
const KEYS: &[&str] =
    &["input", "size", "stride", "storage_offset", "dtype", "memory_format", "device", "requires_grad", "pin_memory"];

/// The sizes of a call such as `torch.zeros(2, 3)`.
fn each_size(text: &str, call: &Call<'_>) -> Result<Vec<u64>> {
    let unnamed = call.arguments.iter().filter(|argument| argument.key.is_empty());
    let size = |argument: &Argument<'_>| match argument.value {
        Value::Number(number) => u64::try_from(number).ok(),
        _ => None,
    };
    unnamed.map(|argument| size(argument).ok_or_else(|| error_at(text, argument.at, "sizes of at least 0"))).collect()
}

/// The text of a layout.
pub(crate) fn to_text(layout: &AnyLayout) -> core::result::Result<String, Obstacle> {
    let notation = Notation::Torch;
    let map = layout.modes_in(notation)?;
    let strides = strides(map)?;
    no_negative(map, notation)?;
    let name = type_name(layout, notation)?;
    check_buffer(layout, map, notation)?;
    let size = tuple(map.extents());
    if map.offset() != 0 {
        let offset = map.offset();
        return Ok(format!("torch.as_strided(x, {size}, {}, {offset})", tuple(&strides)));
    }
    if is_dense(map, 0..map.extents().len()) {
        return Ok(format!("torch.empty({size}, dtype=torch.{name})"));
    }
    for &(format, order) in MEMORY_FORMATS {
        if order.len() == map.extents().len() && is_dense(map, order.iter().copied()) {
            return Ok(format!("torch.empty({size}, dtype=torch.{name}, memory_format=torch.{format})"));
        }
    }
    Ok(format!("torch.empty_strided({size}, {}, dtype=torch.{name})", tuple(&strides)))
}

/// Reads the layout that a text describes.
pub(crate) fn from_text(text: &str) -> Result<AnyLayout> {
    let call = call(text)?;
    let (place, has_strides) = match call.function() {
        // NumPy counts strides in bytes.
        _ if matches!(call.module(), "np" | "numpy") => return Err(error_at(text, 0, "a call of torch")),
        "as_strided" => (1, true),
        "empty_strided" => (0, true),
        "" | "empty" | "zeros" | "ones" | "rand" | "randn" => (0, false),
        _ => {
            return Err(error_at(
                text,
                0,
                "`torch.empty(…)`, `torch.empty_strided(…)`, `torch.as_strided(…)`, or their arguments",
            ));
        }
    };
    let by_numbers =
        !has_strides && matches!(call.argument("size", Some(0)), Some(Argument { value: Value::Number(_), .. }));
    let places = match (place, has_strides) {
        _ if by_numbers => usize::MAX,
        (1, _) => 4,
        (_, true) => 2,
        _ => 1,
    };
    call.check_arguments(text, KEYS, places, "each argument once: sizes, `dtype`, and `memory_format` or strides")?;
    let extents = if by_numbers { each_size(text, &call)? } else { sizes(text, &call, "size", Some(place))? };
    let found = match call.argument("dtype", None) {
        Some(dtype) => {
            let Value::Name(name) = dtype.value else {
                return Err(error_at(text, dtype.at, "the type of the elements"));
            };
            Some(element_type(name, Notation::Torch).ok_or_else(|| unknown_type(name, dtype.at))?)
        }
        None => None,
    };
    let stride_place = Some(place + 1).filter(|_| has_strides);
    let strides = match call.argument("stride", stride_place) {
        Some(argument) => {
            let Value::Numbers(numbers) = &argument.value else {
                return Err(error_at(text, argument.at, "a list of strides"));
            };
            if numbers.len() != extents.len() {
                return Err(error_at(text, argument.at, "as many strides as sizes"));
            }
            if numbers.iter().any(|&stride| stride < 0) {
                return Err(error_at(text, argument.at, "strides of at least 0: torch has no negative ones"));
            }
            numbers.clone()
        }
        None if has_strides => return Err(error_at(text, text.len(), "the strides")),
        None => {
            let order: Vec<usize> = match call.argument("memory_format", None) {
                None => (0..extents.len()).collect(),
                Some(argument) => {
                    let Value::Name(name) = argument.value else {
                        return Err(error_at(text, argument.at, "a memory format"));
                    };
                    let name = name.rsplit('.').next().unwrap_or("");
                    let known = MEMORY_FORMATS.iter().find(|(known, _)| *known == name);
                    match known {
                        Some((_, order)) if order.len() == extents.len() => order.to_vec(),
                        None if name == "contiguous_format" => (0..extents.len()).collect(),
                        _ => return Err(error_at(text, argument.at, "a memory format for as many dimensions")),
                    }
                }
            };
            let strides = dense(&extents, order.into_iter());
            strides.ok_or_else(|| error_at(text, 0, "sizes whose product fits in an i64"))?
        }
    };
    let offset_place = Some(place + 2).filter(|_| place == 1);
    let offset = match call.argument("storage_offset", offset_place) {
        Some(argument) => match argument.value {
            Value::Number(number) if number >= 0 => number,
            _ => return Err(error_at(text, argument.at, "an offset of at least 0, in elements")),
        },
        None => 0,
    };
    let modes = Modes::strided(&extents, &strides, offset);
    let modes = modes.map_err(|obstacle| crate::reader::obstacle_of_all(obstacle, text))?;
    Ok(AnyLayout::of_modes(modes, found))
}
