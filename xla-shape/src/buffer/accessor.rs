//! Elements of run-time shapes one by one, prepared once.

use super::bits::{self, Width};
use super::bytes::{Bytes, BytesMut};
use super::dynamic::DynBufferBase;
use super::error::AccessError;
use crate::element::Stored;
use crate::wide::wide;
use core::fmt;
use core::marker::PhantomData;
use xla_shape_core::StrideTable;
use xla_shape_core::stride_table::OffsetTables;

/// An array with a run-time shape, prepared for many accesses to elements of type `E`, in memory `B`. Made by
/// [`accessor`](DynBufferBase::accessor) and [`accessor_mut`](DynBufferBase::accessor_mut).
pub struct Accessor<'a, E, B> {
    /// The array's bytes behind the prefix.
    data: B,
    width: Width,
    /// As many positions as `data` has elements of that width, and no more.
    table: &'a StrideTable,
    /// Of that table; `None` if the position is no sum over the dimensions, or the tables would be too large.
    offsets: Option<OffsetTables>,
    element: PhantomData<E>,
}

impl<E, B> fmt::Debug for Accessor<'_, E, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accessor").field("width", &self.width).finish_non_exhaustive()
    }
}

impl<B: Bytes> DynBufferBase<B> {
    /// The array, prepared to read many elements: the type of the elements is checked once, and what each index adds to the
    /// position is computed once, into [`OffsetTables`]. An access then allocates nothing and divides by nothing.
    ///
    /// Where tables cannot be made (`*` combines dimensions, or they would be larger than
    /// [`OffsetTables::MAX_ENTRIES`]), the position is computed for each access, as by [`get`](Self::get).
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let mut x = DynBuffer::zeroed("f32[100,200]{1,0:T(8,128)}".parse()?)?;
    /// let mut elements = x.accessor_mut::<F32>()?;
    /// assert!(elements.set(&[3, 150], 1.5));
    /// assert_eq!(elements.get(&[3, 150]), Some(1.5));
    /// assert_eq!(elements.get(&[3, 200]), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn accessor<E: Stored>(&self) -> Result<Accessor<'_, E, &[u8]>, AccessError> {
        self.check_type::<E>()?;
        let (table, offsets) = (self.stride_table(), self.stride_table().offset_tables());
        let data = &self.as_bytes()[self.prefix()..];
        Ok(Accessor { data, width: self.width, table, offsets, element: PhantomData })
    }
}

impl<B: BytesMut> DynBufferBase<B> {
    /// The array, prepared to read and write many elements; see [`accessor`](Self::accessor).
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn accessor_mut<E: Stored>(&mut self) -> Result<Accessor<'_, E, &mut [u8]>, AccessError> {
        self.check_type::<E>()?;
        let prefix = self.prefix();
        let (table, offsets) = (&self.table, self.table.offset_tables());
        let data = &mut self.bytes.as_mut()[prefix..];
        Ok(Accessor { data, width: self.width, table, offsets, element: PhantomData })
    }
}

impl<E: Stored, B: Bytes> Accessor<'_, E, B> {
    /// Whether positions are looked up in tables.
    #[must_use]
    pub const fn has_offset_tables(&self) -> bool {
        self.offsets.is_some()
    }

    /// The position of an element, in elements; `None` if there is no element with this index.
    #[must_use]
    #[inline(always)]
    pub fn position(&self, index: &[usize]) -> Option<usize> {
        match &self.offsets {
            Some(offsets) => offsets.position(wide(index)).map(|position| position as usize),
            None => self.table.checked_linear_index(wide(index)).map(|position| position as usize),
        }
    }

    /// The element with this index; `None` if there is none.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, index: &[usize]) -> Option<E::Value> {
        let position = self.position(index)?;
        Some(match self.width {
            Width::Whole => {
                let offset = position * size_of::<E::Bytes>();
                debug_assert!(offset + size_of::<E::Bytes>() <= self.data.as_ref().len());
                // SAFETY: `data` has an element of `E::Bytes` for each physical element, since `E` is the array's type, as
                // both functions that make an accessor check; by the law of the stride table, the position of an element is
                // one of them.
                let element = unsafe { self.data.as_ref().as_ptr().add(offset) };
                // SAFETY: all bytes of that element are inside `data` and initialised; bytes need no alignment.
                E::from_le_bytes(unsafe { element.cast::<E::Bytes>().read_unaligned() })
            }
            Width::Bits(width) => bits::read::<E>(self.data.as_ref(), width, position),
        })
    }
}

impl<E: Stored, B: BytesMut> Accessor<'_, E, B> {
    /// Writes the element with this index; whether there is one.
    #[inline(always)]
    pub fn set(&mut self, index: &[usize], value: E::Value) -> bool {
        let Some(position) = self.position(index) else { return false };
        match self.width {
            Width::Whole => {
                let offset = position * size_of::<E::Bytes>();
                debug_assert!(offset + size_of::<E::Bytes>() <= self.data.as_ref().len());
                // SAFETY: as in `get`.
                let element = unsafe { self.data.as_mut().as_mut_ptr().add(offset) };
                // SAFETY: as in `get`; the bytes are borrowed mutably.
                unsafe { element.cast::<E::Bytes>().write_unaligned(E::to_le_bytes(value)) };
            }
            Width::Bits(width) => bits::write::<E>(self.data.as_mut(), width, position, value),
        }
        true
    }
}
