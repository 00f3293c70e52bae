//! Descriptions of GPUs for XLA's compiler: `GpuTargetConfigProto` of `xla/stream_executor/device_description.proto`, as text.

use super::text_format::{Item, Reader, Scalar, float};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::gpu::Gpu;
use xla_shape_core::text::ParseError;

/// A description of a GPU, as XLA's compiler reads it to compile without that GPU (`GpuTargetConfigProto`, as text). A dump of a program
/// for a GPU has one: `…gpu_target_config.pbtxt`.
///
/// ```
/// use xla_shape_core::gpu::Gpu;
/// use xla_shape_hlo::proto::GpuConfig;
///
/// let config = GpuConfig::of(Gpu::H100Sxm);
/// assert_eq!(config.name(), Some("NVIDIA H100 80GB HBM3"));
/// assert_eq!(GpuConfig::parse(config.text())?, config);
/// assert_eq!(config.gpu(), Some(Gpu::H100Sxm));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GpuConfig {
    text: String,
    name: Option<String>,
    memory_bytes: Option<u64>,
    bytes_per_second: Option<u64>,
    /// The fields without which the compiler does not compile, or ends its process.
    missing: Vec<&'static str>,
}

/// The fields of `gpu_device_info` that are numbers and must not be 0. With a 0 in some of them, the compiler divides by 0. With a 0 in one of the
/// others, it chooses other fusions than for the device. Each was tried with jax 0.12.0.1.
const NEEDED: [&str; 15] = [
    "threads_per_block_limit",
    "threads_per_warp",
    "shared_memory_per_block",
    "shared_memory_per_block_optin",
    "shared_memory_per_core",
    "threads_per_core_limit",
    "core_count",
    "fpus_per_core",
    "block_dim_limit_x",
    "block_dim_limit_y",
    "block_dim_limit_z",
    "memory_bandwidth",
    "l2_cache_size",
    "clock_rate_ghz",
    "device_memory_size",
];

/// The other needed fields. The first is within `gpu_device_info`.
const CAPABILITY: &str = "cuda_compute_capability";
const DESCRIPTION: &str = "device_description_str";

impl GpuConfig {
    /// Reads a description. Fields that the compiler does not need are not checked.
    ///
    /// # Errors
    /// If the text breaks the rules of protobuf's text format.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut config = Self {
            text: text.to_string(),
            name: None,
            memory_bytes: None,
            bytes_per_second: None,
            missing: Vec::new(),
        };
        let mut found = [false; NEEDED.len()];
        let mut has_capability = false;
        let mut path = Vec::new();
        for item in Reader::new(text) {
            match item?.item {
                Item::Open(name) => path.push(name),
                Item::Close => drop(path.pop()),
                Item::Scalar(field, value) => match (path.as_slice(), value) {
                    ([], Scalar::Bytes(bytes)) if field == DESCRIPTION => {
                        let name = String::from_utf8_lossy(&bytes);
                        config.name =
                            Some(name.trim().to_string()).filter(|name| !name.is_empty() && !name.contains('\n'));
                    }
                    (["gpu_device_info"], Scalar::Word(word)) => {
                        // A field that is 0 counts as missing.
                        let number = float(word).filter(|number| *number > 0.0 && number.is_finite());
                        if let Some(seen) =
                            NEEDED.iter().zip(&mut found).find_map(|(name, seen)| (*name == field).then_some(seen))
                        {
                            *seen = number.is_some();
                        }
                        let place = match field {
                            "device_memory_size" => &mut config.memory_bytes,
                            "memory_bandwidth" => &mut config.bytes_per_second,
                            _ => continue,
                        };
                        *place = word.parse().ok().filter(|bytes| *bytes > 0);
                    }
                    (["gpu_device_info", CAPABILITY], Scalar::Word(word)) if field == "major" => {
                        has_capability = word.parse().is_ok_and(|major: u32| major > 0);
                    }
                    _ => {}
                },
            }
        }
        let numbers = NEEDED.iter().zip(found).filter(|(_, found)| !found).map(|(name, _)| *name);
        config.missing = numbers.collect();
        config.missing.extend((!has_capability).then_some(CAPABILITY));
        config.missing.extend(config.name.is_none().then_some(DESCRIPTION));
        Ok(config)
    }

    /// The description of a GPU that the core knows: what the compiler needs, and nothing else.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    /// use xla_shape_hlo::proto::GpuConfig;
    ///
    /// assert!(GpuConfig::of(Gpu::L4).text().contains("cuda_compute_capability { major: 8 minor: 9 }"));
    /// ```
    #[must_use]
    pub fn of(gpu: Gpu) -> Self {
        Self {
            text: Described(gpu).to_string(),
            name: Some(gpu.cuda_name().to_string()),
            memory_bytes: Some(gpu.memory_bytes()),
            bytes_per_second: Some(gpu.bytes_per_second()),
            missing: Vec::new(),
        }
    }

    /// The text, which the compiler reads.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of the device, such as `NVIDIA H100 80GB HBM3`; `None` if the description has none.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The bytes of the device's memory; `None` if the description does not state them.
    #[must_use]
    pub const fn memory_bytes(&self) -> Option<u64> {
        self.memory_bytes
    }

    /// The bandwidth of the device's memory in bytes per second; `None` if the description does not state it.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    /// use xla_shape_hlo::proto::GpuConfig;
    ///
    /// let config = GpuConfig::parse(GpuConfig::of(Gpu::L4).text())?;
    /// assert_eq!(config.bytes_per_second(), Some(Gpu::L4.bytes_per_second()));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn bytes_per_second(&self) -> Option<u64> {
        self.bytes_per_second
    }

    /// The GPU with the name of the description; `None` if the core does not know it.
    #[must_use]
    pub fn gpu(&self) -> Option<Gpu> {
        Gpu::from_name(self.name()?)
    }

    /// The fields without which the compiler ends its process or compiles for another device; empty if the description has all of them.
    ///
    /// ```
    /// use xla_shape_hlo::proto::GpuConfig;
    ///
    /// let config = GpuConfig::parse("gpu_device_info { cuda_compute_capability { major: 9 } } device_description_str: \"x\"")?;
    /// assert_eq!(config.missing()[..2], ["threads_per_block_limit", "threads_per_warp"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }
}

/// A GPU as a description.
struct Described(Gpu);

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gpu = self.0;
        let capability = gpu.capability();
        let (mhz, khz) = (gpu.clock_khz() / 1000, gpu.clock_khz() % 1000);
        writeln!(f, "gpu_device_info {{")?;
        for (field, value) in [
            ("threads_per_block_limit", 1024),
            ("threads_per_warp", 32),
            ("shared_memory_per_block", 48 << 10),
            ("shared_memory_per_block_optin", capability.shared_memory_per_block_bytes()),
            ("shared_memory_per_core", capability.shared_memory_bytes()),
            ("threads_per_core_limit", capability.threads()),
            ("core_count", gpu.multiprocessors()),
            ("fpus_per_core", capability.f32_units()),
            ("block_dim_limit_x", (1 << 31) - 1),
            ("block_dim_limit_y", (1 << 16) - 1),
            ("block_dim_limit_z", (1 << 16) - 1),
            ("memory_bandwidth", gpu.bytes_per_second()),
            ("l2_cache_size", gpu.l2_bytes()),
            ("device_memory_size", gpu.memory_bytes()),
            ("registers_per_core_limit", 1 << 16),
            ("registers_per_block_limit", 1 << 16),
        ] {
            writeln!(f, "  {field}: {value}")?;
        }
        writeln!(f, "  clock_rate_ghz: {}.{:03}{khz:03}", mhz / 1000, mhz % 1000)?;
        write!(f, "  {CAPABILITY} {{ major: {}", capability.major)?;
        if capability.minor > 0 {
            write!(f, " minor: {}", capability.minor)?;
        }
        if capability.is_specific() {
            f.write_str(" feature_extension: ACCELERATED_FEATURES")?;
        }
        writeln!(f, " }}\n}}\nplatform_name: \"CUDA\"\ndnn_version_info {{ major: 9 minor: 10 }}")?;
        writeln!(f, "{DESCRIPTION}: \"{}\"", gpu.cuda_name())
    }
}

#[cfg(test)]
mod tests {
    use super::{GpuConfig, NEEDED};
    use alloc::string::ToString;
    use xla_shape_core::gpu::Gpu;

    #[test]
    fn every_gpu_is_described_and_read_again() {
        for &gpu in Gpu::ALL {
            let config = GpuConfig::of(gpu);
            assert_eq!(GpuConfig::parse(config.text()).as_ref(), Ok(&config));
            assert_eq!((config.gpu(), config.memory_bytes()), (Some(gpu), Some(gpu.memory_bytes())));
        }
        assert!(GpuConfig::of(Gpu::P100).text().contains("clock_rate_ghz: 1.480500\n"));
    }

    #[test]
    fn what_the_compiler_needs_is_missed() {
        let whole = GpuConfig::of(Gpu::H100Sxm).text().to_string();
        for field in NEEDED {
            for other in ["  another:", "# "] {
                let without = whole.replace(&alloc::format!("  {field}:"), other);
                assert_eq!(GpuConfig::parse(&without).unwrap().missing(), [field]);
            }
            let zero = alloc::format!("{whole} gpu_device_info {{ {field}: 0 }}");
            assert_eq!(GpuConfig::parse(&zero).unwrap().missing(), [field]);
        }
        assert_eq!(GpuConfig::parse("").unwrap().missing().len(), NEEDED.len() + 2);
        assert!(GpuConfig::parse("gpu_device_info { x").is_err());
    }

    #[test]
    fn a_description_of_another_writer_is_read() {
        let text = "gpu_device_info {\n  core_count: 132\n  device_memory_size: 84942979072\n}\nplatform_name: \"CUDA\"\n\
                    device_description_str: \"NVIDIA H100 80GB HBM3\"\n";
        let config = GpuConfig::parse(text).unwrap();
        assert_eq!((config.name(), config.memory_bytes()), (Some("NVIDIA H100 80GB HBM3"), Some(84_942_979_072)));
        for text in ["", "device_description_str: \"\"", "device_memory_size: 3"] {
            assert_eq!(GpuConfig::parse(text).unwrap().name(), None, "{text}");
        }
    }
}
