//! Properties with names: of plug-ins, devices, and compiled programs.

use crate::abi::{NamedValue, named_value};
use crate::error::{Error, Result};
use crate::raw;
use std::collections::BTreeMap;
use std::fmt;

/// The value of a property.
#[derive(Clone, PartialEq, Debug)]
pub enum Property {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A list of whole numbers.
    Integers(Vec<i64>),
    /// A number.
    Float(f32),
    /// A truth value.
    Bool(bool),
}

/// Properties by their names.
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

/// Copies the properties that a plug-in answered with.
///
/// # Safety
/// If `values` is not null, it points to `len` properties that nobody changes during the call, and so do the texts and lists in
/// them.
pub(crate) unsafe fn properties(call: &'static str, values: *const NamedValue, len: usize) -> Result<Properties> {
    let null = || Error::answer(call, "a list or a text in it is null");
    // SAFETY: the caller's promise.
    let first = unsafe { raw::list(values, len.min(1)) }.ok_or_else(null)?;
    let Some(first) = first.first() else { return Ok(Properties::new()) };
    // A newer plug-in's properties may be longer, but no list is longer than memory.
    let step = first.struct_size.checked_next_multiple_of(align_of::<NamedValue>());
    let fits = |step: &usize| step.checked_mul(len).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    let Some(step) = step.filter(fits).filter(|_| first.struct_size >= NamedValue::SIZE) else {
        return Err(Error::answer(call, format_args!("its properties have {} bytes each", first.struct_size)));
    };
    let mut properties = Properties::new();
    for number in 0..len {
        // SAFETY: the properties lie one after the other, each as long as the first says.
        let value = unsafe { values.byte_add(number * step) };
        // SAFETY: as above.
        let value = unsafe { &*value };
        // SAFETY: the caller's promise.
        let name = unsafe { raw::text(value.name, value.name_size) }.ok_or_else(null)?;
        // SAFETY: the caller's promise.
        if let Some(property) = unsafe { property(value) }.ok_or_else(null)? {
            properties.insert(name, property);
        }
    }
    Ok(properties)
}

/// The outer `None` if a pointer is null, the inner one if the kind of the value is unknown.
///
/// # Safety
/// Like [`properties`].
unsafe fn property(value: &NamedValue) -> Option<Option<Property>> {
    let (content, len) = (value.value, value.value_size);
    let property = match value.r#type {
        named_value::STRING => {
            // SAFETY: the type says which field it is.
            let text = unsafe { content.string_value };
            // SAFETY: the caller's promise.
            Property::Text(unsafe { raw::text(text, len) }?)
        }
        // SAFETY: the type says which field it is.
        named_value::INT64 => Property::Integer(unsafe { content.int64_value }),
        named_value::INT64_LIST => {
            // SAFETY: the type says which field it is.
            let list = unsafe { content.int64_array_value };
            // SAFETY: the caller's promise.
            Property::Integers(unsafe { raw::list(list, len) }?.to_vec())
        }
        // SAFETY: the type says which field it is.
        named_value::FLOAT => Property::Float(unsafe { content.float_value }),
        // SAFETY: the type says which field it is; its lowest byte is read as a number, so that any value is one.
        named_value::BOOL => Property::Bool(unsafe { content.int64_value }.to_ne_bytes()[0] != 0),
        _ => return Some(None),
    };
    Some(Some(property))
}
