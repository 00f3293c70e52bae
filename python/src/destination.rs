//! The Python argument for the destination of a copy.

use crate::error::{file_error, parse_error};
use crate::layout::Layout;
use crate::shape::Shape;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use xla_shape::ArrayShape;
use xla_shape_files::Destination;

/// A layout, a shape, or a text of either.
pub(crate) struct DestinationArgument(pub(crate) Destination);

impl<'py> FromPyObject<'_, 'py> for DestinationArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(layout) = object.cast::<Layout>() {
            return Ok(Self(layout.get().0.clone().into()));
        }
        if let Ok(shape) = object.cast::<Shape>() {
            return Ok(Self(shape.get().value.clone().into()));
        }
        let Ok(text) = object.cast::<PyString>() else {
            let found = object.repr()?;
            return Err(PyTypeError::new_err(format!("expected a Layout, a Shape or a text, found {found}")));
        };
        let text = text.to_str()?;
        Ok(Self(text.parse().map_err(|error| parse_error(&error, text))?))
    }
}

/// The shape of the result; row-major if the caller names no layout.
pub(crate) fn shape_for(to: Option<DestinationArgument>, source: &ArrayShape) -> PyResult<ArrayShape> {
    let destination = to.map_or(Destination::RowMajor, |to| to.0);
    destination.shape_for(source, None).map_err(file_error)
}
