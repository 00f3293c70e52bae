//! Arrays whose shape is known at run time.

use super::bytes::{AlignedBytes, Bytes, BytesMut, Lender, Mut, Ref};
use super::cells::{Cells, CellsMut, Values, ValuesMut, Width, bytes_of, bytes_of_mut};
use super::error::{AccessError, BufferError, out_of_bounds};
use super::storage::{Buffer, BufferShape, WholeShape};
use crate::element::{Element, Plain, Stored};
use crate::sealed::Sealed;
use crate::types::advance;
use crate::wide::{byte_count, local, wide};
use std::sync::Arc;
use xla_shape_core::{ArrayShape, StrideTable, StrideTableError};

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
pub type DynView<'a> = Buffer<DynShape, Ref<'a>>;

/// An array in memory that is borrowed to write; the shape is known at run time.
pub type DynViewMut<'a> = Buffer<DynShape, Mut<'a>>;

/// A shape that is known at run time, prepared to find elements: a [`DynBuffer`] has it in place of a type.
///
/// Copying it is as cheap as copying an `Arc`.
#[derive(Clone, Debug)]
pub struct DynShape {
    array: Arc<Prepared>,
    // Each access needs these two.
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

    fn of(shape: &ArrayShape) -> Result<Self, BufferError> {
        Self::new(shape.clone())
    }

    fn of_sizes(_: &[usize]) -> Result<Self, BufferError> {
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
    /// Prepares a shape.
    ///
    /// # Errors
    /// If a dimension is unbounded, or the layout has splits or too narrow elements.
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
    #[must_use]
    pub fn shape(&self) -> &ArrayShape {
        &self.array.shape
    }

    /// Where the elements are in memory.
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

    /// The sizes or bounds of the dimensions, in elements.
    fn extents(&self) -> &[usize] {
        local(self.array.table.as_ref().extents())
    }
}

/// Checks that the elements of a shape are of type `E`.
fn check_type<E: Element>(shape: &ArrayShape) -> Result<(), AccessError> {
    let found = shape.element_type();
    if E::TYPE == found { Ok(()) } else { Err(AccessError::WrongElementType { expected: E::TYPE, found }) }
}

impl DynBuffer {
    /// An array whose bytes, padding included, are all 0.
    ///
    /// # Errors
    /// If a dimension is unbounded, the layout has splits or too narrow elements, or there is not enough memory.
    pub fn zeroed_with(shape: ArrayShape) -> Result<Self, BufferError> {
        let shape = DynShape::new(shape)?;
        let bytes = AlignedBytes::zeroed(shape.byte_size()?)?;
        Ok(Self { shape, bytes })
    }

    /// An array with this value in every element; padding is 0.
    ///
    /// # Errors
    /// Same as [`zeroed_with`](Self::zeroed_with), or if the elements are of another type.
    pub fn filled_with<E: Stored>(shape: ArrayShape, value: E::Value) -> Result<Self, BufferError> {
        Self::from_fn_with::<E>(shape, |_| value)
    }

    /// An array with this value for each index; padding is 0.
    ///
    /// # Errors
    /// Same as [`zeroed_with`](Self::zeroed_with), or if the elements are of another type.
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

impl<B: Bytes> Buffer<DynShape, B> {
    /// An array of this shape in these bytes: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not exactly as many bytes as the array takes, a dimension is unbounded, or the layout has splits
    /// or too narrow elements.
    pub fn from_parts(shape: ArrayShape, bytes: B::Parts) -> Result<Self, BufferError> {
        Self::with_shape(DynShape::new(shape)?, B::from_parts(bytes))
    }

    pub(super) fn with_shape(shape: DynShape, bytes: B) -> Result<Self, BufferError> {
        let (expected, found) = (shape.byte_size()?, bytes.len());
        if found == expected { Ok(Self { bytes, shape }) } else { Err(BufferError::WrongLength { expected, found }) }
    }

    /// The shape and the bytes, which [`from_parts`](Self::from_parts) takes.
    #[must_use]
    pub fn into_parts(self) -> (ArrayShape, B::Parts) {
        // SAFETY: a whole array.
        (self.shape.shape().clone(), unsafe { self.bytes.into_parts() })
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &ArrayShape {
        self.shape.shape()
    }

    /// Where the elements are in memory.
    #[must_use]
    pub fn stride_table(&self) -> &StrideTable {
        self.shape.stride_table()
    }

    /// The element with this index.
    ///
    /// # Errors
    /// If the elements are of another type, or there is no such element.
    #[inline]
    pub fn get<E: Stored>(&self, index: &[usize]) -> Result<E::Value, AccessError> {
        self.check::<E>(index)?;
        // SAFETY: the elements are of type `E`, and there is one with this index.
        Ok(unsafe { self.get_unchecked::<E>(index) })
    }

    /// The element with this index.
    ///
    /// # Safety
    /// The elements must be of type `E`, and `index` must have one number for each dimension, less than its size.
    #[must_use]
    #[inline]
    pub unsafe fn get_unchecked<E: Stored>(&self, index: &[usize]) -> E::Value {
        debug_assert_eq!(self.check::<E>(index), Ok(()));
        // SAFETY: the caller promises the type.
        let cells = unsafe { self.cells::<E>() };
        // SAFETY: by the law of the stride table, the index that the caller promises has the position of an element.
        unsafe { cells.read(self.shape.position(index)) }
    }

    /// The shape and its stride table; they stay when the array is borrowed to write.
    pub(crate) fn prepared_shape(&self) -> DynShape {
        self.shape.clone()
    }

    /// The sizes of the dimensions, in elements; bounds where a dimension has one.
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
        // SAFETY: the type has been checked.
        let cells = unsafe { self.cells::<E>() };
        let (shape, sizes) = (&self.shape, self.sizes());
        let mut index = vec![0; sizes.len()];
        Ok((0..sizes.iter().product()).map(move |_| {
            // SAFETY: as many steps as there are elements keep the index inside the extents of the table, so its position is that
            // of an element.
            let value = unsafe { cells.read(shape.position(&index)) };
            advance(&mut index, sizes);
            value
        }))
    }

    /// The memory of the elements.
    ///
    /// # Safety
    /// The elements must be of type `E`.
    #[inline(always)]
    pub(crate) unsafe fn cells<E: Stored>(&self) -> Cells<'_, E> {
        let (prefix, len) = (self.shape.prefix, self.bytes.len());
        // SAFETY: the bytes begin with the prefix, if there are any.
        let first = unsafe { self.bytes.start().add(prefix.min(len)) };
        // SAFETY: after the prefix, the bytes hold the physical elements, which may be read as long as `self` is borrowed. The
        // caller promises their type; `width` is theirs.
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

    /// Whether the values can be borrowed.
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

    /// # Errors
    /// If the values cannot be borrowed.
    ///
    /// # Safety
    /// The memory must be there, and not be written, for `'a`.
    unsafe fn values_for<'a, E: Plain>(&self) -> Result<&'a [E::Value], BufferError> {
        self.check_borrow::<E>()?;
        let (prefix, len) = (self.shape.prefix, self.bytes.len());
        // SAFETY: the bytes begin with the prefix, if there are any.
        let first = unsafe { self.bytes.start().add(prefix.min(len)) };
        // SAFETY: the elements are whole, of type `E` and aligned, as has just been checked.
        let values = unsafe { Values::<E>::new(first, len.saturating_sub(prefix) / size_of::<E::Value>()) };
        // SAFETY: all of the memory belongs to the array.
        Ok(unsafe { values.range(0..values.len()) })
    }
}

impl<B: BytesMut> Buffer<DynShape, B> {
    /// Writes the element with this index.
    ///
    /// # Errors
    /// If the elements are of another type, or there is no such element.
    #[inline]
    pub fn set<E: Stored>(&mut self, index: &[usize], value: E::Value) -> Result<(), AccessError> {
        self.check::<E>(index)?;
        // SAFETY: the elements are of type `E`, and there is one with this index.
        unsafe { self.set_unchecked::<E>(index, value) };
        Ok(())
    }

    /// Writes the element with this index.
    ///
    /// # Safety
    /// The elements must be of type `E`, and `index` must have one number for each dimension, less than its size.
    #[inline]
    pub unsafe fn set_unchecked<E: Stored>(&mut self, index: &[usize], value: E::Value) {
        debug_assert_eq!(self.check::<E>(index), Ok(()));
        let position = self.shape.position(index);
        // SAFETY: the caller promises the type.
        let mut cells = unsafe { self.cells_mut::<E>() };
        // SAFETY: by the law of the stride table, the index that the caller promises has the position of an element.
        unsafe { cells.write(position, value) };
    }

    /// Writes every element; padding stays as it is.
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn fill_with<E: Stored>(&mut self, mut value: impl FnMut(&[usize]) -> E::Value) -> Result<(), AccessError> {
        self.check_type::<E>()?;
        let shape = self.prepared_shape();
        // SAFETY: the type has been checked.
        let mut cells = unsafe { self.cells_mut::<E>() };
        for_each_index(shape.extents(), |index| {
            // SAFETY: the index is inside the extents of the table, so its position is that of an element.
            unsafe { cells.write(shape.position(index), value(index)) };
        });
        Ok(())
    }

    /// # Safety
    /// Like [`cells`](Self::cells).
    #[inline(always)]
    pub(super) unsafe fn cells_mut<E: Stored>(&mut self) -> CellsMut<'_, E> {
        let (prefix, len) = (self.shape.prefix, self.bytes.len());
        // SAFETY: as in `cells`.
        let first = unsafe { self.bytes.start_mut().add(prefix.min(len)) };
        // SAFETY: as in `cells`; the bytes are borrowed mutably.
        unsafe { CellsMut::new(first, len.saturating_sub(prefix), self.shape.width) }
    }

    /// The values in the order of memory, padding included, to write.
    ///
    /// # Errors
    /// Same as [`as_slice`](Self::as_slice).
    pub fn as_mut_slice<E: Plain>(&mut self) -> Result<&mut [E::Value], BufferError> {
        self.check_borrow::<E>()?;
        let (prefix, len) = (self.shape.prefix, self.bytes.len());
        // SAFETY: the bytes begin with the prefix, if there are any.
        let first = unsafe { self.bytes.start_mut().add(prefix.min(len)) };
        // SAFETY: the elements are whole, of type `E` and aligned, as has just been checked; the bytes are borrowed mutably.
        let mut values = unsafe { ValuesMut::<E>::new(first, len.saturating_sub(prefix) / size_of::<E::Value>()) };
        // SAFETY: all of the memory belongs to the array.
        Ok(unsafe { values.range_for(0..values.len()) })
    }
}

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
    /// Same as [`from_parts`](Self::from_parts), or if the elements are of another type.
    pub fn from_slice_with<E: Plain>(shape: ArrayShape, values: &'a [E::Value]) -> Result<Self, BufferError> {
        check_type::<E>(&shape)?;
        Self::from_parts(shape, bytes_of::<E>(values))
    }

    /// The values in the order of memory, padding included.
    ///
    /// # Errors
    /// If the elements are of another type, packed bits, or not aligned for their Rust type.
    pub fn as_slice<E: Plain>(&self) -> Result<&'a [E::Value], BufferError> {
        // SAFETY: the memory is borrowed for `'a`.
        unsafe { self.values_for::<E>() }
    }
}

impl<'a> DynViewMut<'a> {
    /// Borrows values as an array to write: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// Same as [`DynView::from_slice_with`].
    pub fn from_slice_with<E: Plain>(shape: ArrayShape, values: &'a mut [E::Value]) -> Result<Self, BufferError> {
        check_type::<E>(&shape)?;
        Self::from_parts(shape, bytes_of_mut::<E>(values))
    }
}

impl<B: Lender> Buffer<DynShape, B> {
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
    pub fn as_slice<E: Plain>(&self) -> Result<&[E::Value], BufferError> {
        // SAFETY: the memory is borrowed with `self`.
        unsafe { self.values_for::<E>() }
    }
}

/// Calls `f` with every index into an array of these sizes, in row-major order.
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
                // SAFETY: the elements are of these types, and the indices are less than 5 and 7.
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
