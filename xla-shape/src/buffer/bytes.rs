//! The bytes of an array: owned and aligned, or borrowed.

use super::error::BufferError;
use crate::sealed::Sealed;
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
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| BufferError::OutOfMemory { bytes: len })?;
        lines.resize(count, Line([0; Line::SIZE]));
        Ok(Self { lines, len })
    }
}

impl AsRef<[u8]> for AlignedBytes {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        let data = self.lines.as_ptr().cast::<u8>();
        // SAFETY: the lines are `len` or more initialised bytes (`zeroed` made `len.div_ceil(64)` lines of 64, and
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
