//! Copies of blocks into other memory and back.

use crate::buffer::{Buffer, Bytes, BytesMut};
use crate::element::Plain;
use crate::iter::copy_common;
use crate::types::{ArrayType, StaticArray, ValueOf, sizes_of};

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// Copies every element to the same index of an array or block of the same dimensions, in any layout and memory space. If one of the two is
    /// smaller, as a last block may be, only elements that both have are copied.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// // A block at a time goes to the memory of the chip and back.
    /// type Block = shape!(f32[16,128]{1,0:T(8,128)});
    /// let mut x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::from_fn(|[i, _]| i as f32);
    /// let mut vmem = Buffer::<shape!(f32[16,128]{1,0:T(8,128)S(1)})>::zeroed();
    /// for mut block in x.blocks_mut::<Block>() {
    ///     block.copy_to(&mut vmem);
    ///     vmem.apply(|x| 2.0 * x);
    ///     vmem.copy_to(&mut block);
    /// }
    /// assert_eq!(x[[63, 255]], 126.0);
    /// ```
    #[inline]
    pub fn copy_to<T, C>(&self, destination: &mut Buffer<T, C>)
    where
        T: ArrayType<Element = S::Element, Dimensions = S::Dimensions>,
        C: BytesMut,
    {
        copy_common(destination, self);
    }

    /// Like [`copy_to`](Self::copy_to), but elements of the destination that this block lacks, because the array ends, become
    /// `padding`.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Block = shape!(s32[4,4]);
    /// let x = Buffer::<shape!(s32[6,6])>::filled(1);
    /// let mut copy = Buffer::<Block>::zeroed();
    /// x.block::<Block>([1, 1]).copy_to_padded(&mut copy, -1);
    /// assert_eq!(copy.to_row_major()[..8], [1, 1, -1, -1, 1, 1, -1, -1]);
    /// ```
    #[inline]
    pub fn copy_to_padded<T, C>(&self, destination: &mut Buffer<T, C>, padding: ValueOf<S>)
    where
        T: ArrayType<Element = S::Element, Dimensions = S::Dimensions>,
        C: BytesMut,
    {
        if self.sizes() != sizes_of(destination.shape()) {
            destination.fill(padding);
        }
        copy_common(destination, self);
    }

    /// A copy in new memory, of shape `T` with the same dimensions. Elements that a last block lacks are 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Block = shape!(f32[8,128]{1,0:T(8,128)});
    /// let x = Buffer::<shape!(f32[16,256]{1,0:T(8,128)})>::filled(1.0);
    /// let row_major: Buffer<shape!(f32[8,128])> = x.block::<Block>([1, 1]).to_buffer();
    /// assert_eq!(row_major.as_slice(), [1.0; 1024]);
    /// ```
    ///
    /// # Panics
    /// If there is not enough memory.
    #[must_use]
    pub fn to_buffer<T>(&self) -> Buffer<T>
    where
        T: StaticArray<Element = S::Element, Dimensions = S::Dimensions>,
    {
        let mut copy = Buffer::<T>::zeroed();
        copy_common(&mut copy, self);
        copy
    }
}
