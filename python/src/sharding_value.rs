//! The class of shardings, and the argument type that also accepts their texts; [`sharding`](crate::sharding) has the methods.

use crate::error::parse_error;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use xla_shape::shard::Sharding as Value;

/// The division of an array among devices, from XLA's text, such as `{devices=[4,2]<=[8]}`, or MLIR's or JAX's.
///
/// Two shardings are equal if they divide arrays in the same way, even if written differently.
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
