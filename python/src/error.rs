//! The errors that the wheel raises: classes in `xla_shape/_errors.py`, all subclasses of `ValueError`.

use crate::room::{Text, display, no_memory};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::ErrorKind;
use xla_shape::ParseError;
use xla_shape_files::{Error, Missing};

/// The class of this name in `xla_shape._errors`.
fn class<'py>(py: Python<'py>, known: &'static PyOnceLock<Py<PyType>>, name: &str) -> PyResult<Bound<'py, PyType>> {
    known.import(py, "xla_shape._errors", name).cloned()
}

/// A `ShapeError` with this message.
pub(crate) fn shape_error(message: impl Display) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Python::attach(|py| match class(py, &CLASS, "ShapeError") {
        Ok(class) => PyErr::from_type(class, (message.to_string(),)),
        Err(error) => error,
    })
}

/// An `OutOfBoundsError`, which is also an `IndexError`.
pub(crate) fn out_of_bounds(message: impl Display) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Python::attach(|py| match class(py, &CLASS, "OutOfBoundsError") {
        Ok(class) => PyErr::from_type(class, (message.to_string(),)),
        Err(error) => error,
    })
}

/// A `ParseError` that points into the text. Python counts characters, not bytes.
pub(crate) fn parse_error(error: &ParseError, text: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let characters = |end: usize| text.get(..end).map_or(end, |before| before.chars().count());
    let span = (characters(error.span().start), characters(error.span().end));
    Python::attach(|py| {
        let made = || {
            let arguments = (display(error)?, Text(text), span, display(&error.render(text))?);
            class(py, &CLASS, "ParseError")?.call1(arguments).map(PyErr::from_value)
        };
        made().unwrap_or_else(|error| error)
    })
}

/// The Python error for a failure with files: `OSError` for an error of the system, `MemoryError` if memory is short, else `ShapeError`.
pub(crate) fn file_error(error: Error) -> PyErr {
    if let Error::OutOfMemory { array } = &error {
        return no_memory(format_args!("{array}, which takes {} bytes", array.byte_size().unwrap_or_default()));
    }
    let Some((path, reason)) = error.io() else {
        return match error.missing().and_then(keyword) {
            Some(keyword) => shape_error(format_args!("{error} with `{keyword}`")),
            None => shape_error(error),
        };
    };
    if reason.kind() == ErrorKind::OutOfMemory {
        return no_memory(format_args!("what is in {}", path.display()));
    }
    match reason.raw_os_error() {
        Some(number) => {
            let message = reason.to_string();
            let message = message.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, message, OsString::from(path)))
        }
        None => PyOSError::new_err(error.to_string()),
    }
}

/// The Python keyword of the argument that is missing.
const fn keyword(missing: Missing) -> Option<&'static str> {
    match missing {
        Missing::Shape => Some("from_"),
        Missing::Tensor => Some("tensor"),
        Missing::Destination => Some("to"),
        _ => None,
    }
}
