//! The buffer type: a shape, as a type or as a value, and the memory of the array.

use super::AlignedBytes;
use super::bytes::{Bytes, BytesMut, Lends, Mut, Ref};
use super::error::{AccessError, BufferError, ShapeMismatch};
use crate::element::Stored;
use crate::sealed::Sealed;
use crate::types::{ArrayType, Dimensions, MultiIndex, WholeArray};
use xla_shape_core::ArrayShape;

/// An array of shape `S` in memory `B`.
///
/// `S` is a type that [`shape!`](crate::shape) makes, or [`DynShape`](super::DynShape) for a shape that is known at run time. Without `B`,
/// the buffer owns its memory, aligned to 64 bytes. [`View`], [`ViewMut`], [`DynBuffer`](super::DynBuffer), [`DynView`](super::DynView) and
/// [`DynViewMut`](super::DynViewMut) are names for other combinations.
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
    /// Invariants, which every constructor establishes and safety comments cite:
    /// - *length*: of a whole array, exactly the bytes that `shape` takes; of a block, the bytes of the whole array.
    /// - *alignment*: if elements are whole and the prefix is a multiple of their Rust type's alignment, the first byte is aligned for that
    ///   type (or there are no elements).
    pub(super) bytes: B,
    pub(super) shape: S,
}

/// An array of shape `S` in borrowed memory.
///
/// References from it live as long as the memory is borrowed, even after the view itself is dropped; see [`Lends`].
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
///
/// ```
/// use xla_shape::{Buffer, ViewMut, shape};
///
/// type X = shape!(s32[2,3]{0,1});
/// fn double(mut x: ViewMut<X>) {
///     x.apply(|x| 2 * x);
/// }
/// let mut x = Buffer::<X>::filled(4);
/// double(x.view_mut());
/// assert_eq!(x[[1, 2]], 8);
/// ```
pub type ViewMut<'a, S> = Buffer<S, Mut<'a>>;

impl<S: Copy> Copy for View<'_, S> {}

/// Clones the memory.
///
/// # Panics
/// If the clone of the memory has a different length, or is not aligned for the elements: a `Vec<u8>` may begin anywhere. Cloning
/// [`AlignedBytes`], or borrowed or shared memory, never panics.
impl<S: Clone, B: Bytes + Clone> Clone for Buffer<S, B> {
    #[inline(always)]
    fn clone(&self) -> Self {
        let (bytes, now) = (self.bytes.clone(), &self.bytes);
        // The largest alignment of an element's Rust type. The old and the new address must differ by a multiple of it. The addresses need not be
        // multiples themselves, because a prefix may precede the first element.
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

/// The shape of a whole array, not of a block in a larger one: an array type or [`DynShape`](super::DynShape). Code that is generic over
/// both uses this trait.
pub trait WholeShape: BufferShape {
    /// The shape of the type; `None` if the type stands for any shape.
    const TYPE: Option<&'static ArrayShape>;
    /// The names of the type's sizes, one for each dimension; empty if the type stands for any shape.
    const NAMES: &'static [Option<&'static str>] = &[];

    /// Converts a shape to this type.
    ///
    /// ```
    /// use xla_shape::buffer::{DynShape, WholeShape};
    /// use xla_shape::{ArrayShape, shape};
    ///
    /// let shape: ArrayShape = "f32[8,128]".parse()?;
    /// assert!(<shape!(f32[?,128])>::try_from_shape(&shape).is_ok() && DynShape::try_from_shape(&shape).is_ok());
    /// assert!(<shape!(f32[?,64])>::try_from_shape(&shape).is_err());
    /// # Ok::<(), xla_shape::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the type does not stand for this shape, or no buffer can hold the array.
    fn try_from_shape(shape: &ArrayShape) -> Result<Self, BufferError>;

    /// The shape of this type with these sizes, one for each dimension; the type gives the element type and the layout.
    ///
    /// ```
    /// use xla_shape::buffer::WholeShape;
    /// use xla_shape::shape;
    ///
    /// assert_eq!(<shape!(f32[?,128])>::try_from_sizes(&[8, 128])?.array().to_string(), "f32[8,128]{1,0}");
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the type cannot have these sizes, or stands for any shape.
    fn try_from_sizes(sizes: &[usize]) -> Result<Self, BufferError>;

    /// The shape as a value, with the actual sizes of unbounded dimensions.
    ///
    /// ```
    /// use xla_shape::buffer::WholeShape;
    /// use xla_shape::shape;
    ///
    /// assert_eq!(<shape!(f32[8,128])>::default().array().to_string(), "f32[8,128]{1,0}");
    /// ```
    #[must_use]
    fn array(&self) -> ArrayShape;

    /// The bytes of the array, padding included.
    ///
    /// ```
    /// use xla_shape::buffer::WholeShape;
    /// use xla_shape::shape;
    ///
    /// assert_eq!(<shape!(f32[5,100]{1,0:T(8,128)})>::default().bytes(), Ok(4096));
    /// ```
    ///
    /// # Errors
    /// If they do not fit in a `usize`.
    fn bytes(&self) -> Result<usize, BufferError>;

    /// The array of this shape in these bytes, as [`from_parts`](View::from_parts).
    ///
    /// ```
    /// use xla_shape::buffer::{Ref, WholeShape};
    /// use xla_shape::shape;
    ///
    /// let x = <shape!(u8[2,2])>::default().buffer::<Ref<'_>>(&[1, 2, 3, 4])?;
    /// assert_eq!(x[[1, 0]], 3);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If there are not exactly as many bytes as the array takes, or they do not have the alignment of the elements' Rust type.
    fn buffer<B: Bytes>(self, bytes: B::Parts) -> Result<Buffer<Self, B>, BufferError>;
}

impl<S: ArrayType> BufferShape for S {}

impl<S: WholeArray<Element: Stored>> WholeShape for S {
    const TYPE: Option<&'static ArrayShape> = Some(S::SHAPE);
    const NAMES: &'static [Option<&'static str>] = <S::Dimensions as Dimensions>::NAMES;

    fn try_from_shape(shape: &ArrayShape) -> Result<Self, BufferError> {
        let mismatch = || ShapeMismatch::new(S::SHAPE.clone(), shape.clone());
        Ok(S::from_array_shape(shape).ok_or_else(mismatch)?)
    }

    #[inline]
    fn try_from_sizes(sizes: &[usize]) -> Result<Self, BufferError> {
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

/// **Views**, of any shape.
impl<S: BufferShape, B: Bytes> Buffer<S, B> {
    /// Borrows the array. A [`View`] is `Copy`: copy it to keep it for as long as its memory is borrowed.
    ///
    /// ```
    /// use xla_shape::{Buffer, View, shape};
    ///
    /// type X = shape!(f32[8,128]);
    /// fn first(x: View<X>) -> f32 {
    ///     x[[0, 0]]
    /// }
    /// assert_eq!(first(Buffer::<X>::filled(1.0).view()), 1.0);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn view(&self) -> View<'_, S> {
        // SAFETY: the result borrows `self`. During the borrow, the bytes that this buffer may read are allocated and not written (`Bytes`).
        Buffer { bytes: unsafe { Ref::new(&self.bytes) }, shape: self.shape.clone() }
    }
}

/// **Views to write**, of any shape.
impl<S: BufferShape, B: BytesMut> Buffer<S, B> {
    /// Borrows the array to write. For a [`ViewMut`], this is a reborrow: the view can be used again afterwards.
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
        // SAFETY: the result borrows `self` mutably, so until it ends nothing else reads or writes what this buffer may write (`BytesMut`).
        Buffer { bytes: unsafe { Mut::new(&mut self.bytes) }, shape: self.shape.clone() }
    }
}

impl<S, B: Bytes> Buffer<S, B> {
    /// A part of the array, in the same memory.
    ///
    /// # Safety
    /// `part` is a part of this array's shape. If other buffers may write to the same memory, none of them has an element or padding in
    /// common with it.
    #[inline(always)]
    pub(crate) unsafe fn cut<R: ArrayType>(self, part: R) -> Buffer<R, B> {
        Buffer { bytes: self.bytes, shape: part }
    }
}

impl<'a, S: Copy> ViewMut<'a, S> {
    /// The same array again, to cut another part out of it.
    ///
    /// # Safety
    /// Each result is cut to a part, and no element or padding is in two parts. While a part lives, its elements and its padding are not
    /// accessed through `self`.
    #[inline(always)]
    pub(crate) unsafe fn again(&mut self) -> ViewMut<'a, S> {
        // SAFETY: the caller guarantees that the parts have no byte in common.
        Buffer { bytes: unsafe { self.bytes.again() }, shape: self.shape }
    }
}

impl<'a, S: Copy> View<'a, S> {
    /// Some bytes of the memory.
    ///
    /// # Safety
    /// `start + len` is at most the length of the memory, and these bytes belong to this buffer.
    #[inline(always)]
    pub(crate) unsafe fn bytes_from(&self, start: usize, len: usize) -> &'a [u8] {
        debug_assert!(start + len <= self.bytes.len());
        // SAFETY: the caller guarantees that `start` is within the memory.
        let first = unsafe { self.bytes.start().add(start) };
        // SAFETY: the caller guarantees `len` bytes that this buffer may read; they are borrowed for `'a`.
        unsafe { std::slice::from_raw_parts(first, len) }
    }
}

impl<S: Copy> ViewMut<'_, S> {
    /// Some bytes of the memory, to write.
    ///
    /// # Safety
    /// `start + len` is at most the length of the memory, and these bytes belong to this buffer alone.
    #[inline(always)]
    pub(crate) unsafe fn bytes_from_mut(&mut self, start: usize, len: usize) -> &mut [u8] {
        debug_assert!(start + len <= self.bytes.len());
        // SAFETY: the caller guarantees that `start` is within the memory.
        let first = unsafe { self.bytes.start_mut().add(start) };
        // SAFETY: the caller guarantees `len` bytes that only this buffer may access; they are borrowed mutably with `self`.
        unsafe { std::slice::from_raw_parts_mut(first, len) }
    }
}

/// **The shape as a value**, of any whole array.
impl<S: WholeShape, B> Buffer<S, B> {
    /// The shape as a value, with the actual sizes of unbounded dimensions.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[8,128])>::zeroed();
    /// assert_eq!(x.array_shape().to_string(), "f32[8,128]{1,0}");
    /// ```
    #[must_use]
    pub fn array_shape(&self) -> ArrayShape {
        self.shape.array()
    }
}

impl<S: WholeShape, B: Bytes> Buffer<S, B> {
    /// The memory: as many bytes as the array takes.
    pub(crate) fn into_memory(self) -> B::Parts {
        // SAFETY: `WholeShape`: the buffer is a whole array, not a block.
        unsafe { self.bytes.into_parts() }
    }
}

impl<S: BufferShape, B: Bytes> Buffer<S, B> {
    /// A view of the array, for as long as its memory may be borrowed.
    #[inline(always)]
    pub(crate) fn lent<'s, 'b>(&'s self) -> View<'b, S>
    where
        B: Lends<'s, 'b>,
    {
        // SAFETY: `self` is borrowed for `'s`, so what this buffer may read is there and not written for `'b` (`Lends`).
        Buffer { bytes: unsafe { Ref::new(&self.bytes) }, shape: self.shape.clone() }
    }
}

/// **The memory as bytes**, of any whole array.
impl<S: WholeShape, B: Bytes> Buffer<S, B> {
    /// The bytes: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s16[3]{0:T(4)})>::filled(1);
    /// assert_eq!(x.as_bytes(), [1, 0, 1, 0, 1, 0, 0, 0]);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_bytes<'s, 'b>(&'s self) -> &'b [u8]
    where
        B: Lends<'s, 'b>,
    {
        // SAFETY: `WholeShape`: the buffer is a whole array, not a block.
        unsafe { self.lent().bytes.into_parts() }
    }
}

/// **The memory as bytes to write**, of any whole array.
impl<S: WholeShape, B: BytesMut> Buffer<S, B> {
    /// The bytes, to write: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(u8[2,2]{0,1})>::zeroed();
    /// x.as_bytes_mut().copy_from_slice(&[1, 2, 3, 4]); // such as from a file
    /// assert_eq!(x[[0, 1]], 3);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        let len = self.bytes.len();
        // SAFETY: `WholeShape`: the buffer may write all of its bytes (`BytesMut`), `len` from `start_mut` on; they are borrowed mutably
        // with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.bytes.start_mut(), len) }
    }
}
