//! The device that a program or a shape is for.

use std::fmt;
use std::str::FromStr;
use xla_shape_core::gpu::{Gpu, UnknownGpu, jax_memory_bytes};
use xla_shape_core::memory_space::{self, Platform};
use xla_shape_core::tpu::{Generation, UnknownGeneration};
use xla_shape_hlo::proto::GpuConfig;

/// The device into whose memory a program must fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Device {
    /// A generation of TPUs.
    Generation(Generation),
    /// A GPU.
    Gpu(Gpu),
    /// A GPU that the core's table lacks, with the bytes of its memory.
    OtherGpu(u64),
    /// A device of which a program may use this many bytes.
    Bytes(u64),
}

impl Device {
    /// The generation, if it is known.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_answers::hlo::Device;
    ///
    /// assert_eq!(Device::Generation(Generation::V5e).generation(), Some(Generation::V5e));
    /// assert_eq!(Device::Bytes(16 << 30).generation(), None);
    /// ```
    #[must_use]
    pub const fn generation(self) -> Option<Generation> {
        match self {
            Self::Generation(generation) => Some(generation),
            Self::Gpu(_) | Self::OtherGpu(_) | Self::Bytes(_) => None,
        }
    }

    /// The GPU, if the core's table has it.
    ///
    /// ```
    /// use xla_shape_answers::hlo::Device;
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!("h100".parse::<Device>()?.gpu(), Some(Gpu::H100Sxm));
    /// assert_eq!("v5e".parse::<Device>()?.gpu(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn gpu(self) -> Option<Gpu> {
        match self {
            Self::Gpu(gpu) => Some(gpu),
            Self::Generation(_) | Self::OtherGpu(_) | Self::Bytes(_) => None,
        }
    }

    /// The GPU in a description; `None` if the description does not say how much memory it has.
    ///
    /// ```
    /// use xla_shape_answers::hlo::Device;
    /// use xla_shape_core::gpu::Gpu;
    /// use xla_shape_hlo::proto::GpuConfig;
    ///
    /// assert_eq!(Device::described(&GpuConfig::of(Gpu::L4)), Some(Device::Gpu(Gpu::L4)));
    /// let other = GpuConfig::parse("gpu_device_info { device_memory_size: 8589934592 }")?;
    /// assert_eq!(Device::described(&other), Some(Device::OtherGpu(8 << 30)));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn described(config: &GpuConfig) -> Option<Self> {
        let bytes = config.memory_bytes()?;
        // Drivers and virtual machines leave different amounts of memory, so use the description instead of the table.
        Some(config.gpu().filter(|gpu| gpu.memory_bytes() == bytes).map_or(Self::OtherGpu(bytes), Self::Gpu))
    }

    /// The bytes of the whole memory of a GPU; `None` for other devices. When JAX starts, it takes a part of them.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    /// use xla_shape_answers::hlo::Device;
    ///
    /// assert_eq!(Device::Gpu(Gpu::L4).whole_gpu(), Some(Gpu::L4.memory_bytes()));
    /// assert_eq!(Device::Bytes(16 << 30).whole_gpu(), None);
    /// ```
    #[must_use]
    pub fn whole_gpu(self) -> Option<u64> {
        match self {
            Self::Gpu(gpu) => Some(gpu.memory_bytes()),
            Self::OtherGpu(bytes) => Some(bytes),
            Self::Generation(_) | Self::Bytes(_) => None,
        }
    }

    /// Its name, as `--for` takes it; `None` for a GPU that the core's table lacks and for a number of bytes.
    ///
    /// ```
    /// use xla_shape_answers::hlo::Device;
    ///
    /// assert_eq!("TPU v5 lite".parse::<Device>()?.name(), Some("v5e"));
    /// assert_eq!(Device::Bytes(16 << 30).name(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Generation(generation) => Some(generation.name()),
            Self::Gpu(gpu) => Some(gpu.name()),
            Self::OtherGpu(_) | Self::Bytes(_) => None,
        }
    }

    /// Whether it is a TPU or a GPU.
    ///
    /// ```
    /// use xla_shape_answers::hlo::Device;
    /// use xla_shape_core::memory_space::Platform;
    ///
    /// assert_eq!("h100".parse::<Device>()?.platform(), Platform::Gpu);
    /// assert_eq!(Device::Bytes(16 << 30).platform(), Platform::Other);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn platform(self) -> Platform {
        match self {
            Self::Generation(_) => Platform::Tpu,
            Self::Gpu(_) | Self::OtherGpu(_) => Platform::Gpu,
            Self::Bytes(_) => Platform::Other,
        }
    }

    /// The bytes of a memory space that a program may use; `None` if that is not known.
    pub(crate) fn capacity(self, space: u8) -> Option<u64> {
        match (self, space) {
            (Self::Bytes(bytes), memory_space::DEFAULT) => Some(bytes),
            (Self::Gpu(_) | Self::OtherGpu(_), memory_space::DEFAULT) => self.whole_gpu().map(jax_memory_bytes),
            (Self::Generation(generation), memory_space::DEFAULT) => {
                Some(generation.usable_hbm_bytes().unwrap_or(generation.hbm_bytes()))
            }
            (Self::Generation(generation), memory_space::GENERIC_FAST) => Some(generation.vmem_bytes()),
            _ => None,
        }
    }
}

/// The error for a name that is neither a generation of TPUs nor a GPU.
///
/// ```
/// use xla_shape_answers::hlo::Device;
///
/// let error = "a100".parse::<Device>().unwrap_err();
/// assert!(error.to_string().contains("did you mean `a100-40`, "));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownDevice {
    generation: UnknownGeneration,
    gpu: UnknownGpu,
}

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Show the names of GPUs or those of generations, whichever has a name similar to the given one.
        match (self.gpu.meant().next(), self.generation.meant().next()) {
            (Some(_), _) => self.gpu.fmt(f),
            (None, Some(_)) => self.generation.fmt(f),
            (None, None) => write!(f, "{}; GPUs such as `{}` are read, too", self.generation, Gpu::H100Sxm),
        }
    }
}

impl std::error::Error for UnknownDevice {}

impl FromStr for Device {
    type Err = UnknownDevice;

    /// Reads the name of a generation of TPUs or of a GPU.
    ///
    /// # Errors
    /// If it is neither.
    fn from_str(name: &str) -> Result<Self, UnknownDevice> {
        name.parse()
            .map(Self::Generation)
            .or_else(|generation| name.parse().map(Self::Gpu).map_err(|gpu| UnknownDevice { generation, gpu }))
    }
}
