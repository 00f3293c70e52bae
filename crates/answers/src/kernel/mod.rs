//! Figures of compiled Pallas kernels, by line, loop and unit.

mod called;
mod difference;
mod entry;
mod launch;
mod listing;
mod programs;

pub use called::TooLarge;
pub use difference::{Figure, Figures, KernelDifference, LineDifference};
pub use entry::{
    Axis, Begin, CompiledKernel, LineEntry, LoopEntry, LoopRemedy, RelayoutEntry, Start, Starts, Unaligned, Usage,
    Vmem, VmemEntry,
};
pub use launch::LaunchEntry;
pub use listing::{BundleText, SlotText, VectorText};
pub use programs::{AgainstXla, InstructionFigures, ProgramFigures};

use crate::Answer;
use crate::cost::Measured;
use crate::digest::{self, Digest};
use crate::numbers::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use xla_shape_core::sorting::{map_of, sort_by};
use xla_shape_core::tpu::Generation;
use xla_shape_mosaic::DumpedKernel;
use xla_shape_program::Program;

/// The kernels of one dump or of several, as for several generations of TPUs.
///
/// ```
/// use xla_shape_answers::{Answer, kernel::Kernels};
/// use xla_shape_mosaic::kernels;
///
/// let text = "Schedule analysis:\n\ttotal scheduled bundles: 21\n\tempty scheduled bundles: 1\n\t 20.00 scheduled bundles (100.00%): \
///     %k.1 = f32[8] custom-call(%x), custom_call_target=\"tpu_custom_call\"\n";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("llo.k.1.schedule-analysis_final_bundles.txt", text)]));
/// assert_eq!((answer.kernels[0].title().as_str(), answer.kernels[0].empty), ("k.1", Some(1)));
/// assert!(answer.json().contains("\"bundles\":21,\"empty\":1"));
/// ```
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Kernels {
    /// The kernels.
    pub kernels: Vec<CompiledKernel>,
    /// For a GPU: what it does for the program, step by step.
    pub launches: Vec<LaunchEntry>,
    /// The devices for which the program was not compiled, each with the reason.
    pub errors: Vec<Refused>,
    /// With --against: the kernels of both versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<KernelDifference>")]
    pub differences: Option<Vec<KernelDifference>>,
    /// With --against and a program without kernels: both programs, for each device.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<AgainstXla>")]
    pub against_xla: Option<Vec<AgainstXla>>,
    /// The instructions that XLA compiled itself.
    #[serde(skip)]
    xla: Vec<CompiledKernel>,
    /// The lines of Python files, by the names of the files.
    #[serde(skip)]
    sources: BTreeMap<String, Vec<String>>,
}

/// A device for which the program was not compiled.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
///
/// let mut answer = Kernels::default();
/// answer.refused("v5e:2x2", "the program has too many devices");
/// assert_eq!(answer.errors[0].message, "the program has too many devices");
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Refused {
    /// The device.
    #[serde(rename = "for")]
    pub target: String,
    /// The error: why the program was not compiled for this device.
    pub message: String,
}

impl Kernels {
    /// Adds the kernels of a dump. `target` is the name of the device that they were compiled for, if it is known.
    ///
    /// ```
    /// use xla_shape_answers::kernel::Kernels;
    ///
    /// let mut answer = Kernels::default();
    /// answer.add(None, None, &[]);
    /// assert!(answer.is_empty());
    /// ```
    pub fn add(&mut self, target: Option<&str>, generation: Option<Generation>, kernels: &[DumpedKernel<'_>]) {
        self.kernels.extend(kernels.iter().map(|kernel| CompiledKernel::new(target, generation, kernel)));
    }

    /// Adds the steps that a GPU executes for a program, if the compiler's files about them are next to the module. `target` is the name of the
    /// device that the program was compiled for, if it is known.
    pub fn add_launches(&mut self, target: Option<&str>, program: &Program) {
        self.launches.extend(launch::launches(target, program));
    }

    /// Adds the instructions of the same dump that XLA compiled itself, and returns their number. Only [`compare`](Self::compare) uses them.
    ///
    /// ```
    /// use xla_shape_answers::kernel::Kernels;
    ///
    /// let mut answer = Kernels::default();
    /// assert_eq!(answer.add_xla(None, None, &[]), 0);
    /// assert!(!answer.has_xla());
    /// ```
    pub fn add_xla(
        &mut self,
        target: Option<&str>,
        generation: Option<Generation>,
        found: &[DumpedKernel<'_>],
    ) -> usize {
        self.xla.extend(found.iter().map(|found| CompiledKernel::new(target, generation, found)));
        found.len()
    }

    /// Whether there are instructions that XLA compiled itself.
    ///
    /// ```
    /// assert!(!xla_shape_answers::kernel::Kernels::default().has_xla());
    /// ```
    #[must_use]
    pub const fn has_xla(&self) -> bool {
        !self.xla.is_empty()
    }

    /// Adds notes if the bytes of vector memory on several devices are not comparable: a kernel may have a window on one device but not on another,
    /// because there XLA puts the array into vector memory before the kernel.
    ///
    /// ```
    /// use xla_shape_answers::kernel::Kernels;
    /// use xla_shape_mosaic::kernels;
    ///
    /// let mut answer = Kernels::default();
    /// for (device, part) in [("v5e", "input window allocation for operator input 0. The window shape is f32[8,128], while"), ("v7x", "SPILL")] {
    ///     let report = format!(
    ///         r#"const DATA = {{"hlo_breakdowns": {{"k.1": {{"total_size": 4096, "blocks": [{{"allocations": [{{"tag": "{part}", "size": 4096}}]}}]}}}}}};"#
    ///     );
    ///     let schedule = "Schedule analysis:\n\ttotal scheduled bundles: 9\n\t 9.00 scheduled bundles (100.00%): \
    ///         %k.1 = f32[8] custom-call(%x), custom_call_target=\"tpu_custom_call\"\n";
    ///     let files = [("llo.k.1.schedule-analysis_final_bundles.txt", schedule), ("llo.TLP.vmem_report.html", report.as_str())];
    ///     answer.add(Some(device), None, &kernels(&files));
    /// }
    /// answer.note_unlike_memory();
    /// let note = "input window of input 0, which has 4,096 bytes (4 KiB) on v5e";
    /// let noted = answer.kernels.iter().map(|kernel| kernel.notes.iter().any(|found| found.contains(note)));
    /// assert_eq!(noted.collect::<Vec<_>>(), [false, true]);
    /// ```
    pub fn note_unlike_memory(&mut self) {
        // The windows of each kernel, with their bytes and the first device that has them.
        let mut all = Vec::new();
        for kernel in &self.kernels {
            let Some(target) = &kernel.target else { continue };
            for (window, bytes) in kernel.windows() {
                all.push(([kernel.title(), window.to_owned()], bytes, target.clone()));
            }
        }
        sort_by(&mut all, |(one, ..), (other, ..)| one.cmp(other));
        all.dedup_by(|(one, ..), (first, ..)| one == first);
        for kernel in &mut self.kernels {
            let title = kernel.title();
            let own = kernel.windows().map(|(window, _)| window.to_owned()).collect::<BTreeSet<_>>();
            if kernel.vmem.as_ref().is_none_or(|vmem| vmem.estimated) || kernel.target.is_none() {
                continue;
            }
            // `all` is sorted by kernel, so the windows of a kernel are next to each other.
            let begin = all.partition_point(|([of, _], ..)| *of < title);
            let windows = all.iter().skip(begin).take_while(|([of, _], ..)| *of == title);
            let missing = windows
                .filter(|([_, window], _, target)| !own.contains(window) && kernel.target.as_ref() != Some(target));
            let missing = missing
                .map(|([_, window], bytes, target)| format!("{window}, which has {} on {target}", Bytes(*bytes)));
            let missing = missing.collect::<Vec<_>>();
            if !missing.is_empty() {
                kernel.notes.push(format!(
                    "its vector memory has no {}: on this device, XLA puts the array into vector memory before the kernel runs, so the bytes cannot be compared",
                    missing.join("; no ")
                ));
            }
        }
    }

    /// Adds a device for which the compiler refused the program.
    ///
    /// ```
    /// use xla_shape_answers::kernel::Kernels;
    ///
    /// let mut answer = Kernels::default();
    /// answer.refused("v5e:2x2", "the program has too many devices");
    /// assert_eq!(answer.errors[0].target, "v5e:2x2");
    /// ```
    pub fn refused(&mut self, target: &str, message: &str) {
        self.errors.push(Refused { target: target.to_owned(), message: message.to_owned() });
    }

    /// Adds the least time of each kernel on a device with this clock: one cycle for each of the fewest bundles that can execute.
    ///
    /// ```
    /// use xla_shape_mosaic::kernels;
    /// use xla_shape_answers::Answer;
    /// use xla_shape_answers::kernel::Kernels;
    ///
    /// let bundles = "0 : { %s1_s0 = smov.u32 0 }\n0x1 : {} /* exit bundle: %k = custom-call(%x) */\n";
    /// let mut answer = Kernels::default();
    /// answer.add(None, None, &kernels(&[("llo.k.final_bundles.txt", bundles)]));
    /// answer.at_clock(1e9);
    /// assert!(answer.json().contains("\"least_seconds\":2e-9"));
    /// ```
    pub fn at_clock(&mut self, hertz: f64) {
        for kernel in &mut self.kernels {
            kernel.clock_hz = Some(hertz);
            kernel.least_seconds = kernel.least.map(|bundles| bundles as f64 / hertz);
        }
    }

    /// Adds how long each kernel took, by the name of the instruction that calls it. Returns how many of the kernels the profile has.
    ///
    /// ```
    /// use xla_shape_answers::cost::ProgramCost;
    /// use xla_shape_answers::kernel::Kernels;
    /// use xla_shape_mosaic::kernels;
    /// use xla_shape_program::Program;
    ///
    /// let text = "Schedule analysis:\n\ttotal scheduled bundles: 21\n\tempty scheduled bundles: 1\n\t 20.00 scheduled bundles (100.00%): \
    ///     %matmul_optimized.1 = f32[8] custom-call(%x), custom_call_target=\"tpu_custom_call\"\n";
    /// let mut answer = Kernels::default();
    /// answer.add(None, None, &kernels(&[("llo.matmul_optimized.1.schedule-analysis_final_bundles.txt", text)]));
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/v6e.xplane.pb");
    /// let measured = ProgramCost::of(&Program::open(path)?).unwrap().measured.unwrap();
    /// assert_eq!(answer.add_measured(&measured), 1);
    /// assert_eq!(answer.kernels[0].measured.unwrap().mean_picoseconds, 75_754_166);
    /// # Ok::<(), xla_shape_program::OpenError>(())
    /// ```
    pub fn add_measured(&mut self, measured: &Measured) -> usize {
        let times = map_of(measured.instructions.iter().map(|found| (found.instruction.as_str(), found.times)));
        for kernel in &mut self.kernels {
            kernel.measured = kernel.instruction.as_deref().and_then(|name| times.get(name).copied());
        }
        self.kernels.iter().filter(|kernel| kernel.measured.is_some()).count()
    }

    /// Adds the differences from other kernels: those of an earlier version of the program, for the same devices. If `before` has no kernels but
    /// [instructions that XLA compiled itself](Self::add_xla), adds both programs with their sums.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_answers::kernel::Kernels;
    ///
    /// let mut answer = Kernels::default();
    /// answer.compare(&Kernels::default());
    /// assert!(answer.json().ends_with("\"differences\":[]}\n"));
    /// ```
    pub fn compare(&mut self, before: &Self) {
        if before.is_empty() && before.has_xla() {
            let kernels = self.kernels.iter().map(|entry| (entry, true));
            let own = kernels.chain(self.xla.iter().map(|entry| (entry, false))).collect::<Vec<_>>();
            self.against_xla = Some(programs::against_xla(&own, &before.xla));
        } else {
            self.differences = Some(difference::differences(&before.kernels, &self.kernels));
        }
        let refused = before.errors.iter().map(|error| Refused {
            target: error.target.clone(),
            message: format!("before the change: {}", error.message),
        });
        self.errors.extend(refused);
    }

    /// Adds the text of a Python file, which a page shows beside its lines. Only the last part of the path counts.
    ///
    /// ```
    /// use xla_shape_answers::kernel::Kernels;
    ///
    /// let mut answer = Kernels::default();
    /// answer.add_source("src/kernel.py", "o[...] = x[...]");
    /// assert_eq!(answer.source("/home/user/kernel.py").unwrap(), ["o[...] = x[...]"]);
    /// ```
    pub fn add_source(&mut self, path: &str, text: &str) {
        self.sources.insert(file_name(path).to_owned(), text.lines().map(str::to_owned).collect());
    }

    /// The lines of a Python file, if its text was added.
    #[must_use]
    pub fn source(&self, path: &str) -> Option<&[String]> {
        self.sources.get(file_name(path)).map(Vec::as_slice)
    }

    /// Whether the text of a Python file was added.
    #[must_use]
    pub fn has_sources(&self) -> bool {
        !self.sources.is_empty()
    }

    /// How many kernels there are.
    ///
    /// ```
    /// assert_eq!(xla_shape_answers::kernel::Kernels::default().len(), 0);
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Whether the answer has no kernels, neither of a TPU nor of a GPU.
    ///
    /// ```
    /// assert!(xla_shape_answers::kernel::Kernels::default().is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.kernels.is_empty() && self.launches.is_empty()
    }

    /// The error message if no file is about a kernel. It names the files that were expected.
    ///
    /// ```
    /// let message = xla_shape_answers::kernel::Kernels::missing("dump");
    /// assert!(message.starts_with("dump: expected files of kernels, such as …-final_bundles.txt"));
    /// ```
    #[must_use]
    pub fn missing(path: impl Display) -> String {
        format!(
            "{path}: expected files of kernels, such as …-final_bundles.txt or …-post-relayout-insertion.txt; \
             …-post-apply-vector-layout.txt is read only together with the latter; for a GPU, …thunk_sequence.txt beside the module"
        )
    }
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

impl Answer for Kernels {
    const SCHEMA: &'static str = "xla-shape/kernel/1";

    /// The causes are the lines with the most bundles, each bundle as often as it runs if that is known, with what their accesses need. For two
    /// versions, they are the lines whose bundles differ most. The next command explains the vector layout after the first relayout that moves data.
    fn digest(&self) -> Digest {
        if let Some(differences) = &self.differences {
            let lines = differences.iter().flat_map(|found| found.lines.iter().map(move |line| (found, line)));
            let causes = lines.map(|(found, line)| digest::Cause {
                name: found.name.clone(),
                amount: Some(line.amount()),
                source: Some(line.source.clone()),
                ..digest::Cause::default()
            });
            return Digest { causes: digest::largest(causes.collect()), next: Vec::new() };
        }
        let lines = self.kernels.iter().flat_map(|kernel| kernel.lines.iter().map(move |line| (kernel, line)));
        let causes = lines.map(|(kernel, line)| digest::Cause {
            name: kernel.title(),
            amount: Some(line.amount()),
            source: Some(line.source.clone()),
            because: (line.moving > 0).then(|| match line.moving {
                1 => "1 relayout moves data".to_owned(),
                moving => format!("{moving} relayouts move data"),
            }),
            remedy: kernel
                .unaligned
                .iter()
                .find(|access| access.source.as_ref() == Some(&line.source))
                .map(|access| access.remedy.to_string()),
        });
        let mut relayouts = self.kernels.iter().filter_map(|kernel| kernel.relayouts.as_ref()).flatten();
        let moving = relayouts.find(|found| found.free == Some(false) && found.registers.is_some());
        let explain = |found: &RelayoutEntry| {
            vec!["explain".into(), found.shape.clone().into(), "--vector".into(), found.to.clone().into()]
        };
        Digest { causes: digest::largest(causes.collect()), next: moving.map(explain).into_iter().collect() }
    }
}
