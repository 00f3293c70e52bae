//! Blocks of the destination whose elements are scattered over a part of the source: for nests of several loops that are all too short for
//! the vectors of other kernels.
//!
//! A table holds the positions of each element on both sides. With AVX2 or AVX-512, a vector of the destination is assembled by permutes
//! from the vectors of the source that hold its elements, if these are few.

#[cfg(target_arch = "x86_64")]
use super::vectors::{LANE, Permutes, SIZE};
use super::{Instructions, LoopNest, NotPermuted, Vectors};

/// The elements of a block, in ascending order of the destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct Gather {
    /// The bytes of an element: 1, 2, 4, 8 or 16.
    bytes: usize,
    /// Where each element lies in the source and in the destination, in elements from the start of the iteration.
    places: Vec<(u32, u32)>,
    /// The bytes of the source and of the destination that one iteration spans.
    span: (usize, usize),
    permutes: Option<Permutes>,
}

/// The number of permutes of a block, and the numbers of vectors and of elements of the destination that they assemble.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct PermuteCount {
    pub(in super::super) permutes: usize,
    pub(in super::super) vectors: usize,
    pub(in super::super) elements: usize,
}

/// Other architectures have no such permutes.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, PartialEq, Eq, Debug)]
enum Permutes {}

#[cfg(not(target_arch = "x86_64"))]
impl Permutes {
    fn new(_: usize, _: usize, _: &[(u32, u32)], _: impl Fn(PermuteCount) -> bool) -> Result<Self, NotPermuted> {
        Err(NotPermuted::TooExpensive)
    }
}

impl Gather {
    /// How many bytes a machine with these vectors permutes at once, if it does.
    pub(in super::super) fn permuted_size(vectors: Vectors) -> Option<usize> {
        match vectors {
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => Some(SIZE),
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 | Vectors::Avx512Bw => Some(LANE),
            _ => None,
        }
    }

    /// A block that is copied element by element. `places` are in elements, in ascending order of the destination; in bytes, each fits in
    /// an `i32`.
    pub(in super::super) fn new(bytes: usize, places: Vec<(u32, u32)>) -> Self {
        assert!(matches!(bytes, 1 | 2 | 4 | 8 | 16), "kernels have elements of these sizes");
        let end = |place: Option<u32>| place.map_or(0, |place| (place as usize + 1) * bytes);
        let span = (end(places.iter().map(|place| place.0).max()), end(places.iter().map(|place| place.1).max()));
        Self { bytes, places, span, permutes: None }
    }

    /// The same block with permutes for vectors of `size` bytes. `admits` says whether so many permutes are cheaper than another kernel.
    pub(in super::super) fn permuted(
        size: usize,
        bytes: usize,
        places: &[(u32, u32)],
        admits: impl Fn(PermuteCount) -> bool,
    ) -> Result<Self, NotPermuted> {
        let permutes = Some(Permutes::new(size, bytes, places, admits)?);
        Ok(Self { permutes, ..Self::new(bytes, places.to_vec()) })
    }

    /// How many elements an iteration copies.
    pub(in super::super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The bytes of an element.
    pub(in super::super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether vectors are assembled by permutes.
    pub(in super::super) fn is_permuted(&self) -> bool {
        self.permutes.is_some()
    }

    /// The bytes of the source and of the destination that one iteration spans.
    pub(super) fn span(&self) -> (usize, usize) {
        self.span
    }

    /// Copies the elements of every iteration.
    ///
    /// # Safety
    /// `source` and `destination` have at least the bytes that [`LoopNest::span`] gives for [`Self::span`].
    pub(super) unsafe fn run_within(
        &self,
        instructions: Instructions,
        nest: LoopNest<'_>,
        source: &[u8],
        destination: &mut [u8],
    ) {
        #[cfg(target_arch = "x86_64")]
        if let Some(permutes) = &self.permutes
            && permutes.size() == LANE
            && instructions.vectors() >= Vectors::Avx2
        {
            // SAFETY: `vectors` says that the CPU has AVX2. `Permutes::new` places every vector of the source between the first and the
            // last element of an iteration, and every byte of a vector of `LANE` bytes belongs to an element: the caller guarantees the span of
            // all iterations.
            return unsafe { super::vectors::permute_lanes(permutes, nest, source.as_ptr(), destination.as_mut_ptr()) };
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(permutes) = &self.permutes
            && permutes.size() == SIZE
            && instructions.vectors() >= Vectors::Avx512
        {
            let streaming = instructions.stores().is_streaming()
                && destination.as_ptr().align_offset(64) == 0
                && nest.0.iter().all(|axis| axis.to.is_multiple_of(64))
                && permutes.are_whole();
            let (from, to) = (source.as_ptr(), destination.as_mut_ptr());
            // SAFETY: `vectors` says that the CPU has AVX-512 with VBMI. Every byte that a permute reads lies between the first and
            // the last element of an iteration (`Permutes::new`), and every written byte belongs to an element: the caller guarantees the
            // span of all iterations. `streaming` was set only where all vectors are whole and lie at multiples of 64.
            return unsafe { super::vectors::permute(permutes, streaming, nest, from, to) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = instructions;
        let run_elements = match self.bytes {
            1 => Self::run_elements::<1>,
            2 => Self::run_elements::<2>,
            4 => Self::run_elements::<4>,
            8 => Self::run_elements::<8>,
            _ => Self::run_elements::<16>,
        };
        // SAFETY: `new` accepts only these five sizes, so elements have as many bytes. The caller guarantees the span of all iterations; a shared
        // and an exclusive slice do not overlap.
        unsafe { run_elements(self, nest, source.as_ptr(), destination.as_mut_ptr()) };
    }

    /// The definition: one element after the other.
    ///
    /// # Safety
    /// Elements have `BYTES` bytes. The bytes that [`LoopNest::span`] gives for [`Self::span`] are valid for reads at `from` and for writes at
    /// `to`, and do not overlap.
    unsafe fn run_elements<const BYTES: usize>(&self, nest: LoopNest<'_>, from: *const u8, to: *mut u8) {
        if nest.0.is_empty() {
            // SAFETY: without loops, the span of the nest is that of the only iteration; the caller guarantees the rest.
            return unsafe { self.copy_elements::<BYTES>(from, to) };
        }
        // SAFETY: the caller's guarantees are the same.
        unsafe { self.run_iterations::<BYTES>(nest, from, to) };
    }

    /// Not inlined, so that a small array that is a single block is copied sooner.
    ///
    /// # Safety
    /// As for [`run_elements`](Self::run_elements).
    #[inline(never)]
    unsafe fn run_iterations<const BYTES: usize>(&self, nest: LoopNest<'_>, from: *const u8, to: *mut u8) {
        nest.for_each(0, 0, |from_offset, to_offset| {
            let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
            // SAFETY: the span of the nest contains that of each iteration; the caller guarantees the rest.
            unsafe { self.copy_elements::<BYTES>(from, to) };
        });
    }

    /// One iteration.
    ///
    /// # Safety
    /// Elements have `BYTES` bytes. The bytes of [`Self::span`] are valid for reads at `from` and for writes at `to`, and do not overlap.
    #[inline]
    unsafe fn copy_elements<const BYTES: usize>(&self, from: *const u8, to: *mut u8) {
        for &(own, other) in &self.places {
            let (from, to) = (from.wrapping_add(own as usize * BYTES), to.wrapping_add(other as usize * BYTES));
            // SAFETY: `new` computes the span from all places, so both elements lie in it; the caller guarantees that its bytes are valid, and that
            // those of the two sides do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(from, to, BYTES) };
        }
    }
}
