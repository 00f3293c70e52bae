//! What may be asked of a relayout.

use super::regions::identity;
use std::borrow::Cow;

/// What becomes of the destination's padding: places that hold no element.
///
/// The prefix for the sizes of bounded dimensions is not padding; it is always left alone.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Padding {
    /// It is left as it is.
    #[default]
    Keep,
    /// It is set to 0.
    Zero,
    /// Every place of it is set to this element: as many bytes as one element takes, little-endian; of a packed
    /// element, the low bits of one byte. What is left of the last byte after packed elements is set to 0.
    Fill(Vec<u8>),
}

/// How the destination is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Stores {
    /// Past the caches if source and destination together are larger than one and a half of the second-level cache, or than
    /// half of the largest where that belongs to a few cores (AMD): there stores past the caches begin to be faster. Transposes whose
    /// rows begin within lines of 64 bytes do so only if the two are larger than a tenth of the largest cache.
    #[default]
    Auto,
    /// Past the caches, where the machine can and lines are written whole: the destination begins at a multiple of 64 bytes,
    /// as an [`AlignedBytes`](crate::buffer::AlignedBytes) does. Best if nobody reads it soon. The loops run in the order
    /// that suits arrays larger than the caches.
    Streaming,
    /// Through the caches. The loops run in the order that suits arrays that fit in them.
    Regular,
}

/// The vectors that a relayout uses. The machine is asked what it has; more than that is never used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Vectors {
    /// None: plain Rust.
    None,
    /// 16 bytes, on Arm; every AArch64 has these.
    Neon,
    /// 16 bytes; every x86-64 has these.
    Sse2,
    /// 32 bytes.
    Avx2,
    /// 64 bytes, with permutations of all bytes (AVX-512 BW and VBMI).
    #[default]
    Avx512,
}

/// Options of a relayout: what is written into padding, and whether to transpose. By default, padding is not written and
/// dimensions keep their order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    pub(super) padding: Padding,
    permutation: Option<Vec<usize>>,
    pub(super) stores: Stores,
    pub(super) vectors: Vectors,
}

impl Options {
    /// Leaves padding alone and does not transpose.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what becomes of the destination's padding.
    #[must_use]
    pub fn padding(self, padding: Padding) -> Self {
        Self { padding, ..self }
    }

    /// Sets the destination's padding to 0.
    #[must_use]
    pub fn zero_padding(self) -> Self {
        self.padding(Padding::Zero)
    }

    /// Says how the destination is written.
    #[must_use]
    pub fn stores(self, stores: Stores) -> Self {
        Self { stores, ..self }
    }

    /// Uses these vectors at most: to compare, or to test what other machines do.
    #[must_use]
    pub fn vectors(self, vectors: Vectors) -> Self {
        Self { vectors, ..self }
    }

    /// Transposes: dimension `i` of the destination is dimension `permutation[i]` of the source, as in XLA's
    /// `transpose(…), dimensions={…}`.
    #[must_use]
    pub fn transposed(self, permutation: &[usize]) -> Self {
        Self { permutation: Some(permutation.to_vec()), ..self }
    }

    /// Which of the source's dimensions each of the destination's is, of `num_dimensions` where none was asked for.
    pub(super) fn to_dimension(&self, num_dimensions: usize) -> Cow<'_, [usize]> {
        self.permutation.as_deref().map_or_else(|| identity(num_dimensions), Cow::Borrowed)
    }
}
