//! NVIDIA's GPUs: their names, memory, speed, and what the compiler must know of them.
//!
//! ```
//! use xla_shape_core::gpu::Gpu;
//!
//! let gpu: Gpu = "nvidia-h100-80gb".parse()?;
//! assert_eq!(gpu.to_string(), "h100");
//! assert_eq!(gpu.capability().to_string(), "9.0");
//! assert_eq!(gpu.memory_bytes() >> 30, 79);
//! # Ok::<(), xla_shape_core::gpu::UnknownGpu>(())
//! ```
//!
//! The figures are public: those of XLA's own descriptions (`xla/backends/gpu/target_config/specs`), which were read from devices, and
//! otherwise what CUDA's `deviceQuery` prints and NVIDIA's data sheets say. CUDA reports a little less memory than the name says, and
//! drivers differ by some hundred MiB.

mod capability;
mod name;
mod order;
mod table;

pub use capability::Capability;
pub use name::UnknownGpu;
pub use order::{BUFFER_ALIGNMENT, Order};
pub use table::Gpu;

/// The part of a GPU's memory that a process of JAX takes when it starts, in percent, unless `XLA_PYTHON_CLIENT_MEM_FRACTION` sets another
/// (`xla/pjrt/plugin/xla_gpu/xla_gpu_allocator_config.h`).
pub const JAX_MEMORY_PERCENT: u64 = 75;

/// The largest part of a GPU's memory, in percent, that `XLA_PYTHON_CLIENT_MEM_FRACTION` should give a process of JAX. CUDA needs the rest for its
/// context and for the code of kernels.
pub const MOST_JAX_MEMORY_PERCENT: u64 = 95;

/// How fast a GPU is at most.
///
/// ```
/// use xla_shape_core::gpu::{Gpu, Speed};
///
/// let speed = Speed::from(Gpu::L4);
/// assert_eq!((speed.bytes_per_second, speed.gpu), (Gpu::L4.bytes_per_second(), Some(Gpu::L4)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Speed {
    /// The bytes per second between the GPU and its memory.
    pub bytes_per_second: u64,
    /// The GPU, whose operations per second are those of the table; `None` if it is not in the table.
    pub gpu: Option<Gpu>,
}

impl From<Gpu> for Speed {
    fn from(gpu: Gpu) -> Self {
        Self { bytes_per_second: gpu.bytes_per_second(), gpu: Some(gpu) }
    }
}

/// [`JAX_MEMORY_PERCENT`] of the bytes of a GPU's memory.
///
/// ```
/// assert_eq!(xla_shape_core::gpu::jax_memory_bytes(80 << 30), 60 << 30);
/// ```
#[must_use]
pub const fn jax_memory_bytes(memory_bytes: u64) -> u64 {
    percent_of(memory_bytes, JAX_MEMORY_PERCENT)
}

/// [`MOST_JAX_MEMORY_PERCENT`] of the bytes of a GPU's memory.
///
/// ```
/// assert_eq!(xla_shape_core::gpu::most_jax_memory_bytes(80 << 30), 76 << 30);
/// ```
#[must_use]
pub const fn most_jax_memory_bytes(memory_bytes: u64) -> u64 {
    percent_of(memory_bytes, MOST_JAX_MEMORY_PERCENT)
}

#[expect(clippy::arithmetic_side_effects, reason = "no more than the bytes, because `percent` is at most 100")]
const fn percent_of(bytes: u64, percent: u64) -> u64 {
    // In two steps, so that no product exceeds 64 bits.
    let (hundreds, rest) = (bytes / 100, bytes % 100);
    hundreds * percent + rest * percent / 100
}
