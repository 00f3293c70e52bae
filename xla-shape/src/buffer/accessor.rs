//! Elements of run-time shapes one by one, prepared once.

use super::bytes::{Bytes, BytesMut, Mut, Ref};
use super::dynamic::DynShape;
use super::error::{AccessError, out_of_bounds};
use super::storage::Buffer;
use crate::element::Stored;
use crate::wide::{local, wide};
use core::fmt;
use core::marker::PhantomData;
use xla_shape_core::map::OffsetTables;

/// An array with a run-time shape, prepared for many accesses to elements of type `E`, in memory `B`. Made by
/// [`accessor`](Buffer::accessor) and [`accessor_mut`](Buffer::accessor_mut).
pub struct Accessor<E, B> {
    /// Whose elements are of type `E`.
    array: Buffer<DynShape, B>,
    /// Of its stride table; `None` if the position is not a sum over the dimensions, or the tables would be too large.
    offsets: Option<OffsetTables>,
    element: PhantomData<E>,
}

impl<E, B> fmt::Debug for Accessor<E, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accessor").finish_non_exhaustive()
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// The array, prepared to read many elements: the type of the elements is checked once, and what each index adds to the
    /// position is computed once, into [`OffsetTables`]. An access then allocates nothing and divides by nothing.
    ///
    /// If tables cannot be made (`*` combines dimensions, or they would be larger than [`OffsetTables::MAX_ENTRIES`]), each
    /// access computes the position, like [`get`](Self::get).
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let mut x = DynBuffer::zeroed_with("f32[100,200]{1,0:T(8,128)}".parse()?)?;
    /// let mut elements = x.accessor_mut::<F32>()?;
    /// elements.set(&[3, 150], 1.5)?;
    /// assert_eq!(elements.get(&[3, 150]), Ok(1.5));
    /// assert!(elements.get(&[3, 200]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn accessor<E: Stored>(&self) -> Result<Accessor<E, Ref<'_>>, AccessError> {
        self.check_type::<E>()?;
        Ok(Accessor {
            offsets: OffsetTables::new(self.stride_table().as_ref()),
            array: self.view(),
            element: PhantomData,
        })
    }
}

impl<B: BytesMut> Buffer<DynShape, B> {
    /// The array, prepared to read and write many elements; see [`accessor`](Self::accessor).
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn accessor_mut<E: Stored>(&mut self) -> Result<Accessor<E, Mut<'_>>, AccessError> {
        self.check_type::<E>()?;
        Ok(Accessor {
            offsets: OffsetTables::new(self.stride_table().as_ref()),
            array: self.view_mut(),
            element: PhantomData,
        })
    }
}

impl<E: Stored, B: Bytes> Accessor<E, B> {
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
            None => {
                self.array.stride_table().as_ref().checked_linear_index(wide(index)).map(|position| position as usize)
            }
        }
    }

    /// The element with this index.
    ///
    /// # Errors
    /// If there is no such element.
    #[inline(always)]
    pub fn get(&self, index: &[usize]) -> Result<E::Value, AccessError> {
        let Some(position) = self.position(index) else { return Err(self.out_of_bounds(index)) };
        // SAFETY: both functions that make an accessor check that the elements are of type `E`.
        let cells = unsafe { self.array.cells::<E>() };
        // SAFETY: by the law of the stride table, and of the tables made from it, the position is that of an element.
        Ok(unsafe { cells.read(position) })
    }

    #[cold]
    fn out_of_bounds(&self, index: &[usize]) -> AccessError {
        out_of_bounds(index, local(self.array.stride_table().as_ref().extents()))
    }
}

impl<E: Stored, B: BytesMut> Accessor<E, B> {
    /// Writes the element with this index.
    ///
    /// # Errors
    /// If there is no such element.
    #[inline(always)]
    pub fn set(&mut self, index: &[usize], value: E::Value) -> Result<(), AccessError> {
        let Some(position) = self.position(index) else { return Err(self.out_of_bounds(index)) };
        // SAFETY: as in `get`.
        let mut cells = unsafe { self.array.cells_mut::<E>() };
        // SAFETY: as in `get`.
        unsafe { cells.write(position, value) };
        Ok(())
    }
}
