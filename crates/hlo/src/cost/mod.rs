//! What the compiler expects a program to cost: the cycles or the times that it writes into `backend_config`.
//!
//! The figures are the compiler's estimates, not measurements: cycles for a TPU; for a GPU times, which it writes if
//! `XLA_FLAGS=--xla_gpu_collect_cost_model_stats=true`. An instruction without a figure stays without one.

#[cfg(feature = "cost")]
mod bytes;
#[cfg(feature = "cost")]
mod convolution;
#[cfg(feature = "cost")]
mod copies;
#[cfg(feature = "cost")]
mod figure;
#[cfg(feature = "cost")]
mod products;
#[cfg(feature = "cost")]
mod repeats;
#[cfg(feature = "cost")]
mod totals;
#[cfg(feature = "cost")]
mod updates;

#[cfg(feature = "cost")]
pub use copies::{Change, Copy, Fixed};
#[cfg(feature = "cost")]
pub use figure::{Basis, CostError, Figure, Reification, Unit};
#[cfg(feature = "cost")]
pub use totals::{BranchCost, Costs, InstructionCost, LoopCost, TotalCost};

#[cfg(feature = "cost")]
impl crate::Module {
    /// What the compiler expects the program to cost: in cycles of a TPU's cores, or in picoseconds of a GPU ([`Costs::unit`]).
    ///
    /// The figures are in the module that the compiler returns (JAX: `compiled.as_text()`). The module that XLA dumps to a file has none, or only
    /// inside of fusions, whose instructions do not count. See also [`TotalCost::is_partial`].
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8,128]{1,0} parameter(0)
    ///   ROOT b = f32[8,128]{0,1} copy(a), backend_config={"window_config":{"estimated_cycles":"1200"}}
    /// }"#)?;
    /// let costs = module.costs()?;
    /// assert_eq!(costs.total().once, Some(1200));
    /// let copy = &costs.instructions()[0];
    /// assert_eq!((copy.instruction.name(), copy.figure.known()), ("b", Some(1200)));
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

    /// Like [`costs`](Self::costs), but continues after errors, and returns them, too. Figures that are not numbers count as missing, and calls
    /// in a circle are not followed. After an error there is no total.
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
    /// assert_eq!((costs.total().once, costs.total().total), (Some(7), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn costs_with_errors(&self) -> (Costs<'_>, alloc::vec::Vec<CostError>) {
        totals::costs(self, None)
    }

    /// Like [`costs_with_errors`](Self::costs_with_errors), for a GPU with this speed. The compiler for GPUs gives no figures for copies, transposes
    /// and convolutions. They count with the time that the memory needs for their bytes ([`Basis::Bytes`]). A convolution counts with the time
    /// that the matrix units need for its operations, if that is longer ([`Basis::Operations`]). The speed does not affect modules for other
    /// devices.
    ///
    /// ```
    /// use xla_shape_core::gpu::Speed;
    /// use xla_shape_hlo::{Module, cost::Basis};
    ///
    /// let module = Module::parse(r#"
    /// HloModule m, frontend_attributes={fingerprint_before_lhs="1"}
    /// ENTRY e { a = f32[1000]{0} parameter(0)
    ///   ROOT b = f32[1000]{0} copy(a) }"#)?;
    /// let (costs, _) = module.costs_at(Some(Speed { bytes_per_second: 8_000_000_000, gpu: None }));
    /// let copy = &costs.instructions()[0];
    /// assert_eq!((copy.basis, copy.figure.known()), (Basis::Bytes, Some(1_000_000)), "8000 bytes take 1 µs");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn costs_at(&self, speed: Option<xla_shape_core::gpu::Speed>) -> (Costs<'_>, alloc::vec::Vec<CostError>) {
        totals::costs(self, speed)
    }
}
