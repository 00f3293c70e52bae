//! The machine that a plan is for, and how two arrays fit in its caches.

use crate::caches::Caches;
use crate::kernels::StoreMode;
use crate::options::{Options, Stores};
use crate::vector::Vectors;

/// The machine that a plan is for. It need not be this one, so that tests can choose for any machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) vectors: Vectors,
    /// Which stores the caller asked for.
    pub(crate) stores: Stores,
    pub(crate) caches: Caches,
}

/// How two arrays together fit in the caches of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Footprint {
    /// The bytes of the source and of the destination together.
    pub(crate) bytes: usize,
    /// Whether they are larger than the caches.
    pub(crate) exceeds_caches: bool,
    /// Where kernels use non-temporal stores.
    pub(crate) stores: StoreMode,
}

impl Target {
    /// This machine, with what the options prescribe.
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            vectors: Vectors::detect().min(options.vectors),
            stores: options.stores,
            caches: options.caches.unwrap_or_else(Caches::get),
        }
    }

    /// The footprint of a source and a destination of so many bytes together.
    pub(crate) fn footprint(&self, bytes: usize) -> Footprint {
        let exceeds_caches = bytes >= self.caches.streaming_from();
        let stores = match self.stores {
            _ if self.vectors == Vectors::None => StoreMode::Ordinary,
            Stores::Streaming => StoreMode::Staged,
            Stores::Auto if bytes >= self.caches.staging_from() => StoreMode::Staged,
            Stores::Auto if exceeds_caches => StoreMode::WholeLines,
            Stores::Auto | Stores::Regular => StoreMode::Ordinary,
        };
        Footprint { bytes, exceeds_caches, stores }
    }

    /// Whether the machine permutes all bytes of 64-byte vectors.
    pub(super) fn permutes_bytes(&self) -> bool {
        self.vectors >= Vectors::Avx512
    }

    /// Whether 3, 5 or 7 rows of elements of at most 4 bytes are interleaved with one permute per row.
    pub(super) fn permutes_odd_rows(&self) -> bool {
        cfg!(target_arch = "x86_64") && self.vectors >= Vectors::Avx2
    }
}
