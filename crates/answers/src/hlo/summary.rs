//! The first line of a report: what matters most about the memory of a program.

use super::fits::OfGpu;
use super::memory::{Accuracy, AtPeak, capacity_in};
use super::starts::Starts;
use crate::device::Device;
use crate::names;
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::memory_space;
use xla_shape_core::tpu::Generation;
use xla_shape_hlo::{Account, Module, Role, Timeline};
use xla_shape_program::Program;

/// How much memory a program needs, how much is available, and the program's largest array.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// The bytes of the device's memory that the program needs, with its code if the code's size is known.
    pub needed_bytes: u64,
    /// The bytes that the device lets a program use; null if no device is named and nothing shows which one it is.
    pub available_bytes: Option<u64>,
    /// Whether `needed_bytes` is at most `available_bytes`; null if `available_bytes` is null, and for a program that is neither scheduled nor
    /// divided among its devices yet.
    pub fits: Option<bool>,
    /// The generation of the named TPU; if no device is named, the generation that the module or the name of its file shows. Null if nothing shows
    /// it.
    pub generation: Option<&'static str>,
    /// The named GPU; if no device is named, the GPU that the compiler's files, a profile or their names show. Null if nothing shows it, or it has no
    /// name.
    pub gpu: Option<&'static str>,
    /// Whether no device was named.
    pub assumed: bool,
    /// Whether the program is for a TPU, whose memory is called HBM.
    #[serde(skip)]
    pub is_tpu: bool,
    /// The bytes of the whole memory, if the device is a GPU.
    #[serde(skip)]
    pub whole_gpu: Option<u64>,
    /// Whether the program is not divided among its devices yet, so that `needed_bytes` has every array at its whole size.
    #[serde(skip)]
    pub is_whole: bool,
    /// The largest array that is live when most of the memory is in use; null if nothing is.
    pub largest: Option<Cause>,
}

/// The largest array at the peak.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Cause {
    /// The name of the instruction.
    pub name: String,
    /// Which array of the instruction's value, from 0.
    pub leaf: usize,
    /// XLA's text of the shape, with its layout.
    pub shape: String,
    /// The bytes that it takes.
    pub bytes: u64,
    /// "argument", "donated", "output", "constant" or "temporary".
    #[serde(serialize_with = "names::role")]
    #[schemars(with = "String")]
    pub role: Role,
    /// The file and the line, or the op_name; null if the module has neither.
    pub source: Option<String>,
}

impl Summary {
    pub(crate) fn new<'m>(
        module: &'m Module,
        timeline: Option<&Timeline<'m>>,
        starts: &Starts<'m>,
        device: Option<Device>,
        account: &Account,
    ) -> Self {
        let hbm = memory_space::DEFAULT;
        let is_tpu = module.is_for_tpu();
        let at_peak = timeline.and_then(|timeline| AtPeak::new(module, timeline, starts, hbm, 1));
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
            gpu: None,
            assumed: device.is_none(),
            is_tpu: is_tpu || device.and_then(Device::generation).is_some(),
            whole_gpu: None,
            is_whole: matches!(Accuracy::new(timeline), Accuracy::Undivided { .. }),
            largest,
        };
        summary.on(device).with_needed(account.device.total())
    }

    fn on(mut self, device: Option<Device>) -> Self {
        let capacity = device.and_then(|device| capacity_in(device, memory_space::DEFAULT, 0));
        self.available_bytes = capacity.map(|capacity| capacity.bytes);
        self.whole_gpu = device.and_then(Device::whole_gpu);
        self.generation = device.and_then(Device::generation).map(Generation::name);
        self.gpu = match device {
            Some(Device::Gpu(gpu)) => Some(gpu.name()),
            _ => None,
        };
        self
    }

    /// The same summary for the device that the program itself shows, if none was named.
    pub(super) fn with_program(self, program: &Program) -> Self {
        if !self.assumed {
            return self;
        }
        let described = || Device::described(&program.gpu_config()?);
        let device = match self.is_tpu {
            true => program.generation().map(Device::Generation),
            false => described().or_else(|| program.gpu().map(Device::Gpu)),
        };
        let needed = self.needed_bytes;
        self.on(device).with_needed(needed)
    }

    /// The summary of a program that the compiler has divided among its devices.
    pub(super) fn divided(self) -> Self {
        Self { is_whole: false, ..self }
    }

    /// The summary of a program that needs this many bytes.
    pub(crate) fn with_needed(self, needed_bytes: u64) -> Self {
        let fits = self.available_bytes.filter(|_| !self.is_whole).map(|available| needed_bytes <= available);
        Self { needed_bytes, fits, ..self }
    }

    /// Which part of a GPU's memory the program needs; `None` for other devices.
    #[must_use]
    pub fn of_gpu(&self) -> Option<OfGpu> {
        Some(OfGpu::new(self.needed_bytes, self.available_bytes?, self.whole_gpu?))
    }

    /// Whether the device lets a program use fewer bytes than this one needs.
    pub(crate) fn is_too_large(&self) -> bool {
        self.fits == Some(false)
    }

    /// The name of the instruction of the largest array at the peak.
    pub fn largest(&self) -> Option<&str> {
        Some(&self.largest.as_ref()?.name)
    }
}
