//! Memory whose shape is known at run time.

use super::bits::{self, Width};
use super::bytes::{AlignedBytes, Bytes, BytesMut};
use super::error::{AccessError, BufferError, ShapeMismatch};
use super::slice::check_type;
use super::typed::{BufferBase, View, ViewMut};
use crate::element::{Element, Stored};
use crate::types::{ArrayType, advance};
use crate::wide::{local, wide};
use std::fmt;
use xla_shape_core::{ArrayShape, StrideTable, StrideTableError};

/// An array that owns its memory, aligned to 64 bytes; the shape is known at run time.
///
/// ```
/// use xla_shape::element::F32;
/// use xla_shape::{Buffer, DynBuffer, shape};
///
/// let mut x = DynBuffer::zeroed("f32[100,200]{1,0:T(8,128)}".parse()?)?;
/// x.set::<F32>(&[3, 150], 1.5)?;
/// let typed: Buffer<shape!(f32[100,200]{1,0:T(8,128)})> = x.into_typed()?;
/// assert_eq!(typed[[3, 150]], 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DynBuffer = DynBufferBase<AlignedBytes>;

/// An array in borrowed memory; the shape is known at run time.
pub type DynView<'a> = DynBufferBase<&'a [u8]>;

/// An array in memory that is borrowed to write; the shape is known at run time.
pub type DynViewMut<'a> = DynBufferBase<&'a mut [u8]>;

/// An array with a run-time shape in memory `B`: a [`DynBuffer`], a [`DynView`] or a [`DynViewMut`].
#[derive(Clone)]
pub struct DynBufferBase<B> {
    shape: ArrayShape,
    pub(super) table: StrideTable,
    pub(super) width: Width,
    /// Exactly as many bytes as the shape takes.
    pub(super) bytes: B,
}

impl DynBuffer {
    /// An array whose bytes, padding included, are all 0.
    ///
    /// # Errors
    /// If a dimension is unbounded, the layout has splits or too narrow elements, or there is not enough memory.
    pub fn zeroed(shape: ArrayShape) -> Result<Self, BufferError> {
        let bytes = AlignedBytes::zeroed(bytes_of(&shape)?)?;
        Self::from_parts(shape, bytes)
    }

    /// An array with this value in every element; padding is 0.
    ///
    /// # Errors
    /// As [`zeroed`](Self::zeroed), or if the elements are of another type.
    pub fn filled<E: Stored>(shape: ArrayShape, value: E::Value) -> Result<Self, BufferError> {
        Self::from_fn::<E>(shape, |_| value)
    }

    /// An array with this value for each index; padding is 0.
    ///
    /// # Errors
    /// As [`zeroed`](Self::zeroed), or if the elements are of another type.
    pub fn from_fn<E: Stored>(shape: ArrayShape, value: impl FnMut(&[usize]) -> E::Value) -> Result<Self, BufferError> {
        let mut buffer = Self::zeroed(shape)?;
        buffer.fill_with::<E>(value)?;
        Ok(buffer)
    }
}

/// The bytes of an array that a buffer can hold.
fn bytes_of(shape: &ArrayShape) -> Result<usize, BufferError> {
    if !shape.layout().split_configs().is_empty() {
        return Err(BufferError::Split);
    }
    let unbounded = shape.dimensions().iter().position(|dimension| dimension.extent().is_none());
    match (shape.byte_size(), unbounded) {
        (Some(bytes), _) => Ok(bytes as usize),
        (None, dimension) => {
            let dimension = dimension.unwrap_or(0);
            Err(BufferError::StrideTable(StrideTableError::UnboundedDimension { dimension }))
        }
    }
}

impl<B: Bytes> DynBufferBase<B> {
    /// Takes over bytes as an array: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not exactly as many bytes as the array takes, a dimension is unbounded, or the layout has splits
    /// or too narrow elements.
    pub fn from_parts(shape: ArrayShape, bytes: B) -> Result<Self, BufferError> {
        let (expected, found) = (bytes_of(&shape)?, bytes.as_ref().len());
        if found != expected {
            return Err(BufferError::WrongLength { expected, found });
        }
        let table = shape.stride_table()?;
        let (element_type, element_size_in_bits) = (shape.element_type(), shape.element_bits());
        let width = Width::new(element_type, element_size_in_bits)
            .ok_or(BufferError::ElementTooNarrow { element_type, element_size_in_bits })?;
        Ok(Self { shape, table, width, bytes })
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// The shape and the bytes, which [`from_parts`](Self::from_parts) takes.
    #[must_use]
    pub fn into_parts(self) -> (ArrayShape, B) {
        (self.shape, self.bytes)
    }

    /// Where the elements lie.
    #[must_use]
    pub const fn stride_table(&self) -> &StrideTable {
        &self.table
    }

    /// The bytes: the elements and the padding, in the order of memory.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The array, borrowed.
    #[must_use]
    pub fn view(&self) -> DynView<'_> {
        DynBufferBase {
            shape: self.shape.clone(),
            table: self.table.clone(),
            width: self.width,
            bytes: self.bytes.as_ref(),
        }
    }

    /// The element with this index.
    ///
    /// # Errors
    /// If the elements are of another type, or there is no such element.
    #[inline]
    pub fn get<E: Stored>(&self, index: &[usize]) -> Result<E::Value, AccessError> {
        self.check::<E>(index)?;
        Ok(self.read::<E>(self.position(index)))
    }

    /// The element with this index.
    ///
    /// # Safety
    /// The elements must be of type `E`, and `index` must have one number for each dimension, less than its size.
    #[must_use]
    #[inline]
    pub unsafe fn get_unchecked<E: Stored>(&self, index: &[usize]) -> E::Value {
        debug_assert_eq!(self.check::<E>(index), Ok(()));
        let position = self.position(index);
        match self.width {
            Width::Whole => {
                let offset = self.prefix() + position * size_of::<E::Bytes>();
                // SAFETY: the bytes are the prefix and the physical elements, as many bytes each as `E::Bytes` has, since
                // the caller promises the type; by the law of the stride table, the position of the index that the caller
                // promises is one of them.
                let element = unsafe { self.bytes.as_ref().as_ptr().add(offset) };
                // SAFETY: all bytes of that element are inside the array and initialised; bytes need no alignment.
                E::from_le_bytes(unsafe { element.cast::<E::Bytes>().read() })
            }
            Width::Bits(_) => self.read::<E>(position),
        }
    }

    /// The elements in row-major order of their indices, without padding.
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn to_row_major<E: Stored>(&self) -> Result<Vec<E::Value>, AccessError> {
        self.check_type::<E>()?;
        let mut values = Vec::new();
        for_each_index(local(self.table.extents()), |index| values.push(self.read::<E>(self.position(index))));
        Ok(values)
    }

    pub(crate) fn read<E: Stored>(&self, position: usize) -> E::Value {
        let data = &self.bytes.as_ref()[self.prefix()..];
        match self.width {
            Width::Whole => {
                let mut bytes = E::Bytes::default();
                let size = bytes.as_ref().len();
                bytes.as_mut().copy_from_slice(&data[position * size..][..size]);
                E::from_le_bytes(bytes)
            }
            Width::Bits(width) => bits::read::<E>(data, width, position),
        }
    }

    /// The same array with the shape in the type; the type's unbounded dimensions take the sizes of this one.
    ///
    /// # Errors
    /// If the shape is another one (the error names both), or the memory is not aligned for the elements' Rust type.
    pub fn typed<S: ArrayType<Element: Stored>>(&self) -> Result<View<'_, S>, BufferError> {
        View::with_shape(self.expect_shape::<S>()?, self.bytes.as_ref())
    }

    /// The same memory with the shape in the type.
    ///
    /// # Errors
    /// As [`typed`](Self::typed).
    pub fn into_typed<S: ArrayType<Element: Stored>>(self) -> Result<BufferBase<S, B>, BufferError> {
        BufferBase::with_shape(self.expect_shape::<S>()?, self.bytes)
    }

    fn expect_shape<S: ArrayType>(&self) -> Result<S, ShapeMismatch> {
        S::from_array_shape(&self.shape).ok_or_else(|| ShapeMismatch::new(S::SHAPE.clone(), self.shape.clone()))
    }

    /// The position of an element, in elements.
    fn position(&self, index: &[usize]) -> usize {
        self.table.linear_index(wide(index)) as usize
    }

    /// How wide an element is.
    pub(super) const fn width(&self) -> Width {
        self.width
    }

    /// The bytes before the first element.
    pub(super) const fn prefix(&self) -> usize {
        self.shape.layout().dynamic_shape_metadata_prefix_bytes() as usize
    }

    pub(crate) fn check_type<E: Element>(&self) -> Result<(), AccessError> {
        check_type::<E>(&self.shape)
    }

    fn check<E: Element>(&self, index: &[usize]) -> Result<(), AccessError> {
        self.check_type::<E>()?;
        if self.table.as_ref().contains(wide(index)) {
            Ok(())
        } else {
            Err(out_of_bounds(index, local(self.table.extents())))
        }
    }
}

impl<B: BytesMut> DynBufferBase<B> {
    /// The bytes, to write: the elements and the padding, in the order of memory.
    #[must_use]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        self.bytes.as_mut()
    }

    /// The array, borrowed to write.
    #[must_use]
    pub fn view_mut(&mut self) -> DynViewMut<'_> {
        DynBufferBase {
            shape: self.shape.clone(),
            table: self.table.clone(),
            width: self.width,
            bytes: self.bytes.as_mut(),
        }
    }

    /// The same array with the shape in the type, to write.
    ///
    /// # Errors
    /// As [`typed`](Self::typed).
    pub fn typed_mut<S: ArrayType<Element: Stored>>(&mut self) -> Result<ViewMut<'_, S>, BufferError> {
        ViewMut::with_shape(self.expect_shape::<S>()?, self.bytes.as_mut())
    }

    /// Writes the element with this index.
    ///
    /// # Errors
    /// If the elements are of another type, or there is no such element.
    #[inline]
    pub fn set<E: Stored>(&mut self, index: &[usize], value: E::Value) -> Result<(), AccessError> {
        self.check::<E>(index)?;
        self.write::<E>(self.position(index), value);
        Ok(())
    }

    /// Writes the element with this index.
    ///
    /// # Safety
    /// The elements must be of type `E`, and `index` must have one number for each dimension, less than its size.
    #[inline]
    pub unsafe fn set_unchecked<E: Stored>(&mut self, index: &[usize], value: E::Value) {
        debug_assert_eq!(self.check::<E>(index), Ok(()));
        let position = self.position(index);
        match self.width {
            Width::Whole => {
                let offset = self.prefix() + position * size_of::<E::Bytes>();
                // SAFETY: as in `get_unchecked`.
                let element = unsafe { self.bytes.as_mut().as_mut_ptr().add(offset) };
                // SAFETY: as in `get_unchecked`; the bytes are borrowed mutably.
                unsafe { element.cast::<E::Bytes>().write(E::to_le_bytes(value)) };
            }
            Width::Bits(_) => self.write::<E>(position, value),
        }
    }

    /// Writes every element; padding stays as it is.
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn fill_with<E: Stored>(&mut self, mut value: impl FnMut(&[usize]) -> E::Value) -> Result<(), AccessError> {
        self.check_type::<E>()?;
        let extents = self.table.extents().to_vec();
        for_each_index(local(&extents), |index| self.write::<E>(self.position(index), value(index)));
        Ok(())
    }

    fn write<E: Stored>(&mut self, position: usize, value: E::Value) {
        let prefix = self.prefix();
        let data = &mut self.bytes.as_mut()[prefix..];
        match self.width {
            Width::Whole => {
                let bytes = E::to_le_bytes(value);
                let size = bytes.as_ref().len();
                data[position * size..][..size].copy_from_slice(bytes.as_ref());
            }
            Width::Bits(width) => bits::write::<E>(data, width, position, value),
        }
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

#[cold]
fn out_of_bounds(index: &[usize], sizes: &[usize]) -> AccessError {
    let number = index.len();
    let wrong = index.iter().zip(sizes).enumerate().find(|(_, (index, size))| index >= size);
    match wrong {
        Some((dimension, (&index, &size))) if number == sizes.len() => {
            AccessError::OutOfBounds { dimension, index, size }
        }
        _ => AccessError::WrongNumDimensions { expected: sizes.len(), found: number },
    }
}

impl<B: Bytes> fmt::Debug for DynBufferBase<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynBuffer({})", self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::DynBuffer;
    use crate::element::{S4, S16};

    #[test]
    fn unchecked_access_is_the_same_access() {
        let mut whole = DynBuffer::zeroed("s16[5,7]{0,1:T(2,4)M(3)}".parse().unwrap()).unwrap();
        let mut packed = DynBuffer::zeroed("s4[5,7]{0,1:T(2,4)E(4)}".parse().unwrap()).unwrap();
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
