//! Layouts.

use crate::error::{parse_error, shape_error};
use crate::guess::unknown_name;
use crate::number::{Number, numbers};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use xla_shape::{Layout as Value, Tile, TileDimension};

/// A layout, from XLA's text, such as `{1,0:T(8,128)(2,1)}`.
#[pyclass(frozen, eq, hash, module = "xla_shape")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Layout(pub(crate) Value);

/// A layout, or a text of one.
pub(crate) struct LayoutArgument(pub(crate) Value);

impl<'py> FromPyObject<'_, 'py> for LayoutArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(layout) = object.cast::<Layout>() {
            return Ok(Self(layout.get().0.clone()));
        }
        let Ok(text) = object.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!("expected a Layout or a text, found {}", object.repr()?)));
        };
        let text = text.to_str()?;
        Ok(Self(text.parse().map_err(|error| parse_error(&error, text))?))
    }
}

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(text: LayoutArgument) -> Self {
        Self(text.0)
    }

    /// The row-major layout of arrays with this number of dimensions: the last dimension varies fastest, and there are no tiles.
    #[staticmethod]
    #[pyo3(signature = (num_dimensions, /))]
    fn row_major(num_dimensions: Number<u8>) -> Self {
        Self(Value::descending(usize::from(num_dimensions.0)))
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.minor_to_major().len()
    }

    fn __getattr__(&self, name: &str) -> PyResult<()> {
        Err(unknown_name("Layout", name))
    }

    /// A layout from its parts. `None` in a tile stands for `*`.
    #[staticmethod]
    #[pyo3(
        signature = (minor_to_major, tiles=Vec::new(), *, element_size_in_bits=Number(0), memory_space=Number(0)),
        text_signature = "(minor_to_major, tiles=(), *, element_size_in_bits=0, memory_space=0)"
    )]
    fn of(
        minor_to_major: Vec<Number<usize>>,
        tiles: Vec<Vec<Option<Number<u64>>>>,
        element_size_in_bits: Number<u64>,
        memory_space: Number<u8>,
    ) -> PyResult<Self> {
        let size = |size: &Option<Number<u64>>| size.map_or(TileDimension::Combine, |size| TileDimension::from(size.0));
        let tiles = tiles.iter().map(|tile| Tile::new(&tile.iter().map(size).collect::<Vec<_>>()));
        Value::new(&numbers(minor_to_major))
            .and_then(|layout| layout.with_tiles(&tiles.collect::<Vec<_>>()))
            .and_then(|layout| layout.with_element_size_in_bits(element_size_in_bits.0))
            .and_then(|layout| layout.with_memory_space(memory_space.0))
            .map(Self)
            .map_err(shape_error)
    }

    /// The order of the dimensions in memory, fastest varying first.
    #[getter]
    fn minor_to_major<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.minor_to_major())
    }

    /// The order of the dimensions in memory, fastest varying last.
    #[getter]
    fn major_to_minor<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.minor_to_major().iter().rev())
    }

    /// The tiles; `None` is `*`.
    #[getter]
    fn tiles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let tile = |tile: &Tile| {
            let sizes = tile.dimensions().iter().map(|size| match size {
                TileDimension::Size(size) => Some(*size),
                TileDimension::Combine => None,
            });
            PyTuple::new(py, sizes.collect::<Vec<_>>())
        };
        PyTuple::new(py, self.0.tiles().iter().map(tile).collect::<PyResult<Vec<_>>>()?)
    }

    /// The bits that an element takes in memory; 0 if that is the width of its type.
    #[getter]
    fn element_size_in_bits(&self) -> u64 {
        self.0.element_size_in_bits()
    }

    /// The number of the memory space; 0 is the default one.
    #[getter]
    fn memory_space(&self) -> u8 {
        self.0.memory_space()
    }

    /// The number of elements is padded to a multiple of this.
    #[getter]
    fn tail_padding_alignment_in_elements(&self) -> u64 {
        self.0.tail_padding_alignment_in_elements()
    }

    /// The number of dimensions.
    #[getter]
    fn num_dimensions(&self) -> usize {
        self.0.num_dimensions()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Layout('{}')", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String,)) {
        (py.get_type::<Self>().into_any(), (self.0.to_string(),))
    }
}
