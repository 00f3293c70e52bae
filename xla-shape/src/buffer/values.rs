//! Vectors of values as the memory of an array.

use super::bytes::{Storage, StorageMut};
use super::error::BufferError;
use super::storage::Buffer;
use crate::element::Plain;
use crate::element::{bytes_of, bytes_of_mut};
use crate::types::{StaticArray, ValueOf};
use std::fmt;

/// The memory of a `Vec` of values, in a buffer that [`Buffer::from_vec`] makes.
///
/// ```
/// use xla_shape::buffer::{Buffer, ValueVec};
/// use xla_shape::element::S32;
/// use xla_shape::shape;
///
/// let x: Buffer<shape!(s32[2,2]), ValueVec<S32>> = Buffer::from_vec(vec![1, 2, 3, 4])?;
/// assert_eq!(x[[1, 0]], 3, "the memory of the `Vec`, without a copy");
/// # Ok::<(), xla_shape::BufferError>(())
/// ```
#[derive(Clone)]
pub struct ValueVec<E: Plain>(Vec<E::Value>);

impl<E: Plain> AsRef<[u8]> for ValueVec<E> {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        bytes_of::<E>(&self.0)
    }
}

impl<E: Plain> AsMut<[u8]> for ValueVec<E> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [u8] {
        bytes_of_mut::<E>(&mut self.0)
    }
}

// SAFETY: the values are on the heap, in a private `Vec` that never grows. Values have no padding bytes (`Plain`), so all bytes are initialised.
unsafe impl<E: Plain> Storage for ValueVec<E> {}
// SAFETY: as above; `as_mut` returns the same bytes, the value owns them, and any bytes are values (`Plain`).
unsafe impl<E: Plain> StorageMut for ValueVec<E> {}

impl<E: Plain> fmt::Debug for ValueVec<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueVec({} values)", self.0.len())
    }
}

impl<S: StaticArray> Buffer<S, ValueVec<S::Element>>
where
    S::Element: Plain,
{
    /// An array in the memory of these values: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[2,3]{0,1}), _>::from_vec(vec![1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x[[1, 0]], 2);
    /// assert_eq!(x.into_vec(), [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the number of values is not the number of the array's physical elements.
    pub fn from_vec(values: Vec<ValueOf<S>>) -> Result<Self, BufferError> {
        Self::from_bytes(ValueVec(values))
    }

    /// The values in the order of memory, padding included: the inverse of [`from_vec`](Self::from_vec), without a copy.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[3]{0:T(4)}), _>::from_vec(vec![1, 2, 3, 0])?;
    /// assert_eq!(x.into_vec(), [1, 2, 3, 0]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    #[must_use]
    pub fn into_vec(self) -> Vec<ValueOf<S>> {
        self.into_parts().1.0
    }
}
