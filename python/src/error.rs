//! Errors: subclasses of `ValueError`, written in Python, which know the text and the place in it.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::fmt::Display;
use xla_shape::ParseError;
use xla_shape_cli::Failure;

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

/// An `OutOfBoundsError`, which is an `IndexError` too.
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
    let arguments = (error.to_string(), text.to_owned(), span, error.render(text).to_string());
    Python::attach(|py| match class(py, &CLASS, "ParseError") {
        Ok(class) => PyErr::from_type(class, arguments),
        Err(error) => error,
    })
}

/// What files did not do: an `OSError` where the system says no, else a `ShapeError`.
pub(crate) fn file_error(failure: Failure) -> PyErr {
    match failure.io() {
        Some((name, error)) => match error.raw_os_error() {
            Some(number) => {
                let message = error.to_string();
                let message = message.split(" (os error").next().unwrap_or_default().to_owned();
                PyOSError::new_err((number, message, name.to_owned()))
            }
            None => PyOSError::new_err(failure.message()),
        },
        None => shape_error(failure.message()),
    }
}
