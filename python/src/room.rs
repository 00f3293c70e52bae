//! Allocations as large as the input. If there is not enough memory, they raise `MemoryError` instead of ending the process.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::fmt::{self, Display, Write as _};

/// A `MemoryError` that names what did not fit.
pub(crate) fn no_memory(what: impl Display) -> PyErr {
    PyMemoryError::new_err(format!("there is no memory for {what}"))
}

/// Bytes as a Python object, by copying them.
pub(crate) fn bytes_of<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |room| {
        room.copy_from_slice(bytes);
        Ok(())
    })
}

/// A copy of a text, for Python.
pub(crate) struct Text<T>(pub(crate) T);

impl<'py, T: AsRef<str>> IntoPyObject<'py> for Text<T> {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        PyString::from_bytes(py, self.0.as_ref().as_bytes())
    }
}

/// A text that grows as it is written; writing fails if there is not enough memory.
#[derive(Default)]
struct Growing(String);

impl fmt::Write for Growing {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_reserve(text.len()).map_err(|_| fmt::Error)?;
        self.0.push_str(text);
        Ok(())
    }
}

/// The text of a value.
pub(crate) fn display(value: &impl Display) -> PyResult<Text<String>> {
    let mut text = Growing::default();
    // Only `Growing` can fail here, if there is not enough memory.
    write!(text, "{value}").map_err(|_| no_memory("the text"))?;
    Ok(Text(text.0))
}

/// A copy of bytes.
pub(crate) fn copied_bytes(bytes: &[u8]) -> PyResult<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| no_memory("the bytes"))?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// A copy of a text.
pub(crate) fn copied(text: &str) -> PyResult<String> {
    display(&text).map(|text| text.0)
}
