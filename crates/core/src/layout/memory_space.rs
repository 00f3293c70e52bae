//! The numbers and names of memory spaces on TPUs and GPUs: `S(n)` in a layout.

/// `S(0)`: the default memory of the device, which text omits; HBM on TPUs (`Layout::kDefaultMemorySpace` in
/// `xla/layout.h`).
pub const DEFAULT: u8 = 0;
/// `S(1)`: fast on-chip memory; VMEM on TPUs (`Layout::kGenericFastMemorySpace`).
pub const GENERIC_FAST: u8 = 1;
/// `S(2)`: semaphores, which signal that a transfer is complete. JAX calls it `SEMAPHORE_MEM`; the compiler's reports
/// call it `smem`.
pub const SEMAPHORE: u8 = 2;
/// `S(3)`: CMEM, fast memory that v4 has in addition to VMEM.
pub const CMEM: u8 = 3;
/// `S(4)`: the memory of the scalar unit. JAX's kernels call it `SMEM`.
pub const SMEM: u8 = 4;
/// `S(5)`: the host's memory (`Layout::kHostMemorySpace`).
pub const HOST: u8 = 5;
/// `S(8)`: semaphores of SparseCore's scalar unit.
pub const SPARSECORE_SEMAPHORE: u8 = 8;
/// `S(10)`: semaphores of SparseCore's vector units.
pub const SPARSECORE_VECTOR_SEMAPHORE: u8 = 10;

/// The usual names of the memory spaces of TPUs.
const NAMES: [(u8, &str); 11] = [
    (DEFAULT, "HBM"),
    (GENERIC_FAST, "VMEM"),
    (SEMAPHORE, "SMEM (semaphores)"),
    (CMEM, "CMEM"),
    (SMEM, "SMEM"),
    (HOST, "host"),
    // The compiler keeps single numbers and predicates here.
    (6, "scalars"),
    (SPARSECORE_SEMAPHORE, "SparseCore semaphores"),
    (SPARSECORE_VECTOR_SEMAPHORE, "SparseCore vector semaphores"),
    (11, "SparseCore SMEM"),
    (12, "SparseCore vector SMEM"),
];

/// The usual name of a memory space of a TPU; `None` for a number whose meaning is not known.
///
/// HBM, VMEM and the host's memory are constants of XLA's `Layout` (`xla/layout.h`). The others are numbered as in
/// JAX's kernels for TPUs (`tpu_custom_call.MemorySpace.color`), except CMEM and the scalars, whose numbers were found
/// in compiled programs.
///
/// ```
/// use xla_shape_core::memory_space;
///
/// assert_eq!(memory_space::name(0), Some("HBM"));
/// assert_eq!(memory_space::name(1), Some("VMEM"));
/// assert_eq!(memory_space::name(7), None);
/// assert_eq!(memory_space::from_name("host"), Some(memory_space::HOST));
/// ```
#[must_use]
pub const fn name(memory_space: u8) -> Option<&'static str> {
    let mut rest: &[(u8, &str)] = &NAMES;
    while let [(number, name), after @ ..] = rest {
        if *number == memory_space {
            return Some(name);
        }
        rest = after;
    }
    None
}

/// The device whose memory spaces are meant.
///
/// ```
/// use xla_shape_core::memory_space::{self, Platform};
///
/// assert_eq!(Platform::Tpu.name(1), Some("VMEM"));
/// assert_eq!(Platform::Gpu.name(1), Some("collective memory"));
/// assert_eq!(Platform::Other.name(memory_space::HOST), Some("host"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Platform {
    /// A TPU.
    Tpu,
    /// A GPU.
    Gpu,
    /// Any other device, or one that is not known.
    Other,
}

impl Platform {
    /// The usual name of a memory space on this device; `None` for a number whose meaning is not known.
    ///
    /// On a GPU, 1 is memory for collectives, which NCCL allocates, and 2 is the memory of temporary buffers, if the compiler separates them
    /// (`MemorySpaceColor` in `xla/service/gpu/gpu_memory_space_assignment.h`). The default memory and the host's are those of `xla/layout.h`.
    ///
    /// ```
    /// use xla_shape_core::memory_space::Platform;
    ///
    /// assert_eq!(Platform::Gpu.name(2), Some("temporary buffers"));
    /// assert_eq!(Platform::Other.name(2), None);
    /// ```
    #[must_use]
    pub const fn name(self, memory_space: u8) -> Option<&'static str> {
        match (self, memory_space) {
            (Self::Tpu, _) | (_, HOST) => name(memory_space),
            (_, DEFAULT) => Some("default memory"),
            (Self::Gpu, 1) => Some("collective memory"),
            (Self::Gpu, 2) => Some("temporary buffers"),
            _ => None,
        }
    }
}

/// The memory space with this [`name`], in upper or lower case. `semaphores` is accepted for `SMEM (semaphores)`.
///
/// ```
/// use xla_shape_core::memory_space;
///
/// assert_eq!(memory_space::from_name("vmem"), Some(1));
/// assert_eq!(memory_space::from_name("semaphores"), Some(2));
/// assert_eq!(memory_space::from_name("main"), None);
/// ```
#[must_use]
pub fn from_name(text: &str) -> Option<u8> {
    if text.eq_ignore_ascii_case("semaphores") {
        return Some(SEMAPHORE);
    }
    NAMES.into_iter().find(|(_, name)| name.eq_ignore_ascii_case(text)).map(|(number, _)| number)
}

/// Whether the values of a memory space are semaphores. The compiler reserves exactly their bytes: there is no padding, and they are aligned
/// only like a single semaphore (its buffer assignments for v4 to v7x).
///
/// ```
/// use xla_shape_core::memory_space;
///
/// assert!(memory_space::is_semaphore(memory_space::SPARSECORE_SEMAPHORE));
/// assert!(!memory_space::is_semaphore(memory_space::SMEM));
/// ```
#[must_use]
pub const fn is_semaphore(memory_space: u8) -> bool {
    matches!(memory_space, SEMAPHORE | SPARSECORE_SEMAPHORE | SPARSECORE_VECTOR_SEMAPHORE)
}
