//! [`Kernel`]: puts the files of a kernel together.

mod bundles;
mod function;
mod operations;

pub use bundles::{Line, LoopUse};
pub use function::Window;
pub(crate) use function::{bounds, is_main, memory, plain_memory, scratch_operands, symbol};
pub use operations::{Access, Relayout, VectorValue};

use crate::applied::instructions;
use crate::bundles::Bundles;
use crate::schedule::{Schedule, Unit, Utilization};
use crate::vmem::{VmemUse, vmem_limit};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use operations::Stage;
use xla_shape_mlir::{MlirError, Module, Source};

/// The texts of a kernel that a dump has. A missing text is `None`, and so are the fields of [`Kernel`] that come from it.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let bundles = "   0   :  { %v2_v0 = vlaneseq.b32 }\n 0x1   :  {}\n";
/// let kernel = Kernel::read(Texts { bundles: Some(bundles), ..Texts::default() })?;
/// assert_eq!((kernel.bundles, kernel.empty), (Some(2), Some(1)));
/// assert_eq!(kernel.relayouts, None, "that needs Mosaic's text");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct Texts<'a> {
    /// Mosaic's MLIR after the stage `infer-vector-layout`. It is read only if the next stage, `relayout-insertion`, has no text.
    pub inferred: Option<&'a str>,
    /// Mosaic's MLIR after the stage `relayout-insertion`.
    pub relayout: Option<&'a str>,
    /// Mosaic's MLIR after the stage `apply-vector-layout`, in which relayouts are instructions.
    pub applied: Option<&'a str>,
    /// The final bundles.
    pub bundles: Option<&'a str>,
    /// The analysis of the schedule.
    pub schedule: Option<&'a str>,
    /// The slots that each bundle uses.
    pub utilization: Option<&'a str>,
}

impl<'a> Texts<'a> {
    /// Mosaic's text of the latest stage that still has the kernel's vectors whole.
    #[must_use]
    pub fn mosaic(&self) -> Option<&'a str> {
        self.relayout.or(self.inferred)
    }
}

/// What the compiler says about a kernel.
#[derive(Clone, Default, Debug)]
#[non_exhaustive]
pub struct Kernel<'a> {
    /// The name of the kernel's function in Python.
    pub name: Option<String>,
    /// The grid: how often the kernel's body runs along each of its dimensions.
    pub grid: Option<Vec<u64>>,
    /// The texts that the kernel was read from.
    pub texts: Texts<'a>,
    /// The number of operations that have an `out_layout`, relayouts among them.
    pub operations: Option<u64>,
    /// How often these operations use a vector. Each use in a layout other than the vector's needs a relayout.
    pub operands: Option<u64>,
    /// The vectors that these operations compute, in the order of the text.
    pub values: Vec<VectorValue<'a>>,
    /// The relayouts that the compiler inserted, in the order of the text. If the dump has only the text of the stage before, these are the
    /// relayouts that the compiler would insert: one for each operand that is needed in another layout.
    pub relayouts: Option<Vec<Relayout<'a>>>,
    /// Loads and stores that do not begin at the first row and column of a register.
    pub unaligned: Vec<Access<'a>>,
    /// The kernel's arguments that are in vector memory (VMEM).
    pub windows: Vec<Window>,
    /// The number of final bundles.
    pub bundles: Option<u64>,
    /// The number of bundles without slots.
    pub empty: Option<u64>,
    /// The final bundles themselves.
    pub scheduled: Option<Bundles<'a>>,
    /// The loops.
    pub loops: Vec<LoopUse<'a>>,
    /// The units, with the slots that they use.
    pub units: Vec<Unit<'a>>,
    /// The number of stores of registers to memory, because there are too few registers.
    pub spills: u64,
    /// The number of loads of registers that were spilled.
    pub fills: u64,
    /// How many of those stores and loads are of scalar registers; the others are of vector and mask registers.
    pub scalar_spills: [u64; 2],
    /// The Python lines, sorted by file and line.
    pub lines: BTreeMap<Source<'a>, Line>,
    /// The number of vector slots, and how many of them have a Python line.
    pub vector_slots: [u64; 2],
    /// Bundles times the trips of their loops, as if no branch were taken; `None` if some trips are not known.
    pub executed: Option<u64>,
    /// The empty bundles in `executed`.
    pub executed_empty: Option<u64>,
    /// The slots that those bundles use of each unit; empty if some trips are not known, or the dump has no utilization.
    pub executed_units: Vec<Unit<'a>>,
    /// The bundles that execute at least: a lower bound. A bundle does not count in the iterations in which a branch skips it or may
    /// skip it. `None` if it is not known where a branch leads, or if one leads into the middle of a loop.
    pub least: Option<u64>,
    /// The vector memory, from the compiler's report.
    pub vmem: Option<VmemUse>,
    /// The limit of vector memory that the program sets for the kernel, in bytes.
    pub vmem_limit: Option<u64>,
    /// What was not understood, each with its number of occurrences.
    pub unread: BTreeMap<String, u64>,
}

impl<'a> Kernel<'a> {
    /// Reads the texts of a kernel.
    ///
    /// # Errors
    ///
    /// If Mosaic's text is not valid MLIR syntax, for example because the file was cut off.
    ///
    /// ```
    /// use xla_shape_mosaic::{Kernel, Texts};
    ///
    /// let schedule = "Schedule analysis:\n\ttotal scheduled bundles: 21\n\tempty scheduled bundles: 1\n";
    /// let kernel = Kernel::read(Texts { schedule: Some(schedule), ..Texts::default() })?;
    /// assert_eq!((kernel.bundles, kernel.operations), (Some(21), None)); // only Mosaic's text has operations
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    pub fn read(texts: Texts<'a>) -> Result<Self, MlirError> {
        let mut kernel = Self::of_bundles(texts);
        if let Some(text) = texts.relayout {
            let module = Module::parse(text)?;
            let instructions = texts.applied.and_then(|text| instructions(&module, &Module::parse(text).ok()?));
            kernel.not_read(
                "texts of the stage apply-vector-layout",
                u64::from(texts.applied.is_some() && instructions.is_none()),
            );
            kernel.read_operations(&module, Stage::Relayout, instructions);
        } else if let Some(text) = texts.inferred {
            kernel.read_operations(&Module::parse(text)?, Stage::Inferred, None);
        }
        Ok(kernel)
    }

    /// Reads all texts except Mosaic's.
    pub(crate) fn of_bundles(texts: Texts<'a>) -> Self {
        let mut kernel = Self { texts, ..Self::default() };
        let utilization = texts.utilization.map(Utilization::parse).unwrap_or_default();
        kernel.units = utilization.units().to_vec();
        kernel.not_read("lines of the utilization", utilization.unread());
        let schedule = texts.schedule.map(Schedule::parse).unwrap_or_default();
        (kernel.bundles, kernel.empty) = (schedule.total, schedule.empty);
        kernel.vmem_limit = schedule.instruction.and_then(vmem_limit);
        if let Some(text) = texts.bundles {
            let bundles = Bundles::parse(text);
            kernel.read_bundles(&bundles, &utilization);
            kernel.scheduled = Some(bundles);
        }
        kernel
    }

    #[expect(clippy::arithmetic_side_effects, reason = "counts of lines and operations of texts")]
    pub(crate) fn not_read(&mut self, what: &str, times: u64) {
        if times > 0 {
            let known = self.unread.entry(what.to_owned()).or_default();
            *known += times;
        }
    }
}
