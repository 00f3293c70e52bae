//! The bytes of an array: owned and aligned, or borrowed.

use super::error::BufferError;
use crate::sealed::Sealed;
use std::alloc::{Layout, alloc_zeroed};
use std::fmt;

/// 64 bytes: a cache line, and the alignment that XLA's runtimes ask for.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; Self::SIZE]);

impl Line {
    const SIZE: usize = 64;
}

/// Owned bytes that begin at a multiple of 64.
#[derive(Clone)]
pub struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedBytes {
    /// The alignment, in bytes.
    pub const ALIGNMENT: usize = align_of::<Line>();

    /// This many bytes, all 0.
    ///
    /// # Errors
    /// If there is not so much memory.
    pub fn zeroed(len: usize) -> Result<Self, BufferError> {
        let count = len.div_ceil(Line::SIZE);
        if count == 0 {
            return Ok(Self { lines: Vec::new(), len });
        }
        let out_of_memory = BufferError::OutOfMemory { bytes: len };
        let layout = Layout::array::<Line>(count).map_err(|_| out_of_memory.clone())?;
        // Memory that the system hands out as zeros already is not written again.
        // SAFETY: `layout` is not empty: it is that of one line or more.
        let lines = unsafe { alloc_zeroed(layout) };
        if lines.is_null() {
            return Err(out_of_memory);
        }
        // SAFETY: the global allocator gave the memory for exactly `count` lines, with their alignment; they are
        // initialised, since a line is any 64 bytes, and these are 0.
        let lines = unsafe { Vec::from_raw_parts(lines.cast::<Line>(), count, count) };
        Ok(Self { lines, len })
    }
}

impl AsRef<[u8]> for AlignedBytes {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        let data = self.lines.as_ptr().cast::<u8>();
        // SAFETY: the lines are `len` or more initialised bytes (`zeroed` makes `len.div_ceil(64)` lines of 64, and
        // neither changes), which live as long as `self` is borrowed; a `Line` has no padding.
        unsafe { std::slice::from_raw_parts(data, self.len) }
    }
}

impl AsMut<[u8]> for AlignedBytes {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [u8] {
        let data = self.lines.as_mut_ptr().cast::<u8>();
        // SAFETY: as in `as_ref`; `self` is borrowed mutably, so nothing else reads or writes the lines.
        unsafe { std::slice::from_raw_parts_mut(data, self.len) }
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBytes({} bytes)", self.len)
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
    fn too_many_bytes_are_an_error() {
        let bytes = usize::MAX / 2;
        assert_eq!(AlignedBytes::zeroed(bytes).err(), Some(BufferError::OutOfMemory { bytes }));
    }
}
