//! Arrays in a layout of 2017.

use super::dynamic::DynBuffer;
use super::error::BufferError;
use xla_shape_core::LegacyShape;

impl DynBuffer {
    /// An array in a layout of 2017 whose positions all hold the padding value: the padding, and the elements until they are
    /// written. They hold 0 where the padding may hold anything. The buffer's own shape is the modern one.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::U8;
    ///
    /// let mut x = DynBuffer::padded(&"u8[2,3]{0,1:PAD(3,5)V(highest)}".parse()?)?;
    /// x.fill_with::<U8>(|index| (3 * index[0] + index[1]) as u8)?;
    /// assert_eq!(x.as_bytes(), [0, 3, 255, 1, 4, 255, 2, 5, 255, 255, 255, 255, 255, 255, 255]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the element type lacks the padding value, or there is not enough memory.
    pub fn padded(shape: &LegacyShape) -> Result<Self, BufferError> {
        let mut buffer = Self::zeroed(shape.modern().clone())?;
        if let Some(padding_value) = shape.padding_value() {
            let element_type = shape.element_type();
            let no_such_value = BufferError::NoSuchPaddingValue { element_type, padding_value };
            let value = shape.padding_bits().ok_or(no_such_value)?.to_le_bytes();
            for element in buffer.as_bytes_mut().chunks_exact_mut(element_type.storage_bytes()) {
                element.copy_from_slice(&value[..element.len()]);
            }
        }
        Ok(buffer)
    }
}
