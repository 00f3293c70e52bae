//! Memory whose shape is in the type.

use super::bits::{self, Width};
use super::bytes::{AlignedBytes, Bytes, BytesMut};
use super::dynamic::DynBufferBase;
use super::error::BufferError;
use super::slice::{bytes_of, bytes_of_mut};
use crate::element::{Element, Plain, Stored};
use crate::types::{ArrayType, MultiIndex, StaticIndex, StaticShape, position_at};
use std::fmt;
use std::ops::{Index, IndexMut};
use xla_shape_core::text::ConstText;

/// An array of shape `S` that owns its memory, aligned to 64 bytes.
///
/// ```
/// use xla_shape::{Buffer, index, shape};
///
/// let mut x = Buffer::<shape!(f32[100,200]{1,0:T(8,128)})>::zeroed();
/// x.set([3, 150], 1.5);
/// assert_eq!(x.get([3, 150]), Some(1.5));
/// assert_eq!(x.get([100, 0]), None);
/// assert_eq!(x.at(index![3, 150]), 1.5); // checked at compile time
/// assert_eq!(x[[3, 150]], 1.5);
/// ```
pub type Buffer<S> = BufferBase<S, AlignedBytes>;

/// An array of shape `S` in borrowed memory.
///
/// ```
/// use xla_shape::{View, shape};
///
/// let x = View::<shape!(s32[2,3]{0,1})>::from_slice(&[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(x[[1, 0]], 2);
/// # Ok::<(), xla_shape::BufferError>(())
/// ```
pub type View<'a, S> = BufferBase<S, &'a [u8]>;

/// An array of shape `S` in memory that is borrowed to write.
pub type ViewMut<'a, S> = BufferBase<S, &'a mut [u8]>;

/// An array of shape `S` in memory `B`: a [`Buffer`], a [`View`] or a [`ViewMut`].
pub struct BufferBase<S, B> {
    /// Exactly as many bytes as `shape` takes; if elements are whole, the first begins at a multiple of its type's
    /// alignment.
    bytes: B,
    shape: S,
}

/// The Rust type of the elements of `S`.
type Value<S> = <<S as ArrayType>::Element as Stored>::Value;

/// What the accessors need to know of a shape, as constants.
trait Access: ArrayType {
    /// How wide an element is. If a buffer cannot hold the array, no constructor compiles.
    const WIDTH: Width = match width::<Self>() {
        Some(width) => width,
        None => Width::Bits(Self::SHAPE.element_bits() as usize),
    };
    /// The bytes before the first element.
    const PREFIX: usize = Self::SHAPE.layout().dynamic_shape_metadata_prefix_bytes() as usize;
}

impl<S: ArrayType> Access for S {}

/// How wide an element is; `None` if a buffer cannot hold the array.
const fn width<S: ArrayType>() -> Option<Width> {
    if S::SHAPE.layout().split_configs().is_empty() {
        Width::new(<S::Element as Element>::TYPE, S::SHAPE.element_bits())
    } else {
        None
    }
}

/// How wide an element is. Fails the compilation if a buffer cannot hold the array.
///
/// Every constructor has this in a `const` block of its own: the compiler then shows the line that calls it.
#[track_caller]
const fn checked_width<S: ArrayType>() -> Width {
    if let Some(width) = width::<S>() {
        return width;
    }
    let element_type = <S::Element as Element>::TYPE;
    let problem = ConstText::<1024>::new();
    let problem = if S::SHAPE.layout().split_configs().is_empty() {
        problem
            .push_str("expected an element_size_in_bits of at least ")
            .push_number(element_type.bits())
            .push_str(" for ")
            .push_str(element_type.name())
            .push_str(", found ")
            .push_number(S::SHAPE.element_bits())
    } else {
        problem.push_str("expected an array in one memory, found one with splits")
    };
    panic!("{}", problem.push_str(": ").push_str(S::TEXT).as_str())
}

/// Fails the compilation if the elements cannot be borrowed: if they are packed bits, or the prefix moves them off their
/// alignment.
#[track_caller]
const fn assert_whole<S: ArrayType<Element: Plain>>() {
    let (size, alignment) = (size_of::<Value<S>>(), align_of::<Value<S>>());
    assert!(
        size == <S::Element as Element>::TYPE.storage_bytes() as usize,
        "`Plain` promises the size that XLA stores"
    );
    if !S::PREFIX.is_multiple_of(alignment) {
        let problem = ConstText::<1024>::new()
            .push_str("expected a dynamic_shape_metadata_prefix_bytes that is a multiple of ")
            .push_count(alignment)
            .push_str(", found ")
            .push_count(S::PREFIX)
            .push_str(", which leaves no aligned element to borrow: ")
            .push_str(S::TEXT)
            .push_str("; use `get` and `set`");
        panic!("{}", problem.as_str())
    }
    if !matches!(S::WIDTH, Width::Whole) {
        let problem = ConstText::<1024>::new()
            .push_str("expected whole elements, found packed ones, which cannot be borrowed: ")
            .push_str(S::TEXT)
            .push_str("; use `get` and `set`");
        panic!("{}", problem.as_str())
    }
}

impl<S: StaticShape<Element: Stored>, B: Bytes> BufferBase<S, B> {
    /// Takes over bytes as an array: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not exactly `S::BYTES` bytes, or the first element is not aligned as its Rust type wants.
    pub fn from_bytes(bytes: B) -> Result<Self, BufferError> {
        Self::new(S::default(), bytes, const { checked_width::<S>() })
    }

    /// The same memory as an array of shape `R`.
    ///
    /// # Safety
    /// `R` must take as many bytes as `S`, as many of them before the first element, and as many bits for an element.
    #[inline(always)]
    pub(super) unsafe fn into_shape<R: StaticShape<Element = S::Element>>(self) -> BufferBase<R, B> {
        debug_assert_eq!((S::BYTES, S::PREFIX, S::WIDTH), (R::BYTES, R::PREFIX, R::WIDTH));
        BufferBase { bytes: self.bytes, shape: R::default() }
    }

    /// The element with a constant index.
    ///
    /// An index out of bounds does not compile. That shows in `cargo build`, not in `cargo check`.
    #[must_use]
    #[inline(always)]
    pub fn at<I: StaticIndex<S::Dimensions>>(&self, _: I) -> <S::Element as Stored>::Value {
        let position = const { position_at::<S, I>() };
        // SAFETY: `position_at` does not compile unless the index is inside the array.
        unsafe { self.read(position) }
    }
}

impl<S: StaticShape<Element: Stored>, B: BytesMut> BufferBase<S, B> {
    /// Writes the element with a constant index.
    ///
    /// An index out of bounds does not compile. That shows in `cargo build`, not in `cargo check`.
    #[inline(always)]
    pub fn set_at<I: StaticIndex<S::Dimensions>>(&mut self, _: I, value: <S::Element as Stored>::Value) {
        let position = const { position_at::<S, I>() };
        // SAFETY: `position_at` does not compile unless the index is inside the array.
        unsafe { self.write(position, value) };
    }
}

impl<S: ArrayType<Element: Stored>, B: Bytes> BufferBase<S, B> {
    /// Takes over bytes as an array of this shape: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not exactly as many bytes as the shape takes, or the first element is not aligned as its Rust type
    /// wants.
    pub fn with_shape(shape: S, bytes: B) -> Result<Self, BufferError> {
        Self::new(shape, bytes, const { checked_width::<S>() })
    }

    fn new(shape: S, bytes: B, width: Width) -> Result<Self, BufferError> {
        let (expected, found) = (shape.byte_size(), bytes.as_ref().len());
        if found != expected {
            return Err(BufferError::WrongLength { expected, found });
        }
        let alignment = align_of::<<S::Element as Stored>::Value>();
        // Only whole elements are borrowed as values, if there are any and the prefix leaves them aligned.
        let is_borrowed = width == Width::Whole && S::PREFIX.is_multiple_of(alignment) && found > S::PREFIX;
        if is_borrowed && !bytes.as_ref().as_ptr().addr().is_multiple_of(alignment) {
            return Err(BufferError::Misaligned { alignment });
        }
        Ok(Self { bytes, shape })
    }

    /// The shape, with the sizes that are known only at run time.
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> S {
        self.shape
    }

    /// The bytes: the elements and the padding, in the order of memory.
    #[must_use]
    #[inline(always)]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The array, borrowed.
    #[must_use]
    #[inline(always)]
    pub fn view(&self) -> View<'_, S> {
        BufferBase { bytes: self.bytes.as_ref(), shape: self.shape }
    }

    /// The same memory with the shape as a value.
    ///
    /// # Panics
    /// Never: what a typed buffer holds, one with a run-time shape does.
    #[must_use]
    pub fn into_dyn(self) -> DynBufferBase<B> {
        DynBufferBase::from_parts(self.shape.array_shape(), self.bytes).expect("a typed buffer has been checked")
    }

    /// The element with this index; `None` if it is out of bounds.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, index: S::Index) -> Option<<S::Element as Stored>::Value> {
        if !self.shape.has_index(index) {
            return None;
        }
        // SAFETY: the index is inside the array.
        Some(unsafe { self.get_unchecked(index) })
    }

    /// The element with this index.
    ///
    /// # Safety
    /// The index must be inside the array: every number less than the size of its dimension.
    #[must_use]
    #[inline(always)]
    pub unsafe fn get_unchecked(&self, index: S::Index) -> <S::Element as Stored>::Value {
        debug_assert!(self.shape.has_index(index), "{index:?} is out of bounds for {}", self.shape.array_shape());
        let position = self.shape.linear_index_of(index);
        // SAFETY: the caller promises that the index is inside the array; by the law of `ArrayType`, so is its
        // position.
        unsafe { self.read(position) }
    }

    /// The elements with their indices, in row-major order of the indices.
    pub fn indexed_iter(&self) -> impl Iterator<Item = (S::Index, <S::Element as Stored>::Value)> + '_ {
        // SAFETY: `indices` gives only indices inside the array.
        self.shape.indices().map(|index| (index, unsafe { self.get_unchecked(index) }))
    }

    /// The elements in row-major order of their indices, without padding.
    #[must_use]
    pub fn to_row_major(&self) -> Vec<<S::Element as Stored>::Value> {
        self.indexed_iter().map(|(_, value)| value).collect()
    }

    /// # Safety
    /// `position` must be that of an element, which is less than the physical elements.
    #[inline(always)]
    pub(crate) unsafe fn read(&self, position: usize) -> <S::Element as Stored>::Value {
        match const { S::WIDTH } {
            Width::Whole => {
                let size = size_of::<<S::Element as Stored>::Bytes>();
                debug_assert!(S::PREFIX + (position + 1) * size <= self.bytes.as_ref().len());
                // SAFETY: the array's bytes are the prefix and the physical elements.
                let elements = unsafe { self.bytes.as_ref().as_ptr().add(S::PREFIX) };
                // SAFETY: a physical element has as many bytes as `Stored::Bytes` (`Width::Whole`); the caller promises that
                // `position` is one of them.
                let element = unsafe { elements.cast::<<S::Element as Stored>::Bytes>().add(position) };
                // SAFETY: all bytes of that element are inside the array and initialised; bytes need no alignment.
                S::Element::from_le_bytes(unsafe { element.read() })
            }
            Width::Bits(width) => bits::read::<S::Element>(&self.bytes.as_ref()[S::PREFIX..], width, position),
        }
    }
}

impl<S: ArrayType<Element: Stored>, B: BytesMut> BufferBase<S, B> {
    /// The bytes, to write: the elements and the padding, in the order of memory.
    #[must_use]
    #[inline(always)]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        self.bytes.as_mut()
    }

    /// The array, borrowed to write.
    #[must_use]
    #[inline(always)]
    pub fn view_mut(&mut self) -> ViewMut<'_, S> {
        BufferBase { bytes: self.bytes.as_mut(), shape: self.shape }
    }

    /// Writes the element with this index; whether there is one.
    #[inline(always)]
    pub fn set(&mut self, index: S::Index, value: <S::Element as Stored>::Value) -> bool {
        let inside = self.shape.has_index(index);
        if inside {
            // SAFETY: the index is inside the array.
            unsafe { self.set_unchecked(index, value) };
        }
        inside
    }

    /// Writes the element with this index.
    ///
    /// # Safety
    /// The index must be inside the array: every number less than the size of its dimension.
    #[inline(always)]
    pub unsafe fn set_unchecked(&mut self, index: S::Index, value: <S::Element as Stored>::Value) {
        debug_assert!(self.shape.has_index(index), "{index:?} is out of bounds for {}", self.shape.array_shape());
        let position = self.shape.linear_index_of(index);
        // SAFETY: the caller promises that the index is inside the array; by the law of `ArrayType`, so is its
        // position.
        unsafe { self.write(position, value) };
    }

    /// Writes every element; padding stays as it is.
    pub fn fill_with(&mut self, mut value: impl FnMut(S::Index) -> <S::Element as Stored>::Value) {
        for index in self.shape.indices() {
            // SAFETY: `indices` gives only indices inside the array.
            unsafe { self.set_unchecked(index, value(index)) };
        }
    }

    /// # Safety
    /// `position` must be that of an element, which is less than the physical elements.
    #[inline(always)]
    unsafe fn write(&mut self, position: usize, value: <S::Element as Stored>::Value) {
        match const { S::WIDTH } {
            Width::Whole => {
                let size = size_of::<<S::Element as Stored>::Bytes>();
                debug_assert!(S::PREFIX + (position + 1) * size <= self.bytes.as_ref().len());
                // SAFETY: as in `read`.
                let elements = unsafe { self.bytes.as_mut().as_mut_ptr().add(S::PREFIX) };
                // SAFETY: as in `read`.
                let element = unsafe { elements.cast::<<S::Element as Stored>::Bytes>().add(position) };
                // SAFETY: as in `read`; the bytes are borrowed mutably.
                unsafe { element.write(S::Element::to_le_bytes(value)) };
            }
            Width::Bits(width) => {
                bits::write::<S::Element>(&mut self.bytes.as_mut()[S::PREFIX..], width, position, value);
            }
        }
    }
}

impl<S: ArrayType<Element: Stored>> Buffer<S> {
    /// An array of this shape whose bytes, padding included, are all 0.
    ///
    /// ```
    /// use xla_shape::types::ArrayType;
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Rows = shape!(f32[?,128]{1,0:T(8,128)});
    /// let x = Buffer::zeroed_with(Rows::with_sizes([20, 128])?)?;
    /// assert_eq!(x.as_bytes().len(), 24 * 128 * 4);
    /// assert_eq!((x.get([19, 0]), x.get([20, 0])), (Some(0.0), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn zeroed_with(shape: S) -> Result<Self, BufferError> {
        Self::new(shape, AlignedBytes::zeroed(shape.byte_size())?, const { checked_width::<S>() })
    }
}

impl<S: StaticShape<Element: Stored>> Buffer<S> {
    /// An array whose bytes, padding included, are all 0.
    ///
    /// # Panics
    /// If there is not enough memory; see [`try_zeroed`](Self::try_zeroed).
    #[must_use]
    #[track_caller]
    pub fn zeroed() -> Self {
        Self::allocated(const { checked_width::<S>() })
    }

    /// An array whose bytes, padding included, are all 0.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn try_zeroed() -> Result<Self, BufferError> {
        Self::try_allocated(const { checked_width::<S>() })
    }

    #[track_caller]
    fn allocated(width: Width) -> Self {
        Self::try_allocated(width).unwrap_or_else(|error| panic!("{}: {error}", S::TEXT))
    }

    fn try_allocated(width: Width) -> Result<Self, BufferError> {
        Self::new(S::default(), AlignedBytes::zeroed(S::BYTES)?, width)
    }

    /// An array with this value in every element; padding is 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[2,3]{1,0:T(2,4)})>::filled(1.5);
    /// assert_eq!(x.as_slice(), [1.5, 1.5, 1.5, 0.0, 1.5, 1.5, 1.5, 0.0]);
    /// ```
    ///
    /// # Panics
    /// If there is not enough memory.
    #[must_use]
    #[track_caller]
    pub fn filled(value: <S::Element as Stored>::Value) -> Self {
        let mut buffer = Self::allocated(const { checked_width::<S>() });
        buffer.fill_with(|_| value);
        buffer
    }

    /// An array with this value for each index; padding is 0.
    ///
    /// # Panics
    /// If there is not enough memory.
    #[must_use]
    pub fn from_fn(value: impl FnMut(S::Index) -> <S::Element as Stored>::Value) -> Self {
        let mut buffer = Self::allocated(const { checked_width::<S>() });
        buffer.fill_with(value);
        buffer
    }

    /// An array with these elements, which come in row-major order of their indices; padding is 0.
    ///
    /// # Errors
    /// If there are more or fewer values than elements, or not enough memory.
    pub fn from_row_major(values: &[<S::Element as Stored>::Value]) -> Result<Self, BufferError> {
        let width = const { checked_width::<S>() };
        let expected = S::ELEMENTS;
        if values.len() != expected {
            return Err(BufferError::WrongNumberOfElements { expected, found: values.len() });
        }
        let mut buffer = Self::try_allocated(width)?;
        let mut values = values.iter().copied();
        buffer.fill_with(|_| values.next().unwrap_or_default());
        Ok(buffer)
    }
}

impl<'a, S: StaticShape<Element: Plain>> View<'a, S> {
    /// Borrows values as an array: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not as many values as the array has physical elements.
    pub fn from_slice(values: &'a [<S::Element as Stored>::Value]) -> Result<Self, BufferError> {
        Self::new(S::default(), bytes_of::<S::Element>(values), const { checked_width::<S>() })
    }
}

impl<'a, S: StaticShape<Element: Plain>> ViewMut<'a, S> {
    /// Borrows values as an array to write: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not as many values as the array has physical elements.
    pub fn from_slice(values: &'a mut [<S::Element as Stored>::Value]) -> Result<Self, BufferError> {
        Self::new(S::default(), bytes_of_mut::<S::Element>(values), const { checked_width::<S>() })
    }
}

impl<S: ArrayType<Element: Plain>, B: Bytes> BufferBase<S, B> {
    /// The values in the order of memory, padding included. The elements must be whole, not packed bits.
    #[must_use]
    #[inline(always)]
    pub fn as_slice(&self) -> &[<S::Element as Stored>::Value] {
        const { assert_whole::<S>() };
        // SAFETY: that has been checked.
        unsafe { self.whole_values() }
    }

    /// The values in the order of memory, padding included.
    ///
    /// # Safety
    /// `assert_whole::<S>` must have been asked. The public functions do that themselves: the compiler then shows the line
    /// that calls them.
    #[inline(always)]
    unsafe fn whole_values(&self) -> &[Value<S>] {
        let len = self.num_values();
        if len == 0 {
            return &[];
        }
        let bytes = self.bytes.as_ref();
        debug_assert!(S::PREFIX + len * size_of::<Value<S>>() <= bytes.len());
        // SAFETY: there are values behind the prefix.
        let first = unsafe { bytes.as_ptr().add(S::PREFIX) };
        // SAFETY: `num_values` fit in the bytes behind the prefix; `Plain` promises that any bytes are values; `new` checked
        // that the first one is aligned.
        unsafe { std::slice::from_raw_parts(first.cast(), len) }
    }

    /// How many values the bytes are, behind the prefix: a constant, if no dimension is unbounded.
    #[inline(always)]
    fn num_values(&self) -> usize {
        // The bytes are exactly as many as the shape takes.
        let bytes = const { S::BYTE_SIZE }.unwrap_or_else(|| self.bytes.as_ref().len());
        bytes.saturating_sub(S::PREFIX) / size_of::<Value<S>>()
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> BufferBase<S, B> {
    /// The values in the order of memory, padding included, to write. The elements must be whole, not packed bits.
    #[must_use]
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [<S::Element as Stored>::Value] {
        const { assert_whole::<S>() };
        // SAFETY: that has been checked.
        unsafe { self.whole_values_mut() }
    }

    /// The values in the order of memory, padding included, to write.
    ///
    /// # Safety
    /// As [`whole_values`](Self::whole_values).
    #[inline(always)]
    unsafe fn whole_values_mut(&mut self) -> &mut [Value<S>] {
        let len = self.num_values();
        if len == 0 {
            return &mut [];
        }
        let bytes = self.bytes.as_mut();
        debug_assert!(S::PREFIX + len * size_of::<Value<S>>() <= bytes.len());
        // SAFETY: as in `whole_values`.
        let first = unsafe { bytes.as_mut_ptr().add(S::PREFIX) };
        // SAFETY: as in `whole_values`; the bytes are borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(first.cast(), len) }
    }
}

/// The index in memory of its own, which only a failing access needs: that of others stays in registers.
#[inline(always)]
fn copied<I: MultiIndex>(index: I) -> I {
    let mut copy = I::ORIGIN;
    copy.as_mut().copy_from_slice(index.as_ref());
    copy
}

#[cold]
#[inline(never)]
#[track_caller]
fn out_of_bounds<S: ArrayType>(shape: S, index: S::Index) -> ! {
    panic!("index {index:?} is out of bounds for {}", shape.array_shape())
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Index<S::Index> for BufferBase<S, B> {
    type Output = <S::Element as Stored>::Value;

    /// # Panics
    /// If the index is out of bounds.
    #[inline(always)]
    #[track_caller]
    fn index(&self, index: S::Index) -> &Self::Output {
        const { assert_whole::<S>() };
        if !self.shape.has_index(index) {
            out_of_bounds(self.shape, copied(index));
        }
        // SAFETY: elements are whole.
        let values = unsafe { self.whole_values() };
        // SAFETY: the index is inside the array; by the law of `ArrayType`, its position is inside the slice, which has
        // all physical elements.
        unsafe { values.get_unchecked(self.shape.linear_index_of(index)) }
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> IndexMut<S::Index> for BufferBase<S, B> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, index: S::Index) -> &mut Self::Output {
        const { assert_whole::<S>() };
        if !self.shape.has_index(index) {
            out_of_bounds(self.shape, copied(index));
        }
        let position = self.shape.linear_index_of(index);
        // SAFETY: elements are whole.
        let values = unsafe { self.whole_values_mut() };
        // SAFETY: the index is inside the array; by the law of `ArrayType`, its position is inside the slice, which has
        // all physical elements.
        unsafe { values.get_unchecked_mut(position) }
    }
}

impl<S: ArrayType> Clone for View<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ArrayType> Copy for View<'_, S> {}

impl<S: ArrayType> Clone for Buffer<S> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), shape: self.shape }
    }
}

impl<S: ArrayType, B: Bytes> fmt::Debug for BufferBase<S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BufferBase").field(&format_args!("{}", self.shape.array_shape())).finish()
    }
}
