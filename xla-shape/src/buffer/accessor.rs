//! Prepared access to the elements of arrays whose shape is known at run time.

use super::bytes::{Bytes, BytesMut, Mut, Ref};
use super::dynamic::DynShape;
use super::error::{AccessError, out_of_bounds};
use super::storage::Buffer;
use crate::element::Stored;
use core::fmt;
use core::marker::PhantomData;
use xla_shape_core::map::OffsetTables;
use xla_shape_relayout::wide::{local, wide};

/// An array whose shape is known at run time, prepared for many accesses to its elements of type `E`, in memory `B`. Made by
/// [`accessor`](Buffer::accessor) and [`accessor_mut`](Buffer::accessor_mut).
pub struct Accessor<E, B> {
    /// Its elements are of type `E`: both constructors check it.
    array: Buffer<DynShape, B>,
    /// What each index adds to the position; `None` if the position is not such a sum, or the tables would be too large.
    offsets: Option<OffsetTables>,
    element: PhantomData<E>,
}

impl<E, B> fmt::Debug for Accessor<E, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accessor").finish_non_exhaustive()
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// Prepares the array for many reads: checks the type of the elements once, and computes once what each index adds to the position,
    /// into [`OffsetTables`]. An access then allocates nothing and divides by nothing.
    ///
    /// If there are no such tables (`*` combines dimensions, or they would be larger than [`OffsetTables::MAX_ENTRIES`]), each access
    /// computes the position, as [`get`](Self::get) does.
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
    /// Prepares the array for many reads and writes; see [`accessor`](Self::accessor).
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let mut x = DynBuffer::zeroed_with("s32[100]".parse()?)?;
    /// let mut elements = x.accessor_mut::<S32>()?;
    /// for i in 0..100 {
    ///     elements.set(&[i], i as i32)?;
    /// }
    /// assert_eq!(x.get::<S32>(&[99])?, 99);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::zeroed_with("f32[100,200]{1,0:T(8,128)}".parse()?)?;
    /// assert!(x.accessor::<F32>()?.has_offset_tables());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn has_offset_tables(&self) -> bool {
        self.offsets.is_some()
    }

    /// The position of an element, in elements; `None` if the index is out of bounds.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::zeroed_with("f32[16,256]{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(x.accessor::<F32>()?.position(&[8, 0]), Some(2048));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::filled_with::<F32>("f32[100,200]".parse()?, 1.5)?;
    /// assert_eq!(x.accessor::<F32>()?.get(&[99, 199]), Ok(1.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the index is out of bounds.
    #[inline(always)]
    pub fn get(&self, index: &[usize]) -> Result<E::Value, AccessError> {
        let Some(position) = self.position(index) else { return Err(self.out_of_bounds(index)) };
        // SAFETY: both constructors check that the elements are of type `E`.
        let cells = unsafe { self.array.cells::<E>() };
        // SAFETY: `position` returns a position only for an index in bounds; it holds an element, by the stride table or the tables
        // made from it.
        Ok(unsafe { cells.read(position) })
    }

    #[cold]
    fn out_of_bounds(&self, index: &[usize]) -> AccessError {
        out_of_bounds(index, local(self.array.stride_table().as_ref().extents()))
    }
}

impl<E: Stored, B: BytesMut> Accessor<E, B> {
    /// Writes the element with this index; see [`accessor_mut`](Buffer::accessor_mut) for an example.
    ///
    /// # Errors
    /// If the index is out of bounds.
    #[inline(always)]
    pub fn set(&mut self, index: &[usize], value: E::Value) -> Result<(), AccessError> {
        let Some(position) = self.position(index) else { return Err(self.out_of_bounds(index)) };
        // SAFETY: both constructors check that the elements are of type `E`.
        let mut cells = unsafe { self.array.cells_mut::<E>() };
        // SAFETY: `position` returns a position only for an index in bounds; it holds an element.
        unsafe { cells.write(position, value) };
        Ok(())
    }
}
