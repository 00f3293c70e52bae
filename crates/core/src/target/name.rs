//! The names of targets: those that are printed, and those that JAX, the compiler and Google Cloud use.

use super::generation::Generation;
use super::unknown::write_unknown;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

impl Generation {
    /// The generation with this name; `None` if there is none.
    ///
    /// Accepts the names that JAX (`device_kind`: `TPU v5 lite`), the compiler's topologies (`v5e`), Cloud TPU
    /// (`v5litepod-4`, `V5LITE_POD`) and GKE (`tpu-v5-lite-podslice`, `ct5lp-hightpu-4t`) use, in upper or lower case.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// for name in ["v5e", "V5E", "TPU v5 lite", "v5litepod-4", "tpu-v5-lite-podslice", "ct5lp-hightpu-4t"] {
    ///     assert_eq!(Generation::from_name(name), Some(Generation::V5e));
    /// }
    /// assert_eq!(Generation::from_name("TPU v5"), Some(Generation::V5p));
    /// ```
    #[must_use]
    pub const fn from_name(name: &str) -> Option<Self> {
        match Self::split_name(name) {
            Some((generation, _)) => Some(generation),
            None => None,
        }
    }

    /// The generation with this name, and the rest of the name, which is the size of the slice: `4` of `v5litepod-4`,
    /// `2x2` of `v5e:2x2`, `hightpu-4t` of `ct5lp-hightpu-4t`; empty if there is none.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::split_name("v5litepod-4"), Some((Generation::V5e, "4")));
    /// assert_eq!(Generation::split_name("TPU v4"), Some((Generation::V4, "")));
    /// ```
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
    pub const fn split_name(name: &str) -> Option<(Self, &str)> {
        let mut i = 0_usize;
        while i < Self::ALL.len() {
            let generation = Self::ALL[i];
            let stems = generation.row().stems;
            let mut stem = 0_usize;
            while stem < stems.len() {
                if let Some(size) = size_after(name, stems[stem]) {
                    return Some((generation, size));
                }
                stem += 1;
            }
            i += 1;
        }
        None
    }
}

/// Words between a generation and a size: `v5litepod`, `tpu-v4-podslice`, `tpu-v6e-slice`, `tpu-v4-device`.
const KINDS: &[&str] = &["podslice", "pod", "slice", "device"];

/// Machine types of Compute Engine, before the number of chips: `ct5lp-hightpu-4t`.
const MACHINES: &[&str] = &["hightpu", "standard", "ultranet"];

/// The size at the end of `name`, empty if there is none; `None` if `name` does not begin with `stem`, a name of a
/// generation.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn size_after<'a>(name: &'a str, stem: &str) -> Option<&'a str> {
    let bytes = name.as_bytes();
    let start = match word(bytes, 0, "tpu") {
        Some(end) => separators(bytes, end),
        None => 0,
    };
    let Some(mut end) = word(bytes, start, stem) else { return None };
    let mut i = 0_usize;
    while i < KINDS.len() {
        if let Some(next) = word(bytes, separators(bytes, end), KINDS[i]) {
            end = next;
            break;
        }
        i += 1;
    }
    if end == bytes.len() {
        return Some("");
    }
    let size = separators(bytes, end);
    if size == end || !is_size(bytes, size) {
        return None;
    }
    Some(name.split_at(size).1)
}

/// The end of the word that begins at `start`, with separators allowed between its letters; `None` if another text is
/// there.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn word(text: &[u8], start: usize, word: &str) -> Option<usize> {
    let word = word.as_bytes();
    let (mut at, mut i) = (start, 0_usize);
    while i < word.len() {
        if i > 0 {
            at = separators(text, at);
        }
        if at >= text.len() || text[at].to_ascii_lowercase() != word[i] {
            return None;
        }
        (at, i) = (at + 1, i + 1);
    }
    Some(at)
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn separators(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && matches!(text[at], b' ' | b'-' | b'_' | b':') {
        at += 1;
    }
    at
}

/// Whether the text from `at` to the end is a size: numbers with `x` between them, or a machine type.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn is_size(text: &[u8], mut at: usize) -> bool {
    let mut machine = false;
    let mut i = 0_usize;
    while i < MACHINES.len() {
        if let Some(end) = word(text, at, MACHINES[i]) {
            at = separators(text, end);
            machine = true;
            break;
        }
        i += 1;
    }
    let mut digits = 0_usize;
    while at < text.len() {
        match text[at] {
            b'0'..=b'9' => digits += 1,
            b'x' if digits > 0 && !machine => digits = 0,
            b't' if digits > 0 && machine => return at + 1 == text.len(),
            _ => return false,
        }
        at += 1;
    }
    digits > 0 && !machine
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Generation {
    type Err = UnknownGeneration;

    /// # Errors
    /// If it is not the name of a generation.
    fn from_str(name: &str) -> Result<Self, UnknownGeneration> {
        Self::from_name(name).ok_or_else(|| UnknownGeneration { name: name.into() })
    }
}

/// The error for a name that is not a generation of TPUs.
///
/// ```
/// use xla_shape_core::tpu::Generation;
///
/// let error = "v99".parse::<Generation>().unwrap_err();
/// assert_eq!(error.name, "v99");
/// assert!(error.to_string().ends_with("found `v99`"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct UnknownGeneration {
    /// The name.
    pub name: String,
}

impl UnknownGeneration {
    /// The generations whose names begin with this one: those that may be meant.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let error = "v8".parse::<Generation>().unwrap_err();
    /// assert_eq!(error.meant().collect::<Vec<_>>(), [Generation::V8i, Generation::V8t]);
    /// ```
    pub fn meant(&self) -> impl Iterator<Item = Generation> + '_ {
        let is_meant = |generation: &Generation| self.name.len() > 1 && generation.name().starts_with(&*self.name);
        Generation::ALL.iter().copied().filter(is_meant)
    }
}

impl fmt::Display for UnknownGeneration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_unknown(f, "a generation of TPUs", Generation::ALL, &self.name, self.meant())
    }
}

impl core::error::Error for UnknownGeneration {}

#[cfg(test)]
mod tests {
    use super::Generation;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn every_name_is_read_and_one_is_printed() {
        for &generation in Generation::ALL {
            assert_eq!(generation.name().parse(), Ok(generation));
            assert_eq!(generation.topology_name().parse(), Ok(generation));
            assert_eq!(generation.to_string(), generation.name());
        }
        assert_eq!("tpu7x".parse::<Generation>().unwrap().to_string(), "v7x");
        let error = "v5q\n".parse::<Generation>().unwrap_err().to_string();
        let names = Generation::ALL.iter().map(|generation| generation.name()).collect::<Vec<_>>().join(", ");
        assert_eq!(error, alloc::format!("expected a generation of TPUs: {names}; found `v5q\\n`"));
        let suggestion = |name: &str| {
            name.parse::<Generation>().unwrap_err().to_string().split_once("`; ").map(|(_, end)| end.to_string())
        };
        assert_eq!(suggestion("v6"), Some("did you mean `v6e`?".into()));
        assert_eq!(suggestion("v8"), Some("did you mean `v8i` or `v8t`?".into()));
        assert_eq!((suggestion("v"), suggestion("")), (None, None));
    }

    /// Names of JAX 0.12 (`jax/_src/tpu_info.py`, `jax/experimental/topologies.py`), libtpu 0.0.52, Cloud TPU
    /// (`google.cloud.tpu_v2.types.AcceleratorConfig`, accelerator types) and GKE (labels and machine types).
    #[test]
    fn names_of_jax_and_google_cloud_are_read() {
        use Generation::{V2, V3, V4, V5e, V5p, V6e, V7x, V8i, V8t};
        let names: &[(Generation, &[&str])] = &[
            (V2, &["TPU v2", "v2-8", "v2-512", "V2", "tpu-v2-8"]),
            (V3, &["TPU v3", "v3-8", "V3", "tpu-v3-device", "tpu-v3-slice", "ct3-hightpu-4t", "ct3p-hightpu-4t"]),
            (V4, &["TPU v4", "v4-8", "v4-4096", "tpu-v4-podslice", "tpu-v4-device", "ct4p-hightpu-4t", "v4:2x2x1"]),
            (
                V5e,
                &[
                    "TPU v5 lite",
                    "TPU v5e",
                    "V5E",
                    "v5litepod-4",
                    "v5litepod",
                    "V5LITE_POD",
                    "v5e-8",
                    "tpu-v5-lite-podslice",
                ],
            ),
            (
                V5e,
                &[
                    "tpu-v5-lite-device",
                    "ct5lp-hightpu-1t",
                    "ct5lp-hightpu-8t",
                    "ct5l-hightpu-1t",
                    "ct5lp",
                    "v5e:2x2",
                    "TPU v5 Lite",
                ],
            ),
            (V5p, &["TPU v5", "TPU v5p", "v5p-8", "V5P", "tpu-v5p-slice", "ct5p-hightpu-4t", "v5p:2x2x1"]),
            (
                V6e,
                &[
                    "TPU v6 lite",
                    "TPU v6e",
                    "v6e-8",
                    "V6E",
                    "tpu-v6e-slice",
                    "ct6e-standard-4t",
                    "tpu-v6e-16",
                    "Trillium",
                ],
            ),
            (
                V7x,
                &[
                    "TPU7x",
                    "TPU v7x",
                    "tpu7x",
                    "tpu7x-8",
                    "tpu7x-2x2x1",
                    "tpu7x-standard-4t",
                    "tpu7x-ultranet-4t",
                    "Ironwood",
                ],
            ),
            (V8i, &["TPU8i", "tpu8i", "v8i"]),
            (V8t, &["TPU8t", "tpu8t", "v8t"]),
        ];
        for &(generation, names) in names {
            for name in names {
                assert_eq!(name.parse(), Ok(generation), "{name}");
            }
        }
        assert_eq!(Generation::split_name("v5litepod-16"), Some((V5e, "16")));
        assert_eq!(Generation::split_name("tpu7x-2x2x1"), Some((V7x, "2x2x1")));
        assert_eq!(Generation::split_name("ct5lp-hightpu-4t"), Some((V5e, "hightpu-4t")));
        let other =
            ["", "tpu", "v", "v5ee", "v58", "v5e4", "v5e-", "v5e-x2", "v5e-2x", "TPU v4 lite", "v6", "v7", "v5e-4t"];
        for name in other.into_iter().chain([
            "ct5lp-hightpu-",
            "ct5lp-hightpu-4",
            "ct5lp-hightpu-4tt",
            "-v5e",
            "v5\u{e9}",
            "A100",
            "tpuv5e\u{202e}",
        ]) {
            assert_eq!(Generation::from_name(name), None, "{name}");
        }
    }
}
