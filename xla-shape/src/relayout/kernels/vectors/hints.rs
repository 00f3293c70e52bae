//! What the processor is told about memory, beside what it loads and stores.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm_sfence};

/// Waits for the stores past the caches: what is stored after it to the same lines comes after them.
#[inline]
pub(in super::super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE.
    unsafe {
        _mm_sfence()
    };
    #[cfg(test)]
    super::pending::fenced();
}

/// Asks for the line at a place that may lie outside of all arrays, and will be read next.
#[inline]
pub(super) fn prefetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE, and this is a hint, which reads nothing.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(place.cast())
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint, which reads nothing and changes no register.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly))
    };
}

/// The same where other lines are read before: the second level is near enough, and the nearest cache keeps what it has.
#[inline]
pub(super) fn prefetch_far(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE, and this is a hint, which reads nothing.
    unsafe {
        _mm_prefetch::<_MM_HINT_T1>(place.cast())
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint, which reads nothing and changes no register.
    unsafe {
        std::arch::asm!("prfm pldl2keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly))
    };
}

/// The same where the line will be written.
#[inline]
pub(super) fn prefetch_to_write(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which reads nothing and changes no register; processors that do not know it do nothing.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags, readonly))
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a hint, which reads nothing and changes no register.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{}]", in(reg) place, options(nostack, preserves_flags, readonly))
    };
}
