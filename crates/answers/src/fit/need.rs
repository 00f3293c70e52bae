//! The memory that one program needs on a device, and which arrays would have to go if that is too much.

use crate::hlo::memory::Resident;
use crate::hlo::{OfGpu, Report};
use crate::names;
use crate::scan::Scan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xla_shape_core::memory_space;
use xla_shape_hlo::{AmountCause, RefusalCause, Role};

/// The memory that a program needs, and the memory that is available.
///
/// ```
/// use xla_shape_answers::fit::Need;
///
/// let message = "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (39.28G) exceeds \
///                available HBM (15.75G).";
/// let need = Need::of_refusal(message.to_owned());
/// assert_eq!((need.fits, need.available_bytes), (Some(false), Some(15 * (1 << 30) + 3 * (1 << 28))));
/// assert_eq!(Need::of_refusal("unsupported".to_owned()).fits, None, "nobody knows whether it would fit");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Need {
    /// Whether it fits; null if the compiler refused the program for a reason other than memory, or does not say what it takes.
    pub fits: Option<bool>,
    /// The bytes of the device's memory that the program needs, with its code if the code's size is known; null if they are not known.
    pub needed_bytes: Option<u64>,
    /// The bytes that the device lets a program use; null if that is not known.
    pub available_bytes: Option<u64>,
    /// The bytes of the whole memory of a GPU, of which a process of JAX takes `available_bytes`; null for other devices.
    #[serde(default)]
    pub whole_bytes: Option<u64>,
    /// The largest array that is live at the peak; null if that is not known.
    pub largest: Option<Held>,
    /// If it does not fit: the largest arrays that are live at the peak, as many as would free the missing bytes, but at most five.
    pub to_go: Vec<Held>,
    /// Why the compiler refused the program, or why there is none; null if it was compiled.
    pub error: Option<String>,
}

/// An array that is live at the peak of memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    /// The name of the instruction.
    pub name: String,
    /// XLA's text of the shape, with its layout.
    pub shape: String,
    /// The bytes that it takes.
    pub bytes: u64,
    /// "argument", "donated", "output", "constant" or "temporary".
    #[serde(serialize_with = "names::role", deserialize_with = "names::read_role")]
    #[schemars(with = "String")]
    pub role: Role,
    /// The name of the operation in the user's program, or for an argument, its own name; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

impl Held {
    fn new(resident: &Resident) -> Self {
        Self {
            name: resident.name.clone(),
            shape: resident.shape.clone(),
            bytes: resident.bytes,
            role: resident.role,
            op_name: resident.op_name.clone(),
            source: resident.source(),
        }
    }
}

impl Need {
    /// The least number of entries that the lists of a report need for [`of_report`](Self::of_report).
    pub const TOP: usize = 5;

    /// The need according to a report. If the compiler `refused` the program with this message, it does not fit. The report is about the module that
    /// the compiler dumped, which may need less memory than the compiler found at the end. In that case, the amounts are those of the message.
    ///
    /// ```
    /// use xla_shape_answers::fit::Need;
    /// use xla_shape_answers::hlo::{Device, Report};
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    ///
    /// let text = "HloModule m, is_scheduled=true\nENTRY e { p = f32[1024]{0:T(1024)} parameter(0)
    ///   ROOT n = f32[1024]{0:T(1024)} negate(p) }";
    /// let program = Program::from(Module::parse(text)?);
    /// let report = Report::new(&program.memory(None), Some(Device::Bytes(5000)), Need::TOP, None);
    /// let need = Need::of_report(&report, None);
    /// assert_eq!((need.fits, need.needed_bytes, need.short_bytes()), (Some(false), Some(8192), Some(3192)));
    /// assert_eq!(need.to_go.len(), 1, "without one of the arrays, it would fit");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn of_report(report: &Report, refused: Option<String>) -> Self {
        let summary = report.summary.as_ref();
        let at_peak = report.at_peak.iter().find(|at_peak| at_peak.space == memory_space::DEFAULT);
        let held = at_peak.map(|at_peak| at_peak.largest.iter().map(Held::new).collect::<Vec<_>>());
        let hbm = report.capacity.iter().find(|capacity| capacity.space == memory_space::DEFAULT);
        let refusal = refused.clone().map(Self::of_refusal).unwrap_or_default();
        let mut need = Self {
            fits: if refused.is_some() { Some(false) } else { summary.and_then(|summary| summary.fits) },
            needed_bytes: summary.map(|summary| summary.needed_bytes).max(refusal.needed_bytes),
            available_bytes: summary.and_then(|summary| summary.available_bytes),
            whole_bytes: hbm.and_then(|capacity| capacity.whole),
            largest: held.as_ref().and_then(|held| held.first().cloned()),
            to_go: Vec::new(),
            error: refused,
        };
        let mut missing = need.short_bytes().unwrap_or(0);
        for held in held.into_iter().flatten().take(Self::TOP) {
            if missing == 0 {
                break;
            }
            missing = missing.saturating_sub(held.bytes);
            need.to_go.push(held);
        }
        need
    }

    /// The memory that a compiler's refusal names, for programs without a report. Its amounts are rounded; only those of HBM are used. If the
    /// compiler itself ran out of memory, on the host or on a GPU that others use, whether the program fits is unknown.
    ///
    /// ```
    /// use xla_shape_answers::fit::Need;
    ///
    /// let message = "terminate called after throwing an instance of 'std::bad_alloc'";
    /// assert_eq!(Need::of_refusal(message.to_owned()).fits, None);
    /// ```
    #[must_use]
    pub fn of_refusal(message: String) -> Self {
        let mut scan = Scan::default();
        message.lines().for_each(|line| drop(scan.read_line(line.as_bytes())));
        let amounts = scan.amounts().into_iter().filter(|amount| amount.limit.is_some() && !amount.is_part);
        let amount = amounts.max_by_key(|amount| amount.bytes).filter(|_| scan.says_out_of_hbm());
        Self {
            fits: says_out_of_device_memory(&scan).then_some(false),
            needed_bytes: amount.map(|amount| amount.bytes),
            available_bytes: amount.and_then(|amount| amount.limit),
            ..Self::unknown(message)
        }
    }

    /// The need of a setting without a program; `error` says why it has none.
    #[must_use]
    pub fn unknown(error: String) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// Which part of a GPU's memory it needs; `None` for other devices, and if that is not known.
    #[must_use]
    pub fn of_gpu(&self) -> Option<OfGpu> {
        Some(OfGpu::new(self.needed_bytes?, self.available_bytes?, self.whole_bytes?))
    }

    /// How many more bytes it needs than are available; `None` if it fits, or if it is not known whether it fits.
    #[must_use]
    pub fn short_bytes(&self) -> Option<u64> {
        let short = self.needed_bytes?.checked_sub(self.available_bytes?)?;
        Some(short).filter(|_| self.fits == Some(false))
    }
}

/// Whether a message says that the program needs more memory than the device has.
fn says_out_of_device_memory(scan: &Scan) -> bool {
    let is_of_device = |cause: AmountCause| {
        cause.is_failure() && !cause.is_of_host() && !matches!(cause, AmountCause::OtherAllocator | AmountCause::Driver)
    };
    let refusals = scan.refusals();
    let is_elsewhere =
        |cause: &RefusalCause| cause.is_out_of_memory() && !matches!(cause, RefusalCause::NoSpace { .. });
    scan.amounts().iter().any(|amount| is_of_device(amount.cause))
        || refusals.iter().any(|refusal| matches!(refusal.cause, RefusalCause::NoSpace { .. }))
        // A message without sizes may be about the memory that another line names.
        || (!scan.without_sizes().is_empty() && !refusals.iter().any(|refusal| is_elsewhere(&refusal.cause)))
}

#[cfg(test)]
mod tests {
    use super::Need;

    #[test]
    fn only_memory_of_the_device_decides_whether_a_program_fits() {
        for (message, fits) in [
            ("terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc", None),
            ("RESOURCE_EXHAUSTED: the compiler died\n  what(): std::bad_alloc", None),
            ("RuntimeError: CUDA error: out of memory", None),
            ("failed to create cublas handle: the resource allocation failed", None),
            ("RESOURCE_EXHAUSTED: something new", Some(false)),
            ("Ran out of memory in memory space hbm. Used 40.00G of 32.00G hbm.", Some(false)),
            ("Scoped allocation with size 23.50M and limit 16.00M exceeded scoped vmem limit by 7.50M.", Some(false)),
        ] {
            assert_eq!(Need::of_refusal(message.to_owned()).fits, fits, "{message}");
        }
    }
}
