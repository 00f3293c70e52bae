//! Functions that the notations with one stride for each dimension share.

use crate::layout::AnyLayout;
use crate::modes::Modes;
use crate::{Notation, Obstacle};
use alloc::vec;
use alloc::vec::Vec;

/// The strides of a layout, in elements. A dimension with one element or none gets the stride that a row-major array would have.
pub(crate) fn strides(map: &Modes) -> Result<Vec<i64>, Obstacle> {
    let mut strides = map.strides()?;
    let mut natural = 1_i64;
    for ((dimension, stride), &extent) in strides.iter_mut().enumerate().zip(map.extents()).rev() {
        if map.modes_of(dimension).next().is_none() {
            *stride = natural;
        }
        let size = i64::try_from(extent.max(1)).map_err(|_| Obstacle::TooLarge)?;
        natural = stride.saturating_mul(size).saturating_abs();
    }
    Ok(strides)
}

/// The strides of an array without padding: its sizes, and the order of its dimensions from major to minor; `None` if a stride does not fit.
pub(crate) fn dense(extents: &[u64], order: impl DoubleEndedIterator<Item = usize>) -> Option<Vec<i64>> {
    let mut strides = vec![0; extents.len()];
    let mut stride = 1_i64;
    for dimension in order.rev() {
        *strides.get_mut(dimension)? = stride;
        stride = stride.checked_mul(i64::try_from((*extents.get(dimension)?).max(1)).ok()?)?;
    }
    Some(strides)
}

/// Whether the map is dense, with this order of dimensions, major to minor.
pub(crate) fn is_dense(map: &Modes, order: impl DoubleEndedIterator<Item = usize>) -> bool {
    let dense = dense(map.extents(), order).and_then(|strides| Modes::strided(map.extents(), &strides, 0).ok());
    dense.as_ref() == Some(map)
}

/// Checks that elements take their usual number of bits, and that no position is before the buffer.
pub(crate) fn check_buffer(layout: &AnyLayout, map: &Modes, notation: Notation) -> Result<(), Obstacle> {
    let usual = layout.element_type.unwrap_or(crate::reader::ANY_TYPE).storage_bits();
    if layout.element_bits != usual {
        let index = vec![0; map.extents().len()];
        return Err(Obstacle::Bits { notation, bits: layout.element_bits, usual, index });
    }
    match map.positions() {
        Some((position, _)) if position < 0 => Err(Obstacle::Below { notation, position }),
        _ => Ok(()),
    }
}

/// The name of the element type; an error if the notation does not have the type.
pub(crate) fn type_name(layout: &AnyLayout, notation: Notation) -> Result<alloc::string::String, Obstacle> {
    let element_type = layout.element_type.unwrap_or(crate::reader::ANY_TYPE);
    super::spelling::spelled(element_type, notation).ok_or(Obstacle::ElementType { notation, element_type })
}
