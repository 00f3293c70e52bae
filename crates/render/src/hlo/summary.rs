//! The first line of a report: what matters most about the memory of a program.

use super::memory::{AtPeak, Device, capacity_in};
use crate::tpu::named;
use crate::words::{InUnits, value_name};
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::memory_space;
use xla_shape_core::tpu::Generation;
use xla_shape_hlo::{Account, Module, Timeline};

/// How much memory a program needs, of how much, and its largest array.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Summary {
    /// The bytes of the device's memory that the program needs, with its code if the size of that is known.
    needed_bytes: u64,
    /// The bytes that the device lets a program use; null if no device is named and nothing shows the generation of the TPU.
    available_bytes: Option<u64>,
    /// Whether `needed_bytes` is at most `available_bytes`; null where that is.
    fits: Option<bool>,
    /// The generation of the TPU: of the device that is named, or else what the module or the name of its file shows. Null if neither says it.
    generation: Option<&'static str>,
    /// Whether no device was named.
    assumed: bool,
    /// Whether the program is for a TPU, whose memory is called HBM.
    #[serde(skip)]
    is_tpu: bool,
    /// The largest array that is live when most of the memory is in use; null if nothing is.
    largest: Option<Cause>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Cause {
    /// The name of the instruction.
    name: String,
    /// Which array of the instruction's value, from 0.
    leaf: usize,
    /// XLA's text of the shape, with its layout.
    shape: String,
    /// The bytes that it takes.
    bytes: u64,
    /// "argument", "donated", "output", "constant" or "temporary".
    role: &'static str,
    /// The file and the line, or the op_name; null if the module has neither.
    source: Option<String>,
}

impl Summary {
    pub(super) fn new(
        module: &Module,
        timeline: Option<&Timeline<'_>>,
        device: Option<Device>,
        account: &Account,
    ) -> Self {
        let hbm = memory_space::DEFAULT;
        let is_tpu = module.is_for_tpu();
        let at_peak = timeline.and_then(|timeline| AtPeak::new(module, timeline, hbm, 1));
        let largest = at_peak.and_then(|at_peak| at_peak.largest.into_iter().next()).map(|resident| Cause {
            source: resident.source().or_else(|| resident.op_name.clone()),
            name: resident.name,
            leaf: resident.leaf,
            shape: resident.shape,
            bytes: resident.bytes,
            role: resident.role,
        });
        let summary = Self {
            needed_bytes: 0,
            available_bytes: None,
            fits: None,
            generation: None,
            assumed: device.is_none(),
            is_tpu: is_tpu || device.and_then(Device::generation).is_some(),
            largest,
        };
        summary.on(device).with_needed(account.device.total())
    }

    fn on(mut self, device: Option<Device>) -> Self {
        let capacity = device.and_then(|device| capacity_in(device, memory_space::DEFAULT, 0));
        self.available_bytes = capacity.map(|capacity| capacity.bytes);
        self.generation = device.and_then(Device::generation).map(Generation::name);
        self
    }

    /// The same for a TPU of this generation, unless a device was named.
    pub(super) fn with_generation(self, generation: Option<Generation>) -> Self {
        if !self.is_tpu || !self.assumed {
            return self;
        }
        let needed = self.needed_bytes;
        self.on(generation.map(Device::Generation)).with_needed(needed)
    }

    /// The summary of a program that needs this many bytes.
    pub(super) fn with_needed(self, needed_bytes: u64) -> Self {
        Self { needed_bytes, fits: self.available_bytes.map(|available| needed_bytes <= available), ..self }
    }

    /// Whether the device lets a program use fewer bytes than this one needs.
    pub(super) fn is_too_large(&self) -> bool {
        self.fits == Some(false)
    }

    /// The name of the instruction of the largest array at the peak.
    pub(super) fn largest(&self) -> Option<&str> {
        Some(&self.largest.as_ref()?.name)
    }

    /// The sentence.
    pub(super) fn text(&self) -> String {
        let device =
            self.generation.map_or(String::new(), |generation| format!(" on {}", named(generation, self.assumed)));
        let memory = if self.is_tpu { "HBM" } else { "memory" };
        let mut text = format!("needs {} of {memory}", InUnits(self.needed_bytes));
        if let Some(available) = self.available_bytes {
            let verdict = if self.fits == Some(true) { "fits" } else { "DOES NOT FIT" };
            text += &format!(" of {} that a program may use{device}: {verdict}", InUnits(available));
        } else if self.is_tpu {
            text += "; generation not given (--for names it)";
        }
        if let Some(Cause { name, leaf, shape, bytes, role, source }) = &self.largest {
            let source = source.as_ref().map_or(String::new(), |source| format!(", {source}"));
            text += &format!(
                "; largest at the peak: {} {role} {} {shape}{source}",
                InUnits(*bytes),
                value_name(name, *leaf)
            );
        }
        text
    }
}
