//! Memory of arrays, and what Python objects lend.
//!
//! What an object lends through the buffer protocol stays where it is as long as it is lent. That nobody writes it meanwhile
//! is the caller's part, as everywhere in NumPy: a call that reads an array must not run beside one that writes it.

use crate::error::shape_error;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::ops::Range;
use std::slice;
use std::sync::Arc;
use xla_shape::buffer::{AlignedBytes, Storage};
use xla_shape::dlpack::Tensor;
use xla_shape::{ArrayShape, ElementType};

/// Memory of an array, which is there as long as somebody has this value. Nobody writes it.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Data>);

enum Data {
    Owned(AlignedBytes),
    Lent(Read),
    Tensor(Tensor),
}

impl Memory {
    pub(crate) fn owned(bytes: AlignedBytes) -> Self {
        Self(Arc::new(Data::Owned(bytes)))
    }

    /// The bytes that an object lends, if they are in one piece.
    pub(crate) fn lent(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = Read::of(object)?;
        bytes.bytes()?;
        Ok(Self(Arc::new(Data::Lent(bytes))))
    }

    pub(crate) fn tensor(tensor: Tensor) -> Self {
        Self(Arc::new(Data::Tensor(tensor)))
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        match &*self.0 {
            Data::Owned(bytes) => bytes.as_ref(),
            // `lent` saw that they are in one piece.
            Data::Lent(bytes) => bytes.bytes().unwrap_or_default(),
            Data::Tensor(tensor) => tensor.as_ref(),
        }
    }
}

// SAFETY: the memory stays where it is until the last value of it is gone; by the caller's part, nobody writes it meanwhile.
unsafe impl Storage for Memory {}

/// Asks the system for large pages where there is much memory, as NumPy does: filling new memory takes half the time then.
pub(crate) fn prefer_large_pages(memory: &mut [u8]) {
    // The system's pages have at most 64 KiB.
    const PAGE: usize = 64 << 10;
    const MUCH: usize = 4 << 20;
    let skipped = memory.as_ptr().addr().wrapping_neg() % PAGE;
    if let Some(pages) = memory.get_mut(skipped..)
        && pages.len() >= MUCH
    {
        #[cfg(target_os = "linux")]
        // SAFETY: the range is inside the memory, and the advice changes nothing that is in it. The system may refuse it.
        unsafe {
            libc::madvise(pages.as_mut_ptr().cast(), pages.len(), libc::MADV_HUGEPAGE);
        }
    }
}

/// Memory that is lent to be read.
pub(crate) struct Read(PyUntypedBuffer);

/// Memory that is lent to be written.
pub(crate) struct Written(PyUntypedBuffer);

impl Read {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        PyUntypedBuffer::get(object).map(Self)
    }

    /// The bytes, if they are lent in one piece and in row-major order.
    pub(crate) fn bytes(&self) -> PyResult<&[u8]> {
        if !self.0.is_c_contiguous() {
            return Err(shape_error("expected bytes in one piece, found an array with gaps or in another order"));
        }
        let length = self.0.len_bytes();
        if length == 0 {
            return Ok(&[]);
        }
        // SAFETY: the memory is lent, contiguous and as long; by the caller's part, it is not written meanwhile.
        Ok(unsafe { slice::from_raw_parts(self.0.buf_ptr().cast::<u8>(), length) })
    }

    /// The addresses that the array spans, gaps between its elements included.
    pub(crate) fn addresses(&self) -> Range<usize> {
        addresses(&self.0)
    }

    /// The numbers of an array of int64.
    pub(crate) fn numbers(&self) -> PyResult<&[i64]> {
        let start = numbers(&self.0)?;
        if self.0.item_count() == 0 {
            return Ok(&[]);
        }
        // SAFETY: `numbers` checked that as many int64 are there, aligned; by the caller's part, they are not written meanwhile.
        Ok(unsafe { slice::from_raw_parts(start, self.0.item_count()) })
    }

    /// The elements of an array of bytes whose last dimension is an element.
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
}

impl Written {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        if buffer.readonly() {
            return Err(PyBufferError::new_err("expected memory that can be written, found read-only memory"));
        }
        Ok(Self(buffer))
    }

    /// The bytes, if they are in one piece and as many as are expected. None may be between the addresses that are read.
    pub(crate) fn bytes_beside(&mut self, read: &Range<usize>, expected: u64) -> PyResult<&mut [u8]> {
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
        // SAFETY: the memory is lent to be written, contiguous and as long; what else this call reads lies elsewhere, and by the
        // caller's part, nobody else reads or writes it meanwhile.
        Ok(unsafe { slice::from_raw_parts_mut(self.0.buf_ptr().cast::<u8>(), length) })
    }

    /// The numbers of an array of int64, which has no memory in common with another one.
    pub(crate) fn numbers_beside(&mut self, other: &Read) -> PyResult<&mut [i64]> {
        let start = numbers(&self.0)?;
        if self.0.item_count() == 0 {
            return Ok(&mut []);
        }
        numbers(&other.0)?;
        if overlap(&addresses(&self.0), &other.addresses()) {
            return Err(shape_error("expected room that is not that of the numbers themselves"));
        }
        // SAFETY: `numbers` checked that as many int64 are there, aligned; the only other array of this call lies elsewhere.
        Ok(unsafe { slice::from_raw_parts_mut(start, self.0.item_count()) })
    }
}

/// The addresses that the elements of an array span.
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

/// Whether memory is in both.
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

/// Where the numbers of an array of int64 begin.
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

// SAFETY: lent memory can be read from any thread; the lender is not touched.
unsafe impl Sync for Elements<'_> {}

impl<'a> Elements<'a> {
    /// The bytes and the shape, if the elements lie side by side in some order.
    pub(crate) fn side_by_side(&self, element_type: ElementType) -> Option<(&'a [u8], ArrayShape)> {
        let sizes = self.sizes.iter().map(|&size| size as u64).collect::<Vec<_>>();
        let width = i64::try_from(self.width).ok()?;
        let strides = self.strides.iter().map(|&stride| (stride as i64 % width == 0).then_some(stride as i64 / width));
        let shape = ArrayShape::from_strides(element_type, &sizes, &strides.collect::<Option<Vec<_>>>()?).ok()?;
        let length = usize::try_from(shape.byte_size()?).ok()?;
        // Gaps between elements are padding of tiles; behind the last element there need not be any.
        if !shape.layout().tiles().is_empty() || length != self.count().saturating_mul(self.width) {
            return None;
        }
        if length == 0 {
            return Some((&[], shape));
        }
        // SAFETY: the strides say that the elements fill these bytes, which are lent; by the caller's part, they are not written
        // meanwhile.
        let bytes = unsafe { slice::from_raw_parts(self.buffer.buf_ptr().cast::<u8>(), length) };
        Some((bytes, shape))
    }

    /// How many elements there are; what a lender says need not fit in memory.
    fn count(&self) -> usize {
        self.sizes.iter().fold(1, |count, &size| count.saturating_mul(size))
    }

    /// Copies elements in row-major order, from this one on, as many as fill the room.
    pub(crate) fn copy_row_major(&self, first: usize, room: &mut [u8]) {
        let wanted = room.len() / self.width;
        assert!(first.checked_add(wanted).is_some_and(|end| end <= self.count()), "elements are inside the array");
        let mut rest = first;
        let mut index = vec![0; self.sizes.len()];
        for (number, &size) in index.iter_mut().zip(self.sizes).rev() {
            *number = rest % size.max(1);
            rest /= size.max(1);
        }
        let (row, along) = match (self.sizes.last(), self.strides.last()) {
            (Some(&row), Some(&along)) => (row, along),
            // A single element.
            _ => (1, 0),
        };
        let mut room = room;
        while room.len() >= self.width {
            let start = index.last().copied().unwrap_or(0);
            let count = (row - start).min(room.len() / self.width);
            let offset =
                index.iter().zip(self.strides).map(|(&number, &stride)| number as isize * stride).sum::<isize>();
            // SAFETY: the index is inside the array, whose strides lead to lent memory.
            let from = unsafe { self.buffer.buf_ptr().cast::<u8>().offset(offset) };
            let (now, later) = room.split_at_mut(count * self.width);
            if along == self.width as isize {
                // SAFETY: `count` elements from here on are inside the row, and lie side by side.
                now.copy_from_slice(unsafe { slice::from_raw_parts(from, now.len()) });
            } else {
                for (number, element) in now.chunks_exact_mut(self.width).enumerate() {
                    // SAFETY: as above; the element is `number` strides along the row, and inside it.
                    let from = unsafe { from.offset(number as isize * along) };
                    // SAFETY: an element has so many bytes side by side.
                    element.copy_from_slice(unsafe { slice::from_raw_parts(from, element.len()) });
                }
            }
            room = later;
            // The first index of the next row.
            if let Some((last, outer)) = index.split_last_mut() {
                *last += count;
                if *last == row {
                    *last = 0;
                    for (number, &size) in outer.iter_mut().zip(self.sizes).rev() {
                        *number += 1;
                        if *number < size {
                            break;
                        }
                        *number = 0;
                    }
                }
            }
        }
    }
}

/// Lends bytes that `owner` keeps where they are for as long as it lives, to be read.
///
/// # Safety
/// `view` must be what Python gave to `__getbuffer__`, and the bytes must be those of `owner`.
pub(crate) unsafe fn lend(
    owner: Bound<'_, PyAny>,
    bytes: &[u8],
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    let (py, start) = (owner.py(), bytes.as_ptr().cast_mut().cast());
    // SAFETY: `view` is Python's; it takes a reference to the owner, which keeps the bytes, and is told not to write them.
    let result = unsafe { ffi::PyBuffer_FillInfo(view, owner.as_ptr(), start, bytes.len().cast_signed(), 1, flags) };
    if result == 0 { Ok(()) } else { Err(PyErr::fetch(py)) }
}
