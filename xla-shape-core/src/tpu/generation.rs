//! The generations of TPUs and what each can hold.

use crate::sink::same_text;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

macro_rules! generations {
    ($($variant:ident $name:literal $other:literal $hbm:literal $usable:expr, $cores:literal $vmem:literal $smem:expr, $doc:literal;)*) => {
        /// A generation of TPUs.
        ///
        /// All capacities are in bytes and of one core (JAX's table of TPUs has the same numbers), except
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
        pub enum Generation { $(#[doc = $doc] $variant,)* }

        impl Generation {
            /// Every generation, oldest first.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name that is printed, such as `v5e`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The name in the compiler's topologies, such as `tpu7x` in `tpu7x:2x2x1`; it is read, too.
            #[must_use]
            pub const fn topology_name(self) -> &'static str {
                match self { $(Self::$variant => $other,)* }
            }

            /// The bytes of HBM that belong to one core.
            #[must_use]
            pub const fn hbm_bytes(self) -> u64 {
                match self { $(Self::$variant => $hbm,)* }
            }

            /// The bytes of HBM that the compiler lets a program use on one device, which has
            /// [`cores_per_device`](Self::cores_per_device) cores: the device's memory without what the runtime reserves.
            ///
            /// Found by compiling ever larger programs; exact to some KiB. `None` where the compiler does not know the
            /// generation.
            #[must_use]
            pub const fn usable_hbm_bytes(self) -> Option<u64> {
                match self { $(Self::$variant => $usable,)* }
            }

            /// The cores that the compiler's topologies join to one device: 2 on v5p ("megacore"), 1 elsewhere.
            #[must_use]
            pub const fn cores_per_device(self) -> u64 {
                match self { $(Self::$variant => $cores,)* }
            }

            /// The bytes of VMEM, the vector memory of one core. A kernel may be given less.
            #[must_use]
            pub const fn vmem_bytes(self) -> u64 {
                match self { $(Self::$variant => $vmem * MIB,)* }
            }

            /// The bytes of SMEM, the scalar memory of one core.
            #[must_use]
            pub const fn smem_bytes(self) -> u64 {
                match self { $(Self::$variant => $smem,)* }
            }
        }
    };
}

generations! {
    V2 "v2" "v2" 8_000_000_000 Some(8 * GIB - 530 * MIB - 8 * KIB), 1 16 16 * KIB, "TPU v2.";
    V3 "v3" "v3" 17_200_000_000 Some(16 * GIB - 530 * MIB - 8 * KIB), 1 16 16 * KIB, "TPU v3.";
    V4 "v4" "v4" 17_200_000_000 Some(16 * GIB - 769 * MIB - 512 * KIB), 1 16 MIB, "TPU v4.";
    V5e "v5e" "v5e" 17_200_000_000 Some(16 * GIB - 258 * MIB), 1 128 MIB, "TPU v5e, also called v5 lite.";
    V5p "v5p" "v5p" 51_500_000_000 Some(96 * GIB - 279 * MIB), 2 64 MIB, "TPU v5p.";
    V6e "v6e" "v6e" 34_400_000_000 Some(32 * GIB - 776 * MIB), 1 128 MIB, "TPU v6e, also called v6 lite or Trillium.";
    V7x "v7x" "tpu7x" 103_000_000_000 Some(95 * GIB - 268 * MIB), 1 64 MIB, "TPU7x, also called Ironwood.";
    V8i "v8i" "tpu8i" 154_500_000_000 None, 1 192 MIB, "TPU 8i.";
    V8t "v8t" "tpu8t" 231_000_000_000 None, 1 128 MIB, "TPU 8t.";
}

impl Generation {
    /// The generation with this [`name`](Self::name) or [`topology_name`](Self::topology_name); in lower case.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
    pub const fn from_name(name: &str) -> Option<Self> {
        let mut i = 0_usize;
        while i < Self::ALL.len() {
            let generation = Self::ALL[i];
            let name = name.as_bytes();
            if same_text(name, generation.name().as_bytes()) || same_text(name, generation.topology_name().as_bytes()) {
                return Some(generation);
            }
            i = i.saturating_add(1);
        }
        None
    }
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

/// A name that is not a generation of TPUs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct UnknownGeneration {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownGeneration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a generation of TPUs: ")?;
        for (number, generation) in Generation::ALL.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            write!(f, "{separator}{generation}")?;
        }
        write!(f, "; found `{}`", self.name.escape_debug())
    }
}

impl core::error::Error for UnknownGeneration {}

#[cfg(test)]
mod tests {
    use super::Generation;
    use alloc::string::ToString;

    #[test]
    fn every_name_is_read_and_one_is_printed() {
        for &generation in Generation::ALL {
            assert_eq!(generation.name().parse(), Ok(generation));
            assert_eq!(generation.topology_name().parse(), Ok(generation));
            assert_eq!(generation.to_string(), generation.name());
        }
        assert_eq!("tpu7x".parse::<Generation>().unwrap().to_string(), "v7x");
        let error = "V5E\n".parse::<Generation>().unwrap_err().to_string();
        let names = "v2, v3, v4, v5e, v5p, v6e, v7x, v8i, v8t";
        assert_eq!(error, alloc::format!("expected a generation of TPUs: {names}; found `V5E\\n`"));
    }

    #[test]
    fn a_program_cannot_use_more_than_there_is() {
        for &generation in Generation::ALL {
            // JAX's table rounds to a tenth of a GB.
            let whole = generation.hbm_bytes() * generation.cores_per_device() / 99 * 100;
            assert!(generation.usable_hbm_bytes().is_none_or(|usable| usable < whole), "{generation}");
        }
    }
}
