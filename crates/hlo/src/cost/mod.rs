//! What the compiler expects a program to cost: the cycles that the TPU compiler writes into `backend_config`.
//!
//! The figures are the compiler's estimates, not measurements. An instruction without a figure stays without one.

#[cfg(feature = "cost")]
mod copies;
#[cfg(feature = "cost")]
mod cycles;
#[cfg(feature = "cost")]
mod totals;

#[cfg(feature = "cost")]
pub use copies::{Change, Copy, Fixed};
#[cfg(feature = "cost")]
pub use cycles::{CostError, Cycles};
#[cfg(feature = "cost")]
pub use totals::{BranchCost, Costs, InstructionCost, LoopCost, TotalCycles};

#[cfg(feature = "cost")]
impl crate::Module {
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
    pub fn costs(&self) -> Result<Costs<'_>, CostError> {
        let (costs, errors) = self.costs_with_errors();
        errors.into_iter().next().map_or(Ok(costs), Err)
    }

    /// As [`costs`](Self::costs), where figures that are not numbers are missing and calls in a circle are not followed; and the errors. With an
    /// error there is no total.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8]{0} parameter(0)
    ///   b = f32[8]{0} copy(a), backend_config={"window_config":{"estimated_cycles":"many"}}
    ///   ROOT c = f32[8]{0} copy(b), backend_config={"window_config":{"estimated_cycles":"7"}}
    /// }"#)?;
    /// let (costs, errors) = module.costs_with_errors();
    /// assert_eq!(errors[0].to_string(), "b: expected `estimated_cycles` to be a number, found \"many\"");
    /// assert_eq!((costs.cycles().once, costs.cycles().total), (Some(7), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn costs_with_errors(&self) -> (Costs<'_>, alloc::vec::Vec<CostError>) {
        totals::costs(self)
    }
}
