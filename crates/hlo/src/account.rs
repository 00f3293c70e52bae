//! A program's memory totals, in the terms of the compiler's memory analysis (`CompiledMemoryStats` in
//! `xla/pjrt/pjrt_executable.h`).

use alloc::collections::BTreeMap;
use xla_shape_core::memory_space::{DEFAULT, HOST};

/// The alignment of allocations in HBM by the TPU compiler, in bytes.
pub(crate) const HBM_STEP: u64 = 16 << 10;

/// How the program uses a buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Role {
    /// It holds a parameter.
    Argument,
    /// It holds a parameter and later a result, because the caller donated it (`input_output_alias`).
    Donated,
    /// It holds a result.
    Output,
    /// It holds a constant.
    Constant,
    /// Anything else: it is allocated in a heap.
    Temporary,
}

impl Role {
    /// The name in reports, such as `argument`.
    ///
    /// ```
    /// assert_eq!(xla_shape_hlo::Role::Temporary.name(), "temporary");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Donated => "donated",
            Self::Output => "output",
            Self::Constant => "constant",
            Self::Temporary => "temporary",
        }
    }

    /// Whether the buffer is live as long as the program runs.
    pub(crate) const fn is_always(self) -> bool {
        !matches!(self, Self::Temporary)
    }
}

/// The bytes that a program takes in the memory of the device or of the host.
///
/// The terms are those of XLA's `CompiledMemoryStats` (`xla/pjrt/pjrt_executable.h`), in JAX `compiled.memory_analysis()`. XLA may add terms, and
/// this struct then gets fields: end a struct literal with `..Totals::default()`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Totals {
    /// The parameters.
    pub arguments: u64,
    /// The results, including those in the buffers of donated parameters.
    pub outputs: u64,
    /// The results in the buffers of donated parameters.
    pub aliases: u64,
    /// The heap of all other values.
    pub temporaries: u64,
}

impl Totals {
    /// The bytes that must fit: arguments, outputs and temporaries. A buffer that is both argument and output counts once. `u64::MAX` for more
    /// bytes than a `u64` can count.
    ///
    /// ```
    /// use xla_shape_hlo::Totals;
    ///
    /// let totals = Totals { arguments: 100, outputs: 60, aliases: 40, temporaries: 8 };
    /// assert_eq!(totals.total(), 128, "40 bytes are both an argument and a result");
    /// ```
    #[must_use]
    pub const fn total(self) -> u64 {
        let all =
            (self.arguments as u128).saturating_add(self.outputs as u128).saturating_add(self.temporaries as u128);
        let total = all.saturating_sub(self.aliases as u128);
        // Subtracted before the sum is cut to a `u64`: otherwise a sum that was cut would shrink.
        if total > u64::MAX as u128 { u64::MAX } else { total as u64 }
    }

    pub(crate) const fn add(&mut self, role: Role, bytes: u64) {
        let (arguments, outputs, aliases) = match role {
            Role::Argument => (bytes, 0, 0),
            Role::Donated => (bytes, bytes, bytes),
            Role::Output => (0, bytes, 0),
            Role::Constant | Role::Temporary => (0, 0, 0),
        };
        self.arguments = self.arguments.saturating_add(arguments);
        self.outputs = self.outputs.saturating_add(outputs);
        self.aliases = self.aliases.saturating_add(aliases);
    }
}

/// A program's memory: totals for the device and the host, the peak, and the heaps of the memory spaces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// In the device's main memory, which holds arguments and results: HBM on a TPU.
    pub device: Totals,
    /// In the memory of the host.
    pub host: Totals,
    /// The peak in bytes, as the compiler counts it: arguments, results and constants, plus the largest peak of temporaries of any one
    /// memory space. The compiler does not add the temporaries of several spaces.
    pub peak: u64,
    /// For each memory space, the bytes of its heap, which holds the temporaries.
    pub heaps: BTreeMap<u8, u64>,
    /// Whether the numbers are the compiler's own; otherwise they are an estimate.
    pub exact: bool,
    /// With the compiler's buffer assignment: how many more bytes of temporaries its memory analysis may count.
    pub may_be_more: u64,
    /// With the compiler's buffer assignment: the fragmentation of the heap in HBM, that is, the bytes of the heap that are free at the peak.
    pub gaps: u64,
    /// The largest peak of temporaries of any one memory space, as the compiler counts it.
    pub(crate) temporary_peak: u64,
}

impl Account {
    /// The bytes of arguments and results, on the device and on the host.
    pub(crate) const fn given_bytes(&self) -> u64 {
        let device = Totals { temporaries: 0, ..self.device };
        let host = Totals { temporaries: 0, ..self.host };
        device.total().saturating_add(host.total())
    }

    /// The bytes that a memory space must hold: the heap and, in HBM and the host's memory, also arguments and results.
    ///
    /// ```
    /// use xla_shape_core::memory_space::{DEFAULT, GENERIC_FAST};
    /// use xla_shape_hlo::Account;
    ///
    /// let mut account = Account::default();
    /// account.device.arguments = 64;
    /// account.heaps.insert(GENERIC_FAST, 32);
    /// assert_eq!((account.space_total(DEFAULT), account.space_total(GENERIC_FAST)), (64, 32));
    /// ```
    #[must_use]
    pub fn space_total(&self, space: u8) -> u64 {
        match space {
            DEFAULT => self.device.total(),
            space if is_host(space) => self.host.total(),
            space => self.heaps.get(&space).copied().unwrap_or(0),
        }
    }
}

/// Whether a memory space belongs to the host.
pub(crate) const fn is_host(space: u8) -> bool {
    space == HOST
}

#[cfg(test)]
mod tests {
    use super::Totals;

    #[test]
    fn more_bytes_than_can_be_counted_do_not_become_few() {
        let half = u64::MAX / 2;
        let totals = Totals { arguments: u64::MAX - 7, outputs: u64::MAX, aliases: u64::MAX - 7, temporaries: 0 };
        assert_eq!(totals.total(), u64::MAX);
        assert_eq!(Totals { arguments: half, outputs: half, aliases: half, temporaries: 2 }.total(), half + 2);
    }
}
