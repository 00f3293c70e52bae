//! What kernels cost, in one unit, so that costs can be compared.
//!
//! A worked example: joining runs of 64 bytes costs less than a permute for each vector ([`RUN_BYTES_PER_PERMUTE`]). A gather takes at least one
//! permute for each vector, so it is not cheaper. Joining runs of 5 bytes costs as much as 4 permutes for each vector. So a block of such runs is
//! gathered if each vector of the destination takes its bytes from at most 4 vectors of the source.

use crate::kernels::{Interleave, Kernel, PermuteCount, Runs, Transpose};
use crate::vector::Vectors;

// All costs are in tenths of the time in which an element is copied by itself. The letters of machines are those of `tuning`.

const ELEMENT: usize = 10;

/// A permute of a vector and the load of what it permutes. **Z**.
const PERMUTE: usize = 15;

/// What each vector of the destination costs in addition to its permutes. **Z**.
const VECTOR: usize = 20;

/// Joining runs costs a permute for each vector if runs have this many bytes, and twice as much if they have half as many. A permute takes as
/// long as nearly three moves. **I**.
const RUN_BYTES_PER_PERMUTE: usize = 24;

/// A transpose with a side of `n` bytes, fewer than 16, costs this number divided by `n` in permutes for each vector. It fills vectors from
/// many places, and a store of a few bytes takes about as long as one of a vector. **I**.
const NARROW_BYTES_PER_PERMUTE: usize = 96;

/// The permutes that a transpose costs for each vector if both of its sides are shorter than a line. **I**.
const PERMUTES_OF_SHORT: usize = 8;

/// Up to this many bytes, a region is copied in less time than the preparation of a transpose takes. **Z**.
pub(super) const TINY_REGION: usize = 512;

/// The permutes that a transpose of a region of at most [`TINY_REGION`] bytes costs for each vector. **Z**.
const PERMUTES_OF_TINY: usize = 16;

/// If such a region has at most this many elements, copying them one by one takes no longer than a transpose. **Z**.
const MAX_TINY_ELEMENTS: usize = 32;

/// The estimated cost of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cost {
    /// For each vector of the destination.
    PerVector(usize),
    /// As much as copying each element by itself.
    ElementWise,
}

/// The elements of a region before any of them are combined.
#[derive(Clone, Copy)]
pub(super) struct Elements {
    /// The bytes of each.
    pub(super) bytes: usize,
    /// How many there are.
    pub(super) count: usize,
}

impl Cost {
    /// The cost of vectors that take this many permutes each to assemble.
    const fn permutes(count: usize) -> Self {
        Self::PerVector(VECTOR + count * PERMUTE)
    }

    /// The cost of a kernel for a region of these elements.
    pub(super) fn of(kernel: &Kernel, elements: Elements, vectors: Vectors) -> Self {
        let bytes = elements.bytes * elements.count;
        match kernel {
            Kernel::Copy(..16) => Self::ElementWise,
            Kernel::Runs(Runs { bytes, .. }) => Self::permutes(RUN_BYTES_PER_PERMUTE / bytes),
            Kernel::Transpose(kernel) if kernel.is_scalar(vectors) => Self::ElementWise,
            // Preparing the transpose takes longer than copying the elements one by one.
            Kernel::Transpose(_) if bytes <= TINY_REGION && elements.count <= MAX_TINY_ELEMENTS => Self::ElementWise,
            Kernel::Transpose(_) if bytes <= TINY_REGION => Self::permutes(PERMUTES_OF_TINY),
            Kernel::Transpose(kernel) => Self::of_transpose(kernel),
            Kernel::Copy(_) | Kernel::Interleave(Interleave { .. }) | Kernel::Deinterleave(_) | Kernel::Matrix(_) => {
                Self::permutes(0)
            }
            // Packed elements have a schedule of their own.
            Kernel::Pack(_) | Kernel::Unpack(_) | Kernel::PackUnits(_) | Kernel::UnpackUnits(_) => Self::permutes(0),
        }
    }

    fn of_transpose(kernel: &Transpose) -> Self {
        let (a, b) = (kernel.a_len() * kernel.bytes, kernel.b_len() * kernel.bytes);
        if a.min(b) < 16 {
            Self::permutes(NARROW_BYTES_PER_PERMUTE / a.min(b))
        } else if a.max(b) < 64 {
            Self::permutes(PERMUTES_OF_SHORT)
        } else {
            Self::permutes(0)
        }
    }

    /// Whether permutes could be cheaper: every vector takes one at least.
    pub(super) fn exceeds_a_permute(self) -> bool {
        match self {
            Self::PerVector(cost) => cost >= VECTOR + PERMUTE,
            Self::ElementWise => true,
        }
    }

    /// Whether so many permutes cost no more than this kernel, and no more than copying each element by itself.
    pub(super) fn admits(self, count: PermuteCount) -> bool {
        let PermuteCount { permutes, vectors, elements } = count;
        let one_by_one = ELEMENT * elements;
        let other = match self {
            Self::PerVector(cost) => one_by_one.min(cost * vectors),
            Self::ElementWise => one_by_one,
        };
        PERMUTE * permutes + VECTOR * vectors <= other
    }
}

#[cfg(test)]
mod tests {
    use super::Cost;
    use crate::kernels::PermuteCount;

    #[test]
    fn the_cheaper_one_is_admitted() {
        let admits = |cost: Cost, permutes, elements| cost.admits(PermuteCount { permutes, vectors: 1, elements });
        // As many permutes as the other kernel costs, and one more.
        assert!(admits(Cost::permutes(4), 4, 64) && !admits(Cost::permutes(4), 5, 64));
        // 3 permutes and the cost of one vector equal the cost of 6.5 elements that are copied one by one: this pays for 7 elements, not for 6.
        assert!(admits(Cost::ElementWise, 3, 7) && !admits(Cost::ElementWise, 3, 6));
        assert!(!admits(Cost::permutes(64), 3, 6), "elements are copied one by one");
        assert!(!Cost::permutes(0).exceeds_a_permute() && Cost::permutes(1).exceeds_a_permute());
    }
}
