//! Fences and software prefetches.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch, _mm_sfence};

/// Orders all earlier non-temporal stores before all later stores. A line that was written with non-temporal stores must not be written
/// again before a fence.
#[inline]
pub(in super::super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `sfence` is part of SSE, which every x86-64 has.
    unsafe {
        _mm_sfence()
    };
    #[cfg(test)]
    super::pending::fenced();
}

/// Prefetches a line into the L2 cache only: other lines are read before it, and should stay in the L1 cache.
#[inline]
pub(super) fn prefetch_far(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of SSE, which every x86-64 has. A prefetch accesses no memory and does not fault, whatever the address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T1>(place.cast())
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch accesses no memory, does not fault and changes no register, whatever the address.
    unsafe {
        std::arch::asm!("prfm pldl2keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly))
    };
}

/// Prefetches a line into the L1 cache with the intent to write.
#[inline]
pub(super) fn prefetch_to_write(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch accesses no memory, does not fault and changes no register, whatever the address. Processors without this
    // instruction execute it as a no-op.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags, readonly))
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch accesses no memory, does not fault and changes no register, whatever the address.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly))
    };
}
