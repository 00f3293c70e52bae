//! Named properties of plug-ins and compiled programs.

use crate::abi::{NamedValue, named_value};
use crate::error::{Error, Result};
use crate::raw;
use std::collections::BTreeMap;
use std::fmt;

/// The value of a property (`PJRT_NamedValue`).
///
/// ```
/// use xla_shape_pjrt::Property;
///
/// let coordinates = Property::Integers(vec![0, 1, 0]);
/// assert_eq!(coordinates.to_string(), "[0, 1, 0]");
/// let Property::Integers(coordinates) = coordinates else { unreachable!() };
/// assert_eq!(coordinates[1], 1);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Property {
    /// A text.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A list of integers.
    Integers(Vec<i64>),
    /// A number.
    Float(f32),
    /// A boolean.
    Bool(bool),
}

/// Properties, sorted by name.
///
/// ```
/// use xla_shape_pjrt::{Properties, Property};
///
/// /// The operations that a cost analysis counts.
/// fn flops(cost: &Properties) -> Option<f32> {
///     match cost.get("flops")? {
///         Property::Float(flops) => Some(*flops),
///         _ => None,
///     }
/// }
///
/// let cost = Properties::from([("flops".to_owned(), Property::Float(2048.0))]);
/// assert_eq!((flops(&cost), flops(&Properties::new())), (Some(2048.0), None));
/// ```
pub type Properties = BTreeMap<String, Property>;

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => number.fmt(f),
            Self::Integers(numbers) => write!(f, "{numbers:?}"),
            Self::Float(number) => number.fmt(f),
            Self::Bool(truth) => truth.fmt(f),
        }
    }
}

/// Copies the properties that a call has returned.
///
/// # Safety
/// If `values` is not null, it points to `len` properties, each as long as its `struct_size` says. Neither they nor the texts and
/// lists that they point to are written during the call.
pub(crate) unsafe fn properties(call: &'static str, values: *const NamedValue, len: usize) -> Result<Properties> {
    let null = || Error::answer(call, "a list or a text in the result is null");
    // SAFETY: if `values` is not null, it points to at least one property unless `len` is 0 (caller).
    let first = unsafe { raw::list(values, len.min(1)) }.ok_or_else(null)?;
    let Some(first) = first.first() else { return Ok(Properties::new()) };
    // The properties of a newer plug-in may be longer than ours, so the distance between two is computed from their size.
    let step = first.struct_size.checked_next_multiple_of(align_of::<NamedValue>());
    let fits = |step: &usize| step.checked_mul(len).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    let Some(step) = step.filter(fits).filter(|_| first.struct_size >= NamedValue::SIZE) else {
        return Err(Error::answer(call, format_args!("its properties have {} bytes each", first.struct_size)));
    };
    let mut properties = Properties::new();
    for number in 0..len {
        // SAFETY: `values` is an array of `len` structs of `step` bytes each (caller): `number` is less than `len`, and
        // `len * step` was checked not to overflow.
        let value = unsafe { values.byte_add(number * step) };
        // SAFETY: it points to a property of at least `NamedValue::SIZE` bytes, aligned as the first one since `step` is a multiple
        // of the alignment; nobody writes it (caller).
        let value = unsafe { &*value };
        // SAFETY: `name` points to `name_size` bytes that nobody writes (caller).
        let name = unsafe { raw::text(value.name, value.name_size) }.ok_or_else(null)?;
        // SAFETY: nobody writes the text or list that the property points to (caller).
        if let Some(property) = unsafe { property(value) }.ok_or_else(null)? {
            properties.insert(name, property);
        }
    }
    Ok(properties)
}

/// The value of a property. The outer `None` means that a pointer is null, the inner one that the kind of value is unknown.
///
/// # Safety
/// The text or list that the property points to has `value_size` entries and is not written during the call.
unsafe fn property(value: &NamedValue) -> Option<Option<Property>> {
    let (content, len) = (value.value, value.value_size);
    let property = match value.r#type {
        named_value::STRING => {
            // SAFETY: for this `type`, the union holds `string_value`.
            let text = unsafe { content.string_value };
            // SAFETY: it points to `value_size` bytes that nobody writes (caller).
            Property::Text(unsafe { raw::text(text, len) }?)
        }
        // SAFETY: for this `type`, the union holds `int64_value`.
        named_value::INT64 => Property::Integer(unsafe { content.int64_value }),
        named_value::INT64_LIST => {
            // SAFETY: for this `type`, the union holds `int64_array_value`.
            let list = unsafe { content.int64_array_value };
            // SAFETY: it points to `value_size` numbers that nobody writes (caller).
            Property::Integers(unsafe { raw::list_copy(list, len) }?)
        }
        // SAFETY: for this `type`, the union holds `float_value`.
        named_value::FLOAT => Property::Float(unsafe { content.float_value }),
        // SAFETY: for this `type`, the union holds `bool_value`. It is read as an integer, for which all bytes are valid: XLA sets
        // only the first byte, which is then compared with 0.
        named_value::BOOL => Property::Bool(unsafe { content.int64_value }.to_ne_bytes()[0] != 0),
        _ => return Some(None),
    };
    Some(Some(property))
}
