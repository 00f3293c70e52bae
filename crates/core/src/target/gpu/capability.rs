//! Compute capabilities: what all GPUs of one architecture have in common.

use crate::ElementType;
use core::fmt;

/// A compute capability, such as 9.0 of an H100: what all GPUs of one architecture have in common, for each streaming multiprocessor.
///
/// The numbers are those of the table "Technical Specifications per Compute Capability" in NVIDIA's CUDA C++ Programming Guide.
///
/// ```
/// use xla_shape_core::gpu::Gpu;
///
/// let capability = Gpu::L4.capability();
/// assert_eq!((capability.major, capability.minor), (8, 9));
/// assert_eq!(capability.shared_memory_bytes(), 100 << 10);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Capability {
    /// The number before the point.
    pub major: u32,
    /// The number after the point.
    pub minor: u32,
}

impl Capability {
    pub(super) const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The bytes of shared memory of a multiprocessor.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::H100Sxm.capability().shared_memory_bytes(), 228 << 10);
    /// ```
    #[must_use]
    pub const fn shared_memory_bytes(self) -> u64 {
        let kib = match (self.major, self.minor) {
            (6, 0) | (7, 5) => 64,
            (7, 0) => 96,
            (8, 0) => 164,
            (9 | 10, _) => 228,
            _ => 100,
        };
        kib << 10
    }

    /// The most bytes of shared memory that one block of threads may ask for.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::H100Sxm.capability().shared_memory_per_block_bytes(), 227 << 10);
    /// ```
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "every multiprocessor has more than 1 KiB")]
    pub const fn shared_memory_per_block_bytes(self) -> u64 {
        match (self.major, self.minor) {
            (6, 0) => 48 << 10,
            (7, _) => self.shared_memory_bytes(),
            // The system keeps 1 KiB for each block.
            _ => self.shared_memory_bytes() - (1 << 10),
        }
    }

    /// The most threads that are resident on a multiprocessor.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!([Gpu::H100Sxm, Gpu::L4, Gpu::T4].map(|gpu| gpu.capability().threads()), [2048, 1536, 1024]);
    /// ```
    #[must_use]
    pub const fn threads(self) -> u64 {
        match (self.major, self.minor) {
            (6, 0) | (7, 0) | (8, 0) | (9 | 10, _) => 2048,
            (7, 5) => 1024,
            _ => 1536,
        }
    }

    /// The number of units for `f32` of a multiprocessor: NVIDIA's "CUDA cores".
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!([Gpu::H100Sxm, Gpu::A100Sxm80].map(|gpu| gpu.capability().f32_units()), [128, 64]);
    /// ```
    #[must_use]
    pub const fn f32_units(self) -> u64 {
        match (self.major, self.minor) {
            (6 | 8, 0) | (7, _) => 64,
            _ => 128,
        }
    }

    /// The multiplications and additions that the matrix units of a multiprocessor do in a clock cycle at most, for dense matrices of this type;
    /// `f32` as TF32, if there are units for it. `None` if there are none, or the number is not known.
    ///
    /// The numbers are those that NVIDIA's papers about each architecture, from Volta to Blackwell, give for a GPU, divided by its number of
    /// multiprocessors and its clock.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::A100Sxm80.capability().matrix_operations(ElementType::Bf16), Some(2048));
    /// assert_eq!(Gpu::P100.capability().matrix_operations(ElementType::F16), None);
    /// ```
    #[must_use]
    pub const fn matrix_operations(self, element_type: ElementType) -> Option<u64> {
        let half = match (self.major, self.minor) {
            (7, _) | (8, 6..) | (12, _) => 1024,
            (8, _) => 2048,
            (9, _) => 4096,
            (10, _) => 8192,
            _ => return None,
        };
        match element_type {
            ElementType::F16 => Some(half),
            ElementType::Bf16 if self.major >= 8 => Some(half),
            ElementType::F32 if self.major >= 8 => Some(half >> 1),
            // A B300 (10.3) has far fewer units for integers.
            ElementType::S8 if self.major >= 8 && self.minor != 3 => Some(half << 1),
            ElementType::F64 if self.major == 8 && self.minor == 0 => Some(128),
            ElementType::F64 if self.major == 9 => Some(256),
            _ => None,
        }
    }

    /// Whether the architecture has instructions of its own, which a binary for it may use (`sm_90a`).
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert!(Gpu::H100Sxm.capability().is_specific() && !Gpu::L4.capability().is_specific());
    /// ```
    #[must_use]
    pub const fn is_specific(self) -> bool {
        self.major >= 9
    }

    /// The last major version of CUDA that compiles for it; `None` if CUDA 13 does.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!([Gpu::V100Sxm32, Gpu::T4].map(|gpu| gpu.capability().last_cuda()), [Some(12), None]);
    /// ```
    #[must_use]
    pub const fn last_cuda(self) -> Option<u32> {
        match (self.major, self.minor) {
            (0..=6, _) | (7, 0..=4) => Some(12),
            _ => None,
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
