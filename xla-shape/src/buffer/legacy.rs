//! Arrays in a layout of 2017.

use super::dynamic::DynBuffer;
use super::error::BufferError;
use super::storage::Buffer;
use crate::element::{Element, Stored};
use crate::sealed::named_in_errors;
use crate::types::{Array, LayoutType, Padded, PaddingType, StaticArray, StaticDimensions};
use xla_shape_core::LegacyShape;
use xla_shape_core::text::ConstText;

impl DynBuffer {
    /// An array in a layout of 2017 with the padding value at every position; elements can then be written. Where the padding is
    /// unspecified, it is 0. The buffer's own shape is the modern one.
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
    /// If the element type does not have the padding value, or there is not enough memory.
    pub fn padded(shape: &LegacyShape) -> Result<Self, BufferError> {
        let mut buffer = Self::zeroed_with(shape.modern().clone())?;
        if let Some(padding_value) = shape.padding_value() {
            let element_type = shape.element_type();
            let no_such_value = BufferError::NoSuchPaddingValue { element_type, padding_value };
            fill(
                buffer.as_bytes_mut(),
                shape.padding_bits().ok_or(no_such_value)?,
                element_type.storage_bytes() as usize,
            );
        }
        Ok(buffer)
    }
}

/// Writes the low bytes of `bits` to every element, which takes `element` bytes.
fn fill(bytes: &mut [u8], bits: u128, element: usize) {
    let value = bits.to_le_bytes();
    for element in bytes.chunks_exact_mut(element) {
        element.copy_from_slice(&value[..element.len()]);
    }
}

impl<E, D, L, W, V> Padded<Array<E, D, L>, W, V>
where
    E: Element,
    D: StaticDimensions,
    L: LayoutType,
    W: StaticDimensions,
    V: PaddingType,
    Array<E, D, L>: StaticArray<Element: Stored>,
{
    /// An array of this shape with the padding value at every position, as [`DynBuffer::padded`]; writing elements does not change the
    /// padding.
    ///
    /// A padding value that the element type does not have does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use xla_shape::shape;
    ///
    /// let mut x = <shape!(u8[2,3]{0,1:PAD(3,5)V(highest)})>::buffer();
    /// x.fill_with(|[i, j]| (3 * i + j) as u8);
    /// assert_eq!(x.as_bytes(), [0, 3, 255, 1, 4, 255, 2, 5, 255, 255, 255, 255, 255, 255, 255]);
    /// ```
    ///
    /// # Panics
    /// If there is not enough memory; see [`try_buffer`](Self::try_buffer).
    #[must_use]
    #[track_caller]
    pub fn buffer() -> Buffer<Array<E, D, L>> {
        named_in_errors!(Self);
        const { assert_value::<E, V>(Self::PADDING_BITS) };
        Self::padded().unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`buffer`](Self::buffer), or an error.
    ///
    /// ```
    /// use xla_shape::shape;
    ///
    /// let x = <shape!(u8[2,3]{0,1:PAD(3,5)V(one)})>::try_buffer()?;
    /// assert_eq!(x.as_bytes(), [1; 15]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn try_buffer() -> Result<Buffer<Array<E, D, L>>, BufferError> {
        named_in_errors!(Self);
        const { assert_value::<E, V>(Self::PADDING_BITS) };
        Self::padded()
    }

    fn padded() -> Result<Buffer<Array<E, D, L>>, BufferError> {
        let mut buffer = Buffer::try_zeroed()?;
        if let Some(bits) = Self::PADDING_BITS {
            fill(buffer.as_bytes_mut(), bits, E::TYPE.storage_bytes() as usize);
        }
        Ok(buffer)
    }
}

/// Fails the compilation if the padding cannot hold the value.
///
/// Every constructor evaluates this in its own `const` block, so that the compiler shows the line that calls the constructor.
#[track_caller]
const fn assert_value<E: Element, V: PaddingType>(bits: Option<u128>) {
    if let (Some(value), None) = (V::VALUE, bits) {
        let problem = ConstText::<128>::new()
            .push_str("expected a padding value that ")
            .push_str(E::TYPE.name())
            .push_str(" has, found `")
            .push_str(value.name())
            .push_str("`");
        panic!("{}", problem.as_str())
    }
}
