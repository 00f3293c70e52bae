//! Which instructions kernels may use.

use crate::vector::Vectors;
use std::fmt;

/// Where kernels use non-temporal stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum StoreMode {
    /// Nowhere. Loops run in the order that is best for arrays that fit in the caches.
    Ordinary,
    /// Where whole cache lines are written without a staging buffer.
    WholeLines,
    /// Also where columns begin within cache lines: they are collected in a staging buffer.
    Staged,
}

impl StoreMode {
    /// Whether there are non-temporal stores at all.
    pub(in super::super) fn is_streaming(self) -> bool {
        self != Self::Ordinary
    }

    /// Whether a transpose runs in the order for arrays larger than the caches. `starts_lines` says whether all of its columns begin at a
    /// cache line.
    pub(in super::super) fn streams_columns(self, starts_lines: bool) -> bool {
        match self {
            Self::Ordinary => false,
            Self::WholeLines => starts_lines,
            Self::Staged => true,
        }
    }
}

/// The instructions of a step. A value is proof that the CPU has these vectors: only [`Instructions::new`] makes values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Instructions {
    vectors: Vectors,
    stores: StoreMode,
}

impl Instructions {
    /// These vectors, or the widest that the CPU has if it lacks them. Without vectors, all stores are ordinary.
    pub(in super::super) fn new(vectors: Vectors, stores: StoreMode) -> Self {
        let vectors = vectors.min(Vectors::detect());
        Self { vectors, stores: if vectors == Vectors::None { StoreMode::Ordinary } else { stores } }
    }

    /// The vectors, all of which the CPU has.
    pub(in super::super) fn vectors(self) -> Vectors {
        self.vectors
    }

    /// Where to use non-temporal stores.
    pub(in super::super) fn stores(self) -> StoreMode {
        self.stores
    }

    /// Everything that this machine supports, the scalar kernels first.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        let mut all = vec![Self::new(Vectors::None, StoreMode::Ordinary)];
        for vectors in [Vectors::Neon, Vectors::Sse2, Vectors::Avx2, Vectors::Avx512] {
            // NEON exists on AArch64 only, the others on x86-64 only.
            if vectors <= Vectors::detect() && (vectors == Vectors::Neon) == cfg!(target_arch = "aarch64") {
                let modes = [StoreMode::Ordinary, StoreMode::Staged, StoreMode::WholeLines];
                all.extend(modes.map(|stores| Self::new(vectors, stores)));
            }
        }
        all
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let vectors = match self.vectors {
            Vectors::None => "without vectors",
            Vectors::Neon | Vectors::Sse2 => "with vectors of 16 bytes",
            Vectors::Avx2 | Vectors::Avx512Bw => "with vectors of 32 bytes",
            Vectors::Avx512 => "with vectors of 64 bytes",
        };
        write!(f, "{vectors}, {} stores", if self.stores.is_streaming() { "non-temporal" } else { "ordinary" })
    }
}

/// Orders non-temporal stores: when it is dropped, all of them are visible before any later store.
pub(super) struct Fence(StoreMode);

impl Fence {
    pub(super) fn new(stores: StoreMode) -> Self {
        Self(stores)
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.0.is_streaming() {
            super::vectors::fence();
        }
    }
}
