//! The buffer itself: memory and its shape, whether the shape is a type or a value.

use super::bytes::{AlignedBytes, Bytes, BytesMut, Lender, Mut, Ref};
use super::error::{AccessError, BufferError, ShapeMismatch};
use crate::element::Stored;
use crate::sealed::Sealed;
use crate::types::{ArrayType, Dimensions, MultiIndex, WholeArray};
use xla_shape_core::ArrayShape;

/// An array of shape `S` in memory `B`.
///
/// The shape is a type made by [`shape!`](crate::shape), or [`DynShape`](super::DynShape), a value. Without `B`, the buffer owns
/// its memory, aligned to 64 bytes.
///
/// ```
/// use xla_shape::{Buffer, index, shape};
///
/// let mut x = Buffer::<shape!(f32[100,200]{1,0:T(8,128)})>::zeroed();
/// x.set([3, 150], 1.5)?;
/// assert_eq!(x.get([3, 150])?, 1.5);
/// assert!(x.get([100, 0]).is_err());
/// assert_eq!(x.at(index![3, 150]), 1.5); // checked at compile time
/// assert_eq!(x[[3, 150]], 1.5);
/// # Ok::<(), xla_shape::AccessError>(())
/// ```
pub struct Buffer<S, B = AlignedBytes> {
    /// Of a whole array: exactly as many bytes as `shape` takes; if elements are whole, the first begins at a multiple of its
    /// type's alignment. Of a block: the bytes of the whole array.
    pub(super) bytes: B,
    pub(super) shape: S,
}

/// An array of shape `S` in borrowed memory.
///
/// References from it live as long as the memory is borrowed, even after the view itself is dropped.
///
/// ```
/// use xla_shape::{View, shape};
///
/// type X = shape!(s32[2,3]{0,1});
/// let x = View::<X>::from_slice(&[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(x[[1, 0]], 2);
///
/// fn values<'a>(x: View<'a, X>) -> &'a [i32] { x.as_slice() }
/// assert_eq!(values(x), [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), xla_shape::BufferError>(())
/// ```
pub type View<'a, S> = Buffer<S, Ref<'a>>;

/// An array of shape `S` in memory that is borrowed to write.
pub type ViewMut<'a, S> = Buffer<S, Mut<'a>>;

impl<S: Copy> Copy for View<'_, S> {}

/// Clones the memory.
///
/// # Panics
/// If the clone of the memory has another length, or is not aligned as the elements need: a `Vec<u8>` begins anywhere. Memory of
/// [`AlignedBytes`] never does so, nor does memory that is borrowed or shared.
impl<S: Clone, B: Bytes + Clone> Clone for Buffer<S, B> {
    #[inline(always)]
    fn clone(&self) -> Self {
        let (bytes, now) = (self.bytes.clone(), &self.bytes);
        // No element's Rust type wants more. The element that is aligned need not be the first byte.
        const ALIGNMENT: usize = 16;
        let distance = bytes.start().addr().wrapping_sub(now.start().addr());
        assert!(
            bytes.len() == now.len() && (now.is_empty() || distance.is_multiple_of(ALIGNMENT)),
            "expected a clone of the memory with the same length and alignment"
        );
        Self { bytes, shape: self.shape.clone() }
    }
}

/// A shape that a buffer can have: an [`ArrayType`](crate::types::ArrayType) or [`DynShape`](super::DynShape).
pub trait BufferShape: Clone + Sealed {}

/// The shape of a whole array, not of a block in a larger one: a type or a value. Generic code over both uses it.
pub trait WholeShape: BufferShape {
    /// The shape of the type; `None` if the type stands for any shape.
    const TYPE: Option<&'static ArrayShape>;
    /// The names of the type's sizes, one for each dimension; empty if the type stands for any shape.
    const NAMES: &'static [Option<&'static str>] = &[];

    /// A shape that is known at run time, as a value of this type.
    ///
    /// # Errors
    /// If it is another one, or no buffer can hold the array.
    fn of(shape: &ArrayShape) -> Result<Self, BufferError>;

    /// The shape with these sizes, one for each dimension, where the type leaves them open; its layout is the type's.
    ///
    /// # Errors
    /// If the type cannot have them, or stands for any shape.
    fn of_sizes(sizes: &[usize]) -> Result<Self, BufferError>;

    /// The shape as a value, with the sizes of unbounded dimensions put in.
    #[must_use]
    fn array(&self) -> ArrayShape;

    /// The bytes of the array, padding included.
    ///
    /// # Errors
    /// If they are too many.
    fn bytes(&self) -> Result<usize, BufferError>;

    /// The array of this shape in these bytes, as [`from_parts`](View::from_parts).
    ///
    /// # Errors
    /// If there are not exactly as many bytes as the array takes, or they are not aligned as its elements' Rust type wants.
    fn buffer<B: Bytes>(self, bytes: B::Parts) -> Result<Buffer<Self, B>, BufferError>;
}

impl<S: ArrayType> BufferShape for S {}

impl<S: WholeArray<Element: Stored>> WholeShape for S {
    const TYPE: Option<&'static ArrayShape> = Some(S::SHAPE);
    const NAMES: &'static [Option<&'static str>] = <S::Dimensions as Dimensions>::NAMES;

    fn of(shape: &ArrayShape) -> Result<Self, BufferError> {
        let mismatch = || ShapeMismatch::new(S::SHAPE.clone(), shape.clone());
        Ok(S::from_array_shape(shape).ok_or_else(mismatch)?)
    }

    #[inline]
    fn of_sizes(sizes: &[usize]) -> Result<Self, BufferError> {
        let (mut index, found) = (S::Index::ORIGIN, sizes.len());
        let expected = index.as_ref().len();
        if found != expected {
            return Err(AccessError::WrongNumDimensions { expected, found }.into());
        }
        index.as_mut().copy_from_slice(sizes);
        Ok(S::with_sizes(index)?)
    }

    fn array(&self) -> ArrayShape {
        self.array_shape()
    }

    #[inline]
    fn bytes(&self) -> Result<usize, BufferError> {
        Ok(self.byte_size())
    }

    #[inline]
    fn buffer<B: Bytes>(self, bytes: B::Parts) -> Result<Buffer<Self, B>, BufferError> {
        Buffer::<S, B>::from_parts(self, bytes)
    }
}

impl<S: BufferShape, B: Bytes> Buffer<S, B> {
    /// The array, borrowed. A [`View`] is `Copy`: copy it to keep it for as long as the memory is borrowed.
    #[must_use]
    #[inline(always)]
    pub fn view(&self) -> View<'_, S> {
        // SAFETY: the buffer is borrowed as long, so nobody writes what it may read.
        Buffer { bytes: unsafe { Ref::of(&self.bytes) }, shape: self.shape.clone() }
    }
}

impl<S: BufferShape, B: BytesMut> Buffer<S, B> {
    /// The array, borrowed to write. For a [`ViewMut`], this is a reborrow: the view can be used again afterwards.
    ///
    /// ```
    /// use xla_shape::{Buffer, ViewMut, shape};
    ///
    /// type X = shape!(s32[4]);
    /// fn add(mut x: ViewMut<X>, n: i32) { x.apply(|x| x + n) }
    /// fn add_twice(mut x: ViewMut<X>) {
    ///     add(x.view_mut(), 1);
    ///     add(x, 2);
    /// }
    /// let mut x = Buffer::<X>::zeroed();
    /// add_twice(x.view_mut());
    /// assert_eq!(x.as_slice(), [3; 4]);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn view_mut(&mut self) -> ViewMut<'_, S> {
        // SAFETY: the buffer is borrowed mutably as long, so nobody else reads or writes what is its own.
        Buffer { bytes: unsafe { Mut::of(&mut self.bytes) }, shape: self.shape.clone() }
    }
}

impl<S, B: Bytes> Buffer<S, B> {
    /// A part of the array.
    ///
    /// # Safety
    /// It must be one of this array. If others have parts of the same memory to write, it must have none of theirs.
    #[inline(always)]
    pub(crate) unsafe fn cut<R: ArrayType>(self, part: R) -> Buffer<R, B> {
        Buffer { bytes: self.bytes, shape: part }
    }
}

impl<'a, S: Copy> ViewMut<'a, S> {
    /// The same array again, to cut another part out of it.
    ///
    /// # Safety
    /// No element or padding may be in two parts, or be used while there is a part with it.
    #[inline(always)]
    pub(crate) unsafe fn again(&mut self) -> ViewMut<'a, S> {
        // SAFETY: as the caller promises.
        Buffer { bytes: unsafe { self.bytes.again() }, shape: self.shape }
    }
}

impl<'a, S: Copy> View<'a, S> {
    /// Some bytes of the memory.
    ///
    /// # Safety
    /// They must be there, and be the array's.
    #[inline(always)]
    pub(crate) unsafe fn bytes_from(&self, start: usize, len: usize) -> &'a [u8] {
        debug_assert!(start + len <= self.bytes.len());
        // SAFETY: as the caller promises.
        let first = unsafe { self.bytes.start().add(start) };
        // SAFETY: as above; what the array has is borrowed for `'a`.
        unsafe { std::slice::from_raw_parts(first, len) }
    }
}

impl<'a, S: WholeShape> View<'a, S> {
    /// The bytes: the elements and the padding, in the order of memory.
    #[must_use]
    #[inline(always)]
    pub fn as_bytes(&self) -> &'a [u8] {
        // SAFETY: a whole array.
        unsafe { self.bytes.into_parts() }
    }
}

impl<S: WholeShape, B> Buffer<S, B> {
    /// The shape as a value, whether it is a type or not; sizes of unbounded dimensions are put in.
    #[must_use]
    pub fn array_shape(&self) -> ArrayShape {
        self.shape.array()
    }
}

impl<S: WholeShape, B: Bytes> Buffer<S, B> {
    /// The memory, of as many bytes as the array takes.
    pub(crate) fn into_memory(self) -> B::Parts {
        // SAFETY: a whole array.
        unsafe { self.bytes.into_parts() }
    }
}

impl<S: WholeShape, B: Lender> Buffer<S, B> {
    /// The bytes: the elements and the padding, in the order of memory.
    #[must_use]
    #[inline(always)]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: a whole array may read all of its bytes; they are borrowed as long as the buffer.
        unsafe { std::slice::from_raw_parts(self.bytes.start(), self.bytes.len()) }
    }
}

impl<S: WholeShape, B: BytesMut> Buffer<S, B> {
    /// The bytes, to write: the elements and the padding, in the order of memory.
    #[must_use]
    #[inline(always)]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        let len = self.bytes.len();
        // SAFETY: a whole array may write all of its bytes; they are borrowed mutably as long as the buffer.
        unsafe { std::slice::from_raw_parts_mut(self.bytes.start_mut(), len) }
    }
}
