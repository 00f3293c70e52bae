//! Arrays in memory, and copies of them in other layouts.

use crate::capsule::{capsule, old_capsule, tensor_of};
use crate::error::shape_error;
use crate::memory::{Elements, Memory, Read, Written, lend, prefer_large_pages};
use crate::number::Number;
use crate::shape::{Shape, ShapeArgument};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyMemoryView};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ffi::c_int;
use std::fmt::Display;
use std::num::NonZero;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::available_parallelism;
use xla_shape::buffer::{AlignedBytes, DynShape};
use xla_shape::dlpack::{self, Device, DlpackError, ManagedTensor};
use xla_shape::relayout::{Options, Plan, Slabs};
use xla_shape::{ArrayShape, Layout};
use xla_shape_render::no_size;

/// An array as the library has it.
type Array<B> = xla_shape::Buffer<DynShape, B>;

/// The memory of this machine, as DLPack numbers devices.
const CPU: (i32, i32) = (Device::CPU.device_type, Device::CPU.device_id);

/// An array in memory: its shape, and the bytes of an array of this shape, padding included. They are never written.
///
/// `numpy.asarray(buffer)` is the array, `buffer.data` the bytes.
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

    /// A tensor of DLPack of the memory itself; else why there is none.
    fn shared(&self) -> Result<*mut ManagedTensor, DlpackError> {
        dlpack::export_read_only(Array::<Memory>::from_parts(self.shape.clone(), self.memory.clone())?)
    }

    /// A tensor of DLPack of a copy: row-major, and with its own memory.
    fn copied(&self, py: Python<'_>) -> PyResult<*mut ManagedTensor> {
        let sizes = self.shape.dimensions().iter().filter_map(|size| size.extent()).collect::<Vec<_>>();
        let plain = ArrayShape::with_default_layout(self.shape.element_type(), &sizes).map_err(shape_error)?;
        let mut bytes = room(&plain)?;
        copy(py, &self.shape, &plain, self.bytes(), bytes.as_mut(), &Options::new().zero_padding(), None)?;
        let array = Array::<AlignedBytes>::from_parts(plain, bytes).map_err(shape_error)?;
        dlpack::export(array).map_err(refused)
    }
}

/// Why there is no tensor of DLPack, as its standard has it raised.
fn refused(reason: impl Display) -> PyErr {
    PyBufferError::new_err(reason.to_string())
}

/// What pickle asks for: the class, and what to call it with.
type Reduced<'py> = (Bound<'py, PyAny>, (Shape, Bound<'py, PyBytes>));

#[pymethods]
impl Buffer {
    /// Takes bytes as an array, as they are and where they are: what lends them must not write them.
    #[new]
    #[pyo3(signature = (shape, data, /))]
    fn new(shape: ShapeArgument<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let shape = shape.0.get().array()?.clone();
        let memory = Memory::lent(data)?;
        check_length(&shape, memory.as_ref().len())?;
        Ok(Self { shape, memory })
    }

    /// The shape.
    #[getter]
    fn shape(&self) -> Shape {
        Shape::of_value(self.shape.clone())
    }

    /// How many bytes it takes, padding included.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes().len()
    }

    /// The bytes, where they are, to be read.
    #[getter]
    fn data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyMemoryView>> {
        PyMemoryView::from(Bound::new(slf.py(), Bytes(slf.clone().unbind()))?.as_any())
    }

    /// A copy of the bytes.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.bytes())
    }

    /// The same array in another layout; see `xla_shape.relayout`.
    #[pyo3(signature = (to=None, *, threads=None, out=None))]
    fn relayout<'py>(
        slf: &Bound<'py, Self>,
        to: Option<Bound<'py, PyAny>>,
        threads: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = PyDict::new(slf.py());
        options.set_item("threads", threads)?;
        options.set_item("out", out)?;
        slf.py().import("xla_shape._arrays")?.getattr("relayout")?.call((slf, to), Some(&options))
    }

    /// The elements: the same memory, read-only, where the layout has no tiles and whole bytes, else a copy.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("xla_shape._arrays")?.call_method1("to_numpy", (slf,))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("xla_shape._arrays")?.call_method1("as_array", (slf, dtype, copy))
    }

    /// A capsule of DLPack. Since version 1, it shares the memory where the layout has strides; else it has a copy, unless `copy`
    /// is no: a `BufferError` says why there must be one.
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
        let is_old = max_version.is_none_or(|(major, _)| major < dlpack::VERSION.major);
        if copy != Some(true) {
            let shared = match is_old {
                true => Err(refused(
                    "before version 1, DLPack cannot say that memory is read-only: only a copy can be lent",
                )),
                false => self.shared().map_err(refused),
            };
            match shared {
                // SAFETY: `shared` has just exported it.
                Ok(tensor) => return unsafe { capsule(py, tensor, false) },
                Err(reason) if copy == Some(false) => return Err(reason),
                Err(_) => {}
            }
        }
        let tensor = self.copied(py)?;
        // SAFETY: `copied` has just exported it, to be written.
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
        Ok((py.get_type::<Self>().into_any(), (slf.get().shape(), slf.get().tobytes(py))))
    }

    fn _repr_html_(&self) -> Option<String> {
        self.shape()._repr_html_()
    }
}

/// What lends the bytes of a buffer. The buffer does not do so itself: NumPy would take it for an array of bytes.
#[pyclass(frozen, module = "xla_shape")]
struct Bytes(Py<Buffer>);

#[pymethods]
impl Bytes {
    // SAFETY: only Python calls it, with a view to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let owner = slf.clone().into_any();
        let bytes = slf.get().0.get().bytes();
        // SAFETY: `view` is what Python gave; the owner keeps the buffer, which never moves its bytes.
        unsafe { lend(owner, bytes, view, flags) }
    }
}

fn check_length(shape: &ArrayShape, found: usize) -> PyResult<()> {
    match size(shape)? {
        expected if expected == found as u64 => Ok(()),
        expected => Err(shape_error(format_args!("expected {expected} bytes of {shape}, found {found}"))),
    }
}

/// Takes the array that a capsule of DLPack has, where it is.
#[pyfunction]
pub(crate) fn buffer_of_capsule(capsule: &Bound<'_, PyCapsule>) -> PyResult<Buffer> {
    let tensor = tensor_of(capsule)?;
    Ok(Buffer { shape: tensor.shape().clone(), memory: Memory::tensor(tensor) })
}

/// Copies an array into another layout. `source` is a buffer, or bytes of `shape`; with `strided`, an array of bytes whose last
/// dimension is an element and whose other dimensions are those of `shape`, whatever its strides.
#[pyfunction]
pub(crate) fn relayout(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    shape: &Bound<'_, Shape>,
    to: &Bound<'_, Shape>,
    strided: bool,
    threads: Option<Number<usize>>,
) -> PyResult<Buffer> {
    let (shape, to, threads) = (shape.get().array()?, to.get().array()?, counted(threads)?);
    let source = Source::of(source, shape, strided)?;
    let mut result = room(to)?;
    source.copy(py, shape, to, result.as_mut(), &Options::new().zero_padding(), threads)?;
    Ok(Buffer::owned(to.clone(), result))
}

/// As `relayout`, into memory that `out` lends. What holds no element keeps what it has, and so does all of it after an error.
#[pyfunction]
pub(crate) fn relayout_into(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    shape: &Bound<'_, Shape>,
    to: &Bound<'_, Shape>,
    strided: bool,
    threads: Option<Number<usize>>,
    out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let (shape, to, threads) = (shape.get().array()?, to.get().array()?, counted(threads)?);
    let source = Source::of(source, shape, strided)?;
    let mut out = Written::of(out)?;
    let result = out.bytes_beside(&source.addresses(), size(to)?)?;
    source.copy(py, shape, to, result, &Options::new(), threads)
}

fn counted(threads: Option<Number<usize>>) -> PyResult<Option<usize>> {
    match threads.map(|threads| threads.0) {
        Some(0) => Err(shape_error("expected one thread or more, found 0")),
        threads => Ok(threads),
    }
}

/// The array that a copy reads.
enum Source {
    Bytes(Memory),
    /// It has the sizes of its shape, and any strides.
    Elements(Read),
}

impl Source {
    fn of(source: &Bound<'_, PyAny>, shape: &ArrayShape, strided: bool) -> PyResult<Self> {
        let memory = match source.cast::<Buffer>() {
            Ok(buffer) => buffer.get().memory.clone(),
            Err(_) if strided => return Self::elements(source, shape),
            Err(_) => Memory::lent(source)?,
        };
        check_length(shape, memory.as_ref().len())?;
        Ok(Self::Bytes(memory))
    }

    fn elements(source: &Bound<'_, PyAny>, shape: &ArrayShape) -> PyResult<Self> {
        let lent = Read::of(source)?;
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

    /// The addresses between which it lies.
    fn addresses(&self) -> Range<usize> {
        match self {
            Self::Bytes(memory) => {
                let bytes = memory.as_ref().as_ptr_range();
                bytes.start.addr()..bytes.end.addr()
            }
            Self::Elements(lent) => lent.addresses(),
        }
    }

    fn copy(
        &self,
        py: Python<'_>,
        shape: &ArrayShape,
        to: &ArrayShape,
        result: &mut [u8],
        options: &Options,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let lent = match self {
            Self::Bytes(memory) => return copy(py, shape, to, memory.as_ref(), result, options, threads),
            Self::Elements(lent) => lent.elements()?,
        };
        match lent.side_by_side(shape.element_type()) {
            Some((bytes, from)) => copy(py, &from, to, bytes, result, options, threads),
            None => gather(py, &lent, shape, to, result, options, threads),
        }
    }
}

/// The bytes of an array.
fn size(shape: &ArrayShape) -> PyResult<u64> {
    shape.byte_size().ok_or_else(|| shape_error(no_size(&shape.clone().into())))
}

/// Zeroed memory for an array.
fn room(shape: &ArrayShape) -> PyResult<AlignedBytes> {
    let bytes = usize::try_from(size(shape)?).ok().and_then(|bytes| AlignedBytes::zeroed(bytes).ok());
    let no_memory = || pyo3::exceptions::PyMemoryError::new_err(format!("there is no memory for {shape}"));
    let mut bytes = bytes.ok_or_else(no_memory)?;
    prefer_large_pages(bytes.as_mut());
    Ok(bytes)
}

fn copy(
    py: Python<'_>,
    from: &ArrayShape,
    to: &ArrayShape,
    source: &[u8],
    result: &mut [u8],
    options: &Options,
    threads: Option<usize>,
) -> PyResult<()> {
    py.detach(|| {
        let plan = Plan::new(from, to, options).map_err(|error| error.to_string())?;
        run(&plan, source, result, pool_for(result.len(), threads)?.as_deref())
    })
    .map_err(shape_error)
}

/// The most bytes of elements with gaps between them that are gathered at a time.
const GATHERED: usize = 4 << 20;

/// Copies an array with gaps between its elements: a part at a time is gathered.
fn gather(
    py: Python<'_>,
    elements: &Elements<'_>,
    shape: &ArrayShape,
    to: &ArrayShape,
    result: &mut [u8],
    options: &Options,
    threads: Option<usize>,
) -> PyResult<()> {
    let row_major = shape.clone().with_layout(Layout::descending(shape.num_dimensions())).map_err(shape_error)?;
    py.detach(|| {
        let slabs = Slabs::new(&row_major, to, options, GATHERED).map_err(|error| error.to_string())?;
        // Before anything is written: there may be no threads.
        let pool = pool_for(result.len(), threads)?;
        let mut gathered = Vec::new();
        for slab in slabs {
            gathered.clear();
            for piece in slab.source() {
                let start = gathered.len();
                gathered.resize(start + piece.len(), 0);
                elements.copy_row_major(piece.start / elements.width, &mut gathered[start..]);
            }
            let plan = slab.plan().map_err(|error| error.to_string())?;
            for piece in slab.destination() {
                // There is one: these slabs come in order.
                run(&plan, &gathered, &mut result[piece], pool.as_deref())?;
            }
        }
        Ok::<(), String>(())
    })
    .map_err(shape_error)
}

/// Below so many bytes, one thread is as fast.
const PARALLEL: usize = 1 << 20;

/// The threads that fill so many bytes; `None` if this one does it alone.
fn pool_for(bytes: usize, threads: Option<usize>) -> Result<Option<Arc<ThreadPool>>, String> {
    if threads == Some(1) || bytes < PARALLEL {
        return Ok(None);
    }
    // More than there are processors would only take memory.
    let most = available_parallelism().map_or(1, NonZero::get);
    pool(threads.map_or(0, |threads| threads.min(most))).map(Some)
}

fn run(plan: &Plan, source: &[u8], result: &mut [u8], pool: Option<&ThreadPool>) -> Result<(), String> {
    let done = match pool {
        None => plan.run(source, result),
        Some(pool) => pool.install(|| plan.run_in_parallel(source, result)),
    };
    done.map_err(|error| error.to_string())
}

/// The process that made the threads, and how many were asked for; 0 for as many as there are processors.
type Made = Option<(u32, usize, Arc<ThreadPool>)>;

static POOL: Mutex<Made> = Mutex::new(None);

/// Threads of this process: those of a process that was forked are not there.
fn pool(threads: usize) -> Result<Arc<ThreadPool>, String> {
    let process = std::process::id();
    if let Some(made) = try_pool()
        && let Some((owner, count, pool)) = &*made
        && (*owner, *count) == (process, threads)
    {
        return Ok(pool.clone());
    }
    // Nothing is locked while threads are made, which takes long enough for another one to fork.
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string())?);
    let before = try_pool().and_then(|mut made| made.replace((process, threads, pool.clone())));
    if before.as_ref().is_some_and(|&(owner, ..)| owner != process) {
        // Waiting for threads that are not there would take for ever.
        std::mem::forget(before);
    }
    Ok(pool)
}

/// The threads that are kept; `None` if they stay locked, as in a process that was forked at just that moment.
fn try_pool() -> Option<MutexGuard<'static, Made>> {
    for _ in 0..100 {
        match POOL.try_lock() {
            Ok(made) => return Some(made),
            Err(TryLockError::Poisoned(made)) => return Some(made.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}
