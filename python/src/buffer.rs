//! Arrays in memory, and copying them to other layouts.

use crate::capsule::{capsule, old_capsule, take_tensor};
use crate::copy::{copied, copy_into, gather, room, size};
use crate::destination::{DestinationArgument, shape_for};
use crate::error::shape_error;
use crate::guess::unknown_name;
use crate::memory::{ExportedArray, Memory, ReadableBuffer, WritableBuffer, fill_view, release_view};
use crate::number::Number;
use crate::recent::{self, Permutation};
use crate::room::{Text, bytes_of};
use crate::shape::{Shape, ShapeArgument, function};
use crate::threads::counted;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyIterator, PyMemoryView, PyString, PyTuple};
use std::ffi::c_int;
use std::fmt::Display;
use std::ops::Range;
use xla_shape::buffer::{AlignedBytes, DynShape};
use xla_shape::dlpack::{self, Device, DlpackError, ManagedTensor, StridedTensor};
use xla_shape::relayout::Options;
use xla_shape::{ArrayShape, ElementType, Layout};

/// The library's type of buffers with a shape that is a value.
type Array<B> = xla_shape::Buffer<DynShape, B>;

/// DLPack's numbers for the memory of the host.
const CPU: (i32, i32) = (Device::CPU.device_type, Device::CPU.device_id);

/// The version of DLPack with a flag for elements of fewer than 8 bits that take a byte each.
const SUBBYTE_PADDED: (u32, u32) = (1, 1);

/// An array in memory: its shape, and its bytes, including padding. They are never written.
///
/// `numpy.asarray(buffer)` is the array, `memoryview(buffer)` its elements if Python has the element type, `buffer.data` the bytes.
#[pyclass(frozen, module = "xla_shape")]
pub(crate) struct Buffer {
    shape: ArrayShape,
    memory: Memory,
}

impl Buffer {
    pub(crate) fn owned(shape: ArrayShape, bytes: AlignedBytes) -> Self {
        Self { shape, memory: Memory::owned(bytes) }
    }

    pub(crate) const fn array(&self) -> &ArrayShape {
        &self.shape
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.memory.as_ref()
    }

    /// The offset of the first element and the strides, in bytes; an error says why the layout has no strides.
    fn placed(&self) -> Result<(usize, Vec<isize>), String> {
        let (shape, element_type) = (&self.shape, self.shape.element_type());
        if shape.element_bits() != element_type.storage_bits() {
            return Err(format!("elements of {shape} are packed"));
        }
        let width = element_type.storage_bits() / 8;
        let in_bytes = |stride: u64| isize::try_from(stride.saturating_mul(width)).unwrap_or(isize::MAX);
        let strides = shape.strides().map_err(|error| error.to_string())?;
        let first = usize::try_from(shape.layout().dynamic_shape_metadata_prefix_bytes()).unwrap_or(usize::MAX);
        Ok((first, strides.into_iter().map(in_bytes).collect()))
    }

    /// The sizes of the dimensions. They fit into an `isize`, because the array is in memory.
    fn sizes(&self) -> Vec<isize> {
        let sizes = self.shape.dimensions().iter().filter_map(|size| size.extent());
        sizes.map(|size| isize::try_from(size).unwrap_or(isize::MAX)).collect()
    }

    /// The elements for the buffer protocol, and the offset of the first one in bytes.
    fn lent(&self) -> Result<(ExportedArray, usize), String> {
        let (first, strides) = self.placed()?;
        let lent = ExportedArray::elements(self.shape.element_type(), self.sizes(), strides);
        Ok((lent.ok_or_else(|| format!("Python's buffers have no elements of {}", self.shape.element_type()))?, first))
    }

    /// A DLPack tensor of the memory itself.
    fn shared(&self, py: Python<'_>) -> Result<*mut ManagedTensor, DlpackError> {
        dlpack::export_read_only(Array::<Memory>::from_parts(self.shape.clone(), self.memory.share(py))?)
    }

    /// A DLPack tensor of a row-major copy.
    fn copied(&self, py: Python<'_>) -> PyResult<*mut ManagedTensor> {
        let sizes = self.shape.dimensions().iter().filter_map(|size| size.extent()).collect::<Vec<_>>();
        let plain = ArrayShape::with_default_layout(self.shape.element_type(), &sizes).map_err(shape_error)?;
        let bytes = copied(py, &self.shape, &plain, self.bytes(), None)?;
        let array = Array::<AlignedBytes>::from_parts(plain, bytes).map_err(shape_error)?;
        dlpack::export(array).map_err(refused)
    }
}

/// A `BufferError`, which the DLPack standard requires if there can be no tensor.
fn refused(reason: impl Display) -> PyErr {
    PyBufferError::new_err(reason.to_string())
}

/// The package that calls `__dlpack__`; `None` if that is unknown.
///
/// Two packages ignore flags of the tensor: torch's `from_dlpack` makes a writable tensor of memory that is marked read-only
/// (`fromDLPackVersioned` in `ATen/DLConvertor.cpp`), and JAX does not support elements of fewer than 8 bits that take a byte each
/// (`DLPackManagedTensorToBuffer` in `jaxlib/dlpack.cc`).
fn asker(py: Python<'_>) -> Option<String> {
    let module = || {
        let frame = py.import("sys")?.call_method1("_getframe", (0,))?;
        frame.getattr("f_globals")?.get_item("__name__")?.extract::<String>()
    };
    // A caller without a module name counts as neither of the two.
    Some(module().ok()?.split('.').next()?.to_owned())
}

/// The arguments of `numpy.ndarray`.
type NumpyArguments<'py> =
    (Bound<'py, PyTuple>, Bound<'py, PyAny>, Bound<'py, PyMemoryView>, usize, Bound<'py, PyTuple>);

/// The result of `__reduce__`: the class, and the arguments of its constructor.
type Reduced<'py> = (Bound<'py, PyAny>, (Shape, Bound<'py, PyBytes>));

#[pymethods]
impl Buffer {
    /// Uses an object's bytes as an array, without a copy. They must not be written afterwards.
    #[new]
    #[pyo3(signature = (shape, data, /))]
    fn new(shape: ShapeArgument<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let shape = shape.0.get().array()?.clone();
        let memory = Memory::lent(data)?;
        check_length(&shape, memory.as_ref().len())?;
        Ok(Self { shape, memory })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.memory.traverse(&visit)
    }

    /// The shape.
    #[getter]
    fn shape(&self) -> Shape {
        Shape::of_value(self.shape.clone())
    }

    /// NumPy's element type; some come from the package `ml_dtypes`.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.shape().dtype(py)
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.shape.num_dimensions()
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.sizes().iter().fold(1, |count, size| count.saturating_mul(size.unsigned_abs()))
    }

    /// The array with its dimensions in reverse order, in the same memory.
    #[getter(T)]
    fn transposed_whole(&self, py: Python<'_>) -> PyResult<Self> {
        self._transposed(py, (0..self.shape.num_dimensions()).rev().map(Number).collect())
    }

    /// The same memory as an array with permuted dimensions: entry i of the list is the dimension that becomes dimension i.
    fn _transposed(&self, py: Python<'_>, permutation: Vec<Number<usize>>) -> PyResult<Self> {
        let numbers = permutation.iter().map(|&Number(number)| i64::try_from(number).unwrap_or(i64::MAX));
        let shape = self.shape.permute_dimensions(numbers).map_err(shape_error)?;
        Ok(Self { shape, memory: self.memory.share(py) })
    }

    /// The size of the first dimension.
    fn __len__(&self) -> PyResult<usize> {
        let first = self.sizes().first().map(|size| size.unsigned_abs());
        first.ok_or_else(|| PyTypeError::new_err(format!("{} has no length: it is a scalar", self.shape)))
    }

    /// The truth value of an array of one element, as in NumPy.
    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        Self::numpy(slf)?.is_truthy()
    }

    /// Elements of the array, as `numpy.asarray(buffer)[key]`.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::numpy(slf)?.get_item(key)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        Self::numpy(slf)?.try_iter()
    }

    /// The array for JAX.
    fn __jax_array__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("xla_shape._arrays")?.call_method1("jax_array", (slf,))
    }

    fn __getattr__(&self, name: &str) -> PyResult<()> {
        Err(unknown_name("Buffer", name))
    }

    /// The number of bytes, including padding.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes().len()
    }

    /// The bytes, read-only and without a copy.
    #[getter]
    fn data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyMemoryView>> {
        PyMemoryView::from(Bound::new(slf.py(), Bytes(slf.clone().unbind()))?.as_any())
    }

    /// A copy of the bytes.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, self.bytes())
    }

    // SAFETY: requires that `view` is valid for writes; only Python calls it, through the buffer protocol.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let buffer = slf.get();
        let (elements, first) = buffer.lent().map_err(|reason| {
            refused(format_args!("expected elements that Python can lend, but {reason}: `tobytes()` gives the bytes"))
        })?;
        let first = buffer.bytes()[first..].as_ptr();
        // SAFETY: Python has passed `view`, and `__releasebuffer__` releases it. The strides from `first` are those of the buffer's shape,
        // so they lead to elements within its bytes; the owner is the buffer, which never moves or frees them while it lives.
        unsafe { fill_view(slf.into_any(), first, elements, view, flags) }
    }

    // SAFETY: requires that `__getbuffer__` has filled `view`; only Python calls it, once for each view.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `__getbuffer__` has filled `view` through `fill_view`.
        unsafe { release_view(view) }
    }

    /// The arguments of `numpy.ndarray` for the elements: the sizes, the element type, the bytes, where the first element is, and the strides.
    /// If the layout has no strides, the bytes are a copy if `copy` is true, and the result is `None` otherwise.
    fn _for_numpy<'py>(slf: &Bound<'py, Self>, copy: bool) -> PyResult<Option<NumpyArguments<'py>>> {
        let py = slf.py();
        let buffer = slf.get();
        let (owner, (first, strides)) = match buffer.placed() {
            Ok(placed) => (slf.clone(), placed),
            Err(_) if !copy => return Ok(None),
            Err(_) => {
                let shape = &buffer.shape;
                let layout = Layout::new(shape.layout().minor_to_major()).map_err(shape_error)?;
                let plain = shape_for(Some(DestinationArgument(layout.into())), shape)?;
                let bytes = copied(py, shape, &plain, buffer.bytes(), None)?;
                let copy = Self::owned(plain, bytes);
                let placed = copy.placed().map_err(|_| shape_error(format_args!("NumPy has no array like {shape}")))?;
                (Bound::new(py, copy)?, placed)
            }
        };
        let (sizes, strides) = (PyTuple::new(py, buffer.sizes())?, PyTuple::new(py, strides)?);
        Ok(Some((sizes, buffer.dtype(py)?, Self::data(&owner)?, first, strides)))
    }

    /// The same array in another layout; see `xla_shape.relayout`.
    #[pyo3(signature = (to=None, *, permute=None, threads=None, out=None))]
    fn relayout<'py>(
        slf: &Bound<'py, Self>,
        to: Option<Bound<'py, PyAny>>,
        permute: Option<Bound<'py, PyAny>>,
        threads: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let count = threads.as_ref().map(|threads| threads.extract::<Number<usize>>()).transpose()?;
        if let Some(done) = relayout_plain(slf, to.as_ref(), permute.as_ref(), count, out.as_ref())? {
            return Ok(done);
        }
        let options = PyDict::new(slf.py());
        options.set_item("permute", permute)?;
        options.set_item("threads", threads)?;
        options.set_item("out", out)?;
        static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        function(slf.py(), &FUNCTION, "xla_shape._arrays", "relayout")?.call((slf, to), Some(&options))
    }

    /// The elements: read-only and in the same memory if the layout has no tiles and every element takes whole bytes, otherwise a copy.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        function(slf.py(), &FUNCTION, "xla_shape._arrays", "to_numpy")?.call1((slf,))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        function(slf.py(), &FUNCTION, "xla_shape._arrays", "as_array")?.call1((slf, dtype, copy))
    }

    /// A DLPack capsule. With version 1 or later, it shares the memory if the layout has strides. Otherwise it has a copy; if `copy` is False,
    /// a `BufferError` says why a copy is needed.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if stream.is_some() || dl_device.is_some_and(|device| device != CPU) {
            return Err(refused("expected the CPU, which has no streams: the array is in its memory"));
        }
        let asker = asker(py);
        let element_type = self.shape.element_type();
        let is_small = element_type.bits() < 8 && element_type != ElementType::Pred;
        if is_small && (max_version.is_none_or(|version| version < SUBBYTE_PADDED) || asker.as_deref() == Some("jax")) {
            return Err(refused(format_args!(
                "expected a library that reads elements of {element_type} with a byte for each, found one that reads packed ones or \
                 none: `numpy.asarray(buffer)` has them"
            )));
        }
        let is_old = max_version.is_none_or(|(major, _)| major < dlpack::VERSION.major);
        if copy != Some(true) {
            let shared = if is_old {
                Err(refused("before version 1, DLPack cannot say that memory is read-only: only a copy can be lent"))
            } else if asker.as_deref() == Some("torch") {
                Err(refused("torch writes what is marked as read-only: only a copy can be lent"))
            } else {
                self.shared(py).map_err(refused)
            };
            match shared {
                // SAFETY: `shared` has just exported the tensor, and returned the only pointer to it.
                Ok(tensor) => return unsafe { capsule(py, tensor, false) },
                Err(reason) if copy == Some(false) => return Err(reason),
                Err(_) => {}
            }
        }
        let tensor = self.copied(py)?;
        // SAFETY: `copied` has just exported the tensor, of a copy that may be written, and returned the only pointer to it.
        if is_old { unsafe { old_capsule(py, tensor) } } else { unsafe { capsule(py, tensor, true) } }
    }

    /// The CPU.
    fn __dlpack_device__(&self) -> (i32, i32) {
        CPU
    }

    fn __repr__(&self) -> String {
        format!("<Buffer {}>", self.shape)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let py = slf.py();
        Ok((py.get_type::<Self>().into_any(), (slf.get().shape(), slf.get().tobytes(py)?)))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<Option<Text<String>>> {
        self.shape()._repr_html_(py)
    }
}

/// The exporter of a buffer's bytes; the buffer itself exports its elements.
#[pyclass(frozen, module = "xla_shape")]
struct Bytes(Py<Buffer>);

#[pymethods]
impl Bytes {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.0)
    }

    // SAFETY: requires that `view` is valid for writes; only Python calls it, through the buffer protocol.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let owner = slf.clone().into_any();
        let bytes = slf.get().0.get().bytes();
        // SAFETY: Python has passed `view`, and `__releasebuffer__` releases it. The array is all bytes of the buffer, which the owner
        // keeps alive, and which never moves them.
        unsafe { fill_view(owner, bytes.as_ptr(), ExportedArray::bytes(bytes.len()), view, flags) }
    }

    // SAFETY: requires that `__getbuffer__` has filled `view`; only Python calls it, once for each view.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `__getbuffer__` has filled `view` through `fill_view`.
        unsafe { release_view(view) }
    }
}

fn check_length(shape: &ArrayShape, found: usize) -> PyResult<()> {
    match size(shape)? {
        expected if expected == found as u64 => Ok(()),
        expected => Err(shape_error(format_args!("expected {expected} bytes of {shape}, found {found}"))),
    }
}

/// Takes over the array of a DLPack capsule, without a copy.
#[pyfunction]
pub(crate) fn buffer_of_capsule(capsule: &Bound<'_, PyCapsule>) -> PyResult<Buffer> {
    let tensor = take_tensor::<dlpack::Tensor>(capsule)?;
    Ok(Buffer { shape: tensor.shape().clone(), memory: Memory::tensor(tensor) })
}

/// An array that another library lends through DLPack, with any strides. Its buffer is an array of bytes, whose last dimension is the bytes of an
/// element.
#[pyclass(frozen, module = "xla_shape")]
pub(crate) struct Tensor(StridedTensor);

#[pymethods]
impl Tensor {
    /// The shape, row-major.
    #[getter]
    fn shape(&self) -> Shape {
        Shape::of_value(self.0.shape().clone())
    }

    // SAFETY: requires that `view` is valid for writes; only Python calls it, through the buffer protocol.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let tensor = &slf.get().0;
        let first = tensor.as_ptr();
        let width = (tensor.shape().element_type().storage_bits() / 8).cast_signed();
        let sizes = tensor.shape().dimensions().iter().filter_map(|size| isize::try_from(size.extent()?).ok());
        let strides = tensor.strides().iter().map(|&stride| isize::try_from(stride.checked_mul(width)?).ok());
        let strides =
            strides.collect::<Option<Vec<_>>>().ok_or_else(|| refused("expected strides that fit in memory"))?;
        let rows = ExportedArray::rows(width as isize, sizes.collect(), strides);
        // SAFETY: Python has passed `view`, and `__releasebuffer__` releases it. The tensor's strides from `first` lead to its elements,
        // which the owner keeps alive in place.
        unsafe { fill_view(slf.into_any(), first, rows, view, flags) }
    }

    // SAFETY: requires that `__getbuffer__` has filled `view`; only Python calls it, once for each view.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `__getbuffer__` has filled `view` through `fill_view`.
        unsafe { release_view(view) }
    }
}

/// Takes over the array of a DLPack capsule, with any strides, without a copy.
#[pyfunction]
pub(crate) fn tensor_of_capsule(capsule: &Bound<'_, PyCapsule>) -> PyResult<Tensor> {
    take_tensor(capsule).map(Tensor)
}

/// Copies an array into another layout, row-major if `to` is left out. `source` is a `Buffer`, or the bytes of an array of this `shape`. With
/// `strided`, `source` is an array of bytes with any strides: its last dimension is the bytes of an element, and its other dimensions are those of
/// `shape`.
#[pyfunction]
pub(crate) fn relayout(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    shape: &Bound<'_, Shape>,
    to: Option<DestinationArgument>,
    strided: bool,
    threads: Option<Number<usize>>,
) -> PyResult<Buffer> {
    let shape = shape.get().array()?;
    let (to, threads) = (shape_for(to, shape)?, counted(threads)?);
    let source = Source::of(source, shape, strided)?;
    let result = source.copied(py, shape, &to, threads)?;
    Ok(Buffer::owned(to, result))
}

/// Like `relayout`, but into memory that `out` lends. Padding in `out` keeps its values. After an error, `out` is unchanged; after an interrupt, some
/// of its bytes may have changed.
#[pyfunction]
pub(crate) fn relayout_into(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    shape: &Bound<'_, Shape>,
    to: Option<DestinationArgument>,
    strided: bool,
    threads: Option<Number<usize>>,
    out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let shape = shape.get().array()?;
    let (to, threads) = (shape_for(to, shape)?, counted(threads)?);
    let source = Source::of(source, shape, strided)?;
    let mut out = WritableBuffer::of(out)?;
    let result = out.disjoint_bytes_mut(&source.addresses(), size(&to)?)?;
    source.copy_into(py, shape, &to, result, threads)
}

/// The fast path of `relayout` and, with `out`, of `relayout_into`: for a `Buffer`, and for an array of NumPy whose element type the buffer
/// protocol has. `None` for other arguments, which `xla_shape._arrays` converts, and for an invalid permutation, which it refuses.
#[pyfunction]
pub(crate) fn relayout_plain<'py>(
    array: &Bound<'py, PyAny>,
    to: Option<&Bound<'py, PyAny>>,
    permute: Option<&Bound<'py, PyAny>>,
    threads: Option<Number<usize>>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let threads = counted(threads)?;
    let permutation = permute.map(Permutation::of).transpose()?;
    let Some(permutation) = permutation.map_or(Some(None), |found| found.map(Some)) else { return Ok(None) };
    // The bytes to read, and the two shapes of the copy.
    let own = array.cast_exact::<Buffer>().ok();
    let lent;
    let (bytes, (from, to)) = if let Some(buffer) = own {
        let buffer = buffer.get();
        let from = match permutation {
            Some(permutation) => permutation.applied(&buffer.shape),
            None => Some(buffer.shape.clone()),
        };
        let Some(from) = from else { return Ok(None) };
        let to = shape_for(destination(to)?, &from)?;
        (buffer.bytes(), (from, to))
    } else {
        lent = plain_array(array)?;
        let Some(lent) = &lent else {
            // An invalid destination is an error for any array.
            destination(to)?;
            return Ok(None);
        };
        // Copies are remembered only if the destination is a text or the default (row-major): a destination that is a value needs no parsing.
        let text = to.and_then(|to| to.cast::<PyString>().ok()).map(|text| text.to_str()).transpose()?;
        let is_remembered = to.is_none() || text.is_some();
        match is_remembered.then(|| recent::found(lent, permutation.as_ref(), text)).flatten() {
            Some(found) => found,
            None => {
                let Some((bytes, shape, arrangement)) = lent.arranged() else { return Ok(None) };
                let from = match &permutation {
                    Some(permutation) => permutation.applied(&shape),
                    None => Some(shape),
                };
                let Some(from) = from else { return Ok(None) };
                let shapes = (from.clone(), shape_for(destination(to)?, &from)?);
                if is_remembered {
                    recent::remember(arrangement, permutation, text, &shapes);
                }
                (bytes, shapes)
            }
        }
    };
    let Some(out) = out else {
        let result = copied(py, &from, &to, bytes, threads)?;
        return Ok(Some(Bound::new(py, Buffer::owned(to, result))?.into_any()));
    };
    let Some(mut lent_out) = plain_array(out)?.and_then(ReadableBuffer::into_writable) else { return Ok(None) };
    let read = bytes.as_ptr_range();
    let result = lent_out.disjoint_bytes_mut(&(read.start.addr()..read.end.addr()), size(&to)?)?;
    copy_into(py, &from, &to, bytes, result, threads)?;
    Ok(Some(out.clone()))
}

fn destination(to: Option<&Bound<'_, PyAny>>) -> PyResult<Option<DestinationArgument>> {
    to.map(|to| to.extract()).transpose()
}

/// The memory of a NumPy array; `None` for another object, and for an element type that the buffer protocol does not have.
fn plain_array(array: &Bound<'_, PyAny>) -> PyResult<Option<ReadableBuffer>> {
    static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = array.py();
    if !array.get_type().is(function(py, &ARRAY, "numpy", "ndarray")?) {
        return Ok(None);
    }
    // `isbuiltin` is 1 for NumPy's own types in the machine's byte order.
    let built_in = array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "isbuiltin"))?.extract::<u8>()? == 1;
    // The buffer protocol lacks some of these types, such as dates.
    Ok(if built_in { ReadableBuffer::of(array).ok() } else { None })
}

/// The array that a copy reads.
enum Source {
    Bytes(Memory),
    /// An array with the sizes of the shape, and any strides.
    Elements(ReadableBuffer),
}

impl Source {
    fn of(source: &Bound<'_, PyAny>, shape: &ArrayShape, strided: bool) -> PyResult<Self> {
        let memory = match source.cast::<Buffer>() {
            Ok(buffer) => buffer.get().memory.share(source.py()),
            Err(_) if strided => return Self::elements(source, shape),
            Err(_) => Memory::lent(source)?,
        };
        check_length(shape, memory.as_ref().len())?;
        Ok(Self::Bytes(memory))
    }

    fn elements(source: &Bound<'_, PyAny>, shape: &ArrayShape) -> PyResult<Self> {
        let lent = ReadableBuffer::of(source)?;
        let elements = lent.elements()?;
        let sizes = shape.dimensions().iter().map(|size| size.extent().and_then(|size| usize::try_from(size).ok()));
        if !sizes.eq(elements.sizes.iter().map(|&size| Some(size))) || shape.element_bits() != elements.width as u64 * 8
        {
            return Err(shape_error(format_args!(
                "expected an array with the sizes and the element type of {shape}, found the sizes {:?} and {} bytes per element",
                elements.sizes, elements.width
            )));
        }
        Ok(Self::Elements(lent))
    }

    /// The range of addresses that the memory occupies.
    fn addresses(&self) -> Range<usize> {
        match self {
            Self::Bytes(memory) => {
                let bytes = memory.as_ref().as_ptr_range();
                bytes.start.addr()..bytes.end.addr()
            }
            Self::Elements(lent) => lent.addresses(),
        }
    }

    /// The array in another layout, in new memory, where padding is 0.
    fn copied(
        &self,
        py: Python<'_>,
        shape: &ArrayShape,
        to: &ArrayShape,
        threads: Option<usize>,
    ) -> PyResult<AlignedBytes> {
        let lent = match self {
            Self::Bytes(memory) => return copied(py, shape, to, memory.as_ref(), threads),
            Self::Elements(lent) => lent.elements()?,
        };
        match lent.side_by_side(shape.element_type()) {
            Some((bytes, from)) => copied(py, &from, to, bytes, threads),
            None => {
                let mut result = room(to)?;
                gather(py, &lent, shape, to, result.as_mut(), &Options::new().zero_padding(), threads)?;
                Ok(result)
            }
        }
    }

    /// Copies the array into existing memory, and leaves its padding unchanged.
    fn copy_into(
        &self,
        py: Python<'_>,
        shape: &ArrayShape,
        to: &ArrayShape,
        result: &mut [u8],
        threads: Option<usize>,
    ) -> PyResult<()> {
        let lent = match self {
            Self::Bytes(memory) => return copy_into(py, shape, to, memory.as_ref(), result, threads),
            Self::Elements(lent) => lent.elements()?,
        };
        match lent.side_by_side(shape.element_type()) {
            Some((bytes, from)) => copy_into(py, &from, to, bytes, result, threads),
            None => gather(py, &lent, shape, to, result, &Options::new(), threads),
        }
    }
}
