//! The class of shapes, and the functions that answer questions about them.

use crate::answer::Answer;
use crate::error::{out_of_bounds, parse_error, shape_error};
use crate::guess::unknown_name;
use crate::layout::{Layout, LayoutArgument};
use crate::number::Number;
use crate::room::Text;
use crate::sharding_value::ShardingArgument;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyIterator, PyList, PyString, PyTuple};
use std::sync::OnceLock;
use xla_shape::map::StrideTableRef;
use xla_shape::shard::Rearrangement;
use xla_shape::tpu::Generation;
use xla_shape::{ArrayShape, Dimension, ElementType, Layout as LayoutValue, Shape as Value, Slot, StrideTable};
use xla_shape_answers::advise::{Advice, Change, GpuAdvice};
use xla_shape_answers::compare::Comparison;
use xla_shape_answers::draw::Drawing;
use xla_shape_answers::explain::OnDevices;
use xla_shape_answers::hlo::Device;
use xla_shape_answers::numbers::{no_array, no_size};
use xla_shape_answers::{Given, GivenArray};
use xla_shape_render::{Html as _, Svg as _};

/// A shape, from XLA's text, such as `bf16[8,128]{1,0:T(8,128)(2,1)}`. Without a layout in the text, it is row-major.
///
/// Texts of other libraries, such as `bfloat16[8,128]` and `tensor<8x128xbf16>`, are read, too. An array, or JAX's `ShapeDtypeStruct`, stands for its
/// shape.
///
/// Two shapes are equal if all their parts are. Properties that only arrays have raise a `ShapeError` for tuples and tokens.
#[pyclass(frozen, eq, hash, module = "xla_shape")]
pub(crate) struct Shape {
    pub(crate) value: Value,
    /// For each leaf, whether the text of the shape gave it a layout; a compiler chooses the layouts of the others. `None` if there was no layout in
    /// a text.
    written: Option<Vec<bool>>,
    /// The stride table, computed at first use.
    table: OnceLock<StrideTable>,
    /// The layout as a Python value, made at first use.
    layout: PyOnceLock<Py<Layout>>,
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
        Self { value: value.into(), written: None, table: OnceLock::new(), layout: PyOnceLock::new() }
    }

    /// The shape of a text, as XLA, JAX, NumPy or MLIR spell it.
    fn parsed(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(text) = text.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!("expected a Shape, a text or an array, found {}", text.repr()?)));
        };
        let text = text.to_str()?;
        let failed = |error| parse_error(&error, text);
        // Without a brace, the text gives no leaf a layout. With a brace, it may give one a layout, even if that is the default layout.
        if !text.contains('{') {
            let spelled = |error| Given::spelled_elsewhere(text).ok_or_else(|| failed(error));
            return text.parse::<Value>().or_else(spelled).map(Self::of_value);
        }
        let (value, written) = text.parse::<Given>().map_err(failed)?.into_parts();
        Ok(Self { written: Some(written), ..Self::of_value(value) })
    }

    /// The shape as it was given. Without a text, an array that is row-major and has no attributes counts as one without a layout.
    fn given(&self) -> Given {
        match &self.written {
            Some(written) => Given::from_parts(self.value.clone(), written.clone()),
            None => self.value.clone().into(),
        }
    }

    fn given_array(&self) -> PyResult<GivenArray> {
        self.given().array().ok_or_else(|| shape_error(no_array(&self.value)))
    }

    pub(crate) fn array(&self) -> PyResult<&ArrayShape> {
        array(&self.value)
    }

    pub(crate) fn table(&self) -> PyResult<StrideTableRef<'_>> {
        if let Some(table) = self.table.get() {
            return Ok(table.as_ref());
        }
        let table = self.array()?.stride_table().map_err(shape_error)?;
        Ok(self.table.get_or_init(|| table).as_ref())
    }

    fn position(&self, index: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let table = self.table()?;
        let mut numbers = [0; 16];
        let Some(count) = few_numbers(index, &mut numbers)? else { return Ok(None) };
        table.checked_linear_index(&numbers[..count]).map(Some).ok_or_else(|| {
            let index = index.str().map(|text| text.to_string()).unwrap_or_default();
            out_of_bounds(format_args!("index {index} is out of bounds for {}", self.value))
        })
    }
}

/// The numbers of a tuple or list, such as an index, and how many they are; `None` for other objects, for more than 16 numbers, and for entries other
/// than integers. A negative number becomes `u64::MAX`, which is out of bounds.
pub(crate) fn few_numbers(object: &Bound<'_, PyAny>, numbers: &mut [u64; 16]) -> PyResult<Option<usize>> {
    let list;
    let tuple = if let Ok(tuple) = object.cast::<PyTuple>() {
        tuple
    } else if let Ok(found) = object.cast::<PyList>() {
        list = found.to_tuple();
        &list
    } else {
        return Ok(None);
    };
    if tuple.len() > numbers.len() {
        return Ok(None);
    }
    for (number, entry) in numbers.iter_mut().zip(tuple.iter_borrowed()) {
        if !entry.is_instance_of::<PyInt>() {
            return Ok(None);
        }
        *number = entry.extract().unwrap_or(u64::MAX);
    }
    Ok(Some(tuple.len()))
}

pub(crate) fn array(shape: &Value) -> PyResult<&ArrayShape> {
    shape.array().ok_or_else(|| shape_error(no_array(shape)))
}

/// A shape, or a text of one.
pub(crate) struct ShapeArgument<'py>(pub(crate) Bound<'py, Shape>);

impl<'py> FromPyObject<'_, 'py> for ShapeArgument<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(shape) = object.cast::<Shape>() {
            return Ok(Self(shape.to_owned()));
        }
        if object.cast::<PyString>().is_err() && object.hasattr("dtype")? && object.hasattr("shape")? {
            // An array.
            static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let shape = function(object.py(), &FUNCTION, "xla_shape._dtypes", "shape_of")?.call1((object,))?;
            return Ok(Self(shape.cast_into::<Shape>()?));
        }
        Ok(Self(Bound::new(object.py(), Shape::parsed(&object)?)?))
    }
}

/// A function of the Python part of the package, or a class, looked up once.
pub(crate) fn function<'py>(
    py: Python<'py>,
    known: &'static PyOnceLock<Py<PyAny>>,
    file: &str,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    known.import(py, file, name).cloned()
}

/// An element type, given by XLA's name or as a NumPy dtype.
fn element_type(object: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Ok(name) = object.cast::<PyString>()
        && let Some(found) = ElementType::from_name(name.to_str()?)
    {
        return Ok(found);
    }
    let name = function(object.py(), &FUNCTION, "xla_shape._dtypes", "element_type")?.call1((object,))?;
    name.cast::<PyString>()?.to_str()?.parse().map_err(shape_error)
}

/// A dimension: -1 is unbounded, and a dynamic size is a bound.
fn dimension(size: i64, is_dynamic: bool) -> PyResult<Dimension> {
    match u64::try_from(size) {
        Ok(bound) if is_dynamic => Ok(Dimension::Bounded(bound)),
        Ok(size) => Ok(Dimension::Static(size)),
        Err(_) if size == -1 => Ok(Dimension::Unbounded),
        Err(_) => {
            Err(shape_error(format_args!("expected a size of at least 0, or -1 for an unbounded one, found {size}")))
        }
    }
}

/// The generation of TPUs or the GPU that a text names.
fn device(text: &str) -> PyResult<Device> {
    text.parse().map_err(shape_error)
}

/// The generation of TPUs that a text names.
fn generation(text: &str) -> PyResult<Generation> {
    text.parse().map_err(shape_error)
}

#[pymethods]
impl Shape {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        if text.is_instance_of::<PyString>() {
            return Self::parsed(text);
        }
        let shape = text.extract::<ShapeArgument<'_>>()?.0;
        Ok(Self { written: shape.get().written.clone(), ..Self::of_value(shape.get().value.clone()) })
    }

    /// The shape of an array from its parts: the element type, by XLA's or NumPy's name, the sizes, and the layout.
    ///
    /// A size of -1 is unbounded. If a dimension is dynamic, its size is a bound, and the actual size is known at run time.
    #[staticmethod]
    #[pyo3(signature = (element_type, dimensions, layout=None, *, dynamic_dimensions=None))]
    fn of(
        element_type: &Bound<'_, PyAny>,
        dimensions: Vec<Number<i64>>,
        layout: Option<LayoutArgument>,
        dynamic_dimensions: Option<Vec<bool>>,
    ) -> PyResult<Self> {
        let element_type = self::element_type(element_type)?;
        let dynamic = dynamic_dimensions.unwrap_or_else(|| vec![false; dimensions.len()]);
        if dynamic.len() != dimensions.len() {
            let (expected, found) = (dimensions.len(), dynamic.len());
            return Err(shape_error(format_args!("expected {expected} entries of dynamic_dimensions, found {found}")));
        }
        let dimensions = dimensions.iter().zip(dynamic).map(|(size, is_dynamic)| dimension(size.0, is_dynamic));
        let dimensions = dimensions.collect::<PyResult<Vec<_>>>()?;
        let layout = layout.map_or_else(|| LayoutValue::descending(dimensions.len()), |layout| layout.0);
        ArrayShape::new(element_type, &dimensions, layout).map(Self::of_value).map_err(shape_error)
    }

    /// A tuple of shapes.
    #[staticmethod]
    fn tuple_of(elements: Vec<ShapeArgument<'_>>) -> PyResult<Self> {
        let elements = elements.iter().map(|element| element.0.get().value.clone()).collect();
        Value::tuple(elements).map(Self::of_value).map_err(shape_error)
    }

    /// Whether it is an array.
    #[getter]
    fn is_array(&self) -> bool {
        self.value.array().is_some()
    }

    /// Whether it is a tuple.
    #[getter]
    fn is_tuple(&self) -> bool {
        self.value.tuple_shapes().is_some()
    }

    /// The elements of a tuple.
    #[getter]
    fn tuple_shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shapes = self.value.tuple_shapes();
        let shapes = shapes.ok_or_else(|| shape_error(format_args!("expected a tuple, found {}", self.value)))?;
        let shapes = shapes.iter().map(|shape| Bound::new(py, Self::of_value(shape.clone())));
        PyTuple::new(py, shapes.collect::<PyResult<Vec<_>>>()?)
    }

    /// XLA's name of the element type, such as `bf16`.
    #[getter]
    fn element_type(&self) -> PyResult<&'static str> {
        Ok(self.array()?.element_type().name())
    }

    /// NumPy's element type; some come from the package `ml_dtypes`.
    #[getter]
    pub(crate) fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        function(py, &FUNCTION, "xla_shape._dtypes", "dtype")?.call1((self.element_type()?,))
    }

    /// The sizes: the bound of a bounded dimension, -1 for an unbounded one.
    #[getter]
    fn dimensions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let size = |dimension: &Dimension| dimension.extent().and_then(|size| i64::try_from(size).ok()).unwrap_or(-1);
        PyTuple::new(py, self.array()?.dimensions().iter().map(size))
    }

    /// Whether each size can change at run time.
    #[getter]
    fn dynamic_dimensions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array()?.dimensions().iter().map(|dimension| dimension.is_dynamic()))
    }

    /// The number of dimensions.
    #[getter]
    fn num_dimensions(&self) -> PyResult<usize> {
        Ok(self.array()?.num_dimensions())
    }

    /// The layout.
    #[getter]
    fn layout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Layout>> {
        let layout = self.layout.get_or_try_init(py, || Py::new(py, Layout(self.array()?.layout().clone())))?;
        Ok(layout.bind(py).clone())
    }

    /// The number of elements.
    #[getter]
    fn elements(&self) -> PyResult<u64> {
        self.array()?.elements().ok_or_else(|| self.no_size())
    }

    /// The bytes that it takes, including padding; for a tuple, the sum over its elements.
    #[getter]
    fn byte_size(&self) -> PyResult<u64> {
        self.value.byte_size().ok_or_else(|| self.no_size())
    }

    /// The bytes that it would take without padding.
    #[getter]
    fn unpadded_byte_size(&self) -> PyResult<u64> {
        self.value.unpadded_byte_size().ok_or_else(|| self.no_size())
    }

    /// The bytes of padding.
    #[getter]
    fn padding(&self) -> PyResult<u64> {
        self.value.padding_byte_size().ok_or_else(|| self.no_size())
    }

    /// The ratio of its bytes with padding to its bytes without padding.
    #[getter]
    fn expansion(&self) -> PyResult<f64> {
        self.value.expansion().ok_or_else(|| self.no_size())
    }

    /// For each dimension, or group of dimensions that a tile combines: the numbers of the dimensions, their size, and their size with padding.
    #[getter]
    fn padded_dimensions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let padded = self.array()?.padded_dimensions().ok_or_else(|| self.no_size())?;
        let entries =
            padded.iter().map(|entry| Ok((PyTuple::new(py, &entry.dimensions)?, entry.size, entry.padded_size)));
        PyTuple::new(py, entries.collect::<PyResult<Vec<_>>>()?)
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> PyResult<usize> {
        Ok(self.array()?.num_dimensions())
    }

    /// The number of dimensions, so that a shape of an array can be used in place of its sizes.
    fn __len__(&self) -> PyResult<usize> {
        self.ndim()
    }

    /// A scalar has no dimensions, but is a shape.
    fn __bool__(&self) -> bool {
        true
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.dimensions(py)?.try_iter()
    }

    /// The size of a dimension, or of several by a slice.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.dimensions(py)?.as_any().get_item(key)
    }

    fn __getattr__(&self, name: &str) -> PyResult<()> {
        Err(unknown_name("Shape", name))
    }

    /// The position of an element in memory, in elements.
    ///
    /// `index` may also be a tuple of arrays, one for each dimension, or an array whose last dimension is an index: the result is an array of
    /// positions. An index out of bounds is an `OutOfBoundsError`.
    #[pyo3(signature = (index, /))]
    fn linear_index<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().position(index)? {
            Some(position) => Ok(position.into_pyobject(py)?.into_any()),
            None => {
                static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
                function(py, &FUNCTION, "xla_shape._arrays", "linear_index")?.call1((slf, index))
            }
        }
    }

    /// The index of the element at a position; `None` for padding. For an array of positions, the last dimension of the
    /// result is an index, with -1 for padding.
    #[pyo3(signature = (position, /))]
    fn multi_index<'py>(slf: &Bound<'py, Self>, position: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !position.is_instance_of::<PyInt>() {
            static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            return function(py, &FUNCTION, "xla_shape._arrays", "multi_index")?.call1((slf, position));
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

    /// The same array in another layout.
    #[pyo3(signature = (layout, /))]
    fn with_layout(&self, layout: LayoutArgument) -> PyResult<Self> {
        self.array()?.clone().with_layout(layout.0).map(Self::of_value).map_err(shape_error)
    }

    /// The array after a reshape and a transposition, row-major, such as '(page part=4) token d -> page (part token) d'.
    #[pyo3(signature = (rearrangement, /))]
    fn rearrange(&self, rearrangement: &str) -> PyResult<Self> {
        let rearrangement = rearrangement.parse::<Rearrangement>().map_err(shape_error)?;
        rearrangement.result(self.array()?).map(Self::of_value).map_err(shape_error)
    }

    /// The same shape in the default layouts of a generation of TPUs, such as `v5e`.
    #[pyo3(signature = (generation, /))]
    fn with_default_layout(&self, generation: &str) -> PyResult<Self> {
        let generation = self::generation(generation)?;
        self.value.clone().with_tpu_layout(generation).map(Self::of_value).map_err(shape_error)
    }

    /// The layouts that take the fewest bytes on a TPU, or the orders that operations want on a GPU, such as `h100`. `what_if` first changes
    /// sizes (`1=128`) or swaps dimensions (`0,1`).
    #[pyo3(
        signature = (generation=None, *, what_if=Vec::new(), top=Number(10)),
        text_signature = "($self, generation=None, *, what_if=(), top=10)"
    )]
    fn advise(&self, generation: Option<&str>, what_if: Vec<String>, top: Number<usize>) -> PyResult<Answer> {
        let device = generation.map(device).transpose()?;
        let changes = what_if.iter().map(|change| change.parse::<Change>()).collect::<Result<Vec<_>, _>>();
        let (array, changes) = (self.given_array()?, changes.map_err(shape_error)?);
        if let Some(gpu) = device.and_then(Device::gpu) {
            return Ok(Answer::new(GpuAdvice::new(array, &changes, gpu).map_err(shape_error)?).list());
        }
        let advice = Advice::new(array, &changes, device.and_then(Device::generation), top.0);
        Ok(Answer::new(advice.map_err(shape_error)?).list())
    }

    /// Whether both shapes lay out the same bytes, which element moves, and what a reshape or a transpose moves; `bool()` of the answer says
    /// whether this array can be read as the other without a copy. A shape without a layout is taken in the layout that a TPU of the generation
    /// chooses; without a generation, it is row-major.
    #[pyo3(signature = (to, /, generation=None))]
    fn compare(&self, to: ShapeArgument<'_>, generation: Option<&str>) -> PyResult<Answer> {
        let generation = generation.map(self::generation).transpose()?;
        let comparison =
            Comparison::new(self.given_array()?, to.0.get().given_array()?, generation).map_err(shape_error)?;
        let is_bitcast = comparison.bitcast;
        Ok(Answer::new(comparison).judged(Ok(is_bitcast)))
    }

    /// What the text means, where the elements are, and how much memory they take. With a sharding, also the part of each device; with generations
    /// of TPUs or names of GPUs, also the layouts that they choose.
    #[pyo3(signature = (sharding=None, *, generations=Vec::new()), text_signature = "($self, sharding=None, *, generations=())")]
    fn explain(&self, sharding: Option<ShardingArgument>, generations: Vec<String>) -> PyResult<Answer> {
        let devices = generations.iter().map(|name| device(name)).collect::<PyResult<Vec<_>>>()?;
        for generation in devices.iter().filter_map(|device| device.generation()) {
            self.value.clone().with_tpu_layout(generation).map_err(shape_error)?;
        }
        let sharding = sharding.map(|sharding| sharding.0);
        Ok(Answer::new(OnDevices::new(self.given(), &devices, sharding).map_err(shape_error)?))
    }

    /// A picture of the positions of the elements.
    fn draw(&self) -> PyResult<Answer> {
        drawn(self.array()?)
    }

    fn _repr_svg_(&self) -> Option<String> {
        Drawing::new(self.value.array()?).ok().map(|drawing| drawing.svg())
    }

    pub(crate) fn _repr_html_(&self, py: Python<'_>) -> PyResult<Option<Text<String>>> {
        let drawing = self.value.array().and_then(|array| Drawing::new(array).ok());
        drawing.map(|drawing| crate::answer::framed(py, &drawing.html())).transpose()
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
        shape_error(no_size(&self.value))
    }
}

fn drawn(array: &ArrayShape) -> PyResult<Answer> {
    let drawing = Drawing::new(array).map_err(shape_error)?;
    let (picture, page) = (drawing.clone(), drawing.clone());
    Ok(Answer::new(drawing).with_svg(move || picture.svg()).with_html(move || page.html()))
}

/// The bytes that a shape takes, including padding.
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

/// The position of an element in memory, in elements; for many, an array of positions. See `Shape.linear_index`.
#[pyfunction]
#[pyo3(signature = (shape, index, /))]
pub(crate) fn linear_index<'py>(shape: ShapeArgument<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Shape::linear_index(&shape.0, index)
}

/// The default layout of an array on a generation of TPUs, such as `v5e`.
#[pyfunction]
#[pyo3(signature = (generation, shape, dimensions=None, /))]
pub(crate) fn default_layout(
    generation: &str,
    shape: &Bound<'_, PyAny>,
    dimensions: Option<Vec<Number<i64>>>,
) -> PyResult<Layout> {
    let shape = match dimensions {
        Some(dimensions) => Shape::of(shape, dimensions, None, None)?.with_default_layout(generation)?,
        None => shape.extract::<ShapeArgument<'_>>()?.0.get().with_default_layout(generation)?,
    };
    Ok(Layout(shape.array()?.layout().clone()))
}

/// The layouts of an array that take the fewest bytes on a TPU, or that operations want on a GPU; see `Shape.advise`.
#[pyfunction]
#[pyo3(
    signature = (shape, generation=None, *, what_if=Vec::new(), top=Number(10)),
    text_signature = "(shape, generation=None, *, what_if=(), top=10)"
)]
pub(crate) fn advise(
    shape: ShapeArgument<'_>,
    generation: Option<&str>,
    what_if: Vec<String>,
    top: Number<usize>,
) -> PyResult<Answer> {
    shape.0.get().advise(generation, what_if, top)
}

/// Whether two arrays are the same bytes, and what a reshape or a transpose moves; see `Shape.compare`.
#[pyfunction]
#[pyo3(signature = (a, b, /, generation=None))]
pub(crate) fn compare(a: ShapeArgument<'_>, b: ShapeArgument<'_>, generation: Option<&str>) -> PyResult<Answer> {
    a.0.get().compare(b, generation)
}

/// What a shape's text means, where its elements are, and the memory that it takes.
#[pyfunction]
#[pyo3(signature = (shape, sharding=None, *, generations=Vec::new()), text_signature = "(shape, sharding=None, *, generations=())")]
pub(crate) fn explain(
    shape: ShapeArgument<'_>,
    sharding: Option<ShardingArgument>,
    generations: Vec<String>,
) -> PyResult<Answer> {
    shape.0.get().explain(sharding, generations)
}

/// A text as Python writes it.
pub(crate) fn quoted(py: Python<'_>, text: &str) -> PyResult<String> {
    Ok(PyString::new(py, text).repr()?.to_string())
}
