//! Reads and writes elements at positions. All `unsafe` code that dereferences an element's address is here, and in `iter/strided.rs` for
//! elements at equal distances; the modules above prove that positions are valid.

use super::bits;
use crate::element::{Plain, Stored};
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use xla_shape_core::ElementType;

/// The width of an element in memory, compared with its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    /// As many bytes as its type takes.
    Whole,
    /// This many bits, at least as many as its type has.
    Bits(usize),
}

impl Width {
    /// The width of elements that take `element_bits` bits in a layout; `None` if their values do not fit.
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

/// The elements of an array, in memory that can be read.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a, E> {
    /// After the prefix.
    first: *const u8,
    /// The number of bytes from `first` on.
    len: usize,
    width: Width,
    element: PhantomData<(E, &'a [u8])>,
}

impl<'a, E: Stored> Cells<'a, E> {
    /// The elements in `len` bytes at `first`.
    ///
    /// # Safety
    /// `len` bytes at `first` are allocated for `'a` and hold elements of type `E` with this width. The bytes of elements that are read
    /// later are initialised, and nothing writes them during `'a`. If `width` is [`Width::Bits`], this holds for all bytes.
    #[inline(always)]
    pub(crate) unsafe fn new(first: *const u8, len: usize, width: Width) -> Self {
        Self { first, len, width, element: PhantomData }
    }

    /// The element at a position.
    ///
    /// # Safety
    /// The position holds an element of the array.
    #[inline(always)]
    pub(crate) unsafe fn read(self, position: usize) -> E::Value {
        match self.width {
            Width::Whole => {
                debug_assert!((position + 1) * size_of::<E::Bytes>() <= self.len);
                // SAFETY: a whole element takes `size_of::<E::Bytes>()` bytes, so the element at this position is that many elements after
                // `first`, within `len`.
                let element = unsafe { self.first.cast::<E::Bytes>().add(position) };
                // SAFETY: `new`: the bytes of the array's elements are initialised and not written. `E::Bytes` is an array of bytes, read
                // unaligned.
                E::from_le_bytes(unsafe { element.read_unaligned() })
            }
            Width::Bits(width) => {
                debug_assert!(((position + 1) * width).div_ceil(8) <= self.len);
                // SAFETY: `new`: with `Width::Bits`, all `len` bytes are initialised and not written during `'a`.
                bits::read::<E>(unsafe { std::slice::from_raw_parts(self.first, self.len) }, width, position)
            }
        }
    }
}

/// The elements of an array, in memory that can be written.
pub(crate) struct CellsMut<'a, E> {
    first: *mut u8,
    len: usize,
    width: Width,
    element: PhantomData<(E, &'a mut [u8])>,
}

impl<'a, E: Stored> CellsMut<'a, E> {
    /// The elements in `len` bytes at `first`, to write.
    ///
    /// # Safety
    /// As [`Cells::new`], and nothing else reads or writes the elements that are written later (with [`Width::Bits`], all bytes) during
    /// `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(first: *mut u8, len: usize, width: Width) -> Self {
        Self { first, len, width, element: PhantomData }
    }

    /// Writes the element at a position.
    ///
    /// # Safety
    /// The position holds an element of the array.
    #[inline(always)]
    pub(crate) unsafe fn write(&mut self, position: usize, value: E::Value) {
        match self.width {
            Width::Whole => {
                debug_assert!((position + 1) * size_of::<E::Bytes>() <= self.len);
                // SAFETY: as in `Cells::read`.
                let element = unsafe { self.first.cast::<E::Bytes>().add(position) };
                // SAFETY: the bytes are the element's, within `len`; `new`: nothing else reads or writes them.
                unsafe { element.write_unaligned(E::to_le_bytes(value)) };
            }
            Width::Bits(width) => {
                debug_assert!(((position + 1) * width).div_ceil(8) <= self.len);
                // SAFETY: `new`: with `Width::Bits`, all `len` bytes are initialised, and nothing else reads or writes them during `'a`.
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

/// Whole elements as values, which are borrowed by ranges of positions.
pub struct Values<'a, E: Plain> {
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
    /// `len` values at `first`.
    ///
    /// # Safety
    /// `len` values at `first` are allocated for `'a`. If `len > 0`, `first` is aligned for `E::Value`. The values that are borrowed later
    /// are initialised, and nothing writes them during `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(first: *const u8, len: usize) -> Self {
        let first = if len == 0 { NonNull::dangling().as_ptr() } else { first.cast() };
        Self { first, len, values: PhantomData }
    }

    /// The value at a position.
    ///
    /// # Safety
    /// The position holds an element of the array.
    #[inline(always)]
    pub(crate) unsafe fn at(self, position: usize) -> &'a E::Value {
        debug_assert!(position < self.len);
        // SAFETY: the array's elements are among the `len` values.
        let value = unsafe { self.first.add(position) };
        // SAFETY: `new`: the value is aligned, initialised and not written during `'a`; any bytes are a value (`Plain`).
        unsafe { &*value }
    }

    /// The number of values.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// A pointer to the first of a range of positions, which is valid for all of them.
    ///
    /// # Panics
    /// If the range ends after the last value.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn pointer(self, range: Range<usize>) -> NonNull<E::Value> {
        assert!(range.start <= range.end && range.end <= self.len, "positions after the end of the array");
        // SAFETY: `range.start <= len`, which has just been checked.
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: `new`: the pointer is that of an allocation, or dangling, but not null.
        unsafe { NonNull::new_unchecked(first.cast_mut()) }
    }

    /// The values at a range of positions.
    ///
    /// # Safety
    /// They belong to the buffer: elements, or padding of its tiles.
    ///
    /// # Panics
    /// If the range ends after the last value.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn range(self, range: Range<usize>) -> &'a [E::Value] {
        assert!(range.start <= range.end && range.end <= self.len, "positions after the end of the array");
        // SAFETY: `range.start <= len`, which has just been checked.
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: the range is within the `len` values. `new`: what belongs to the buffer is aligned, initialised and not written during
        // `'a`; any bytes are values (`Plain`).
        unsafe { std::slice::from_raw_parts(first, range.end - range.start) }
    }
}

/// Whole elements as values, which are borrowed by ranges of positions to be written.
pub struct ValuesMut<'a, E: Plain> {
    first: *mut E::Value,
    len: usize,
    values: PhantomData<&'a mut [E::Value]>,
}

impl<'a, E: Plain> ValuesMut<'a, E> {
    /// `len` values at `first`, to write.
    ///
    /// # Safety
    /// As [`Values::new`], and nothing else reads or writes the values that are borrowed later during `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(first: *mut u8, len: usize) -> Self {
        let first = if len == 0 { NonNull::dangling().as_ptr() } else { first.cast() };
        Self { first, len, values: PhantomData }
    }

    /// The value at a position.
    ///
    /// # Safety
    /// The position holds an element of the array, and no other reference to that element lives.
    #[inline(always)]
    pub(crate) unsafe fn at(self, position: usize) -> &'a mut E::Value {
        debug_assert!(position < self.len);
        // SAFETY: the array's elements are among the `len` values.
        let value = unsafe { self.first.add(position) };
        // SAFETY: as in `Values::at`; the caller guarantees that this is the only reference to the element.
        unsafe { &mut *value }
    }

    /// The number of values.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A pointer to the first of a range of positions, which is valid for all of them, also to write.
    ///
    /// # Panics
    /// If the range ends after the last value.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn pointer(&self, range: Range<usize>) -> NonNull<E::Value> {
        assert!(range.start <= range.end && range.end <= self.len, "positions after the end of the array");
        // SAFETY: `range.start <= len`, which has just been checked.
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: `new`: the pointer is that of an allocation, or dangling, but not null.
        unsafe { NonNull::new_unchecked(first) }
    }

    /// The values at a range of positions.
    ///
    /// # Safety
    /// As [`Values::range`].
    ///
    /// # Panics
    /// If the range ends after the last value.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn range(&mut self, range: Range<usize>) -> &mut [E::Value] {
        // SAFETY: the caller guarantees that they belong to the buffer; the result borrows `self` mutably, so this is the only borrow of
        // them.
        unsafe { self.range_for(range) }
    }

    /// The values at a range of positions, for as long as the memory is borrowed.
    ///
    /// # Safety
    /// As [`Values::range`], and ranges that are borrowed at the same time have no position in common.
    ///
    /// # Panics
    /// If the range ends after the last value.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn range_for(&mut self, range: Range<usize>) -> &'a mut [E::Value] {
        assert!(range.start <= range.end && range.end <= self.len, "positions after the end of the array");
        // SAFETY: `range.start <= len`, which has just been checked.
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: the range is within the `len` values, as in `Values::range`; the caller guarantees that no other reference to them lives.
        unsafe { std::slice::from_raw_parts_mut(first, range.end - range.start) }
    }
}
