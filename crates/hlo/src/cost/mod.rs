//! What the compiler expects a program to cost: the cycles that the TPU compiler writes into `backend_config`.
//!
//! The figures are the compiler's estimates, not measurements. An instruction without a figure stays without one.

#[cfg(feature = "cost")]
mod copies;
#[cfg(feature = "cost")]
mod cycles;
#[cfg(feature = "cost")]
mod totals;
pub(crate) mod trips;

#[cfg(feature = "cost")]
pub use copies::{Change, Copy, Fixed};
#[cfg(feature = "cost")]
pub use cycles::{CostError, Cycles};
#[cfg(feature = "cost")]
pub use totals::{BranchCost, Costs, InstructionCost, LoopCost, TotalCycles};

use crate::Instruction;
use crate::schema::Key;
use alloc::borrow::Cow;

/// The text of an instruction's `backend_config`.
pub(crate) fn config<'m>(instruction: Instruction<'m, '_>) -> Option<Cow<'m, str>> {
    instruction.value_of(Key::BackendConfig)?.unquoted().ok()
}

#[cfg(feature = "cost")]
impl<'a> crate::Module<'a> {
    /// What the compiler expects the program to cost, in cycles of the TPU's cores.
    ///
    /// The figures stand in the module that the compiler returns (JAX: `compiled.as_text()`), not in the one that XLA dumps
    /// to a file; see [`TotalCycles::is_partial`].
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8,128]{1,0} parameter(0)
    ///   ROOT b = f32[8,128]{0,1} copy(a), backend_config={"window_config":{"estimated_cycles":"1200"}}
    /// }"#)?;
    /// let costs = module.costs()?;
    /// assert_eq!(costs.cycles().once, Some(1200));
    /// let copy = &costs.instructions()[0];
    /// assert_eq!((copy.instruction.name(), copy.cycles.known()), ("b", Some(1200)));
    /// assert_eq!((copy.bytes_read, copy.bytes_written), (Some(4096), Some(4096)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a figure is not a number, or the program calls computations in a circle.
    pub fn costs(&self) -> Result<Costs<'_, 'a>, CostError> {
        totals::costs(self)
    }
}
