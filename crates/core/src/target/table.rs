//! The table of targets: what each has, and a row for each generation of TPUs. The rows of GPUs are in [`gpu::table`](super::gpu).
//!
//! The row of a new generation is its only entry: [`Generation`](super::generation::Generation) and its readers, its type in `xla-shape`,
//! its layouts, the estimates of memory and its slices read it. A row that lacks a cell does not compile.
//!
//! Capacities are in bytes.
//!
//! A generation with tiles of its own has a family in `tpu/format.rs`. What its compiler answers belongs in `tests/corpus`.

use super::products::Products;
use super::tpu::format::Family;

pub(super) const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;
pub(super) const GIB: u64 = 1 << 30;

/// Gives all rows to a macro: `targets!(callback arguments)` expands to `callback! { arguments rows }`.
///
/// A row is `Variant "description" { cells }`: the variant of [`Generation`](crate::tpu::Generation), which is also the type in
/// `xla_shape::tpu`; a short sentence about it; and the fields of `Row`, for this crate alone.
#[doc(hidden)]
#[macro_export]
macro_rules! targets {
    ($callback:ident $($arguments:tt)*) => {
        $callback! {
            $($arguments)*
            V2 "TPU v2." {
                name: "v2", compiler_name: "v2", stems: &["v2"],
                memory: 8_000_000_000,
                kind: Tpu {
                    usable_memory: Some(8 * GIB - 530 * MIB - 8 * KIB),
                    cores_per_device: 1, smem: 16 * KIB, has_cmem: false, products: Products::V2,
                    vmem: 16 * MIB, reserved_vmem: 16 * MIB, kernel_vmem: kernel(16 * MIB, 16 * MIB),
                    speed: speed(700, 2, 700),
                    tiles: Some(Family::V2), tuple_table_step: 512,
                    axes: 2, longest_axis: None, size_counts_chips: false,
                },
            }
            V3 "TPU v3." {
                name: "v3", compiler_name: "v3", stems: &["v3", "ct3p", "ct3"],
                memory: 17_200_000_000,
                kind: Tpu {
                    usable_memory: Some(16 * GIB - 530 * MIB - 8 * KIB),
                    cores_per_device: 1, smem: 16 * KIB, has_cmem: false, products: Products::V2,
                    vmem: 16 * MIB, reserved_vmem: 16 * MIB, kernel_vmem: kernel(16 * MIB, 16 * MIB),
                    speed: speed(900, 2, 940),
                    tiles: Some(Family::V2), tuple_table_step: 512,
                    axes: 2, longest_axis: None, size_counts_chips: false,
                },
            }
            V4 "TPU v4." {
                name: "v4", compiler_name: "v4", stems: &["v4", "ct4p"],
                memory: 17_200_000_000,
                kind: Tpu {
                    usable_memory: Some(16 * GIB - 769 * MIB - 512 * KIB),
                    cores_per_device: 1, smem: MIB, has_cmem: true, products: Products::V4,
                    vmem: 16 * MIB, reserved_vmem: 16 * MIB, kernel_vmem: kernel(16 * MIB, 16 * MIB),
                    speed: speed(1228, 2, 1050),
                    tiles: Some(Family::V4), tuple_table_step: 512,
                    axes: 3, longest_axis: None, size_counts_chips: false,
                },
            }
            V5e "TPU v5e, also called v5 lite." {
                name: "v5e", compiler_name: "v5e", stems: &["v5e", "v5lite", "ct5lp", "ct5l"],
                memory: 17_200_000_000,
                kind: Tpu {
                    usable_memory: Some(16 * GIB - 258 * MIB),
                    cores_per_device: 1, smem: MIB, has_cmem: false, products: Products::V5,
                    vmem: 128 * MIB, reserved_vmem: 16 * MIB, kernel_vmem: kernel(16 * MIB, 128 * MIB),
                    speed: speed(819, 1, 1500),
                    tiles: Some(Family::V4), tuple_table_step: 512,
                    axes: 2, longest_axis: Some(16), size_counts_chips: true,
                },
            }
            V5p "TPU v5p." {
                name: "v5p", compiler_name: "v5p", stems: &["v5p", "v5", "ct5p"],
                memory: 51_500_000_000,
                kind: Tpu {
                    usable_memory: Some(96 * GIB - 279 * MIB),
                    cores_per_device: 2, smem: MIB, has_cmem: false, products: Products::V5,
                    vmem: 64 * MIB, reserved_vmem: 16 * MIB, kernel_vmem: kernel(16 * MIB, 64 * MIB - 64 * KIB),
                    speed: speed(2765, 2, 1750),
                    tiles: Some(Family::V4), tuple_table_step: 32,
                    axes: 3, longest_axis: None, size_counts_chips: false,
                },
            }
            V6e "TPU v6e, also called v6 lite or Trillium." {
                name: "v6e", compiler_name: "v6e", stems: &["v6e", "v6lite", "ct6e", "trillium"],
                memory: 34_400_000_000,
                kind: Tpu {
                    usable_memory: Some(32 * GIB - 776 * MIB),
                    cores_per_device: 1, smem: MIB, has_cmem: false, products: Products::V5,
                    vmem: 128 * MIB, reserved_vmem: 32 * MIB, kernel_vmem: kernel(32 * MIB, 128 * MIB - 64 * KIB),
                    speed: speed(1640, 1, 1750),
                    tiles: Some(Family::V4), tuple_table_step: 32,
                    axes: 2, longest_axis: None, size_counts_chips: true,
                },
            }
            V7x "TPU7x, also called Ironwood." {
                name: "v7x", compiler_name: "tpu7x", stems: &["v7x", "7x", "ironwood"],
                memory: 103_000_000_000,
                kind: Tpu {
                    usable_memory: Some(95 * GIB - 268 * MIB),
                    cores_per_device: 1, smem: MIB, has_cmem: false, products: Products::V7,
                    vmem: 64 * MIB, reserved_vmem: 16 * MIB, kernel_vmem: kernel(32 * MIB, 64 * MIB - 64 * KIB),
                    speed: speed(7380, 2, 2200),
                    tiles: Some(Family::V4), tuple_table_step: 32,
                    axes: 3, longest_axis: None, size_counts_chips: false,
                },
            }
            V8i "TPU 8i." {
                name: "v8i", compiler_name: "tpu8i", stems: &["v8i", "8i"],
                memory: 154_500_000_000,
                kind: Tpu {
                    usable_memory: None,
                    cores_per_device: 1, smem: MIB, has_cmem: false, products: Products::V8I,
                    vmem: 192 * MIB, reserved_vmem: 16 * MIB, kernel_vmem: None,
                    speed: None,
                    tiles: None, tuple_table_step: 32,
                    axes: 2, longest_axis: None, size_counts_chips: false,
                },
            }
            V8t "TPU 8t." {
                name: "v8t", compiler_name: "tpu8t", stems: &["v8t", "8t"],
                memory: 231_000_000_000,
                kind: Tpu {
                    usable_memory: None,
                    cores_per_device: 1, smem: MIB, has_cmem: false, products: Products::V8T,
                    vmem: 128 * MIB, reserved_vmem: 16 * MIB, kernel_vmem: None,
                    speed: None,
                    tiles: None, tuple_table_step: 32,
                    axes: 2, longest_axis: None, size_counts_chips: false,
                },
            }
        }
    };
}

/// What every target has, and what only targets of its kind have.
pub(super) struct Row<Kind> {
    /// The name that is printed.
    pub(super) name: &'static str,
    /// The name in the compiler's topologies for a TPU; CUDA's name for a GPU.
    pub(super) compiler_name: &'static str,
    /// All names, in lower case, without the maker's name, separators and the number of devices.
    pub(super) stems: &'static [&'static str],
    /// The main memory: of a TPU that of one core, as in JAX's table (`jax/_src/tpu_info.py`); of a GPU what CUDA reports.
    pub(super) memory: u64,
    /// What only targets of its kind have.
    pub(super) kind: Kind,
}

/// What a generation of TPUs has. Capacities are those of one core.
pub(super) struct Tpu {
    /// What the compiler lets a program use of the main memory of one device; `None` if libtpu 0.0.52 does not know the generation.
    pub(super) usable_memory: Option<u64>,
    /// The cores that form one device in the compiler's topologies.
    pub(super) cores_per_device: u64,
    /// The scalar memory.
    pub(super) smem: u64,
    /// Whether a chip has CMEM, a memory that its cores share.
    pub(super) has_cmem: bool,
    /// What the matrix unit multiplies without a conversion, as in JAX's table (`is_matmul_supported`).
    pub(super) products: Products,
    /// The vector memory.
    pub(super) vmem: u64,
    /// The part of VMEM that the compiler keeps for running kernels.
    pub(super) reserved_vmem: u64,
    /// The VMEM that a Pallas kernel may use; `None` if libtpu 0.0.52 does not know the generation.
    pub(super) kernel_vmem: Option<KernelVmem>,
    /// How fast it is; `None` if nobody has published that.
    pub(super) speed: Option<Speed>,
    /// The rules for its tiles; `None` if they are not known.
    pub(super) tiles: Option<Family>,
    /// The table of a tuple's addresses takes a multiple of this many bytes.
    pub(super) tuple_table_step: u64,
    /// The number of axes along which chips are connected.
    pub(super) axes: usize,
    /// The largest number of chips along an axis for which libtpu compiles; `None` if it does not check.
    pub(super) longest_axis: Option<u32>,
    /// Whether the number after the name in Google Cloud counts chips (`v5litepod-4`), not cores (`v4-8`).
    pub(super) size_counts_chips: bool,
}

/// The VMEM that a Pallas kernel may use, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct KernelVmem {
    /// The limit for a kernel that does not set `vmem_limit_bytes`: the compiler's default scoped limit.
    pub default: u64,
    /// The largest limit. The compiler reduces a larger `vmem_limit_bytes` to this one.
    pub most: u64,
}

impl KernelVmem {
    /// The limit for a kernel with this `vmem_limit_bytes`.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let vmem = Generation::V5e.kernel_vmem().unwrap();
    /// assert_eq!(vmem.limit(None), 16 << 20);
    /// assert_eq!(vmem.limit(Some(1 << 40)), 128 << 20);
    /// ```
    #[must_use]
    pub const fn limit(self, asked: Option<u64>) -> u64 {
        match asked {
            Some(bytes) if bytes < self.most => bytes,
            Some(_) => self.most,
            None => self.default,
        }
    }
}

/// How fast a core of a TPU is at most.
///
/// The bandwidth is that of a chip, as [Google Cloud's pages](https://docs.cloud.google.com/tpu/docs/system-architecture-tpu-vm) publish it, divided
/// by the chip's cores. The clocks of v2, v3 and v4 are from the papers about them; the others are the published operations per second in
/// bf16 divided by those that the matrix units do in a cycle. A profile of a v6e states 1,638 GB/s.
///
/// ```
/// use xla_shape_core::tpu::{Generation, Speed};
///
/// let Speed { hbm_bandwidth, clock } = Generation::V5e.speed().unwrap();
/// assert_eq!(hbm_bandwidth / clock, 546, "the bytes that HBM gives in a cycle");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Speed {
    /// The bytes per second between HBM and VMEM, in both directions together.
    pub hbm_bandwidth: u64,
    /// The clock in hertz: a core executes one bundle of instructions in a cycle.
    pub clock: u64,
}

/// `bandwidth` is that of a chip in GB/s.
pub(super) const fn speed(bandwidth: u64, cores: u64, mhz: u64) -> Option<Speed> {
    let bytes = match bandwidth.checked_mul(1_000_000_000) {
        Some(bytes) => bytes.checked_div(cores),
        None => None,
    };
    match (bytes, mhz.checked_mul(1_000_000)) {
        (Some(hbm_bandwidth), Some(clock)) => Some(Speed { hbm_bandwidth, clock }),
        _ => None,
    }
}

pub(super) const fn kernel(default: u64, most: u64) -> Option<KernelVmem> {
    Some(KernelVmem { default, most })
}
