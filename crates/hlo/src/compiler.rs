//! What a module for a TPU shows about its compilation: the generation of TPUs that it was compiled for, and whether the compiler was an old release.

use crate::schema::Key;
use crate::{Module, Opcode};
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Shape, memory_space};

impl Module {
    /// The generation of the TPU, if the module shows it: only v4 has CMEM. Most modules do not show it, because the compiler lays arrays out alike
    /// for v4 to v7x.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("ENTRY e { p = f32[8,128]{1,0:T(8,128)} parameter(0) ROOT c = f32[8,128]{1,0:T(8,128)S(3)} copy(p) }")?;
    /// assert_eq!(module.shown_generation(), Some(Generation::V4));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn shown_generation(&self) -> Option<Generation> {
        let mut arrays = self.shapes().iter().flat_map(Shape::arrays);
        let has_cmem = arrays.any(|array| array.layout().memory_space() == memory_space::CMEM);
        let mut with_cmem = Generation::ALL.iter().copied().filter(|generation| generation.has_cmem());
        let only = with_cmem.next().filter(|_| with_cmem.next().is_none());
        only.filter(|_| has_cmem && self.is_for_tpu())
    }

    /// How the module shows that its TPU compiler is older than libtpu 0.0.47, as a clause for a message. `None` if it shows nothing; modules of
    /// older compilers do not always show it.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let copy = "ENTRY e { p = f32[8,128]{1,0:T(8,128)} parameter(0)
    ///   s = (f32[8,128]{1,0:T(8,128)S(1)}, f32[8,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(p)
    ///   ROOT d = f32[8,128]{1,0:T(8,128)S(1)} copy-done(s), backend_config={\"flag_configs\":[],\"aliasing_operands\":{\"lists\":[]}} }";
    /// let module = Module::parse(copy)?;
    /// assert_eq!(module.sign_of_older_release(), Some("a copy to or from VMEM has no `dma_priority`"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn sign_of_older_release(&self) -> Option<&'static str> {
        // If no instruction has a configuration of the compiler, the configurations were removed from the text, so missing fields prove nothing.
        if !self.is_for_tpu() || !self.text().contains("\"flag_configs\":") {
            return None;
        }
        self.instructions().find_map(|found| {
            // Looked up only where it is needed: a module has many instructions.
            let config = || found.value_of(Key::BackendConfig).map(|config| config.text());
            let lacks = |field: &str| !config().is_some_and(|config| config.contains(field));
            let is_in_vmem = |array: &ArrayShape| array.layout().memory_space() == memory_space::GENERIC_FAST;
            match found.opcode() {
                Opcode::Broadcast if config().is_some() && lacks("aliasing_operands") => {
                    Some("a broadcast is configured without `aliasing_operands`")
                }
                Opcode::CopyStart if found.shape().arrays().any(is_in_vmem) && lacks("dma_priority") => {
                    Some("a copy to or from VMEM has no `dma_priority`")
                }
                _ => None,
            }
        })
    }
}
