//! The numbers of element types in the interface (`PJRT_Buffer_Type`), which differ from those in `xla_data.proto`.

use crate::error::{Error, Result};
use std::ffi::c_int;
use xla_shape::ElementType;

/// The number of an element type in the interface.
pub(crate) fn number(element_type: ElementType) -> Result<c_int> {
    element_type.pjrt_number().ok_or(Error::ElementType(element_type))
}

/// The element type with this number in the interface.
pub(crate) fn from_number(call: &'static str, number: c_int) -> Result<ElementType> {
    let found = ElementType::ALL.iter().copied().find(|known| known.pjrt_number() == Some(number));
    found.ok_or_else(|| Error::answer(call, format_args!("{number} is not the number of an element type")))
}
