//! The numbers of element types in the interface (`PJRT_Buffer_Type`), which differ from those in `xla_data.proto`.

use crate::error::{Error, Result};
use std::ffi::c_int;
use xla_shape::ElementType;

/// The names in `PJRT_Buffer_Type`, in the order of their numbers; the first has number 0.
pub(crate) const NAMES: &[&str] = &[
    "INVALID",
    "PRED",
    "S8",
    "S16",
    "S32",
    "S64",
    "U8",
    "U16",
    "U32",
    "U64",
    "F16",
    "F32",
    "F64",
    "BF16",
    "C64",
    "C128",
    "F8E5M2",
    "F8E4M3FN",
    "F8E4M3B11FNUZ",
    "F8E5M2FNUZ",
    "F8E4M3FNUZ",
    "S4",
    "U4",
    "TOKEN",
    "S2",
    "U2",
    "F8E4M3",
    "F8E3M4",
    "F8E8M0FNU",
    "F4E2M1FN",
    "S1",
    "U1",
    "F6E2M3FN",
    "F6E3M2FN",
];

xla_shape::assert_every_element_type!(element_type => element_type.is_named_in(NAMES));

/// The number of an element type in the interface.
pub(crate) fn number(element_type: ElementType) -> Result<c_int> {
    let place = NAMES.iter().position(|name| *name == element_type.enum_name());
    place.and_then(|place| c_int::try_from(place).ok()).ok_or(Error::ElementType(element_type))
}

/// The element type with this number in the interface.
pub(crate) fn from_number(call: &'static str, number: c_int) -> Result<ElementType> {
    let name = usize::try_from(number).ok().and_then(|place| NAMES.get(place));
    let found = name.and_then(|name| ElementType::ALL.iter().find(|known| known.enum_name() == *name));
    found.copied().ok_or_else(|| Error::answer(call, format_args!("{number} is not the number of an element type")))
}
