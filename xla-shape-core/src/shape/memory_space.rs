//! The numbers of memory spaces on TPU, and what they are called.

/// `S(0)`: the default memory of the device, not printed; HBM on TPU (`Layout::kDefaultMemorySpace`).
pub const DEFAULT: u8 = 0;
/// `S(1)`: fast on-chip memory; VMEM on TPU (`Layout::kGenericFastMemorySpace`).
pub const GENERIC_FAST: u8 = 1;
/// `S(5)`: memory of the host (`Layout::kHostMemorySpace`).
pub const HOST: u8 = 5;

/// The name that people use for a memory space of a TPU; `None` for the others.
///
/// The three that have a name are those that XLA's `Layout` has a constant for. What `S(2)`, `S(3)`, `S(4)` and the numbers
/// above 5 are (semaphores, scalar memory and the like) is the matter of the TPU's compiler, and XLA's source has no names for
/// them; one given here could be wrong, so there is none, and they are written as numbers.
///
/// ```
/// use xla_shape_core::memory_space;
///
/// assert_eq!(memory_space::name(0), Some("HBM"));
/// assert_eq!(memory_space::name(1), Some("VMEM"));
/// assert_eq!(memory_space::from_name("host"), Some(memory_space::HOST));
/// ```
#[must_use]
pub const fn name(memory_space: u8) -> Option<&'static str> {
    match memory_space {
        DEFAULT => Some("HBM"),
        GENERIC_FAST => Some("VMEM"),
        HOST => Some("host"),
        _ => None,
    }
}

/// The memory space with this name, in capital or small letters.
#[must_use]
pub fn from_name(text: &str) -> Option<u8> {
    [DEFAULT, GENERIC_FAST, HOST]
        .into_iter()
        .find(|&memory_space| name(memory_space).is_some_and(|name| name.eq_ignore_ascii_case(text)))
}
