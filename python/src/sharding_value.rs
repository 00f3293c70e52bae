//! The class of shardings, and what is taken for one; [`sharding`](crate::sharding) has its methods.

use crate::error::parse_error;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use xla_shape::shard::Sharding as Value;

/// How an array is divided among devices: XLA's text for it, such as `{devices=[4,2]<=[8]}`, or MLIR's or JAX's.
///
/// Equal if they divide arrays alike, whatever their forms.
#[pyclass(frozen, eq, hash, module = "xla_shape")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Sharding(pub(crate) Value);

/// A sharding, or a text of one.
pub(crate) struct ShardingArgument(pub(crate) Value);

impl<'py> FromPyObject<'_, 'py> for ShardingArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(sharding) = object.cast::<Sharding>() {
            return Ok(Self(sharding.get().0.clone()));
        }
        let Ok(text) = object.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!("expected a Sharding or a text, found {}", object.repr()?)));
        };
        let text = text.to_str()?;
        Ok(Self(text.parse().map_err(|error| parse_error(&error, text))?))
    }
}
