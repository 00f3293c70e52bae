//! Memory of arrays, and memory that Python objects export through the buffer protocol.
//!
//! # What SAFETY comments rely on
//!
//! - *Exported memory*: while a `Py_buffer` or a `memoryview` is held, its exporter neither frees nor moves the memory (PEP 3118).
//! - *No concurrent writes*: nobody writes an array while a call reads it, or uses it while a call writes it. The caller in Python
//!   must see to that, as with NumPy: threads that share an array must synchronise.

use crate::error::shape_error;
use crate::reuse::Reusable;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use std::ffi::{CStr, c_int, c_long};
use std::ops::Range;
use std::sync::Arc;
use std::{ptr, slice};
use xla_shape::buffer::{AlignedBytes, Storage};
use xla_shape::dlpack::Tensor;
use xla_shape::map::{increment, row_major_index};
use xla_shape::{ArrayShape, ElementType};

/// The memory of an array, which several arrays may share. Nobody writes it.
pub(crate) enum Memory {
    Owned(Arc<Reusable>),
    Lent(Loan),
    Tensor(Arc<Tensor>),
}

/// A reference to lent bytes that is released as soon as it is dropped, even if another library drops it, for example in a DLPack deleter. A
/// bare `Py` would then not be released until this module is called again. `None` only while it is dropped.
pub(crate) struct Loan(Option<Py<Lent>>);

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(lent) = self.0.take() {
            // If the interpreter is gone, nobody needs the memory any more.
            Python::try_attach(|py| lent.drop_ref(py));
        }
    }
}

/// Bytes that a Python object exports, in one piece.
///
/// A `memoryview` holds the export; this struct has no `Py_buffer` of its own. The reason is how CPython 3.12 and 3.13 clear a reference cycle
/// through an exporter whose class is written in Python (`__buffer__`). They crash if a `memoryview` in the cycle is itself exported, but release an
/// export that a `memoryview` holds in the right order. Like a tuple, this object has no `__clear__`, because it never changes: every cycle has an
/// object that can change, and the collector clears that one.
#[pyclass(frozen, module = "xla_shape._native")]
pub(crate) struct Lent {
    view: Py<PyMemoryView>,
    /// The memory of `view`.
    bytes: *const [u8],
}

// SAFETY: nobody writes the bytes (*no concurrent writes*), so all threads may read them, and each may release the `memoryview`.
unsafe impl Send for Lent {}
// SAFETY: as for `Send`.
unsafe impl Sync for Lent {}

#[pymethods]
impl Lent {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.view)
    }
}

impl Memory {
    pub(crate) fn owned(bytes: AlignedBytes) -> Self {
        Self::Owned(Arc::new(Reusable::new(bytes)))
    }

    /// The bytes that an object exports, if they are contiguous.
    pub(crate) fn lent(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let view = PyMemoryView::from(object)?;
        let bytes = ptr::from_ref(ReadableBuffer::of(&view)?.bytes()?);
        let lent = Py::new(object.py(), Lent { view: view.unbind(), bytes })?;
        Ok(Self::Lent(Loan(Some(lent))))
    }

    pub(crate) fn tensor(tensor: Tensor) -> Self {
        Self::Tensor(Arc::new(tensor))
    }

    /// The same memory for another array.
    pub(crate) fn share(&self, py: Python<'_>) -> Self {
        match self {
            Self::Owned(bytes) => Self::Owned(bytes.clone()),
            Self::Lent(Loan(lent)) => Self::Lent(Loan(lent.as_ref().map(|lent| lent.clone_ref(py)))),
            Self::Tensor(tensor) => Self::Tensor(tensor.clone()),
        }
    }

    /// Shows the garbage collector the one Python object that it refers to, if any.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Self::Lent(Loan(lent)) = self { visit.call(lent) } else { Ok(()) }
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => (**bytes).as_ref(),
            // SAFETY: `Memory::lent` got these bytes from the exporter, which keeps them until `view` releases them (*exported memory*). Before
            // `Lent` is dropped, only the garbage collector releases `view`, when it clears a cycle; no code reaches the objects of the cycle any
            // more. Nobody writes the bytes (*no concurrent writes*).
            Self::Lent(Loan(lent)) => lent.as_ref().map(|lent| unsafe { &*lent.get().bytes }).unwrap_or_default(),
            Self::Tensor(tensor) => (**tensor).as_ref(),
        }
    }
}

// SAFETY: `as_ref` returns the same memory each time, and that memory lives as long as the value. `Reusable` or `Tensor` owns it, or it is
// exported to the `memoryview` of a `Lent`. The value keeps that `memoryview` alive, and no code runs that could see it released (*exported memory*).
// Nobody writes the memory (*no concurrent writes*).
unsafe impl Storage for Memory {}

/// Advises the system to use huge pages for memory of 4 MiB or more, as NumPy does (`indicate_hugepages` in
/// `numpy/_core/src/multiarray/alloc.cpp`): that halves the time of filling new memory.
#[cfg(target_os = "linux")]
pub(crate) fn prefer_large_pages(memory: *mut [u8]) {
    // At least the system's page size.
    const PAGE: usize = 64 << 10;
    const MUCH: usize = 4 << 20;
    if memory.len() >= MUCH {
        let first = memory.cast::<u8>();
        let skipped = first.addr().wrapping_neg() % PAGE;
        // SAFETY: `MADV_HUGEPAGE` changes no memory, whatever is there, and if nothing is there, it returns an error. Errors do not matter.
        unsafe {
            libc::madvise(first.wrapping_add(skipped).cast(), memory.len() - skipped, libc::MADV_HUGEPAGE);
        }
    }
}

/// Only Linux takes this advice.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prefer_large_pages(_memory: *mut [u8]) {}

/// Memory that a Python object exports for reading.
pub(crate) struct ReadableBuffer(PyUntypedBuffer);

/// How the elements of an array lie, if they are contiguous in some order of dimensions. Only [`ReadableBuffer::arranged`] makes one.
pub(crate) struct Arrangement {
    format: &'static CStr,
    /// The bytes of an element.
    width: usize,
    sizes: Box<[usize]>,
    strides: Box<[isize]>,
    /// The bytes of all elements.
    length: usize,
}

/// Memory that a Python object exports for writing.
pub(crate) struct WritableBuffer(PyUntypedBuffer);

impl ReadableBuffer {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        PyUntypedBuffer::get(object).map(Self)
    }

    /// The bytes, if the array is contiguous and row-major.
    pub(crate) fn bytes(&self) -> PyResult<&[u8]> {
        if !self.0.is_c_contiguous() {
            return Err(shape_error("expected bytes in one piece, found an array with gaps or in another order"));
        }
        let length = self.0.len_bytes();
        if length == 0 {
            return Ok(&[]);
        }
        // SAFETY: the exporter says that the array is C-contiguous and has `length` bytes from `buf` on; it is valid while `self` holds
        // the buffer (*exported memory*), and nobody writes it (*no concurrent writes*).
        Ok(unsafe { slice::from_raw_parts(self.0.buf_ptr().cast::<u8>(), length) })
    }

    /// The range of addresses from the first to the last element, with all gaps between them.
    pub(crate) fn addresses(&self) -> Range<usize> {
        addresses(&self.0)
    }

    /// The numbers of an array of int64.
    pub(crate) fn numbers(&self) -> PyResult<&[i64]> {
        let start = numbers(&self.0)?;
        if self.0.item_count() == 0 {
            return Ok(&[]);
        }
        // SAFETY: `numbers` has checked that the array is contiguous, aligned, and of 64-bit integers; its item count is not 0. It is
        // valid while `self` holds the buffer (*exported memory*), and nobody writes it (*no concurrent writes*).
        Ok(unsafe { slice::from_raw_parts(start, self.0.item_count()) })
    }

    /// The elements of an array of bytes whose last dimension is the bytes of an element.
    pub(crate) fn elements(&self) -> PyResult<Elements<'_>> {
        let strides = self.0.strides();
        let (Some((&width, sizes)), Some((&last, strides))) = (self.0.shape().split_last(), strides.split_last())
        else {
            return Err(shape_error("expected an array of bytes, found a single one"));
        };
        let is_plain = self.0.item_size() == 1 && self.0.suboffsets().is_none();
        if !is_plain || width == 0 || (width > 1 && last != 1) {
            return Err(shape_error("expected an array of bytes whose last dimension is an element"));
        }
        Ok(Elements { buffer: &self.0, sizes, strides, width })
    }

    /// The bytes and the shape of an array of numbers, if Python has a format for them, and they are contiguous in some order of dimensions.
    pub(crate) fn array(&self) -> Option<(&[u8], ArrayShape)> {
        let buffer = &self.0;
        let format = buffer.format();
        let element_type = ElementType::ALL.iter().copied().find(|known| self::format(*known) == Some(format))?;
        // A scalar has no list of sizes.
        if buffer.dimensions() == 0 || buffer.suboffsets().is_some() {
            return None;
        }
        Elements { buffer, sizes: buffer.shape(), strides: buffer.strides(), width: buffer.item_size() }
            .side_by_side(element_type)
    }

    /// Like [`array`](Self::array), but also returns the arrangement by which [`bytes_as`](Self::bytes_as) recognizes
    /// later arrays of the same shape.
    pub(crate) fn arranged(&self) -> Option<(&[u8], ArrayShape, Arrangement)> {
        let (bytes, shape) = self.array()?;
        let (sizes, strides) = (self.0.shape().into(), self.0.strides().into());
        let format = format(shape.element_type())?;
        Some((bytes, shape, Arrangement { format, width: self.0.item_size(), sizes, strides, length: bytes.len() }))
    }

    /// The bytes, if the elements are arranged in this way.
    pub(crate) fn bytes_as(&self, arrangement: &Arrangement) -> Option<&[u8]> {
        let Arrangement { format, width, sizes, strides, length } = arrangement;
        let buffer = &self.0;
        let is_same = *buffer.shape() == **sizes
            && *buffer.strides() == **strides
            && buffer.item_size() == *width
            && buffer.format() == *format
            && buffer.suboffsets().is_none();
        if !is_same || *length == 0 {
            return is_same.then_some(&[]);
        }
        // SAFETY: the elements are exactly the `length` bytes from `buf` on, as `arranged` found for an array with the same sizes, strides and
        // bytes per element. They are valid while the buffer is held (*exported memory*), and nobody writes them (*no concurrent writes*).
        Some(unsafe { slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), *length) })
    }

    /// The same memory, for writing; `None` if it is read-only, its bytes are not contiguous, or its items are not plain numbers.
    pub(crate) fn into_writable(self) -> Option<WritableBuffer> {
        let is_plain = !self.0.readonly() && self.0.is_c_contiguous() && has_plain_numbers(&self.0);
        is_plain.then_some(WritableBuffer(self.0))
    }
}

impl WritableBuffer {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        if buffer.readonly() {
            return Err(PyBufferError::new_err("expected memory that can be written, found read-only memory"));
        }
        Ok(Self(buffer))
    }

    /// The bytes, for writing. An error unless they are contiguous, as many as `expected`, and outside the addresses `read`.
    pub(crate) fn disjoint_bytes_mut(&mut self, read: &Range<usize>, expected: u64) -> PyResult<&mut [u8]> {
        if !has_plain_numbers(&self.0) {
            return Err(shape_error(format_args!(
                "expected bytes or numbers as `out`, found items of format {}",
                self.0.format().to_string_lossy()
            )));
        }
        if !self.0.is_c_contiguous() {
            return Err(shape_error("expected `out` in one piece, found an array with gaps or in another order"));
        }
        let length = self.0.len_bytes();
        if length as u64 != expected {
            return Err(shape_error(format_args!("expected {expected} bytes in `out`, found {length}")));
        }
        if overlap(&addresses(&self.0), read) {
            return Err(shape_error("expected `out` in other memory than that of the array that is copied"));
        }
        if length == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the exporter says that the array is writable, C-contiguous and has `length` bytes from `buf` on; it is valid while
        // `self` holds the buffer (*exported memory*). Its items are plain numbers, so any bytes may be written. It does not overlap
        // with `read`, the only other memory of this call, and nobody else uses it (*no concurrent writes*).
        Ok(unsafe { slice::from_raw_parts_mut(self.0.buf_ptr().cast::<u8>(), length) })
    }

    /// The numbers of an array of int64 that does not overlap with `other`.
    pub(crate) fn disjoint_numbers_mut(&mut self, other: &ReadableBuffer) -> PyResult<&mut [i64]> {
        let start = numbers(&self.0)?;
        if self.0.item_count() == 0 {
            return Ok(&mut []);
        }
        numbers(&other.0)?;
        if overlap(&addresses(&self.0), &other.addresses()) {
            return Err(shape_error(
                "expected separate memory for the result, found memory that overlaps with the numbers",
            ));
        }
        // SAFETY: `numbers` has checked that the array is contiguous, aligned, and of 64-bit integers; `of` has checked that it is
        // writable, and its item count is not 0. It does not overlap with `other`, the only other array of this call, and nobody else
        // uses it (*no concurrent writes*).
        Ok(unsafe { slice::from_raw_parts_mut(start, self.0.item_count()) })
    }
}

/// The range of addresses from the first to the last element of an array.
fn addresses(buffer: &PyUntypedBuffer) -> Range<usize> {
    let start = buffer.buf_ptr().addr();
    if buffer.len_bytes() == 0 {
        return start..start;
    }
    let mut range = start..start.saturating_add(buffer.item_size());
    for (&size, &stride) in buffer.shape().iter().zip(buffer.strides()) {
        let reach = stride.unsigned_abs().saturating_mul(size.saturating_sub(1));
        match stride < 0 {
            true => range.start = range.start.saturating_sub(reach),
            false => range.end = range.end.saturating_add(reach),
        }
    }
    range
}

/// Whether two ranges of addresses overlap.
fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start.max(other.start) < one.end.min(other.end)
}

/// Whether the items of a buffer are plain numbers, so that any bytes can be written to them: not references to objects.
fn has_plain_numbers(buffer: &PyUntypedBuffer) -> bool {
    let format = buffer.format().to_bytes();
    let order = format.first().is_some_and(|first| b"@=<>!^".contains(first));
    let format = &format[usize::from(order)..];
    matches!(format.strip_prefix(b"Z").unwrap_or(format), [code] if b"?cbBhHiIlLqQnNefdg".contains(code))
}

/// The address of an array of int64; an error if the array is not contiguous, not aligned or of another type.
fn numbers(buffer: &PyUntypedBuffer) -> PyResult<*mut i64> {
    let start = buffer.buf_ptr().cast::<i64>();
    let is_whole = buffer.item_size() == size_of::<i64>() && buffer.is_c_contiguous();
    match is_whole && start.is_aligned() && matches!(buffer.format().to_bytes(), b"l" | b"q") {
        true => Ok(start),
        false => Err(shape_error("expected a contiguous array of int64")),
    }
}

/// The elements of an array, with any strides.
pub(crate) struct Elements<'a> {
    buffer: &'a PyUntypedBuffer,
    pub(crate) sizes: &'a [usize],
    strides: &'a [isize],
    /// The bytes of an element.
    pub(crate) width: usize,
}

// SAFETY: `Elements` only reads fields of the `Py_buffer`, which do not change, and the memory that it describes, which nobody writes
// (*no concurrent writes*). Neither needs the GIL.
unsafe impl Sync for Elements<'_> {}

impl<'a> Elements<'a> {
    /// The bytes and the shape, if the elements are contiguous in some order of dimensions.
    pub(crate) fn side_by_side(&self, element_type: ElementType) -> Option<(&'a [u8], ArrayShape)> {
        let sizes = self.sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
        let width = i64::try_from(self.width).ok()?;
        let strides = self.strides.iter().map(|&stride| (stride as i64 % width == 0).then_some(stride as i64 / width));
        let shape = ArrayShape::from_strides(element_type, &sizes, &strides.collect::<Option<Vec<_>>>()?).ok()?;
        let length = usize::try_from(shape.byte_size()?).ok()?;
        // If elements have gaps between them, `from_strides` returns tiles with padding. The memory may end before the padding of the last element,
        // so such arrays are refused here.
        if !shape.layout().tiles().is_empty() || length != self.count().saturating_mul(self.width) {
            return None;
        }
        if length == 0 {
            return Some((&[], shape));
        }
        // SAFETY: the shape has these strides, no tiles, and as many bytes as its elements, so the elements are exactly the `length`
        // bytes from `buf` on; strides are not negative. They are valid while the buffer is held (*exported memory*), and nobody writes
        // them (*no concurrent writes*).
        let bytes = unsafe { slice::from_raw_parts(self.buffer.buf_ptr().cast::<u8>(), length) };
        Some((bytes, shape))
    }

    /// The number of elements. It saturates, because an exporter may claim any sizes.
    fn count(&self) -> usize {
        self.sizes.iter().fold(1, |count, &size| count.saturating_mul(size))
    }

    /// Copies elements in row-major order into `target`, beginning with element number `first`, until `target` is full.
    ///
    /// # Panics
    /// If the array has fewer elements.
    pub(crate) fn copy_row_major(&self, first: usize, target: &mut [u8]) {
        let wanted = target.len() / self.width;
        assert!(first.checked_add(wanted).is_some_and(|end| end <= self.count()), "elements are inside the array");
        let sizes = self.sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
        let mut index = row_major_index(first as u64, &sizes);
        let (row, along) = match (self.sizes.last(), self.strides.last()) {
            (Some(&row), Some(&along)) => (row, along),
            // A single element.
            _ => (1, 0),
        };
        let mut target = target;
        while target.len() >= self.width {
            // The cast is exact: the number is less than a size, which is a `usize`.
            let start = index.last().map_or(0, |&number| number as usize);
            let count = (row - start).min(target.len() / self.width);
            let offset =
                index.iter().zip(self.strides).map(|(&number, &stride)| number as isize * stride).sum::<isize>();
            // SAFETY: each number of `index` is below its size, so the sum of products with the strides leads to an element of the
            // exported array, relative to `buf` (*exported memory*).
            let from = unsafe { self.buffer.buf_ptr().cast::<u8>().offset(offset) };
            let (now, later) = target.split_at_mut(count * self.width);
            if along == self.width as isize {
                // SAFETY: `start + count` is at most the row's size, and the stride equals the width, so the next `count` elements
                // are contiguous; nobody writes them (*no concurrent writes*).
                now.copy_from_slice(unsafe { slice::from_raw_parts(from, now.len()) });
            } else {
                for (number, element) in now.chunks_exact_mut(self.width).enumerate() {
                    // SAFETY: `number` is less than `count`, so this is an element of the same row.
                    let from = unsafe { from.offset(number as isize * along) };
                    // SAFETY: an element is `width` contiguous bytes (`elements` has checked its stride), as long as `element`.
                    element.copy_from_slice(unsafe { slice::from_raw_parts(from, element.len()) });
                }
            }
            target = later;
            // The first index of the next row.
            if let (Some((last, outer)), Some((&row, outer_sizes))) = (index.split_last_mut(), sizes.split_last()) {
                *last += count as u64;
                if *last == row {
                    *last = 0;
                    increment(outer, outer_sizes);
                }
            }
        }
    }
}

/// An array to export for reading: the format of its items, their number in each dimension, and their distances.
pub(crate) struct ExportedArray {
    /// The format of an item, as in Python's module `struct`.
    format: &'static CStr,
    /// The bytes of an item.
    width: isize,
    sizes: Vec<isize>,
    /// In bytes.
    strides: Vec<isize>,
}

impl ExportedArray {
    /// An array of elements; `None` if Python has no format for the type. Strides are in bytes.
    pub(crate) fn elements(element_type: ElementType, sizes: Vec<isize>, strides: Vec<isize>) -> Option<Self> {
        let width = isize::try_from(element_type.storage_bits() / 8).ok()?;
        Some(Self { format: format(element_type)?, width, sizes, strides })
    }

    /// An array of `count` bytes.
    pub(crate) fn bytes(count: usize) -> Self {
        Self { format: c"B", width: 1, sizes: vec![count.cast_signed()], strides: vec![1] }
    }

    /// An array whose elements take `width` bytes, each exported as a row of bytes.
    pub(crate) fn rows(width: isize, mut sizes: Vec<isize>, mut strides: Vec<isize>) -> Self {
        sizes.push(width);
        strides.push(1);
        Self { format: c"B", width: 1, sizes, strides }
    }

    /// The bytes of all items.
    fn len(&self) -> isize {
        self.sizes.iter().fold(self.width, |bytes, &size| bytes.saturating_mul(size))
    }

    /// Whether the items are contiguous in this order of dimensions, most minor first.
    fn is_contiguous(&self, mut minor_to_major: impl Iterator<Item = usize>) -> bool {
        let mut expected = self.width;
        let is_next = |dimension: usize| {
            let (size, stride) = (self.sizes[dimension], self.strides[dimension]);
            let is_next = size == 1 || stride == expected;
            expected = expected.saturating_mul(size);
            is_next
        };
        self.sizes.contains(&0) || minor_to_major.all(is_next)
    }

    /// The reason why the array cannot be exported for a request with these flags; `None` if it can.
    fn refusal(&self, flags: c_int) -> Option<&'static str> {
        let asks = |flag: c_int| flags & flag == flag;
        let rank = self.sizes.len();
        let is_row_major = self.is_contiguous((0..rank).rev());
        let is_column_major = self.is_contiguous(0..rank);
        if asks(ffi::PyBUF_WRITABLE) {
            return Some("expected memory that can be written, found read-only memory");
        }
        // A consumer that requests neither a format nor a shape would take the elements for bytes; torch would even write them.
        if self.format != c"B" && !(asks(ffi::PyBUF_ND) && asks(ffi::PyBUF_FORMAT)) {
            return Some(
                "expected a request for typed elements, found one for bytes: `tobytes()` copies the bytes, `data` exports them",
            );
        }
        if (!asks(ffi::PyBUF_STRIDES) || asks(ffi::PyBUF_C_CONTIGUOUS)) && !is_row_major {
            return Some(
                "expected a contiguous array in row-major order, found another: `tobytes()` copies the bytes as they are",
            );
        }
        if asks(ffi::PyBUF_F_CONTIGUOUS) && !is_column_major {
            return Some(
                "expected a contiguous array in column-major order, found another: `tobytes()` copies the bytes as they are",
            );
        }
        let is_in_one_piece = is_row_major || is_column_major;
        (asks(ffi::PyBUF_ANY_CONTIGUOUS) && !is_in_one_piece)
            .then_some("expected a contiguous array, found one with gaps: `tobytes()` copies the bytes as they are")
    }
}

/// The format of a type in Python's module `struct` and in NumPy; `None` if they do not have it.
fn format(element_type: ElementType) -> Option<&'static CStr> {
    Some(match element_type.npy_code()? {
        "b1" => c"?",
        "i1" => c"b",
        "u1" => c"B",
        "i2" => c"h",
        "u2" => c"H",
        "i4" => c"i",
        "u4" => c"I",
        // NumPy's format where `long` has 64 bits.
        "i8" if size_of::<c_long>() == 8 => c"l",
        "u8" if size_of::<c_long>() == 8 => c"L",
        "i8" => c"q",
        "u8" => c"Q",
        "f2" => c"e",
        "f4" => c"f",
        "f8" => c"d",
        "c8" => c"Zf",
        "c16" => c"Zd",
        _ => return None,
    })
}

/// Fills a view with an array that is exported for reading.
///
/// # Safety
/// `view` is the pointer that Python has passed to `__getbuffer__`, and `__releasebuffer__` calls `release_view` with it. `array`
/// describes the memory at `first`: following its strides from there, each element is `width` readable bytes, which `owner` neither
/// frees nor moves as long as it lives.
pub(crate) unsafe fn fill_view(
    owner: Bound<'_, PyAny>,
    first: *const u8,
    array: ExportedArray,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    let mut filled = ffi::Py_buffer::new();
    if let Some(refusal) = array.refusal(flags) {
        // SAFETY: `view` is valid for writes (caller). With `obj` null, Python knows that nothing is exported.
        unsafe { view.write(filled) };
        return Err(PyBufferError::new_err(refusal));
    }
    let asks = |flag: c_int| flags & flag == flag;
    // Fields that were not requested must be null.
    let shown = |pointer: *mut isize, flag: c_int| if asks(flag) { pointer } else { ptr::null_mut() };
    let mut array = Box::new(array);
    filled.buf = first.cast_mut().cast();
    filled.len = array.len();
    filled.itemsize = array.width;
    filled.readonly = 1;
    // The number of dimensions always fits: it is the length of a list in memory, and shapes have far fewer than 2^31.
    filled.ndim = c_int::try_from(array.sizes.len()).unwrap_or_default();
    filled.format = if asks(ffi::PyBUF_FORMAT) { array.format.as_ptr().cast_mut() } else { ptr::null_mut() };
    filled.shape = shown(array.sizes.as_mut_ptr(), ffi::PyBUF_ND);
    filled.strides = shown(array.strides.as_mut_ptr(), ffi::PyBUF_STRIDES);
    filled.obj = owner.into_ptr();
    filled.internal = Box::into_raw(array).cast();
    // SAFETY: `view` is valid for writes (caller). Its `obj` holds a reference to the owner, which keeps the elements, and `internal`
    // a box that keeps the lists of sizes and strides until `release_view`.
    unsafe { view.write(filled) };
    Ok(())
}

/// Frees the lists of a view that `fill_view` has filled.
///
/// # Safety
/// `view` is the pointer that Python has passed to `__releasebuffer__`; `fill_view` has filled it.
pub(crate) unsafe fn release_view(view: *mut ffi::Py_buffer) {
    // SAFETY: `view` is valid until `__releasebuffer__` returns (caller).
    let lists = unsafe { (*view).internal };
    // SAFETY: `fill_view` has made it from a `Box<ExportedArray>`, and Python releases each view once.
    drop(unsafe { Box::from_raw(lists.cast::<ExportedArray>()) });
}
