//! The memory of an array: owned, borrowed, or borrowed to write.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use xla_shape_relayout::AlignedBytes;

/// Memory that a [`Buffer`](super::Buffer) can own. Implement it for your own types, such as a memory map or a pinned allocation.
///
/// ```
/// use std::sync::Arc;
/// use xla_shape::buffer::{Buffer, Storage};
/// use xla_shape::shape;
///
/// /// A file in memory, shared by many arrays.
/// struct File(Arc<[u8]>);
///
/// impl AsRef<[u8]> for File {
///     fn as_ref(&self) -> &[u8] {
///         &self.0
///     }
/// }
/// // SAFETY: the bytes are on the heap, and nothing changes them while an `Arc` holds them.
/// unsafe impl Storage for File {}
///
/// let file: Arc<[u8]> = Arc::from([1, 2, 3, 4]);
/// let x = Buffer::<shape!(u8[2,2]), File>::from_bytes(File(file.clone()))?;
/// assert_eq!(x[[1, 0]], 3);
/// # Ok::<(), xla_shape::BufferError>(())
/// ```
///
/// # Safety
/// As long as the value lives, also after it was moved, `as_ref` returns the same initialised bytes: the same address and the same length.
/// Nothing else writes them.
pub unsafe trait Storage: AsRef<[u8]> {}

/// [`Storage`] that can be written.
///
/// ```
/// use xla_shape::buffer::{Buffer, Storage, StorageMut};
/// use xla_shape::shape;
///
/// /// Memory that was allocated elsewhere.
/// struct Pinned(Box<[u8]>);
///
/// impl AsRef<[u8]> for Pinned {
///     fn as_ref(&self) -> &[u8] {
///         &self.0
///     }
/// }
/// impl AsMut<[u8]> for Pinned {
///     fn as_mut(&mut self) -> &mut [u8] {
///         &mut self.0
///     }
/// }
/// // SAFETY: the bytes are on the heap, where moving the box does not move them, and nothing else writes them.
/// unsafe impl Storage for Pinned {}
/// // SAFETY: `as_mut` returns the same bytes, and the value owns them.
/// unsafe impl StorageMut for Pinned {}
///
/// let mut x = Buffer::<shape!(u8[2,2]), Pinned>::from_bytes(Pinned(Box::new([1, 2, 3, 4])))?;
/// x[[1, 0]] = 7;
/// assert_eq!(x[[1, 0]], 7);
/// # Ok::<(), xla_shape::BufferError>(())
/// ```
///
/// # Safety
/// `as_mut` returns the bytes of `as_ref`. As long as the value lives, nothing else reads or writes them.
pub unsafe trait StorageMut: Storage + AsMut<[u8]> {}

// SAFETY: the bytes are on the heap, in a private `Vec` that never grows.
unsafe impl Storage for AlignedBytes {}
// SAFETY: as above; `as_mut` returns the same bytes, and the value owns them.
unsafe impl StorageMut for AlignedBytes {}
// SAFETY: the bytes are on the heap; a buffer gives no access to the `Vec` itself, so it does not reallocate.
unsafe impl Storage for Vec<u8> {}
// SAFETY: as above; `as_mut` returns the same bytes, and the value owns them.
unsafe impl StorageMut for Vec<u8> {}
// SAFETY: the bytes are on the heap, and moving the box does not move them.
unsafe impl Storage for Box<[u8]> {}
// SAFETY: as above; `as_mut` returns the same bytes, and the value owns them.
unsafe impl StorageMut for Box<[u8]> {}
// SAFETY: the bytes are on the heap. Writing them takes `Arc::get_mut`, which fails while another `Arc` exists, and a buffer gives no
// access to its own.
unsafe impl Storage for Arc<[u8]> {}

/// What holds a buffer's bytes: a [`Storage`], [`Ref`] or [`Mut`]. Nothing else implements it.
///
/// ```
/// use xla_shape::buffer::Bytes;
/// use xla_shape::{Buffer, View, shape};
///
/// type X = shape!(f32[2,3]);
///
/// /// Takes arrays that own their memory, and views.
/// fn sum<B: Bytes>(x: &Buffer<X, B>) -> f32 {
///     x.iter().sum()
/// }
///
/// let x = Buffer::<X>::filled(1.0);
/// let view: View<X> = x.view();
/// assert_eq!((sum(&x), sum(&view)), (6.0, 6.0));
/// ```
///
/// # Safety
/// `start` and `len` always return the same values: `len` bytes are allocated from `start` on. While the value is borrowed, the bytes that
/// its buffer may read are initialised and not written by anything else: all of them, or for a block, its elements and the padding of its
/// tiles.
pub unsafe trait Bytes: Sized {
    /// What the bytes are made from, and converted back to.
    type Parts;

    #[doc(hidden)]
    fn from_parts(parts: Self::Parts) -> Self;

    /// # Safety
    /// The buffer is a whole array, not a block.
    #[doc(hidden)]
    unsafe fn into_parts(self) -> Self::Parts;

    #[doc(hidden)]
    fn start(&self) -> *const u8;

    #[doc(hidden)]
    fn len(&self) -> usize;

    #[doc(hidden)]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// [`Bytes`] that can be written.
///
/// ```
/// use xla_shape::buffer::BytesMut;
/// use xla_shape::{Buffer, shape};
///
/// type X = shape!(f32[2,3]);
///
/// /// Takes arrays that own their memory, and views to write.
/// fn double<B: BytesMut>(x: &mut Buffer<X, B>) {
///     x.apply(|x| 2.0 * x);
/// }
///
/// let mut x = Buffer::<X>::filled(1.0);
/// double(&mut x);
/// double(&mut x.view_mut());
/// assert_eq!(x[[1, 2]], 4.0);
/// ```
///
/// # Safety
/// `start_mut` returns the address of `start`. While the value is borrowed mutably, nothing else reads or writes the bytes that its buffer
/// may read.
pub unsafe trait BytesMut: Bytes + Lender {
    #[doc(hidden)]
    fn start_mut(&mut self) -> *mut u8;
}

/// [`Bytes`] that are borrowed together with the buffer: all except [`Ref`], which has its own lifetime.
///
/// ```
/// use xla_shape::buffer::{Buffer, Lender};
/// use xla_shape::shape;
///
/// type X = shape!(f32[2,3]);
/// /// The values live as long as `x` is borrowed.
/// fn values<B: Lender>(x: &Buffer<X, B>) -> &[f32] {
///     x.as_slice()
/// }
///
/// let mut x = Buffer::<X>::filled(1.0);
/// assert_eq!(values(&x), [1.0; 6]);
/// assert_eq!(values(&x.view_mut()), [1.0; 6]);
/// ```
pub trait Lender: Bytes {}

/// [`Bytes`] that can be borrowed for `'b` through a reference that lives for `'s`.
///
/// `'b` is how long the result of a method such as [`as_slice`](super::Buffer::as_slice) lives: as long as the buffer is borrowed or,
/// for a [`View`](super::View), as long as the view's memory is borrowed, even after the view itself is dropped.
///
/// ```
/// use xla_shape::{View, shape};
///
/// type X = shape!(s32[2]);
/// fn values<'a>(x: View<'a, X>) -> &'a [i32] {
///     x.as_slice() // outlives `x`
/// }
/// assert_eq!(values(View::<X>::from_slice(&[1, 2])?), [1, 2]);
/// # Ok::<(), xla_shape::BufferError>(())
/// ```
///
/// # Safety
/// If a shared reference to the value lives for `'s`, the bytes that its buffer may read are allocated, initialised and not written for
/// `'b`.
#[diagnostic::on_unimplemented(
    message = "it is not known how long a borrowed part of `{Self}` lives",
    label = "a view of a part would have to live as long as this buffer, or as what it borrows",
    note = "a function over any buffer takes `View<'_, S>` (`buffer.view()`), or has the bound `B: Lender` if no caller passes a `View`"
)]
pub unsafe trait Lends<'s, 'b>: Bytes {}

// SAFETY: while the value is borrowed for `'s`, which outlives `'b`, its bytes are initialised and not written (`Bytes`); writing them
// takes a mutable borrow of the value.
unsafe impl<'s: 'b, 'b, B: Lender> Lends<'s, 'b> for B {}
// SAFETY: the bytes are borrowed for `'a`, which outlives `'b`, independently of this value.
unsafe impl<'a: 'b, 's, 'b> Lends<'s, 'b> for Ref<'a> {}

/// Bytes that are borrowed for `'a`, in a [`View`](super::View).
///
/// ```
/// use xla_shape::buffer::{Buffer, Ref};
/// use xla_shape::{View, shape};
///
/// type X = shape!(s32[2]);
/// let x: Buffer<X, Ref<'_>> = View::<X>::from_slice(&[1, 2])?;
/// assert_eq!(x[[1]], 2);
/// # Ok::<(), xla_shape::BufferError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Ref<'a> {
    start: *const u8,
    len: usize,
    bytes: PhantomData<&'a [u8]>,
}

/// Bytes that are borrowed for `'a` to write, in a [`ViewMut`](super::ViewMut).
///
/// ```
/// use xla_shape::buffer::{Buffer, Mut};
/// use xla_shape::shape;
///
/// type X = shape!(s32[2]);
/// let mut owned = Buffer::<X>::zeroed();
/// let mut x: Buffer<X, Mut<'_>> = owned.view_mut();
/// x[[1]] = 7;
/// assert_eq!(owned[[1]], 7);
/// ```
pub struct Mut<'a> {
    start: *mut u8,
    len: usize,
    bytes: PhantomData<&'a mut [u8]>,
}

// SAFETY: a `Ref` only reads its bytes, like `&'a [u8]`, which is `Send`.
unsafe impl Send for Ref<'_> {}
// SAFETY: a `Ref` only reads its bytes, like `&'a [u8]`, which is `Sync`.
unsafe impl Sync for Ref<'_> {}
// SAFETY: a `Mut` has exclusive access to its buffer's bytes, like `&'a mut [u8]`, which is `Send`.
unsafe impl Send for Mut<'_> {}
// SAFETY: a shared `Mut` only reads, like `&&'a mut [u8]`.
unsafe impl Sync for Mut<'_> {}

impl Ref<'_> {
    /// The bytes of another buffer, which may be a block.
    ///
    /// # Safety
    /// For the lifetime of the result, the bytes that the new buffer may read are initialised, and nothing writes them.
    #[inline(always)]
    pub(crate) unsafe fn new<B: Bytes>(bytes: &B) -> Self {
        Self { start: bytes.start(), len: bytes.len(), bytes: PhantomData }
    }
}

impl Mut<'_> {
    /// The bytes of another buffer, which may be a block.
    ///
    /// # Safety
    /// For the lifetime of the result, the bytes that the new buffer may write are initialised, and nothing else reads or writes them.
    #[inline(always)]
    pub(crate) unsafe fn new<B: BytesMut>(bytes: &mut B) -> Self {
        Self { start: bytes.start_mut(), len: bytes.len(), bytes: PhantomData }
    }

    /// The same bytes again, for another block in them.
    ///
    /// # Safety
    /// As [`new`](Self::new), and the blocks of the two buffers have no byte in common.
    #[inline(always)]
    pub(crate) unsafe fn again(&self) -> Self {
        Self { start: self.start, len: self.len, bytes: PhantomData }
    }
}

impl<'a> From<&'a [u8]> for Ref<'a> {
    #[inline(always)]
    fn from(bytes: &'a [u8]) -> Self {
        Self { start: bytes.as_ptr(), len: bytes.len(), bytes: PhantomData }
    }
}

impl<'a> From<&'a mut [u8]> for Mut<'a> {
    #[inline(always)]
    fn from(bytes: &'a mut [u8]) -> Self {
        Self { start: bytes.as_mut_ptr(), len: bytes.len(), bytes: PhantomData }
    }
}

impl fmt::Debug for Ref<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ref({} bytes)", self.len)
    }
}

impl fmt::Debug for Mut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mut({} bytes)", self.len)
    }
}

// SAFETY: `Storage`: the bytes are always the same and initialised, and nothing else writes them.
unsafe impl<T: Storage> Bytes for T {
    type Parts = Self;

    fn from_parts(parts: Self) -> Self {
        parts
    }

    // SAFETY: the caller keeps the promise of `Bytes::into_parts`; this needs none of it.
    unsafe fn into_parts(self) -> Self {
        self
    }

    #[inline(always)]
    fn start(&self) -> *const u8 {
        self.as_ref().as_ptr()
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.as_ref().len()
    }
}

// SAFETY: `StorageMut`: `as_mut` returns the bytes of `as_ref`, and nothing else reads or writes them.
unsafe impl<T: StorageMut> BytesMut for T {
    #[inline(always)]
    fn start_mut(&mut self) -> *mut u8 {
        self.as_mut().as_mut_ptr()
    }
}

impl<T: Storage> Lender for T {}

// SAFETY: the fields come from a slice that is borrowed for `'a` (`From`, `new`), and never change.
unsafe impl<'a> Bytes for Ref<'a> {
    type Parts = &'a [u8];

    #[inline(always)]
    fn from_parts(parts: &'a [u8]) -> Self {
        parts.into()
    }

    #[inline(always)]
    // SAFETY: the caller keeps the promise of `Bytes::into_parts`.
    unsafe fn into_parts(self) -> &'a [u8] {
        // SAFETY: `start` and `len` are those of a slice that is borrowed for `'a`; the caller guarantees a whole array, which may read all
        // of it.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    #[inline(always)]
    fn start(&self) -> *const u8 {
        self.start
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }
}

// SAFETY: the fields come from a slice that is borrowed mutably for `'a` (`From`, `new`), and never change.
unsafe impl<'a> Bytes for Mut<'a> {
    type Parts = &'a mut [u8];

    #[inline(always)]
    fn from_parts(parts: &'a mut [u8]) -> Self {
        parts.into()
    }

    #[inline(always)]
    // SAFETY: the caller keeps the promise of `Bytes::into_parts`.
    unsafe fn into_parts(self) -> &'a mut [u8] {
        // SAFETY: `start` and `len` are those of a slice that is borrowed mutably for `'a`. The caller guarantees a whole array, which may
        // write all of it, and `self` is consumed.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    #[inline(always)]
    fn start(&self) -> *const u8 {
        self.start
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }
}

// SAFETY: the slice is borrowed mutably for `'a`. Other buffers in the slice have no byte in common with this one (`again`).
unsafe impl BytesMut for Mut<'_> {
    #[inline(always)]
    fn start_mut(&mut self) -> *mut u8 {
        self.start
    }
}

impl Lender for Mut<'_> {}

#[cfg(test)]
mod tests {
    use super::Storage;
    use crate::buffer::Buffer;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    /// Memory whose clone is made by a function.
    struct Odd(Arc<[u8]>, fn(&[u8]) -> Arc<[u8]>);

    impl AsRef<[u8]> for Odd {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    // SAFETY: the bytes are on the heap, and nothing changes them while an `Arc` holds them.
    unsafe impl Storage for Odd {}

    impl Clone for Odd {
        fn clone(&self) -> Self {
            Self(self.1(&self.0), self.1)
        }
    }

    #[test]
    fn a_clone_of_foreign_memory_is_as_long() {
        type X = crate::shape!(u8[4]);
        let buffer =
            |clone: fn(&[u8]) -> Arc<[u8]>| Buffer::<X, Odd>::from_bytes(Odd(Arc::from([1, 2, 3, 4]), clone)).unwrap();
        let same = buffer(|bytes| Arc::from(bytes));
        // The heap may align to 8 bytes only; then the clone is refused.
        if let Ok(clone) = catch_unwind(AssertUnwindSafe(|| same.clone())) {
            assert_eq!(clone.as_slice(), [1, 2, 3, 4]);
        }
        let shorter = buffer(|bytes| Arc::from(&bytes[1..]));
        assert!(catch_unwind(AssertUnwindSafe(|| shorter.clone())).is_err());
        assert_eq!(
            Buffer::<crate::shape!(f32[0]), Vec<u8>>::from_bytes(Vec::with_capacity(5)).unwrap().clone().as_slice(),
            [0.0_f32; 0]
        );
    }
}
