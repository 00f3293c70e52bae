//! Access to arrays whose shape is a type.

use super::bytes::{Bytes, BytesMut, Lends};
use super::cells::{Cells, CellsMut, Values, ValuesMut, Width};
use super::error::{AccessError, SPLIT, out_of_bounds, too_narrow};
use super::storage::Buffer;
use crate::element::{Element, Plain, Stored};
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, MultiIndex, StaticArray, StaticIndex, ValueOf, WholeArray, position_at};
use std::fmt;
use std::ops::{Index, IndexMut};
use xla_shape_core::text::ConstText;

/// The constants of a shape on which access to its elements depends.
pub(super) trait Access: ArrayType {
    /// The width of an element. If a buffer cannot hold the array, the value does not matter, because no constructor compiles.
    const WIDTH: Width = match width::<Self>() {
        Some(width) => width,
        None => Width::Bits(Self::SHAPE.element_bits() as usize),
    };
    /// The bytes before the first element.
    const PREFIX: usize = Self::SHAPE.layout().dynamic_shape_metadata_prefix_bytes() as usize;
}

impl<S: ArrayType> Access for S {}

/// The width of an element.
pub(crate) const fn width_of<S: ArrayType<Element: Stored>>() -> Width {
    S::WIDTH
}

/// The width of an element; `None` if a buffer cannot hold the array.
const fn width<S: ArrayType>() -> Option<Width> {
    if S::SHAPE.layout().split_configs().is_empty() {
        Width::new(<S::Element as Element>::TYPE, S::SHAPE.element_bits())
    } else {
        None
    }
}

/// The width of an element. Fails the compilation if a buffer cannot hold the array.
///
/// Every constructor evaluates this in its own `const` block, so that the compiler shows the line that calls the constructor.
#[track_caller]
pub(super) const fn checked_width<S: ArrayType>() -> Width {
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

/// Fails the compilation if elements cannot be borrowed as values: because they are packed bits, or the prefix moves them off their
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

/// **Access to elements**, of a shape that is a type: by indices that are checked at run time. `x[index]` works too, if elements are
/// whole.
impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The shape, with the sizes that are known only at run time.
    ///
    /// ```
    /// use xla_shape::types::ArrayType;
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Rows = shape!(f32[?,128]);
    /// let x = Buffer::<Rows>::zeroed_with(Rows::with_sizes([20, 128])?)?;
    /// assert_eq!(x.shape().array_shape().to_string(), "f32[20,128]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> S {
        self.shape
    }

    /// The sizes of the dimensions, in elements.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// assert_eq!(Buffer::<shape!(f32[8,128])>::zeroed().sizes(), [8, 128]);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn sizes(&self) -> S::Index {
        self.shape.sizes()
    }

    /// The element with this index. `x[index]` is shorter, and panics if the index is out of bounds.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s4[3]{0:E(4)})>::zeroed(); // packed elements have no references
    /// assert_eq!(x.get([2])?.get(), 0);
    /// assert!(x.get([3]).is_err());
    /// # Ok::<(), xla_shape::AccessError>(())
    /// ```
    ///
    /// # Errors
    /// If the index is out of bounds.
    #[inline(always)]
    pub fn get(&self, index: S::Index) -> Result<ValueOf<S>, AccessError> {
        if !self.shape.has_index(index) {
            return Err(out_of_bounds(copied(index).as_ref(), self.shape.sizes().as_ref()));
        }
        // SAFETY: `has_index`: the index is in bounds.
        Ok(unsafe { self.get_unchecked(index) })
    }

    /// The element with this index, without a check.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[8,128])>::filled(1.0);
    /// // SAFETY: 7 < 8 and 127 < 128.
    /// assert_eq!(unsafe { x.get_unchecked([7, 127]) }, 1.0);
    /// ```
    ///
    /// # Safety
    /// The index must be in bounds: each number less than the size of its dimension.
    #[must_use]
    #[inline(always)]
    pub unsafe fn get_unchecked(&self, index: S::Index) -> ValueOf<S> {
        debug_assert!(self.shape.has_index(index), "{index:?} is out of bounds for {}", self.shape.array_shape());
        let position = self.shape.linear_index_of(index);
        // SAFETY: the caller guarantees that the index is in bounds; by the law of `ArrayType`, its position holds an element.
        unsafe { self.cells().read(position) }
    }

    /// The elements with their indices, in row-major order of the indices.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// let x = View::<shape!(s32[2,2]{0,1})>::from_slice(&[1, 2, 3, 4])?;
    /// assert_eq!(x.indexed_iter().nth(1), Some(([0, 1], 3)));
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    pub fn indexed_iter(&self) -> impl ExactSizeIterator<Item = (S::Index, ValueOf<S>)> + '_ {
        // SAFETY: `indices` yields only indices in bounds.
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

    /// The bytes of a whole array; `None` for a block.
    pub(crate) fn bytes_of_whole_array(&self) -> Option<&[u8]> {
        // SAFETY: `IS_WHOLE_ARRAY`: the buffer may read all of its bytes (`Bytes`); they are borrowed with `self`.
        S::IS_WHOLE_ARRAY.then(|| unsafe { std::slice::from_raw_parts(self.bytes.start(), self.bytes.len()) })
    }

    /// The memory of the elements.
    #[inline(always)]
    pub(crate) fn cells(&self) -> Cells<'_, S::Element> {
        // SAFETY: the offset is at most the length of the memory: it is the prefix, or all bytes of an array without elements.
        let first = unsafe { self.bytes.start().add(const { S::PREFIX }.min(self.num_bytes())) };
        // SAFETY: by the *length* invariant, the bytes after the prefix hold the physical elements. They may be read while `self` is
        // borrowed (`Bytes`). Every constructor checked that `S::WIDTH` is their width (`checked_width`).
        unsafe { Cells::new(first, self.num_bytes().saturating_sub(S::PREFIX), const { S::WIDTH }) }
    }

    /// The length of the memory in bytes; a constant if no dimension is unbounded.
    #[inline(always)]
    fn num_bytes(&self) -> usize {
        match const { S::BYTE_SIZE } {
            Some(bytes) => bytes,
            None => self.bytes.len(),
        }
    }
}

/// **Writing elements**, of a shape that is a type.
impl<S: ArrayType<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// Writes the element with this index.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[8,128])>::zeroed();
    /// x.set([7, 127], 1.5)?;
    /// assert_eq!(x[[7, 127]], 1.5);
    /// # Ok::<(), xla_shape::AccessError>(())
    /// ```
    ///
    /// # Errors
    /// If the index is out of bounds.
    #[inline(always)]
    pub fn set(&mut self, index: S::Index, value: ValueOf<S>) -> Result<(), AccessError> {
        if !self.shape.has_index(index) {
            return Err(out_of_bounds(copied(index).as_ref(), self.shape.sizes().as_ref()));
        }
        // SAFETY: `has_index`: the index is in bounds.
        unsafe { self.set_unchecked(index, value) };
        Ok(())
    }

    /// Writes the element with this index, without a check.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[8,128])>::zeroed();
    /// // SAFETY: 7 < 8 and 127 < 128.
    /// unsafe { x.set_unchecked([7, 127], 1.5) };
    /// assert_eq!(x[[7, 127]], 1.5);
    /// ```
    ///
    /// # Safety
    /// The index must be in bounds: each number less than the size of its dimension.
    #[inline(always)]
    pub unsafe fn set_unchecked(&mut self, index: S::Index, value: ValueOf<S>) {
        debug_assert!(self.shape.has_index(index), "{index:?} is out of bounds for {}", self.shape.array_shape());
        let position = self.shape.linear_index_of(index);
        // SAFETY: the caller guarantees that the index is in bounds; by the law of `ArrayType`, its position holds an element.
        unsafe { self.cells_mut().write(position, value) };
    }

    /// Writes every element; padding stays as it is.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[2,3])>::zeroed();
    /// x.fill_with(|[i, j]| (10 * i + j) as f32);
    /// assert_eq!(x[[1, 2]], 12.0);
    /// ```
    pub fn fill_with(&mut self, mut value: impl FnMut(S::Index) -> ValueOf<S>) {
        for index in self.shape.indices() {
            // SAFETY: `indices` yields only indices in bounds.
            unsafe { self.set_unchecked(index, value(index)) };
        }
    }

    #[inline(always)]
    fn cells_mut(&mut self) -> CellsMut<'_, S::Element> {
        let len = self.num_bytes();
        // SAFETY: the offset is at most the length of the memory, as in `cells`.
        let first = unsafe { self.bytes.start_mut().add(const { S::PREFIX }.min(len)) };
        // SAFETY: as in `cells`; while `self` is borrowed mutably, nothing else reads or writes this buffer's elements (`BytesMut`).
        unsafe { CellsMut::new(first, len.saturating_sub(S::PREFIX), const { S::WIDTH }) }
    }
}

impl<S: StaticArray<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The same memory as an array of shape `R`.
    ///
    /// # Safety
    /// `R` takes as many bytes as `S`, with an equal prefix and equally wide elements.
    #[inline(always)]
    pub(super) unsafe fn into_shape<R: StaticArray<Element = S::Element>>(self) -> Buffer<R, B> {
        debug_assert_eq!((S::BYTES, S::PREFIX, S::WIDTH), (R::BYTES, R::PREFIX, R::WIDTH));
        Buffer { bytes: self.bytes, shape: R::default() }
    }
}

/// **Access by constant indices**, which the compiler checks.
impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The element with a constant index, without a check at run time.
    ///
    /// An index out of bounds does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use xla_shape::{Buffer, index, shape};
    ///
    /// let x = Buffer::<shape!(f32[8,128]{1,0:T(8,128)})>::filled(1.5);
    /// assert_eq!(x.at(index![7, 127]), 1.5); // index![8, 0] does not compile
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn at<I: StaticIndex<S::Dimensions>>(&self, _: I) -> ValueOf<S>
    where
        S: StaticArray,
    {
        named_in_errors!(Self);
        let position = const { position_at::<S, I>() };
        // SAFETY: `position_at` compiles only if the index is in bounds; by the law of `ArrayType`, its position holds an element.
        unsafe { self.cells().read(position) }
    }
}

/// **Writing by constant indices**, which the compiler checks.
impl<S: ArrayType<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// Writes the element with a constant index, without a check at run time.
    ///
    /// An index out of bounds does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use xla_shape::{Buffer, index, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[8,128])>::zeroed();
    /// x.set_at(index![0, 1], 2.0);
    /// assert_eq!(x[[0, 1]], 2.0);
    /// ```
    #[inline(always)]
    pub fn set_at<I: StaticIndex<S::Dimensions>>(&mut self, _: I, value: ValueOf<S>)
    where
        S: StaticArray,
    {
        named_in_errors!(Self);
        let position = const { position_at::<S, I>() };
        // SAFETY: `position_at` compiles only if the index is in bounds; by the law of `ArrayType`, its position holds an element.
        unsafe { self.cells_mut().write(position, value) };
    }
}

/// **The memory as a slice**, of a shape that is a type.
impl<S: WholeArray<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// The values in the order of memory, padding included.
    ///
    /// Packed elements cannot be borrowed: such arrays do not compile.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[2,3]{1,0:T(2,4)})>::filled(1);
    /// assert_eq!(x.as_slice(), [1, 1, 1, 0, 1, 1, 1, 0]);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_slice<'s, 'b>(&'s self) -> &'b [ValueOf<S>]
    where
        B: Lends<'s, 'b>,
    {
        named_in_errors!(Self);
        const { assert_whole::<S>() };
        // SAFETY: `assert_whole` has just been evaluated; `self` is borrowed for `'s`, so the memory is there and not written for `'b`
        // (`Lends`).
        let values: Values<'b, S::Element> = unsafe { self.values_for() };
        // SAFETY: `WholeArray`: every position belongs to the buffer.
        unsafe { values.range(0..values.len()) }
    }
}

/// **The memory as a slice to write**, of a shape that is a type.
impl<S: WholeArray<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// The values in the order of memory, padding included, to write.
    ///
    /// Packed elements cannot be borrowed: such arrays do not compile.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(s32[2,3]{0,1})>::zeroed();
    /// x.as_mut_slice().copy_from_slice(&[1, 2, 3, 4, 5, 6]);
    /// assert_eq!(x[[1, 0]], 2);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [ValueOf<S>] {
        named_in_errors!(Self);
        const { assert_whole::<S>() };
        // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed mutably with `self`.
        let mut values = unsafe { self.values_mut_for() };
        // SAFETY: `WholeArray`: every position belongs to the buffer, and this is the only borrow of them.
        unsafe { values.range_for(0..values.len()) }
    }
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// The memory as values.
    ///
    /// # Safety
    /// The caller has evaluated `assert_whole::<S>`, so elements are whole. What the buffer may read is there, and not written, for `'a`.
    ///
    /// The public functions evaluate `assert_whole` themselves, so that the compiler shows the line that calls them.
    #[inline(always)]
    pub(crate) unsafe fn values_for<'a>(&self) -> Values<'a, S::Element> {
        let len = self.num_values();
        // SAFETY: the offset is 0, or the prefix, which is shorter than the memory if there are values (`num_values`).
        let first = unsafe { self.bytes.start().add(if len == 0 { 0 } else { S::PREFIX }) };
        // SAFETY: by the *length* invariant, `len` values fit after the prefix; by the *alignment* invariant, the first one is aligned,
        // since elements are whole and the prefix keeps the alignment (`assert_whole`). The caller guarantees the rest.
        unsafe { Values::new(first, len) }
    }

    /// The number of values after the prefix; a constant if no dimension is unbounded.
    #[inline(always)]
    fn num_values(&self) -> usize {
        self.num_bytes().saturating_sub(S::PREFIX) / size_of::<ValueOf<S>>()
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// The memory as values, to write.
    ///
    /// # Safety
    /// As [`values_for`](Self::values_for), and nothing else reads or writes this buffer's elements for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn values_mut_for<'a>(&mut self) -> ValuesMut<'a, S::Element> {
        let len = self.num_values();
        // SAFETY: the offset is 0, or the prefix, which is shorter than the memory if there are values (`num_values`).
        let first = unsafe { self.bytes.start_mut().add(if len == 0 { 0 } else { S::PREFIX }) };
        // SAFETY: as in `values_for`; the caller guarantees that nothing else reads or writes the elements.
        unsafe { ValuesMut::new(first, len) }
    }
}

/// Copies an index that only a failing access needs, so that the index of other accesses stays in registers.
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
        named_in_errors!(Self);
        const { assert_whole::<S>() };
        if !self.shape.has_index(index) {
            panic_out_of_bounds(self.shape, copied(index));
        }
        // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed with `self`.
        let values = unsafe { self.values_for() };
        // SAFETY: `has_index`: the index is in bounds; by the law of `ArrayType`, its position holds an element.
        unsafe { values.at(self.shape.linear_index_of(index)) }
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> IndexMut<S::Index> for Buffer<S, B> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, index: S::Index) -> &mut Self::Output {
        named_in_errors!(Self);
        const { assert_whole::<S>() };
        if !self.shape.has_index(index) {
            panic_out_of_bounds(self.shape, copied(index));
        }
        let position = self.shape.linear_index_of(index);
        // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed mutably with `self`.
        let values = unsafe { self.values_mut_for() };
        // SAFETY: `has_index`: the index is in bounds; by the law of `ArrayType`, its position holds an element, which is borrowed
        // once.
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

/// Prints the elements in brackets, a line for each row. For long dimensions, the first three and the last three elements are shown.
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
