//! The generations of TPUs, and what the table of targets says about them.

use super::products::Products;
use super::table::{GIB, KIB, KernelVmem, MIB, Row, Speed, Tpu, kernel, speed};
use super::tpu::format::Family;
use crate::element_type::ElementType;

macro_rules! generation {
    ($($variant:ident $description:literal { $($cells:tt)* })*) => {
        /// A generation of TPUs.
        ///
        /// All capacities are in bytes of one core, as in JAX's table (`jax/_src/tpu_info.py`), except
        /// [`usable_hbm_bytes`](Self::usable_hbm_bytes), which is of one device.
        ///
        /// ```
        /// use xla_shape_core::tpu::Generation;
        ///
        /// let generation: Generation = "tpu7x".parse()?;
        /// assert_eq!(generation.to_string(), "v7x");
        /// assert_eq!(generation.vmem_bytes(), 64 << 20);
        /// # Ok::<(), xla_shape_core::tpu::UnknownGeneration>(())
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Generation { $(#[doc = $description] $variant,)* }

        /// The cells of each generation, in the order of the variants.
        const ROWS: &[Row<Tpu>] = &[$(Row { $($cells)* }),*];

        impl Generation {
            /// Every generation, oldest first.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }
    };
}

crate::targets!(generation);

impl Generation {
    #[expect(clippy::indexing_slicing, reason = "there is a row for each variant")]
    pub(super) const fn row(self) -> &'static Row<Tpu> {
        &ROWS[self as usize]
    }

    const fn tpu(self) -> &'static Tpu {
        &self.row().kind
    }

    /// The rules for its tiles; `None` if they are not known.
    pub(super) const fn tiles(self) -> Option<Family> {
        self.tpu().tiles
    }

    /// The newest generation of each family that chooses the same layouts, newest first.
    pub(crate) fn of_each_family() -> impl Iterator<Item = Self> {
        let all = || Self::ALL.iter().copied().rev();
        let is_first = move |found: &Self| all().find(|other| other.tiles() == found.tiles()) == Some(*found);
        all().filter(|generation| generation.tiles().is_some()).filter(is_first)
    }

    /// The name that is printed, such as `v5e`.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::V5e.name(), "v5e");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The name in the compiler's topologies, such as `tpu7x` in `tpu7x:2x2x1`. Parsing accepts it too.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::V7x.topology_name(), "tpu7x");
    /// ```
    #[must_use]
    pub const fn topology_name(self) -> &'static str {
        self.row().compiler_name
    }

    /// The bytes of HBM per core.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::V5e.hbm_bytes(), 17_200_000_000);
    /// ```
    #[must_use]
    pub const fn hbm_bytes(self) -> u64 {
        self.row().memory
    }

    /// The bytes of HBM that the compiler lets a program use on one device, which has
    /// [`cores_per_device`](Self::cores_per_device) cores: the device's memory without what the runtime
    /// reserves.
    ///
    /// Found by compiling ever larger programs, and exact to some KiB. `None` where the compiler does not know
    /// the generation.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::V5e.usable_hbm_bytes(), Some((16 << 30) - (258 << 20)));
    /// ```
    #[must_use]
    pub const fn usable_hbm_bytes(self) -> Option<u64> {
        self.tpu().usable_memory
    }

    /// The number of cores that form one device in the compiler's topologies: 2 on v5p ("megacore"), 1
    /// elsewhere.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::V5p.cores_per_device(), 2);
    /// ```
    #[must_use]
    pub const fn cores_per_device(self) -> u64 {
        self.tpu().cores_per_device
    }

    /// The number of devices of a chip in the compiler's topologies: 2 on v2, v3, v4 and v7x, 1 elsewhere. A chip has two cores, except where
    /// names in Google Cloud count chips.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!([Generation::V4, Generation::V5e, Generation::V5p].map(Generation::devices_per_chip), [2, 1, 1]);
    /// ```
    #[must_use]
    pub const fn devices_per_chip(self) -> u64 {
        if self.size_counts_chips() || self.cores_per_device() > 1 { 1 } else { 2 }
    }

    /// The bytes of VMEM, the vector memory, per core. A kernel may use less: see
    /// [`kernel_vmem`](Self::kernel_vmem).
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::V5e.vmem_bytes(), 128 << 20);
    /// ```
    #[must_use]
    pub const fn vmem_bytes(self) -> u64 {
        self.tpu().vmem
    }

    /// The VMEM that the compiler lets a Pallas kernel use. `None` where the compiler does not know the
    /// generation.
    ///
    /// Found by compiling kernels with libtpu 0.0.52.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let vmem = Generation::V5e.kernel_vmem().unwrap();
    /// assert_eq!((vmem.default, vmem.most), (16 << 20, 128 << 20));
    /// ```
    #[must_use]
    pub const fn kernel_vmem(self) -> Option<KernelVmem> {
        self.tpu().kernel_vmem
    }

    /// How fast a core is at most. `None` if nobody has published that.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let speed = Generation::V5p.speed().unwrap();
    /// // 2,765 GB/s are shared by the two cores of a chip.
    /// assert_eq!((speed.hbm_bandwidth, speed.clock), (1_382_500_000_000, 1_750_000_000));
    /// ```
    #[must_use]
    pub const fn speed(self) -> Option<Speed> {
        self.tpu().speed
    }

    /// Whether the matrix unit multiplies these elements without a conversion, the left operand's first. Kernels can multiply others where
    /// the compiler converts them.
    ///
    /// As in JAX's table (`is_matmul_supported` of `jax/_src/tpu_info.py`, jax 0.12).
    ///
    /// ```
    /// use xla_shape_core::ElementType::{Bf16, S8};
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert!(Generation::V6e.multiplies(S8, S8) && !Generation::V7x.multiplies(S8, S8));
    /// assert!(Generation::V4.multiplies(Bf16, S8) && !Generation::V4.multiplies(S8, Bf16));
    /// ```
    #[must_use]
    pub fn multiplies(self, left: ElementType, right: ElementType) -> bool {
        self.tpu().products.has(left, right)
    }

    /// The bytes of SMEM, the scalar memory, per core.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::V5e.smem_bytes(), 1 << 20);
    /// ```
    #[must_use]
    pub const fn smem_bytes(self) -> u64 {
        self.tpu().smem
    }

    /// The bytes of VMEM per core that the compiler keeps for running kernels. It places values in the rest.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::V6e.reserved_vmem_bytes(), 32 << 20);
    /// ```
    #[must_use]
    pub const fn reserved_vmem_bytes(self) -> u64 {
        self.tpu().reserved_vmem
    }

    /// Whether a chip has CMEM, a memory that its cores share.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert!(Generation::V4.has_cmem() && !Generation::V5e.has_cmem());
    /// ```
    #[must_use]
    pub const fn has_cmem(self) -> bool {
        self.tpu().has_cmem
    }

    /// The table of a tuple's addresses takes a multiple of this many bytes.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!([Generation::V5e, Generation::V5p].map(Generation::tuple_table_step), [512, 32]);
    /// ```
    #[must_use]
    pub const fn tuple_table_step(self) -> u64 {
        self.tpu().tuple_table_step
    }

    /// The number of axes along which chips are connected: 2 or 3.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!([Generation::V5e, Generation::V5p].map(Generation::chip_axes), [2, 3]);
    /// ```
    #[must_use]
    pub const fn chip_axes(self) -> usize {
        self.tpu().axes
    }

    /// The largest number of chips along an axis for which the compiler compiles; `None` if it does not check.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert_eq!(Generation::V5e.longest_axis(), Some(16));
    /// ```
    #[must_use]
    pub const fn longest_axis(self) -> Option<u32> {
        self.tpu().longest_axis
    }

    /// Whether the number after the name in Google Cloud counts chips, as in `v5litepod-4`, and not cores, as in `v4-8`.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// assert!(Generation::V5e.size_counts_chips() && !Generation::V4.size_counts_chips());
    /// ```
    #[must_use]
    pub const fn size_counts_chips(self) -> bool {
        self.tpu().size_counts_chips
    }
}

#[cfg(test)]
mod tests {
    use super::Generation;

    #[test]
    fn a_kernel_cannot_use_more_vmem_than_there_is() {
        for &generation in Generation::ALL {
            let Some(vmem) = generation.kernel_vmem() else { continue };
            assert!(vmem.default <= vmem.most && vmem.most <= generation.vmem_bytes(), "{generation}");
            assert_eq!(vmem.limit(None), vmem.default);
            assert_eq!(vmem.limit(Some(u64::MAX)), vmem.most);
            assert_eq!(vmem.limit(Some(4096)), 4096);
        }
    }

    #[test]
    fn a_program_cannot_use_more_than_there_is() {
        for &generation in Generation::ALL {
            // JAX's table rounds to a tenth of a GB.
            let whole = generation.hbm_bytes() * generation.cores_per_device() / 99 * 100;
            assert!(generation.usable_hbm_bytes().is_none_or(|usable| usable < whole), "{generation}");
        }
    }

    #[test]
    fn each_family_has_one_generation() {
        let families = Generation::of_each_family().map(Generation::tiles).collect::<alloc::vec::Vec<_>>();
        for generation in Generation::ALL {
            let of_it = families.iter().filter(|family| **family == generation.tiles()).count();
            assert_eq!(of_it, usize::from(generation.tiles().is_some()), "{generation}");
        }
    }
}
