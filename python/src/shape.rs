//! Shapes, and the questions about them.

use crate::answer::Answer;
use crate::error::{out_of_bounds, parse_error, shape_error};
use crate::layout::{Layout, LayoutArgument};
use crate::sharding_value::ShardingArgument;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString, PyTuple};
use std::sync::OnceLock;
use xla_shape::tpu::Generation;
use xla_shape::{ArrayShape, Dimension, ElementType, Layout as LayoutValue, Shape as Value, Slot, StrideTable};
use xla_shape_render::advise::{Advice, Change};
use xla_shape_render::bitcast::Verdict;
use xla_shape_render::draw::Drawing;
use xla_shape_render::explain::Explanation;

/// A shape: XLA's text for it, such as `bf16[8,128]{1,0:T(8,128)(2,1)}`.
#[pyclass(frozen, eq, hash, module = "xla_shape")]
pub(crate) struct Shape {
    pub(crate) value: Value,
    /// Where the elements are; made when it is first asked.
    table: OnceLock<StrideTable>,
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Shape {}

impl std::hash::Hash for Shape {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl Shape {
    pub(crate) fn of_value(value: impl Into<Value>) -> Self {
        Self { value: value.into(), table: OnceLock::new() }
    }

    pub(crate) fn array(&self) -> PyResult<&ArrayShape> {
        array(&self.value)
    }

    pub(crate) fn table(&self) -> PyResult<&StrideTable> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = self.array()?.stride_table().map_err(shape_error)?;
        Ok(self.table.get_or_init(|| table))
    }

    fn position(&self, index: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let table = self.table()?;
        let mut numbers = [0; 16];
        let count = match index.cast::<PyTuple>() {
            Ok(tuple) => whole(tuple, &mut numbers)?,
            Err(_) => match index.cast::<PyList>() {
                Ok(list) => whole(&list.to_tuple(), &mut numbers)?,
                Err(_) => None,
            },
        };
        let Some(count) = count else { return Ok(None) };
        table.checked_linear_index(&numbers[..count]).map(Some).ok_or_else(|| {
            let index = index.str().map(|text| text.to_string()).unwrap_or_default();
            out_of_bounds(format_args!("index {index} is out of bounds for {}", self.value))
        })
    }
}

/// The numbers of an index; `None` if it is none of single numbers. A negative one is out of bounds.
fn whole(index: &Bound<'_, PyTuple>, numbers: &mut [u64; 16]) -> PyResult<Option<usize>> {
    if index.len() > numbers.len() {
        return Ok(None);
    }
    for (number, entry) in numbers.iter_mut().zip(index.iter_borrowed()) {
        if !entry.is_instance_of::<PyInt>() {
            return Ok(None);
        }
        *number = entry.extract().unwrap_or(u64::MAX);
    }
    Ok(Some(index.len()))
}

pub(crate) fn array(shape: &Value) -> PyResult<&ArrayShape> {
    shape
        .array()
        .ok_or_else(|| shape_error(format_args!("expected an array, found {shape}: only arrays have elements")))
}

/// A shape, or a text of one.
pub(crate) struct ShapeArgument<'py>(pub(crate) Bound<'py, Shape>);

impl<'py> FromPyObject<'_, 'py> for ShapeArgument<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(shape) = object.cast::<Shape>() {
            return Ok(Self(shape.to_owned()));
        }
        let Ok(text) = object.extract::<String>() else {
            return Err(PyTypeError::new_err(format!("expected a Shape or a text, found {}", object.repr()?)));
        };
        let value = text.parse::<Value>().map_err(|error| parse_error(&error, &text))?;
        Ok(Self(Bound::new(object.py(), Shape::of_value(value))?))
    }
}

/// The generation of TPUs that a text names.
fn generation(text: &str) -> PyResult<Generation> {
    text.parse().map_err(shape_error)
}

#[pymethods]
impl Shape {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(text: ShapeArgument<'_>) -> Self {
        let shape = text.0.get();
        Self { value: shape.value.clone(), table: shape.table.clone() }
    }

    /// An array's shape of its parts: the element type by XLA's name or NumPy's, the sizes, the layout.
    #[staticmethod]
    #[pyo3(signature = (element_type, dimensions, layout=None))]
    fn of(element_type: &Bound<'_, PyAny>, dimensions: Vec<u64>, layout: Option<LayoutArgument>) -> PyResult<Self> {
        let name: String = match element_type.extract::<String>() {
            Ok(name) if ElementType::from_name(&name).is_some() => name,
            _ => {
                let py = element_type.py();
                py.import("xla_shape._dtypes")?.call_method1("element_type", (element_type,))?.extract()?
            }
        };
        let element_type = name.parse::<ElementType>().map_err(shape_error)?;
        let dimensions = dimensions.into_iter().map(Dimension::Static).collect::<Vec<_>>();
        let layout = layout.map_or_else(|| LayoutValue::descending(dimensions.len()), |layout| layout.0);
        ArrayShape::new(element_type, &dimensions, layout).map(Self::of_value).map_err(shape_error)
    }

    /// A tuple of shapes.
    #[staticmethod]
    fn tuple_of(elements: Vec<ShapeArgument<'_>>) -> PyResult<Self> {
        let elements = elements.iter().map(|element| element.0.get().value.clone()).collect();
        Value::tuple(elements).map(Self::of_value).map_err(shape_error)
    }

    #[getter]
    fn is_array(&self) -> bool {
        self.value.array().is_some()
    }

    #[getter]
    fn is_tuple(&self) -> bool {
        self.value.tuple_shapes().is_some()
    }

    #[getter]
    fn tuple_shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shapes = self.value.tuple_shapes();
        let shapes = shapes.ok_or_else(|| shape_error(format_args!("expected a tuple, found {}", self.value)))?;
        let shapes = shapes.iter().map(|shape| Bound::new(py, Self::of_value(shape.clone())));
        PyTuple::new(py, shapes.collect::<PyResult<Vec<_>>>()?)
    }

    #[getter]
    fn element_type(&self) -> PyResult<&'static str> {
        Ok(self.array()?.element_type().name())
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("xla_shape._dtypes")?.call_method1("dtype", (self.element_type()?,))
    }

    #[getter]
    fn dimensions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let size = |dimension: &Dimension| dimension.extent().and_then(|size| i64::try_from(size).ok()).unwrap_or(-1);
        PyTuple::new(py, self.array()?.dimensions().iter().map(size))
    }

    #[getter]
    fn dynamic_dimensions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array()?.dimensions().iter().map(|dimension| dimension.is_dynamic()))
    }

    #[getter]
    fn num_dimensions(&self) -> PyResult<usize> {
        Ok(self.array()?.num_dimensions())
    }

    #[getter]
    fn layout(&self) -> PyResult<Layout> {
        Ok(Layout(self.array()?.layout().clone()))
    }

    #[getter]
    fn elements(&self) -> PyResult<u64> {
        self.array()?.elements().ok_or_else(|| self.no_size())
    }

    #[getter]
    fn byte_size(&self) -> PyResult<u64> {
        self.value.byte_size().map_err(shape_error)
    }

    #[getter]
    fn unpadded_byte_size(&self) -> PyResult<u64> {
        self.value.unpadded_byte_size().map_err(shape_error)
    }

    #[getter]
    fn padding(&self) -> PyResult<u64> {
        self.value.padding_byte_size().map_err(shape_error)
    }

    #[getter]
    fn expansion(&self) -> PyResult<f64> {
        self.value.expansion().map_err(shape_error)
    }

    #[getter]
    fn padded_dimensions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let padded = self.array()?.padded_dimensions().ok_or_else(|| self.no_size())?;
        let entries =
            padded.iter().map(|entry| Ok((PyTuple::new(py, &entry.dimensions)?, entry.size, entry.padded_size)));
        PyTuple::new(py, entries.collect::<PyResult<Vec<_>>>()?)
    }

    #[pyo3(signature = (index, /))]
    fn linear_index<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().position(index)? {
            Some(position) => Ok(position.into_pyobject(py)?.into_any()),
            None => py.import("xla_shape._arrays")?.call_method1("linear_index", (slf, index)),
        }
    }

    #[pyo3(signature = (position, /))]
    fn multi_index<'py>(slf: &Bound<'py, Self>, position: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !position.is_instance_of::<PyInt>() {
            return py.import("xla_shape._arrays")?.call_method1("multi_index", (slf, position));
        }
        let shape = slf.get();
        let outside = || out_of_bounds(format_args!("position {position} is out of bounds for {}", shape.value));
        let position = position.extract::<u64>().map_err(|_| outside())?;
        if shape.array()?.physical_elements().is_none_or(|count| position >= count) {
            return Err(outside());
        }
        match shape.table()?.multi_index(position) {
            Slot::Element(index) => Ok(PyTuple::new(py, index)?.into_any()),
            _ => Ok(py.None().into_bound(py)),
        }
    }

    #[pyo3(signature = (layout, /))]
    fn with_layout(&self, layout: LayoutArgument) -> PyResult<Self> {
        self.array()?.clone().with_layout(layout.0).map(Self::of_value).map_err(shape_error)
    }

    #[pyo3(signature = (generation, /))]
    fn with_default_layout(&self, generation: &str) -> PyResult<Self> {
        let generation = self::generation(generation)?;
        self.value.clone().with_tpu_layout(generation).map(Self::of_value).map_err(shape_error)
    }

    #[pyo3(
        signature = (generation=None, *, what_if=Vec::new(), top=10),
        text_signature = "($self, generation=None, *, what_if=(), top=10)"
    )]
    fn advise(&self, generation: Option<&str>, what_if: Vec<String>, top: usize) -> PyResult<Answer> {
        let generation = generation.map(self::generation).transpose()?;
        let changes = what_if.iter().map(|change| change.parse::<Change>()).collect::<Result<Vec<_>, _>>();
        let advice = Advice::new(self.array()?, &changes.map_err(shape_error)?, generation, top);
        Ok(Answer::new(advice.map_err(shape_error)?).list())
    }

    #[pyo3(signature = (to, /))]
    fn bitcast(&self, to: ShapeArgument<'_>) -> PyResult<Answer> {
        let verdict = Verdict::new(self.array()?, to.0.get().array()?).map_err(shape_error)?;
        let is_no = !verdict.bitcast;
        Ok(Answer::new(verdict).no_if(is_no))
    }

    #[pyo3(signature = (sharding=None))]
    fn explain(&self, sharding: Option<ShardingArgument>) -> PyResult<Answer> {
        let mut explanation = Explanation::new(self.value.clone());
        if let Some(sharding) = sharding {
            explanation = explanation.with_sharding(sharding.0).map_err(shape_error)?;
        }
        Ok(Answer::new(explanation))
    }

    fn draw(&self) -> PyResult<Answer> {
        drawn(self.array()?)
    }

    fn _repr_svg_(&self) -> Option<String> {
        Drawing::new(self.value.array()?).ok().map(|drawing| drawing.svg())
    }

    fn _repr_html_(&self) -> Option<String> {
        Drawing::new(self.value.array()?).ok().map(|drawing| crate::answer::framed(&drawing.html()))
    }

    fn __str__(&self) -> String {
        self.value.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Shape('{}')", self.value)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String,)) {
        (py.get_type::<Self>().into_any(), (self.value.to_string(),))
    }
}

impl Shape {
    fn no_size(&self) -> PyErr {
        shape_error(format_args!("{} has no size: a dimension is unbounded", self.value))
    }
}

fn drawn(array: &ArrayShape) -> PyResult<Answer> {
    let drawing = || Drawing::new(array).map_err(shape_error);
    let (picture, page) = (drawing()?, drawing()?);
    Ok(Answer::new(drawing()?).with_svg(move || picture.svg()).with_html(move || page.html()))
}

/// The bytes that a shape takes, padding included.
#[pyfunction]
#[pyo3(signature = (shape, /))]
pub(crate) fn byte_size(shape: ShapeArgument<'_>) -> PyResult<u64> {
    shape.0.get().byte_size()
}

/// The bytes of padding.
#[pyfunction]
#[pyo3(signature = (shape, /))]
pub(crate) fn padding(shape: ShapeArgument<'_>) -> PyResult<u64> {
    shape.0.get().padding()
}

/// The position of an element in memory, in elements; of many elements, an array of positions.
#[pyfunction]
#[pyo3(signature = (shape, index, /))]
pub(crate) fn linear_index<'py>(shape: ShapeArgument<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Shape::linear_index(&shape.0, index)
}

/// The layout that a generation of TPUs gives an array: a shape, or an element type and sizes.
#[pyfunction]
#[pyo3(signature = (generation, shape, dimensions=None, /))]
pub(crate) fn default_layout(
    generation: &str,
    shape: &Bound<'_, PyAny>,
    dimensions: Option<Vec<u64>>,
) -> PyResult<Layout> {
    match dimensions {
        Some(dimensions) => Shape::of(shape, dimensions, None)?.with_default_layout(generation)?.layout(),
        None => shape.extract::<ShapeArgument<'_>>()?.0.get().with_default_layout(generation)?.layout(),
    }
}

/// Which layouts of an array take the fewest bytes on a TPU.
#[pyfunction]
#[pyo3(
    signature = (shape, generation=None, *, what_if=Vec::new(), top=10),
    text_signature = "(shape, generation=None, *, what_if=(), top=10)"
)]
pub(crate) fn advise(
    shape: ShapeArgument<'_>,
    generation: Option<&str>,
    what_if: Vec<String>,
    top: usize,
) -> PyResult<Answer> {
    shape.0.get().advise(generation, what_if, top)
}

/// Whether one array can be read as another without a copy, and why.
#[pyfunction]
#[pyo3(signature = (operand, result, /))]
pub(crate) fn bitcast(operand: ShapeArgument<'_>, result: ShapeArgument<'_>) -> PyResult<Answer> {
    operand.0.get().bitcast(result)
}

/// What a shape's text means, where its elements are, and what it takes.
#[pyfunction]
#[pyo3(signature = (shape, sharding=None))]
pub(crate) fn explain(shape: ShapeArgument<'_>, sharding: Option<ShardingArgument>) -> PyResult<Answer> {
    shape.0.get().explain(sharding)
}

/// A text as Python writes it.
pub(crate) fn quoted(py: Python<'_>, text: &str) -> PyResult<String> {
    Ok(PyString::new(py, text).repr()?.to_string())
}
