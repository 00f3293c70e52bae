//! Arrays whose shape is known at run time.

use super::AlignedBytes;
use super::bytes::{Bytes, BytesMut, Lends, Mut, Ref};
use super::cells::{Cells, CellsMut, Values, ValuesMut, Width};
use super::error::{AccessError, BufferError, out_of_bounds};
use super::storage::{Buffer, BufferShape, WholeShape};
use crate::element::{Element, Plain, Stored};
use crate::element::{bytes_of, bytes_of_mut};
use crate::sealed::Sealed;
use crate::types::{advance, count};
use std::sync::Arc;
use xla_shape_core::{ArrayShape, StrideTable, StrideTableError};
use xla_shape_relayout::wide::{byte_count, local, wide};

/// An array that owns its memory, aligned to 64 bytes; the shape is known at run time.
///
/// ```
/// use xla_shape::element::F32;
/// use xla_shape::{Buffer, DynBuffer, shape};
///
/// let mut x = DynBuffer::zeroed_with("f32[100,200]{1,0:T(8,128)}".parse()?)?;
/// x.set::<F32>(&[3, 150], 1.5)?;
/// let typed: Buffer<shape!(f32[100,200]{1,0:T(8,128)})> = x.into_typed()?;
/// assert_eq!(typed[[3, 150]], 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DynBuffer = Buffer<DynShape>;

/// An array in borrowed memory; the shape is known at run time.
///
/// ```
/// use xla_shape::DynView;
/// use xla_shape::element::U8;
///
/// let x = DynView::from_parts("u8[2,2]{0,1}".parse()?, &[1, 2, 3, 4])?;
/// assert_eq!(x.get::<U8>(&[0, 1])?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DynView<'a> = Buffer<DynShape, Ref<'a>>;

/// An array in memory that is borrowed to write; the shape is known at run time.
///
/// ```
/// use xla_shape::DynViewMut;
/// use xla_shape::element::U8;
///
/// let mut memory = [0; 4];
/// DynViewMut::from_parts("u8[2,2]{0,1}".parse()?, &mut memory)?.set::<U8>(&[0, 1], 7)?;
/// assert_eq!(memory, [0, 0, 7, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DynViewMut<'a> = Buffer<DynShape, Mut<'a>>;

/// A shape that is known at run time, with its stride table: what a [`DynBuffer`] has in place of a type.
///
/// Cloning it is as cheap as cloning an `Arc`.
#[derive(Clone, Debug)]
pub struct DynShape {
    array: Arc<Prepared>,
    // Every access needs these two fields.
    width: Width,
    /// The bytes before the first element.
    prefix: usize,
}

#[derive(Debug)]
struct Prepared {
    shape: ArrayShape,
    table: StrideTable,
}

impl Sealed for DynShape {}
impl BufferShape for DynShape {}

impl WholeShape for DynShape {
    const TYPE: Option<&'static ArrayShape> = None;

    fn try_from_shape(shape: &ArrayShape) -> Result<Self, BufferError> {
        Self::new(shape.clone())
    }

    fn try_from_sizes(_: &[usize]) -> Result<Self, BufferError> {
        Err(BufferError::AnyShape)
    }

    fn array(&self) -> ArrayShape {
        self.shape().clone()
    }

    fn bytes(&self) -> Result<usize, BufferError> {
        self.byte_size()
    }

    fn buffer<B: Bytes>(self, bytes: B::Parts) -> Result<Buffer<Self, B>, BufferError> {
        Buffer::<Self, B>::with_shape(self, B::from_parts(bytes))
    }
}

impl DynShape {
    /// Prepares a shape for a buffer.
    ///
    /// ```
    /// use xla_shape::buffer::DynShape;
    ///
    /// let shape = DynShape::new("f32[16,256]{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(shape.stride_table().as_ref().linear_index(&[8, 0]), 2048);
    /// assert!(DynShape::new("f32[?]".parse()?).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, or the layout has splits or elements that are narrower than their type.
    pub fn new(shape: ArrayShape) -> Result<Self, BufferError> {
        if !shape.layout().split_configs().is_empty() {
            return Err(BufferError::Split);
        }
        let (element_type, element_size_in_bits) = (shape.element_type(), shape.element_bits());
        let width = Width::new(element_type, element_size_in_bits)
            .ok_or(BufferError::ElementTooNarrow { element_type, element_size_in_bits })?;
        let table = shape.stride_table()?;
        let prefix = shape.layout().dynamic_shape_metadata_prefix_bytes() as usize;
        Ok(Self { array: Arc::new(Prepared { shape, table }), width, prefix })
    }

    /// The shape.
    ///
    /// ```
    /// use xla_shape::buffer::DynShape;
    ///
    /// assert_eq!(DynShape::new("f32[2,3]".parse()?)?.shape().to_string(), "f32[2,3]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shape(&self) -> &ArrayShape {
        &self.array.shape
    }

    /// The stride table: where elements lie in memory. See [`new`](Self::new) for an example.
    #[must_use]
    pub fn stride_table(&self) -> &StrideTable {
        &self.array.table
    }

    fn byte_size(&self) -> Result<usize, BufferError> {
        byte_count(self.shape()).ok_or(BufferError::StrideTable(StrideTableError::Overflow))
    }

    /// The position of an element, in elements.
    fn position(&self, index: &[usize]) -> usize {
        self.array.table.as_ref().linear_index(wide(index)) as usize
    }

    /// The sizes of the dimensions, or their bounds, in elements.
    fn extents(&self) -> &[usize] {
        local(self.array.table.as_ref().extents())
    }
}

/// Checks that the elements of a shape are of type `E`.
fn check_type<E: Element>(shape: &ArrayShape) -> Result<(), AccessError> {
    let found = shape.element_type();
    if E::TYPE == found { Ok(()) } else { Err(AccessError::WrongElementType { expected: E::TYPE, found }) }
}

/// **New arrays** whose shape is known at run time.
impl DynBuffer {
    /// An array whose bytes, padding included, are all 0.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    ///
    /// let x = DynBuffer::zeroed_with("f32[8,128]{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(x.as_bytes(), [0; 4096]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, the layout has splits or elements that are narrower than their type, or there is not enough memory.
    pub fn zeroed_with(shape: ArrayShape) -> Result<Self, BufferError> {
        let shape = DynShape::new(shape)?;
        let bytes = AlignedBytes::zeroed(shape.byte_size()?)?;
        Ok(Self { shape, bytes })
    }

    /// An array with this value in every element; padding is 0.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::filled_with::<F32>("f32[2,3]".parse()?, 1.5)?;
    /// assert_eq!(x.get::<F32>(&[1, 2])?, 1.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`zeroed_with`](Self::zeroed_with), or if the elements are of another type.
    pub fn filled_with<E: Stored>(shape: ArrayShape, value: E::Value) -> Result<Self, BufferError> {
        Self::from_fn_with::<E>(shape, |_| value)
    }

    /// An array with the value of a function at each index; padding is 0.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::from_fn_with::<F32>("f32[2,3]".parse()?, |i| (10 * i[0] + i[1]) as f32)?;
    /// assert_eq!(x.get::<F32>(&[1, 2])?, 12.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`zeroed_with`](Self::zeroed_with), or if the elements are of another type.
    pub fn from_fn_with<E: Stored>(
        shape: ArrayShape,
        value: impl FnMut(&[usize]) -> E::Value,
    ) -> Result<Self, BufferError> {
        check_type::<E>(&shape)?;
        let mut buffer = Self::zeroed_with(shape)?;
        buffer.fill_with::<E>(value)?;
        Ok(buffer)
    }
}

/// **Arrays in given bytes, and access to elements**, of a shape that is known at run time. Methods with values name their element type,
/// and return an error if the array has another one.
impl<B: Bytes> Buffer<DynShape, B> {
    /// An array of this shape in these bytes: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::DynView;
    /// use xla_shape::element::U8;
    ///
    /// let x = DynView::from_parts("u8[2,2]{0,1}".parse()?, &[1, 2, 3, 4])?;
    /// assert_eq!(x.get::<U8>(&[0, 1])?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are not exactly as many bytes as the array takes, a dimension is unbounded, or the layout has splits or elements that are
    /// narrower than their type.
    pub fn from_parts(shape: ArrayShape, bytes: B::Parts) -> Result<Self, BufferError> {
        Self::with_shape(DynShape::new(shape)?, B::from_parts(bytes))
    }

    pub(super) fn with_shape(shape: DynShape, bytes: B) -> Result<Self, BufferError> {
        let (expected, found) = (shape.byte_size()?, bytes.len());
        if found == expected { Ok(Self { bytes, shape }) } else { Err(BufferError::WrongLength { expected, found }) }
    }

    /// The shape and the bytes: the inverse of [`from_parts`](Self::from_parts).
    ///
    /// ```
    /// use xla_shape::DynView;
    ///
    /// let x = DynView::from_parts("u8[2]".parse()?, &[1, 2])?;
    /// assert_eq!(x.into_parts().1, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_parts(self) -> (ArrayShape, B::Parts) {
        // SAFETY: a `DynShape` is always that of a whole array.
        (self.shape.shape().clone(), unsafe { self.bytes.into_parts() })
    }

    /// The shape.
    ///
    /// ```
    /// # use xla_shape::DynBuffer;
    /// let x = DynBuffer::zeroed_with("f32[2,3]".parse()?)?;
    /// assert_eq!(x.shape().to_string(), "f32[2,3]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shape(&self) -> &ArrayShape {
        self.shape.shape()
    }

    /// The stride table: where elements lie in memory.
    ///
    /// ```
    /// # use xla_shape::DynBuffer;
    /// let x = DynBuffer::zeroed_with("f32[16,256]{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(x.stride_table().as_ref().linear_index(&[8, 0]), 2048);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stride_table(&self) -> &StrideTable {
        self.shape.stride_table()
    }

    /// The element with this index.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::{F32, S32};
    ///
    /// let x = DynBuffer::zeroed_with("f32[2,3]".parse()?)?;
    /// assert_eq!(x.get::<F32>(&[1, 2]), Ok(0.0));
    /// assert!(x.get::<F32>(&[2, 0]).is_err() && x.get::<S32>(&[1, 2]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type, or the index is out of bounds.
    #[inline]
    pub fn get<E: Stored>(&self, index: &[usize]) -> Result<E::Value, AccessError> {
        self.check::<E>(index)?;
        // SAFETY: `check`: the elements are of type `E`, and the index is in bounds.
        Ok(unsafe { self.get_unchecked::<E>(index) })
    }

    /// The element with this index, without a check.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::zeroed_with("f32[2,3]".parse()?)?;
    /// // SAFETY: the elements are of type f32, and 1 < 2, 2 < 3.
    /// assert_eq!(unsafe { x.get_unchecked::<F32>(&[1, 2]) }, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// The elements must be of type `E`, and `index` must have one number for each dimension, less than its size.
    #[must_use]
    #[inline]
    pub unsafe fn get_unchecked<E: Stored>(&self, index: &[usize]) -> E::Value {
        debug_assert_eq!(self.check::<E>(index), Ok(()));
        // SAFETY: the caller guarantees that the elements are of type `E`.
        let cells = unsafe { self.cells::<E>() };
        // SAFETY: the caller guarantees that the index is in bounds; the stride table maps it to the position of an element.
        unsafe { cells.read(self.shape.position(index)) }
    }

    /// The shape and its stride table, which can be used while the array is borrowed mutably.
    pub(crate) fn prepared_shape(&self) -> DynShape {
        self.shape.clone()
    }

    /// The sizes of the dimensions, in elements; the bounds of bounded dimensions.
    ///
    /// ```
    /// # use xla_shape::DynBuffer;
    /// let x = DynBuffer::zeroed_with("f32[<=2,3]".parse()?)?;
    /// assert_eq!(x.sizes(), [2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        self.shape.extents()
    }

    /// The elements in row-major order of their indices.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::from_row_major_with::<S32>("s32[2,2]{0,1}".parse()?, &[1, 3, 2, 4])?;
    /// assert!(x.iter::<S32>()?.eq([1, 3, 2, 4]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn iter<E: Stored>(&self) -> Result<impl ExactSizeIterator<Item = E::Value> + '_, AccessError> {
        self.check_type::<E>()?;
        // SAFETY: `check_type`: the elements are of type `E`.
        let cells = unsafe { self.cells::<E>() };
        let (shape, sizes) = (&self.shape, self.sizes());
        let mut index = vec![0; sizes.len()];
        Ok((0..count(sizes)).map(move |_| {
            // SAFETY: `advance` keeps the index below `sizes`, the extents of the table, for as many steps as there are elements. The table
            // maps such an index to the position of an element.
            let value = unsafe { cells.read(shape.position(&index)) };
            advance(&mut index, sizes);
            value
        }))
    }

    /// The memory of the elements.
    ///
    /// # Safety
    /// The elements are of type `E`.
    #[inline(always)]
    pub(crate) unsafe fn cells<E: Stored>(&self) -> Cells<'_, E> {
        let (prefix, len) = (self.shape.prefix, self.bytes.len());
        // SAFETY: the offset is at most the length of the memory.
        let first = unsafe { self.bytes.start().add(prefix.min(len)) };
        // SAFETY: by the *length* invariant, the bytes after the prefix hold the physical elements. They may be read while `self` is
        // borrowed (`Bytes`). The caller guarantees their type; `DynShape::new` computed their width.
        unsafe { Cells::new(first, len.saturating_sub(prefix), self.shape.width) }
    }

    pub(crate) fn check_type<E: Element>(&self) -> Result<(), AccessError> {
        check_type::<E>(self.shape())
    }

    fn check<E: Element>(&self, index: &[usize]) -> Result<(), AccessError> {
        self.check_type::<E>()?;
        if self.stride_table().as_ref().contains(wide(index)) {
            Ok(())
        } else {
            Err(out_of_bounds(index, self.sizes()))
        }
    }

    /// Checks that elements can be borrowed as values.
    fn check_borrow<E: Stored>(&self) -> Result<(), BufferError> {
        self.check_type::<E>()?;
        let first = self.bytes.start().addr().wrapping_add(self.shape.prefix);
        let is_aligned = self.bytes.is_empty() || first.is_multiple_of(align_of::<E::Value>());
        if self.shape.width == Width::Whole && is_aligned {
            Ok(())
        } else {
            Err(BufferError::NotBorrowable(Box::new(self.shape().clone())))
        }
    }

    /// All values, padding included.
    ///
    /// # Errors
    /// If the values cannot be borrowed.
    ///
    /// # Safety
    /// The memory is there, and not written, for `'a`.
    unsafe fn values_for<'a, E: Plain>(&self) -> Result<&'a [E::Value], BufferError> {
        self.check_borrow::<E>()?;
        let (prefix, len) = (self.shape.prefix, self.bytes.len());
        // SAFETY: the offset is at most the length of the memory.
        let first = unsafe { self.bytes.start().add(prefix.min(len)) };
        // SAFETY: `check_borrow`: the elements are whole, of type `E` and aligned. `len - prefix` bytes follow `first`; the caller
        // guarantees that they are there for `'a`.
        let values = unsafe { Values::<E>::new(first, len.saturating_sub(prefix) / size_of::<E::Value>()) };
        // SAFETY: a `DynShape` is that of a whole array, so every position belongs to the buffer.
        Ok(unsafe { values.range(0..values.len()) })
    }
}

/// **Writing elements**, of a shape that is known at run time.
impl<B: BytesMut> Buffer<DynShape, B> {
    /// Writes the element with this index.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let mut x = DynBuffer::zeroed_with("f32[2,3]".parse()?)?;
    /// x.set::<F32>(&[1, 2], 1.5)?;
    /// assert_eq!(x.get::<F32>(&[1, 2])?, 1.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type, or the index is out of bounds.
    #[inline]
    pub fn set<E: Stored>(&mut self, index: &[usize], value: E::Value) -> Result<(), AccessError> {
        self.check::<E>(index)?;
        // SAFETY: `check`: the elements are of type `E`, and the index is in bounds.
        unsafe { self.set_unchecked::<E>(index, value) };
        Ok(())
    }

    /// Writes the element with this index, without a check.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let mut x = DynBuffer::zeroed_with("f32[2,3]".parse()?)?;
    /// // SAFETY: the elements are of type f32, and 1 < 2, 2 < 3.
    /// unsafe { x.set_unchecked::<F32>(&[1, 2], 1.5) };
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// The elements must be of type `E`, and `index` must have one number for each dimension, less than its size.
    #[inline]
    pub unsafe fn set_unchecked<E: Stored>(&mut self, index: &[usize], value: E::Value) {
        debug_assert_eq!(self.check::<E>(index), Ok(()));
        let position = self.shape.position(index);
        // SAFETY: the caller guarantees that the elements are of type `E`.
        let mut cells = unsafe { self.cells_mut::<E>() };
        // SAFETY: the caller guarantees that the index is in bounds; the stride table maps it to the position of an element.
        unsafe { cells.write(position, value) };
    }

    /// Writes every element; padding stays as it is.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let mut x = DynBuffer::zeroed_with("f32[2,3]".parse()?)?;
    /// x.fill_with::<F32>(|i| (10 * i[0] + i[1]) as f32)?;
    /// assert_eq!(x.get::<F32>(&[1, 2])?, 12.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn fill_with<E: Stored>(&mut self, mut value: impl FnMut(&[usize]) -> E::Value) -> Result<(), AccessError> {
        self.check_type::<E>()?;
        let shape = self.prepared_shape();
        // SAFETY: `check_type`: the elements are of type `E`.
        let mut cells = unsafe { self.cells_mut::<E>() };
        for_each_index(shape.extents(), |index| {
            // SAFETY: `for_each_index` keeps the index below the extents of the table, which maps it to the position of an element.
            unsafe { cells.write(shape.position(index), value(index)) };
        });
        Ok(())
    }

    /// Like [`cells`](Self::cells), but to write.
    ///
    /// # Safety
    /// As [`cells`](Self::cells).
    #[inline(always)]
    pub(super) unsafe fn cells_mut<E: Stored>(&mut self) -> CellsMut<'_, E> {
        let (prefix, len) = (self.shape.prefix, self.bytes.len());
        // SAFETY: the offset is at most the length of the memory.
        let first = unsafe { self.bytes.start_mut().add(prefix.min(len)) };
        // SAFETY: as in `cells`; while `self` is borrowed mutably, nothing else reads or writes the bytes (`BytesMut`).
        unsafe { CellsMut::new(first, len.saturating_sub(prefix), self.shape.width) }
    }

    /// The values in the order of memory, padding included, to write.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let mut x = DynBuffer::zeroed_with("s32[2,3]{0,1}".parse()?)?;
    /// x.as_mut_slice::<S32>()?.copy_from_slice(&[1, 2, 3, 4, 5, 6]);
    /// assert_eq!(x.get::<S32>(&[1, 0])?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`as_slice`](Self::as_slice).
    pub fn as_mut_slice<E: Plain>(&mut self) -> Result<&mut [E::Value], BufferError> {
        self.check_borrow::<E>()?;
        let (prefix, len) = (self.shape.prefix, self.bytes.len());
        // SAFETY: the offset is at most the length of the memory.
        let first = unsafe { self.bytes.start_mut().add(prefix.min(len)) };
        // SAFETY: `check_borrow`: the elements are whole, of type `E` and aligned; `len - prefix` bytes follow `first`, borrowed mutably
        // with `self`.
        let mut values = unsafe { ValuesMut::<E>::new(first, len.saturating_sub(prefix) / size_of::<E::Value>()) };
        // SAFETY: a `DynShape` is that of a whole array, so every position belongs to the buffer; this is the only borrow of them.
        Ok(unsafe { values.range_for(0..values.len()) })
    }
}

/// **Borrowed values as arrays**, of a shape that is known at run time.
impl<'a> DynView<'a> {
    /// Borrows values as an array: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::DynView;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynView::from_slice_with::<S32>("s32[2,3]{0,1}".parse()?, &[0, 10, 1, 11, 2, 12])?;
    /// assert_eq!(x.get::<S32>(&[1, 2])?, 12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_parts`](Self::from_parts), or if the elements are of another type.
    pub fn from_slice_with<E: Plain>(shape: ArrayShape, values: &'a [E::Value]) -> Result<Self, BufferError> {
        check_type::<E>(&shape)?;
        Self::from_parts(shape, bytes_of::<E>(values))
    }
}

/// **Borrowed values as arrays to write**, of a shape that is known at run time.
impl<'a> DynViewMut<'a> {
    /// Borrows values as an array to write: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::DynViewMut;
    /// use xla_shape::element::S32;
    ///
    /// let mut values = [0; 6];
    /// DynViewMut::from_slice_with::<S32>("s32[2,3]{0,1}".parse()?, &mut values)?.set::<S32>(&[1, 0], 7)?;
    /// assert_eq!(values, [0, 7, 0, 0, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`DynView::from_slice_with`].
    pub fn from_slice_with<E: Plain>(shape: ArrayShape, values: &'a mut [E::Value]) -> Result<Self, BufferError> {
        check_type::<E>(&shape)?;
        Self::from_parts(shape, bytes_of_mut::<E>(values))
    }
}

/// **The memory as a slice**, of a shape that is known at run time.
impl<B: Bytes> Buffer<DynShape, B> {
    /// The values in the order of memory, padding included.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::from_fn_with::<S32>("s32[2,3]{0,1}".parse()?, |index| (10 * index[0] + index[1]) as i32)?;
    /// assert_eq!(x.as_slice::<S32>()?, [0, 10, 1, 11, 2, 12]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type, packed bits, or not aligned for their Rust type.
    pub fn as_slice<'s, 'b, E: Plain>(&'s self) -> Result<&'b [E::Value], BufferError>
    where
        B: Lends<'s, 'b>,
    {
        // SAFETY: `self` is borrowed for `'s`, so the memory is there, and not written, for `'b` (`Lends`).
        unsafe { self.values_for::<E>() }
    }
}

/// Calls `f` with every index below these sizes, in row-major order.
fn for_each_index(sizes: &[usize], mut f: impl FnMut(&[usize])) {
    let mut index = vec![0; sizes.len()];
    let mut more = sizes.iter().all(|&size| size > 0);
    while more {
        f(&index);
        more = advance(&mut index, sizes);
    }
}

#[cfg(test)]
mod tests {
    use super::DynBuffer;
    use crate::element::{S4, S16};

    #[test]
    fn unchecked_access_is_the_same_access() {
        let mut whole = DynBuffer::zeroed_with("s16[5,7]{0,1:T(2,4)M(3)}".parse().unwrap()).unwrap();
        let mut packed = DynBuffer::zeroed_with("s4[5,7]{0,1:T(2,4)E(4)}".parse().unwrap()).unwrap();
        for i in 0..5 {
            for j in 0..7 {
                // SAFETY: the elements are of these types; `i < 5` and `j < 7`.
                unsafe { whole.set_unchecked::<S16>(&[i, j], (i * 7 + j) as i16) };
                // SAFETY: as above.
                unsafe { packed.set_unchecked::<S4>(&[i, j], S4::from_bits((i + j) as u8)) };
                // SAFETY: as above.
                assert_eq!(Ok(unsafe { whole.get_unchecked::<S16>(&[i, j]) }), whole.get::<S16>(&[i, j]));
                // SAFETY: as above.
                assert_eq!(Ok(unsafe { packed.get_unchecked::<S4>(&[i, j]) }), packed.get::<S4>(&[i, j]));
                assert_eq!(whole.get::<S16>(&[i, j]), Ok((i * 7 + j) as i16));
                assert_eq!(packed.get::<S4>(&[i, j]), Ok(S4::from_bits((i + j) as u8)));
            }
        }
    }
}
