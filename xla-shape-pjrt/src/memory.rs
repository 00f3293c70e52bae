//! What a compiled program takes, by the compiler's own account.

use crate::abi::ExecutableGetCompiledMemoryStatsArgs;
use xla_shape::hlo::{Account, Totals};

/// What a compiled program takes in memory, in bytes, as the compiler counts it (`CompiledMemoryStats`; in JAX
/// `compiled.memory_analysis()`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MemoryStats {
    /// In the memory of the device that arguments and results lie in: HBM.
    pub device: Totals,
    /// In the memory of the host.
    pub host: Totals,
    /// The program's own code, in the memory of the device.
    pub generated_code: u64,
    /// The program's own code, in the memory of the host.
    pub host_generated_code: u64,
    /// The most that is there at one time in all memories of the device together; 0 if the plug-in does not say (those before
    /// version 0.72 of the interface).
    pub peak: u64,
}

impl MemoryStats {
    /// The same in the words of [`hlo`](xla_shape::hlo): an account that is exact, without the heaps of single memory spaces.
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
        // No amount of memory is negative.
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
