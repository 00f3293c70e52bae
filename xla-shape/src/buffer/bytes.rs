//! The memory of an array: owned, borrowed, or borrowed to write.

use super::error::BufferError;
use std::alloc::{Layout, alloc_zeroed};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Owned bytes that begin at a multiple of 64.
pub struct AlignedBytes {
    /// The bytes, and before them some that bring them to their alignment.
    memory: Vec<u8>,
    start: usize,
}

impl AlignedBytes {
    /// The alignment, in bytes: a cache line, and what XLA's runtimes ask for.
    pub const ALIGNMENT: usize = 64;

    /// This many bytes, all 0.
    ///
    /// If the system provides zeroed memory, it is not written again: a large array takes memory only where it is used. A
    /// system that promises more memory than it has may still end the program when the memory is used.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn zeroed(len: usize) -> Result<Self, BufferError> {
        let out_of_memory = BufferError::OutOfMemory { bytes: len };
        // Without an alignment of its own: zeroed memory with one is written by Rust's allocator.
        let size = len.checked_add(Self::ALIGNMENT - 1);
        let layout = size.and_then(|size| Layout::array::<u8>(size).ok()).ok_or_else(|| out_of_memory.clone())?;
        // SAFETY: `layout` is not empty: it is that of `ALIGNMENT - 1` bytes or more.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            return Err(out_of_memory);
        }
        let start = memory.addr().wrapping_neg() % Self::ALIGNMENT;
        // SAFETY: the global allocator gave the memory for as many bytes, with their alignment; they are initialised.
        let mut memory = unsafe { Vec::from_raw_parts(memory, layout.size(), layout.size()) };
        memory.truncate(start + len);
        Ok(Self { memory, start })
    }
}

impl Clone for AlignedBytes {
    fn clone(&self) -> Self {
        let bytes = self.as_ref();
        let mut memory = Vec::<u8>::with_capacity(bytes.len() + Self::ALIGNMENT - 1);
        let start = memory.as_ptr().addr().wrapping_neg() % Self::ALIGNMENT;
        memory.resize(start, 0);
        memory.extend_from_slice(bytes);
        Self { memory, start }
    }
}

impl AsRef<[u8]> for AlignedBytes {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `start` is at most the length of the memory: both constructors make the memory longer, and nobody changes it.
        unsafe { self.memory.get_unchecked(self.start..) }
    }
}

impl AsMut<[u8]> for AlignedBytes {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_ref`.
        unsafe { self.memory.get_unchecked_mut(self.start..) }
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBytes({} bytes)", self.as_ref().len())
    }
}

/// Memory that a [`Buffer`](super::Buffer) can own: your own type can be one, such as a memory map or a pinned allocation.
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
/// For the whole life of the value, also after it has been moved, `as_ref` gives the same initialised bytes: the same address
/// and the same length. Nothing else writes them while the value lives.
pub unsafe trait Storage: AsRef<[u8]> {}

/// [`Storage`] that can be written.
///
/// # Safety
/// `as_mut` gives the bytes of `as_ref`. Nothing else reads or writes them while the value lives.
pub unsafe trait StorageMut: Storage + AsMut<[u8]> {}

// SAFETY: the bytes are on the heap, of a `Vec` that is private and never grows.
unsafe impl Storage for AlignedBytes {}
// SAFETY: as above; `as_mut` gives the same bytes.
unsafe impl StorageMut for AlignedBytes {}
// SAFETY: the bytes are on the heap, and nobody has access to the `Vec` to change its length.
unsafe impl Storage for Vec<u8> {}
// SAFETY: as above.
unsafe impl StorageMut for Vec<u8> {}
// SAFETY: the bytes are on the heap.
unsafe impl Storage for Box<[u8]> {}
// SAFETY: as above.
unsafe impl StorageMut for Box<[u8]> {}
// SAFETY: the bytes are on the heap; safe code cannot write them while the buffer holds one of the `Arc`s.
unsafe impl Storage for Arc<[u8]> {}

/// What holds a buffer's bytes: a [`Storage`], [`Ref`] or [`Mut`]. Only these implement it.
///
/// # Safety
/// `len` initialised bytes begin at `start`, always the same. Whoever holds the value may read those of them that are the buffer's:
/// all, or the elements of a block and the padding of its tiles.
pub unsafe trait Bytes: Sized {
    /// What the bytes are made from, and given back as.
    type Parts;

    #[doc(hidden)]
    fn from_parts(parts: Self::Parts) -> Self;

    /// # Safety
    /// The buffer must be a whole array, not a block.
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
/// # Safety
/// The bytes are those of `start`. Nothing else reads or writes those of them that are the buffer's.
pub unsafe trait BytesMut: Bytes + Lender {
    #[doc(hidden)]
    fn start_mut(&mut self) -> *mut u8;
}

/// [`Bytes`] that are borrowed from the buffer: all except [`Ref`], which has its own lifetime.
pub trait Lender: Bytes {}

/// Bytes that are borrowed for `'a`, in a [`View`](super::View).
#[derive(Clone, Copy)]
pub struct Ref<'a> {
    start: *const u8,
    len: usize,
    bytes: PhantomData<&'a [u8]>,
}

/// Bytes that are borrowed for `'a` to write, in a [`ViewMut`](super::ViewMut).
pub struct Mut<'a> {
    start: *mut u8,
    len: usize,
    bytes: PhantomData<&'a mut [u8]>,
}

// SAFETY: the bytes are borrowed as by `&'a [u8]`, which is `Send`.
unsafe impl Send for Ref<'_> {}
// SAFETY: as above; `&[u8]` is `Sync`.
unsafe impl Sync for Ref<'_> {}
// SAFETY: the buffer's bytes are borrowed as by `&'a mut [u8]`, which is `Send`; no other buffer has them.
unsafe impl Send for Mut<'_> {}
// SAFETY: as above; a shared `Mut` only reads.
unsafe impl Sync for Mut<'_> {}

impl Ref<'_> {
    /// The bytes of another buffer, which may be a block.
    ///
    /// # Safety
    /// For the result's lifetime, what the new buffer may read must be there, and nobody may write it.
    #[inline(always)]
    pub(crate) unsafe fn of<B: Bytes>(bytes: &B) -> Self {
        Self { start: bytes.start(), len: bytes.len(), bytes: PhantomData }
    }
}

impl Mut<'_> {
    /// The bytes of another buffer, which may be a block.
    ///
    /// # Safety
    /// For the result's lifetime, what the new buffer may write must be there, and nobody else may read or write it.
    #[inline(always)]
    pub(crate) unsafe fn of<B: BytesMut>(bytes: &mut B) -> Self {
        Self { start: bytes.start_mut(), len: bytes.len(), bytes: PhantomData }
    }

    /// The same bytes again, for another block in them.
    ///
    /// # Safety
    /// As [`of`](Self::of), and the two buffers must have no byte in common.
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

// SAFETY: `Storage` promises that the bytes are always the same, and that nothing else writes them.
unsafe impl<T: Storage> Bytes for T {
    type Parts = Self;

    fn from_parts(parts: Self) -> Self {
        parts
    }

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

// SAFETY: `StorageMut` promises that `as_mut` gives the same bytes, and that nothing else reads or writes them.
unsafe impl<T: StorageMut> BytesMut for T {
    #[inline(always)]
    fn start_mut(&mut self) -> *mut u8 {
        self.as_mut().as_mut_ptr()
    }
}

impl<T: Storage> Lender for T {}

// SAFETY: the fields come from a slice that is borrowed for `'a`, and never change.
unsafe impl<'a> Bytes for Ref<'a> {
    type Parts = &'a [u8];

    #[inline(always)]
    fn from_parts(parts: &'a [u8]) -> Self {
        parts.into()
    }

    #[inline(always)]
    unsafe fn into_parts(self) -> &'a [u8] {
        // SAFETY: the slice that it was made from; of a whole array, all of it may be read for `'a`.
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

// SAFETY: the fields come from a slice that is borrowed for `'a`, and never change.
unsafe impl<'a> Bytes for Mut<'a> {
    type Parts = &'a mut [u8];

    #[inline(always)]
    fn from_parts(parts: &'a mut [u8]) -> Self {
        parts.into()
    }

    #[inline(always)]
    unsafe fn into_parts(self) -> &'a mut [u8] {
        // SAFETY: the slice that it was made from; of a whole array, all of it may be read and written for `'a`, by the one
        // who has `self`.
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

// SAFETY: the slice is borrowed mutably for `'a`; other buffers in the same memory have other bytes of it (`again`).
unsafe impl BytesMut for Mut<'_> {
    #[inline(always)]
    fn start_mut(&mut self) -> *mut u8 {
        self.start
    }
}

impl Lender for Mut<'_> {}

#[cfg(test)]
mod tests {
    use super::{AlignedBytes, Storage};
    use crate::buffer::{Buffer, BufferError};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    #[test]
    fn bytes_are_aligned_zero_and_exactly_as_many_as_asked_for() {
        for len in [0, 1, 63, 64, 65, 1000] {
            let mut bytes = AlignedBytes::zeroed(len).unwrap();
            assert_eq!(bytes.as_ref(), vec![0; len]);
            assert!(bytes.as_ref().as_ptr().addr().is_multiple_of(AlignedBytes::ALIGNMENT));
            bytes.as_mut().fill(7);
            assert_eq!(bytes.clone().as_ref(), vec![7; len]);
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn memory_that_is_not_used_is_not_touched() {
        let pages = || -> usize {
            let text = std::fs::read_to_string("/proc/self/statm").unwrap();
            text.split(' ').nth(1).unwrap().parse().unwrap()
        };
        let before = pages();
        let bytes = AlignedBytes::zeroed(256 << 20).unwrap();
        // Pages have 4 KiB or more.
        assert!(pages() < before + (128 << 20) / 4096);
        assert_eq!(bytes.as_ref().last(), Some(&0));
    }

    #[test]
    fn a_clone_is_aligned_too() {
        for len in [0, 1, 63, 64, 1000] {
            let mut bytes = AlignedBytes::zeroed(len).unwrap();
            bytes.as_mut().fill(3);
            let clones = [bytes.clone(), bytes.clone(), bytes.clone()];
            for clone in &clones {
                assert_eq!(clone.as_ref(), bytes.as_ref());
                assert!(clone.as_ref().as_ptr().addr().is_multiple_of(AlignedBytes::ALIGNMENT));
            }
        }
    }

    /// Memory whose clone is what it says, not what it is.
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
        // The heap may be aligned to 8 bytes only; then it is refused, too.
        if let Ok(clone) = catch_unwind(AssertUnwindSafe(|| same.clone())) {
            assert_eq!(clone.as_slice(), [1, 2, 3, 4]);
        }
        let shorter = buffer(|bytes| Arc::from(&bytes[1..]));
        assert!(catch_unwind(AssertUnwindSafe(|| shorter.clone())).is_err());
        assert_eq!(
            Buffer::<crate::shape!(f32[0]), Vec<u8>>::from_bytes(Vec::with_capacity(5)).unwrap().clone().as_slice(),
            []
        );
    }

    #[test]
    fn too_many_bytes_are_an_error() {
        let bytes = usize::MAX / 2;
        assert_eq!(AlignedBytes::zeroed(bytes).err(), Some(BufferError::OutOfMemory { bytes }));
    }
}
