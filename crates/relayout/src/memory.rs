//! Aligned memory for arrays.

use std::alloc::{Layout, alloc, alloc_zeroed};
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
use std::arch::asm;
use std::fmt;

/// There is not enough memory.
///
/// ```
/// use xla_shape_relayout::{AlignedBytes, OutOfMemory};
///
/// let error = AlignedBytes::zeroed(usize::MAX).err();
/// assert_eq!(error, Some(OutOfMemory { bytes: usize::MAX }));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory {
    /// The bytes that were requested.
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not enough memory for {} bytes", self.bytes)
    }
}

impl std::error::Error for OutOfMemory {}

/// Owned bytes that begin at a multiple of 64.
pub struct AlignedBytes {
    /// The bytes, preceded by `start` bytes that bring them to their alignment. `start <= memory.len()` always holds.
    memory: Vec<u8>,
    start: usize,
}

impl AlignedBytes {
    /// The alignment in bytes: a cache line, which is also what XLA's runtimes require of buffers.
    pub const ALIGNMENT: usize = 64;

    /// `len` bytes, all 0.
    ///
    /// Memory that the system provides zeroed is not written again, so a large array takes memory only where it is used. A system that
    /// promises more memory than it has may still end the program when the memory is used.
    ///
    /// ```
    /// use xla_shape_relayout::AlignedBytes;
    ///
    /// let bytes = AlignedBytes::zeroed(100)?;
    /// assert_eq!(bytes.as_ref(), [0; 100]);
    /// assert!(bytes.as_ref().as_ptr().addr().is_multiple_of(AlignedBytes::ALIGNMENT));
    /// # Ok::<(), xla_shape_relayout::OutOfMemory>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn zeroed(len: usize) -> Result<Self, OutOfMemory> {
        Self::allocated(len, |layout| {
            // SAFETY: the size of `layout` is not 0 (`allocated`).
            unsafe { alloc_zeroed(layout) }
        })
    }

    /// `len` bytes with unspecified values, perhaps left over from freed memory. The caller writes each byte before anybody reads it. Where
    /// the allocator reuses memory, this saves the time in which [`zeroed`](Self::zeroed) would write zeros.
    pub(crate) fn unspecified(len: usize) -> Result<Self, OutOfMemory> {
        // Where there is no way to tell the compiler that the bytes have values, they are 0.
        if cfg!(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64")))) {
            return Self::zeroed(len);
        }
        Self::allocated(len, |layout| {
            // SAFETY: the size of `layout` is not 0 (`allocated`).
            let memory = unsafe { alloc(layout) };
            #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
            // SAFETY: there are no instructions. To the compiler, a block that receives a pointer and has no option `nomem` may have written all
            // memory that the pointer leads to, with any values. So after it, the bytes count as initialised, whatever values they have.
            unsafe {
                asm!("/* {0} */", in(reg) memory, options(nostack, preserves_flags));
            }
            memory
        })
    }

    /// Memory from `allocate`, which returns initialised bytes. It is called with a size that is not 0.
    fn allocated(len: usize, allocate: impl FnOnce(Layout) -> *mut u8) -> Result<Self, OutOfMemory> {
        let out_of_memory = OutOfMemory { bytes: len };
        // Alignment 1: for larger alignments, Rust's allocator writes the zeros itself.
        let size = len.checked_add(Self::ALIGNMENT - 1);
        let layout = size.and_then(|size| Layout::array::<u8>(size).ok()).ok_or(out_of_memory)?;
        // The size is at least `ALIGNMENT - 1` bytes, so it is not 0.
        let memory = allocate(layout);
        if memory.is_null() {
            return Err(out_of_memory);
        }
        let start = memory.addr().wrapping_neg() % Self::ALIGNMENT;
        // SAFETY: the global allocator returned this memory for `layout` (both callers), which has the alignment of `u8` and
        // `layout.size()` bytes; all are initialised.
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
        // SAFETY: `start <= memory.len()`: `zeroed` truncates the vector to `start + len` bytes and `clone` extends it from `start` bytes
        // on; nothing changes it later.
        unsafe { self.memory.get_unchecked(self.start..) }
    }
}

impl AsMut<[u8]> for AlignedBytes {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: `start <= memory.len()`, as in `as_ref`.
        unsafe { self.memory.get_unchecked_mut(self.start..) }
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBytes({} bytes)", self.as_ref().len())
    }
}

#[cfg(test)]
mod tests {
    use super::{AlignedBytes, OutOfMemory};

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
    fn unspecified_bytes_are_aligned_and_can_be_written() {
        for len in [0, 1, 63, 64, 65, 1000, 1 << 20] {
            let mut bytes = AlignedBytes::unspecified(len).unwrap();
            assert_eq!(bytes.as_ref().len(), len);
            assert!(bytes.as_ref().as_ptr().addr().is_multiple_of(AlignedBytes::ALIGNMENT));
            bytes.as_mut().fill(7);
            assert!(bytes.as_ref().iter().all(|byte| *byte == 7));
        }
        let bytes = usize::MAX / 2;
        assert_eq!(AlignedBytes::unspecified(bytes).err(), Some(OutOfMemory { bytes }));
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
        // Pages have at least 4 KiB.
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
        assert_eq!(AlignedBytes::zeroed(bytes).err(), Some(OutOfMemory { bytes }));
    }
}
