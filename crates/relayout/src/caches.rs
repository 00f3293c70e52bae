//! The sizes of the caches, and the sizes of arrays from which non-temporal stores are faster.

use std::sync::OnceLock;

/// Non-temporal stores are used where source and destination together take at least this many halves of the L2 cache: where both fit in
/// it, ordinary stores are faster. **I**: a copy with non-temporal stores is faster from 1.5 MiB on each side.
const STREAMING_L2_HALVES: usize = 3;

/// Where the last-level cache belongs to a few cores, non-temporal stores are used if source and destination together take at least this
/// many eighths of it. **M**: from 12 MiB on, they make copies up to twice as fast; below 9 MiB, copies take up to twice as long with them.
const STREAMING_LOCAL_LLC_EIGHTHS: usize = 3;

/// Transposes that need a staging buffer use non-temporal stores only if source and destination together take at least the size of the
/// last-level cache divided by this: about the share of a few cores. **I**: for smaller arrays, ordinary stores are up to 1.5 times as
/// fast.
const STAGING_LLC_PART: usize = 10;

/// The bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// How many lines of one set stay in an L1 cache together: the ways of the smallest caches.
pub(crate) const L1_WAYS: usize = 8;

/// Lines at a multiple of this distance, in bytes, share one set of an L1 cache of 64 sets.
pub(crate) const L1_SET_PERIOD: usize = 64 * LINE;

/// How many lines at this distance, in bytes, stay in the L1 cache together: where the distance is a multiple of a large power of two, all lines share
/// few sets.
pub(crate) fn resident_lines(stride: usize) -> usize {
    (L1_WAYS * L1_SET_PERIOD) >> stride.trailing_zeros().clamp(LINE.ilog2(), L1_SET_PERIOD.ilog2())
}

/// The caches for which a plan is made: [`Stores::Auto`](crate::Stores::Auto) and the choice of kernels depend on them.
///
/// ```
/// use xla_shape_relayout::{Caches, Options};
///
/// // A virtual machine says that it has the whole last level of its host, but shares it with others.
/// let caches = Caches { last_level: 32 << 20, ..Caches::get() };
/// let options = Options::new().caches(caches);
/// # let _ = options;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Caches {
    /// The bytes of a core's L2 cache.
    pub l2: usize,
    /// The bytes of the last-level cache, the largest.
    pub last_level: usize,
    /// Whether the last level belongs to a few cores, as on AMD's processors: then ordinary stores are faster than non-temporal ones as long as
    /// it has room.
    pub last_level_is_local: bool,
}

/// Assumed where the machine does not describe its caches.
const UNKNOWN: Caches = Caches { l2: 2 << 20, last_level: 32 << 20, last_level_is_local: false };

impl Caches {
    /// The caches of this machine, as its processor or its operating system describes them.
    ///
    /// ```
    /// use xla_shape_relayout::Caches;
    ///
    /// let caches = Caches::get();
    /// assert!(caches.l2 <= caches.last_level);
    /// ```
    #[must_use]
    pub fn get() -> Self {
        static CACHES: OnceLock<Caches> = OnceLock::new();
        *CACHES.get_or_init(|| Self::from_descriptions(&descriptions(), last_level_is_local()))
    }

    /// From the level and size of each data cache.
    fn from_descriptions(caches: &[(u32, usize)], last_level_is_local: bool) -> Self {
        let level = |level| caches.iter().filter(|(of, _)| *of == level).map(|(_, bytes)| *bytes).max();
        let l2 = level(2).unwrap_or(UNKNOWN.l2).max(level(1).unwrap_or(0));
        let last_level = caches.iter().map(|(_, bytes)| *bytes).max().unwrap_or(UNKNOWN.last_level).max(l2);
        Self { l2, last_level, last_level_is_local }
    }

    /// The number of bytes, of source and destination together, from which non-temporal stores are faster.
    ///
    /// If both fit in the L2 cache, ordinary stores are fastest. A last-level cache that many cores share over a network is hardly faster
    /// than memory. If it belongs to a few cores, ordinary stores are faster up to three eighths of its size.
    pub(crate) fn streaming_from(self) -> usize {
        if self.last_level_is_local {
            self.last_level / 8 * STREAMING_LOCAL_LLC_EIGHTHS
        } else {
            (self.l2 / 2).saturating_mul(STREAMING_L2_HALVES)
        }
    }

    /// The number of bytes from which non-temporal stores are faster for transposes whose columns begin within cache lines, which need a
    /// staging buffer for such stores. Below a tenth of the last-level cache, about the share of a few cores, ordinary stores are up to 1.5
    /// times as fast.
    pub(crate) fn staging_from(self) -> usize {
        self.streaming_from().max(self.last_level / STAGING_LLC_PART)
    }
}

/// The level and the bytes of each data cache, as `cpuid` describes them.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn descriptions() -> Vec<(u32, usize)> {
    // Intel (leaf 4) and AMD (leaf 8000_001D) use one format: a subleaf for each cache, the last followed by one of type 0.
    let caches = |leaf: u32| {
        let highest = cpuid(leaf & 0x8000_0000, 0).eax;
        let descriptions = (0..8).map(move |i| cpuid(leaf, i)).take_while(|cache| cache.eax & 0x1f != 0);
        // Type 2 is an instruction cache.
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

/// On AMD, the last level belongs to a complex of a few cores.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn last_level_is_local() -> bool {
    let name = cpuid(0, 0);
    let name = [name.ebx, name.edx, name.ecx].map(u32::to_le_bytes);
    matches!(name.as_flattened(), b"AuthenticAMD" | b"HygonGenuine")
}

/// One leaf of the processor's description.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn cpuid(leaf: u32, subleaf: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 has the instruction `cpuid`; it accepts leaves that do not exist. Newer compilers have it as a safe function.
    unsafe { (std::arch::x86_64::__cpuid_count as unsafe fn(u32, u32) -> _)(leaf, subleaf) }
}

/// The level and the bytes of each data cache, as Linux describes them; empty on other systems.
#[cfg(any(not(target_arch = "x86_64"), miri))]
fn descriptions() -> Vec<(u32, usize)> {
    let cache = |number: usize| {
        let read = |what: &str| {
            std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{number}/{what}")).ok()
        };
        let (level, size) = (read("level")?.trim().parse().ok()?, read("size")?);
        let holds_data = read("type").is_none_or(|kind| kind.trim() != "Instruction");
        Some(holds_data.then_some((level, in_bytes(size.trim())?)))
    };
    // Miri has no files.
    if cfg!(miri) { Vec::new() } else { (0..8).map_while(cache).flatten().collect() }
}

/// Parses sizes such as `512K`.
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
fn last_level_is_local() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::{Caches, in_bytes};

    #[test]
    fn caches_have_likely_sizes() {
        let caches = Caches::get();
        assert!(caches.l2 <= caches.last_level, "{caches:?}");
        assert!((64 << 10..16 << 30).contains(&caches.streaming_from()), "{caches:?}");
    }

    #[test]
    fn what_does_not_fit_is_large() {
        let server = Caches::from_descriptions(&[(1, 48 << 10), (2, 2 << 20), (3, 260 << 20)], false);
        assert_eq!((server.streaming_from(), server.staging_from()), (3 << 20, 26 << 20));
        let complex = Caches::from_descriptions(&[(1, 48 << 10), (2, 1 << 20), (3, 32 << 20)], true);
        assert_eq!((complex.streaming_from(), complex.staging_from()), (12 << 20, 12 << 20));
        // First, no cache is described; then, only an L1 cache.
        assert_eq!(Caches::from_descriptions(&[], false).streaming_from(), 3 << 20);
        let one = Caches::from_descriptions(&[(1, 4 << 20)], false);
        assert_eq!((one.streaming_from(), one.staging_from()), (6 << 20, 6 << 20));
        // Any numbers are accepted.
        let most = Caches { l2: usize::MAX, last_level: usize::MAX, last_level_is_local: false };
        assert_eq!((most.streaming_from(), most.staging_from()), (usize::MAX, usize::MAX));
    }

    #[test]
    fn sizes_as_linux_writes_them() {
        let sizes = ["48K", "2M", "1G", "300", "", "K", "-1K"].map(in_bytes);
        assert_eq!(sizes, [Some(48 << 10), Some(2 << 20), Some(1 << 30), Some(300), None, None, None]);
    }
}
