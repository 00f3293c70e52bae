//! How large the caches are.

use std::sync::OnceLock;

/// What is assumed of a machine that does not say, in bytes.
const UNKNOWN: usize = 32 << 20;

/// From this size on, a destination is written past the caches: a quarter of the largest, since the source needs room as
/// well, and so do others. There stores past the caches begin to be faster; below, whoever reads next is.
pub(in super::super) fn streaming_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| largest().unwrap_or(UNKNOWN) / 4)
}

/// The bytes of the largest cache.
#[cfg(target_arch = "x86_64")]
fn largest() -> Option<usize> {
    // Intel and AMD describe their caches alike, one for each subleaf until one has no type.
    let caches = |leaf: u32| {
        let highest = cpuid(leaf & 0x8000_0000, 0).eax;
        let descriptions = (0..8).map(move |i| cpuid(leaf, i)).take_while(|cache| cache.eax & 0x1f != 0);
        let size = |bits: u32, low: u32, count: u32| (bits >> low & ((1 << count) - 1)) as usize + 1;
        let bytes = descriptions.map(move |cache| {
            let (line, partitions, ways) = (size(cache.ebx, 0, 12), size(cache.ebx, 12, 10), size(cache.ebx, 22, 10));
            line * partitions * ways * (cache.ecx as usize + 1)
        });
        (leaf <= highest).then_some(bytes).into_iter().flatten().max()
    };
    caches(4).max(caches(0x8000_001d))
}

/// What the processor says of itself.
#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe, reason = "the oldest toolchain that builds the library asks for the block, the newest does not")]
fn cpuid(leaf: u32, subleaf: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 has the instruction.
    unsafe { std::arch::x86_64::__cpuid_count(leaf, subleaf) }
}

/// The bytes of the largest cache.
#[cfg(not(target_arch = "x86_64"))]
fn largest() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_largest_cache_has_a_likely_size() {
        assert!((64 << 10..16 << 30).contains(&super::streaming_bytes()));
    }
}
