//! A row for each GPU.

use super::{Capability, jax_memory_bytes};
use crate::ElementType;
use crate::target::table::Row;

/// Gives all rows to a macro, as [`targets!`](crate::targets) does for TPUs: `Variant "description" { cells }`.
macro_rules! rows {
    ($callback:ident) => {
        $callback! {
            P100 "NVIDIA P100 SXM2, 16 GB." {
                name: "p100", compiler_name: "Tesla P100-SXM2-16GB",
                stems: &["p100", "teslap100", "p10016gb", "p100sxm216gb", "teslap100sxm216gb"],
                memory: 17_066_885_120,
                kind: Kind { bandwidth: 732_160_000_000, multiprocessors: 56, clock_khz: 1_480_500, l2: 4 << 20, capability: Capability::new(6, 0) },
            }
            V100Sxm16 "NVIDIA V100 SXM2, 16 GB." {
                name: "v100-16", compiler_name: "Tesla V100-SXM2-16GB",
                stems: &["v10016", "v10016gb", "teslav100", "v100sxm216gb", "teslav100sxm216gb"],
                memory: 16_935_682_048,
                kind: Kind { bandwidth: 898_048_000_000, multiprocessors: 80, clock_khz: 1_530_000, l2: 6 << 20, capability: Capability::new(7, 0) },
            }
            V100Sxm32 "NVIDIA V100 SXM2, 32 GB." {
                name: "v100-32", compiler_name: "Tesla V100-SXM2-32GB",
                stems: &["v10032", "v10032gb", "v100sxm232gb", "teslav100sxm232gb"],
                memory: 34_089_730_048,
                kind: Kind { bandwidth: 898_048_000_000, multiprocessors: 80, clock_khz: 1_530_000, l2: 6 << 20, capability: Capability::new(7, 0) },
            }
            T4 "NVIDIA T4." {
                name: "t4", compiler_name: "Tesla T4",
                stems: &["t4", "teslat4"],
                memory: 15_642_329_088,
                kind: Kind { bandwidth: 320_064_000_000, multiprocessors: 40, clock_khz: 1_590_000, l2: 4 << 20, capability: Capability::new(7, 5) },
            }
            A100Sxm40 "NVIDIA A100 SXM4, 40 GB." {
                name: "a100-40", compiler_name: "NVIDIA A100-SXM4-40GB",
                stems: &["a10040", "a10040gb", "teslaa100", "a100sxm40", "a100sxm40gb", "a100sxm440gb"],
                memory: 42_298_834_944,
                kind: Kind { bandwidth: 1_555_200_000_000, multiprocessors: 108, clock_khz: 1_410_000, l2: 40 << 20, capability: Capability::new(8, 0) },
            }
            A100Sxm80 "NVIDIA A100 SXM4, 80 GB." {
                name: "a100-80", compiler_name: "NVIDIA A100-SXM4-80GB",
                stems: &["a10080", "a10080gb", "a100sxm80", "a100sxm80gb", "a100sxm480gb"],
                memory: 85_100_068_864,
                kind: Kind { bandwidth: 2_039_040_000_000, multiprocessors: 108, clock_khz: 1_410_000, l2: 40 << 20, capability: Capability::new(8, 0) },
            }
            A100Pcie40 "NVIDIA A100 PCIe, 40 GB." {
                name: "a100-40-pcie", compiler_name: "NVIDIA A100-PCIE-40GB",
                stems: &["a10040pcie", "a10040gbpcie", "a100pcie40", "a100pcie40gb"],
                memory: 42_298_834_944,
                kind: Kind { bandwidth: 1_555_200_000_000, multiprocessors: 108, clock_khz: 1_410_000, l2: 40 << 20, capability: Capability::new(8, 0) },
            }
            A100Pcie80 "NVIDIA A100 PCIe, 80 GB." {
                name: "a100-80-pcie", compiler_name: "NVIDIA A100 80GB PCIe",
                stems: &["a10080pcie", "a10080gbpcie", "a100pcie80", "a100pcie80gb"],
                memory: 84_974_239_744,
                kind: Kind { bandwidth: 1_935_360_000_000, multiprocessors: 108, clock_khz: 1_410_000, l2: 40 << 20, capability: Capability::new(8, 0) },
            }
            RtxA6000 "NVIDIA RTX A6000." {
                name: "a6000", compiler_name: "NVIDIA RTX A6000",
                stems: &["a6000", "rtxa6000"],
                memory: 51_041_271_808,
                kind: Kind { bandwidth: 768_096_000_000, multiprocessors: 84, clock_khz: 1_800_000, l2: 6 << 20, capability: Capability::new(8, 6) },
            }
            L4 "NVIDIA L4." {
                name: "l4", compiler_name: "NVIDIA L4",
                stems: &["l4"],
                memory: 23_612_293_120,
                kind: Kind { bandwidth: 300_048_000_000, multiprocessors: 58, clock_khz: 2_040_000, l2: 48 << 20, capability: Capability::new(8, 9) },
            }
            L40s "NVIDIA L40S." {
                name: "l40s", compiler_name: "NVIDIA L40S",
                stems: &["l40s"],
                memory: 47_576_711_168,
                kind: Kind { bandwidth: 864_096_000_000, multiprocessors: 142, clock_khz: 2_520_000, l2: 96 << 20, capability: Capability::new(8, 9) },
            }
            Rtx4090 "NVIDIA GeForce RTX 4090." {
                name: "rtx4090", compiler_name: "NVIDIA GeForce RTX 4090",
                stems: &["rtx4090", "4090"],
                memory: 25_250_627_584,
                kind: Kind { bandwidth: 1_008_096_000_000, multiprocessors: 128, clock_khz: 2_520_000, l2: 72 << 20, capability: Capability::new(8, 9) },
            }
            H100Sxm "NVIDIA H100 SXM5, 80 GB." {
                name: "h100", compiler_name: "NVIDIA H100 80GB HBM3",
                stems: &["h100", "h10080", "h10080gb", "h10080gbhbm3", "h100sxm", "h100sxm5", "h100sxm80gb", "h100sxm580gb", "h100mega80gb"],
                memory: 84_942_979_072,
                kind: Kind { bandwidth: 3_352_320_000_000, multiprocessors: 132, clock_khz: 1_980_000, l2: 50 << 20, capability: Capability::new(9, 0) },
            }
            H100Pcie "NVIDIA H100 PCIe, 80 GB." {
                name: "h100-pcie", compiler_name: "NVIDIA H100 PCIe",
                stems: &["h100pcie", "h100pcie80gb", "h10080gbpcie"],
                memory: 84_942_979_072,
                kind: Kind { bandwidth: 2_039_040_000_000, multiprocessors: 114, clock_khz: 1_755_000, l2: 50 << 20, capability: Capability::new(9, 0) },
            }
            H200 "NVIDIA H200 SXM5, 141 GB." {
                name: "h200", compiler_name: "NVIDIA H200",
                stems: &["h200", "h200sxm", "h200sxm5", "h200141gb", "h200141gbhbm3e"],
                memory: 150_109_880_320,
                kind: Kind { bandwidth: 4_814_304_000_000, multiprocessors: 132, clock_khz: 1_980_000, l2: 60 << 20, capability: Capability::new(9, 0) },
            }
            B200 "NVIDIA B200." {
                name: "b200", compiler_name: "NVIDIA B200",
                stems: &["b200", "b200180gb"],
                memory: 191_514_411_008,
                kind: Kind { bandwidth: 7_672_320_000_000, multiprocessors: 148, clock_khz: 1_965_000, l2: 132_644_864, capability: Capability::new(10, 0) },
            }
            Gb200 "The GPU of an NVIDIA GB200." {
                name: "gb200", compiler_name: "NVIDIA GB200",
                stems: &["gb200"],
                memory: 197_897_748_480,
                kind: Kind { bandwidth: 7_928_064_000_000, multiprocessors: 152, clock_khz: 2_062_000, l2: 135_528_448, capability: Capability::new(10, 0) },
            }
            B300 "NVIDIA B300." {
                name: "b300", compiler_name: "NVIDIA B300 SXM6 AC",
                stems: &["b300", "b300sxm6ac"],
                memory: 287_762_808_832,
                kind: Kind { bandwidth: 7_936_000_000_000, multiprocessors: 148, clock_khz: 1_965_000, l2: 135_528_448, capability: Capability::new(10, 3) },
            }
            Gb300 "The GPU of an NVIDIA GB300." {
                name: "gb300", compiler_name: "NVIDIA GB300",
                stems: &["gb300"],
                memory: 297_021_079_552,
                kind: Kind { bandwidth: 7_928_064_000_000, multiprocessors: 152, clock_khz: 2_070_000, l2: 135_528_448, capability: Capability::new(10, 3) },
            }
            Rtx5090 "NVIDIA GeForce RTX 5090." {
                name: "rtx5090", compiler_name: "NVIDIA GeForce RTX 5090",
                stems: &["rtx5090", "5090"],
                memory: 33_677_180_928,
                kind: Kind { bandwidth: 1_792_128_000_000, multiprocessors: 170, clock_khz: 2_655_000, l2: 96 << 20, capability: Capability::new(12, 0) },
            }
            RtxPro6000 "NVIDIA RTX PRO 6000 Blackwell." {
                name: "rtx-pro-6000", compiler_name: "NVIDIA RTX PRO 6000 Blackwell Server Edition",
                stems: &["rtxpro6000", "rtxpro6000blackwell", "rtxpro6000blackwellserveredition", "rtxpro6000blackwellworkstationedition"],
                memory: 103_079_215_104,
                kind: Kind { bandwidth: 1_792_000_000_000, multiprocessors: 188, clock_khz: 2_600_000, l2: 128 << 20, capability: Capability::new(12, 0) },
            }
        }
    };
}

/// What only GPUs have.
struct Kind {
    /// Bytes per second between the GPU and its memory.
    bandwidth: u64,
    multiprocessors: u64,
    /// The highest clock of the multiprocessors.
    clock_khz: u64,
    /// The bytes of the L2 cache.
    l2: u64,
    capability: Capability,
}

macro_rules! gpu {
    ($($variant:ident $description:literal { $($cells:tt)* })*) => {
        /// A GPU of NVIDIA.
        ///
        /// ```
        /// use xla_shape_core::gpu::Gpu;
        ///
        /// let gpu: Gpu = "NVIDIA A100-SXM4-80GB".parse()?;
        /// assert_eq!(gpu, Gpu::A100Sxm80);
        /// assert_eq!(gpu.name(), "a100-80");
        /// # Ok::<(), xla_shape_core::gpu::UnknownGpu>(())
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Gpu { $(#[doc = $description] $variant,)* }

        /// The cells of each GPU, in the order of the variants.
        static ROWS: &[Row<Kind>] = &[$(Row { $($cells)* }),*];

        impl Gpu {
            /// Every GPU, by compute capability.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }
    };
}

rows!(gpu);

impl Gpu {
    #[expect(clippy::indexing_slicing, reason = "there is a row for each variant")]
    fn row(self) -> &'static Row<Kind> {
        &ROWS[self as usize]
    }

    /// All names by which the parser knows it, without separators.
    pub(super) fn stems(self) -> &'static [&'static str] {
        self.row().stems
    }

    /// The name that is printed, such as `h100`.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::A100Sxm80.name(), "a100-80");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The name that CUDA reports, and JAX as `device_kind`.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::H100Sxm.cuda_name(), "NVIDIA H100 80GB HBM3");
    /// ```
    #[must_use]
    pub fn cuda_name(self) -> &'static str {
        self.row().compiler_name
    }

    /// The bytes of memory that CUDA reports.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::H100Sxm.memory_bytes(), 84_942_979_072);
    /// ```
    #[must_use]
    pub fn memory_bytes(self) -> u64 {
        self.row().memory
    }

    /// The bytes of memory that a process of JAX takes when it starts: [`JAX_MEMORY_PERCENT`](super::JAX_MEMORY_PERCENT) of all. A program that needs
    /// more fits only if `XLA_PYTHON_CLIENT_MEM_FRACTION` gives JAX more.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::H100Sxm.jax_memory_bytes(), 84_942_979_072 / 4 * 3);
    /// ```
    #[must_use]
    pub fn jax_memory_bytes(self) -> u64 {
        jax_memory_bytes(self.memory_bytes())
    }

    /// The bytes per second between the GPU and its memory.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::H200.bytes_per_second(), 4_814_304_000_000);
    /// ```
    #[must_use]
    pub fn bytes_per_second(self) -> u64 {
        self.row().kind.bandwidth
    }

    /// The number of streaming multiprocessors.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::A100Sxm40.multiprocessors(), 108);
    /// ```
    #[must_use]
    pub fn multiprocessors(self) -> u64 {
        self.row().kind.multiprocessors
    }

    /// The highest clock of the multiprocessors, in kHz.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::A100Sxm40.clock_khz(), 1_410_000);
    /// ```
    #[must_use]
    pub fn clock_khz(self) -> u64 {
        self.row().kind.clock_khz
    }

    /// The multiplications and additions per second of its matrix units at most, at the highest clock, for dense matrices of this type; `None`
    /// if it has no such units, or their number is not known ([`Capability::matrix_operations`]).
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::A100Sxm80.operations_per_second(ElementType::Bf16), Some(311_869_440_000_000));
    /// ```
    #[must_use]
    pub fn operations_per_second(self, element_type: ElementType) -> Option<u64> {
        let clocks = self.multiprocessors().checked_mul(self.clock_khz())?.checked_mul(1000)?;
        clocks.checked_mul(self.capability().matrix_operations(element_type)?)
    }

    /// The bytes of the L2 cache.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::A100Sxm40.l2_bytes(), 40 << 20);
    /// ```
    #[must_use]
    pub fn l2_bytes(self) -> u64 {
        self.row().kind.l2
    }

    /// The compute capability.
    ///
    /// ```
    /// use xla_shape_core::gpu::Gpu;
    ///
    /// assert_eq!(Gpu::B300.capability().to_string(), "10.3");
    /// ```
    #[must_use]
    pub fn capability(self) -> Capability {
        self.row().kind.capability
    }
}

#[cfg(test)]
mod tests {
    use super::Gpu;

    /// XLA's own descriptions of devices have these numbers (`xla/backends/gpu/target_config/specs`).
    #[test]
    fn figures_of_one_architecture_are_those_of_xla() {
        for (gpu, shared, block, threads, units) in [
            (Gpu::P100, 65_536, 49_152, 2048, 64),
            (Gpu::V100Sxm16, 98_304, 98_304, 2048, 64),
            (Gpu::A100Sxm80, 167_936, 166_912, 2048, 64),
            (Gpu::RtxA6000, 102_400, 101_376, 1536, 128),
            (Gpu::H200, 233_472, 232_448, 2048, 128),
            (Gpu::Gb300, 233_472, 232_448, 2048, 128),
        ] {
            let capability = gpu.capability();
            assert_eq!(
                (
                    capability.shared_memory_bytes(),
                    capability.shared_memory_per_block_bytes(),
                    capability.threads(),
                    capability.f32_units()
                ),
                (shared, block, threads, units),
                "{gpu}"
            );
        }
    }
}
