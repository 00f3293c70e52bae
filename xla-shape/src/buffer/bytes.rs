//! The bytes of an array: owned and aligned, or borrowed.

use super::error::BufferError;
use crate::sealed::Sealed;
use std::alloc::{Layout, alloc_zeroed};
use std::fmt;

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
    /// Where the system hands out memory as zeros, it is not written: a large array takes memory only where it is used. A
    /// system that promises more memory than it has may still end the program when that is used.
    ///
    /// # Errors
    /// If there is not so much memory.
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

impl Sealed for AlignedBytes {}
impl Sealed for &[u8] {}
impl Sealed for &mut [u8] {}

/// Where a buffer keeps its bytes: [`AlignedBytes`], `&[u8]` or `&mut [u8]`. They are always the same bytes.
pub trait Bytes: AsRef<[u8]> + Sealed {}

/// [`Bytes`] that can be written.
pub trait BytesMut: Bytes + AsMut<[u8]> {}

impl Bytes for AlignedBytes {}
impl Bytes for &[u8] {}
impl Bytes for &mut [u8] {}
impl BytesMut for AlignedBytes {}
impl BytesMut for &mut [u8] {}

#[cfg(test)]
mod tests {
    use super::AlignedBytes;
    use crate::buffer::BufferError;

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

    #[test]
    fn too_many_bytes_are_an_error() {
        let bytes = usize::MAX / 2;
        assert_eq!(AlignedBytes::zeroed(bytes).err(), Some(BufferError::OutOfMemory { bytes }));
    }
}
