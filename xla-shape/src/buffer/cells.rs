//! Reading and writing elements at positions: the ground floor of buffers, and the one place that does so.
//!
//! All `unsafe` code that reads or writes an element is here; what is above proves that positions are right.

use super::bits;
use crate::element::{Plain, Stored};
use std::marker::PhantomData;
use std::ops::Range;
use xla_shape_core::ElementType;

/// How wide an element is in memory, compared with its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    /// As many bytes as its type takes.
    Whole,
    /// This many bits, at least those of its type.
    Bits(usize),
}

impl Width {
    /// The width of elements that a layout gives `element_bits`; `None` if their values do not fit.
    pub(crate) const fn new(element_type: ElementType, element_bits: u64) -> Option<Self> {
        if element_bits == element_type.storage_bits() {
            Some(Self::Whole)
        } else if element_bits >= element_type.bits() {
            Some(Self::Bits(element_bits as usize))
        } else {
            None
        }
    }
}

/// The elements of an array in memory that can be read.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a, E> {
    /// Behind the prefix.
    first: *const u8,
    /// How many bytes there are from there on.
    len: usize,
    width: Width,
    element: PhantomData<(E, &'a [u8])>,
}

impl<'a, E: Stored> Cells<'a, E> {
    /// # Safety
    /// There must be `len` bytes at `first` for `'a`, which are elements of type `E` with this width; those of the elements
    /// that are read later must be initialised, and nobody may write them.
    #[inline(always)]
    pub(crate) unsafe fn new(first: *const u8, len: usize, width: Width) -> Self {
        Self { first, len, width, element: PhantomData }
    }

    /// The element at a position.
    ///
    /// # Safety
    /// It must be that of an element of the array.
    #[inline(always)]
    pub(crate) unsafe fn read(self, position: usize) -> E::Value {
        match self.width {
            Width::Whole => {
                debug_assert!((position + 1) * size_of::<E::Bytes>() <= self.len);
                // SAFETY: an element of this width has as many bytes as `E::Bytes`, and the position is that of one.
                let element = unsafe { self.first.cast::<E::Bytes>().add(position) };
                // SAFETY: all bytes of that element are there, and initialised; bytes need no alignment.
                E::from_le_bytes(unsafe { element.read_unaligned() })
            }
            Width::Bits(width) => {
                debug_assert!(((position + 1) * width).div_ceil(8) <= self.len);
                // SAFETY: packed elements are only ever in memory that belongs to the buffer as a whole.
                bits::read::<E>(unsafe { std::slice::from_raw_parts(self.first, self.len) }, width, position)
            }
        }
    }
}

/// The elements of an array in memory that can be written.
pub(crate) struct CellsMut<'a, E> {
    first: *mut u8,
    len: usize,
    width: Width,
    element: PhantomData<(E, &'a mut [u8])>,
}

impl<'a, E: Stored> CellsMut<'a, E> {
    /// # Safety
    /// Like [`Cells::new`], and nobody else may read or write the elements that are written later.
    #[inline(always)]
    pub(crate) unsafe fn new(first: *mut u8, len: usize, width: Width) -> Self {
        Self { first, len, width, element: PhantomData }
    }

    /// Writes the element at a position.
    ///
    /// # Safety
    /// It must be that of an element of the array.
    #[inline(always)]
    pub(crate) unsafe fn write(&mut self, position: usize, value: E::Value) {
        match self.width {
            Width::Whole => {
                debug_assert!((position + 1) * size_of::<E::Bytes>() <= self.len);
                // SAFETY: as in `Cells::read`.
                let element = unsafe { self.first.cast::<E::Bytes>().add(position) };
                // SAFETY: as in `Cells::read`; the bytes are borrowed mutably.
                unsafe { element.write_unaligned(E::to_le_bytes(value)) };
            }
            Width::Bits(width) => {
                debug_assert!(((position + 1) * width).div_ceil(8) <= self.len);
                // SAFETY: packed elements are only ever in memory that belongs to the buffer as a whole.
                bits::write::<E>(
                    unsafe { std::slice::from_raw_parts_mut(self.first, self.len) },
                    width,
                    position,
                    value,
                );
            }
        }
    }
}

/// Whole elements as values, to be borrowed by ranges of positions.
pub(crate) struct Values<'a, E: Plain> {
    first: *const E::Value,
    len: usize,
    values: PhantomData<&'a [E::Value]>,
}

impl<E: Plain> Clone for Values<'_, E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Plain> Copy for Values<'_, E> {}

impl<'a, E: Plain> Values<'a, E> {
    /// # Safety
    /// There must be room for `len` values at `first` for `'a`, aligned if there is one; those that are borrowed later must be
    /// initialised, and nobody may write them.
    #[inline(always)]
    pub(crate) unsafe fn new(first: *const u8, len: usize) -> Self {
        let first = if len == 0 { std::ptr::NonNull::dangling().as_ptr() } else { first.cast() };
        Self { first, len, values: PhantomData }
    }

    /// The value at a position.
    ///
    /// # Safety
    /// It must be that of an element of the array.
    #[inline(always)]
    pub(crate) unsafe fn at(self, position: usize) -> &'a E::Value {
        debug_assert!(position < self.len);
        // SAFETY: the position is among the `len` values.
        let value = unsafe { self.first.add(position) };
        // SAFETY: as in `range`.
        unsafe { &*value }
    }

    /// How many there are.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// The values at these positions.
    ///
    /// # Safety
    /// They must belong to the buffer: elements, or the padding of its tiles.
    ///
    /// # Panics
    /// If they are after the last one.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn range(self, range: Range<usize>) -> &'a [E::Value] {
        assert!(range.start <= range.end && range.end <= self.len, "positions after the end of the array");
        // SAFETY: the positions are among the `len` values.
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: as above; `Plain` promises that any bytes are values; the caller promises that they may be read.
        unsafe { std::slice::from_raw_parts(first, range.end - range.start) }
    }
}

/// Whole elements as values, to be borrowed by ranges of positions and written.
pub(crate) struct ValuesMut<'a, E: Plain> {
    first: *mut E::Value,
    len: usize,
    values: PhantomData<&'a mut [E::Value]>,
}

impl<'a, E: Plain> ValuesMut<'a, E> {
    /// # Safety
    /// Like [`Values::new`], and nobody else may read or write the values that are borrowed later.
    #[inline(always)]
    pub(crate) unsafe fn new(first: *mut u8, len: usize) -> Self {
        let first = if len == 0 { std::ptr::NonNull::dangling().as_ptr() } else { first.cast() };
        Self { first, len, values: PhantomData }
    }

    /// The value at a position.
    ///
    /// # Safety
    /// It must be that of an element of the array, and no other reference to that element may live.
    #[inline(always)]
    pub(crate) unsafe fn at(self, position: usize) -> &'a mut E::Value {
        debug_assert!(position < self.len);
        // SAFETY: the position is among the `len` values.
        let value = unsafe { self.first.add(position) };
        // SAFETY: the caller promises that nothing else refers to the element; `Plain` promises that any bytes are a value.
        unsafe { &mut *value }
    }

    /// How many there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The values at these positions.
    ///
    /// # Safety
    /// Like [`Values::range`].
    ///
    /// # Panics
    /// If they are after the last one.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn range(&mut self, range: Range<usize>) -> &mut [E::Value] {
        // SAFETY: as the caller promises; `self` is borrowed as long.
        unsafe { self.range_for(range) }
    }

    /// The values at these positions, for as long as the memory is borrowed.
    ///
    /// # Safety
    /// Like [`Values::range`], and no two borrows that are there at the same time may have a position in common.
    ///
    /// # Panics
    /// If they are after the last one.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn range_for(&mut self, range: Range<usize>) -> &'a mut [E::Value] {
        assert!(range.start <= range.end && range.end <= self.len, "positions after the end of the array");
        // SAFETY: the positions are among the `len` values.
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: as above; `Plain` promises that any bytes are values; the caller promises that they may be written.
        unsafe { std::slice::from_raw_parts_mut(first, range.end - range.start) }
    }
}

/// The bytes of values.
pub(crate) fn bytes_of<E: Plain>(values: &[E::Value]) -> &[u8] {
    let data = values.as_ptr().cast::<u8>();
    // SAFETY: `Plain` promises that values have no padding: all of their bytes are initialised.
    unsafe { std::slice::from_raw_parts(data, size_of_val(values)) }
}

/// The bytes of values, to write.
pub(crate) fn bytes_of_mut<E: Plain>(values: &mut [E::Value]) -> &mut [u8] {
    let (data, len) = (values.as_mut_ptr().cast::<u8>(), size_of_val(values));
    // SAFETY: `Plain` promises that values have no padding and that any bytes are values.
    unsafe { std::slice::from_raw_parts_mut(data, len) }
}
