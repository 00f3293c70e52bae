//! How large the caches are, and from where on a copy does better without them.

use std::sync::OnceLock;

/// The bytes of a machine's caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Caches {
    /// The nearest cache of data.
    pub(super) first: usize,
    /// The second level, which most machines have for each core.
    second: usize,
    /// The largest.
    last: usize,
    /// Whether the last level is near: stores that go through it are faster than those past it as long as it has room.
    last_is_near: bool,
}

/// What is assumed of a machine that does not say.
const UNKNOWN: Caches = Caches { first: 32 << 10, second: 2 << 20, last: 32 << 20, last_is_near: false };

impl Caches {
    /// Those of this machine.
    pub(super) fn get() -> Self {
        static CACHES: OnceLock<Caches> = OnceLock::new();
        *CACHES.get_or_init(|| Self::of(&described(), last_is_near()))
    }

    /// From the level and the bytes of each cache that holds data.
    fn of(described: &[(u32, usize)], last_is_near: bool) -> Self {
        let level = |level| described.iter().filter(|(of, _)| *of == level).map(|(_, bytes)| *bytes).max();
        let first = level(1).unwrap_or(UNKNOWN.first);
        let second = level(2).unwrap_or(UNKNOWN.second).max(first);
        let last = described.iter().map(|(_, bytes)| *bytes).max().unwrap_or(UNKNOWN.last).max(second);
        Self { first, second, last, last_is_near }
    }

    /// From how many bytes on, of source and destination together, the destination is better written past the caches.
    ///
    /// Where both fit in the second level, nothing is as fast as that. Behind it, a last level that many cores share over a
    /// network is hardly nearer than memory; one that belongs to a few cores is worth half of its size.
    fn streaming_from(self) -> usize {
        if self.last_is_near { self.last / 2 } else { self.second + self.second / 2 }
    }

    /// From how many bytes on that also holds for transposes whose rows begin within lines, which then take a stage: below, to
    /// store through a last level that is far is up to half as fast again. A tenth is about what a few cores have of it.
    fn staging_from(self) -> usize {
        self.streaming_from().max(self.last / 10)
    }
}

/// Whether a relayout from so many bytes to so many is better written past the caches, on this machine.
pub(in super::super) fn is_large(from_bytes: usize, to_bytes: usize) -> bool {
    from_bytes.saturating_add(to_bytes) >= Caches::get().streaming_from()
}

/// The same for one whose rows begin within lines.
pub(in super::super) fn is_far(from_bytes: usize, to_bytes: usize) -> bool {
    from_bytes.saturating_add(to_bytes) >= Caches::get().staging_from()
}

/// The level and the bytes of each cache that holds data, as the processor says.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn described() -> Vec<(u32, usize)> {
    // Intel and AMD describe their caches alike, one for each subleaf until one has no type.
    let caches = |leaf: u32| {
        let highest = cpuid(leaf & 0x8000_0000, 0).eax;
        let descriptions = (0..8).map(move |i| cpuid(leaf, i)).take_while(|cache| cache.eax & 0x1f != 0);
        // Type 2 holds instructions.
        let descriptions = descriptions.filter(|cache| cache.eax & 0x1f != 2);
        let size = |bits: u32, low: u32, count: u32| (bits >> low & ((1 << count) - 1)) as usize + 1;
        let bytes = descriptions.map(move |cache| {
            let (line, partitions, ways) = (size(cache.ebx, 0, 12), size(cache.ebx, 12, 10), size(cache.ebx, 22, 10));
            (cache.eax >> 5 & 7, line * partitions * ways * (cache.ecx as usize + 1))
        });
        (leaf <= highest).then_some(bytes).into_iter().flatten()
    };
    caches(4).chain(caches(0x8000_001d)).collect()
}

/// AMD's last level belongs to a complex of a few cores.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn last_is_near() -> bool {
    let name = cpuid(0, 0);
    let name = [name.ebx, name.edx, name.ecx].map(u32::to_le_bytes);
    matches!(name.as_flattened(), b"AuthenticAMD" | b"HygonGenuine")
}

/// What the processor says of itself.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unused_unsafe, reason = "the oldest toolchain that builds the library asks for the block, the newest does not")]
fn cpuid(leaf: u32, subleaf: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 has the instruction.
    unsafe { std::arch::x86_64::__cpuid_count(leaf, subleaf) }
}

/// The level and the bytes of each cache that holds data, as Linux says; nothing on other systems.
#[cfg(any(not(target_arch = "x86_64"), miri))]
fn described() -> Vec<(u32, usize)> {
    let cache = |number: usize| {
        let read = |what: &str| {
            std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{number}/{what}")).ok()
        };
        let (level, size) = (read("level")?.trim().parse().ok()?, read("size")?);
        let holds_data = read("type").is_none_or(|kind| kind.trim() != "Instruction");
        Some(holds_data.then_some((level, in_bytes(size.trim())?)))
    };
    // As a processor, a system that is asked too much says nothing: Miri has no files.
    if cfg!(miri) { Vec::new() } else { (0..8).map_while(cache).flatten().collect() }
}

/// `512K` as a number.
#[cfg(any(test, miri, not(target_arch = "x86_64")))]
fn in_bytes(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn last_is_near() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::{Caches, in_bytes, is_large};

    #[test]
    fn caches_have_likely_sizes() {
        let caches = Caches::get();
        assert!((8 << 10..1 << 20).contains(&caches.first), "{caches:?}");
        assert!(caches.first <= caches.second && caches.second <= caches.last, "{caches:?}");
        assert!((64 << 10..16 << 30).contains(&caches.streaming_from()), "{caches:?}");
    }

    #[test]
    fn what_does_not_fit_is_large() {
        let server = Caches::of(&[(1, 48 << 10), (2, 2 << 20), (3, 260 << 20)], false);
        assert_eq!((server.streaming_from(), server.staging_from()), (3 << 20, 26 << 20));
        let complex = Caches::of(&[(1, 48 << 10), (2, 1 << 20), (3, 32 << 20)], true);
        assert_eq!((complex.streaming_from(), complex.staging_from()), (16 << 20, 16 << 20));
        // Without a word from the machine, and without a second level.
        assert_eq!(Caches::of(&[], false).streaming_from(), 3 << 20);
        let one = Caches::of(&[(1, 4 << 20)], false);
        assert_eq!((one.streaming_from(), one.staging_from()), (6 << 20, 6 << 20));
        assert!(is_large(usize::MAX, usize::MAX) && !is_large(1000, 1000));
    }

    #[test]
    fn sizes_as_linux_writes_them() {
        let sizes = ["48K", "2M", "1G", "300", "", "K", "-1K"].map(in_bytes);
        assert_eq!(sizes, [Some(48 << 10), Some(2 << 20), Some(1 << 30), Some(300), None, None, None]);
    }
}
