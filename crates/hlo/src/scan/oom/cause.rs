//! Why memory ran out.

/// Why memory ran out, or why an amount is in a report.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum AmountCause {
    /// The message does not say.
    #[default]
    Unknown,
    /// The compiler found that a program does not fit into HBM (E1000).
    Program,
    /// The compiler found that a kernel needs more VMEM than its limit (E1001).
    ScopedVmem,
    /// The compiler found that a kernel needs more VMEM than there is.
    Vmem,
    /// The compiler found that the scalars of a kernel need more SMEM than there is.
    Smem,
    /// The compiler found that a program needs more synchronization flags than there are.
    Flags,
    /// The runtime found no room for an array (E0100).
    Array,
    /// The runtime found no room for a program that is compiled (E0101).
    Loading,
    /// XLA's runtime on a GPU found no room for an array or for the memory of a program.
    Gpu,
    /// The runtime on a GPU found no room for memory that its caller can do without. A warning: the program may be slower.
    Dispensable,
    /// A kernel for a GPU needs more shared memory than a block of threads may have.
    SharedMemory,
    /// An allocator that is not XLA's found no room.
    OtherAllocator,
    /// The compiler could not reduce the memory of a program to its limit. A warning: the program may fit nevertheless.
    Rematerialization,
    /// The statistics of a program that was compiled. Nothing failed.
    Statistics,
    /// What the TensorCore and SparseCore need together is more HBM than there is (E1002).
    SparseCore,
    /// An instruction that XLA made, not a kernel, needs more scoped VMEM than it may use (E1001).
    InstructionVmem,
    /// A runtime that the message does not name has no room for a buffer.
    Unnamed,
    /// The driver of a GPU has no room for memory that XLA asked it for, such as its pool.
    Driver,
    /// The runtime found no room for a constant of a program.
    Constant,
    /// The host has no room for memory from which a GPU copies.
    PinnedHost,
    /// The host has no room for an array.
    HostArray,
    /// The operating system ended a process because the memory of the host ran out.
    HostKilled,
    /// The operating system ended a process because the memory of its container ran out.
    ContainerKilled,
}

impl AmountCause {
    /// XLA's code for such a message, if its catalogue of errors (`docs/errors`) has one.
    ///
    /// ```
    /// assert_eq!(xla_shape_hlo::AmountCause::ScopedVmem.code(), Some("E1001"));
    /// ```
    #[must_use]
    pub const fn code(self) -> Option<&'static str> {
        match self {
            Self::Program => Some("E1000"),
            Self::ScopedVmem | Self::Vmem | Self::InstructionVmem => Some("E1001"),
            Self::SparseCore => Some("E1002"),
            Self::Array => Some("E0100"),
            Self::Loading => Some("E0101"),
            _ => None,
        }
    }

    /// The name in JSON.
    ///
    /// ```
    /// assert_eq!(xla_shape_hlo::AmountCause::ScopedVmem.name(), "scoped_vmem");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Program => "program",
            Self::ScopedVmem => "scoped_vmem",
            Self::Vmem => "vmem",
            Self::Smem => "smem",
            Self::Flags => "sflag",
            Self::Array => "array",
            Self::Loading => "loading",
            Self::Gpu => "gpu",
            Self::Dispensable => "dispensable",
            Self::SharedMemory => "shared_memory",
            Self::OtherAllocator => "other_allocator",
            Self::Rematerialization => "rematerialization",
            Self::Statistics => "statistics",
            Self::SparseCore => "sparse_core",
            Self::InstructionVmem => "scoped_vmem_of_instruction",
            Self::Unnamed => "unnamed",
            Self::Driver => "driver",
            Self::Constant => "constant",
            Self::PinnedHost => "pinned_host",
            Self::HostArray => "host_array",
            Self::HostKilled => "host_killed",
            Self::ContainerKilled => "container_killed",
        }
    }

    /// Whether memory ran out.
    ///
    /// ```
    /// use xla_shape_hlo::AmountCause;
    ///
    /// assert!(AmountCause::Array.is_failure() && !AmountCause::Statistics.is_failure());
    /// ```
    #[must_use]
    pub const fn is_failure(self) -> bool {
        !matches!(self, Self::Statistics | Self::Rematerialization | Self::Dispensable)
    }

    /// Whether the memory is that of the host, not of a device.
    ///
    /// ```
    /// use xla_shape_hlo::AmountCause;
    ///
    /// assert!(AmountCause::PinnedHost.is_of_host() && !AmountCause::Driver.is_of_host());
    /// ```
    #[must_use]
    pub const fn is_of_host(self) -> bool {
        matches!(self, Self::PinnedHost | Self::HostArray | Self::HostKilled | Self::ContainerKilled)
    }
}
