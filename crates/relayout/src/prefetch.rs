//! A software prefetch into the L1 cache, for the kernels and for [`crate::vector`].

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// Prefetches a line into the L1 cache. The address may be outside of all arrays.
#[inline]
pub(crate) fn prefetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of SSE, which every x86-64 has. A prefetch accesses no memory and does not fault, whatever the address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(place.cast())
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch accesses no memory, does not fault and changes no register, whatever the address.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly))
    };
}
