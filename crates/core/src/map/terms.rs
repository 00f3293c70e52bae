//! Stride tables over other dimensions: transposed or reshaped indices, written as terms.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below a length")]

use super::{Source, StrideTableRef, Term};
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// A table whose indices are computed from the indices of another array: by a permutation, or by a reshape.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) table: StrideTableRef<'a>,
    /// For each dimension of the table, its index as a term of the other array's indices. Empty for the identity.
    pub(crate) dimensions: &'a [Term],
}

/// The index in dimension `dimension`, as a term.
pub(crate) const fn whole_dimension(dimension: usize) -> Term {
    Term::whole(Source::Dimension(dimension as u32))
}

/// The indices of an element of an array of these sizes, as terms of its row-major number. The number is dimension 0.
pub(crate) fn row_major_terms(extents: &[u64]) -> Vec<Term> {
    let mut terms = vec![Term::ZERO; extents.len()];
    fill_row_major_terms(extents, &mut terms);
    terms
}

/// [`row_major_terms`] for a `const`.
pub(crate) const fn fill_row_major_terms(extents: &[u64], terms: &mut [Term]) {
    let mut divisor = NonZeroU64::MIN;
    let mut i = extents.len();
    while i > 0 {
        i -= 1;
        let modulus = NonZeroU64::new(extents[i]);
        terms[i] = Term { source: Source::Dimension(0), divisor, modulus };
        if let Some(size) = modulus {
            divisor = divisor.saturating_mul(size);
        }
    }
}
