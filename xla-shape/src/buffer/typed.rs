//! Arrays whose shape is a type.

use super::bytes::{AlignedBytes, Bytes, BytesMut, Lender, Mut, Ref};
use super::cells::{Cells, CellsMut, Values, ValuesMut, Width, bytes_of, bytes_of_mut};
use super::error::{AccessError, BufferError, SPLIT, out_of_bounds, too_narrow};
use super::storage::{Buffer, View, ViewMut};
use crate::element::{Element, Plain, Stored};
use crate::types::{ArrayType, MultiIndex, StaticArray, StaticIndex, ValueOf, WholeArray, position_at};
use std::fmt;
use std::ops::{Index, IndexMut};
use xla_shape_core::text::ConstText;

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

/// How wide an element is.
pub(crate) const fn width_of<S: ArrayType<Element: Stored>>() -> Width {
    S::WIDTH
}

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
    let problem = ConstText::<1024>::new();
    let problem = if S::SHAPE.layout().split_configs().is_empty() {
        problem.push_str(too_narrow(S::ELEMENT_TYPE, S::SHAPE.element_bits()).as_str())
    } else {
        problem.push_str(SPLIT)
    };
    panic!("{}", problem.push_str(": ").push_str(S::TEXT).as_str())
}

/// Fails the compilation if the elements cannot be borrowed: if they are packed bits, or the prefix moves them off their
/// alignment.
#[track_caller]
pub(crate) const fn assert_whole<S: ArrayType<Element: Plain>>() {
    let (size, alignment) = (size_of::<ValueOf<S>>(), align_of::<ValueOf<S>>());
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

impl<S: WholeArray<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// An array of this shape in these bytes: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not exactly as many bytes as the shape takes, or the first element is not aligned as its Rust type
    /// wants.
    #[inline]
    pub fn from_parts(shape: S, bytes: B::Parts) -> Result<Self, BufferError> {
        Self::new(shape, B::from_parts(bytes), const { checked_width::<S>() })
    }

    /// The shape and the bytes, which [`from_parts`](Self::from_parts) takes.
    #[must_use]
    #[inline(always)]
    pub fn into_parts(self) -> (S, B::Parts) {
        // SAFETY: a whole array.
        (self.shape, unsafe { self.bytes.into_parts() })
    }

    #[inline]
    pub(crate) fn new(shape: S, bytes: B, width: Width) -> Result<Self, BufferError> {
        let (expected, found) = (shape.byte_size(), bytes.len());
        if found != expected {
            return Err(BufferError::WrongLength { expected, found });
        }
        let alignment = align_of::<ValueOf<S>>();
        // Only whole elements are borrowed as values, if there are any and the prefix leaves them aligned.
        let is_borrowed = width == Width::Whole && S::PREFIX.is_multiple_of(alignment) && found > S::PREFIX;
        if is_borrowed && !bytes.start().addr().is_multiple_of(alignment) {
            return Err(BufferError::Misaligned { alignment });
        }
        Ok(Self { bytes, shape })
    }
}

impl<S: StaticArray<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// An array in these bytes: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not exactly `S::BYTES` bytes, or the first element is not aligned as its Rust type wants.
    pub fn from_bytes(bytes: B::Parts) -> Result<Self, BufferError> {
        Self::new(S::default(), B::from_parts(bytes), const { checked_width::<S>() })
    }

    /// The same memory as an array of shape `R`.
    ///
    /// # Safety
    /// `R` must take as many bytes as `S`, as many of them before the first element, and as many bits for an element.
    #[inline(always)]
    pub(super) unsafe fn into_shape<R: StaticArray<Element = S::Element>>(self) -> Buffer<R, B> {
        debug_assert_eq!((S::BYTES, S::PREFIX, S::WIDTH), (R::BYTES, R::PREFIX, R::WIDTH));
        Buffer { bytes: self.bytes, shape: R::default() }
    }

    /// The element with a constant index.
    ///
    /// An index out of bounds does not compile. That shows in `cargo build`, not in `cargo check`.
    #[must_use]
    #[inline(always)]
    pub fn at<I: StaticIndex<S::Dimensions>>(&self, _: I) -> ValueOf<S> {
        let position = const { position_at::<S, I>() };
        // SAFETY: `position_at` does not compile unless the index is inside the array.
        unsafe { self.cells().read(position) }
    }
}

impl<S: StaticArray<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// Writes the element with a constant index.
    ///
    /// An index out of bounds does not compile. That shows in `cargo build`, not in `cargo check`.
    #[inline(always)]
    pub fn set_at<I: StaticIndex<S::Dimensions>>(&mut self, _: I, value: ValueOf<S>) {
        let position = const { position_at::<S, I>() };
        // SAFETY: `position_at` does not compile unless the index is inside the array.
        unsafe { self.cells_mut().write(position, value) };
    }
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The shape, with the sizes that are known only at run time.
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> S {
        self.shape
    }

    /// The sizes of the dimensions, in elements.
    #[must_use]
    #[inline(always)]
    pub fn sizes(&self) -> S::Index {
        self.shape.sizes()
    }

    /// The element with this index.
    ///
    /// # Errors
    /// If the index is out of bounds.
    #[inline(always)]
    pub fn get(&self, index: S::Index) -> Result<ValueOf<S>, AccessError> {
        if !self.shape.has_index(index) {
            return Err(out_of_bounds(copied(index).as_ref(), self.shape.sizes().as_ref()));
        }
        // SAFETY: the index is inside the array.
        Ok(unsafe { self.get_unchecked(index) })
    }

    /// The element with this index.
    ///
    /// # Safety
    /// The index must be inside the array: every number less than the size of its dimension.
    #[must_use]
    #[inline(always)]
    pub unsafe fn get_unchecked(&self, index: S::Index) -> ValueOf<S> {
        debug_assert!(self.shape.has_index(index), "{index:?} is out of bounds for {}", self.shape.array_shape());
        let position = self.shape.linear_index_of(index);
        // SAFETY: the caller promises that the index is inside the array; by the law of `ArrayType`, so is its
        // position.
        unsafe { self.cells().read(position) }
    }

    /// The elements with their indices, in row-major order of the indices.
    pub fn indexed_iter(&self) -> impl ExactSizeIterator<Item = (S::Index, ValueOf<S>)> + '_ {
        // SAFETY: `indices` gives only indices inside the array.
        self.shape.indices().map(|index| (index, unsafe { self.get_unchecked(index) }))
    }

    /// The elements in row-major order of their indices.
    ///
    /// Where the order does not matter, [`for_each`](Self::for_each) and [`fold_lanes`](Self::fold_lanes) are faster.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// let x = View::<shape!(s32[2,2]{0,1})>::from_slice(&[1, 2, 3, 4])?;
    /// assert!(x.iter().eq([1, 3, 2, 4]));
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ValueOf<S>> + '_ {
        self.indexed_iter().map(|(_, value)| value)
    }

    /// The bytes of a whole array; `None` of a block.
    pub(crate) fn bytes_of_whole_array(&self) -> Option<&[u8]> {
        // SAFETY: a whole array may read all of its bytes; they are borrowed as long as the buffer.
        S::IS_WHOLE_ARRAY.then(|| unsafe { std::slice::from_raw_parts(self.bytes.start(), self.bytes.len()) })
    }

    /// The memory of the elements.
    #[inline(always)]
    pub(crate) fn cells(&self) -> Cells<'_, S::Element> {
        // SAFETY: the bytes begin with the prefix, if there are any.
        let first = unsafe { self.bytes.start().add(const { S::PREFIX }.min(self.num_bytes())) };
        // SAFETY: after the prefix, the bytes hold the physical elements. Those of this buffer may be read as long as it is
        // borrowed (`Bytes`). No constructor compiles unless `S::WIDTH` is their width.
        unsafe { Cells::new(first, self.num_bytes().saturating_sub(S::PREFIX), const { S::WIDTH }) }
    }

    /// The length of the memory, in bytes: a constant, if no dimension is unbounded.
    #[inline(always)]
    fn num_bytes(&self) -> usize {
        match const { S::BYTE_SIZE } {
            Some(bytes) => bytes,
            None => self.bytes.len(),
        }
    }
}

impl<S: ArrayType<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// Writes the element with this index.
    ///
    /// # Errors
    /// If the index is out of bounds.
    #[inline(always)]
    pub fn set(&mut self, index: S::Index, value: ValueOf<S>) -> Result<(), AccessError> {
        if !self.shape.has_index(index) {
            return Err(out_of_bounds(copied(index).as_ref(), self.shape.sizes().as_ref()));
        }
        // SAFETY: the index is inside the array.
        unsafe { self.set_unchecked(index, value) };
        Ok(())
    }

    /// Writes the element with this index.
    ///
    /// # Safety
    /// The index must be inside the array: every number less than the size of its dimension.
    #[inline(always)]
    pub unsafe fn set_unchecked(&mut self, index: S::Index, value: ValueOf<S>) {
        debug_assert!(self.shape.has_index(index), "{index:?} is out of bounds for {}", self.shape.array_shape());
        let position = self.shape.linear_index_of(index);
        // SAFETY: the caller promises that the index is inside the array; by the law of `ArrayType`, so is its
        // position.
        unsafe { self.cells_mut().write(position, value) };
    }

    /// Writes every element; padding stays as it is.
    pub fn fill_with(&mut self, mut value: impl FnMut(S::Index) -> ValueOf<S>) {
        for index in self.shape.indices() {
            // SAFETY: `indices` gives only indices inside the array.
            unsafe { self.set_unchecked(index, value(index)) };
        }
    }

    #[inline(always)]
    fn cells_mut(&mut self) -> CellsMut<'_, S::Element> {
        let len = self.num_bytes();
        // SAFETY: as in `cells`.
        let first = unsafe { self.bytes.start_mut().add(const { S::PREFIX }.min(len)) };
        // SAFETY: as in `cells`; the elements of this buffer are nobody else's as long as it is borrowed (`BytesMut`).
        unsafe { CellsMut::new(first, len.saturating_sub(S::PREFIX), const { S::WIDTH }) }
    }
}

impl<S: WholeArray<Element: Stored>> Buffer<S> {
    /// Does not compile if a buffer cannot hold the array.
    pub(crate) const ASSERT_HOLDS: () = {
        checked_width::<S>();
    };

    /// An array of this shape whose bytes, padding included, are all 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Rows = shape!(f32[?,128]{1,0:T(8,128)});
    /// let x = Buffer::<Rows>::zeroed_with(Rows::with_sizes([20, 128])?)?;
    /// assert_eq!(x.as_bytes().len(), 24 * 128 * 4);
    /// assert_eq!((x.get([19, 0]), x.get([20, 0]).is_err()), (Ok(0.0), true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn zeroed_with(shape: S) -> Result<Self, BufferError> {
        Self::new(shape, AlignedBytes::zeroed(shape.byte_size())?, const { checked_width::<S>() })
    }

    /// An array of this shape with this value in every element; padding is 0.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn filled_with(shape: S, value: ValueOf<S>) -> Result<Self, BufferError> {
        const { checked_width::<S>() };
        Self::from_fn_with(shape, |_| value)
    }

    /// An array of this shape with this value for each index; padding is 0.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_fn_with(shape: S, value: impl FnMut(S::Index) -> ValueOf<S>) -> Result<Self, BufferError> {
        let bytes = AlignedBytes::zeroed(shape.byte_size())?;
        let mut buffer = Self::new(shape, bytes, const { checked_width::<S>() })?;
        buffer.fill_with(value);
        Ok(buffer)
    }
}

impl<S: StaticArray<Element: Stored>> Buffer<S> {
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
    pub fn filled(value: ValueOf<S>) -> Self {
        let mut buffer = Self::allocated(const { checked_width::<S>() });
        buffer.fill_with(|_| value);
        buffer
    }

    /// An array with this value for each index; padding is 0.
    ///
    /// # Panics
    /// If there is not enough memory.
    #[must_use]
    #[track_caller]
    pub fn from_fn(value: impl FnMut(S::Index) -> ValueOf<S>) -> Self {
        let mut buffer = Self::allocated(const { checked_width::<S>() });
        buffer.fill_with(value);
        buffer
    }
}

impl<'a, S: StaticArray<Element: Plain>> View<'a, S> {
    /// Borrows values as an array: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not as many values as the array has physical elements.
    pub fn from_slice(values: &'a [ValueOf<S>]) -> Result<Self, BufferError> {
        const { checked_width::<S>() };
        Self::from_slice_with(S::default(), values)
    }
}

impl<'a, S: StaticArray<Element: Plain>> ViewMut<'a, S> {
    /// Borrows values as an array to write: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not as many values as the array has physical elements.
    pub fn from_slice(values: &'a mut [ValueOf<S>]) -> Result<Self, BufferError> {
        const { checked_width::<S>() };
        Self::from_slice_with(S::default(), values)
    }
}

impl<'a, S: WholeArray<Element: Plain>> View<'a, S> {
    /// Borrows values as an array of this shape: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// type Rows = shape!(s32[?,2]);
    /// let x = View::<Rows>::from_slice_with(Rows::with_sizes([3, 2])?, &[0, 1, 10, 11, 20, 21])?;
    /// assert_eq!(x[[2, 1]], 21);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are not as many values as the array has physical elements.
    pub fn from_slice_with(shape: S, values: &'a [ValueOf<S>]) -> Result<Self, BufferError> {
        Self::new(shape, Ref::from(bytes_of::<S::Element>(values)), const { checked_width::<S>() })
    }
}

impl<'a, S: WholeArray<Element: Plain>> ViewMut<'a, S> {
    /// Borrows values as an array of this shape, to write: the elements and the padding, in the order of memory.
    ///
    /// # Errors
    /// If there are not as many values as the array has physical elements.
    pub fn from_slice_with(shape: S, values: &'a mut [ValueOf<S>]) -> Result<Self, BufferError> {
        Self::new(shape, Mut::from(bytes_of_mut::<S::Element>(values)), const { checked_width::<S>() })
    }
}

impl<'a, S: WholeArray<Element: Plain>> View<'a, S> {
    /// The values in the order of memory, padding included. The elements must be whole, not packed bits.
    #[must_use]
    #[inline(always)]
    pub fn as_slice(&self) -> &'a [ValueOf<S>] {
        const { assert_whole::<S>() };
        // SAFETY: elements are whole, and the memory is borrowed for `'a`.
        let values: Values<'a, S::Element> = unsafe { self.values_for() };
        // SAFETY: all of the memory belongs to a whole array.
        unsafe { values.range(0..values.len()) }
    }
}

impl<S: WholeArray<Element: Plain>, B: Lender> Buffer<S, B> {
    /// The values in the order of memory, padding included. The elements must be whole, not packed bits.
    #[must_use]
    #[inline(always)]
    pub fn as_slice(&self) -> &[ValueOf<S>] {
        const { assert_whole::<S>() };
        // SAFETY: elements are whole, and the memory is borrowed with `self`.
        let values = unsafe { self.values_for() };
        // SAFETY: all of the memory belongs to a whole array.
        unsafe { values.range(0..values.len()) }
    }
}

impl<S: WholeArray<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// The values in the order of memory, padding included, to write. The elements must be whole, not packed bits.
    #[must_use]
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [ValueOf<S>] {
        const { assert_whole::<S>() };
        // SAFETY: elements are whole, and the memory is borrowed with `self`.
        let mut values = unsafe { self.values_mut_for() };
        // SAFETY: all of the memory belongs to a whole array.
        unsafe { values.range_for(0..values.len()) }
    }
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// The memory as values.
    ///
    /// # Safety
    /// `assert_whole::<S>` must have been asked, and the memory must be there, and not be written, for `'a`. The public
    /// functions ask it themselves: the compiler then shows the line that calls them.
    #[inline(always)]
    pub(crate) unsafe fn values_for<'a>(&self) -> Values<'a, S::Element> {
        let len = self.num_values();
        // SAFETY: if there are values, they are after the prefix.
        let first = unsafe { self.bytes.start().add(if len == 0 { 0 } else { S::PREFIX }) };
        // SAFETY: `num_values` fit in the bytes after the prefix; `new` checked that the first one is aligned; the caller
        // promises the rest.
        unsafe { Values::new(first, len) }
    }

    /// How many values the bytes are, after the prefix: a constant, if no dimension is unbounded.
    #[inline(always)]
    fn num_values(&self) -> usize {
        self.num_bytes().saturating_sub(S::PREFIX) / size_of::<ValueOf<S>>()
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// The memory as values, to write.
    ///
    /// # Safety
    /// Like [`values_for`](Self::values_for), and nobody else may read or write this buffer's elements for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn values_mut_for<'a>(&mut self) -> ValuesMut<'a, S::Element> {
        let len = self.num_values();
        // SAFETY: if there are values, they are after the prefix.
        let first = unsafe { self.bytes.start_mut().add(if len == 0 { 0 } else { S::PREFIX }) };
        // SAFETY: as in `values_for`; the caller promises that nobody else reads or writes the elements.
        unsafe { ValuesMut::new(first, len) }
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
fn panic_out_of_bounds<S: ArrayType>(shape: S, index: S::Index) -> ! {
    panic!("index {index:?} is out of bounds for {}", shape.array_shape())
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Index<S::Index> for Buffer<S, B> {
    type Output = ValueOf<S>;

    /// # Panics
    /// If the index is out of bounds.
    #[inline(always)]
    #[track_caller]
    fn index(&self, index: S::Index) -> &Self::Output {
        const { assert_whole::<S>() };
        if !self.shape.has_index(index) {
            panic_out_of_bounds(self.shape, copied(index));
        }
        // SAFETY: elements are whole.
        let values = unsafe { self.values_for() };
        // SAFETY: the index is inside the array; by the law of `ArrayType`, its position is that of an element.
        unsafe { values.at(self.shape.linear_index_of(index)) }
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> IndexMut<S::Index> for Buffer<S, B> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, index: S::Index) -> &mut Self::Output {
        const { assert_whole::<S>() };
        if !self.shape.has_index(index) {
            panic_out_of_bounds(self.shape, copied(index));
        }
        let position = self.shape.linear_index_of(index);
        // SAFETY: elements are whole.
        let values = unsafe { self.values_mut_for() };
        // SAFETY: the index is inside the array; by the law of `ArrayType`, its position is that of an element.
        unsafe { values.at(position) }
    }
}

/// Prints the shape and the first elements in row-major order.
impl<S: ArrayType<Element: Stored>, B: Bytes> fmt::Debug for Buffer<S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.shape.array_shape())?;
        super::display::beginning(self.iter(), self.iter().len(), f)
    }
}

/// Prints the elements in brackets, a line for each row. Of long dimensions, the first three and the last three are shown.
///
/// ```
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(s32[2,3]{0,1})>::from_fn(|[i, j]| (10 * i + j) as i32);
/// assert_eq!(x.to_string(), "[[0, 1, 2],\n [10, 11, 12]]");
/// let x = Buffer::<shape!(u8[1000])>::zeroed();
/// assert_eq!(x.to_string(), "[0, 0, 0, …, 0, 0, 0]");
/// ```
impl<S: ArrayType<Element: Stored<Value: fmt::Display>>, B: Bytes> fmt::Display for Buffer<S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.shape.sizes();
        let element = |index: &[usize], f: &mut fmt::Formatter<'_>| {
            let mut at = S::Index::ORIGIN;
            at.as_mut().copy_from_slice(index);
            match self.get(at) {
                Ok(value) => value.fmt(f),
                Err(_) => Ok(()),
            }
        };
        super::display::nested(sizes.as_ref(), &element, f)
    }
}
