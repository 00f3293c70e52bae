//! The names of GPUs: those that are printed, and those that CUDA, JAX, GKE and Slurm use.

use super::Gpu;
use crate::target::unknown::write_unknown;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// Words before the name of a GPU, in any number. Slurm writes `gpu:h100`. `tesla` does not belong here: GKE's `nvidia-tesla-a100` is one of two
/// kinds of A100.
const MAKERS: &[&str] = &["nvidia", "geforce", "gpu"];

impl Gpu {
    /// The GPU with this name; `None` if there is none, or several have it: an `a100` has 40 or 80 GB.
    ///
    /// Accepts the names of CUDA and JAX (`NVIDIA H100 80GB HBM3`), of GKE (`nvidia-h100-80gb`, `nvidia-tesla-a100`) and of Slurm
    /// (`nvidia_a100_80gb_pcie`, `gpu:h100`), in upper or lower case.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// for name in ["h100", "H100", "nvidia-h100-80gb", "NVIDIA H100 80GB HBM3", "nvidia_h100_80gb_hbm3", "gpu:h100"] {
    ///     assert_eq!(Gpu::from_name(name), Some(Gpu::H100Sxm));
    /// }
    /// assert_eq!(Gpu::from_name("nvidia-tesla-a100"), Some(Gpu::A100Sxm40));
    /// assert_eq!(Gpu::from_name("a100"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|gpu| gpu.stems().iter().any(|stem| letters(name).eq(stem.bytes())))
    }
}

/// The letters of a name in lower case, without separators and the words before it.
fn letters(name: &str) -> impl Iterator<Item = u8> + Clone {
    let mut rest = name;
    while let Some(after) = MAKERS.iter().find_map(|word| after_word(rest, word)) {
        rest = after;
    }
    let is_separator = |byte: &u8| matches!(byte, b' ' | b'-' | b'_' | b':');
    rest.bytes().filter(move |byte| !is_separator(byte)).map(|byte| byte.to_ascii_lowercase())
}

/// The rest of `text` if it begins with a word and a separator.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(())?;
    let after = rest.trim_start_matches([' ', '-', '_', ':']);
    (after.len() < rest.len()).then_some(after)
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Gpu {
    type Err = UnknownGpu;

    /// # Errors
    /// If it is not the name of one GPU.
    fn from_str(name: &str) -> Result<Self, UnknownGpu> {
        Self::from_name(name).ok_or_else(|| UnknownGpu { name: name.into() })
    }
}

/// The error for a name that no GPU has, or several.
///
/// ```
/// use xla_shape_core::gpu::Gpu;
///
/// let error = "v100".parse::<Gpu>().unwrap_err();
/// assert!(error.to_string().ends_with("found `v100`; did you mean `v100-16` or `v100-32`?"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct UnknownGpu {
    /// The name.
    pub name: String,
}

impl UnknownGpu {
    /// The GPUs whose names begin with this one: those that may be meant.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// let error = "v100".parse::<Gpu>().unwrap_err();
    /// assert_eq!(error.meant().collect::<Vec<_>>(), [Gpu::V100Sxm16, Gpu::V100Sxm32]);
    /// ```
    pub fn meant(&self) -> impl Iterator<Item = Gpu> + '_ {
        let begins = move |gpu: &Gpu| {
            let mut rest = letters(gpu.name());
            letters(&self.name).count() > 1 && letters(&self.name).all(|letter| rest.next() == Some(letter))
        };
        Gpu::ALL.iter().copied().filter(begins)
    }
}

impl fmt::Display for UnknownGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_unknown(f, "a GPU", Gpu::ALL, &self.name, self.meant())
    }
}

impl core::error::Error for UnknownGpu {}

#[cfg(test)]
mod tests {
    use super::Gpu;
    use alloc::string::ToString;

    #[test]
    fn every_name_is_read_and_means_one_gpu() {
        for &gpu in Gpu::ALL {
            assert_eq!(gpu.name().parse(), Ok(gpu));
            assert_eq!(gpu.cuda_name().parse(), Ok(gpu), "{}", gpu.cuda_name());
            for stem in gpu.stems() {
                assert_eq!(Gpu::from_name(stem), Some(gpu), "{stem}");
            }
        }
    }

    /// Names of GKE's node label `cloud.google.com/gke-accelerator`, of Slurm (`gres.conf` with `AutoDetect=nvml`), and of CUDA.
    #[test]
    fn names_of_gke_slurm_and_cuda_are_read() {
        use Gpu::{
            A100Pcie40, A100Pcie80, A100Sxm40, A100Sxm80, B200, H100Sxm, H200, L4, P100, RtxPro6000, T4, V100Sxm16,
        };
        for (gpu, names) in [
            (
                H100Sxm,
                &["nvidia-h100-80gb", "nvidia-h100-mega-80gb", "nvidia_h100_80gb_hbm3", "gpu:h100", "H100-SXM5"][..],
            ),
            (H200, &["nvidia-h200-141gb", "NVIDIA H200", "nvidia_h200"]),
            (B200, &["nvidia-b200", "NVIDIA B200"]),
            (A100Sxm40, &["nvidia-tesla-a100", "NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb", "A100-40GB"]),
            (A100Sxm80, &["nvidia-a100-80gb", "NVIDIA A100-SXM4-80GB", "nvidia_a100-sxm4-80gb", "a100_80gb"]),
            (A100Pcie40, &["NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"]),
            (A100Pcie80, &["NVIDIA A100 80GB PCIe", "nvidia_a100_80gb_pcie"]),
            (L4, &["nvidia-l4", "NVIDIA L4"]),
            (T4, &["nvidia-tesla-t4", "Tesla T4", "tesla_t4"]),
            (V100Sxm16, &["nvidia-tesla-v100", "Tesla V100-SXM2-16GB"]),
            (P100, &["nvidia-tesla-p100"]),
            (RtxPro6000, &["nvidia-rtx-pro-6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition"]),
        ] {
            for name in names {
                assert_eq!(name.parse(), Ok(gpu), "{name}");
            }
        }
        for name in ["", "nvidia", "nvidia-", "a100", "tesla", "h100x", "v5e", "h1\u{e9}0", "nvidia_a100_3g.20gb"] {
            assert_eq!(Gpu::from_name(name), None, "{name}");
        }
        let found =
            |name: &str| name.parse::<Gpu>().unwrap_err().to_string().split_once("; found ").unwrap().1.to_string();
        assert_eq!(found("A100"), "`A100`; did you mean `a100-40`, `a100-80`, `a100-40-pcie` or `a100-80-pcie`?");
        assert_eq!((found("x\n"), found("")), ("`x\\n`".to_string(), "``".to_string()));
    }
}
