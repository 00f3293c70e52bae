//! Integers as arguments.

use crate::error::shape_error;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// An integer argument. If it does not fit into `T`, that is a `ShapeError`; PyO3 alone would raise `OverflowError`.
#[derive(Clone, Copy)]
pub(crate) struct Number<T>(pub(crate) T);

/// Integer types, with their limits for messages.
pub(crate) trait Whole: TryFrom<i128> {
    const LEAST: i128;
    const GREATEST: i128;
}

impl Whole for u8 {
    const LEAST: i128 = 0;
    const GREATEST: i128 = u8::MAX as i128;
}

impl Whole for u32 {
    const LEAST: i128 = 0;
    const GREATEST: i128 = u32::MAX as i128;
}

impl Whole for u64 {
    const LEAST: i128 = 0;
    const GREATEST: i128 = u64::MAX as i128;
}

impl Whole for usize {
    const LEAST: i128 = 0;
    const GREATEST: i128 = usize::MAX as i128;
}

impl Whole for i64 {
    const LEAST: i128 = i64::MIN as i128;
    const GREATEST: i128 = i64::MAX as i128;
}

impl<'py, T: Whole> FromPyObject<'_, 'py> for Number<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number = match object.extract::<i64>() {
            Ok(number) => Some(i128::from(number)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                object.extract::<u64>().ok().map(i128::from)
            }
            Err(error) => return Err(error),
        };
        number.and_then(|number| T::try_from(number).ok()).map(Self).ok_or_else(|| {
            let (least, greatest) = (T::LEAST, T::GREATEST);
            let found = object.str().map(|text| text.to_string()).unwrap_or_default();
            shape_error(format_args!("expected a whole number from {least} to {greatest}, found {found}"))
        })
    }
}

/// The numbers of a list.
pub(crate) fn numbers<T>(list: Vec<Number<T>>) -> Vec<T> {
    list.into_iter().map(|number| number.0).collect()
}
