//! The memory of a compiled program, as the compiler counts it.

use crate::abi::ExecutableGetCompiledMemoryStatsArgs;
use xla_shape::hlo::{Account, Totals};

/// The memory that a compiled program takes, in bytes, as the compiler counts it: `CompiledMemoryStats` in
/// `xla/pjrt/pjrt_executable.h`, JAX's `compiled.memory_analysis()`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MemoryStats {
    /// The device's main memory, HBM on a TPU.
    pub device: Totals,
    /// The memory of the host.
    pub host: Totals,
    /// The program's code, in the device's memory.
    pub generated_code: u64,
    /// The program's code, in the host's memory.
    pub host_generated_code: u64,
    /// The peak over all memories of the device together; 0 if the plug-in does not report it (before version 0.72 of the
    /// interface).
    pub peak: u64,
}

impl MemoryStats {
    /// The same figures as an exact [`Account`], as [`hlo`](xla_shape::hlo) reports memory. It does not list heaps by memory space.
    ///
    /// ```
    /// use xla_shape_pjrt::MemoryStats;
    ///
    /// let account = MemoryStats { peak: 4096, ..MemoryStats::default() }.account();
    /// assert_eq!((account.peak, account.exact), (4096, true));
    /// ```
    #[must_use]
    pub fn account(&self) -> Account {
        let mut account = Account::default();
        account.device = self.device;
        account.host = self.host;
        account.peak = self.peak;
        account.exact = true;
        account
    }

    pub(crate) fn new(args: &ExecutableGetCompiledMemoryStatsArgs) -> Self {
        // The interface has signed numbers, although sizes are never negative.
        let bytes = |amount: i64| u64::try_from(amount).unwrap_or(0);
        Self {
            device: Totals {
                arguments: bytes(args.argument_size_in_bytes),
                outputs: bytes(args.output_size_in_bytes),
                aliases: bytes(args.alias_size_in_bytes),
                temporaries: bytes(args.temp_size_in_bytes),
            },
            host: Totals {
                arguments: bytes(args.host_argument_size_in_bytes),
                outputs: bytes(args.host_output_size_in_bytes),
                aliases: bytes(args.host_alias_size_in_bytes),
                temporaries: bytes(args.host_temp_size_in_bytes),
            },
            generated_code: bytes(args.generated_code_size_in_bytes),
            host_generated_code: bytes(args.host_generated_code_size_in_bytes),
            peak: bytes(args.peak_memory_in_bytes),
        }
    }
}
